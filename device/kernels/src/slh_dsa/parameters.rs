//! The twelve parameter sets (FIPS 205 §11, table 2), as values: one copy of the code serves them all.

use hartlock_algorithm::SlhDsaSet;

impl Parameters {
    /// The numbers of a set. They are the same for SHA-2 and for SHAKE.
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

/// Columns of table 2, under the standard's names. `lg_w` is 4 in every set, and `h` is `d · h'`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// Bytes of a hash value.
    pub n: usize,
    /// Height of an XMSS tree, h'.
    pub h_prime: usize,
    /// Layers of XMSS trees.
    pub d: usize,
    /// Height of a FORS tree.
    pub a: usize,
    /// FORS trees.
    pub k: usize,
}

/// Highest n.
pub(super) const MAX_N: usize = 32;
/// Highest number of chains.
pub(super) const MAX_CHAINS: usize = 2 * MAX_N + CHECKSUM_DIGITS;
/// Digits of the checksum in base 16: len_2 of §5, for every n.
pub(super) const CHECKSUM_DIGITS: usize = 3;

impl Parameters {
    /// Chains of a WOTS+ key: len of §5 with `lg_w` = 4.
    pub(super) const fn chains(&self) -> usize {
        2 * self.n + CHECKSUM_DIGITS
    }

    /// Bytes of one FORS tree in a signature: a leaf's secret and its path (§8.3).
    pub(super) const fn fors_tree_len(&self) -> usize {
        (self.a + 1) * self.n
    }

    /// Bytes of the FORS signature.
    pub(super) const fn fors_len(&self) -> usize {
        self.k * self.fors_tree_len()
    }

    /// Bytes of the WOTS+ signature of a layer.
    pub(super) const fn wots_len(&self) -> usize {
        self.chains() * self.n
    }

    /// Bytes of a layer: a WOTS+ signature and the path of its key (§6.3).
    pub(super) const fn layer_len(&self) -> usize {
        self.wots_len() + self.h_prime * self.n
    }

    /// Bytes of a message digest that choose leaves of the FORS trees.
    pub(super) const fn md_len(&self) -> usize {
        (self.k * self.a).div_ceil(8)
    }

    /// Bytes of a message digest: m of table 2.
    pub(super) const fn digest_len(&self) -> usize {
        self.md_len() + self.tree_bits().div_ceil(8) + self.h_prime.div_ceil(8)
    }

    /// Bits of the number of an XMSS tree in the lowest layer: h - h', at most 64.
    pub(super) const fn tree_bits(&self) -> usize {
        (self.d - 1) * self.h_prime
    }
}
