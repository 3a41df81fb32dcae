//! The signing half of HSS (RFC 8554 §6): a hierarchy of LMS trees. A hierarchy of one level is LMS.

use hartlock_image::HssSet;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::lms::{LmsSet, LmsTree};
use super::tree::{Node, Trees, grow, grow_twice};

/// Length in bytes of the secret from which the trees below the top one are derived.
const CHILD_KEY_SIZE: usize = 32;

/// The seeds and parameters of a key.
pub(super) struct Hss<'a> {
    set: LmsSet,
    levels: u8,
    height: u8,
    /// I and SEED of the tree at the top, then the secret for the other trees.
    seeds: &'a [u8],
}

impl<'a> Hss<'a> {
    /// Takes seeds of [`Hss::seeds_size`] bytes.
    pub(super) fn new(set: HssSet, seeds: &'a [u8]) -> Self {
        let height = set.height();
        let lms = LmsSet::new(set.lms_type(), set.ots_type(), height);
        Self { set: lms, levels: set.levels(), height, seeds }
    }

    pub(super) const fn seeds_size(set: HssSet) -> usize {
        let n = if set.lms_type() < 10 { 32 } else { 24 };
        16 + n + if set.levels() > 1 { CHILD_KEY_SIZE } else { 0 }
    }

    /// Returns the length of a signature in bytes. All levels have trees of the same parameters (RFC 8554
    /// §6.2).
    pub(super) const fn signature_size(set: HssSet) -> usize {
        let levels = set.levels() as usize;
        let lms = LmsSet::new(set.lms_type(), set.ots_type(), set.height());
        4 + levels * lms.signature_size() + (levels - 1) * lms.public_key_size()
    }

    /// Returns the tree with this number at `level`; level 0 has one tree.
    ///
    /// I and SEED of the trees below the top are pseudorandom (SP 800-108 §4.1 with HMAC-SHA-256), so that
    /// the private key does not grow with the number of trees.
    fn tree(&self, level: u8, number: u64) -> LmsTree {
        let n = self.set.n;
        let (id, rest) = self.seeds.split_at(16);
        let (seed, child_key) = rest.split_at(n);
        let mut tree =
            LmsTree { set: self.set, id: [0; 16], seed: Zeroizing::new(Node::default()) };
        if level == 0 {
            tree.id.copy_from_slice(id);
            tree.seed[..n].copy_from_slice(seed);
            return tree;
        }
        let derived = |what: u8| {
            let mut mac =
                Hmac::<Sha256>::new_from_slice(child_key).expect("HMAC takes keys of any length");
            mac.update(b"HLKhsstr");
            mac.update(&[what, level]);
            mac.update(&number.to_be_bytes());
            Zeroizing::new(<Node>::from(mac.finalize().into_bytes()))
        };
        tree.id.copy_from_slice(&derived(1)[..16]);
        tree.seed[..n].copy_from_slice(&derived(2)[..n]);
        tree
    }

    /// Returns I and SEED of a tree, from which its one-time keys are derived. The tree is the one for
    /// `index` at a level that is counted from the bottom.
    #[cfg(test)]
    pub(super) fn secret_of(&self, from_bottom: u32, index: u64) -> Vec<u8> {
        let number = index >> (u32::from(self.height) * (from_bottom + 1));
        let tree = self.tree(self.levels - 1 - from_bottom as u8, number);
        [&tree.id[..], &tree.seed[..self.set.n]].concat()
    }

    /// Returns the public key (RFC 8554 §6.1).
    pub(super) fn public_key(&self, on_leaves: &mut dyn FnMut(u64)) -> Vec<u8> {
        let tree = self.tree(0, 0);
        let root = grow(&tree, 0, on_leaves).root;
        self.encode_public(&tree, &root)
    }

    fn encode_public(&self, tree: &LmsTree, root: &Node) -> Vec<u8> {
        let mut key = u32::from(self.levels).to_be_bytes().to_vec();
        key.extend(tree.public_key(root));
        key
    }

    /// Computes the trees for the leaf `index`, counted from the left over all leaves of the lowest level
    /// (RFC 8554 §6.2). The trees for which `is_new` returns true, numbered from the bottom, are computed
    /// twice; returns `None` if the results differ.
    pub(super) fn trees(
        &self,
        index: u64,
        is_new: &dyn Fn(u32) -> bool,
        on_leaves: &mut dyn FnMut(u64),
    ) -> Option<Trees> {
        let mut trees = Trees::default();
        let mut number = index;
        for level in (0..self.levels).rev() {
            let q = (number & ((1 << self.height) - 1)) as u32;
            number >>= self.height;
            let tree = self.tree(level, number);
            let computed = if is_new(u32::from(self.levels - 1 - level)) {
                grow_twice(&tree, q, on_leaves)?
            } else {
                grow(&tree, q, on_leaves)
            };
            if level == 0 {
                trees.public = self.encode_public(&tree, &computed.root);
            } else {
                trees.signed_roots.push(tree.public_key(&computed.root));
            }
            trees.computed.push(computed);
        }
        Some(trees)
    }

    /// Signs with a leaf whose trees were computed.
    ///
    /// Each tree signs the public key of the tree below it with a leaf that signs nothing else. It may do
    /// that any number of times, as long as the public key is the same.
    pub(super) fn sign(&self, index: u64, message: &[u8], trees: &Trees) -> Vec<u8> {
        let mut parts = Vec::new();
        let mut signed = message;
        let mut number = index;
        for (level, place) in (0..self.levels).rev().zip(0..) {
            let q = (number & ((1 << self.height) - 1)) as u32;
            number >>= self.height;
            parts.push(self.tree(level, number).sign(q, signed, &trees.computed[place]));
            if let Some(below) = trees.signed_roots.get(place) {
                parts.push(below.clone());
                signed = below;
            }
        }
        let mut signature = u32::from(self.levels - 1).to_be_bytes().to_vec();
        signature.extend(parts.into_iter().rev().flatten());
        signature
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Trees with the same seed would use the same one-time keys.
    #[test]
    fn every_tree_has_its_own_seed() {
        for lms in [5, 10] {
            let set = HssSet::new(3, lms, if lms == 5 { 4 } else { 8 }).unwrap();
            let seeds = vec![7; Hss::seeds_size(set)];
            let hss = Hss::new(set, &seeds);
            let (mut ids, mut tree_seeds) = (BTreeSet::new(), BTreeSet::new());
            for (level, number) in [(0, 0), (1, 0), (1, 1), (1, 256), (2, 0), (2, 1), (2, 1 << 32)]
            {
                let tree = hss.tree(level, number);
                assert!(ids.insert(tree.id) && tree_seeds.insert(*tree.seed), "{level} {number}");
                assert!(level == 0 || tree.id != tree.seed[..16]);
            }
            // Another key has other trees.
            let other = vec![8; Hss::seeds_size(set)];
            assert!(ids.insert(Hss::new(set, &other).tree(1, 0).id));
        }
    }
}
