//! The twelve parameter sets (FIPS 205 §11, table 2) as run-time values, so that one copy of the code serves all
//! sets.

use hartlock_algorithm::SlhDsaSet;

impl SlhDsaParameters {
    /// Returns the parameters of a set. They do not depend on the hash family.
    pub(super) const fn of(set: SlhDsaSet) -> Self {
        let (h_prime, d, a, k) = match (set.n(), set.is_small()) {
            (16, true) => (9, 7, 12, 14),
            (16, false) => (3, 22, 6, 33),
            (24, true) => (9, 7, 14, 17),
            (24, false) => (3, 22, 8, 33),
            (_, true) => (8, 8, 14, 22),
            (_, false) => (4, 17, 9, 35),
        };
        Self { n: set.n(), h_prime, d, a, k }
    }
}

/// The columns of table 2 with the names of the standard. `lg_w` is 4 in every set, and `h` is `d · h'`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlhDsaParameters {
    /// Length of a hash value in bytes.
    pub n: usize,
    /// Height of an XMSS tree, h'.
    pub h_prime: usize,
    /// Number of layers of XMSS trees.
    pub d: usize,
    /// Height of a FORS tree.
    pub a: usize,
    /// Number of FORS trees.
    pub k: usize,
}

/// Largest n.
pub(super) const MAX_N: usize = 32;
/// Largest number of chains.
pub(super) const MAX_CHAINS: usize = 2 * MAX_N + CHECKSUM_DIGITS;
/// Number of base-16 digits of the checksum: len_2 of §5, which is the same for every n.
pub(super) const CHECKSUM_DIGITS: usize = 3;

impl SlhDsaParameters {
    /// Returns the number of chains of a WOTS+ key: len of §5 with `lg_w` = 4.
    pub(super) const fn chains(&self) -> usize {
        2 * self.n + CHECKSUM_DIGITS
    }

    /// Returns the length in bytes of one FORS tree in a signature: the secret value of a leaf and its path (§8.3).
    pub(super) const fn fors_tree_len(&self) -> usize {
        (self.a + 1) * self.n
    }

    /// Returns the length of the FORS signature in bytes.
    pub(super) const fn fors_len(&self) -> usize {
        self.k * self.fors_tree_len()
    }

    /// Returns the length in bytes of the WOTS+ signature of a layer.
    pub(super) const fn wots_len(&self) -> usize {
        self.chains() * self.n
    }

    /// Returns the length of a layer in bytes: a WOTS+ signature and the authentication path of its key (§6.3).
    pub(super) const fn layer_len(&self) -> usize {
        self.wots_len() + self.h_prime * self.n
    }

    /// Returns the length in bytes of the part of a message digest that selects leaves of the FORS trees.
    pub(super) const fn md_len(&self) -> usize {
        (self.k * self.a).div_ceil(8)
    }

    /// Returns the length of a message digest in bytes: m of table 2.
    pub(super) const fn digest_len(&self) -> usize {
        self.md_len() + self.tree_bits().div_ceil(8) + self.h_prime.div_ceil(8)
    }

    /// Returns the length in bits of the number of an XMSS tree in the lowest layer: h - h', at most 64.
    pub(super) const fn tree_bits(&self) -> usize {
        (self.d - 1) * self.h_prime
    }
}
