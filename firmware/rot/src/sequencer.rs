//! The boot sequencer (`hw/soc/rtl/boot_sequencer.sv`): what becomes of the host.

use crate::{try_load, try_store};

const BASE: usize = 0x4000_2000;
const DECISION: usize = BASE;
const REASON: usize = BASE + 0x4;
const STATUS: usize = BASE + 0x8;

/// What can be decided, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The host leaves its reset.
    Release,
    /// It stays there.
    Refuse,
    /// It leaves its reset, and its first fetch fails.
    Trap,
}

impl Decision {
    /// Words far apart, so that one that went wrong does not release anything.
    const fn word(self) -> u32 {
        match self {
            Decision::Release => 0x5a17_c3e1,
            Decision::Refuse => 0x0f93_742d,
            Decision::Trap => 0xc36c_1d9a,
        }
    }
}

/// Decides, and says why.
///
/// # Errors
/// If it was decided before. Nothing changes then.
pub fn decide(decision: Decision, reason: u32) -> Result<(), u32> {
    // SAFETY: a register of the sequencer, which touches no memory.
    unsafe { try_store(REASON, reason) }?;
    // SAFETY: as above.
    unsafe { try_store(DECISION, decision.word()) }
}

/// 0 undecided, 1 released, 2 refused, 3 refused and trapped, 4 error.
///
/// # Errors
/// If the sequencer does not answer.
pub fn status() -> Result<u32, u32> {
    try_load(STATUS)
}

/// Why it was decided so.
///
/// # Errors
/// If the sequencer does not answer.
pub fn reason() -> Result<u32, u32> {
    try_load(REASON)
}
