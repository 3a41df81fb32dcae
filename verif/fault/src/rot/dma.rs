//! A model of the DMA engine's registers (`hw/ip/dma/doc/README.md`), in which every list is executed at once. The
//! caller implements the memory.
//!
//! The model does not implement: sinks other than the SHA-2 engine; the rules that ranges of a list must not overlap
//! and that destinations ascend, so the model executes some lists that the hardware refuses; interrupts; detection of
//! upsets in the engine's own state.

use hartlock_regs::dma::DmaCause;

use super::registers::dma as register;

/// Value of the ID register: the letters `dma` and a zero byte (`data/dma.rdl`).
const MAGIC: u32 = 0x646d_6100;
/// Number of address bits within a page.
const PAGE_BITS: u32 = 12;
/// Value of the parameter register: 64 KiB of scratchpad, eight outstanding reads, two sinks
/// (`hw/soc/top/rot_registers.sv`).
const PARAMETERS: u32 = 16 << 16 | 8 << 8 | 2;

/// A window of memory that transfers may access: addresses of its first and last page.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    first: u32,
    last: u32,
}

impl Window {
    /// Returns true if the range from `first` to `last` is in the window and not below `lowest`.
    fn has(self, first: u32, last: u32, lowest: u32) -> bool {
        let page = |address: u32| address >> PAGE_BITS;
        let from = page(self.first).max(page(lowest));
        from <= page(first) && page(last) <= page(self.last)
    }
}

/// Registers of the engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dma {
    control: u32,
    list: u32,
    count: u32,
    error: u32,
    interrupt: u32,
    interrupt_enable: u32,
    is_locked: bool,
    source: Window,
    destination: Window,
    /// True if a sink does not accept the stream, so that only an abort ends the list.
    is_stuck: bool,
}

/// A validated transfer of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub source: u32,
    pub destination: u32,
    pub length: u32,
}

