//! Counter mode (SP 800-38A §6.5).

use super::kernels::StreamFunction;
use super::{AesKey, BLOCK_SIZE, Block, Blocks, LANES, xor};
use crate::Kernels;
use crate::secret::wipe;

/// Encrypts or decrypts `data` in place. The last four bytes of the first counter block count as a big-endian number,
/// without a carry into the other twelve (SP 800-38D §6.2). A last block may be partial.
///
/// # Errors
/// [`CounterTooLong`] if the counter would come back to a value that it had; nothing is changed then.
pub fn apply(
    key: &AesKey,
    first: &[u8; BLOCK_SIZE],
    data: &mut [u8],
) -> Result<(), CounterTooLong> {
    let blocks = data.len().div_ceil(BLOCK_SIZE);
    if u64::try_from(blocks).is_ok_and(|blocks| blocks <= 1 << 32) {
        stream(key, first, data);
        Ok(())
    } else {
        Err(CounterTooLong)
    }
}

/// Does the same with a counter of 16 bytes, whose carry goes through the whole block (SP 800-38A appendix B.1 with m
/// = 128). Any data is short enough for it.
pub fn apply_wide(key: &AesKey, first: &[u8; BLOCK_SIZE], data: &mut [u8]) {
    wide(key.kernels.ctr.run, key, first, data);
}

/// Does the same with the kernel of the calling hart, for a key that several harts share.
pub fn apply_wide_with(kernels: &Kernels, key: &AesKey, first: &[u8; BLOCK_SIZE], data: &mut [u8]) {
    wide(kernels.aes.ctr.run, key, first, data);
}

fn wide(stream: StreamFunction, key: &AesKey, first: &[u8; BLOCK_SIZE], data: &mut [u8]) {
    let (mut counter, mut rest) = (u128::from_be_bytes(*first), data);
    while !rest.is_empty() {
        // Number of blocks before the last four bytes wrap.
        let blocks = (1 << 32) - (counter & 0xffff_ffff);
        let len = usize::try_from(blocks * BLOCK_SIZE as u128).unwrap_or(usize::MAX);
        let len = len.min(rest.len());
        let Some((now, later)) = core::mem::take(&mut rest).split_at_mut_checked(len) else {
            return;
        };
        stream(key, &counter.to_be_bytes(), now);
        counter = counter.wrapping_add(blocks);
        rest = later;
    }
}

/// The data has more than 2^32 blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterTooLong;

/// Returns the counter block that is `count` blocks after `first`.
pub(crate) fn after(first: &Block, count: u32) -> Block {
    let mut block = *first;
    if let Some(last) = block.last_chunk_mut() {
        *last = u32::from_be_bytes(*last).wrapping_add(count).to_be_bytes();
    }
    block
}

/// XORs the key stream that starts with the encrypted block `first`, with the kernel of the key.
pub(super) fn stream(key: &AesKey, first: &Block, data: &mut [u8]) {
    (key.kernels.ctr.run)(key, first, data);
}

/// The portable form of [`stream`].
pub(crate) fn portable_stream(key: &AesKey, first: &Block, data: &mut [u8]) {
    let mut blocks = Blocks::ZERO;
    let mut done = 0_u32;
    for part in data.chunks_mut(LANES * BLOCK_SIZE) {
        for block in &mut blocks.0 {
            *block = after(first, done);
            done = done.wrapping_add(1);
        }
        key.encrypt(&mut blocks);
        xor(part, blocks.0.as_flattened());
    }
    wipe(blocks.0.as_flattened_mut());
}
