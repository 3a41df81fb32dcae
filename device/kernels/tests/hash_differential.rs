//! These tests compare every hash with a second implementation, for all short lengths, and for random messages that
//! are split at random positions.

use hartlock_kernels::parallelhash::{Root128, Root256, left_encode, right_encode};
use hartlock_kernels::{Hash, kt128::Kt128, sha2 as ours2, sha3 as ours3};
use k12::ExtendableOutput;
use proptest::prelude::*;
use sha2::Digest;
use tiny_keccak::{Hasher, ParallelHash};

/// Hashes `message` in pieces that end at the given positions.
fn digest_in_pieces<H: Hash>(message: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (message.len() + 1)).collect();
    cuts.sort_unstable();
    let mut hash = H::new();
    let mut start = 0;
    for end in cuts.into_iter().chain([message.len()]) {
        hash.update(&message[start..end]);
        start = end;
    }
    hash.finalize().as_ref().to_vec()
}

/// Compares all hashes except for ParallelHash on one message.
fn check_all(message: &[u8], cuts: &[usize]) {
    fn check_output<H: Hash, X: ExtendableOutput>(mut other: X, message: &[u8], cuts: &[usize]) {
        other.update(message);
        let expected = other.finalize_boxed(H::OUTPUT_LEN).to_vec();
        let length = message.len();
        assert_eq!(digest_in_pieces::<H>(message, cuts), expected, "{length} bytes, cuts {cuts:?}");
    }
    fn check<H: Hash, D: Digest>(message: &[u8], cuts: &[usize]) {
        let expected = D::digest(message).to_vec();
        let length = message.len();
        assert_eq!(digest_in_pieces::<H>(message, cuts), expected, "{length} bytes, cuts {cuts:?}");
    }
    check::<ours2::Sha256, sha2::Sha256>(message, cuts);
    check::<ours2::Sha384, sha2::Sha384>(message, cuts);
    check::<ours2::Sha512, sha2::Sha512>(message, cuts);
    check::<ours3::Sha3_256, sha3::Sha3_256>(message, cuts);
    check::<ours3::Sha3_384, sha3::Sha3_384>(message, cuts);
    check::<ours3::Sha3_512, sha3::Sha3_512>(message, cuts);
    check_output::<ours3::Shake128, _>(shake::Shake128::default(), message, cuts);
    check_output::<ours3::Shake256, _>(shake::Shake256::default(), message, cuts);
    let root = cshake::CShake128::new_with_function_name(b"ParallelHash", b"");
    check_output::<Root128, _>(root, message, cuts);
    let root = cshake::CShake256::new_with_function_name(b"ParallelHash", b"");
    check_output::<Root256, _>(root, message, cuts);
    check_output::<Kt128, _>(k12::Kt128::default(), message, cuts);
}

/// Computes ParallelHash with the leaf and root hashes of this crate, as a caller that hashes blocks does.
fn parallelhash<Leaf: Hash, Root: Hash>(message: &[u8], block_size: usize) -> Vec<u8> {
    let mut root = Root::new();
    root.update(left_encode(block_size as u64).as_ref());
    for block in message.chunks(block_size) {
        let mut leaf = Leaf::new();
        leaf.update(block);
        root.update(leaf.finalize().as_ref());
    }
    root.update(right_encode(message.len().div_ceil(block_size) as u64).as_ref());
    root.update(right_encode(8 * Root::OUTPUT_LEN as u64).as_ref());
    root.finalize().as_ref().to_vec()
}

fn check_parallelhash(message: &[u8], block_size: usize) {
    let digest = |mut other: ParallelHash, len| {
        let mut digest = vec![0; len];
        other.update(message);
        other.finalize(&mut digest);
        digest
    };
    let what = format!("{} bytes in blocks of {block_size}", message.len());
    let ours = parallelhash::<ours3::Shake128, Root128>(message, block_size);
    assert_eq!(ours, digest(ParallelHash::v128(b"", block_size), 32), "{what}");
    let ours = parallelhash::<ours3::Shake256, Root256>(message, block_size);
    assert_eq!(ours, digest(ParallelHash::v256(b"", block_size), 64), "{what}");
}

#[test]
fn every_length_up_to_three_blocks_agrees() {
    let message: Vec<u8> = (0..3 * 168 + 2).map(|i| (i * 7 + 3) as u8).collect();
    for length in 0..=message.len() {
        check_all(&message[..length], &[]);
    }
}

#[test]
fn every_cut_of_two_blocks_agrees() {
    let message: Vec<u8> = (0..2 * 168 + 1).map(|i| (i * 5 + 1) as u8).collect();
    for cut in 0..=message.len() {
        check_all(&message, &[cut]);
    }
}

#[test]
fn lengths_around_the_chunks_of_kt128_agree() {
    let message: Vec<u8> = (0..5 * 8192 + 2).map(|i| (i * 7 + (i >> 9)) as u8).collect();
    for chunks in 1..=5 {
        for length in 8192 * chunks - 2..=8192 * chunks + 2 {
            for cuts in [&[][..], &[1], &[8191], &[8192], &[8193, 20_000]] {
                check_all(&message[..length], cuts);
            }
        }
    }
}

#[test]
fn kt128_counts_more_than_255_leaves() {
    let message: Vec<u8> = (0..258 * 8192).map(|i| (i ^ (i >> 13)) as u8).collect();
    for length in [255 * 8192, 256 * 8192 - 1, 256 * 8192, 257 * 8192 + 1] {
        check_all(&message[..length], &[]);
    }
}

#[test]
fn parallelhash_of_every_number_of_blocks_agrees() {
    let message: Vec<u8> = (0..300 * 168).map(|i| (i * 3 + (i >> 8)) as u8).collect();
    for block_size in [1, 8, 168, 255, 256, 1024, 65_536] {
        for blocks in [0usize, 1, 2, 3, 40] {
            let length = blocks * block_size;
            for length in [length, length + 1, (length + block_size).saturating_sub(1)] {
                check_parallelhash(&message[..length.min(message.len())], block_size);
            }
        }
    }
    check_parallelhash(&message, 168);
}

proptest! {
    #[test]
    fn random_messages_in_random_blocks_agree(
        message in prop::collection::vec(any::<u8>(), 0..3000),
        block_size in 1usize..1500,
    ) {
        check_parallelhash(&message, block_size);
    }

    #[test]
    fn random_messages_in_random_pieces_agree(
        message in prop::collection::vec(any::<u8>(), 0..2000),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        check_all(&message, &cuts);
    }

    #[test]
    fn a_clone_goes_its_own_way(
        start in prop::collection::vec(any::<u8>(), 0..300),
        left in prop::collection::vec(any::<u8>(), 0..300),
        right in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut first = ours2::Sha384::new();
        first.update(&start);
        let mut second = first.clone();
        first.update(&left);
        second.update(&right);
        let expected = sha2::Sha384::digest([start.clone(), left].concat());
        prop_assert_eq!(first.finalize().to_vec(), expected.to_vec());
        let expected = sha2::Sha384::digest([start, right].concat());
        prop_assert_eq!(second.finalize().to_vec(), expected.to_vec());
    }
}
