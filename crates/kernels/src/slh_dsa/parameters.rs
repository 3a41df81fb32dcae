//! The twelve parameter sets (FIPS 205 §11, table 2), as values: one copy of the code serves them all.

/// A parameter set. It comes from outside: neither key nor signature names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterSet {
    /// SLH-DSA-SHA2-128s.
    Sha2_128s,
    /// SLH-DSA-SHA2-128f.
    Sha2_128f,
    /// SLH-DSA-SHA2-192s.
    Sha2_192s,
    /// SLH-DSA-SHA2-192f.
    Sha2_192f,
    /// SLH-DSA-SHA2-256s.
    Sha2_256s,
    /// SLH-DSA-SHA2-256f.
    Sha2_256f,
    /// SLH-DSA-SHAKE-128s.
    Shake128s,
    /// SLH-DSA-SHAKE-128f.
    Shake128f,
    /// SLH-DSA-SHAKE-192s.
    Shake192s,
    /// SLH-DSA-SHAKE-192f.
    Shake192f,
    /// SLH-DSA-SHAKE-256s.
    Shake256s,
    /// SLH-DSA-SHAKE-256f.
    Shake256f,
}

impl ParameterSet {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Sha2_128s,
        Self::Sha2_128f,
        Self::Sha2_192s,
        Self::Sha2_192f,
        Self::Sha2_256s,
        Self::Sha2_256f,
        Self::Shake128s,
        Self::Shake128f,
        Self::Shake192s,
        Self::Shake192f,
        Self::Shake256s,
        Self::Shake256f,
    ];

    /// The name in the standard.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha2_128s => "SLH-DSA-SHA2-128s",
            Self::Sha2_128f => "SLH-DSA-SHA2-128f",
            Self::Sha2_192s => "SLH-DSA-SHA2-192s",
            Self::Sha2_192f => "SLH-DSA-SHA2-192f",
            Self::Sha2_256s => "SLH-DSA-SHA2-256s",
            Self::Sha2_256f => "SLH-DSA-SHA2-256f",
            Self::Shake128s => "SLH-DSA-SHAKE-128s",
            Self::Shake128f => "SLH-DSA-SHAKE-128f",
            Self::Shake192s => "SLH-DSA-SHAKE-192s",
            Self::Shake192f => "SLH-DSA-SHAKE-192f",
            Self::Shake256s => "SLH-DSA-SHAKE-256s",
            Self::Shake256f => "SLH-DSA-SHAKE-256f",
        }
    }

    /// Length in bytes of a public key: `PK.seed ‖ PK.root`.
    pub const fn public_key_len(self) -> usize {
        self.parameters().n * 2
    }

    /// Length in bytes of a signature: `R`, the FORS signature, and the layers of the hypertree.
    pub const fn signature_len(self) -> usize {
        let parameters = self.parameters();
        parameters.n + parameters.fors_len() + parameters.d * parameters.layer_len()
    }

    /// Whether the set is built on SHAKE256, and not on SHA-2.
    pub(super) const fn is_shake(self) -> bool {
        matches!(
            self,
            Self::Shake128s
                | Self::Shake128f
                | Self::Shake192s
                | Self::Shake192f
                | Self::Shake256s
                | Self::Shake256f
        )
    }

    /// The numbers behind the name. They are the same for both families.
    pub(super) const fn parameters(self) -> Parameters {
        let (n, h_prime, d, a, k) = match self {
            Self::Sha2_128s | Self::Shake128s => (16, 9, 7, 12, 14),
            Self::Sha2_128f | Self::Shake128f => (16, 3, 22, 6, 33),
            Self::Sha2_192s | Self::Shake192s => (24, 9, 7, 14, 17),
            Self::Sha2_192f | Self::Shake192f => (24, 3, 22, 8, 33),
            Self::Sha2_256s | Self::Shake256s => (32, 8, 8, 14, 22),
            Self::Sha2_256f | Self::Shake256f => (32, 4, 17, 9, 35),
        };
        Parameters { n, h_prime, d, a, k }
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
