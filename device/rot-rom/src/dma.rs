//! The DMA engine: copies payloads, and feeds the engines for hashes from the host's memory.
//!
//! Both windows are the host's memory, because payloads are copied within it and the host asks for digests of any of it.
//! What of it a request may name is judged before (`hartlock_drivers::mailbox::request`).

use hartlock_drivers::dma::{Dma as Engine, Error, List, Range, Window};
use hartlock_drivers::wait::Polling;
use hartlock_regs::Block;
use hartlock_rot::host::{self, BusError};
use hartlock_rot::{DMA, SCRATCHPAD};

use crate::map;

/// Engines that DMA streams to, as bits of its sinks (`hw/soc/top/rot_registers.sv`).
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Sink {
    Sha2 = 1 << 0,
    Sha3 = 1 << 1,
    /// The same bytes for both.
    Both = 1 << 0 | 1 << 1,
}

/// How many times the events are read before memory has not answered in time: for a list, and for four of its bytes.
/// A reading takes about fifteen cycles.
const PATIENCE: u32 = 1000;
/// Until the bus is quiet after that: longer than memory takes that answers at all.
const PATIENCE_OF_ABORT: u32 = 100_000;

/// Bytes that are zeroed by stores before a list costs less.
const STORED_ZEROS: usize = 512;

static mut LIST: List = List::EMPTY;

/// The engine with its windows locked.
pub struct Dma(Engine<'static, Polling>);

impl Dma {
    /// Takes the engine if it works, and locks its windows. Called once.
    pub fn take() -> Option<Self> {
        // SAFETY: the engine's registers, of which this is the only user.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(DMA)) };
        let list = &raw mut LIST;
        // SAFETY: this is its only user.
        let list = unsafe { &mut *list };
        let offset = core::ptr::from_mut(list).addr().wrapping_sub(SCRATCHPAD);
        let mut engine = Engine::new(registers, list, offset, Polling).ok()?;
        let page = |address: u64| (address >> 12) as u32;
        let window =
            Window { first: page(map::RAM.start), last: page(map::RAM.end.wrapping_sub(1)) };
        engine.lock(window, window).ok()?;
        Some(Self(engine))
    }

    /// Copies bytes from one place to another that does not overlap it.
    ///
    /// # Errors
    /// `BusError`: what is there is unknown then.
    pub fn copy(&mut self, to: u64, from: u64, count: usize) -> Result<(), BusError> {
        let destination = u32::try_from(to).map_err(|_| BusError)?;
        self.run(&[Range { destination, ..range(from, count)? }], 0)
    }

    /// Zeroes bytes: the first ones by stores, the others as copies of those before them, twice as many each time.
    ///
    /// # Errors
    /// `BusError`: what is there is unknown then.
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

    /// Streams bytes to an engine, which has begun a message. They end it.
    ///
    /// # Errors
    /// `BusError`: the engine has no digest then.
    pub fn feed(&mut self, sink: Sink, from: u64, count: usize) -> Result<(), BusError> {
        self.run(&[range(from, count)?], sink as u8)
    }

    /// The same with what comes before the bytes, at its own address.
    ///
    /// # Errors
    /// As above.
    pub fn feed_after(
        &mut self,
        sink: Sink,
        (prefix, prefix_count): (u64, usize),
        from: u64,
        count: usize,
    ) -> Result<(), BusError> {
        self.run(&[range(prefix, prefix_count)?, range(from, count)?], sink as u8)
    }

    /// What goes to no sink is written.
    fn run(&mut self, ranges: &[Range], sinks: u8) -> Result<(), BusError> {
        let length = ranges.iter().fold(0_u32, |sum, range| sum.saturating_add(range.length));
        self.0.start(ranges, sinks, sinks == 0).map_err(|_| BusError)?;
        let done = self.0.finish(PATIENCE.saturating_add(length / 4));
        if done == Err(Error::Silent) {
            self.0.abort();
            // If the bus does not become quiet, the next list is refused, because this one is not over.
            let _ = self.0.finish(PATIENCE_OF_ABORT);
        }
        done.map_err(|_| BusError)
    }
}

/// A range that is read.
fn range(from: u64, count: usize) -> Result<Range, BusError> {
    let source = u32::try_from(from).map_err(|_| BusError)?;
    let length = u32::try_from(count).map_err(|_| BusError)?;
    Ok(Range { source, destination: 0, length })
}
