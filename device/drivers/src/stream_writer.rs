//! The stream writer (`hw/ip/stream_writer`): writes what an engine gives to a range of memory.
//!
//! The driver does not limit how long an engine or the bus takes: every wait here has a limit, which the caller sets.

use core::sync::atomic::{Ordering, fence};

use hartlock_regs::stream_writer::{
    Cause, Command, Interrupt, InterruptEnable, Lock, StreamWriter as Registers, WindowFirst,
    WindowLast,
};

use crate::dma::Window;
use crate::wait::Wait;

/// The letters `strw`.
const MAGIC: u32 = 0x7374_7277;

/// Why a stream was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such writer at this address.
    NoWriter,
    /// It detected a fault, and does nothing until reset.
    Failed,
    /// It is not over after the time that the caller gave. Abort it, or wait again.
    Silent,
    /// Another stream is written.
    Busy,
    /// The window is locked, and is another.
    Locked,
    /// The writer refused the range, or the stream failed: a part of the range may be written.
    Refused(Cause),
}

/// The writer.
pub struct StreamWriter<W> {
    registers: Registers,
    wait: W,
}

impl<W: Wait> StreamWriter<W> {
    /// Takes the writer.
    ///
    /// # Errors
    /// `NoWriter`, `Failed`.
    pub fn new(registers: Registers, wait: W) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoWriter);
        }
        if registers.status().read().failed() {
            return Err(Error::Failed);
        }
        Ok(Self { registers, wait })
    }

    /// Sets the window and locks it until reset. Nothing is written before.
    ///
    /// # Errors
    /// `Locked` if another window is locked.
    pub fn lock(&mut self, window: Window) -> Result<(), Error> {
        let registers = &self.registers;
        registers.window_first().write(WindowFirst::RESET.with_page(window.first));
        registers.window_last().write(WindowLast::RESET.with_page(window.last));
        registers.lock().write(Lock::RESET.with_locked(true));
        // A write after the lock changes nothing: what is there counts.
        let first = registers.window_first().read().page();
        let last = registers.window_last().read().page();
        let is_locked = registers.lock().read().locked();
        if is_locked && (Window { first, last }) == window { Ok(()) } else { Err(Error::Locked) }
    }

    /// Takes the next stream, which has to have this many bytes, and writes it.
    ///
    /// # Errors
    /// `Failed`, `Busy`, `Refused` for a range that is not within the window. Nothing was started then.
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
        // Events of the last stream do not end this one.
        registers.interrupt().write(registers.interrupt().read());
        if W::BY_INTERRUPT {
            let enabled = InterruptEnable::RESET.with_done(true).with_error(true);
            registers.interrupt_enable().write(enabled);
        }
        fence(Ordering::SeqCst);
        registers.command().write(Command::RESET.with_start(true));
        // A range is judged in two cycles, fewer than this access takes. A stream cannot fail before it has begun.
        if registers.interrupt().read().error() {
            self.poll()?;
        }
        Ok(())
    }

    /// What became of the stream, once it is over.
    ///
    /// # Errors
    /// `Refused`, `Failed`.
    pub fn poll(&mut self) -> Result<Option<()>, Error> {
        self.poll_inlined()
    }

    /// The same, without a call.
    #[inline(always)]
    pub(crate) fn poll_inlined(&mut self) -> Result<Option<()>, Error> {
        let event: Interrupt = self.registers.interrupt().read();
        if !event.done() && !event.error() {
            return Ok(None);
        }
        let status = self.registers.status().read();
        // A writer that is done is idle; an upset of the event alone does not make it so.
        if status.failed() || (event.done() && !status.idle()) {
            return Err(Error::Failed);
        }
        self.registers.interrupt().write(event);
        // What was written is read after this.
        fence(Ordering::SeqCst);
        if event.error() {
            let cause = self.registers.error().read().cause().unwrap_or(Cause::Start);
            return Err(Error::Refused(cause));
        }
        Ok(Some(()))
    }

    /// Whether the stream is over: [`poll`](Self::poll) tells how.
    #[inline]
    #[must_use]
    pub fn has_event(&self) -> bool {
        let event = self.registers.interrupt().read();
        event.done() || event.error()
    }

    /// Lets time pass until something may have changed.
    pub fn wait(&mut self) {
        self.wait.wait();
    }

    /// Whether nothing is written, nor will be.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.registers.status().read().idle()
    }

    /// Ends the stream. It is over when the bus is quiet, with `Refused` and the cause `Abort`.
    pub fn abort(&mut self) {
        self.registers.command().write(Command::RESET.with_abort(true));
    }
}

#[cfg(test)]
mod tests;
