//! The signing half of LMS and LM-OTS (RFC 8554 §4, §5, SP 800-208 §4). Names are those of RFC 8554.
//!
//! The one-time keys are derived from the seed of their tree (RFC 8554 appendix A, SP 800-208 §6.1). The
//! randomizer C is derived too: the same leaf always signs with the same C.

use sha2::block_api::compress256;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use super::tree::{ComputedTree, Node, Tree};

const D_PBLC: u16 = 0x8080;
const D_MESG: u16 = 0x8181;
const D_LEAF: u16 = 0x8282;
const D_INTR: u16 = 0x8383;

/// The step number that derives the beginning of a chain from the seed (RFC 8554 appendix A).
const SECRET: u8 = 0xff;
/// The chain number that derives the randomizer. No set has that many chains.
const RANDOMIZER: u16 = 0xfffd;

/// Length in bytes of the prefix of a chain's hash input: I, q, number of the chain, number of the step.
const CHAIN_PREFIX: usize = 16 + 4 + 2 + 1;

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

/// The parameters of a tree and its one-time keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LmsSet {
    lms_type: u8,
    ots_type: u8,
    height: u8,
    pub(super) n: usize,
    /// Number of bits of a digit.
    w: u32,
    /// Number of chains.
    p: u16,
    /// Number of bits by which the checksum is shifted to the left.
    ls: u32,
}

impl LmsSet {
    /// Returns the parameters of the registered types: RFC 8554 §4.1 and §5.1, SP 800-208 §4.
    pub(super) const fn new(lms_type: u8, ots_type: u8, height: u8) -> Self {
        let (w, p, ls) = match ots_type {
            1 => (1, 265, 7),
            2 => (2, 133, 6),
            3 => (4, 67, 4),
            4 => (8, 34, 0),
            5 => (1, 200, 8),
            6 => (2, 101, 6),
            7 => (4, 51, 4),
            _ => (8, 26, 0),
        };
        let n = if ots_type < 5 { 32 } else { 24 };
        Self { lms_type, ots_type, height, n, w, p, ls }
    }

    /// Returns the length in bytes of a signature (RFC 8554 §5.4).
    pub(super) const fn signature_size(self) -> usize {
        12 + self.n * (1 + self.p as usize + self.height as usize)
    }

    /// Returns the length in bytes of a public key (RFC 8554 §5.3).
    pub(super) const fn public_key_size(self) -> usize {
        24 + self.n
    }

    /// Returns the digits of a digest and of its checksum, one for each chain (RFC 8554 §4.4, §4.5).
    fn digits(self, digest: &[u8]) -> Vec<u8> {
        let most = (1_u16 << self.w) - 1;
        let digits_of = |bytes: &[u8]| {
            let mut digits = Vec::new();
            for byte in bytes {
                for place in (0..8 / self.w).rev() {
                    digits.push((u16::from(*byte) >> (place * self.w) & most) as u8);
                }
            }
            digits
        };
        let mut digits = digits_of(digest);
        let sum: u16 = digits.iter().map(|digit| most - u16::from(*digit)).sum();
        digits.extend(digits_of(&(sum << self.ls).to_be_bytes()));
        digits.truncate(self.p.into());
        digits
    }
}

/// A tree of one-time keys.
pub(super) struct LmsTree {
    pub(super) set: LmsSet,
    /// The identifier I of the tree.
    pub(super) id: [u8; 16],
    pub(super) seed: Zeroizing<Node>,
}

impl LmsTree {
    /// Returns the public key of the tree, whose last field is the root.
    pub(super) fn public_key(&self, root: &Node) -> Vec<u8> {
        let LmsSet { lms_type, ots_type, n, .. } = self.set;
        [&type_number(lms_type)[..], &type_number(ots_type), &self.id, &root[..n]].concat()
    }

    /// Signs with the one-time key of leaf `q`, whose authentication path is in `computed` (RFC 8554 §5.4.1).
    /// No caller may sign two different messages with the same leaf.
    pub(super) fn sign(&self, q: u32, message: &[u8], computed: &ComputedTree) -> Vec<u8> {
        let set = self.set;
        let mut signature = Vec::with_capacity(set.signature_size());
        signature.extend(q.to_be_bytes());
        self.sign_once(q, message, &mut signature);
        signature.extend(type_number(set.lms_type));
        for node in &computed.path {
            signature.extend(&node[..set.n]);
        }
        signature
    }

