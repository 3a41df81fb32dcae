//! Every hash against a second implementation, for all short lengths and for random messages cut
//! at random places.

use hartlock_kernels::Hash;
use hartlock_kernels::{sha2 as ours2, sha3 as ours3};
use proptest::prelude::*;
use sha2::Digest;

/// Feeds `message` in pieces that end at the given places.
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

/// Compares all six on one message.
fn check_all(message: &[u8], cuts: &[usize]) {
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
}

#[test]
fn every_length_up_to_three_blocks_agrees() {
    let message: Vec<u8> = (0..3 * 136 + 2).map(|i| (i * 7 + 3) as u8).collect();
    for length in 0..=message.len() {
        check_all(&message[..length], &[]);
    }
}

#[test]
fn every_cut_of_two_blocks_agrees() {
    let message: Vec<u8> = (0..2 * 136 + 1).map(|i| (i * 5 + 1) as u8).collect();
    for cut in 0..=message.len() {
        check_all(&message, &[cut]);
    }
}

proptest! {
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
