//! The engine for hash-based signatures as a kernel (`Kernels::with_hash_based_engine`).
//!
//! The engine only computes roots. The verifiers of `device/kernels` check the format of a signature before, and
//! compare the root afterwards, the same as without the engine. Signature and message are read from the scratchpad,
//! where both were checked.
//!
//! A kernel is a plain function that has no access to devices, so the engine is in a static, as with the [SHA-2
//! engine](crate::engine).

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

/// Size in bytes of the buffer for known answers of the schemes that this ROM contains.
const KNOWN_LEN: usize = if cfg!(feature = "slh-dsa") { SCRATCH_LEN } else { SCRATCH_LEN_OF_TREES };

/// Size in bytes of the buffer for a message that is streamed in pieces: with SLH-DSA the signed region of a bundle has
/// a prefix (FIPS 205 §10.2). A longer message takes more time.
const ROOM_LEN: usize = if cfg!(feature = "slh-dsa") { 2048 } else { 64 };
static mut ROOM: Words<ROOM_LEN> = Words([0; ROOM_LEN]);

struct Engine(UnsafeCell<Option<Streamed<Polling>>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Engine {}

static THE_ENGINE: Engine = Engine(UnsafeCell::new(None));

/// Adds the engine to these kernels if it works; otherwise software computes the roots. `scratch` is a buffer in the
/// scratchpad for known answers. This function is called once.
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

/// Initialises the engine. Returns `None` if the engine is missing or has failed.
fn engine() -> Option<()> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(XMSS)) };
    let engine = Xmss::new(registers, Polling).ok()?;
    let registers = core::ptr::with_exposed_provenance_mut(SCRATCHPAD_STREAM);
    // SAFETY: these are the registers of the stream, of which this is the only user.
    let stream = unsafe { ScratchpadStream::new(registers, SCRATCHPAD) };
    let room = &raw mut ROOM;
    // SAFETY: this function is called once, and no other code names the buffer.
    let Words(room) = unsafe { &mut *room };
    // SAFETY: no reference to the content exists: `start` and `finish` are not called before, and they return before
    // any other code runs.
    unsafe { *THE_ENGINE.0.get() = Some(Streamed::new(engine, stream, room)) };
    Some(())
}

/// Starts the computation of the root for a signature. Returns `None` if the engine does not support the scheme, or if
/// this ROM has no verifier for it.
fn start(request: &Request<'_>) -> Option<()> {
    let Request { scheme, public_key, message, signature } = *request;
    // SAFETY: no other reference to the content exists, as explained in `engine`.
    let engine = unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?;
    let key = match scheme {
        Scheme::Xmss if cfg!(feature = "xmss") => Key::xmss(public_key),
        Scheme::Lms if cfg!(feature = "lms") => Key::lms(public_key),
        Scheme::SlhDsaSha2_128s if cfg!(feature = "slh-dsa") => Key::slh_dsa_sha2_128s(public_key),
        _ => None,
    };
    engine.start(&key?, message, signature)
}

/// Waits for the root and writes it to `root`.
fn finish(root: &mut Root) -> Option<()> {
    // SAFETY: no other reference to the content exists, as explained in `engine`.
    unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?.root(root)
}
