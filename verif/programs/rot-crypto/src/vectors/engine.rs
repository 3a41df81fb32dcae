//! The big-number engine as kernel for the verifiers.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use hartlock_drivers::bignum::Bignum;
use hartlock_drivers::wait::Polling;
use hartlock_kernels::Kernels;
use hartlock_kernels::numbers::{EXPONENT, Engine, Purpose, Request};
use hartlock_regs::Block;
use hartlock_rot::BIGNUM;

struct Place(UnsafeCell<Option<Bignum<Polling>>>);

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for Place {}

static THE_ENGINE: Place = Place(UnsafeCell::new(None));
/// Number of answers of the engine.
static GIVEN: AtomicU32 = AtomicU32::new(0);

/// Returns the number of answers since the last call.
pub fn given() -> u32 {
    let given = GIVEN.load(Ordering::Relaxed);
    GIVEN.store(0, Ordering::Relaxed);
    given
}

/// Returns kernels with the engine, if it passes all known-answer tests.
pub fn kernels() -> Option<Kernels> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(BIGNUM)) };
    let engine = Bignum::new(registers, Polling).ok()?;
    // SAFETY: no reference to the content exists, because the functions below are not called before.
    unsafe { *THE_ENGINE.0.get() = Some(engine) };
    let kernels = Kernels::PORTABLE.with_number_engine(Engine { power, verify }).ok()?;
    let purposes = [Purpose::Rsa, Purpose::P256, Purpose::P384];
    purposes.iter().all(|purpose| kernels.has_number_engine(*purpose)).then_some(kernels)
}

fn with<T>(action: impl FnOnce(&mut Bignum<Polling>) -> Option<T>) -> Option<T> {
    // SAFETY: no other reference to the content exists: there is one hart without interrupts, and `action` calls no
    // function of this file.
    let result = action(unsafe { &mut *THE_ENGINE.0.get() }.as_mut()?)?;
    // A plain load and store is sufficient: there is one hart without interrupts, and the processor has no atomic
    // instructions.
    GIVEN.store(GIVEN.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    Some(result)
}

fn power(modulus: &[u8], base: &[u8], result: &mut [u8]) -> Option<()> {
    with(|engine| engine.recover(modulus, base, EXPONENT, result).ok())
}

fn verify(request: &Request<'_>) -> Option<u32> {
    let Request { is_p384, point, digest, signature } = *request;
    with(|engine| engine.judge(is_p384, point, digest, signature).ok())
}
