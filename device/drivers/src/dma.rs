//! The DMA engine (`hw/ip/dma`), which reads ranges of memory once, for hash engines and for a copy.
//!
//! The engine copies a list and checks the copy, so a list may change after [`Dma::start`]. The engine does not limit
//! the time that the bus takes: every wait in this driver has a limit, which the caller sets. The caller also selects
//! how to [wait](crate::wait).

use core::sync::atomic::{Ordering, fence};

use hartlock_regs::dma::{
    DmaCause, DmaCommand, DmaControl, DmaCount, DmaDestinationFirst, DmaDestinationLast,
    DmaInterrupt, DmaInterruptEnable, DmaList, DmaLock, DmaRegisters, DmaSourceFirst,
    DmaSourceLast,
};

use crate::wait::Wait;

/// Maximum number of descriptors of a list.
pub const MAX_DESCRIPTORS: usize = 64;
/// Value of the identification register: the letters `dma` and a zero byte.
const MAGIC: u32 = 0x646d_6100;
/// Alignment of a list in bytes, which is the size of the longest list.
const LIST_LEN: usize = 1024;

/// A list in the scratchpad, in the format that the engine reads. Each descriptor consists of length, source,
/// destination and zero.
#[repr(C, align(1024))]
pub struct DescriptorList([[u32; 4]; MAX_DESCRIPTORS]);

impl DescriptorList {
    /// An empty list.
    pub const EMPTY: DescriptorList = DescriptorList([[0; 4]; MAX_DESCRIPTORS]);
}

/// A range to read, and its destination if the list writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// Address of the first byte to read, with any alignment.
    pub source: u32,
    /// Address of the first byte to write, with any alignment. The destinations of a list ascend.
    pub destination: u32,
    /// Length in bytes. The addresses of a range with length 0 are not checked.
    pub length: u32,
}

/// A range of 4 KiB pages; both ends are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of the first page.
    pub first: u32,
    /// Number of the last page.
    pub last: u32,
}

impl Window {
    /// The empty window.
    pub const EMPTY: Window = Window { first: 0xf_ffff, last: 0 };
}

/// The reason why a list was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no such engine at this address.
    NoEngine,
    /// The engine detected a fault, and does nothing until reset.
    Failed,
    /// The list has not ended within the time limit of the caller. The caller may abort it or wait again.
    Silent,
    /// Another list is being carried out.
    Busy,
    /// The list has more than 64 descriptors.
    TooLong,
    /// The list is not inside the scratchpad of the engine.
    NotInScratchpad,
    /// The windows were locked before with other values.
    Locked,
    /// The engine refused a descriptor, or the bus refused an access. No sink has completed its message.
    Refused {
        /// The reason.
        cause: DmaCause,
        /// Index of the descriptor in the list.
        index: u8,
    },
}

/// The driver of the DMA engine.
pub struct Dma<'a, W> {
    registers: DmaRegisters,
    list: &'a mut DescriptorList,
    offset: u8,
    wait: W,
}

impl<'a, W: Wait> Dma<'a, W> {
    /// Initialises the driver. `list` is the memory for its lists, and `offset` is the offset of this memory in the
    /// scratchpad, in bytes.
    ///
    /// # Errors
    /// `NoEngine`, `Failed`, `NotInScratchpad`.
    pub fn new(
        registers: DmaRegisters,
        list: &'a mut DescriptorList,
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

    /// Sets the windows and locks them until reset. Before that no list is carried out.
    ///
    /// # Errors
    /// `Locked` if they were locked before with other windows.
    pub fn lock(&mut self, source: Window, destination: Window) -> Result<(), Error> {
        let registers = &self.registers;
        registers.source_first().write(DmaSourceFirst::RESET.with_page(source.first));
        registers.source_last().write(DmaSourceLast::RESET.with_page(source.last));
        registers
            .destination_first()
            .write(DmaDestinationFirst::RESET.with_page(destination.first));
        registers.destination_last().write(DmaDestinationLast::RESET.with_page(destination.last));
        registers.lock().write(DmaLock::RESET.with_locked(true));
        // A write after the lock has no effect, so the registers are read back.
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

    /// Starts a list. The ranges, one after the other, form the message of every selected sink. `sinks` is a bit mask,
    /// in which the lowest bit is the first sink; each sink has begun a message before.
    ///
    /// # Errors
    /// `Failed`, `Busy`, `TooLong`. Then nothing was started.
    pub fn start(&mut self, ranges: &[Range], sinks: u8, writes: bool) -> Result<(), Error> {
        self.prepare(ranges, sinks, writes)?;
        self.ring();
        Ok(())
    }

    /// Writes the list and the registers. This is [`start`](Self::start) without the doorbell.
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
            // SAFETY: the words belong to this driver. The write is volatile, because the compiler does not know that
            // the engine reads them.
            unsafe { core::ptr::write_volatile(words, descriptor) };
        }
        let registers = &self.registers;
        registers.control().write(DmaControl::RESET.with_sinks(sinks).with_write(writes));
        registers.list().write(DmaList::RESET.with_offset(self.offset));
        registers.count().write(DmaCount::RESET.with_descriptors(ranges.len() as u8));
        // Events of the previous list must not end this one.
        registers.interrupt().write(registers.interrupt().read());
        if W::BY_INTERRUPT {
            let enabled = DmaInterruptEnable::RESET.with_done(true).with_error(true);
            registers.interrupt_enable().write(enabled);
        }
        Ok(())
    }

    /// Rings the doorbell, upon which the engine carries out the prepared list.
    #[inline]
    pub fn ring(&mut self) {
        // The fence orders writes to the list and to the ranges before the doorbell.
        fence(Ordering::SeqCst);
        self.registers.command().write(DmaCommand::RESET.with_start(true));
    }

    /// Returns the result of the list if it has ended, else `None`.
    ///
    /// # Errors
    /// `Refused`, `Failed`.
    pub fn poll(&mut self) -> Result<Option<()>, Error> {
        self.poll_inlined()
    }

    /// Same as [`poll`](Self::poll), inlined into the caller.
    #[inline(always)]
    pub(crate) fn poll_inlined(&mut self) -> Result<Option<()>, Error> {
        let event: DmaInterrupt = self.registers.interrupt().read();
        if !event.done() && !event.error() {
            return Ok(None);
        }
        if self.registers.status().read().failed() {
            return Err(Error::Failed);
        }
        self.registers.interrupt().write(event);
        // The fence orders this read before reads of the written memory.
        fence(Ordering::SeqCst);
        if event.error() {
            let error = self.registers.error().read();
            let cause = error.cause().unwrap_or(DmaCause::Start);
            return Err(Error::Refused { cause, index: error.index() });
        }
        Ok(Some(()))
    }

    /// Returns true if the list has failed. A caller that waits for another engine can use this check alone.
    #[inline]
    #[must_use]
    pub fn has_error(&self) -> bool {
        self.registers.interrupt().read().error()
    }

    /// Waits until the list has ended. `patience` is the maximum number of reads of the events; a read takes some
    /// cycles.
    ///
    /// # Errors
    /// `Silent`, and the errors of [`poll`](Self::poll).
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

    /// Returns true if no list is being carried out.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.registers.status().read().idle()
    }

    /// Aborts the list. It ends when the bus is quiet, with `Refused` and the cause `Abort`.
    pub fn abort(&mut self) {
        self.registers.command().write(DmaCommand::RESET.with_abort(true));
    }
}

#[cfg(test)]
mod tests;
