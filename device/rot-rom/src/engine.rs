//! The SHA-2 engine as a kernel (`Kernels::with_sha256_engine`).
//!
//! The hashes of `device/kernels` call plain functions that have no access to devices, so the engine is in a static. It
//! is used by one hart without interrupts, and no compression calls another.

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

/// The reason why the engine is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    Engine(Error),
    WrongAnswer,
}

/// Initialises the engine and installs it in these kernels. This function is called once.
pub fn take(kernels: Kernels) -> Result<Kernels, Refusal> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
    let engine = Sha2::new(registers, Polling).map_err(Refusal::Engine)?;
    // SAFETY: no reference to the content exists, because `compress` returns before any other code runs.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    kernels.with_sha256_engine(compress).map_err(|_: KernelFault| {
        // An engine with a wrong answer must not serve the host, either.
        let _ = give_back();
        Refusal::WrongAnswer
    })
}

/// Adds blocks to a hash state. An engine that does not respond leaves a state that no message has, so that any
/// comparison with the digest fails.
fn compress(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    // SAFETY: no other reference to the content exists, as explained in `take`.
    let engine = unsafe { &mut *THE_ENGINE.0.get() };
    let is_done = engine.as_mut().is_some_and(|engine| engine.compress(state, blocks).is_ok());
    if !is_done {
        *state = [u32::MAX; 8];
    }
}

/// Removes the engine from the kernels, resets its hash state and returns it. A later call of `compress` returns a
/// state that no message has.
pub fn give_back() -> Option<Sha2<Polling>> {
    // SAFETY: no other reference to the content exists, as explained in `take`.
    let mut engine = unsafe { &mut *THE_ENGINE.0.get() }.take()?;
    engine.wipe().ok()?;
    Some(engine)
}

/// Computes HMAC-SHA-256 with a key of at most one block. Returns `None` if there is no engine or it failed. The key is
/// wiped together with the engine when [`give_back`] is called.
#[cfg(feature = "keys")]
pub fn mac(key: &[u8], message: &[u8]) -> Option<[u8; 32]> {
    // SAFETY: no other reference to the content exists, as explained in `take`.
    let engine = unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?;
    engine.start(Function::HmacSha256(key)).ok()?;
    engine.push(message);
    engine.process();
    engine.until_done().ok()?;
    engine.digest().ok()
}

/// Computes SHA-256 of the bytes that `bring` streams to the engine. Returns `None` if there is no engine, or if the
/// engine or the stream failed.
pub fn digest_of_stream(bring: impl FnOnce() -> Option<()>) -> Option<[u8; 32]> {
    // SAFETY: no other reference to the content exists, as explained in `take`, and `bring` calls no kernel.
    let engine = unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?;
    receive(engine, bring)?;
    engine.digest().ok()
}

/// Lets this engine hash the bytes that `bring` streams to it.
pub fn receive(engine: &mut Sha2<Polling>, bring: impl FnOnce() -> Option<()>) -> Option<()> {
    engine.start_stream(Function::Sha256).ok()?;
    bring()?;
    engine.until_done().ok()
}
