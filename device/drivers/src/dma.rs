//! The DMA engine (`hw/ip/dma`): reads ranges of memory once, for hash engines and for a write.
//!
//! The engine copies a list and judges the copy, so a list may change after [`Dma::start`]. It does not limit how long the
//! bus takes: every wait here has a limit, which the caller sets. The caller chooses how to [wait](crate::wait).

use core::sync::atomic::{Ordering, fence};

use hartlock_regs::dma::{
    Cause, Command, Control, Count, DestinationFirst, DestinationLast, Dma as Registers, Interrupt,
    InterruptEnable, List as ListRegister, Lock, SourceFirst, SourceLast,
};

use crate::wait::Wait;

/// Maximum number of descriptors of a list.
pub const MAX_DESCRIPTORS: usize = 64;
/// The letters `dma` and a zero.
const MAGIC: u32 = 0x646d_6100;
/// A list begins at a multiple of the size of the longest one.
const LIST_LEN: usize = 1024;

/// A list in the scratchpad, in the form that the engine reads: length, source, destination and zero.
#[repr(C, align(1024))]
pub struct List([[u32; 4]; MAX_DESCRIPTORS]);

impl List {
    /// An empty list.
    pub const EMPTY: List = List([[0; 4]; MAX_DESCRIPTORS]);
}

/// A range to read, and where it is written if the list writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Address of the first byte, of any alignment.
    pub source: u32,
    /// Address of the first byte that is written, of any alignment. Destinations of a list ascend.
    pub destination: u32,
    /// Bytes. The addresses of a range without bytes are not judged.
    pub length: u32,
}

/// Pages of 4 KiB, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of the first page.
    pub first: u32,
    /// Number of the last page.
    pub last: u32,
}

impl Window {
    /// One without a page.
    pub const EMPTY: Window = Window { first: 0xf_ffff, last: 0 };
}

/// Why a list was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such engine at this address.
    NoEngine,
    /// It detected a fault, and does nothing until reset.
    Failed,
    /// The list is not over after the time that the caller gave. Abort it, or wait again.
    Silent,
    /// A list is carried out.
    Busy,
    /// The list has more than 64 descriptors.
    TooLong,
    /// The list is not within the scratchpad of the engine.
    NotInScratchpad,
    /// The windows are locked, and are others.
    Locked,
    /// The engine refused a descriptor, or the bus an access: no sink completed its message.
    Refused {
        /// The reason.
        cause: Cause,
        /// Which descriptor of the list.
        index: u8,
    },
}

/// The engine.
pub struct Dma<'a, W> {
    registers: Registers,
    list: &'a mut List,
    offset: u8,
    wait: W,
}

impl<'a, W: Wait> Dma<'a, W> {
    /// Takes the engine, with the place of its lists. `offset` is that of the list in the scratchpad, in bytes.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `NotInScratchpad`.
    pub fn new(
        registers: Registers,
        list: &'a mut List,
        offset: usize,
        wait: W,
    ) -> Result<Self, Error> {
        if registers.id().read() != MAGIC {
            return Err(Error::NoEngine);
        }
        if registers.status().read().failed() {
            return Err(Error::Failed);
        }
        let bits = u32::from(registers.parameters().read().scratchpad_bits());
        let is_within = 1_usize.checked_shl(bits).is_some_and(|size| offset < size);
        let place = u8::try_from(offset / LIST_LEN).ok();
        match place.filter(|_| is_within && offset.is_multiple_of(LIST_LEN)) {
            Some(offset) => Ok(Self { registers, list, offset, wait }),
            None => Err(Error::NotInScratchpad),
        }
    }

    /// Sets the windows and locks them until reset. Nothing is carried out before.
    ///
    /// # Errors
    /// `Locked` if they are locked with other windows.
    pub fn lock(&mut self, source: Window, destination: Window) -> Result<(), Error> {
        let registers = &self.registers;
        registers.source_first().write(SourceFirst::RESET.with_page(source.first));
        registers.source_last().write(SourceLast::RESET.with_page(source.last));
        registers.destination_first().write(DestinationFirst::RESET.with_page(destination.first));
        registers.destination_last().write(DestinationLast::RESET.with_page(destination.last));
        registers.lock().write(Lock::RESET.with_locked(true));
        // A write after the lock changes nothing: what is there counts.
        let source_now = Window {
            first: registers.source_first().read().page(),
            last: registers.source_last().read().page(),
        };
        let destination_now = Window {
            first: registers.destination_first().read().page(),
            last: registers.destination_last().read().page(),
        };
        let is_locked = registers.lock().read().locked();
        if is_locked && source_now == source && destination_now == destination {
            Ok(())
        } else {
            Err(Error::Locked)
        }
    }

