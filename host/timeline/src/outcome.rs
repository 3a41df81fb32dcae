//! How a boot ended.

use hartlock_handoff::Stage;
use hartlock_image::Reason;

/// How a boot ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What the caller waited for was printed, or, if it waited for nothing, the loader handed
    /// over and the system ended by itself.
    Booted,
    /// Firmware refused.
    Refused {
        /// Who refused.
        stage: Stage,
        /// Why.
        reason: Reason,
    },
    /// The time was up.
    TimedOut,
    /// The guest ended by itself before it booted.
    GuestStopped {
        /// QEMU's word for it: `guest-shutdown`, `guest-reset`, …
        reason: String,
    },
    /// The machine was ended early, by the user or by a signal.
    Interrupted,
    /// QEMU ended.
    EmulatorFailed {
        /// The end of what it complained about.
        stderr: String,
    },
}

impl Outcome {
    /// The word for an outcome in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Booted => "booted",
            Self::Refused { .. } => "refused",
            Self::TimedOut => "timed-out",
            Self::GuestStopped { .. } => "guest-stopped",
            Self::Interrupted => "interrupted",
            Self::EmulatorFailed { .. } => "emulator-failed",
        }
    }
}
