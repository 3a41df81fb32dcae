//! Job 6: hash of a first stage and verification of its signature, by several sets of kernels.
//!
//! The pack starts with the *plan*. Its fields have 32 bits each, except the digests:
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | bytes of the image, up to [`MAX_IMAGE_LEN`]; both sides create it ([`fill_image`]) |
//! | 4 | 4 | bytes of a block of the tree |
//! | 8 | 4 | harts that share the blocks, 1 to [`MAX_HARTS`] |
//! | 12 | 4 | what to count: sum of [`FLAT`], [`IN_TURN`] and [`TOGETHER`], and of [`PORTABLE`] and [`CHOSEN`] |
//! | 16 | 32 | SHA-256 of the image, which is signed |
//! | 48 | 32 | root of its tree (image format §6.2), which is signed too |
//!
//! An entry of the pack is a *signer*: a key and its signatures of both digests.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 4 | [`FirstStageScheme`], by its place in the list |
//! | 4 | 4 | bytes of the public key |
//! | 8 | 4 | bytes of the signature of the digest |
//! | 12 | 4 | bytes of the signature of the root |
//! | 16 | | the three, each with zeros to a multiple of 8 |

use hartlock_image::{
    Algorithm, Curve, HashId, HssSet, MlDsaSet, PayloadRecord, PayloadType, TreeMode, Writer,
    bytes_at, u32_at,
};
use hartlock_kernels::walnut::{self, WalnutLevel};
use hartlock_kernels::{Kernels, signature};

/// Longest image in bytes.
pub const MAX_IMAGE_LEN: usize = 1 << 20;
/// Maximum number of harts that share the work.
pub const MAX_HARTS: usize = 4;
/// Maximum number of blocks of an image.
pub const MAX_BLOCKS: usize = 1024;
/// The whole image as one message, on one hart.
pub const FLAT: u32 = 1;
/// The shares of all harts, one after the other on one hart.
pub const IN_TURN: u32 = 2;
/// The shares of all harts at the same time. Only the cycle-accurate machine has other harts.
pub const TOGETHER: u32 = 4;
/// With the portable kernels.
pub const PORTABLE: u32 = 8;
/// With the kernels that work on this hart.
pub const CHOSEN: u32 = 16;
/// Size of a plan in bytes.
pub const PLAN_SIZE: usize = 80;
/// Size of the fields before a key.
const FIELDS_SIZE: usize = 16;
/// Longest signature in bytes.
pub const MAX_SIGNATURE_LEN: usize = 4096;

/// A signature algorithm of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the names of the standards")]
pub enum FirstStageScheme {
    /// The broken scheme of the paper, at its lower level.
    Walnut,
    Ed25519,
    EcdsaP256,
    Lms,
    MlDsa44,
    MlDsa65,
}

impl FirstStageScheme {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Walnut, Self::Ed25519, Self::EcdsaP256, Self::Lms, Self::MlDsa44, Self::MlDsa65];

    /// Returns the name in output, which is that of the image format (§2.2) if it has one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Walnut => "walnut-128",
            Self::Ed25519 => "ed25519",
            Self::EcdsaP256 => "ecdsa-p256",
            Self::Lms => "lms-sha256-h10-w4",
            Self::MlDsa44 => "ml-dsa-44",
            Self::MlDsa65 => "ml-dsa-65",
        }
    }

    /// Verifies a signature of a digest, which is the whole message. WalnutDSA takes the digest for the one that it would
    /// compute of a message; all others hash it as a message.
    pub fn verify(self, kernels: &Kernels, key: &[u8], digest: &[u8], signature: &[u8]) -> bool {
        let algorithm = match self {
            Self::Walnut => {
                return walnut::verify(kernels, WalnutLevel::Level128, key, signature, digest);
            }
            Self::Ed25519 => Algorithm::Ed25519,
            Self::EcdsaP256 => Algorithm::Ecdsa(Curve::P256),
            Self::Lms => match const { HssSet::new(1, 6, 3) } {
                Some(set) => Algorithm::Hss(set),
                None => return false,
            },
            Self::MlDsa44 => Algorithm::MlDsa(MlDsaSet::MlDsa44),
            Self::MlDsa65 => Algorithm::MlDsa(MlDsaSet::MlDsa65),
        };
        signature::verify(kernels, algorithm, key, digest, signature).is_ok()
    }
}

/// The work of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStagePlan {
    /// Length of the image in bytes.
    pub image_len: usize,
    /// Length of a block in bytes.
    pub block_len: usize,
    /// Number of harts that share the blocks.
    pub harts: usize,
    /// What to count.
    pub parts: u32,
    /// SHA-256 of the image.
    pub digest: [u8; 32],
    /// Root of its tree.
    pub root: [u8; 32],
}

