//! Cuts a payload into runs of blocks and distributes them to threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::mpsc;
use std::thread;

use hartlock_image::{PAGE_SIZE, PayloadRecord};
use hartlock_kernels::fills_lanes;
use hartlock_verify::tree::{Digest, Hasher, TreeRootHasher, leaf_prefix};

use super::host::HostHasher;
use super::lanes::{Engine, Lanes};
use super::part_queue::PartQueue;

/// Maximum number of bytes that a thread processes at once: a block of the default size in each of 16 lanes.
/// It should fit into the second-level cache of a core.
const BUFFER_SIZE: usize = 16 * 81_920;
/// Number of bytes that a thread processes at once if blocks are small.
const SMALL_BUFFER_SIZE: usize = 512 << 10;
/// Maximum size of the buffers of all threads together, in bytes. It limits the number of threads.
const MAX_BUFFERS: usize = 32 << 20;
/// Number of runs for each thread by which the newest run may be ahead of the oldest one that is not done.
const RUNS_AHEAD: u64 = 4;

/// A range of payload bytes that is to be read into a buffer.
#[derive(Debug)]
pub struct Piece<'a> {
    offset: u64,
    buffer: &'a mut [u8],
    len: usize,
}

impl Piece<'_> {
    /// Returns the offset of the range in the payload.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the buffer for the bytes of the range. The exchange function fills it.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.len]
    }

    /// Returns the bytes of the range, and zeros after the end of the payload up to a whole page.
    pub fn padded(&mut self) -> &[u8] {
        self.buffer[self.len..].fill(0);
        self.buffer
    }
}

/// The division of a payload into runs of blocks, and of runs into pieces.
#[derive(Debug)]
pub struct Plan<'a> {
    record: &'a PayloadRecord,
    engine: Option<Engine>,
    /// Size of a block in bytes; in mode `flat`, of the whole payload.
    block_size: u64,
    blocks_per_run: u64,
    run_count: u64,
    /// Number of bytes of a block that are hashed before the next piece is read. If it is the size of a
    /// block, a run is read as one piece.
    piece_size: usize,
    threads: usize,
}

impl<'a> Plan<'a> {
    /// Makes the plan of a payload for up to `threads` threads.
    pub fn new(record: &'a PayloadRecord, threads: usize) -> Self {
        Self::with(record, threads, Engine::of(record.hash))
    }

    /// Makes the plan of a payload for this engine.
    pub(super) fn with(record: &'a PayloadRecord, threads: usize, engine: Option<Engine>) -> Self {
        let (block_size, engine) = match record.mode.block_size() {
            None => (record.size.max(1), None),
            Some(block_size) => (u64::from(block_size.max(1)), engine),
        };
        let lanes = engine.map_or(1, Engine::lanes);
        let group_size = block_size.saturating_mul(lanes as u64);
        let (groups, piece_size) = if group_size <= BUFFER_SIZE as u64 {
            ((SMALL_BUFFER_SIZE as u64 / group_size).max(1), block_size as usize)
        } else {
            // The size is a multiple of whole pages, because a file is read page by page.
            (1, (BUFFER_SIZE / lanes).next_multiple_of(PAGE_SIZE as usize))
        };
        let blocks_per_run = groups * lanes as u64;
        let run_count = record.size.div_ceil(block_size).div_ceil(blocks_per_run);
        let mut plan =
            Self { record, engine, block_size, blocks_per_run, run_count, piece_size, threads: 1 };
        let most = (MAX_BUFFERS / plan.buffer_size()).min(run_count.try_into().unwrap_or(threads));
        plan.threads = threads.clamp(1, most.max(1));
        plan
    }

    /// Returns true if a run is read as one piece.
    fn is_contiguous(&self) -> bool {
        self.piece_size as u64 == self.block_size
    }

    fn lanes(&self) -> usize {
        self.engine.map_or(1, Engine::lanes)
    }

    /// Returns the size of a thread's buffer in bytes.
    fn buffer_size(&self) -> usize {
        let size = match self.is_contiguous() {
            true => self.piece_size * self.blocks_per_run as usize,
            false => self.piece_size * self.lanes(),
        };
        size.next_multiple_of(PAGE_SIZE as usize)
    }

    /// Returns the maximum number of bytes that all threads hold at once: their buffers, and the leaves that
    /// wait for earlier ones.
    pub fn memory(&self) -> usize {
        let leaves = self.threads as u64 * RUNS_AHEAD * self.blocks_per_run;
        self.threads * self.buffer_size() + leaves as usize * size_of::<Digest>()
    }

