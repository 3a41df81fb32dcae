//! Cipher block chaining (SP 800-38A §6.2), for known answers: no format of Hartlock uses it.

use super::{AesKey, BLOCK_SIZE, Block, Blocks, LANES, xor};
use crate::secret::wipe;

/// The data is no whole number of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialBlock;

/// Encrypts `data` in place.
///
/// # Errors
/// [`PartialBlock`]; nothing is changed then.
pub fn encrypt(key: &AesKey, iv: &[u8; BLOCK_SIZE], data: &mut [u8]) -> Result<(), PartialBlock> {
    let (blocks, rest) = data.as_chunks_mut::<BLOCK_SIZE>();
    if !rest.is_empty() {
        return Err(PartialBlock);
    }
    let mut before = *iv;
    for block in blocks {
        xor(block, &before);
        *block = key.encrypt_one(block);
        before = *block;
    }
    Ok(())
}

/// Decrypts `data` in place.
///
/// # Errors
/// [`PartialBlock`]; nothing is changed then.
pub fn decrypt(key: &AesKey, iv: &[u8; BLOCK_SIZE], data: &mut [u8]) -> Result<(), PartialBlock> {
    let (blocks, rest) = data.as_chunks_mut::<BLOCK_SIZE>();
    if !rest.is_empty() {
        return Err(PartialBlock);
    }
    let mut before: Block = *iv;
    let mut lanes = Blocks::ZERO;
    for group in blocks.chunks_mut(LANES) {
        for (lane, block) in lanes.0.iter_mut().zip(group.iter()) {
            *lane = *block;
        }
        key.decrypt(&mut lanes);
        for (block, lane) in group.iter_mut().zip(&lanes.0) {
            let cipher = *block;
            *block = *lane;
            xor(block, &before);
            before = cipher;
        }
    }
    wipe(lanes.0.as_flattened_mut());
    Ok(())
}
