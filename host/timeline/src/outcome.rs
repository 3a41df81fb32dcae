//! The outcome of a boot.

use hartlock_handoff::Stage;
use hartlock_image::Reason;

/// The outcome of a boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The machine printed the text that the caller waited for. If the caller did not wait for a
    /// text, the loader handed over and the guest then ended.
    Booted,
    /// A boot stage refused.
    Refused {
        /// The stage that refused.
        stage: Stage,
        /// The reason.
        reason: Reason,
    },
    /// The time limit was exceeded.
    TimedOut,
    /// The guest ended before it had booted.
    GuestStopped {
        /// The reason that QEMU reports: `guest-shutdown`, `guest-reset`, …
        reason: String,
    },
    /// The machine was ended early, by the user or by a signal.
    Interrupted,
    /// QEMU ended with an error.
    EmulatorFailed {
        /// The end of its error output.
        stderr: String,
    },
}

impl Outcome {
    /// Returns the name of the outcome in files.
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
