//! The stream from the scratchpad of a root of trust to an engine (`hw/soc/rtl/scratchpad_stream.sv`).

/// Word offsets of the registers.
const SOURCE: usize = 0;
const COUNT: usize = 1;
const STATUS: usize = 2;
/// Bit of `STATUS`: the engine has not taken the whole message.
const BUSY: u32 = 1;
/// Alignment of the first byte.
const ALIGNMENT: usize = 4;
/// Size of the scratchpad in bytes.
const SIZE: usize = 64 << 10;
/// Maximum number of status reads before the engine is treated as not responding. The longest message has 64 KiB; the
/// slowest engine takes 70 cycles for a word of eight bytes, and a read takes more than one cycle.
const PATIENCE: u32 = 1_000_000;

/// The driver of the stream.
#[derive(Debug)]
pub struct ScratchpadStream {
    registers: *mut u32,
    scratchpad: usize,
}

impl ScratchpadStream {
    /// Creates the driver and aborts a message in progress. `scratchpad` is the address of the scratchpad as the
    /// processor sees it.
    ///
    /// # Safety
    /// The registers are at this address, and no other code uses them.
    #[must_use]
    pub unsafe fn new(registers: *mut u32, scratchpad: usize) -> Self {
        let mut stream = Self { registers, scratchpad };
        stream.abort();
        stream
    }

    /// Returns true if the bytes can be streamed: they are in the scratchpad and aligned to four bytes.
    #[must_use]
    pub fn reaches(&self, bytes: &[u8]) -> bool {
        self.offset(bytes).is_some()
    }

    /// Streams a message to the engine, which has to wait for one. Returns `None` if the message cannot be streamed, or
    /// if the engine does not take all of it in time.
    pub fn send(&mut self, bytes: &[u8]) -> Option<()> {
        self.begin(bytes)?;
        self.end()
    }

    /// Starts to stream a message. The caller may do other work while the engine takes the message, but must not change
    /// the message.
    pub fn begin(&mut self, bytes: &[u8]) -> Option<()> {
        let offset = self.offset(bytes)?;
        self.write(SOURCE, u32::try_from(offset).ok()?);
        self.write(COUNT, u32::try_from(bytes.len()).ok()?);
        Some(())
    }

    /// Waits until the engine has taken the whole message.
    pub fn end(&mut self) -> Option<()> {
        for _ in 0..PATIENCE {
            if self.read(STATUS) & BUSY == 0 {
                return Some(());
            }
        }
        self.abort();
        None
    }

    fn offset(&self, bytes: &[u8]) -> Option<usize> {
        let offset = bytes.as_ptr().addr().checked_sub(self.scratchpad)?;
        // A message must be at least one byte shorter than the scratchpad.
        let is_inside = offset.checked_add(bytes.len()).is_some_and(|end| end <= SIZE);
        (is_inside && bytes.len() < SIZE && offset.is_multiple_of(ALIGNMENT)).then_some(offset)
    }

    /// Aborts a message, which the engine then discards.
    fn abort(&mut self) {
        self.write(STATUS, 0);
        // The abort ends within a few cycles, because the scratchpad always responds.
        for _ in 0..PATIENCE {
            if self.read(STATUS) & BUSY == 0 {
                return;
            }
        }
    }

    fn write(&mut self, register: usize, value: u32) {
        // SAFETY: this is one of the registers. The stream that it starts goes to the engine and changes no memory.
        unsafe { self.registers.wrapping_add(register).write_volatile(value) }
    }

    fn read(&self, register: usize) -> u32 {
        // SAFETY: this is one of the registers, and reading it has no side effect.
        unsafe { self.registers.wrapping_add(register).read_volatile() }
    }
}

#[cfg(test)]
mod tests {
    //! In these tests plain memory replaces the registers; the stream is busy while the bit is set in it.

    use core::cell::Cell;

    use super::*;
    use crate::trapped::{RegisterAccess, with_registers};

    #[repr(align(8))]
    struct Room([u8; 64]);