    /// Starts a list: the ranges, one after the other, are the message of every selected sink. Sinks are bits, the lowest
    /// one is the first; each has begun a message before.
    ///
    /// # Errors
    /// `Failed`, `Busy`, `TooLong`. Nothing was started then.
    pub fn start(&mut self, ranges: &[Range], sinks: u8, writes: bool) -> Result<(), Error> {
        self.prepare(ranges, sinks, writes)?;
        self.ring();
        Ok(())
    }

    /// Writes the list and the registers, all of [`start`](Self::start) but the doorbell.
    ///
    /// # Errors
    /// `Failed`, `Busy`, `TooLong`.
    pub fn prepare(&mut self, ranges: &[Range], sinks: u8, writes: bool) -> Result<(), Error> {
        let status = self.registers.status().read();
        if status.failed() {
            return Err(Error::Failed);
        }
        if !status.idle() {
            return Err(Error::Busy);
        }
        if ranges.len() > MAX_DESCRIPTORS {
            return Err(Error::TooLong);
        }
        for (words, range) in self.list.0.iter_mut().zip(ranges) {
            let descriptor = [range.length, range.source, range.destination, 0];
            // SAFETY: the words are ours; the engine reads them, which the compiler does not know.
            unsafe { core::ptr::write_volatile(words, descriptor) };
        }
        let registers = &self.registers;
        registers.control().write(Control::RESET.with_sinks(sinks).with_write(writes));
        registers.list().write(ListRegister::RESET.with_offset(self.offset));
        registers.count().write(Count::RESET.with_descriptors(ranges.len() as u8));
        // Events of the last list do not end this one.
        registers.interrupt().write(registers.interrupt().read());
        if W::BY_INTERRUPT {
            let enabled = InterruptEnable::RESET.with_done(true).with_error(true);
            registers.interrupt_enable().write(enabled);
        }
        Ok(())
    }

    /// Rings the doorbell: the engine carries out the list that was prepared.
    #[inline]
    pub fn ring(&mut self) {
        // Orders writes to the list and to the ranges before the doorbell.
        fence(Ordering::SeqCst);
        self.registers.command().write(Command::RESET.with_start(true));
    }

    /// What became of the list, once it is over.
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
        if self.registers.status().read().failed() {
            return Err(Error::Failed);
        }
        self.registers.interrupt().write(event);
        // What was written to memory is read after this.
        fence(Ordering::SeqCst);
        if event.error() {
            let error = self.registers.error().read();
            let cause = error.cause().unwrap_or(Cause::Start);
            return Err(Error::Refused { cause, index: error.index() });
        }
        Ok(Some(()))
    }

    /// Whether the list has failed: a part of [`poll`](Self::poll), for waits in which another engine ends later.
    #[inline]
    #[must_use]
    pub fn has_error(&self) -> bool {
        self.registers.interrupt().read().error()
    }

    /// Waits until the list is over: `patience` is the maximum number of reads of the events, of which one takes some
    /// cycles.
    ///
    /// # Errors
    /// `Silent`, and those of [`poll`](Self::poll).
    pub fn finish(&mut self, patience: u32) -> Result<(), Error> {
        for _ in 0..=patience {
            if self.poll()?.is_some() {
                return Ok(());
            }
            if W::BY_INTERRUPT {
                self.wait.wait();
            }
        }
        Err(Error::Silent)
    }

    /// Whether no list is carried out.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.registers.status().read().idle()
    }

    /// Ends the list. It is over when the bus is quiet, with `Refused` and the cause `Abort`.
    pub fn abort(&mut self) {
        self.registers.command().write(Command::RESET.with_abort(true));
    }
}

#[cfg(test)]
mod tests;
