//! Payload digests (image format §6) of data that is read in order, on all cores.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Mutex, mpsc};
use std::thread;

use hartlock_image::{HashId, PayloadRecord, TreeMode};
use hartlock_verify::tree::{Digest, Hasher, Root, leaf, padded};
use sha2::Digest as _;

/// Bytes that are read at once, or one block if that is more.
const CHUNK_SIZE: usize = 1 << 20;
/// Most bytes in flight, whatever the number of cores and the size of blocks.
const MAX_IN_FLIGHT: usize = 256 << 20;

/// The hashes of RustCrypto, which use the SHA instructions of the processor.
#[derive(Clone)]
#[allow(missing_docs, reason = "the variants are the names of the standards")]
pub enum HostHasher {
    Sha256(sha2::Sha256),
    Sha384(sha2::Sha384),
    Sha512(sha2::Sha512),
    Sha3_256(sha3::Sha3_256),
    Sha3_384(sha3::Sha3_384),
    Sha3_512(sha3::Sha3_512),
}

impl Hasher for HostHasher {
    fn new(hash: HashId) -> Self {
        match hash {
            HashId::Sha256 => HostHasher::Sha256(sha2::Sha256::new()),
            HashId::Sha384 => HostHasher::Sha384(sha2::Sha384::new()),
            HashId::Sha512 => HostHasher::Sha512(sha2::Sha512::new()),
            HashId::Sha3_256 => HostHasher::Sha3_256(sha3::Sha3_256::new()),
            HashId::Sha3_384 => HostHasher::Sha3_384(sha3::Sha3_384::new()),
            HashId::Sha3_512 => HostHasher::Sha3_512(sha3::Sha3_512::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            HostHasher::Sha256(hash) => hash.update(bytes),
            HostHasher::Sha384(hash) => hash.update(bytes),
            HostHasher::Sha512(hash) => hash.update(bytes),
            HostHasher::Sha3_256(hash) => hash.update(bytes),
            HostHasher::Sha3_384(hash) => hash.update(bytes),
            HostHasher::Sha3_512(hash) => hash.update(bytes),
        }
    }

    fn finalize(self) -> Digest {
        match self {
            HostHasher::Sha256(hash) => padded(&hash.finalize()),
            HostHasher::Sha384(hash) => padded(&hash.finalize()),
            HostHasher::Sha512(hash) => padded(&hash.finalize()),
            HostHasher::Sha3_256(hash) => padded(&hash.finalize()),
            HostHasher::Sha3_384(hash) => padded(&hash.finalize()),
            HostHasher::Sha3_512(hash) => padded(&hash.finalize()),
        }
    }
}

/// Cores that this process may use.
pub fn core_count() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Digests a payload of `record.size` bytes, which `fill` gives piece by piece and in order.
///
/// In mode `blocks` as many as `threads` threads hash while this one reads; in mode `flat` there
/// is nothing to share.
///
/// # Errors
/// The first error of `fill`.
pub fn digest_stream<E>(
    record: &PayloadRecord,
    threads: usize,
    mut fill: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Digest, E> {
    match record.mode {
        TreeMode::Flat => {
            let mut hasher = HostHasher::new(record.hash);
            let mut buffer = vec![0; chunk_len(record.size, 0, CHUNK_SIZE)];
            let mut at = 0;
            while at < record.size {
                let chunk = &mut buffer[..chunk_len(record.size, at, CHUNK_SIZE)];
                fill(chunk)?;
                hasher.update(chunk);
                at += chunk.len() as u64;
            }
            Ok(hasher.finalize())
        }
        TreeMode::Blocks { block_size } => {
            let plan = Plan::new(record, block_size);
            let thread_count = threads.min(plan.chunk_count.try_into().unwrap_or(usize::MAX));
            if thread_count > 1 {
                digest_on_threads(&plan, thread_count, fill)
            } else {
                digest_alone(&plan, fill)
            }
        }
    }
}

/// Bytes from `at` to the end of the payload, at most `limit`.
fn chunk_len(size: u64, at: u64, limit: usize) -> usize {
    (size - at).min(limit as u64) as usize
}

/// How a payload is cut into chunks of whole blocks.
struct Plan<'a> {
    record: &'a PayloadRecord,
    block_size: usize,
    blocks_per_chunk: usize,
    chunk_count: u64,
}

impl<'a> Plan<'a> {
    fn new(record: &'a PayloadRecord, block_size: u32) -> Self {
        let block_size = block_size.max(1) as usize;
        let blocks_per_chunk = (CHUNK_SIZE / block_size).max(1);
        let chunk_count = record.size.div_ceil((blocks_per_chunk * block_size) as u64);
        Self { record, block_size, blocks_per_chunk, chunk_count }
    }

    fn chunk_size(&self) -> usize {
        self.blocks_per_chunk * self.block_size
    }

    fn len_of(&self, chunk: u64) -> usize {
        chunk_len(self.record.size, chunk * self.chunk_size() as u64, self.chunk_size())
    }

    fn leaves(&self, chunk: u64, bytes: &[u8]) -> Vec<Digest> {
        let first = chunk * self.blocks_per_chunk as u64;
        (first..)
            .zip(bytes.chunks(self.block_size))
            .map(|(index, block)| leaf::<HostHasher>(self.record.hash, index, block))
            .collect()
    }

