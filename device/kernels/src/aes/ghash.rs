//! GHASH (SP 800-38D §6.4), in constant time, with integer multiplications.
//!
//! A block is a number of 128 bits whose highest bit is the coefficient of x^0.

use super::Block;
use crate::secret::wipe;

/// Returns the last block of a hash, for lengths in bytes.
pub(super) fn lengths(aad_len: usize, text_len: usize) -> Block {
    (u128::from(aad_len as u64) << 67 | u128::from(text_len as u64) << 3).to_be_bytes()
}

/// Adds the bytes, padded with zeros to whole blocks, to the hash under a hash key. This is the portable form.
pub(super) fn add(hash_key: &Block, hash: &mut Block, bytes: &[u8]) {
    let mut state = Ghash::new(hash_key, hash);
    state.update(bytes);
    *hash = state.value();
}

/// The hash of the blocks until now, and the hash key. Both are overwritten when they are dropped.
struct Ghash {
    /// The two halves of the key, their sum, and each of the three with its bits reversed.
    key: [u64; 6],
    state: [u64; 2],
}

/// Returns the low half of the carry-less product. The operands are split so that the bits of a part are four places
/// apart: no sum of bits reaches the next one.
fn product(a: u64, b: u64) -> u64 {
    const MASK: u64 = 0x1111_1111_1111_1111;
    let a = [a & MASK, a & MASK << 1, a & MASK << 2, a & MASK << 3];
    let b = [b & MASK, b & MASK << 1, b & MASK << 2, b & MASK << 3];
    let term = |i: u64, j: u64| i.wrapping_mul(j);
    (term(a[0], b[0]) ^ term(a[1], b[3]) ^ term(a[2], b[2]) ^ term(a[3], b[1])) & MASK
        | (term(a[0], b[1]) ^ term(a[1], b[0]) ^ term(a[2], b[3]) ^ term(a[3], b[2])) & MASK << 1
        | (term(a[0], b[2]) ^ term(a[1], b[1]) ^ term(a[2], b[0]) ^ term(a[3], b[3])) & MASK << 2
        | (term(a[0], b[3]) ^ term(a[1], b[2]) ^ term(a[2], b[1]) ^ term(a[3], b[0])) & MASK << 3
}

impl Ghash {
    /// Continues a hash with the hash key H.
    fn new(key: &Block, hash: &Block) -> Self {
        let halves = |block: &Block| {
            let block = u128::from_be_bytes(*block);
            [(block >> 64) as u64, block as u64]
        };
        let [high, low] = halves(key);
        let parts = [high, low, high ^ low];
        let [a, b, c] = parts;
        let [d, e, f] = parts.map(u64::reverse_bits);
        Self { key: [a, b, c, d, e, f], state: halves(hash) }
    }

    /// Adds the bytes, padded with zeros to whole blocks.
    fn update(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<16>();
        for block in blocks {
            self.add(block);
        }
        if !rest.is_empty() {
            let mut block = [0; 16];
            for (to, from) in block.iter_mut().zip(rest) {
                *to = *from;
            }
            self.add(&block);
        }
    }

    fn value(&self) -> [u8; 16] {
        let [high, low] = self.state;
        (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
    }

    /// Multiplies the sum of state and block by the key, by the method of Karatsuba.
    fn add(&mut self, block: &[u8; 16]) {
        let block = u128::from_be_bytes(*block);
        let high = self.state[0] ^ (block >> 64) as u64;
        let low = self.state[1] ^ block as u64;
        let [a, b, c, d, e, f] = self.key;
        // The high half of a product is the reversed low half of the product of the reversed operands, without its
        // lowest bit.
        let whole = |x: u64, key: u64, reversed_key: u64| {
            let upper = product(x.reverse_bits(), reversed_key).reverse_bits() >> 1;
            u128::from(upper) << 64 | u128::from(product(x, key))
        };
        let upper = whole(high, a, d);
        let lower = whole(low, b, e);
        let middle = whole(high ^ low, c, f) ^ upper ^ lower;
        // 255 bits, moved up by one: the highest bit is then the coefficient of x^0.
        let (upper, lower) = (upper ^ middle >> 64, lower ^ middle << 64);
        let (upper, lower) = (upper << 1 | lower >> 127, lower << 1);
        // x^128 = x^7 + x^2 + x + 1, first for what the second reduction would move below the lowest bit.
        let lower = lower ^ lower << 127 ^ lower << 126 ^ lower << 121;
        let sum = upper ^ lower ^ lower >> 1 ^ lower >> 2 ^ lower >> 7;
        self.state = [(sum >> 64) as u64, sum as u64];
    }
}

impl Drop for Ghash {
    fn drop(&mut self) {
        wipe(&mut self.key);
        wipe(&mut self.state);
    }
}
