//! SHA-256 by the SHA-2 engine.

use hartlock_drivers::sha2::Sha2;
use hartlock_drivers::wait::Polling;
use hartlock_kernels::Kernels;
use hartlock_kernels::engines::{Engines, NO_HASH_VALUE};
use hartlock_regs::Block;
use hartlock_rot::SHA2;

/// Kernels with the engine, if it gives known answers. There is no engine for signatures, so that none gives roots.
pub fn kernels(_: &mut [u8]) -> Option<(Kernels, impl Fn() -> u32 + use<>)> {
    let mut kernels = Kernels::PORTABLE.join(&Sha256Engine);
    kernels.use_sha256_engine().ok()?;
    Some((kernels, || 0))
}

/// The engine, which is taken anew for each call.
struct Sha256Engine;

impl Engines for Sha256Engine {
    fn compress_sha256(&self, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
        // SAFETY: these are the engine's registers; no other reference to them exists at the same time.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
        let done =
            Sha2::new(registers, Polling).and_then(|mut engine| engine.compress(state, blocks));
        if done.is_err() {
            *state = NO_HASH_VALUE;
        }
    }
}
