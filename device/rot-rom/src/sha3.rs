//! The SHA-3 engine: digests of payloads that DMA streams to it, and of the roots over their blocks.
//!
//! It is no kernel of `device/kernels`, which has the sponge as a whole. As with the [SHA-2 engine](crate::engine), a
//! hash that is created without a device has to find it, so it is in a static. One hart without interrupts uses it.

use core::cell::UnsafeCell;

use hartlock_drivers::sha3::{Error, Function, Sha3};
use hartlock_drivers::wait::Polling;
use hartlock_image::HashId;
use hartlock_kernels::Kernels;
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512};
use hartlock_regs::Block;
use hartlock_rot::SHA3;
use hartlock_verify::tree::{Digest, Hasher, SoftwareHasher};

/// Bytes of the longest digest.
const LONGEST: usize = 64;

/// Bytes of a message that a [`RootHasher`] keeps: what precedes the leaves, and 32 leaves of SHA3-512, 43 of SHA3-384 or 66
/// of SHA3-256. Blocks of the usual size are then 2.5 MiB at least, more than the place of a payload. The stack has
/// them, because no signature is verified meanwhile; more of them would cost more to move.
const MOST_BYTES: usize = 2176;

/// What no message has as its digest: any comparison with it fails.
const NO_DIGEST: Digest = [u8::MAX; LONGEST];

struct Engine(UnsafeCell<Option<Sha3<Polling>>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Engine {}

/// The engine, once it has given known answers.
static THE_ENGINE: Engine = Engine(UnsafeCell::new(None));

/// The function of a hash that the engine has, and the bytes of its digest.
fn function(hash: HashId) -> Option<(Function<'static>, usize)> {
    let function = match hash {
        HashId::Sha3_256 => Function::Sha3_256,
        HashId::Sha3_384 => Function::Sha3_384,
        HashId::Sha3_512 => Function::Sha3_512,
        _ => return None,
    };
    Some((function, hash.output_len()))
}

/// Takes the engine if each of its functions gives the published digest. Called once.
pub fn take() -> Option<()> {
    // SAFETY: the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA3)) };
    let mut engine = Sha3::new(registers, Polling).ok()?;
    let known: [(Function<'_>, &[u8]); 3] = [
        (Function::Sha3_256, &Sha3_256::KAT),
        (Function::Sha3_384, &Sha3_384::KAT),
        (Function::Sha3_512, &Sha3_512::KAT),
    ];
    for (function, digest) in known {
        let mut given = [0; LONGEST];
        let given = given.get_mut(..digest.len())?;
        digest_of(&mut engine, function, b"abc", given).ok()?;
        if given != digest {
            return None;
        }
    }
    // SAFETY: no reference to its content exists: this is called once, before any other function here.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    Some(())
}

/// The engine, if it was taken.
fn engine() -> Option<&'static mut Sha3<Polling>> {
    // SAFETY: functions here give it back before any other code runs but what streams to it, which calls none of them.
    unsafe { &mut *THE_ENGINE.0.get() }.as_mut()
}

/// Whether there is an engine that computes this hash.
pub fn has(hash: HashId) -> bool {
    function(hash).is_some() && engine().is_some()
}

/// The digest of what `bring` streams to the engine; nothing if there is none for this hash, or it or the stream failed.
pub fn digest_of_stream(hash: HashId, bring: impl FnOnce() -> Option<()>) -> Option<Digest> {
    digest(hash, |engine, function, digest| {
        engine.start_stream(function).ok()?;
        bring()?;
        engine.read(digest).ok()
    })
}

/// The digest of parts in the scratchpad that follow each other; nothing if there is no engine for this hash, or it failed.
#[cfg(feature = "tee")]
pub fn digest_of_parts(hash: HashId, parts: &[&[u8]]) -> Option<Digest> {
    digest(hash, |engine, function, digest| {
        engine.start(function).ok()?;
        parts.iter().for_each(|part| engine.push(part));
        engine.finish(digest).ok()
    })
}

/// Has the engine forget what it hashed. Nothing if there is none, or it does not say that it has.
#[cfg(feature = "tee")]
pub fn wipe() -> Option<()> {
    // An engine with a fault has cleared itself.
    match engine()?.wipe() {
        Ok(()) | Err(Error::Failed) => Some(()),
        Err(_) => None,
    }
}

/// The digest of a message in the scratchpad; nothing if there is no engine for this hash, or it failed.
fn digest_of_message(hash: HashId, message: &[u8]) -> Option<Digest> {
    digest(hash, |engine, function, digest| digest_of(engine, function, message, digest).ok())
}

/// The digest that `compute` writes.
fn digest(
    hash: HashId,
    compute: impl FnOnce(&mut Sha3<Polling>, Function<'_>, &mut [u8]) -> Option<()>,
) -> Option<Digest> {
    let (function, len) = function(hash)?;
    let mut digest = [0; LONGEST];
    compute(engine()?, function, digest.get_mut(..len)?)?;
    Some(digest)
}

fn digest_of(
    engine: &mut Sha3<Polling>,
    function: Function<'_>,
    message: &[u8],
    digest: &mut [u8],
) -> Result<(), Error> {
    engine.start(function)?;
    engine.push(message);
    engine.finish(digest)
}

/// The hash of a root over blocks. The engine has one state, which the blocks need, so the message is kept in the
/// scratchpad until its end. In the host's memory others could replace the leaves between their hash and this one.
///
/// Longer messages, and hashes that the engine does not have, are hashed by the kernels as they come.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and there is no heap")]
pub enum RootHasher {
    /// The message so far.
    Kept { hash: HashId, kernels: Kernels, message: [u8; MOST_BYTES], len: usize },
    /// By the kernels.
    Software(SoftwareHasher),
}

impl Hasher for RootHasher {
    fn with(hash: HashId, kernels: &Kernels) -> Self {
        if has(hash) {
            return Self::Kept { hash, kernels: *kernels, message: [0; MOST_BYTES], len: 0 };
        }
        Self::Software(SoftwareHasher::with(hash, kernels))
    }

    fn parallelhash_with(hash: HashId, kernels: &Kernels) -> Self {
        Self::Software(SoftwareHasher::parallelhash_with(hash, kernels))
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Software(hasher) => hasher.update(bytes),
            Self::Kept { hash, kernels, message, len } => {
                let end = len.saturating_add(bytes.len());
                if let Some(place) = message.get_mut(*len..end) {
                    place.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                    *len = end;
                    return;
                }
                let mut hasher = SoftwareHasher::with(*hash, kernels);
                hasher.update(message.get(..*len).unwrap_or(message));
                hasher.update(bytes);
                *self = Self::Software(hasher);
            }
        }
    }

    fn finalize(self) -> Digest {
        match self {
            Self::Software(hasher) => hasher.finalize(),
            Self::Kept { hash, message, len, .. } => {
                let message = message.get(..len).unwrap_or(&message);
                digest_of_message(hash, message).unwrap_or(NO_DIGEST)
            }
        }
    }
}
