//! Hash chains of one-time signatures (RFC 8391 §3.1, RFC 8554 §4), several at a time in lanes.
//!
//! The chains of a signature are independent of each other, but their lengths depend on the message. [`walk`]
//! processes one chain in each lane. When a chain ends, the longest remaining chain takes its lane. A hart without
//! lanes processes one chain after the other.
//!
//! An algorithm loads the values of its signature into a [`Room`](crate::short::Room), splits the message digest into
//! [`Digits`], and passes two functions to [`walk`]: one returns the first [`Job`] of a chain, the other computes a
//! step of several jobs. The algorithm defines the tweak and which of its bits count the steps.

use crate::short::{Job, LANES, VALUE_WORDS, Words, to_bytes};

/// Maximum number of chains that are processed together. A hash value has at least three words.
const MAX_CHAINS: usize = VALUE_WORDS / 3;

/// A message digest and its checksum, split into digits of `w` bits (RFC 8391 §3.1.5, RFC 8554 §4.4).
pub(crate) struct Digits {
    bytes: [u8; 66],
    w: usize,
}

impl Digits {
    /// Splits the first `n` bytes of `digest`, and the checksum, into `count` digits. `w` is 1, 2, 4 or 8, and `n` is
    /// at most 64.
    pub(crate) fn of(digest: &Words, n: usize, w: usize, count: usize) -> Self {
        let mut digits = Self { bytes: [0; 66], w };
        for (to, from) in digits.bytes.iter_mut().zip(to_bytes(digest)).take(n) {
            *to = from;
        }
        // Both standards define the checksum as the sum of (maximum digit - digit), left-aligned in two bytes. The
        // sum fits: 128 · 15 is below 2^12, and 32 · 255 is below 2^16.
        let of_digest = n.wrapping_mul(8).checked_div(w).unwrap_or(0);
        let mut checksum = 0_usize;
        for index in 0..of_digest {
            checksum = checksum.wrapping_add(digits.left(index).into());
        }
        let used_bits = count.wrapping_sub(of_digest).wrapping_mul(w);
        let checksum = checksum.wrapping_shl(16_usize.wrapping_sub(used_bits) as u32) as u16;
        for (to, from) in digits.bytes.iter_mut().skip(n).zip(checksum.to_be_bytes()) {
            *to = from;
        }
        digits
    }

    /// Returns digit `index`. This is coef of RFC 8554 §3.1.3 and base_w of RFC 8391 §2.6.
    pub(crate) fn get(&self, index: usize) -> u8 {
        let bit = index.wrapping_mul(self.w);
        let byte = self.bytes.get(bit >> 3).copied().unwrap_or(0);
        let shift = 8_usize.wrapping_sub(self.w).wrapping_sub(bit & 7);
        byte.wrapping_shr(shift as u32) & self.max()
    }

    /// Returns the number of steps from digit `index` to the end of its chain.
    pub(crate) fn left(&self, index: usize) -> u8 {
        self.max().wrapping_sub(self.get(index))
    }

    fn max(&self) -> u8 {
        0xff_u8.wrapping_shr(8_usize.wrapping_sub(self.w) as u32)
    }
}

/// Processes `count` chains to their ends, up to `lanes` at a time.
///
/// `left` returns the number of steps of a chain, and `first` returns its first step. After each step, `next` is
/// added to the second word of the tweak. `step` computes one step of every job in its argument.
pub(crate) fn walk(
    lanes: usize,
    count: usize,
    left: &dyn Fn(usize) -> u8,
    first: &dyn Fn(usize) -> Job,
    next: u64,
    step: &mut dyn FnMut(&[Job]),
) {
    let lanes = lanes.min(LANES);
    let mut waiting = [0; MAX_CHAINS];
    for (chain, steps) in waiting.iter_mut().enumerate().take(count) {
        *steps = left(chain);
    }
    let mut jobs = [Job::NONE; LANES];
    let mut steps_left = [0; LANES];
    let mut active = 0_usize;
    let mut begun = 0_usize;
    loop {
        for (job, steps) in jobs.iter_mut().zip(&mut steps_left).take(lanes).skip(active) {
            let Some(chain) = longest(&waiting, begun, lanes == 1) else { break };
            begun = if lanes == 1 { chain } else { 0 };
            if let Some(waiting) = waiting.get_mut(chain) {
                *steps = core::mem::take(waiting);
            }
            *job = first(chain);
            active = active.wrapping_add(1);
        }
        if active == 0 {
            return;
        }
        step(jobs.get(..active).unwrap_or_default());
        // The last active lane moves to the lane of a chain that has ended, so that active lanes stay contiguous.
        let mut lane = 0_usize;
        while lane < active {
            let (Some(job), Some(steps)) = (jobs.get_mut(lane), steps_left.get_mut(lane)) else {
                return;
            };
            let [_, word] = &mut job.tweak;
            *word = word.wrapping_add(next);
            *steps = steps.wrapping_sub(1);
            if *steps != 0 {
                lane = lane.wrapping_add(1);
                continue;
            }
            active = active.wrapping_sub(1);
            if let (Some(job), Some(steps)) =
                (jobs.get(active).copied(), steps_left.get(active).copied())
                && let (Some(to), Some(to_steps)) = (jobs.get_mut(lane), steps_left.get_mut(lane))
            {
                (*to, *to_steps) = (job, steps);
            }
        }
    }
}

