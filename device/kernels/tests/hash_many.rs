//! These tests check that several messages hashed at once have the same digests as single messages, for every split
//! into head and body.

use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512};
use hartlock_kernels::{Hash, HashMany, Kernels};
use proptest::prelude::*;

fn alone<H: Hash>(head: &[u8], body: &[u8]) -> H::Output {
    let mut hash = H::new();
    hash.update(head);
    hash.update(body);
    hash.finalize()
}

fn check<H: HashMany>(messages: &[Vec<u8>], head_len: usize) {
    let (heads, bodies): (Vec<&[u8]>, Vec<&[u8]>) =
        messages.iter().map(|message| message.split_at(head_len)).unzip();
    let mut digests = Vec::new();
    H::digest_many(&Kernels::PORTABLE, &heads, &bodies, &mut |index, digest| {
        assert_eq!(index, digests.len());
        digests.push(digest);
    });
    assert_eq!(digests.len(), messages.len());
    for (digest, (head, body)) in digests.iter().zip(heads.iter().zip(&bodies)) {
        assert!(*digest == alone::<H>(head, body));
    }
}

fn check_all(messages: &[Vec<u8>], head_len: usize) {
    check::<Sha256>(messages, head_len);
    check::<Sha384>(messages, head_len);
    check::<Sha512>(messages, head_len);
    check::<Sha3_256>(messages, head_len);
    check::<Sha3_384>(messages, head_len);
    check::<Sha3_512>(messages, head_len);
}

proptest! {
    #[test]
    fn any_messages_of_equal_length(
        count in 0_usize..20,
        len in 0_usize..700,
        head_len in 0_usize..300,
        seed in any::<u8>(),
    ) {
        let message = |index: usize| {
            (0..len).map(|at| (at * 7 + index * 31) as u8 ^ seed).collect::<Vec<u8>>()
        };
        let messages: Vec<Vec<u8>> = (0..count).map(message).collect();
        check_all(&messages, head_len.min(len));
    }
}

#[test]
fn ends_of_blocks() {
    for block in [64, 72, 104, 128, 136] {
        for len in [block - 17, block - 9, block - 1, block, block + 1, 2 * block, 3 * block - 1] {
            for head_len in [0, 1, 16, block, len] {
                let message = |index: u8| (0..len).map(|at| at as u8 ^ index).collect();
                let messages: Vec<Vec<u8>> = (0..3).map(message).collect();
                check_all(&messages, head_len.min(len));
            }
        }
    }
}

#[test]
fn bodies_that_differ_in_length_do_not_panic() {
    let bodies: [&[u8]; 3] = [&[1; 300], &[2; 10], &[]];
    let mut count = 0;
    Sha256::digest_many(&Kernels::PORTABLE, &[&[], &[], &[]], &bodies, &mut |_, _| count += 1);
    assert_eq!(count, 3);
}
