//! What `hartlock-bench` does without a board: statistics of samples, JSON, and the answers of `openssl speed`.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod json;
pub mod openssl;
pub mod statistics;

/// Version of the form of the file (docs/src/boards.md).
pub const SCHEMA: u64 = 1;