impl Dma {
    /// Reads a word. `None` is a bus error.
    pub fn read(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            register::ID => MAGIC,
            register::PARAMETERS => PARAMETERS,
            register::CONTROL => self.control,
            register::LIST => self.list,
            register::COUNT => self.count,
            register::STATUS if self.is_stuck => 0,
            register::STATUS => register::IDLE,
            register::ERROR => self.error,
            register::INTERRUPT => self.interrupt,
            register::INTERRUPT_ENABLE => self.interrupt_enable,
            register::LOCK => self.is_locked.into(),
            register::SOURCE_FIRST => self.source.first,
            register::SOURCE_LAST => self.source.last,
            register::DESTINATION_FIRST => self.destination.first,
            register::DESTINATION_LAST => self.destination.last,
            _ => return None,
        })
    }

    /// Writes a word. `None` is a bus error; true means that the list is to be executed.
    pub fn write(&mut self, offset: u32, value: u32) -> Option<bool> {
        let page = value >> PAGE_BITS << PAGE_BITS;
        match offset {
            register::CONTROL => self.control = value & (register::SINKS | register::WRITE),
            register::LIST => self.list = value & register::LIST_OFFSET,
            register::COUNT => self.count = value & register::DESCRIPTORS,
            register::INTERRUPT => self.interrupt &= !value,
            register::INTERRUPT_ENABLE => self.interrupt_enable = value & 7,
            register::LOCK => self.is_locked |= value & 1 != 0,
            register::SOURCE_FIRST..=register::DESTINATION_LAST if self.is_locked => {}
            register::SOURCE_FIRST => self.source.first = page,
            register::SOURCE_LAST => self.source.last = page,
            register::DESTINATION_FIRST => self.destination.first = page,
            register::DESTINATION_LAST => self.destination.last = page,
            register::COMMAND => {
                if value & register::ABORT != 0 && self.is_stuck {
                    self.is_stuck = false;
                    self.fail(DmaCause::Abort, 0);
                } else if value & register::START != 0 && !self.is_stuck {
                    self.error = 0;
                    if self.is_locked {
                        return Some(true);
                    }
                    self.fail(DmaCause::Start, 0);
                }
            }
            _ => return None,
        }
        Some(false)
    }

    /// Returns the offset of the list in the scratchpad, and its number of descriptors.
    pub fn list(&self) -> (u32, u32) {
        (self.list, self.count)
    }

    /// Returns if data is streamed to the SHA-2 engine, and if it is written to the destination.
    pub fn targets(&self) -> (bool, bool) {
        (self.control & 1 != 0, self.control & register::WRITE != 0)
    }

    /// Validates a descriptor. `lowest` is the lowest address that a transfer may access.
    pub fn judge(&self, words: [u32; 4], lowest: u32) -> Result<Transfer, DmaCause> {
        let [length, source, destination, reserved] = words;
        if reserved != 0 {
            return Err(DmaCause::Reserved);
        }
        let (_, writes) = self.targets();
        if let Some(last) = length.checked_sub(1) {
            let is_in = |window: Window, first: u32, cause| {
                let last = first.checked_add(last).ok_or(DmaCause::Wrap)?;
                if window.has(first, last, lowest) { Ok(()) } else { Err(cause) }
            };
            is_in(self.source, source, DmaCause::Source)?;
            if writes {
                is_in(self.destination, destination, DmaCause::Destination)?;
            }
        }
        Ok(Transfer { source, destination, length })
    }

    /// Ends the list with success.
    pub fn succeed(&mut self) {
        self.interrupt |= register::DONE;
    }

    /// Ends the list with an error at descriptor `index`.
    pub fn fail(&mut self, cause: DmaCause, index: u32) {
        self.error = cause as u32 | index << register::INDEX_SHIFT;
        self.interrupt |= register::FAILED;
    }

    /// Marks the list as stuck until it is aborted.
    pub fn wait(&mut self) {
        self.is_stuck = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOWEST: u32 = 0x8000_0000;

    /// Makes a locked engine with windows of one page each, where the source window begins below `LOWEST`.
    fn locked(control: u32) -> Dma {
        let mut dma = Dma::default();
        for (offset, value) in [
            (register::SOURCE_FIRST, 0),
            (register::SOURCE_LAST, LOWEST),
            (register::DESTINATION_FIRST, LOWEST + 0x1000),
            (register::DESTINATION_LAST, LOWEST + 0x1fff),
            (register::LOCK, 1),
            // This write is ignored, because the windows are locked.
            (register::SOURCE_LAST, LOWEST + 0x5000),
            (register::CONTROL, control),
        ] {
            assert_eq!(dma.write(offset, value), Some(false));
        }
        dma
    }

    #[test]
    fn judges_descriptors_as_the_hardware_does() {
        let (writes, reads) = (locked(register::WRITE), locked(1));
        let part = |source, destination, length| Transfer { source, destination, length };
        for (words, only_reads, also_writes) in [
            ([0x1000, LOWEST, LOWEST + 0x1000, 0], None, None),
            ([0, 0, 0, 0], None, None),
            ([1, LOWEST, LOWEST + 0x1fff, 1], Some(DmaCause::Reserved), Some(DmaCause::Reserved)),
            ([1, LOWEST - 1, LOWEST + 0x1000, 0], Some(DmaCause::Source), Some(DmaCause::Source)),
            ([0x1001, LOWEST, LOWEST + 0x1000, 0], Some(DmaCause::Source), Some(DmaCause::Source)),
            ([16, u32::MAX - 8, LOWEST + 0x1000, 0], Some(DmaCause::Wrap), Some(DmaCause::Wrap)),
            ([2, LOWEST, LOWEST + 0x1fff, 0], None, Some(DmaCause::Destination)),
            ([2, LOWEST, LOWEST + 0xfff, 0], None, Some(DmaCause::Destination)),
        ] {
            let [length, source, destination, _] = words;
            let expected =
                |cause: Option<DmaCause>| cause.map_or(Ok(part(source, destination, length)), Err);
            assert_eq!(reads.judge(words, LOWEST), expected(only_reads), "{words:x?}");
            assert_eq!(writes.judge(words, LOWEST), expected(also_writes), "{words:x?}");
        }
    }

    #[test]
    fn starts_nothing_before_the_lock() {
        let mut dma = Dma::default();
        assert_eq!(dma.write(register::COMMAND, register::START), Some(false));
        assert_eq!(dma.read(register::ERROR), Some(DmaCause::Start as u32));
        assert_eq!(dma.read(register::INTERRUPT), Some(register::FAILED));
        assert_eq!(locked(0).write(register::COMMAND, register::START), Some(true));
        assert_eq!(dma.write(register::ID, 0), None);
        assert_eq!(dma.read(register::COMMAND), None);
    }

    #[test]
    fn what_waits_for_a_sink_ends_with_an_abort() {
        let mut dma = locked(1);
        dma.wait();
        assert_eq!(dma.write(register::COMMAND, register::START), Some(false));
        assert_eq!((dma.read(register::STATUS), dma.read(register::INTERRUPT)), (Some(0), Some(0)));
        dma.write(register::COMMAND, register::ABORT);
        assert_eq!(dma.read(register::ERROR), Some(DmaCause::Abort as u32));
        assert_eq!(dma.read(register::STATUS), Some(register::IDLE));
    }
}
