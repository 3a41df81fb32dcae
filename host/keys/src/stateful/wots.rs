//! The keyed hashes and one-time signatures of XMSS (RFC 8391 §3, §5, SP 800-208 §5), with w = 16 as in
//! every approved set. Names are those of RFC 8391.

use sha2::block_api::compress256;
use sha2::{Digest, Sha256};
use shake::{ExtendableOutput, Shake256, Update, XofReader};
use zeroize::{Zeroize, Zeroizing};

use super::tree::Node;

/// The purpose of a keyed hash, which is the number before its key (RFC 8391 §5.1, SP 800-208 §6.2).
#[derive(Clone, Copy)]
enum Use {
    F = 0,
    H = 1,
    Message = 2,
    Prf = 3,
    KeyGeneration = 4,
}

/// Maximum length in bytes of a keyed hash's input: number and key of 32 bytes each, and two nodes.
const MAX_INPUT: usize = 128;
/// Number of steps of a chain: w - 1.
const STEPS: u32 = 15;
/// Number of digits of the checksum (RFC 8391 §3.1.1), the same for n = 24 and n = 32.
const LEN_2: usize = 3;

/// The initial hash value of SHA-256 (FIPS 180-4 §5.3.3).
const SHA256_START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// A hash address (RFC 8391 §2.5).
#[derive(Clone, Copy)]
pub(super) struct Adrs([u32; 8]);

impl Adrs {
    pub(super) const fn of_tree(layer: u8, tree: u64) -> Self {
        Self([layer as u32, (tree >> 32) as u32, tree as u32, 0, 0, 0, 0, 0])
    }

    const fn set(&mut self, rest: [u32; 5]) {
        let [kind, first, second, third, key_and_mask] = rest;
        let [layer, high, low, ..] = self.0;
        self.0 = [layer, high, low, kind, first, second, third, key_and_mask];
    }

    /// Sets the address of a step of a one-time key's chain.
    const fn ots(&mut self, leaf: u32, chain: u32, step: u32) {
        self.set([0, leaf, chain, step, 0]);
    }

    const fn l_tree(&mut self, leaf: u32, height: u32, index: u32) {
        self.set([1, leaf, height, index, 0]);
    }

    pub(super) const fn hash_tree(&mut self, height: u8, index: u32) {
        self.set([2, 0, height as u32, index, 0]);
    }

    const fn key_and_mask(mut self, number: u32) -> Self {
        self.0[7] = number;
        self
    }

    fn bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(self.0) {
            *bytes = word.to_be_bytes();
        }
        bytes
    }
}

/// The keyed hashes of one key. Their input may be secret, so the buffer is wiped on drop.
#[derive(Clone)]
pub(super) struct Hashes<'a> {
    is_shake: bool,
    n: usize,
    /// The secret seed S of the one-time keys.
    secret_seed: &'a [u8],
    /// The public seed SEED.
    seed: &'a [u8],
    /// The SHA-256 state after the block with the number of PRF and SEED, if these fill a block.
    prf_start: Option<[u32; 8]>,
    buffer: [[u8; 64]; 3],
}

impl Drop for Hashes<'_> {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

impl<'a> Hashes<'a> {
    pub(super) fn new(is_shake: bool, secret_seed: &'a [u8], seed: &'a [u8]) -> Self {
        let n = seed.len();
        let prf_start = (!is_shake && n == 32).then(|| {
            let mut block = [0; 64];
            block[31] = Use::Prf as u8;
            block[32..].copy_from_slice(seed);
            let mut state = SHA256_START;
            compress256(&mut state, &[block]);
            state
        });
        Self { is_shake, n, secret_seed, seed, prf_start, buffer: [[0; 64]; 3] }
    }

    /// Returns the number of chains of a one-time key.
    const fn len(&self) -> usize {
        2 * self.n + LEN_2
    }

    /// Returns the number of a purpose in the length of a node, or in 4 bytes for short nodes (SP 800-208
    /// §5.2, §5.4), and that length.
    fn prefix(&self, number: Use) -> ([u8; 32], usize) {
        let size = if self.n == 32 { 32 } else { 4 };
        let mut prefix = [0; 32];
        prefix[size - 1] = number as u8;
        (prefix, size)
    }

    /// Computes a keyed hash of a short message.
    fn keyed(&mut self, number: Use, key: &[u8], parts: &[&[u8]]) -> Node {
        let (prefix, prefix_size) = self.prefix(number);
        let input = self.buffer.as_flattened_mut();
        let mut len = 0;
        for part in [&prefix[..prefix_size], key].iter().chain(parts) {
            input[len..len + part.len()].copy_from_slice(part);
            len += part.len();
        }
        debug_assert!(len <= MAX_INPUT);
        let mut node = Node::default();
        if self.is_shake {
            let mut hash = Shake256::default();
            hash.update(&input[..len]);
            hash.finalize_xof().read(&mut node[..self.n]);
            return node;
        }
        // The padding of FIPS 180-4 §5.1.1.
        let end = (len + 9).next_multiple_of(64);
        input[len..end].fill(0);
        input[len] = 0x80;
        input[end - 8..end].copy_from_slice(&(8 * len as u64).to_be_bytes());
        let mut state = SHA256_START;
        compress256(&mut state, &self.buffer[..end / 64]);
        write(&state, &mut node[..self.n]);
        node
    }

