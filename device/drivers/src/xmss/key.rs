//! Public keys in the format that the engine takes.

use hartlock_regs::xmss::XmssScheme;

/// Length of a hash in bytes for most types of XMSS.
const HASH_LEN: usize = 32;
/// Length of a hash in bytes for the types of SP 800-208 §5.2 and §5.3.
const SHORT_LEN: usize = 24;
/// Length in bytes of the identifier I (RFC 8554 §3.3).
const IDENTIFIER_LEN: usize = 16;
/// Length in bytes of a value of SLH-DSA-SHA2-128s (FIPS 205 §11). The next constant is its type number in the engine.
const SLH_DSA_LEN: usize = 16;
const SLH_DSA_SHA2_128S: u32 = 1;

/// The feature that an engine must have for a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// The family of the type, and no other feature.
    Family,
    /// The family of the type, and hashes of 24 bytes.
    Short,
}

/// Returns the feature that a type of XMSS or XMSS^MT needs, or `None` if no engine supports the type, because engines
/// compute only SHA-256.
const fn needs(scheme: XmssScheme, kind: u32) -> Option<Needs> {
    match (scheme, kind) {
        // These are XMSS-SHA2_10_256 to _20_256 (RFC 8391 §5.3) and XMSSMT-SHA2_20/2_256 to _60/12_256 (§5.4).
        (XmssScheme::Xmss, 1..=3) | (XmssScheme::XmssMt, 1..=8) => Some(Needs::Family),
        // These are XMSS-SHA2_10_192 to _20_192 and XMSSMT-SHA2_20/2_192 to _60/12_192 (SP 800-208 §5.2).
        (XmssScheme::Xmss, 13..=15) | (XmssScheme::XmssMt, 33..=40) => Some(Needs::Short),
        _ => None,
    }
}

/// A public key: its family, its type as a number, and its values.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    pub(super) scheme: XmssScheme,
    pub(super) kind: u32,
    /// Bytes for the key registers from the first word on: the root, and also the seed if it directly follows the root
    /// in the encoding and in the engine.
    pub(super) front: &'a [u8],
    /// Bytes for the key registers from the ninth word on: the seed, or the identifier of the tree.
    pub(super) back: &'a [u8],
}

impl<'a> Key<'a> {
    /// Parses a key of XMSS: type, root and seed (RFC 8391 §4.1.7). Returns `None` if the length is wrong.
    #[must_use]
    pub fn xmss(encoded: &'a [u8]) -> Option<Self> {
        Self::of_trees(XmssScheme::Xmss, encoded)
    }

    /// Parses a key of XMSS^MT, whose types have separate numbers. Returns `None` if the length is wrong.
    #[must_use]
    pub fn xmss_mt(encoded: &'a [u8]) -> Option<Self> {
        Self::of_trees(XmssScheme::XmssMt, encoded)
    }

    fn of_trees(scheme: XmssScheme, encoded: &'a [u8]) -> Option<Self> {
        let (kind, values) = encoded.split_first_chunk()?;
        let kind = u32::from_be_bytes(*kind);
        // The engine itself refuses a type that it does not support.
        let is_short = matches!(needs(scheme, kind), Some(Needs::Short));
        let len = if is_short { SHORT_LEN } else { HASH_LEN };
        if values.len() != len.wrapping_mul(2) {
            return None;
        }
        // In the registers there is no gap between values of 32 bytes.
        let (front, back) = values.split_at_checked(if is_short { len } else { values.len() })?;
        Some(Self { scheme, kind, front, back })
    }

    /// Parses the key of an LMS tree: its type, the type of its one-time keys, I and T[1] (RFC 8554 §5.3). Returns
    /// `None` if the format is wrong.
    #[must_use]
    pub fn lms(encoded: &'a [u8]) -> Option<Self> {
        let (tree, rest) = encoded.split_first_chunk()?;
        let (one_time, values) = rest.split_first_chunk()?;
        let (back, front) = values.split_at_checked(IDENTIFIER_LEN)?;
        let [tree, one_time] = [tree, one_time].map(|bytes| u32::from_be_bytes(*bytes));
        // A number that does not fit its bits would become another type.
        let is_good = tree >> 16 == 0 && one_time >> 12 == 0 && matches!(front.len(), 24 | 32);
        is_good.then_some(Self {
            scheme: XmssScheme::Lms,
            kind: one_time << 16 | tree,
            front,
            back,
        })
    }

    /// Parses a key of SLH-DSA-SHA2-128s: `PK.seed` and `PK.root` (FIPS 205 §9.1). Returns `None` if the length is
    /// wrong.
    #[must_use]
    pub fn slh_dsa_sha2_128s(encoded: &'a [u8]) -> Option<Self> {
        let (back, front) = encoded.split_at_checked(SLH_DSA_LEN)?;
        let (scheme, kind) = (XmssScheme::SlhDsa, SLH_DSA_SHA2_128S);
        (front.len() == SLH_DSA_LEN).then_some(Self { scheme, kind, front, back })
    }

    /// Returns the feature that the type needs, or `None` if no engine supports the type.
    pub(super) const fn needs(&self) -> Option<Needs> {
        match self.scheme {
            XmssScheme::Xmss | XmssScheme::XmssMt => needs(self.scheme, self.kind),
            // The verifiers have already checked that the type is one with SHA-256.
            XmssScheme::Lms | XmssScheme::SlhDsa => Some(Needs::Family),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_its_length_and_types_that_fit() {
        let bytes = [0; 100];
        let lengths = |parse: fn(&[u8]) -> bool| -> std::vec::Vec<usize> {
            (0..bytes.len()).filter(|len| parse(&bytes[..*len])).collect()
        };
        assert_eq!(lengths(|key| Key::xmss(key).is_some()), [68]);
        assert_eq!(lengths(|key| Key::xmss_mt(key).is_some()), [68]);
        assert_eq!(lengths(|key| Key::lms(key).is_some()), [48, 56]);
        assert_eq!(lengths(|key| Key::slh_dsa_sha2_128s(key).is_some()), [32]);
        // The type determines the length of a key, and each scheme has its own type numbers.
        for (scheme, kind, len) in [
            (XmssScheme::Xmss, 13, 52),
            (XmssScheme::Xmss, 15, 52),
            (XmssScheme::Xmss, 16, 68),
            (XmssScheme::Xmss, 33, 68),
            (XmssScheme::XmssMt, 13, 68),
            (XmssScheme::XmssMt, 33, 52),
            (XmssScheme::XmssMt, 40, 52),
            (XmssScheme::XmssMt, 41, 68),
        ] {
            let mut key = [0; 100];
            key[..4].copy_from_slice(&u32::to_be_bytes(kind));
            let is_key = |len: &usize| Key::of_trees(scheme, &key[..*len]).is_some();
            assert!((0..key.len()).filter(is_key).eq([len]), "{kind}");
        }
        for (tree, one_time, is_key) in
            [(0xffff, 0xfff, true), (0x1_0005, 3, false), (5, 0x1003, false)]
        {
            let mut key = [0_u8; 56];
            key[..4].copy_from_slice(&u32::to_be_bytes(tree));
            key[4..8].copy_from_slice(&u32::to_be_bytes(one_time));
            assert_eq!(Key::lms(&key).is_some(), is_key, "{tree:#x} {one_time:#x}");
        }
    }
}
