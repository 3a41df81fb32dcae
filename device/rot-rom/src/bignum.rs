//! The big-number engine as a kernel (`Kernels::with_number_engine`).
//!
//! The engine computes RSA powers and checks ECDSA equations. The verifiers of `device/kernels` check key and signature
//! before they call the engine, and check the padding and the result afterwards.
//!
//! A kernel is a plain function that has no access to devices, so the engine is in a static, as with the [SHA-2
//! engine](crate::engine).

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

/// Adds the engine to these kernels if it works; otherwise software computes. This function is called once.
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

/// Initialises the engine. Returns `None` if the engine is missing or has failed.
fn engine() -> Option<()> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(BIGNUM)) };
    let engine = Bignum::new(registers, Polling).ok()?;
    // SAFETY: no reference to the content exists: `power` and `verify` are not called before, and they return before
    // any other code runs.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    Some(())
}

/// Runs an action with the engine. An engine that fails or does not respond is not used again, because each wait for it
/// may take seconds.
fn with<T>(action: impl FnOnce(&mut Bignum<Polling>) -> Option<T>) -> Option<T> {
    // SAFETY: no other reference to the content exists, as explained in `engine`.
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
