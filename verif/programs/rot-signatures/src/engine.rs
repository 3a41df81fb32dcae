//! Roots by the engine for hash-based signatures, as in the ROM. With the feature `pushed` the core pushes the input
//! instead of the stream.

use core::cell::UnsafeCell;

use core::sync::atomic::{AtomicU32, Ordering};

#[cfg(not(feature = "pushed"))]
use hartlock_drivers::scratchpad_stream::ScratchpadStream;
use hartlock_drivers::wait::Polling;
#[cfg(feature = "pushed")]
use hartlock_drivers::xmss::Xmss as Driver;
#[cfg(not(feature = "pushed"))]
use hartlock_drivers::xmss::streamed::Streamed as Driver;
use hartlock_drivers::xmss::{Key, Xmss};
use hartlock_kernels::Kernels;
use hartlock_kernels::hash_based::{Engine, Request, Root, Scheme};
use hartlock_regs::Block;
use hartlock_rot::XMSS;
#[cfg(not(feature = "pushed"))]
use hartlock_rot::{SCRATCHPAD, SCRATCHPAD_STREAM};

type Device = Driver<Polling>;

struct Place(UnsafeCell<Option<Device>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Place {}

static THE_ENGINE: Place = Place(UnsafeCell::new(None));
/// Number of roots that the engine has computed.
static GIVEN: AtomicU32 = AtomicU32::new(0);

/// A buffer for messages of several parts; those of the vectors fit.
#[cfg(not(feature = "pushed"))]
#[repr(align(8))]
struct Room([u8; 4096]);
#[cfg(not(feature = "pushed"))]
static mut ROOM: Room = Room([0; 4096]);

/// Returns the number of roots that the engine has computed since the last call.
pub fn given() -> u32 {
    // A plain load and store is sufficient: there is one hart without interrupts, and the processor has no atomic
    // instructions.
    let given = GIVEN.load(Ordering::Relaxed);
    GIVEN.store(0, Ordering::Relaxed);
    given
}

/// Returns kernels with the engine, if it passes the known-answer tests of all schemes. `scratch` is a buffer for them.
pub fn kernels(scratch: &mut [u8]) -> Option<Kernels> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(XMSS)) };
    let engine = device(Xmss::new(registers, Polling).ok()?);
    // SAFETY: no reference to the content exists, because the functions below are not called before.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    let kernels =
        Kernels::PORTABLE.with_hash_based_engine(Engine { start, finish }, scratch).ok()?;
    given();
    let schemes = [Scheme::Xmss, Scheme::Lms, Scheme::SlhDsaSha2_128s];
    schemes.iter().all(|scheme| kernels.has_hash_based_engine(*scheme)).then_some(kernels)
}

#[cfg(not(feature = "pushed"))]
fn device(engine: Xmss<Polling>) -> Device {
    let registers = core::ptr::with_exposed_provenance_mut(SCRATCHPAD_STREAM);
    // SAFETY: these are the registers of the stream, of which this is the only user.
    let stream = unsafe { ScratchpadStream::new(registers, SCRATCHPAD) };
    let room = &raw mut ROOM;
    // SAFETY: this function is called once, and no other code names the buffer.
    let Room(room) = unsafe { &mut *room };
    Driver::new(engine, stream, room)
}

#[cfg(feature = "pushed")]
fn device(engine: Xmss<Polling>) -> Device {
    engine
}

fn start(request: &Request<'_>) -> Option<()> {
    let Request { scheme, public_key, message, signature } = *request;
    // SAFETY: no other reference to the content exists: there is one hart without interrupts, and the reference ends
    // with the call.
    let engine = unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?;
    let key = match scheme {
        Scheme::Xmss => Key::xmss(public_key),
        Scheme::XmssMt => None,
        Scheme::Lms => Key::lms(public_key),
        Scheme::SlhDsaSha2_128s => Key::slh_dsa_sha2_128s(public_key),
    };
    engine.start(&key?, message, signature)
}

fn finish(root: &mut Root) -> Option<()> {
    // SAFETY: no other reference to the content exists, for the same reason as in `start`.
    unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?.root(root)?;
    GIVEN.store(GIVEN.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    Some(())
}
