//! Kernels for several messages, for tests on machines that have no such kernels.

use crate::Kernels;
use crate::dispatch::{Compress, MAX_LANES, Many, Tier};

/// Checks the guarantees of a kernel call: aligned messages of whole blocks and equal length.
fn check(states: usize, messages: &[&[u8]], block_len: usize) {
    assert!((1..=MAX_LANES).contains(&states));
    assert_eq!(states, messages.len());
    for message in messages {
        assert!(message.as_ptr().addr().is_multiple_of(8));
        assert_eq!(message.len(), messages[0].len());
        assert!(!message.is_empty() && message.len().is_multiple_of(block_len));
    }
}

/// Returns kernels that apply the portable implementation to up to `lanes` messages at a time.
pub(crate) fn kernels(lanes: usize) -> Kernels {
    let mut kernels = Kernels::PORTABLE;
    let tier = Tier::Portable;
    kernels.sha256.many = Some(Many {
        tier,
        lanes,
        run: |states, messages| {
            check(states.len(), messages, 64);
            for (state, message) in states.iter_mut().zip(messages) {
                Kernels::PORTABLE.sha256.one.run.add(state, message.as_chunks().0);
            }
        },
    });
    kernels.sha512.many = Some(Many {
        tier,
        lanes,
        run: |states, messages| {
            check(states.len(), messages, 128);
            for (state, message) in states.iter_mut().zip(messages) {
                Kernels::PORTABLE.sha512.one.run.add(state, message.as_chunks().0);
            }
        },
    });
    kernels.keccak.many = Some(Many {
        tier,
        lanes,
        run: |states, messages, rate_words, rounds| {
            check(states.len(), messages, rate_words * 8);
            for (state, message) in states.iter_mut().zip(messages) {
                (Kernels::PORTABLE.keccak.one.run)(state, message, rate_words, rounds);
            }
        },
    });
    kernels
}

/// Returns kernels that compute wrong digests.
pub(crate) fn broken() -> Kernels {
    let mut kernels = Kernels::PORTABLE;
    kernels.sha256.one.run = Compress::Software(|state, _| state[0] ^= 1);
    kernels
}

/// Returns a generator of reproducible pseudorandom words (xorshift64 of Marsaglia).
pub(crate) fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}
