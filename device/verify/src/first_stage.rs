//! The reference of the hardware that verifies a first stage (`spec/first-stage.md` §8).
//!
//! It gives the verdict and the reason that the hardware has to give, in plain steps. It is **not** hardened against
//! faults as the verifier of bundles is. On devices hardware decides; `verif/programs/first-stage`, which verifies the stage
//! after it by this, is a test.

use hartlock_image::first_stage::{FirstStageAlgorithm, FirstStageHeader, Front, Image, KeyDigest};
use hartlock_image::{Lifecycle, Name, Reason};
use hartlock_kernels::sha2::Sha256;
use hartlock_kernels::signature::compare;
use hartlock_kernels::{Hash, Kernels};

use crate::signature::{carries, reason_of};

/// Bytes of working memory that every algorithm of the form has room in.
pub const ROOM_SIZE: usize = FirstStageAlgorithm::MAX_STANDARD_SIGNATURE;
/// Bytes of the longest public key in the encoding of its standard.
const MAX_STANDARD_KEY: usize = 128;

/// What a verifier trusts, and what it requires. `None` requires nothing, which only a tool may do.
#[derive(Clone, Copy, Debug)]
pub struct Requirements<'a> {
    /// Digests of the trusted keys (§5): hardware has one.
    pub trusted: &'a [KeyDigest],
    /// Name of the board.
    pub board: Option<Name>,
    /// Name of the SoC.
    pub soc: Option<Name>,
    /// Lowest security version that starts.
    pub floor: Option<u64>,
    /// State of the device.
    pub lifecycle: Option<Lifecycle>,
    /// The most bytes of code that there is room for.
    pub capacity: Option<u64>,
    /// Whether the bytes end with the image (§3): they are a file.
    pub is_file: bool,
}

/// A genuine image that keeps every rule that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStage<'a> {
    /// Digest of the key that signed it.
    pub key_digest: KeyDigest,
    /// What was signed.
    pub header: FirstStageHeader,
    /// What starts.
    pub code: &'a [u8],
}

/// The digest of the key of an image (§5).
pub fn key_digest(front: &Front<'_>) -> KeyDigest {
    let mut hash = Sha256::new();
    hash.update(front.bytes());
    hash.finalize()
}

/// Verifies an image. `image` is the whole medium; `room` is working memory of [`ROOM_SIZE`] bytes, or of fewer where the
/// algorithms that are trusted need fewer.
///
/// # Errors
/// The first reason in the order of §8.
pub fn verify<'a>(
    image: &'a [u8],
    requirements: &Requirements<'_>,
    room: &mut [u8],
) -> Result<FirstStage<'a>, Reason> {
    let is_carried = |algorithm: FirstStageAlgorithm| carries(algorithm.algorithm());
    verify_with(image, requirements, is_carried, |parts| check_signature(parts, room))
}

/// The same with a verifier of signatures of the caller's, such as an engine: which algorithms it has, and whether the
/// signature of an image over its signed part verifies by the key inside (§8 step 5).
///
/// # Errors
/// The first reason in the order of §8.
pub fn verify_with<'a>(
    image: &'a [u8],
    requirements: &Requirements<'_>,
    is_carried: impl FnOnce(FirstStageAlgorithm) -> bool,
    check: impl FnOnce(&Image<'a>) -> Result<(), Reason>,
) -> Result<FirstStage<'a>, Reason> {
    // Steps 1 and 2. The digest decides before anything of the signature is used.
    let front = Front::parse(image)?;
    if !is_carried(front.algorithm()) {
        return Err(Reason::FirstStageAlgorithm);
    }
    let key_digest = key_digest(&front);
    if !requirements.trusted.contains(&key_digest) {
        return Err(Reason::NoTrustedSigner);
    }
    // Steps 3 and 4.
    let parts = Image::parse(front, image, requirements.capacity)?;
    // Step 5.
    check(&parts)?;
    // Step 6.
    let header = FirstStageHeader::parse(parts.signed, front.algorithm())?;
    // Step 7.
    requirements.check(&header)?;
    // Step 8.
    if requirements.is_file && parts.trailing > 0 {
        return Err(Reason::TrailingBytes);
    }
    Ok(FirstStage { key_digest, header, code: parts.code() })
}

/// Verifies the signature of an image over its signed part, by the key inside (§8 step 5).
///
/// # Errors
/// `SignatureIndexOutOfRange`, `SignatureMismatch`; `InternalLimit` if `room` is too small.
pub fn check_signature(parts: &Image<'_>, room: &mut [u8]) -> Result<(), Reason> {
    let algorithm = parts.front.algorithm();
    let mut key = [0; MAX_STANDARD_KEY];
    let size = algorithm.standard_key(parts.front.key(), &mut key).ok_or(Reason::InternalLimit)?;
    let key = key.get(..size).ok_or(Reason::InternalLimit)?;
    let size = algorithm.standard_signature(parts.signature, room)?;
    let signature = room.get(..size).ok_or(Reason::InternalLimit)?;
    compare(&Kernels::PORTABLE, algorithm.algorithm(), key, parts.signed, signature)
        .and_then(|compared| compared.check())
        .map_err(reason_of)
}

impl Requirements<'_> {
    /// Is the image for this device (§7)?
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