    /// Computes PRF with SEED as the key.
    fn prf(&mut self, adrs: Adrs) -> Node {
        let Some(mut state) = self.prf_start else {
            return self.keyed(Use::Prf, self.seed, &[&adrs.bytes()]);
        };
        let mut block = [0; 64];
        block[..32].copy_from_slice(&adrs.bytes());
        block[32] = 0x80;
        block[62..].copy_from_slice(&(8 * 96_u16).to_be_bytes());
        compress256(&mut state, &[block]);
        let mut node = Node::default();
        write(&state, &mut node);
        node
    }

    /// Computes RAND_HASH (RFC 8391 §4.1.4).
    pub(super) fn rand_hash(&mut self, left: &Node, right: &Node, adrs: &mut Adrs) -> Node {
        let n = self.n;
        let key = self.prf(adrs.key_and_mask(0));
        let left = xor(left, &self.prf(adrs.key_and_mask(1)));
        let right = xor(right, &self.prf(adrs.key_and_mask(2)));
        self.keyed(Use::H, &key[..n], &[&left[..n], &right[..n]])
    }

    /// Computes the beginning of a chain (SP 800-208 §6.2).
    fn secret(&mut self, mut adrs: Adrs, leaf: u32, chain: u32) -> Node {
        adrs.ots(leaf, chain, 0);
        let (secret_seed, seed) = (self.secret_seed, self.seed);
        self.keyed(Use::KeyGeneration, secret_seed, &[seed, &adrs.bytes()])
    }

    /// Performs the first `steps` steps of a chain (RFC 8391 §3.1.2).
    fn chain(&mut self, mut adrs: Adrs, leaf: u32, chain: u32, steps: u32) -> Node {
        let n = self.n;
        let mut node = Zeroizing::new(self.secret(adrs, leaf, chain));
        for step in 0..steps {
            adrs.ots(leaf, chain, step);
            let key = self.prf(adrs.key_and_mask(0));
            let masked = Zeroizing::new(xor(&node, &self.prf(adrs.key_and_mask(1))));
            *node = self.keyed(Use::F, &key[..n], &[&masked[..n]]);
        }
        *node
    }

    /// Computes the ends of all chains (RFC 8391 §3.1.4).
    pub(super) fn public_key(&mut self, adrs: &Adrs, leaf: u32) -> Vec<Node> {
        (0..self.len() as u32).map(|chain| self.chain(*adrs, leaf, chain, STEPS)).collect()
    }

    /// Computes an L-tree (RFC 8391 §4.1.5, algorithm 8).
    pub(super) fn l_tree(&mut self, adrs: &Adrs, leaf: u32, ends: &[Node]) -> Node {
        let mut adrs = *adrs;
        let mut nodes = ends.to_vec();
        let mut height = 0;
        while nodes.len() > 1 {
            let mut parents = Vec::with_capacity(nodes.len().div_ceil(2));
            let (pairs, odd) = nodes.as_chunks();
            for ([left, right], index) in pairs.iter().zip(0..) {
                adrs.l_tree(leaf, height, index);
                parents.push(self.rand_hash(left, right, &mut adrs));
            }
            parents.extend(odd);
            nodes = parents;
            height += 1;
        }
        nodes[0]
    }

    /// Signs a digest with the one-time key of a leaf (RFC 8391 §3.1.5). No caller may sign two different
    /// digests with the same leaf.
    pub(super) fn sign(&mut self, adrs: &Adrs, leaf: u32, digest: &[u8], signature: &mut Vec<u8>) {
        for (steps, chain) in digits(digest).into_iter().zip(0..) {
            let node = self.chain(*adrs, leaf, chain, steps);
            signature.extend(&node[..self.n]);
        }
    }

    /// Computes r (RFC 8391 §4.1.9). It is derived from the index, so that the same signature can be made
    /// again.
    pub(super) fn randomizer(&mut self, key: &[u8], index: u64) -> Node {
        let mut number = [0; 32];
        number[24..].copy_from_slice(&index.to_be_bytes());
        self.keyed(Use::Prf, key, &[&number])
    }

    /// Computes H_msg (RFC 8391 §4.1.9).
    pub(super) fn message(&self, r: &Node, root: &[u8], index: u64, message: &[u8]) -> Node {
        let n = self.n;
        let (prefix, prefix_size) = self.prefix(Use::Message);
        let mut number = [0; 32];
        number[n - 8..n].copy_from_slice(&index.to_be_bytes());
        let parts = [&prefix[..prefix_size], &r[..n], root, &number[..n], message];
        let mut node = Node::default();
        if self.is_shake {
            let mut hash = Shake256::default();
            parts.iter().for_each(|part| hash.update(part));
            hash.finalize_xof().read(&mut node[..n]);
        } else {
            let mut hash = Sha256::new();
            parts.iter().for_each(|part| Digest::update(&mut hash, part));
            node[..n].copy_from_slice(&hash.finalize()[..n]);
        }
        node
    }
}

/// Returns the digits of a digest and of its checksum (RFC 8391 §3.1.5).
fn digits(digest: &[u8]) -> Vec<u32> {
    let halves = |byte: &u8| [u32::from(byte >> 4), u32::from(byte & 15)];
    let mut digits: Vec<u32> = digest.iter().flat_map(halves).collect();
    let sum: u32 = digits.iter().map(|digit| STEPS - digit).sum();
    // The three digits of the checksum are in the upper bits of two bytes.
    digits.extend([sum >> 8, sum >> 4 & 15, sum & 15]);
    digits
}

fn xor(one: &Node, other: &Node) -> Node {
    std::array::from_fn(|at| one[at] ^ other[at])
}

fn write(state: &[u32; 8], into: &mut [u8]) {
    for (bytes, word) in into.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
}
