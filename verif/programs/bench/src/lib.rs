//! Jobs for a hart without other software. They check the project's claims about a core on that
//! core.
//!
//! A *pack* is a file that is placed in memory next to the program. It contains a job's number and
//! input. This library reads packs and does the jobs' work without any hardware, so that a
//! workstation runs exactly the same code. The binary adds entry, console and the end of the
//! machine.
//!
//! A new job needs a module in this library that does the work, a module in `jobs` that prints, and
//! a number in [`pack`].

#![no_std]
#![forbid(unsafe_code)]

pub mod ciphers;
pub mod first_stage;
pub mod kernels;
pub mod pack;
pub mod vectors;
pub mod walnut;

/// Fills bytes from a seed, the same on every machine (SplitMix64).
pub fn fill(bytes: &mut [u8], seed: u64) {
    let mut state = seed;
    for bytes in bytes.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        for (to, from) in bytes.iter_mut().zip(word.to_le_bytes()) {
            *to = from;
        }
    }
}
