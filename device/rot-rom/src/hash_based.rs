//! The engine for hash-based signatures as a kernel (`Kernels::with_hash_based_engine`).
//!
//! It is asked for roots alone: the verifiers of `device/kernels` check before what a signature has to look like, and compare
//! the root afterwards, as they do without it. Signature and message are those in the scratchpad, where both are checked.
//!
//! As with the [SHA-2 engine](crate::engine), a kernel knows functions and no devices, so the engine is in a static.

use core::cell::UnsafeCell;

use hartlock_drivers::scratchpad_stream::ScratchpadStream;
use hartlock_drivers::wait::Polling;
use hartlock_drivers::xmss::streamed::Streamed;
use hartlock_drivers::xmss::{Key, Xmss};
use hartlock_kernels::Kernels;
use hartlock_kernels::hash_based::{
    self, Request, Root, SCRATCH_LEN, SCRATCH_LEN_OF_TREES, Scheme,
};
use hartlock_regs::Block;
use hartlock_rot::{SCRATCHPAD, SCRATCHPAD_STREAM, XMSS};

use crate::console;
use crate::words::Words;

/// Bytes for known answers: those of the schemes that this ROM carries.
const KNOWN_LEN: usize = if cfg!(feature = "slh-dsa") { SCRATCH_LEN } else { SCRATCH_LEN_OF_TREES };

/// Bytes of a message that is cut: with SLH-DSA the signed region of a bundle has a prefix (FIPS 205 §10.2). A longer one takes
/// more time.
const ROOM_LEN: usize = if cfg!(feature = "slh-dsa") { 2048 } else { 64 };
static mut ROOM: Words<ROOM_LEN> = Words([0; ROOM_LEN]);

struct Engine(UnsafeCell<Option<Streamed<Polling>>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Engine {}

static THE_ENGINE: Engine = Engine(UnsafeCell::new(None));

/// These kernels with the engine, if it works: software computes the roots without it. Called once. `scratch` is for known
/// answers, in the scratchpad.
pub fn take(kernels: Kernels, scratch: &mut [u8]) -> Kernels {
    let known = scratch.get_mut(..KNOWN_LEN).unwrap_or_default();
    let with = engine().and_then(|()| {
        kernels.with_hash_based_engine(hash_based::Engine { start, finish }, known).ok()
    });
    console::line(&[if with.is_some() {
        "hartlock: hash-based signatures by the engine"
    } else {
        "hartlock: the engine for hash-based signatures is not used"
    }]);
    with.unwrap_or(kernels)
}

/// Takes the engine; nothing if it is not there, or has failed.
fn engine() -> Option<()> {
    // SAFETY: the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(XMSS)) };
    let engine = Xmss::new(registers, Polling).ok()?;
    let registers = core::ptr::with_exposed_provenance_mut(SCRATCHPAD_STREAM);
    // SAFETY: the registers of the stream, of which this is the only user.
    let stream = unsafe { ScratchpadStream::new(registers, SCRATCHPAD) };
    let room = &raw mut ROOM;
    // SAFETY: this function is called once, and nothing else names it.
    let Words(room) = unsafe { &mut *room };
    // SAFETY: no reference to its content exists: `start` and `finish` are not called before, and return before any
    // other code runs.
    unsafe { *THE_ENGINE.0.get() = Some(Streamed::new(engine, stream, room)) };
    Some(())
}

/// Begins with the root that a signature leads to; nothing if the engine does not have the scheme, or this ROM no verifier
/// for it.
fn start(request: &Request<'_>) -> Option<()> {
    let Request { scheme, public_key, message, signature } = *request;
    // SAFETY: as above.
    let engine = unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?;
    let key = match scheme {
        Scheme::Xmss if cfg!(feature = "xmss") => Key::xmss(public_key),
        Scheme::Lms if cfg!(feature = "lms") => Key::lms(public_key),
        Scheme::SlhDsaSha2_128s if cfg!(feature = "slh-dsa") => Key::slh_dsa_sha2_128s(public_key),
        _ => None,
    };
    engine.start(&key?, message, signature)
}

/// The root.
fn finish(root: &mut Root) -> Option<()> {
    // SAFETY: as above.
    unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?.root(root)
}
