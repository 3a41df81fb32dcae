//! The big-number engine as kernel for the verifiers.

use core::sync::atomic::{AtomicU32, Ordering};

use hartlock_drivers::bignum::Bignum;
use hartlock_drivers::wait::Polling;
use hartlock_kernels::engines::{
    Attached, Attachment, EXPONENT, EcdsaRequest, EngineKind, Engines,
};
use hartlock_kernels::{EngineUse, Kernels};
use hartlock_regs::Block;
use hartlock_rot::BIGNUM;

/// The engine, and the answers that it gave.
struct NumberEngine {
    engine: Attached<Bignum<Polling>>,
    given: AtomicU32,
}

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for NumberEngine {}

static mut ENGINES: Option<NumberEngine> = None;

/// Returns kernels with the engine, if it passes all known-answer tests.
pub fn kernels() -> Option<(Kernels, impl Fn() -> u32)> {
    // SAFETY: these are the engine's registers, of which this is the only user.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(BIGNUM)) };
    let engine = Attached::new(Bignum::new(registers, Polling).ok());
    let engines = &raw mut ENGINES;
    // SAFETY: this is its only user.
    let engines: &'static NumberEngine =
        unsafe { &mut *engines }.insert(NumberEngine { engine, given: AtomicU32::new(0) });
    let mut kernels = Kernels::PORTABLE.join(engines);
    kernels.use_number_engine().ok()?;
    let uses = [EngineUse::Rsa, EngineUse::P256, EngineUse::P384];
    let has_all = uses.iter().all(|purpose| kernels.engines_for(*purpose).is_some());
    has_all.then_some((kernels, || {
        let given = engines.given.load(Ordering::Relaxed);
        engines.given.store(0, Ordering::Relaxed);
        given
    }))
}

impl NumberEngine {
    fn ask<T>(&self, ask: impl FnOnce(&mut Bignum<Polling>) -> Option<T>) -> Option<T> {
        let result = self.engine.with(ask)??;
        // A plain load and store is sufficient: there is one hart without interrupts, and the processor has no atomic
        // instructions.
        self.given.store(self.given.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        Some(result)
    }
}

impl Engines for NumberEngine {
    fn attachment(&self, kind: EngineKind) -> Option<&dyn Attachment> {
        if kind == EngineKind::Bignum { Some(&self.engine) } else { None }
    }

    fn power(&self, modulus: &[u8], base: &[u8], result: &mut [u8]) -> Option<()> {
        self.ask(|engine| engine.recover(modulus, base, EXPONENT, result).ok())
    }

    fn judge_ecdsa(&self, request: &EcdsaRequest<'_>) -> Option<u32> {
        let EcdsaRequest { is_p384, point, digest, signature } = *request;
        self.ask(|engine| engine.judge(is_p384, point, digest, signature).ok())
    }
}
