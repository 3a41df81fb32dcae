//! Public keys as the engine takes them.

use hartlock_regs::xmss::Scheme;

/// Bytes of a hash, of most types of XMSS.
const HASH_LEN: usize = 32;
/// The same of those of SP 800-208 §5.2 and §5.3.
const SHORT_LEN: usize = 24;
/// Bytes of I (RFC 8554 §3.3).
const IDENTIFIER_LEN: usize = 16;
/// Bytes of values of SLH-DSA-SHA2-128s (FIPS 205 §11), and its number at the engine.
const SLH_DSA_LEN: usize = 16;
const SLH_DSA_SHA2_128S: u32 = 1;

/// What an engine has to have built in for a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Its family alone.
    Family,
    /// Hashes of 24 bytes.
    Short,
}

/// What a type of XMSS or XMSS^MT needs. Nothing if it is no type of an engine: it has SHA-256 alone.
const fn needs(scheme: Scheme, kind: u32) -> Option<Needs> {
    match (scheme, kind) {
        // XMSS-SHA2_10_256 to _20_256 (RFC 8391 §5.3), XMSSMT-SHA2_20/2_256 to _60/12_256 (§5.4).
        (Scheme::Xmss, 1..=3) | (Scheme::XmssMt, 1..=8) => Some(Needs::Family),
        // XMSS-SHA2_10_192 to _20_192, XMSSMT-SHA2_20/2_192 to _60/12_192 (SP 800-208 §5.2).
        (Scheme::Xmss, 13..=15) | (Scheme::XmssMt, 33..=40) => Some(Needs::Short),
        _ => None,
    }
}

/// A public key of a family: its types as a number, and its values.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    pub(super) scheme: Scheme,
    pub(super) kind: u32,
    /// From the first word on: the root; also the seed, if that follows it here as it does in the engine.
    pub(super) front: &'a [u8],
    /// From the ninth word on: the seed, or the identifier of the tree.
    pub(super) back: &'a [u8],
}

impl<'a> Key<'a> {
    /// A key of XMSS: type, root and seed (RFC 8391 §4.1.7). Nothing if it is none.
    #[must_use]
    pub fn xmss(encoded: &'a [u8]) -> Option<Self> {
        Self::of_trees(Scheme::Xmss, encoded)
    }

    /// A key of XMSS^MT, whose types have numbers of their own. Nothing if it is none.
    #[must_use]
    pub fn xmss_mt(encoded: &'a [u8]) -> Option<Self> {
        Self::of_trees(Scheme::XmssMt, encoded)
    }

    fn of_trees(scheme: Scheme, encoded: &'a [u8]) -> Option<Self> {
        let (kind, values) = encoded.split_first_chunk()?;
        let kind = u32::from_be_bytes(*kind);
        // A type that the engine does not have is refused by it.
        let is_short = matches!(needs(scheme, kind), Some(Needs::Short));
        let len = if is_short { SHORT_LEN } else { HASH_LEN };
        if values.len() != len.wrapping_mul(2) {
            return None;
        }
        // Values of 32 bytes have no gap between them.
        let (front, back) = values.split_at_checked(if is_short { len } else { values.len() })?;
        Some(Self { scheme, kind, front, back })
    }

    /// The key of a tree of LMS: its type, that of its one-time keys, I and T[1] (RFC 8554 §5.3). Nothing if it is none.
    #[must_use]
    pub fn lms(encoded: &'a [u8]) -> Option<Self> {
        let (tree, rest) = encoded.split_first_chunk()?;
        let (one_time, values) = rest.split_first_chunk()?;
        let (back, front) = values.split_at_checked(IDENTIFIER_LEN)?;
        let [tree, one_time] = [tree, one_time].map(|bytes| u32::from_be_bytes(*bytes));
        // A number that is too large for its bits would be another type.
        let is_good = tree >> 16 == 0 && one_time >> 12 == 0 && matches!(front.len(), 24 | 32);
        is_good.then_some(Self { scheme: Scheme::Lms, kind: one_time << 16 | tree, front, back })
    }

    /// A key of SLH-DSA-SHA2-128s: `PK.seed` and `PK.root` (FIPS 205 §9.1). Nothing if it is none.
    #[must_use]
    pub fn slh_dsa_sha2_128s(encoded: &'a [u8]) -> Option<Self> {
        let (back, front) = encoded.split_at_checked(SLH_DSA_LEN)?;
        let (scheme, kind) = (Scheme::SlhDsa, SLH_DSA_SHA2_128S);
        (front.len() == SLH_DSA_LEN).then_some(Self { scheme, kind, front, back })
    }

    /// What its type needs; nothing if no engine has it.
    pub(super) const fn needs(&self) -> Option<Needs> {
        match self.scheme {
            Scheme::Xmss | Scheme::XmssMt => needs(self.scheme, self.kind),
            // Verifiers have compared the types with those of SHA-256 before.
            Scheme::Lms | Scheme::SlhDsa => Some(Needs::Family),
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
        // The type says how long a key is, and each scheme has its own numbers.
        for (scheme, kind, len) in [
            (Scheme::Xmss, 13, 52),
            (Scheme::Xmss, 15, 52),
            (Scheme::Xmss, 16, 68),
            (Scheme::Xmss, 33, 68),
            (Scheme::XmssMt, 13, 68),
            (Scheme::XmssMt, 33, 52),
            (Scheme::XmssMt, 40, 52),
            (Scheme::XmssMt, 41, 68),
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
