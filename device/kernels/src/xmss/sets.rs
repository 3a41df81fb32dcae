//! The parameter sets of XMSS and XMSS^MT (RFC 8391 §5.3, §5.4; SP 800-208 §5.2 to §5.5).

use crate::short::Function;

/// The scheme that defines the meaning of a parameter set number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// XMSS with one tree (RFC 8391 §4.1).
    Xmss,
    /// XMSS^MT with several layers of trees (RFC 8391 §4.2).
    XmssMt,
}

/// The parameter sets that a verifier accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sets {
    /// Only the sets that SP 800-208 approves.
    #[default]
    Approved,
    /// Also the sets of RFC 8391 with SHA-512, SHAKE128, and SHAKE256 with 64 bytes.
    Every,
}

/// The properties of a parameter set that a verifier needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XmssParameterSet {
    pub(super) function: Function,
    /// Length of a hash value in bytes.
    pub(super) n: usize,
    /// Length in bytes of the prefix of every hashed message: n in RFC 8391, and 4 where SP 800-208
    /// shortens it.
    pub(super) prefix_len: usize,
    /// Total height of all layers.
    pub(super) h: u32,
    /// Number of layers.
    pub(super) d: u32,
    /// Height of one layer.
    pub(super) layer_height: u32,
    /// Length of the index in bytes.
    pub(super) index_len: usize,
    is_approved: bool,
}

/// Function, n, length of the prefix, and whether SP 800-208 approves the family. Both schemes
/// number their sets in this order. The name "SHAKE" in RFC 8391 means SHAKE128 with n = 32.
const FAMILIES: [(Function, u8, u8, bool); 7] = [
    (Function::Sha256, 32, 32, true),
    (Function::Sha512, 64, 64, false),
    (Function::Shake128, 32, 32, false),
    (Function::Shake256, 64, 64, false),
    (Function::Sha256, 24, 4, true),
    (Function::Shake256, 32, 32, true),
    (Function::Shake256, 24, 4, true),
];

/// Values of h in XMSS.
const HEIGHTS: [u8; 3] = [10, 16, 20];

/// Values of h, d and h / d in XMSS^MT.
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

impl XmssParameterSet {
    /// Returns the set with this number, or `None` if it is unknown. The same number has different
    /// meanings in the two schemes.
    pub fn of(scheme: Scheme, oid: u32) -> Option<Self> {
        // The number zero is reserved.
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

    /// Returns true if SP 800-208 approves the set, which uses SHA-256 or SHAKE256 with 32 or 24
    /// bytes.
    pub const fn is_approved(&self) -> bool {
        self.is_approved
    }

    /// Returns the length of a public key in bytes: number, root and seed.
    pub const fn public_key_len(&self) -> usize {
        self.n.wrapping_mul(2).wrapping_add(4)
    }

    /// Returns the length of a signature in bytes: index, randomness, and a one-time signature and
    /// an authentication path for each layer.
    pub const fn signature_len(&self) -> usize {
        let values = (self.d as usize).wrapping_mul(self.chains()).wrapping_add(self.h as usize);
        self.index_len.wrapping_add(self.n).wrapping_add(values.wrapping_mul(self.n))
    }

    /// Returns the number of chains of a one-time signature: two digits of four bits for each byte,
    /// and three digits of the checksum (RFC 8391 §3.1.1, with w = 16).
    pub(super) const fn chains(&self) -> usize {
        self.n.wrapping_mul(2).wrapping_add(3)
    }
}
