//! The SHA-3 engine, which hashes payloads that DMA streams to it, and the roots over their blocks.
//!
//! The engine is not a kernel of `device/kernels`: a kernel absorbs blocks into a state that software keeps, and the
//! engine computes the whole sponge. A hash object that is created without a device has to find the engine, so the
//! engine is in a static, as with the [SHA-2 engine](crate::engine). One hart without interrupts uses it.

use core::cell::UnsafeCell;

use hartlock_drivers::sha3::{Error, Function, Sha3};
use hartlock_drivers::wait::Polling;
use hartlock_image::HashId;
use hartlock_kernels::Kernels;
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512};
use hartlock_regs::Block;
use hartlock_rot::SHA3;
use hartlock_verify::tree::{Digest, Hasher, SoftwareHasher};

/// Length in bytes of the longest digest.
const LONGEST: usize = 64;

/// Maximum length in bytes of a message that a [`RootHasher`] collects: the header before the leaves, and 32 leaves of
/// SHA3-512, 43 of SHA3-384 or 66 of SHA3-256. With the usual block size this covers at least 2.5 MiB, more than the
/// load region of any payload. The buffer is on the stack, which has room because no signature is verified at that
/// time; a larger one would cost more to move.
const MOST_BYTES: usize = 2176;

/// Value that is no message's digest, so that any comparison with it fails.
const NO_DIGEST: Digest = [u8::MAX; LONGEST];

struct Engine(UnsafeCell<Option<Sha3<Polling>>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Engine {}

/// The engine, after it has passed its known-answer tests.
static THE_ENGINE: Engine = Engine(UnsafeCell::new(None));

/// Returns the function of the engine for a hash, and the length of its digest in bytes.
fn function(hash: HashId) -> Option<(Function<'static>, usize)> {
    let function = match hash {
        HashId::Sha3_256 => Function::Sha3_256,
        HashId::Sha3_384 => Function::Sha3_384,
        HashId::Sha3_512 => Function::Sha3_512,
        _ => return None,
    };
    Some((function, hash.output_len()))
}

/// Initialises the engine if each of its functions passes its known-answer test. This function is called once.
pub fn take() -> Option<()> {
    // SAFETY: these are the engine's registers, of which this is the only user.
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
    // SAFETY: no reference to the content exists, because this function is called once, before any other of this file.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    Some(())
}

/// Returns the engine, if it works.
fn engine() -> Option<&'static mut Sha3<Polling>> {
    // SAFETY: the functions of this file drop the reference before any other code runs, except for the code that
    // streams to the engine, which calls none of them.
    unsafe { &mut *THE_ENGINE.0.get() }.as_mut()
}

/// Returns true if there is an engine that computes this hash.
pub fn has(hash: HashId) -> bool {
    function(hash).is_some() && engine().is_some()
}

/// Computes the digest of the bytes that `bring` streams to the engine. Returns `None` if there is no engine for this
/// hash, or if the engine or the stream failed.
pub fn digest_of_stream(hash: HashId, bring: impl FnOnce() -> Option<()>) -> Option<Digest> {
    digest(hash, |engine, function, digest| {
        engine.start_stream(function).ok()?;
        bring()?;
        engine.read(digest).ok()
    })
}

/// Computes the digest of consecutive parts in the scratchpad. Returns `None` if there is no engine for this hash or it
/// failed.
#[cfg(feature = "tee")]
pub fn digest_of_parts(hash: HashId, parts: &[&[u8]]) -> Option<Digest> {
    digest(hash, |engine, function, digest| {
        engine.start(function).ok()?;
        parts.iter().for_each(|part| engine.push(part));
        engine.finish(digest).ok()
    })
}

/// Clears the state of the engine. Returns `None` if there is no engine or it does not confirm.
#[cfg(feature = "tee")]
pub fn wipe() -> Option<()> {
    // An engine with a fault has already cleared itself.
    match engine()?.wipe() {
        Ok(()) | Err(Error::Failed) => Some(()),
        Err(_) => None,
    }
}

/// Computes the digest of a message in the scratchpad. Returns `None` if there is no engine for this hash or it failed.
fn digest_of_message(hash: HashId, message: &[u8]) -> Option<Digest> {
    digest(hash, |engine, function, digest| digest_of(engine, function, message, digest).ok())
}

/// Returns the digest that `compute` writes.
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

/// The hash of the root over the blocks of a payload. The engine has a single state, which the blocks need, so the
/// message of the root is collected in the scratchpad. In the host's memory another master could replace leaves before
/// they are hashed.
///
/// Longer messages, and hashes that the engine does not have, are hashed by the kernels as the bytes arrive.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and there is no heap")]
pub enum RootHasher {
    /// The engine hashes the collected message at the end.
    Kept { hash: HashId, kernels: Kernels, message: [u8; MOST_BYTES], len: usize },
    /// The kernels hash the message.
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