    fn root(&self) -> Root<HostHasher> {
        Root::new(self.record, self.block_size as u32)
    }
}

fn digest_alone<E>(
    plan: &Plan<'_>,
    mut fill: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Digest, E> {
    let mut root = plan.root();
    let mut buffer = vec![0; if plan.chunk_count == 0 { 0 } else { plan.len_of(0) }];
    for chunk in 0..plan.chunk_count {
        let bytes = &mut buffer[..plan.len_of(chunk)];
        fill(bytes)?;
        plan.leaves(chunk, bytes).iter().for_each(|leaf| root.push(leaf));
    }
    Ok(root.finalize())
}

fn digest_on_threads<E>(
    plan: &Plan<'_>,
    threads: usize,
    mut fill: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Digest, E> {
    // Two chunks a thread keep it busy while the next one is read.
    let most_in_flight = (2 * threads).min(MAX_IN_FLIGHT / plan.chunk_size()).max(2);
    let (filled_sender, filled) = mpsc::channel::<(u64, Vec<u8>)>();
    let filled = Mutex::new(filled);
    let (hashed_sender, hashed) = mpsc::channel();

    thread::scope(|scope| {
        // Moved in here, so that every way out of this closure ends the threads.
        let filled_sender = filled_sender;
        for _ in 0..threads {
            let (filled, hashed_sender) = (&filled, hashed_sender.clone());
            scope.spawn(move || {
                loop {
                    // In a statement of its own: the lock must be free while this thread hashes.
                    let received = filled.lock().map(|filled| filled.recv());
                    let Ok(Ok((chunk, bytes))) = received else { return };
                    let leaves = plan.leaves(chunk, &bytes);
                    if hashed_sender.send((chunk, bytes, leaves)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(hashed_sender);

        let mut root = plan.root();
        let mut early = BTreeMap::new();
        let mut free = Vec::new();
        let (mut read_count, mut hashed_count, mut absorbed_count) = (0, 0, 0);
        while absorbed_count < plan.chunk_count {
            // Chunks that wait for an earlier one have given back their buffers already.
            while read_count < plan.chunk_count && read_count - hashed_count < most_in_flight as u64
            {
                let mut bytes: Vec<u8> = free.pop().unwrap_or_default();
                bytes.resize(plan.len_of(read_count), 0);
                fill(&mut bytes)?;
                filled_sender.send((read_count, bytes)).expect("the receiver outlives the scope");
                read_count += 1;
            }
            let (chunk, bytes, leaves) = hashed.recv().expect("threads run while there is work");
            hashed_count += 1;
            free.push(bytes);
            early.insert(chunk, leaves);
            while let Some(leaves) = early.remove(&absorbed_count) {
                leaves.iter().for_each(|leaf| root.push(leaf));
                absorbed_count += 1;
            }
        }
        Ok(root.finalize())
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use hartlock_image::PayloadType;
    use hartlock_verify::tree::{self, Kernel};

    use super::*;

    fn record(hash: HashId, mode: TreeMode, size: usize) -> PayloadRecord {
        PayloadRecord {
            payload_type: PayloadType::Kernel,
            hash,
            mode,
            offset: 4096,
            size: size as u64,
            load_address: 0x8200_0000,
            memory_size: 1 << 24,
            entry: 0x8200_0000,
            digest: [0; 64],
        }
    }

    fn stream(record: &PayloadRecord, threads: usize, payload: &[u8]) -> Digest {
        let mut rest = payload;
        let fill = |into: &mut [u8]| {
            let (now, later) = rest.split_at(into.len());
            into.copy_from_slice(now);
            rest = later;
            Ok::<_, Infallible>(())
        };
        let digest = digest_stream(record, threads, fill).unwrap();
        assert!(rest.is_empty(), "the payload was not read to its end");
        digest
    }

    #[test]
    fn agrees_with_the_portable_kernels_for_every_hash_and_mode() {
        let payload: Vec<u8> = (0..100_001_u32).map(|at| ((at * 7) >> 3) as u8).collect();
        for hash in HashId::ALL {
            for mode in [TreeMode::Flat, TreeMode::Blocks { block_size: 1024 }] {
                for size in [0, 1, 1023, 1024, 1025, 100_001] {
                    let record = record(hash, mode, size);
                    let expected = tree::digest::<Kernel>(&record, &payload[..size]);
                    assert_eq!(stream(&record, 2, &payload[..size]), expected, "{record:?}");
                }
            }
        }
    }

    #[test]
    fn the_number_of_threads_never_changes_the_digest() {
        let payload: Vec<u8> = (0..5 << 20).map(|at: u32| (at ^ (at >> 11)) as u8).collect();
        for block_size in [1024, 81_920, 3 << 20] {
            let record = record(HashId::Sha256, TreeMode::Blocks { block_size }, payload.len() - 3);
            // One block after the other in memory: it knows of no chunks.
            let expected = tree::digest::<HostHasher>(&record, &payload[..payload.len() - 3]);
            for threads in [1, 2, 3, 8] {
                let actual = stream(&record, threads, &payload[..payload.len() - 3]);
                assert_eq!(actual, expected, "{threads} threads, blocks of {block_size}");
            }
        }
    }

    #[test]
    fn a_failing_read_ends_the_threads() {
        let record = record(HashId::Sha384, TreeMode::Blocks { block_size: 1024 }, 64 << 20);
        let mut count = 0;
        let result = digest_stream(&record, 4, |_| {
            count += 1;
            if count == 9 { Err("the disk failed") } else { Ok(()) }
        });
        assert_eq!(result, Err("the disk failed"));
    }
}