    /// Appends the LM-OTS signature (RFC 8554 §4.5).
    fn sign_once(&self, q: u32, message: &[u8], signature: &mut Vec<u8>) {
        let set = self.set;
        let mut chain = Chain::new(self, q);
        chain.begin(RANDOMIZER, &self.seed);
        chain.step(SECRET);
        let mut randomizer = Node::default();
        randomizer[..set.n].copy_from_slice(chain.value());
        let mut hash = self.hash(q, D_MESG);
        hash.update(&randomizer[..set.n]);
        hash.update(message);
        let digest = hash.finalize();
        signature.extend(type_number(set.ots_type));
        signature.extend(&randomizer[..set.n]);
        for (digit, number) in set.digits(&digest[..set.n]).into_iter().zip(0..) {
            chain.run(number, &self.seed, u16::from(digit));
            signature.extend(chain.value());
        }
    }

    /// Starts a hash with the prefix of I, a number and the domain separator `kind`.
    fn hash(&self, number: u32, kind: u16) -> Sha256 {
        let mut hash = Sha256::new();
        hash.update(self.id);
        hash.update(number.to_be_bytes());
        hash.update(kind.to_be_bytes());
        hash
    }

    fn node(&self, hash: Sha256) -> Node {
        let mut node = Node::default();
        node[..self.set.n].copy_from_slice(&hash.finalize()[..self.set.n]);
        node
    }
}

impl Tree for LmsTree {
    fn height(&self) -> u8 {
        self.set.height
    }

    /// Computes a leaf: the hash of the ends of all chains, hashed again (RFC 8554 §4.3, §5.3).
    fn leaf(&self, index: u32) -> Node {
        let n = self.set.n;
        let mut ends = self.hash(index, D_PBLC);
        let mut chain = Chain::new(self, index);
        for number in 0..self.set.p {
            chain.run(number, &self.seed, (1 << self.set.w) - 1);
            ends.update(chain.value());
        }
        let key = self.node(ends);
        let mut hash = self.hash((1 << self.set.height) + index, D_LEAF);
        hash.update(&key[..n]);
        self.node(hash)
    }

    /// Computes an inner node (RFC 8554 §5.3). Nodes are numbered from the root, which is number 1.
    fn join(&self, height: u8, index: u32, left: &Node, right: &Node) -> Node {
        let n = self.set.n;
        let mut hash = self.hash((1 << (self.set.height - height)) + index, D_INTR);
        hash.update(&left[..n]);
        hash.update(&right[..n]);
        self.node(hash)
    }
}

/// A chain of a one-time key, stored as the SHA-256 input block that each of its steps hashes. Prefix,
/// value and padding fit into one block for every n.
struct Chain {
    block: [u8; 64],
    n: usize,
}

impl Chain {
    fn new(tree: &LmsTree, q: u32) -> Self {
        let n = tree.set.n;
        let mut block = [0; 64];
        block[..16].copy_from_slice(&tree.id);
        block[16..20].copy_from_slice(&q.to_be_bytes());
        // The padding (FIPS 180-4 §5.1.1) is the same for all steps.
        block[CHAIN_PREFIX + n] = 0x80;
        block[62..].copy_from_slice(&(8 * (CHAIN_PREFIX + n) as u16).to_be_bytes());
        Self { block, n }
    }

    /// Sets the number of the chain, and the seed as its value.
    fn begin(&mut self, number: u16, seed: &Node) {
        self.block[20..22].copy_from_slice(&number.to_be_bytes());
        self.block[CHAIN_PREFIX..CHAIN_PREFIX + self.n].copy_from_slice(&seed[..self.n]);
    }

    /// Derives the beginning of a chain from the seed, then performs `steps` steps.
    fn run(&mut self, number: u16, seed: &Node, steps: u16) {
        self.begin(number, seed);
        self.step(SECRET);
        for step in 0..steps {
            self.step(step as u8);
        }
    }

    fn step(&mut self, step: u8) {
        self.block[CHAIN_PREFIX - 1] = step;
        let mut state = SHA256_START;
        compress256(&mut state, std::slice::from_ref(&self.block));
        let value = self.block[CHAIN_PREFIX..CHAIN_PREFIX + self.n].as_chunks_mut::<4>().0;
        for (bytes, word) in value.iter_mut().zip(state) {
            *bytes = word.to_be_bytes();
        }
    }

    fn value(&self) -> &[u8] {
        &self.block[CHAIN_PREFIX..CHAIN_PREFIX + self.n]
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        self.block.zeroize();
    }
}

/// Encodes a type as in keys and signatures.
fn type_number(number: u8) -> [u8; 4] {
    u32::from(number).to_be_bytes()
}
