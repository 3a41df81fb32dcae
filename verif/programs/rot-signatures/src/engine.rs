//! Roots by the engine for hash-based signatures, as in the ROM. With the feature `pushed` the core pushes the input
//! instead of the stream.

use core::sync::atomic::{AtomicU32, Ordering};

#[cfg(not(feature = "pushed"))]
use hartlock_drivers::scratchpad_stream::ScratchpadStream;
use hartlock_drivers::wait::Polling;
#[cfg(feature = "pushed")]
use hartlock_drivers::xmss::Xmss as Driver;
#[cfg(not(feature = "pushed"))]
use hartlock_drivers::xmss::streamed::StreamedXmss as Driver;
use hartlock_drivers::xmss::{Key, Xmss};
use hartlock_kernels::engines::{
    Attached, Attachment, EngineKind, Engines, Root, RootRequest, RootScheme,
};
use hartlock_kernels::{EngineUse, Kernels};
use hartlock_regs::Block;
use hartlock_rot::XMSS;
#[cfg(not(feature = "pushed"))]
use hartlock_rot::{SCRATCHPAD, SCRATCHPAD_STREAM};

type Device = Driver<Polling>;

/// The engine, and the roots that it gave.
struct RootEngine {
    engine: Attached<Device>,
    given: AtomicU32,
}

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for RootEngine {}

static mut ENGINES: Option<RootEngine> = None;

/// A buffer for messages of several parts; those of the vectors fit.
#[cfg(not(feature = "pushed"))]
#[repr(align(8))]
struct Room([u8; 4096]);
#[cfg(not(feature = "pushed"))]
static mut ROOM: Room = Room([0; 4096]);

/// Returns kernels with the engine, if it passes the known-answer tests of all schemes. `scratch` is a buffer for them.
pub fn kernels(scratch: &mut [u8]) -> Option<(Kernels, impl Fn() -> u32 + use<>)> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(XMSS)) };
    let engine = Attached::new(Xmss::new(registers, Polling).ok().map(device));
    let engines = &raw mut ENGINES;
    // SAFETY: this is its only user.
    let engines: &'static RootEngine =
        unsafe { &mut *engines }.insert(RootEngine { engine, given: AtomicU32::new(0) });
    let mut kernels = Kernels::PORTABLE.join(engines);
    kernels.use_hash_based_engine(scratch).ok()?;
    let given = || {
        // A plain load and store is sufficient: there is one hart without interrupts, and the processor has no atomic
        // instructions.
        let given = engines.given.load(Ordering::Relaxed);
        engines.given.store(0, Ordering::Relaxed);
        given
    };
    given();
    let uses = [EngineUse::Xmss, EngineUse::Lms, EngineUse::SlhDsaSha2_128s];
    let has_all = uses.iter().all(|purpose| kernels.engines_for(*purpose).is_some());
    has_all.then_some((kernels, given))
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

impl Engines for RootEngine {
    fn attachment(&self, kind: EngineKind) -> Option<&dyn Attachment> {
        if kind == EngineKind::HashBased { Some(&self.engine) } else { None }
    }

    fn start_root(&self, request: &RootRequest<'_>) -> Option<()> {
        let RootRequest { scheme, public_key, message, signature } = *request;
        let key = match scheme {
            RootScheme::Xmss => Key::xmss(public_key),
            RootScheme::XmssMt => None,
            RootScheme::Lms => Key::lms(public_key),
            RootScheme::SlhDsaSha2_128s => Key::slh_dsa_sha2_128s(public_key),
        };
        let key = key?;
        self.engine.with(|engine| engine.start(&key, message, signature))?
    }

    fn finish_root(&self, root: &mut Root) -> Option<()> {
        self.engine.with(|engine| engine.root(root))??;
        self.given.store(self.given.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        Some(())
    }
}
