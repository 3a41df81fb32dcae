//! GHASH (SP 800-38D §6.4), in constant time, with integer multiplications.
//!
//! A block is a number of 128 bits whose highest bit is the coefficient of x^0.

use super::{BLOCK_SIZE, Block};
use crate::secret::wipe;

/// Returns the last block of a hash, for lengths in bytes.
pub(super) fn lengths(aad_len: usize, text_len: usize) -> Block {
    (u128::from(aad_len as u64) << 67 | u128::from(text_len as u64) << 3).to_be_bytes()
}

/// Adds the bytes, padded with zeros to whole blocks, to the hash under a hash key. This is the portable form.
pub(super) fn add(hash_key: &Block, hash: &mut Block, bytes: &[u8]) {
    let mut state = Ghash { powers: [[0; 6]; GROUP], state: halves(hash) };
    state.start(hash_key, bytes.len());
    state.update(bytes);
    *hash = joined(state.state).to_be_bytes();
}

/// Number of blocks that are multiplied by different powers of the hash key, and then reduced together.
const GROUP: usize = 4;

/// The hash of the blocks until now, and the first powers of the hash key. Both are overwritten when they are dropped.
struct Ghash {
    /// The two halves of a power, their sum, and each of the three with its bits reversed. Those of powers that the length
    /// does not need are 0.
    powers: [[u64; 6]; GROUP],
    state: [u64; 2],
}

fn halves(block: &Block) -> [u64; 2] {
    let block = u128::from_be_bytes(*block);
    [(block >> 64) as u64, block as u64]
}

fn joined([high, low]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// Returns the low half of the carry-less product. The operands are split so that the bits of a part are four places
/// apart: no sum of bits reaches the next one.
#[inline(never)]
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

/// A sum of products by the method of Karatsuba, before its parts are put together: of high halves, of low halves, and of
/// the sums of halves.
#[derive(Default)]
struct Sum {
    /// The low halves of the three products.
    low: [u64; 3],
    /// Their high halves without the lowest bit, which is above the highest one then, reversed.
    high: [u64; 3],
}

impl Sum {
    /// Adds the product of a block and a power of the hash key.
    fn add(&mut self, [high, low]: [u64; 2], [a, b, c, d, e, f]: &[u64; 6]) {
        // The high half of a product is the reversed low half of the product of the reversed operands.
        let [reversed_high, reversed_low] = [high.reverse_bits(), low.reverse_bits()];
        self.low[0] ^= product(high, *a);
        self.low[1] ^= product(low, *b);
        self.low[2] ^= product(high ^ low, *c);
        self.high[0] ^= product(reversed_high, *d);
        self.high[1] ^= product(reversed_low, *e);
        self.high[2] ^= product(reversed_high ^ reversed_low, *f);
    }

    /// Puts the parts together, and reduces.
    fn reduced(&self) -> [u64; 2] {
        let whole = |low: u64, high: u64| joined([high.reverse_bits() >> 1, low]);
        let upper = whole(self.low[0], self.high[0]);
        let lower = whole(self.low[1], self.high[1]);
        let middle = whole(self.low[2], self.high[2]) ^ upper ^ lower;
        // 255 bits, moved up by one: the highest bit is then the coefficient of x^0.
        let (upper, lower) = (upper ^ middle >> 64, lower ^ middle << 64);
        let (upper, lower) = (upper << 1 | lower >> 127, lower << 1);
        // x^128 = x^7 + x^2 + x + 1, first for what the second reduction would move below the lowest bit.
        let lower = lower ^ lower << 127 ^ lower << 126 ^ lower << 121;
        let sum = upper ^ lower ^ lower >> 1 ^ lower >> 2 ^ lower >> 7;
        [(sum >> 64) as u64, sum as u64]
    }
}

impl Ghash {
    /// Computes the powers of the hash key that a message of this length needs.
    fn start(&mut self, key: &Block, len: usize) {
        let key = halves(key);
        let mut power = key;
        let is_short = len < GROUP * BLOCK_SIZE;
        for parts in self.powers.iter_mut().take(if is_short { 1 } else { GROUP }) {
            let [high, low] = power;
            let three = [high, low, high ^ low];
            let [a, b, c] = three;
            let [d, e, f] = three.map(u64::reverse_bits);
            *parts = [a, b, c, d, e, f];
            let mut next = Sum::default();
            next.add(key, parts);
            power = next.reduced();
        }
    }

    /// Adds the bytes, padded with zeros to whole blocks.
    fn update(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK_SIZE>();
        let (groups, blocks) = blocks.as_chunks::<GROUP>();
        for group in groups {
            self.add(group);
        }
        for block in blocks {
            self.add(&[*block]);
        }
        if !rest.is_empty() {
            let mut block = [0; BLOCK_SIZE];
            for (to, from) in block.iter_mut().zip(rest) {
                *to = *from;
            }
            self.add(&[block]);
        }
    }

    /// Adds as many blocks as there are powers, or fewer.
    fn add<const COUNT: usize>(&mut self, blocks: &[Block; COUNT]) {
        let mut sum = Sum::default();
        let mut state = self.state;
        // The first block, to which the hash is added, has the highest power.
        for (block, power) in blocks.iter().zip(self.powers[..COUNT].iter().rev()) {
            let [high, low] = halves(block);
            sum.add([high ^ state[0], low ^ state[1]], power);
            state = [0; 2];
        }
        self.state = sum.reduced();
    }
}

impl Drop for Ghash {
    fn drop(&mut self) {
        wipe(self.powers.as_flattened_mut());
        wipe(&mut self.state);
    }
}
