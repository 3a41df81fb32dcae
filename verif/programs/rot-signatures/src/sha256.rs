//! SHA-256 by the SHA-2 engine.

use hartlock_drivers::sha2::Sha2;
use hartlock_drivers::wait::Polling;
use hartlock_kernels::Kernels;
use hartlock_regs::Block;
use hartlock_rot::SHA2;

/// Returns kernels with the engine, if it passes the known-answer tests.
pub fn kernels() -> Option<Kernels> {
    Kernels::PORTABLE.with_sha256_engine(compress).ok()
}

fn compress(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    // SAFETY: these are the engine's registers; no other reference to them exists at the same time.
    let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
    let done = Sha2::new(registers, Polling).and_then(|mut engine| engine.compress(state, blocks));
    if done.is_err() {
        *state = [u32::MAX; 8];
    }
}
