//! A signer for SLH-DSA that computes one leaf per tree. It is written after FIPS 205 and uses hashes of other
//! crates.
//!
//! The nodes next to an authentication path can be any bytes, because a verifier cannot distinguish such trees from
//! completely computed ones. A signature therefore costs only a few verifications in every set. Only the top tree
//! must exist before the message is hashed, because its root is an input of the hash. Then a randomizer is searched
//! for which the digest selects the known leaf of that tree.

use super::{digits, sha256, sha512, shake256};
use crate::signed::Signed;

/// The names in this module are those of FIPS 205 §11.
#[derive(Clone, Copy)]
pub struct Parameters {
    pub is_shake: bool,
    pub n: usize,
    pub h_prime: u32,
    pub d: u32,
    pub a: u32,
    pub k: u32,
}

/// Layer, tree, type and the last three words of an address (§4.2).
#[derive(Clone, Copy)]
struct SlhDsaAdrs {
    layer: u32,
    tree: u64,
    kind: u8,
    words: [u32; 3],
}

const WOTS_HASH: u8 = 0;
const WOTS_PK: u8 = 1;
const TREE: u8 = 2;
const FORS_TREE: u8 = 3;
const FORS_ROOTS: u8 = 4;

/// The randomizer of a signature, and the parts of the message digest that follow from it (§9.2).
struct Start {
    /// The randomizer R.
    randomizer: Vec<u8>,
    md: Vec<u8>,
    idx_tree: u64,
    idx_leaf: u32,
}

/// Makes a key from `seed`, and its signature of M', which is `encoded`.
pub fn sign(parameters: Parameters, seed: u8, encoded: &[u8], message: &[u8]) -> Signed {
    let signer = Signer { parameters, seed, pk_seed: vec![seed ^ 0x5a; parameters.n] };
    let Parameters { n, h_prime, d, .. } = parameters;
    let top_leaf = (u32::from(seed) * 0x51) & ((1 << h_prime) - 1);
    let (_, root) = signer.layer(d - 1, 0, top_leaf, &vec![0; n]);
    let start = signer.start(&root, top_leaf, encoded);
    let mut signature = start.randomizer.clone();
    let (fors, mut node) = signer.fors(&start);
    signature.extend(fors);
    let (mut tree, mut leaf) = (start.idx_tree, start.idx_leaf);
    for layer in 0..d {
        let (part, above) = signer.layer(layer, tree, leaf, &node);
        signature.extend(part);
        node = above;
        leaf = (tree & ((1 << h_prime) - 1)) as u32;
        tree >>= h_prime;
    }
    assert!(node == root, "the top tree is the one of the key");
    Signed { key: [signer.pk_seed, root].concat(), message: message.to_vec(), signature }
}

struct Signer {
    parameters: Parameters,
    seed: u8,
    pk_seed: Vec<u8>,
}

impl Signer {
    /// Returns bytes that the signer chooses: secrets, and nodes without known leaves.
    fn value(&self, adrs: SlhDsaAdrs) -> Vec<u8> {
        let mut value = sha512(&[&[self.seed, 1][..], &bytes_of(adrs)].concat());
        value.truncate(self.parameters.n);
        value
    }

    /// Computes F, H or T (§11.1, §11.2). H and T use another hash than F in the large SHA-2 sets.
    fn hash(&self, adrs: SlhDsaAdrs, parts: &[&[u8]]) -> Vec<u8> {
        let Parameters { is_shake, n, .. } = self.parameters;
        let (address, message) = (bytes_of(adrs), parts.concat());
        let mut hash = if is_shake {
            shake256(&[&self.pk_seed, &address[..], &message].concat())
        } else {
            let address = [&address[3..4], &address[8..16], &address[19..]].concat();
            let is_long = n > 16 && message.len() > n;
            let padding = vec![0; if is_long { 128 - n } else { 64 - n }];
            let input = [&self.pk_seed[..], &padding, &address, &message].concat();
            if is_long { sha512(&input) } else { sha256(&input) }
        };
        hash.truncate(n);
        hash
    }

