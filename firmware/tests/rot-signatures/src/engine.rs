//! Roots by the engine for hash-based signatures, as the ROM has them; with the feature `pushed` the core feeds it.

use core::cell::UnsafeCell;

#[cfg(not(feature = "pushed"))]
use hartlock_drivers::scratchpad_stream::ScratchpadStream;
use hartlock_drivers::wait::Polling;
use hartlock_drivers::xmss::Xmss;
#[cfg(not(feature = "pushed"))]
use hartlock_drivers::xmss::streamed::Streamed;
use hartlock_kernels::Kernels;
use hartlock_kernels::hash_based::{Engine, Request, Root, SCRATCH_LEN_OF_TREES, Scheme};
use hartlock_regs::Block;
use hartlock_rot::XMSS;
#[cfg(not(feature = "pushed"))]
use hartlock_rot::{SCRATCHPAD, SCRATCHPAD_STREAM};

#[cfg(not(feature = "pushed"))]
type Device = Streamed<Polling>;
#[cfg(feature = "pushed")]
type Device = Xmss<Polling>;

struct Place(UnsafeCell<Option<Device>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Place {}

static THE_ENGINE: Place = Place(UnsafeCell::new(None));

/// Kernels with the engine, if it gives known answers.
pub fn kernels(scratch: &mut [u8]) -> Option<Kernels> {
    // SAFETY: the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(XMSS)) };
    let engine = device(Xmss::new(registers, Polling).ok()?);
    // SAFETY: no reference to its content exists: the functions below are not called before.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    let scratch = scratch.get_mut(..SCRATCH_LEN_OF_TREES)?;
    let kernels = Kernels::PORTABLE.with_hash_based_engine(Engine { start, finish }, scratch);
    kernels.ok().filter(|kernels| kernels.has_hash_based_engine(Scheme::Xmss))
}

#[cfg(not(feature = "pushed"))]
fn device(engine: Xmss<Polling>) -> Device {
    let registers = core::ptr::with_exposed_provenance_mut(SCRATCHPAD_STREAM);
    // SAFETY: the registers of the stream, of which this is the only user.
    Streamed::new(engine, unsafe { ScratchpadStream::new(registers, SCRATCHPAD) })
}

#[cfg(feature = "pushed")]
fn device(engine: Xmss<Polling>) -> Device {
    engine
}

fn start(request: &Request<'_>) -> Option<()> {
    let Request { scheme, public_key, message, signature } = *request;
    // SAFETY: as above.
    let engine = unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?;
    match scheme {
        Scheme::Xmss => engine.start(public_key, message, signature),
        Scheme::XmssMt | Scheme::Lms | Scheme::SlhDsaSha2_128s => None,
    }
}

fn finish(root: &mut Root) -> Option<()> {
    // SAFETY: as above.
    unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?.root(root)
}
