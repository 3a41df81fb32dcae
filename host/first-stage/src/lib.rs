//! The model of the hardware that verifies a first stage (`spec/first-stage.md` §8).
//!
//! The model returns the verdict and the reason that the hardware has to give. The `hartlock` command signs, verifies and
//! inspects first stages by it. It is **not** hardened against faults as the verifier of bundles is, and no device runs it:
//! hardware decides there. `verif/programs/first-stage`, which verifies the stage after it by this, is a test.

#![no_std]
#![forbid(unsafe_code)]

use hartlock_image::first_stage::{FirstStageAlgorithm, FirstStageHeader, Front, Image, KeyDigest};
use hartlock_image::{Lifecycle, Name, Reason, SignatureBlock};
use hartlock_kernels::Hash;
use hartlock_kernels::sha2::Sha256;
use hartlock_verify::carries;

/// Size in bytes of the working memory that is large enough for every algorithm of the format.
pub const ROOM_SIZE: usize = FirstStageAlgorithm::MAX_STANDARD_SIGNATURE;
/// Maximum size in bytes of a public key in the encoding of its standard.
const MAX_STANDARD_KEY: usize = 128;

/// The keys that a verifier trusts and the properties that it requires of an image. A requirement that is `None` is not
/// checked, which only a tool may do.
#[derive(Clone, Copy, Debug)]
pub struct Requirements<'a> {
    /// Digests of the trusted keys (§5). Hardware has exactly one.
    pub trusted: &'a [KeyDigest],
    /// Name of the board.
    pub board: Option<Name>,
    /// Name of the SoC.
    pub soc: Option<Name>,
    /// Minimum security version.
    pub floor: Option<u64>,
    /// Lifecycle state of the device.
    pub lifecycle: Option<Lifecycle>,
    /// Maximum size of the code in bytes.
    pub capacity: Option<u64>,
    /// True if the image must end at the end of the bytes (§3), as in a file.
    pub is_file: bool,
}

/// A verified image that meets every requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStage<'a> {
    /// Digest of the key that signed the image.
    pub key_digest: KeyDigest,
    /// Signed header.
    pub header: FirstStageHeader,
    /// Code that the device executes.
    pub code: &'a [u8],
}

/// Returns the digest of the key of an image (§5).
pub fn key_digest(front: &Front<'_>) -> KeyDigest {
    let mut hash = Sha256::new();
    hash.update(front.bytes());
    hash.finalize()
}

/// Verifies an image. `image` is the whole medium. `room` is working memory; [`ROOM_SIZE`] bytes are enough for all
/// algorithms, and some algorithms need less.
///
/// # Errors
/// The first reason that applies in the order of §8.
pub fn verify<'a>(
    image: &'a [u8],
    requirements: &Requirements<'_>,
    room: &mut [u8],
) -> Result<FirstStage<'a>, Reason> {
    let is_carried = |algorithm: FirstStageAlgorithm| carries(algorithm.algorithm());
    verify_with(image, requirements, is_carried, |parts| check_signature(parts, room))
}

/// Same as [`verify`], except that the caller provides the signature verifier, for example an engine. `is_carried`
/// returns true for the algorithms that it supports, and `check` verifies the signature of an image over its signed
/// part by the key in the image (§8 step 5).
///
/// # Errors
/// The first reason that applies in the order of §8.
pub fn verify_with<'a>(
    image: &'a [u8],
    requirements: &Requirements<'_>,
    is_carried: impl FnOnce(FirstStageAlgorithm) -> bool,
    check: impl FnOnce(&Image<'a>) -> Result<(), Reason>,
) -> Result<FirstStage<'a>, Reason> {
    // These are steps 1 and 2. The digest of the key is checked before any part of the signature is used.
    let front = Front::parse(image)?;
    if !is_carried(front.algorithm()) {
        return Err(Reason::FirstStageAlgorithm);
    }
    let key_digest = key_digest(&front);
    if !requirements.trusted.contains(&key_digest) {
        return Err(Reason::NoTrustedSigner);
    }
    // These are steps 3 and 4.
    let parts = Image::parse(front, image, requirements.capacity)?;
    // This is step 5.
    check(&parts)?;
    // This is step 6.
    let header = FirstStageHeader::parse(parts.signed, front.algorithm())?;
    // This is step 7.
    requirements.check(&header)?;
    // This is step 8.
    if requirements.is_file && parts.trailing > 0 {
        return Err(Reason::TrailingBytes);
    }
    Ok(FirstStage { key_digest, header, code: parts.code() })
}

/// Verifies the signature of an image over its signed part by the key in the image (§8 step 5).
///
/// # Errors
/// `SignatureIndexOutOfRange`, `SignatureMismatch`; `InternalLimit` if `room` is too small; `FirstStageAlgorithm` if this build
/// cannot verify the algorithm.
pub fn check_signature(parts: &Image<'_>, room: &mut [u8]) -> Result<(), Reason> {
    let algorithm = parts.front.algorithm();
    let mut key = [0; MAX_STANDARD_KEY];
    let size = algorithm.standard_key(parts.front.key(), &mut key).ok_or(Reason::InternalLimit)?;
    let public_key = key.get(..size).ok_or(Reason::InternalLimit)?;
    let size = algorithm.standard_signature(parts.signature, room)?;
    let signature = room.get(..size).ok_or(Reason::InternalLimit)?;
    let (algorithm, parameters) = algorithm.algorithm().numbers();
    let block = SignatureBlock { algorithm, parameters, public_key, signature };
    hartlock_verify::check_signature(&block, parts.signed).ok_or(Reason::FirstStageAlgorithm)?
}

impl Requirements<'_> {
    /// Checks that the image is meant for this device (§7).
    fn check(&self, header: &FirstStageHeader) -> Result<(), Reason> {
        match self.board {
            Some(board) if header.board != *board.field() => return Err(Reason::WrongBoard),
            Some(_) => {}
            None => {
                header.board_name()?;
            }
        }
        match self.soc {
            Some(soc) if header.soc != *soc.field() => return Err(Reason::WrongSoc),
            Some(_) => {}
            None => {
                header.soc_name()?;
            }
        }
        if self.floor.is_some_and(|floor| header.security_version < floor) {
            return Err(Reason::RollbackBelowFloor);
        }
        if self.lifecycle.is_some_and(|state| header.lifecycle_mask & state.bit() == 0) {
            return Err(Reason::LifecycleNotAllowed);
        }
        Ok(())
    }
}
