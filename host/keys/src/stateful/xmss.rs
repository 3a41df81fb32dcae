//! The signing half of XMSS and XMSS^MT (RFC 8391 §4, SP 800-208 §5). Names are those of RFC 8391. XMSS is
//! XMSS^MT with one layer and another length of the index.

use hartlock_image::XmssSet;
use zeroize::Zeroizing;

use super::tree::{Node, Tree, Trees, grow, grow_twice};
use super::wots::{Adrs, Hashes};

/// The registry that defines the number of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Single,
    Multi,
}

/// The seeds and parameters of a key.
pub(super) struct Xmss<'a> {
    kind: Kind,
    set: XmssSet,
    /// S, SK_PRF and SEED, n bytes each (SP 800-208 §6.2).
    seeds: &'a [u8],
}

impl<'a> Xmss<'a> {
    /// Takes seeds of [`Xmss::seeds_size`] bytes.
    pub(super) const fn new(kind: Kind, set: XmssSet, seeds: &'a [u8]) -> Self {
        Self { kind, set, seeds }
    }

    pub(super) const fn seeds_size(set: XmssSet) -> usize {
        3 * set.n()
    }

    const fn tree_height(&self) -> u8 {
        // The layers of a set divide its height.
        self.set.height() / self.set.layers()
    }

    fn hashes(&self) -> Hashes<'a> {
        let n = self.set.n();
        Hashes::new(self.set.is_shake(), &self.seeds[..n], &self.seeds[2 * n..])
    }

    fn tree(&self, layer: u8, number: u64) -> XmssTree<'a> {
        XmssTree { hashes: self.hashes(), layer, number, height: self.tree_height() }
    }

    /// Encodes the public key: OID, root and SEED (RFC 8391 §4.1.7).
    fn encode_public(&self, root: &Node) -> Vec<u8> {
        let n = self.set.n();
        [&self.set.oid().to_be_bytes()[..], &root[..n], &self.seeds[2 * n..]].concat()
    }

    pub(super) fn public_key(&self, on_leaves: &mut dyn FnMut(u64)) -> Vec<u8> {
        self.encode_public(&grow(&self.tree(self.set.layers() - 1, 0), 0, on_leaves).root)
    }

    /// Computes the trees for the leaf `index`, counted from the left over all leaves of the lowest layer
    /// (RFC 8391 §4.2.4). The trees for which `is_new` returns true, numbered from the bottom, are computed
    /// twice; returns `None` if the results differ.
    pub(super) fn trees(
        &self,
        index: u64,
        is_new: &dyn Fn(u32) -> bool,
        on_leaves: &mut dyn FnMut(u64),
    ) -> Option<Trees> {
        let mut trees = Trees::default();
        let mut number = index;
        for layer in 0..self.set.layers() {
            let leaf = (number & ((1 << self.tree_height()) - 1)) as u32;
            number >>= self.tree_height();
            let tree = self.tree(layer, number);
            let computed = if is_new(layer.into()) {
                grow_twice(&tree, leaf, on_leaves)?
            } else {
                grow(&tree, leaf, on_leaves)
            };
            if layer + 1 == self.set.layers() {
                trees.public = self.encode_public(&computed.root);
            } else {
                trees.signed_roots.push(computed.root[..self.set.n()].to_vec());
            }
            trees.computed.push(computed);
        }
        Some(trees)
    }

    /// Signs with a leaf whose trees were computed (RFC 8391 §4.1.9, §4.2.4).
    ///
    /// `root` is the root in the public key, which is part of the digest of the message.
    pub(super) fn sign(&self, index: u64, message: &[u8], root: &[u8], trees: &Trees) -> Vec<u8> {
        let n = self.set.n();
        let mut hashes = self.hashes();
        let r = hashes.randomizer(&self.seeds[n..2 * n], index);
        let digest = hashes.message(&r, root, index, message);
        let index_size = match self.kind {
            Kind::Single => 4,
            Kind::Multi => usize::from(self.set.height()).div_ceil(8),
        };
        let mut signature = index.to_be_bytes()[8 - index_size..].to_vec();
        signature.extend(&r[..n]);
        let mut signed = &digest[..n];
        let mut number = index;
        for (layer, place) in (0..self.set.layers()).zip(0..) {
            let leaf = (number & ((1 << self.tree_height()) - 1)) as u32;
            number >>= self.tree_height();
            hashes.sign(&self.tree(layer, number).adrs(), leaf, signed, &mut signature);
            for node in &trees.computed[place].path {
                signature.extend(&node[..n]);
            }
            if let Some(below) = trees.signed_roots.get(place) {
                signed = below;
            }
        }
        signature
    }
}

/// A tree of one-time keys.
struct XmssTree<'a> {
    hashes: Hashes<'a>,
    layer: u8,
    number: u64,
    height: u8,
}

impl XmssTree<'_> {
    fn adrs(&self) -> Adrs {
        Adrs::of_tree(self.layer, self.number)
    }
}

impl Tree for XmssTree<'_> {
    fn height(&self) -> u8 {
        self.height
    }

    /// Computes a leaf: the L-tree over the ends of all chains (RFC 8391 §4.1.5).
    fn leaf(&self, index: u32) -> Node {
        // Each thread needs its own copy, because the hashes have a buffer.
        let mut hashes = self.hashes.clone();
        let ends = Zeroizing::new(hashes.public_key(&self.adrs(), index));
        hashes.l_tree(&self.adrs(), index, &ends)
    }

    /// Computes an inner node (RFC 8391 §4.1.6). The address contains the height of the children.
    fn join(&self, height: u8, index: u32, left: &Node, right: &Node) -> Node {
        let mut adrs = self.adrs();
        adrs.hash_tree(height - 1, index);
        self.hashes.clone().rand_hash(left, right, &mut adrs)
    }
}
