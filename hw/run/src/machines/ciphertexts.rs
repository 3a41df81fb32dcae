//! AES-256 in software: what engines encrypt is judged by it.

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};

/// Bytes of a block.
pub const BLOCK_LEN: usize = 16;

/// One block (FIPS 197).
pub fn encrypt(key: &[u8; 32], block: [u8; BLOCK_LEN]) -> [u8; BLOCK_LEN] {
    let mut block = block.into();
    Aes256::new(key.into()).encrypt_block(&mut block);
    block.into()
}

/// CBC (SP 800-38A §6.2), of whole blocks.
pub fn cbc(key: &[u8; 32], mut iv: [u8; BLOCK_LEN], text: &[u8]) -> Vec<u8> {
    let blocks = text.as_chunks::<BLOCK_LEN>().0.iter();
    let chained = blocks.flat_map(|block| {
        iv = encrypt(key, std::array::from_fn(|at| block[at] ^ iv[at]));
        iv
    });
    chained.collect()
}

/// CTR (SP 800-38A §6.5).
pub fn ctr(key: &[u8; 32], counter: [u8; BLOCK_LEN], text: &[u8]) -> Vec<u8> {
    let first = u128::from_be_bytes(counter);
    let blocks = (0..).zip(text.chunks(BLOCK_LEN));
    blocks
        .flat_map(|(at, block)| {
            let stream = encrypt(key, first.wrapping_add(at).to_be_bytes());
            block.iter().zip(stream).map(|(byte, mask)| byte ^ mask).collect::<Vec<_>>()
        })
        .collect()
}

/// GCM (SP 800-38D §7.1): the ciphertext, and its tag after it. `more` is authenticated alone.
pub fn seal(key: &[u8; 32], iv: &[u8; 12], more: &[u8], text: &[u8]) -> Vec<u8> {
    let counter = |number: u8| -> [u8; BLOCK_LEN] {
        let mut block = [0; BLOCK_LEN];
        block[..12].copy_from_slice(iv);
        block[15] = number;
        block
    };
    // The counter does not pass 32 bits here.
    let mut sealed = ctr(key, counter(2), text);
    let hash_key = u128::from_be_bytes(encrypt(key, [0; BLOCK_LEN]));
    let lengths = [more.len(), text.len()].map(|len| 8 * len as u64);
    let last = u128::from(lengths[0]) << 64 | u128::from(lengths[1]);
    let blocks = more.chunks(BLOCK_LEN).chain(sealed.chunks(BLOCK_LEN)).map(|part| {
        let mut block = [0; BLOCK_LEN];
        block[..part.len()].copy_from_slice(part);
        u128::from_be_bytes(block)
    });
    let hash = blocks.chain([last]).fold(0, |hash, block| multiply(hash ^ block, hash_key));
    let tag = hash ^ u128::from_be_bytes(encrypt(key, counter(1)));
    sealed.extend(tag.to_be_bytes());
    sealed
}

/// In the field of GHASH, whose first bit is the highest (SP 800-38D §6.3).
fn multiply(x: u128, y: u128) -> u128 {
    let (mut product, mut shifted) = (0, y);
    for bit in (0..128).rev() {
        if x >> bit & 1 == 1 {
            product ^= shifted;
        }
        shifted = shifted >> 1 ^ if shifted & 1 == 1 { 0xe1 << 120 } else { 0 };
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_of_ghash_is_that_of_the_standard() {
        // A product of test case 2 in the specification of GCM by McGrew and Viega.
        let key = 0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e;
        let text = 0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78;
        assert_eq!(multiply(text, key), 0x5e2e_c746_9170_6288_2c85_b068_5353_deb7);
    }
}
