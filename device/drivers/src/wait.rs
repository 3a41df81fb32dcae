//! How a driver waits for its device, which the caller chooses: [`Polling`] reads the status again at once,
//! [`Sleeping`] lets the hart sleep until the device's interrupt, which needs no handler.

/// How to wait for a change of a device's state.
pub trait Wait {
    /// Whether the device shall raise its interrupt.
    const BY_INTERRUPT: bool;

    /// Returns after some time, or when the interrupt is raised.
    fn wait(&mut self);
}

/// Reads the status again at once, which costs least for waits of a few dozen cycles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Polling;

impl Wait for Polling {
    const BY_INTERRUPT: bool = false;

    #[inline(always)]
    fn wait(&mut self) {}
}

/// Calls what lets the hart sleep until an interrupt is pending, for instance `wfi` with the device's
/// interrupt enabled in `mie` and all of them disabled in `mstatus`. It must return then, even if the
/// interrupt came before the call.
///
/// A device that never raises its interrupt is waited for without end, whatever limit its driver has, unless something else
/// wakes the hart.
#[derive(Clone, Copy, Debug)]
pub struct Sleeping(pub fn());

impl Wait for Sleeping {
    const BY_INTERRUPT: bool = true;

    fn wait(&mut self) {
        (self.0)();
    }
}
