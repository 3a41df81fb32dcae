//! The stream writer (`hw/ip/stream_writer`), which writes the output stream of an engine to a range of memory.
//!
//! The hardware does not limit the time that an engine or the bus takes: every wait in this driver has a limit, which
//! the caller sets.

use core::sync::atomic::{Ordering, fence};

use hartlock_regs::stream_writer::{
    StreamWriterCause, StreamWriterCommand, StreamWriterInterrupt, StreamWriterInterruptEnable,
    StreamWriterLock, StreamWriterRegisters, StreamWriterWindowFirst, StreamWriterWindowLast,
};

use crate::dma::Window;
use crate::wait::Wait;

/// Value `strw` of the identification register.
const MAGIC: u32 = 0x7374_7277;

/// The reason why a stream was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such writer at this address.
    NoWriter,
    /// The writer detected a fault, and does nothing until reset.
    Failed,
    /// The stream has not ended within the time limit of the caller. The caller may abort it or wait again.
    Silent,
    /// Another stream is being written.
    Busy,
    /// The window was locked before with another value.
    Locked,
    /// The writer refused the range, or the stream failed. A part of the range may have been written.
    Refused(StreamWriterCause),
}

/// The driver of the stream writer.
pub struct StreamWriter<W> {
    registers: StreamWriterRegisters,
    wait: W,
}

impl<W: Wait> StreamWriter<W> {
    /// Initialises the driver.
    ///
    /// # Errors
    /// `NoWriter`, `Failed`.
    pub fn new(registers: StreamWriterRegisters, wait: W) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoWriter);
        }
        if registers.status().read().failed() {
            return Err(Error::Failed);
        }
        Ok(Self { registers, wait })
    }

    /// Sets the window and locks it until reset. Before that nothing is written.
    ///
    /// # Errors
    /// `Locked` if another window is locked.
    pub fn lock(&mut self, window: Window) -> Result<(), Error> {
        let registers = &self.registers;
        registers.window_first().write(StreamWriterWindowFirst::RESET.with_page(window.first));
        registers.window_last().write(StreamWriterWindowLast::RESET.with_page(window.last));
        registers.lock().write(StreamWriterLock::RESET.with_locked(true));
        // A write after the lock has no effect, so the registers are read back.
        let first = registers.window_first().read().page();
        let last = registers.window_last().read().page();
        let is_locked = registers.lock().read().locked();
        if is_locked && (Window { first, last }) == window { Ok(()) } else { Err(Error::Locked) }
    }

    /// Starts to write the next stream to memory. The stream has to have exactly `length` bytes.
    ///
    /// # Errors
    /// `Failed`, `Busy`, or `Refused` for a range that is not inside the window. Then nothing was started.
    pub fn start(&mut self, destination: u32, length: u32) -> Result<(), Error> {
        let registers = &self.registers;
        let status = registers.status().read();
        if status.failed() {
            return Err(Error::Failed);
        }
        if !status.idle() {
            return Err(Error::Busy);
        }
        registers.destination().write(destination);
        registers.length().write(length);
        // Events of the previous stream must not end this one.
        registers.interrupt().write(registers.interrupt().read());
        if W::BY_INTERRUPT {
            let enabled = StreamWriterInterruptEnable::RESET.with_done(true).with_error(true);
            registers.interrupt_enable().write(enabled);
        }
        fence(Ordering::SeqCst);
        registers.command().write(StreamWriterCommand::RESET.with_start(true));
        // The writer checks a range in two cycles, which is less than this access takes. A stream cannot fail before it
        // has begun.
        if registers.interrupt().read().error() {
            self.poll()?;
        }
        Ok(())
    }

    /// Returns the result of the stream if it has ended, else `None`.
    ///
    /// # Errors
    /// `Refused`, `Failed`.
    pub fn poll(&mut self) -> Result<Option<()>, Error> {
        self.poll_inlined()
    }

    /// Same as [`poll`](Self::poll), inlined into the caller.
    #[inline(always)]
    pub(crate) fn poll_inlined(&mut self) -> Result<Option<()>, Error> {
        let event: StreamWriterInterrupt = self.registers.interrupt().read();
        if !event.done() && !event.error() {
            return Ok(None);
        }
        let status = self.registers.status().read();
        // A writer that is done is also idle. An upset of the event bit does not set the idle bit.
        if status.failed() || (event.done() && !status.idle()) {
            return Err(Error::Failed);
        }
        self.registers.interrupt().write(event);
        // The fence orders this read before reads of the written memory.
        fence(Ordering::SeqCst);
        if event.error() {
            let cause = self.registers.error().read().cause().unwrap_or(StreamWriterCause::Start);
            return Err(Error::Refused(cause));
        }
        Ok(Some(()))
    }

    /// Returns true if the stream has ended; [`poll`](Self::poll) returns the result.
    #[inline]
    #[must_use]
    pub fn has_event(&self) -> bool {
        let event = self.registers.interrupt().read();
        event.done() || event.error()
    }

    /// Waits by the selected method until the state may have changed.
    pub fn wait(&mut self) {
        self.wait.wait();
    }

    /// Returns true if nothing is being written and nothing is pending.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.registers.status().read().idle()
    }

    /// Aborts the stream. It ends when the bus is quiet, with `Refused` and the cause `Abort`.
    pub fn abort(&mut self) {
        self.registers.command().write(StreamWriterCommand::RESET.with_abort(true));
    }
}

#[cfg(test)]
mod tests;
