//! The SHA-2 engine as a kernel (`Kernels::with_sha256_engine`).
//!
//! Hashes of `device/kernels` know functions and no devices, so the engine is found through a static. One
//! hart without interrupts uses it, and no compression calls another.

use core::cell::UnsafeCell;

use hartlock_drivers::sha2::{Error, Function, Sha2};
use hartlock_drivers::wait::Polling;
use hartlock_kernels::{KernelFault, Kernels};
use hartlock_regs::Block;
use hartlock_rot::SHA2;

struct Engine(UnsafeCell<Option<Sha2<Polling>>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Engine {}

static THE_ENGINE: Engine = Engine(UnsafeCell::new(None));

/// Why the engine is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Engine(Error),
    WrongAnswer,
}

/// Takes the engine, and installs it in these kernels. Called once.
pub fn take(kernels: Kernels) -> Result<Kernels, Refusal> {
    // SAFETY: the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
    let engine = Sha2::new(registers, Polling).map_err(Refusal::Engine)?;
    // SAFETY: no reference to its content exists: `compress` returns before any other code runs.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    kernels.with_sha256_engine(compress).map_err(|_: KernelFault| {
        // The host must not be served by it, either.
        let _ = give_back();
        Refusal::WrongAnswer
    })
}

/// Adds blocks to a hash value. An engine that does not respond any more leaves a value that no message
/// has: any comparison with it fails.
fn compress(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    // SAFETY: as above.
    let engine = unsafe { &mut *THE_ENGINE.0.get() };
    let is_done = engine.as_mut().is_some_and(|engine| engine.compress(state, blocks).is_ok());
    if !is_done {
        *state = [u32::MAX; 8];
    }
}

/// Resets the engine's hash state. It is no kernel any more: a call of `compress` would return a value
/// that no message has.
pub fn give_back() -> Option<Sha2<Polling>> {
    // SAFETY: as above.
    let mut engine = unsafe { &mut *THE_ENGINE.0.get() }.take()?;
    engine.wipe().ok()?;
    Some(engine)
}

/// HMAC-SHA-256 with a key of at most a block; nothing if there is no engine, or it failed. The key is wiped with the engine
/// when it is given back.
#[cfg(feature = "keys")]
pub fn mac(key: &[u8], message: &[u8]) -> Option<[u8; 32]> {
    // SAFETY: as above.
    let engine = unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?;
    engine.start(Function::HmacSha256(key)).ok()?;
    engine.push(message);
    engine.process();
    engine.until_done().ok()?;
    engine.digest().ok()
}

/// SHA-256 of what `bring` streams to the engine; nothing if there is no engine, or it or the stream failed.
pub fn digest_of_stream(bring: impl FnOnce() -> Option<()>) -> Option<[u8; 32]> {
    // SAFETY: as above, and what streams calls no kernel.
    let engine = unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?;
    receive(engine, bring)?;
    engine.digest().ok()
}

/// Has this engine hash what `bring` streams to it.
pub fn receive(engine: &mut Sha2<Polling>, bring: impl FnOnce() -> Option<()>) -> Option<()> {
    engine.start_stream(Function::Sha256).ok()?;
    bring()?;
    engine.until_done().ok()
}