    fn stream(registers: &[Cell<u32>; 3], scratchpad: usize) -> ScratchpadStream {
        // SAFETY: the cells may be written through a shared reference and outlive the driver in every test.
        unsafe { ScratchpadStream::new(registers.as_ptr().cast::<u32>().cast_mut(), scratchpad) }
    }

    #[test]
    fn a_message_is_a_place_and_a_length() {
        let (registers, room) = ([const { Cell::new(0) }; 3], Room([0; 64]));
        let base = room.0.as_ptr().addr();
        let mut stream = stream(&registers, base - 8);
        assert_eq!(stream.send(&room.0[16..29]), Some(()));
        assert_eq!((registers[SOURCE].get(), registers[COUNT].get()), (24, 13));
        assert_eq!(stream.send(&room.0[8..8]), Some(()), "an empty one");
        assert_eq!((registers[SOURCE].get(), registers[COUNT].get()), (16, 0));
    }

    #[test]
    fn only_words_of_the_scratchpad_are_streamed() {
        let (registers, room) = ([const { Cell::new(0) }; 3], Room([0; 64]));
        let base = room.0.as_ptr().addr();
        assert!(stream(&registers, base).reaches(&room.0));
        assert!(stream(&registers, base).reaches(&room.0[4..]), "any word");
        assert!(!stream(&registers, base).reaches(&room.0[1..]), "no word");
        assert!(!stream(&registers, base).reaches(&room.0[2..]), "no word");
        assert!(!stream(&registers, base + 8).reaches(&room.0), "before it");
        assert!(!stream(&registers, base + 64 - SIZE + 8 - 64).reaches(&room.0), "past its end");
        assert!(stream(&registers, base + 64 - SIZE).reaches(&room.0), "its last bytes");
        let mut stream = stream(&registers, base + 8);
        assert_eq!(stream.send(&room.0), None);
    }

    #[test]
    fn an_engine_that_takes_nothing_ends_in_an_abort() {
        let (registers, room) = ([const { Cell::new(0) }; 3], Room([0; 64]));
        let mut stream = stream(&registers, room.0.as_ptr().addr());
        // The memory cannot stay busy for ever, because the abort overwrites the bit.
        registers[STATUS].set(BUSY);
        assert_eq!(stream.send(&room.0), None);
        assert_eq!(registers[STATUS].get(), 0, "it does not abort");
    }

    #[test]
    fn a_message_is_shorter_than_the_scratchpad() {
        let registers = [const { Cell::new(0) }; 3];
        let room = std::vec![0; SIZE];
        let mut stream = stream(&registers, room.as_ptr().addr());
        assert!(stream.reaches(&room[..SIZE - 1]) && !stream.reaches(&room));
        assert!(stream.reaches(&room[4..]));
        assert_eq!(stream.begin(&room[4..]), Some(()));
        assert_eq!((registers[SOURCE].get(), registers[COUNT].get()), (4, 65532));
    }

    #[test]
    fn a_message_and_an_abort_are_waited_for() {
        let busy = Cell::new(5);
        let model = |access: RegisterAccess, words: &mut [u32]| match access {
            RegisterAccess::Read(_) => {
                busy.set(busy.get() - u32::from(busy.get() > 0));
                words[STATUS] = u32::from(busy.get() > 0);
            }
            RegisterAccess::Write(at) if at != 4 * SOURCE => busy.set(5),
            RegisterAccess::Write(_) => {}
        };
        let room = Room([0; 64]);
        with_registers(3, model, |base| {
            // SAFETY: the registers exist as long as the driver.
            let mut stream = unsafe { ScratchpadStream::new(base, room.0.as_ptr().addr()) };
            assert_eq!(busy.get(), 0, "the abort is not waited for");
            assert_eq!(stream.begin(&room.0), Some(()));
            assert_eq!(busy.get(), 5, "it waits too early");
            assert_eq!((stream.end(), busy.get()), (Some(()), 0));
        });
    }
}