/// Returns the chain with the most steps. With `is_any` it returns the first chain that has steps. The first `begun`
/// chains are skipped.
fn longest(waiting: &[u8; MAX_CHAINS], begun: usize, is_any: bool) -> Option<usize> {
    let (mut chain, mut most) = (None, 0);
    for (index, steps) in waiting.iter().enumerate().skip(begun) {
        if *steps > most {
            (chain, most) = (Some(index), *steps);
            if is_any {
                break;
            }
        }
    }
    chain
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn digits_and_checksum_are_those_of_a_plain_computation() {
        for (n, w, count) in [
            (32, 1, 265),
            (32, 2, 133),
            (32, 4, 67),
            (32, 8, 34),
            (24, 1, 200),
            (24, 2, 101),
            (24, 4, 51),
            (24, 8, 26),
            (64, 4, 131),
        ] {
            for fill in [0, u64::MAX, 0x0123_4567_89ab_cdef] {
                let digest = [fill; 8];
                let digits = Digits::of(&digest, n, w, count);
                let bits: Vec<u8> = to_bytes(&digest)[..n]
                    .iter()
                    .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
                    .collect();
                let value =
                    |bits: &[u8]| bits.iter().fold(0_u32, |all, bit| all << 1 | u32::from(*bit));
                let mut sum = 0;
                for (index, bits) in bits.chunks(w).enumerate() {
                    assert_eq!(u32::from(digits.get(index)), value(bits));
                    sum += (1 << w) - 1 - value(bits);
                }
                let of_digest = n * 8 / w;
                let checksum = (of_digest..count)
                    .fold(0_u32, |all, index| all << w | u32::from(digits.get(index)));
                assert_eq!(checksum, sum, "n {n} w {w}");
                for index in 0..count {
                    let max = (1_u32 << w) - 1;
                    assert_eq!(u32::from(digits.left(index) + digits.get(index)), max);
                }
            }
        }
    }

    #[test]
    fn every_chain_takes_its_steps_in_order_whatever_the_lanes() {
        for lanes in 1..=LANES {
            for count in [0, 1, 2, 9, 67, MAX_CHAINS] {
                let steps = |chain: usize| (chain * 37 % 16) as u8;
                let mut taken = std::vec![0; count];
                let first =
                    |chain: usize| Job { tweak: [chain as u64, 100], from: chain, to: chain };
                walk(lanes, count, &steps, &first, 3, &mut |jobs| {
                    assert!((1..=lanes).contains(&jobs.len()));
                    for job in jobs {
                        let done = &mut taken[job.from];
                        assert_eq!(job.tweak, [job.from as u64, 100 + 3 * *done]);
                        *done += 1;
                    }
                });
                for (chain, done) in taken.into_iter().enumerate() {
                    assert_eq!(done, u64::from(steps(chain)), "chain {chain} of {count}");
                }
            }
        }
    }

    #[test]
    fn lanes_stay_full_until_few_chains_are_left() {
        let mut idle = 0;
        let steps = |chain: usize| (chain * 37 % 16) as u8;
        let total: usize = (0..67).map(|chain| usize::from(steps(chain))).sum();
        walk(8, 67, &steps, &|_| Job::NONE, 0, &mut |jobs| idle += 8 - jobs.len());
        assert!(idle * 20 < total, "{idle} of {total}");
    }
}