/// Returns a number by which the compiler can divide without a panic; a parsed plan has no zero.
const fn divisor(number: usize) -> usize {
    if number == 0 { 1 } else { number }
}

impl FirstStagePlan {
    /// Reads the plan at the start of `bytes`, and also returns the bytes after it.
    pub fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (fields, rest) = bytes.split_at_checked(PLAN_SIZE)?;
        let plan = Self {
            image_len: u32_at(fields, 0)? as usize,
            block_len: u32_at(fields, 4)? as usize,
            harts: u32_at(fields, 8)? as usize,
            parts: u32_at(fields, 12)?,
            digest: bytes_at(fields, 16)?,
            root: bytes_at(fields, 48)?,
        };
        let is_possible = (1..=MAX_IMAGE_LEN).contains(&plan.image_len)
            && plan.block_len > 0
            && plan.blocks() <= MAX_BLOCKS
            && (1..=MAX_HARTS).contains(&plan.harts);
        is_possible.then_some((plan, rest))
    }

    /// Returns the encoded plan.
    pub fn encode(&self) -> [u8; PLAN_SIZE] {
        let mut bytes = [0; PLAN_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put_u32(self.image_len as u32);
        out.put_u32(self.block_len as u32);
        out.put_u32(self.harts as u32);
        out.put_u32(self.parts);
        out.put(&self.digest);
        out.put(&self.root);
        bytes
    }

    /// Returns the number of blocks.
    pub const fn blocks(&self) -> usize {
        self.image_len.div_ceil(divisor(self.block_len))
    }

    /// Returns the first block of a hart, and the number of its blocks. The blocks of a hart are adjacent, and the first
    /// harts have one more if they cannot be divided equally.
    pub const fn share(&self, hart: usize, harts: usize) -> (usize, usize) {
        let harts = divisor(harts);
        let (each, more) = (self.blocks() / harts, self.blocks() % harts);
        let before = if hart < more { hart } else { more };
        (hart * each + before, each + (hart < more) as usize)
    }

    /// Returns the record from which the root is computed.
    pub fn record(&self) -> PayloadRecord {
        PayloadRecord {
            payload_type: PayloadType::Loader,
            hash: HashId::Sha256,
            mode: TreeMode::Blocks { block_size: self.block_len as u32 },
            offset: 4096,
            size: self.image_len as u64,
            load_address: 0x8020_0000,
            memory_size: MAX_IMAGE_LEN as u64,
            entry: 0,
            digest: [0; 64],
        }
    }
}

/// Creates the image: bytes of a fixed seed, because the number of instructions of a hash depends on their number alone.
pub fn fill_image(image: &mut [u8]) {
    crate::fill(image, 0x6669_7273_7420_7374);
}

/// A public key and its signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStageSigner<'a> {
    /// The algorithm.
    pub scheme: FirstStageScheme,
    /// The public key.
    pub key: &'a [u8],
    /// The signature of the image's digest.
    pub of_digest: &'a [u8],
    /// The signature of the root.
    pub of_root: &'a [u8],
}

impl<'a> FirstStageSigner<'a> {
    /// Reads the signer at the start of `bytes`, and also returns the bytes after it.
    pub fn parse(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let scheme = *FirstStageScheme::ALL.get(u32_at(bytes, 0)? as usize)?;
        let (fields, rest) = bytes.split_at_checked(FIELDS_SIZE)?;
        let (key, rest) = part(rest, u32_at(fields, 4)?)?;
        let (of_digest, rest) = part(rest, u32_at(fields, 8)?)?;
        let (of_root, rest) = part(rest, u32_at(fields, 12)?)?;
        let is_possible = of_digest.len().max(of_root.len()) <= MAX_SIGNATURE_LEN;
        is_possible.then_some((Self { scheme, key, of_digest, of_root }, rest))
    }

    /// Writes the signer. Returns `None` if it does not fit.
    pub fn encode(&self, out: &mut [u8]) -> Option<usize> {
        let mut out = Writer::new(out);
        out.put_u32(self.scheme as u32);
        let parts = [self.key, self.of_digest, self.of_root];
        parts.iter().for_each(|part| out.put_u32(part.len() as u32));
        for part in parts {
            out.put(part);
            out.pad_to(8);
        }
        out.finish()
    }
}

/// Returns the first `len` bytes, and the bytes after them and their padding.
fn part(bytes: &[u8], len: u32) -> Option<(&[u8], &[u8])> {
    let len = len as usize;
    let (padded, rest) = bytes.split_at_checked(len.checked_next_multiple_of(8)?)?;
    Some((padded.get(..len)?, rest))
}
