//! Parameter sets of XMSS and XMSS^MT (RFC 8391 §5.3, §5.4; SP 800-208 §5.2 to §5.5).

use crate::short::Function;

/// What the number of a parameter set counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// One tree (RFC 8391 §4.1).
    Xmss,
    /// Trees on trees (RFC 8391 §4.2).
    XmssMt,
}

/// Which parameter sets are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sets {
    /// Those that SP 800-208 approves of.
    #[default]
    Approved,
    /// Those of RFC 8391 with SHA-512, SHAKE128 and 64 bytes of SHAKE256 too.
    Every,
}

/// Everything that a verifier has to know of a parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterSet {
    pub(super) function: Function,
    /// Bytes of a hash value.
    pub(super) n: usize,
    /// Bytes of the number in front of every hashed message: n in RFC 8391, 4 where SP 800-208
    /// shortened it.
    pub(super) prefix_len: usize,
    /// Height of all layers together.
    pub(super) h: u32,
    /// Layers.
    pub(super) d: u32,
    /// Height of one layer.
    pub(super) layer_height: u32,
    /// Bytes of the index.
    pub(super) index_len: usize,
    is_approved: bool,
}

/// Function, n, length of the prefix, and whether SP 800-208 approves of it. Both schemes count
/// through their sets in this order. "SHAKE" in the names of RFC 8391 is SHAKE128 with n = 32.
const FAMILIES: [(Function, u8, u8, bool); 7] = [
    (Function::Sha256, 32, 32, true),
    (Function::Sha512, 64, 64, false),
    (Function::Shake128, 32, 32, false),
    (Function::Shake256, 64, 64, false),
    (Function::Sha256, 24, 4, true),
    (Function::Shake256, 32, 32, true),
    (Function::Shake256, 24, 4, true),
];

/// h of XMSS.
const HEIGHTS: [u8; 3] = [10, 16, 20];

/// h, d and h / d of XMSS^MT.
const SHAPES: [(u8, u8, u8); 8] = [
    (20, 2, 10),
    (20, 4, 5),
    (40, 2, 20),
    (40, 4, 10),
    (40, 8, 5),
    (60, 3, 20),
    (60, 6, 10),
    (60, 12, 5),
];

impl ParameterSet {
    /// The set with a number. The same number means another set in each scheme.
    pub fn of(scheme: Scheme, oid: u32) -> Option<Self> {
        // Zero is reserved.
        let number = usize::try_from(oid).ok()?.checked_sub(1)?;
        let (family, (h, d, layer_height)) = match scheme {
            Scheme::Xmss => {
                let h = *HEIGHTS.get(number % HEIGHTS.len())?;
                (number / HEIGHTS.len(), (h, 1, h))
            }
            Scheme::XmssMt => (number / SHAPES.len(), *SHAPES.get(number % SHAPES.len())?),
        };
        let (function, n, prefix_len, is_approved) = *FAMILIES.get(family)?;
        let index_len = match scheme {
            Scheme::Xmss => 4,
            Scheme::XmssMt => u32::from(h).div_ceil(8) as usize,
        };
        Some(Self {
            function,
            n: n.into(),
            prefix_len: prefix_len.into(),
            h: h.into(),
            d: d.into(),
            layer_height: layer_height.into(),
            index_len,
            is_approved,
        })
    }

    /// Whether SP 800-208 approves of the set: SHA-256 and SHAKE256 with 32 and 24 bytes.
    pub const fn is_approved(&self) -> bool {
        self.is_approved
    }

    /// Bytes of a public key: number, root and seed.
    pub const fn public_key_len(&self) -> usize {
        self.n.wrapping_mul(2).wrapping_add(4)
    }

    /// Bytes of a signature: index, randomness, and for each layer one-time signature and
    /// authentication path.
    pub const fn signature_len(&self) -> usize {
        let values = (self.d as usize).wrapping_mul(self.chains()).wrapping_add(self.h as usize);
        self.index_len.wrapping_add(self.n).wrapping_add(values.wrapping_mul(self.n))
    }

    /// Chains of a one-time signature: two digits of four bits a byte, and three of the checksum
    /// (RFC 8391 §3.1.1, with w = 16).
    pub(super) const fn chains(&self) -> usize {
        self.n.wrapping_mul(2).wrapping_add(3)
    }
}