    /// Computes H_msg (§11) and splits its digest (§9.2, algorithm 19), with a randomizer for which the path goes
    /// through this leaf of the top tree.
    fn start(&self, root: &[u8], top_leaf: u32, encoded: &[u8]) -> Start {
        let Parameters { is_shake, n, h_prime, d, a, k } = self.parameters;
        let tree_bits = h_prime * (d - 1);
        let lens = [(k * a).div_ceil(8), tree_bits.div_ceil(8), h_prime.div_ceil(8)];
        let [md_len, tree_len, leaf_len] = lens.map(|len| len as usize);
        for counter in 0_u32.. {
            let mut randomizer = sha256(&[&[self.seed, 2][..], &counter.to_be_bytes()].concat());
            randomizer.truncate(n);
            let input = [&randomizer, &self.pk_seed, root, encoded].concat();
            let digest = match (is_shake, n) {
                (true, _) => shake256(&input),
                (_, 16) => self.mgf1(sha256, &randomizer, &input),
                _ => self.mgf1(sha512, &randomizer, &input),
            };
            let (md, rest) = digest.split_at(md_len);
            let (tree, rest) = rest.split_at(tree_len);
            let number = |bytes: &[u8]| bytes.iter().fold(0, |it, byte| it << 8 | u64::from(*byte));
            let idx_tree = number(tree) & (u64::MAX >> (64 - tree_bits));
            let idx_leaf = number(&rest[..leaf_len]) as u32 & ((1 << h_prime) - 1);
            if idx_tree >> (tree_bits - h_prime) == u64::from(top_leaf) {
                return Start { randomizer, md: md.to_vec(), idx_tree, idx_leaf };
            }
        }
        unreachable!("one in {} fits", 1 << h_prime)
    }

    /// Computes MGF1 of R, PK.seed and the digest of all inputs, with as many bytes as any set needs.
    fn mgf1(&self, hash: fn(&[u8]) -> Vec<u8>, randomizer: &[u8], input: &[u8]) -> Vec<u8> {
        let seed = [randomizer, &self.pk_seed, &hash(input)].concat();
        (0_u32..2).flat_map(|counter| hash(&[&seed[..], &counter.to_be_bytes()].concat())).collect()
    }

    /// Returns the FORS signature and its public key (§8.3, §8.4).
    fn fors(&self, start: &Start) -> (Vec<u8>, Vec<u8>) {
        let Parameters { a, k, .. } = self.parameters;
        let address = |kind, height, index| SlhDsaAdrs {
            layer: 0,
            tree: start.idx_tree,
            kind,
            words: [start.idx_leaf, height, index],
        };
        let mut bits = start.md.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1));
        let (mut signature, mut roots) = (Vec::new(), Vec::new());
        for i in 0..k {
            let index = bits.by_ref().take(a as usize).fold(0, |it, bit| it << 1 | u32::from(bit));
            let leaf = (i << a) + index;
            // Address type 0x80 is not used by any hash, so it is used for the signer's own values.
            let secret = self.value(address(0x80, 0, leaf));
            let node = self.hash(address(FORS_TREE, 0, leaf), &[&secret]);
            signature.extend(secret);
            let address = |height, index| address(FORS_TREE, height, index);
            let (auth, root) = self.climb(node, leaf, a, address);
            signature.extend(auth);
            roots.extend(root);
        }
        (signature, self.hash(address(FORS_ROOTS, 0, 0), &[&roots]))
    }

    /// Returns the signature of a message by one layer, which is a one-time signature and an authentication path,
    /// and the root of its tree (§5.2, §6.2).
    fn layer(&self, layer: u32, tree: u64, leaf: u32, message: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let address = |kind, words: [u32; 2]| SlhDsaAdrs {
            layer,
            tree,
            kind,
            words: [leaf, words[0], words[1]],
        };
        let (mut signature, mut ends) = (Vec::new(), Vec::new());
        for (i, digit) in (0..).zip(digits(message)) {
            let mut value = self.value(address(0x81, [i, 0]));
            for j in 0..15 {
                if j == digit {
                    signature.extend(&value);
                }
                value = self.hash(address(WOTS_HASH, [i, j]), &[&value]);
            }
            if digit == 15 {
                signature.extend(&value);
            }
            ends.extend(value);
        }
        let node = self.hash(address(WOTS_PK, [0, 0]), &[&ends]);
        let address =
            |height, index| SlhDsaAdrs { layer, tree, kind: TREE, words: [0, height, index] };
        let (auth, root) = self.climb(node, leaf, self.parameters.h_prime, address);
        signature.extend(auth);
        (signature, root)
    }

    /// Computes the root from a leaf, and the nodes next to the path.
    fn climb(
        &self,
        leaf: Vec<u8>,
        index: u32,
        height: u32,
        address: impl Fn(u32, u32) -> SlhDsaAdrs,
    ) -> (Vec<u8>, Vec<u8>) {
        let (mut auth, mut node) = (Vec::new(), leaf);
        for at in 0..height {
            let adrs = address(at + 1, index >> (at + 1));
            let beside = self.value(SlhDsaAdrs { kind: adrs.kind | 0x80, ..adrs });
            node = match index >> at & 1 {
                0 => self.hash(adrs, &[&node, &beside]),
                _ => self.hash(adrs, &[&beside, &node]),
            };
            auth.extend(beside);
        }
        (auth, node)
    }
}

/// Returns the 32 bytes of an address.
fn bytes_of(adrs: SlhDsaAdrs) -> Vec<u8> {
    let mut bytes = adrs.layer.to_be_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend(adrs.tree.to_be_bytes());
    bytes.extend(u32::from(adrs.kind).to_be_bytes());
    bytes.extend(adrs.words.map(u32::to_be_bytes).concat());
    bytes
}
