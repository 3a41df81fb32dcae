//! Waiting of a driver for its device, by a method that the caller selects: [`Polling`] reads the status again
//! immediately; [`Sleeping`] lets the hart sleep until the device's interrupt, which needs no handler.

/// A method of waiting for a change of a device's state.
pub trait Wait {
    /// True if the device has to raise its interrupt.
    const BY_INTERRUPT: bool;

    /// Returns after some time, or when the interrupt is raised.
    fn wait(&mut self);
}

/// The method that reads the status again immediately, which costs least for waits of a few dozen cycles.
#[derive(Clone, Copy, Debug, Default)]
pub struct Polling;

impl Wait for Polling {
    const BY_INTERRUPT: bool = false;

    #[inline(always)]
    fn wait(&mut self) {}
}

/// The method that calls a function that lets the hart sleep until an interrupt is pending. An example is `wfi` with
/// the device's interrupt enabled in `mie` and all interrupts disabled in `mstatus`. The function must also return if
/// the interrupt was raised before the call.
///
/// If the device never raises its interrupt, the wait has no end, whatever limit the driver has, unless another event
/// wakes the hart.
#[derive(Clone, Copy, Debug)]
pub struct Sleeping(pub fn());

impl Wait for Sleeping {
    const BY_INTERRUPT: bool = true;

    fn wait(&mut self) {
        (self.0)();
    }
}

/// The method of a test that counts its waits, and sees that the device may raise its interrupt.
#[cfg(test)]
pub(crate) struct Counted<'a>(pub &'a core::cell::Cell<u32>);

#[cfg(test)]
impl Wait for Counted<'_> {
    const BY_INTERRUPT: bool = true;

    fn wait(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}
