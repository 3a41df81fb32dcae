//! The DMA engine, which copies payloads and streams bytes of the host's memory to the hash engines.
//!
//! Both windows of the engine cover the host's memory, because payloads are copied within it and the host requests
//! digests of any part of it. The ranges in a request are checked before (`hartlock_drivers::mailbox::request`).

use hartlock_drivers::dma::{DescriptorList, Dma, Error, Range, Window};
use hartlock_drivers::wait::Polling;
use hartlock_regs::Block;
use hartlock_rot::host::{self, BusError};
use hartlock_rot::{DMA, SCRATCHPAD};

use crate::map;

/// The engines that DMA streams to, as bits of its sink register (`hw/soc/top/rot_registers.sv`).
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Sink {
    Sha2 = 1 << 0,
    Sha3 = 1 << 1,
    /// Both engines receive the same bytes.
    Both = 1 << 0 | 1 << 1,
}

/// Number of reads of the events before a list counts as timed out. One more is added for every four of its bytes. A
/// read takes about fifteen cycles.
const PATIENCE: u32 = 1000;
/// Number of reads to wait until the bus is quiet after an abort. This is longer than any memory takes that responds at
/// all.
const PATIENCE_OF_ABORT: u32 = 100_000;

/// Number of bytes up to which zeroing by stores is cheaper than a DMA list.
const STORED_ZEROS: usize = 512;

static mut LIST: DescriptorList = DescriptorList::EMPTY;

/// The DMA engine with locked windows.
pub struct LockedDma(Dma<'static, Polling>);

impl LockedDma {
    /// Initialises the engine and locks its windows. Returns `None` if the engine does not work. This function is
    /// called once.
    pub fn take() -> Option<Self> {
        // SAFETY: these are the engine's registers, of which this is the only user.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(DMA)) };
        let list = &raw mut LIST;
        // SAFETY: this is the only user of the list.
        let list = unsafe { &mut *list };
        let offset = core::ptr::from_mut(list).addr().wrapping_sub(SCRATCHPAD);
        let mut engine = Dma::new(registers, list, offset, Polling).ok()?;
        let page = |address: u64| (address >> 12) as u32;
        let window =
            Window { first: page(map::RAM.start), last: page(map::RAM.end.wrapping_sub(1)) };
        engine.lock(window, window).ok()?;
        Some(Self(engine))
    }

    /// Copies bytes to a range that does not overlap the source.
    ///
    /// # Errors
    /// `BusError`; the contents of the destination are unknown then.
    pub fn copy(&mut self, to: u64, from: u64, count: usize) -> Result<(), BusError> {
        let destination = u32::try_from(to).map_err(|_| BusError)?;
        self.run(&[Range { destination, ..range(from, count)? }], 0)
    }

    /// Zeroes bytes: the first ones by stores, the others by copying the zeros before them, doubling the size each
    /// time.
    ///
    /// # Errors
    /// `BusError`; the contents of the range are unknown then.
    pub fn clear(&mut self, at: u64, count: usize) -> Result<(), BusError> {
        let mut done = count.min(STORED_ZEROS);
        host::clear(at, done)?;
        while done < count {
            let now = count.wrapping_sub(done).min(done);
            let to = at.checked_add(done as u64).ok_or(BusError)?;
            self.copy(to, at, now)?;
            done = done.saturating_add(now);
        }
        Ok(())
    }

    /// Streams the rest of a message to an engine that has begun the message.
    ///
    /// # Errors
    /// `BusError`; the engine has no digest then.
    pub fn feed(&mut self, sink: Sink, from: u64, count: usize) -> Result<(), BusError> {
        self.run(&[range(from, count)?], sink as u8)
    }

    /// Same as [`LockedDma::feed`], except that a prefix at another address is streamed before the bytes.
    ///
    /// # Errors
    /// The same as those of [`LockedDma::feed`].
    pub fn feed_after(
        &mut self,
        sink: Sink,
        (prefix, prefix_count): (u64, usize),
        from: u64,
        count: usize,
    ) -> Result<(), BusError> {
        self.run(&[range(prefix, prefix_count)?, range(from, count)?], sink as u8)
    }

    /// Runs a list of ranges. Without a sink the bytes are written to memory.
    fn run(&mut self, ranges: &[Range], sinks: u8) -> Result<(), BusError> {
        let length = ranges.iter().fold(0_u32, |sum, range| sum.saturating_add(range.length));
        self.0.start(ranges, sinks, sinks == 0).map_err(|_| BusError)?;
        let done = self.0.finish(PATIENCE.saturating_add(length / 4));
        if done == Err(Error::Silent) {
            self.0.abort();
            // If the bus does not become quiet, the next list is refused, because this one has not ended.
            let _ = self.0.finish(PATIENCE_OF_ABORT);
        }
        done.map_err(|_| BusError)
    }
}

/// Returns a range that is only read.
fn range(from: u64, count: usize) -> Result<Range, BusError> {
    let source = u32::try_from(from).map_err(|_| BusError)?;
    let length = u32::try_from(count).map_err(|_| BusError)?;
    Ok(Range { source, destination: 0, length })
}
