//! Public keys as the engine takes them.

use hartlock_regs::xmss::Scheme;

/// Types of XMSS that are built in: XMSS-SHA2_10_256, _16_256 and _20_256 (RFC 8391 §5.3).
const XMSS_TYPES: core::ops::RangeInclusive<u32> = 1..=3;
/// Bytes of a root of XMSS and its public seed.
const XMSS_LEN: usize = 64;
/// Bytes of I (RFC 8554 §3.3).
const IDENTIFIER_LEN: usize = 16;
/// Bytes of values of SLH-DSA-SHA2-128s (FIPS 205 §11), and its number at the engine.
const SLH_DSA_LEN: usize = 16;
const SLH_DSA_SHA2_128S: u32 = 1;

/// A public key of a family: its types as a number, and its values.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    pub(super) scheme: Scheme,
    pub(super) kind: u32,
    /// From the first word on: the root; of XMSS also the seed, which follows it as it does in the engine.
    pub(super) front: &'a [u8],
    /// From the ninth word on: the seed, or the identifier of the tree.
    pub(super) back: &'a [u8],
}

impl<'a> Key<'a> {
    /// A key of XMSS with values of 32 bytes: type, root and seed (RFC 8391 §4.1.7). Nothing if it is none.
    #[must_use]
    pub fn xmss(encoded: &'a [u8]) -> Option<Self> {
        let (kind, front) = encoded.split_first_chunk()?;
        let (scheme, kind) = (Scheme::Xmss, u32::from_be_bytes(*kind));
        (front.len() == XMSS_LEN).then_some(Self { scheme, kind, front, back: &[] })
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

    /// Its type, if that may be built in.
    pub(super) fn known_kind(&self) -> Option<u32> {
        // Keys of XMSS with SHAKE are as long. Verifiers of LMS have compared the types with those of SHA-256 before.
        (self.scheme != Scheme::Xmss || XMSS_TYPES.contains(&self.kind)).then_some(self.kind)
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
        assert_eq!(lengths(|key| Key::lms(key).is_some()), [48, 56]);
        assert_eq!(lengths(|key| Key::slh_dsa_sha2_128s(key).is_some()), [32]);
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
