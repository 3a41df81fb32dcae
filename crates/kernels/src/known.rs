//! Known-answer tests, which a kernel has to pass before it is used.

use crate::{Hash, Kernels};

/// Length of a message in bytes that fills blocks of every hash and ends in the middle of one.
pub(crate) const KNOWN_LEN: usize = 347;

/// A message that is another one for every lane.
pub(crate) fn known_message(lane: usize) -> [u8; KNOWN_LEN] {
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
