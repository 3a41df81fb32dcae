//! Known-answer tests that a kernel must pass before it is used.

use crate::{Hash, Kernels};
#[cfg(target_arch = "riscv64")]
use crate::{HashMany, MAX_LANES};

/// Length of a test message in bytes. For every hash it has whole blocks and ends within a block.
const KNOWN_LEN: usize = 347;

/// Returns a test message that is different for every lane.
fn known_message(lane: usize) -> [u8; KNOWN_LEN] {
    let mut message = [0; KNOWN_LEN];
    for (index, byte) in message.iter_mut().enumerate() {
        *byte = (index.wrapping_mul(31) ^ lane.wrapping_mul(89)) as u8;
    }
    message
}

/// Returns true if a kernel for one message computes the published digest of `abc`, and the digest of the portable
/// implementation for a message of several blocks.
pub(crate) fn answers_one<H: Hash>(kernels: &Kernels, published: &H::Output) -> bool {
    let message = known_message(0);
    let digest = |kernels: &Kernels, message: &[u8]| {
        let mut hash = H::with(kernels);
        hash.update(core::hint::black_box(message));
        hash.finalize()
    };
    digest(kernels, b"abc") == *published
        && digest(kernels, &message) == digest(&Kernels::PORTABLE, &message)
}

/// Returns true if a kernel squeezes the blocks that it computes when it absorbs nothing.
#[cfg(all(target_arch = "riscv64", feature = "ml-dsa"))]
pub(crate) fn answers_squeeze(kernels: &Kernels) -> bool {
    use crate::keccak::{FULL_ROUNDS, RATE_128};
    let Some(squeeze) = kernels.keccak_squeeze else { return false };
    let mut state = core::hint::black_box([1; 25]);
    let mut expected = state;
    let mut blocks = [[0; RATE_128]; 2];
    squeeze(&mut state, &mut blocks);
    let mut permute = || {
        (Kernels::PORTABLE.keccak.one.run)(&mut expected, &[0; 8], 1, FULL_ROUNDS);
        expected
    };
    blocks.iter().all(|block| permute().starts_with(block)) && permute() == state
}

/// Returns true if a kernel for several messages computes the digests of the portable implementation. All lanes are
/// in use, each with a different message.
#[cfg(target_arch = "riscv64")]
pub(crate) fn answers_many<H: HashMany>(kernels: &Kernels) -> bool {
    let lanes = H::lanes(kernels).clamp(1, MAX_LANES);
    let mut messages = [[0; KNOWN_LEN]; MAX_LANES];
    for (lane, message) in messages.iter_mut().enumerate() {
        *message = known_message(lane);
    }
    let mut heads: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
    let mut bodies: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
    for ((head, body), message) in heads.iter_mut().zip(&mut bodies).zip(&messages) {
        (*head, *body) = message.split_at_checked(16).unwrap_or_default();
    }
    let mut digests: [Option<H::Output>; MAX_LANES] = [None; MAX_LANES];
    let (Some(heads), Some(bodies), Some(digests)) =
        (heads.get(..lanes), bodies.get(..lanes), digests.get_mut(..lanes))
    else {
        return false;
    };
    H::digest_many(kernels, heads, bodies, &mut |lane, digest| {
        if let Some(place) = digests.get_mut(lane) {
            *place = Some(digest);
        }
    });
    digests.iter().zip(&messages).all(|(digest, message)| {
        let mut judge = <H as Hash>::with(&Kernels::PORTABLE);
        judge.update(message);
        *digest == Some(judge.finalize())
    })
}