    /// Computes the digest of the payload. Several threads call `exchange` at the same time to fill pieces,
    /// in no particular order; each byte is in exactly one piece. `on_bytes` is called on the calling thread
    /// with the number of bytes that were hashed since its last call.
    ///
    /// # Errors
    /// Returns the error of `exchange` in the earliest run that failed.
    pub fn digest<E: Send>(
        &self,
        exchange: impl Fn(&mut Piece<'_>) -> Result<(), E> + Sync,
        mut on_bytes: impl FnMut(u64),
    ) -> Result<Digest, E> {
        if self.record.mode.block_size().is_none() {
            let mut hasher = HostHasher::new(self.record.hash);
            let mut buffer = vec![0; self.buffer_size()];
            self.absorb_block(0, &mut hasher, &mut buffer, &exchange, &mut on_bytes)?;
            return Ok(hasher.finalize());
        }
        let mut root = TreeRootHasher::<HostHasher>::new(self.record);
        if self.threads > 1 {
            self.digest_on_threads(&mut root, &exchange, on_bytes)?;
        } else {
            let mut buffer = vec![0; self.buffer_size()];
            for run in 0..self.run_count {
                let leaves = self.leaves(run, &mut buffer, &exchange, &mut on_bytes)?;
                leaves.iter().for_each(|leaf| root.push(leaf));
            }
        }
        Ok(root.finalize())
    }

    fn digest_on_threads<E: Send>(
        &self,
        root: &mut TreeRootHasher<HostHasher>,
        exchange: &(impl Fn(&mut Piece<'_>) -> Result<(), E> + Sync),
        mut on_bytes: impl FnMut(u64),
    ) -> Result<(), E> {
        enum News<E> {
            Bytes(u64),
            Run(u64, Result<Vec<Digest>, E>),
        }
        let parts = PartQueue::new(self.run_count, RUNS_AHEAD * self.threads as u64);
        let (sender, news) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..self.threads {
                let (parts, sender) = (&parts, sender.clone());
                scope.spawn(move || {
                    let mut buffer = vec![0; self.buffer_size()];
                    while let Some(run) = parts.take() {
                        // Sending fails only if the receiver panicked.
                        let mut on_bytes = |count| drop(sender.send(News::Bytes(count)));
                        let leaves = self.leaves(run, &mut buffer, exchange, &mut on_bytes);
                        let _ = sender.send(News::Run(run, leaves));
                    }
                });
            }
            drop(sender);

            // Leaves are added to the root in their order, although runs may finish in any order.
            let mut early = BTreeMap::new();
            let mut failure: Option<(u64, E)> = None;
            let mut absorbed = 0;
            for news in news {
                match news {
                    News::Bytes(count) => on_bytes(count),
                    News::Run(run, Ok(leaves)) => {
                        early.insert(run, leaves);
                        while let Some(leaves) = early.remove(&absorbed) {
                            leaves.iter().for_each(|leaf| root.push(leaf));
                            absorbed += 1;
                        }
                        parts.advance(absorbed, ControlFlow::Continue(()));
                    }
                    News::Run(run, Err(error)) => {
                        if failure.as_ref().is_none_or(|(earlier, _)| run < *earlier) {
                            failure = Some((run, error));
                        }
                        parts.advance(absorbed, ControlFlow::Break(()));
                    }
                }
            }
            failure.map_or(Ok(()), |(_, error)| Err(error))
        })
    }

    /// Computes the leaves of a run.
    fn leaves<E>(
        &self,
        run: u64,
        buffer: &mut [u8],
        exchange: &impl Fn(&mut Piece<'_>) -> Result<(), E>,
        on_bytes: &mut impl FnMut(u64),
    ) -> Result<Vec<Digest>, E> {
        let first = run * self.blocks_per_run;
        if !self.is_contiguous() {
            return self.leaves_in_pieces(first, buffer, exchange, on_bytes);
        }
        let from = first * self.block_size;
        let len = (self.record.size - from).min(self.blocks_per_run * self.block_size) as usize;
        let bytes = self.fetch(from, len, buffer, exchange)?;
        let blocks: Vec<&[u8]> = bytes.chunks(self.block_size as usize).collect();
        let mut leaves = Vec::with_capacity(blocks.len());
        for group in blocks.chunks(self.lanes()) {
            // Only the last block of a payload may be shorter than the others.
            let whole = group.iter().take_while(|block| block.len() == group[0].len()).count();
            let mut apart = group;
            if let Some(mut lanes) = self.begin_leaves(first + leaves.len() as u64, whole) {
                lanes.update(&group[..whole]);
                leaves.extend_from_slice(&lanes.finalize()[..whole]);
                apart = &group[whole..];
            }
            for block in apart {
                let mut hasher = self.begin_leaf(first + leaves.len() as u64);
                hasher.update(block);
                leaves.push(hasher.finalize());
            }
        }
        on_bytes(len as u64);
        Ok(leaves)
    }

    /// Computes the leaves of a run whose blocks are too large for a buffer.
    fn leaves_in_pieces<E>(
        &self,
        first: u64,
        buffer: &mut [u8],
        exchange: &impl Fn(&mut Piece<'_>) -> Result<(), E>,
        on_bytes: &mut impl FnMut(u64),
    ) -> Result<Vec<Digest>, E> {
        let end = (first + self.blocks_per_run).min(self.record.size.div_ceil(self.block_size));
        let whole = (end.min(self.record.size / self.block_size) - first) as usize;
        let mut leaves = Vec::with_capacity(self.blocks_per_run as usize);
        if let Some(mut lanes) = self.begin_leaves(first, whole) {
            for at in (0..self.block_size).step_by(self.piece_size) {
                let len = (self.block_size - at).min(self.piece_size as u64) as usize;
                let buffers = buffer.chunks_mut(self.piece_size).take(whole);
                let parts = (first..).zip(buffers).map(|(index, buffer)| {
                    self.fetch(index * self.block_size + at, len, buffer, exchange)
                });
                lanes.update(&parts.collect::<Result<Vec<_>, E>>()?);
                on_bytes((len * whole) as u64);
            }
            leaves.extend_from_slice(&lanes.finalize()[..whole]);
        }
        for index in first + leaves.len() as u64..end {
            let mut hasher = self.begin_leaf(index);
            self.absorb_block(index, &mut hasher, buffer, exchange, on_bytes)?;
            leaves.push(hasher.finalize());
        }
        Ok(leaves)
    }

    /// Adds a block to a hash, in pieces of the size of the buffer.
    fn absorb_block<E>(
        &self,
        index: u64,
        hasher: &mut HostHasher,
        buffer: &mut [u8],
        exchange: &impl Fn(&mut Piece<'_>) -> Result<(), E>,
        on_bytes: &mut impl FnMut(u64),
    ) -> Result<(), E> {
        let end = self.record.size.min((index + 1).saturating_mul(self.block_size));
        for from in (index * self.block_size..end).step_by(buffer.len()) {
            let len = (end - from).min(buffer.len() as u64) as usize;
            hasher.update(self.fetch(from, len, buffer, exchange)?);
            on_bytes(len as u64);
        }
        Ok(())
    }

    /// Fills the buffer with `len` bytes from offset `from` of the payload on, and returns them.
    fn fetch<'b, E>(
        &self,
        from: u64,
        len: usize,
        buffer: &'b mut [u8],
        exchange: &impl Fn(&mut Piece<'_>) -> Result<(), E>,
    ) -> Result<&'b [u8], E> {
        // Only the last piece has padding; after any other piece the next page belongs to another piece.
        let is_last = from + len as u64 == self.record.size;
        let buffer_len = if is_last { len.next_multiple_of(PAGE_SIZE as usize) } else { len };
        exchange(&mut Piece { offset: from, buffer: &mut buffer[..buffer_len], len })?;
        Ok(&buffer[..len])
    }

    /// Begins a leaf that is hashed one message at a time.
    fn begin_leaf(&self, index: u64) -> HostHasher {
        let mut hasher = HostHasher::new(self.record.hash);
        if let Some(prefix) = leaf_prefix(self.record.mode, index) {
            hasher.update(&prefix);
        }
        hasher
    }

    /// Begins `count` leaves that are hashed together in lanes. Returns `None` if too few lanes would be
    /// used: lanes take the same time, however many of them are used.
    fn begin_leaves(&self, first: u64, count: usize) -> Option<Lanes> {
        let engine = self.engine.filter(|engine| fills_lanes(count, engine.lanes()))?;
        let indexes = (first..).take(count);
        let prefixes: Vec<_> =
            indexes.filter_map(|index| leaf_prefix(self.record.mode, index)).collect();
        let mut lanes = Lanes::new(engine);
        if !prefixes.is_empty() {
            lanes.update(&prefixes.iter().map(|prefix| &prefix[..]).collect::<Vec<_>>());
        }
        Some(lanes)
    }
}
