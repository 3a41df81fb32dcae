//! Known-answer tests, which a kernel has to pass before it is used.

use crate::{Hash, Kernels};
#[cfg(target_arch = "riscv64")]
use crate::{HashMany, MAX_LANES};

/// Length of a message in bytes that fills blocks of every hash and ends in the middle of one.
const KNOWN_LEN: usize = 347;

/// A message that is another one for every lane.
fn known_message(lane: usize) -> [u8; KNOWN_LEN] {
    let mut message = [0; KNOWN_LEN];
    for (index, byte) in message.iter_mut().enumerate() {
        *byte = (index.wrapping_mul(31) ^ lane.wrapping_mul(89)) as u8;
    }
    message
}

/// Whether a kernel for one message gives known answers: the published one, and that of the portable
/// form for a message of several blocks.
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

/// As [`answers_one`] for a kernel for several messages, with all lanes in use and each with a message of its
/// own.
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
