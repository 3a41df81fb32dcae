//! Tests that compare digests of payloads of many sizes with those of the boot stages' implementation.

use std::convert::Infallible;
use std::sync::Mutex;

use hartlock_image::{HashId, PAGE_SIZE, PayloadRecord, PayloadType, TreeMode};
use hartlock_verify::tree;

use super::lanes::Engine;
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

fn blocks(block_size: u32) -> TreeMode {
    TreeMode::Blocks { block_size }
}

fn pattern(len: u32) -> Vec<u8> {
    (0..len).map(|at| ((at * 7) >> 3 ^ at >> 11) as u8).collect()
}

/// Returns no engine (one block at a time), and every engine that this processor has.
fn engines(hash: HashId) -> impl Iterator<Item = Option<Engine>> {
    std::iter::once(None).chain(Engine::all(hash).map(Some))
}

/// Computes the digest of a payload. Returns also the offset and the length of every piece that was read.
fn digest(plan: &Plan<'_>, payload: &[u8]) -> (Digest, Vec<(u64, usize)>) {
    let pieces = Mutex::new(Vec::new());
    let mut hashed = 0;
    let exchange = |piece: &mut Piece<'_>| {
        let at = piece.offset() as usize;
        let len = piece.bytes().len();
        piece.bytes().copy_from_slice(&payload[at..at + len]);
        pieces.lock().unwrap().push((piece.offset(), len));
        Ok::<_, Infallible>(())
    };
    let digest = plan.digest(exchange, |count| hashed += count).unwrap();
    assert_eq!(hashed, payload.len() as u64);
    (digest, pieces.into_inner().unwrap())
}

#[test]
fn agrees_with_the_portable_kernels_for_every_hash_and_mode() {
    let payload = pattern(40_001);
    for hash in HashId::ALL {
        let parallelhash = [1024, 9 << 10].map(|block_size| TreeMode::ParallelHash { block_size });
        let modes = [TreeMode::Flat, blocks(1024), blocks(3 << 10), blocks(9 << 10)];
        for mode in modes.into_iter().chain(parallelhash).filter(|mode| mode.allows(hash)) {
            for size in [0, 1, 1023, 1024, 1025, 8 << 10, 16 << 10, 40_001] {
                let record = record(hash, mode, size);
                let expected = tree::digest(&record, &payload[..size]);
                for engine in engines(hash) {
                    let (actual, _) = digest(&Plan::with(&record, 2, engine), &payload[..size]);
                    assert_eq!(actual, expected, "{engine:?} {record:?}");
                }
            }
        }
    }
}

#[test]
fn the_number_of_threads_never_changes_the_digest() {
    let payload = pattern((1 << 20) + 3);
    // The block sizes give runs of many blocks, and blocks that are read in pieces.
    for block_size in [1024, 200 << 10] {
        let record = record(HashId::Sha512, blocks(block_size), payload.len());
        // The expected digest is computed one block at a time, without runs.
        let expected = tree::digest(&record, &payload);
        for engine in engines(HashId::Sha512) {
            for threads in [1, 3] {
                let plan = Plan::with(&record, threads, engine);
                assert_eq!(digest(&plan, &payload).0, expected, "{plan:?}");
            }
        }
    }
}

#[test]
fn every_byte_is_asked_for_once() {
    let payload = pattern((1 << 20) + 5);
    let parallelhash = TreeMode::ParallelHash { block_size: 7 << 10 };
    for mode in [TreeMode::Flat, blocks(7 << 10), blocks(200 << 10), parallelhash] {
        let record = record(HashId::Sha384, mode, payload.len());
        for engine in engines(HashId::Sha384) {
            let (_, mut pieces) = digest(&Plan::with(&record, 3, engine), &payload);
            pieces.sort_unstable();
            let end = pieces.iter().fold(0, |end, (at, len)| {
                assert_eq!(*at, end, "{mode:?}");
                end + *len as u64
            });
            assert_eq!(end, record.size, "{mode:?}");
        }
    }
}

#[test]
fn the_last_piece_has_room_for_its_padding() {
    for (mode, size) in [(blocks(1024), 5000), (blocks(81_920), 90_000), (TreeMode::Flat, 1)] {
        let record = record(HashId::Sha384, mode, size);
        let plan = Plan::new(&record, 1);
        let ends = Mutex::new(0);
        let exchange = |piece: &mut Piece<'_>| {
            piece.bytes().fill(7);
            let (at, len) = (piece.offset() as usize, piece.bytes().len());
            let (bytes, padding) = piece.padded().split_at(len);
            assert!(bytes.iter().all(|byte| *byte == 7) && padding.iter().all(|byte| *byte == 0));
            *ends.lock().unwrap() = at + len + padding.len();
            Ok::<_, Infallible>(())
        };
        plan.digest(exchange, |_| ()).unwrap();
        assert_eq!(*ends.lock().unwrap(), size.next_multiple_of(PAGE_SIZE as usize));
    }
}

#[test]
fn a_failing_read_ends_the_threads_and_the_foremost_is_reported() {
    let record = record(HashId::Sha384, blocks(1024), 64 << 20);
    let exchange = |piece: &mut Piece<'_>| match piece.offset() {
        at if at >= 4 << 20 => Err(at),
        _ => Ok(()),
    };
    let result = Plan::new(&record, 4).digest(exchange, |_| ());
    assert_eq!(result, Err(4 << 20));
}

#[test]
fn memory_has_a_bound_whatever_the_payload_and_the_machine() {
    for hash in HashId::ALL {
        for block_size in [1 << 10, 81_920, 96 << 10, 1 << 20, 3 << 20, 16 << 20] {
            for size in [1, 30 << 20, 1 << 30, 1 << 40] {
                for threads in [1, 2, 64, 4096] {
                    let record = record(hash, blocks(block_size), size);
                    for engine in engines(hash) {
                        let plan = Plan::with(&record, threads, engine);
                        assert!(plan.memory() <= 40 << 20, "{plan:?}");
                    }
                }
            }
        }
    }
}
