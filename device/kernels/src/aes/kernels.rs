//! The kernels of AES that a hart uses.

use super::{AesKey, Block, Columns, ctr};
#[cfg(any(feature = "aes", test))]
use super::{gcm, ghash};

/// A mode of AES that has kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherMode {
    /// Counter mode.
    Ctr,
    /// Galois/counter mode.
    Gcm,
}

impl CipherMode {
    /// All modes.
    pub const ALL: [CipherMode; 2] = [CipherMode::Ctr, CipherMode::Gcm];

    /// Returns the name of the mode in output.
    pub const fn name(self) -> &'static str {
        match self {
            CipherMode::Ctr => "aes-ctr",
            CipherMode::Gcm => "aes-gcm",
        }
    }
}

/// The extensions that a kernel of AES needs beyond the base instruction set. In all measurements a higher tier took
/// fewer instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum CipherTier {
    /// Portable Rust code.
    Portable = 1,
    /// Assembly with Zkne and Zbkb, and for GCM with Zbkc.
    Zkne = 2,
    /// Assembly with V, Zvkb and Zvkned, and for GCM with Zvbc.
    Zvkned = 3,
    /// Assembly with V, Zvkb, Zvkned and Zvkg, which multiplies blocks of GHASH.
    Zvkg = 4,
}

impl CipherTier {
    /// All tiers, in the order of their numbers.
    pub const ALL: [CipherTier; 4] =
        [CipherTier::Portable, CipherTier::Zkne, CipherTier::Zvkned, CipherTier::Zvkg];

    /// Returns the name of the tier in output.
    pub const fn name(self) -> &'static str {
        match self {
            CipherTier::Portable => "portable",
            CipherTier::Zkne => "zkne",
            CipherTier::Zvkned => "zvkned",
            CipherTier::Zvkg => "zvkg",
        }
    }
}

/// Expands the key in front of round keys for a number of rounds: 10, 12 or 14.
pub(crate) type Schedule = fn(&mut Columns, usize);
/// XORs the key stream that starts with the encrypted block.
pub(crate) type StreamFunction = fn(&AesKey, &Block, &mut [u8]);
/// Adds bytes to a hash under a hash key, like [`ghash::add`].
#[cfg(any(feature = "aes", test))]
pub(crate) type AddToHash = fn(&Block, &mut Block, &[u8]);
/// Adds a text to a hash and decrypts it, like [`gcm::portable_open`].
#[cfg(any(feature = "aes", test))]
pub(crate) type Open = fn(&AesKey, &Block, &Block, &mut Block, &mut [u8]);

/// The kernel of counter mode.
#[derive(Clone, Copy)]
pub(crate) struct Ctr {
    pub tier: CipherTier,
    pub run: StreamFunction,
}

/// The kernels of GCM.
#[cfg(any(feature = "aes", test))]
#[derive(Clone, Copy)]
pub(crate) struct Gcm {
    pub tier: CipherTier,
    pub hash: AddToHash,
    pub open: Open,
}

/// The selected kernels of all modes.
#[derive(Clone, Copy)]
pub(crate) struct AesKernels {
    /// The key schedule that comes with the kernel of counter mode, if that is not the portable one. It leaves out the
    /// planes, which no kernel reads.
    pub schedule: Option<Schedule>,
    pub ctr: Ctr,
    #[cfg(any(feature = "aes", test))]
    pub gcm: Gcm,
}

impl AesKernels {
    /// The portable implementation.
    pub(crate) const PORTABLE: Self = Self {
        schedule: None,
        ctr: Ctr { tier: CipherTier::Portable, run: ctr::portable_stream },
        #[cfg(any(feature = "aes", test))]
        gcm: Gcm { tier: CipherTier::Portable, hash: ghash::add, open: gcm::portable_open },
    };
}
