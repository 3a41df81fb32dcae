//! The engine for big numbers as a kernel (`Kernels::with_number_engine`).
//!
//! It computes the powers of RSA and judges equations of ECDSA: the verifiers of `device/kernels` check key and signature before
//! they ask, and judge padding and verdict afterwards.
//!
//! As with the [SHA-2 engine](crate::engine), a kernel knows functions and no devices, so the engine is in a static.

use core::cell::UnsafeCell;

use hartlock_drivers::bignum::Bignum;
use hartlock_drivers::wait::Polling;
use hartlock_kernels::Kernels;
use hartlock_kernels::numbers::{self, EXPONENT, Request};
use hartlock_regs::Block;
use hartlock_rot::BIGNUM;

use crate::console;

struct Engine(UnsafeCell<Option<Bignum<Polling>>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Engine {}

static THE_ENGINE: Engine = Engine(UnsafeCell::new(None));

/// These kernels with the engine, if it works: software computes without it. Called once.
pub fn take(kernels: Kernels) -> Kernels {
    let with =
        engine().and_then(|()| kernels.with_number_engine(numbers::Engine { power, verify }).ok());
    console::line(&[if with.is_some() {
        "hartlock: big numbers by the engine"
    } else {
        "hartlock: the engine for big numbers is not used"
    }]);
    with.unwrap_or(kernels)
}

/// Takes the engine; nothing if it is not there, or has failed.
fn engine() -> Option<()> {
    // SAFETY: the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(BIGNUM)) };
    let engine = Bignum::new(registers, Polling).ok()?;
    // SAFETY: no reference to its content exists: `power` and `verify` are not called before, and return before any other code
    // runs.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    Some(())
}

/// Runs with the engine. One that fails or falls silent is not asked again: each wait for it may take seconds.
fn with<T>(action: impl FnOnce(&mut Bignum<Polling>) -> Option<T>) -> Option<T> {
    // SAFETY: as above.
    let place = unsafe { &mut *THE_ENGINE.0.get() };
    let result = action(place.as_mut()?);
    if result.is_none() {
        *place = None;
    }
    result
}

fn power(modulus: &[u8], base: &[u8], result: &mut [u8]) -> Option<()> {
    if !cfg!(feature = "rsa") {
        return None;
    }
    with(|engine| engine.recover(modulus, base, EXPONENT, result).ok())
}

fn verify(request: &Request<'_>) -> Option<u32> {
    if !cfg!(feature = "ecdsa") {
        return None;
    }
    let Request { is_p384, point, digest, signature } = *request;
    with(|engine| engine.judge(is_p384, point, digest, signature).ok())
}
