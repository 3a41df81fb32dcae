//! Merkle trees, computed by all cores.
//!
//! A tree is divided into subtrees of the same height. Each thread computes the next subtree from its
//! leaves and returns its root; the few nodes above are computed at the end. No node is stored,
//! because a tree is determined by its seed.

use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;

/// A node. Sets with nodes of 24 bytes use the first 24 bytes.
pub(super) type Node = [u8; 32];

/// Height of the part that one thread computes at the end. It leaves enough subtrees so that no core
/// waits long.
const TOP_HEIGHT: u8 = 7;
/// Number of leaves between two progress reports.
const REPORT: u32 = 64;

/// A tree whose nodes can be computed.
pub(super) trait Tree: Sync {
    /// Returns the height, at most 25; the tree has 2^height leaves.
    fn height(&self) -> u8;

    /// Computes the leaf `index`.
    fn leaf(&self, index: u32) -> Node;

    /// Computes the node `index` at `height` from its two children.
    fn join(&self, height: u8, index: u32, left: &Node, right: &Node) -> Node;
}

/// The trees from one leaf of the lowest tree to the public key, in order from the bottom.
#[derive(Default)]
pub(super) struct Trees {
    pub(super) computed: Vec<ComputedTree>,
    /// The bytes that each tree except the lowest signs of the tree below it.
    pub(super) signed_roots: Vec<Vec<u8>>,
    /// The public key that results from the trees.
    pub(super) public: Vec<u8>,
}

/// The root of a tree, and the authentication path of one leaf.
#[derive(PartialEq, Eq)]
pub(super) struct ComputedTree {
    pub(super) root: Node,
    /// The siblings of the nodes between the leaf and the root, from the leaf upwards.
    pub(super) path: Vec<Node>,
}

/// A message from a thread: leaves computed since the last report, or the number and root of a
/// subtree.
enum Event {
    Leaves(u64),
    Subtree(u32, ComputedTree),
}

/// Computes a tree. `on_leaves` is called with the number of leaves computed since the last call.
pub(super) fn grow(tree: &impl Tree, leaf: u32, on_leaves: &mut dyn FnMut(u64)) -> ComputedTree {
    let cut = tree.height().saturating_sub(TOP_HEIGHT);
    let count = 1_u32 << (tree.height() - cut);
    let cores = thread::available_parallelism().map_or(1, NonZero::get).min(count as usize);
    let next = AtomicU32::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut roots = vec![Node::default(); count as usize];
    let mut path = Vec::new();
    thread::scope(|scope| {
        for _ in 0..cores {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let computed = subtree(tree, cut, number, leaf, &|leaves| {
                        let _ = sender.send(Event::Leaves(leaves));
                    });
                    let _ = sender.send(Event::Subtree(number, computed));
                }
            });
        }
        drop(sender);
        for event in receiver {
            match event {
                Event::Leaves(leaves) => on_leaves(leaves),
                Event::Subtree(number, computed) => {
                    roots[number as usize] = computed.root;
                    if number == leaf >> cut {
                        path = computed.path;
                    }
                }
            }
        }
    });
    let top = reduce(tree, cut, 0, roots, Some(leaf >> cut));
    path.extend(top.path);
    ComputedTree { root: top.root, path }
}

/// Computes a tree two times. Returns `None` if the results differ, for instance after a processor
/// fault.
pub(super) fn grow_twice(
    tree: &impl Tree,
    leaf: u32,
    on_leaves: &mut dyn FnMut(u64),
) -> Option<ComputedTree> {
    let first = grow(tree, leaf, on_leaves);
    let second = grow(tree, leaf, on_leaves);
    (first == second).then_some(second)
}

/// Computes the subtree with this number among those of height `cut`.
fn subtree(
    tree: &impl Tree,
    cut: u8,
    number: u32,
    leaf: u32,
    on_leaves: &dyn Fn(u64),
) -> ComputedTree {
    let first = number << cut;
    let mut leaves = Vec::with_capacity(1 << cut);
    for index in first..first + (1 << cut) {
        leaves.push(tree.leaf(index));
        // A subtree with fewer leaves than that reports all of them together.
        let every = REPORT.min(1 << cut);
        if (index + 1) % every == 0 {
            on_leaves(every.into());
        }
    }
    reduce(tree, 0, first, leaves, (leaf >> cut == number).then_some(leaf))
}

/// Joins neighbouring nodes until one node is left. The nodes are at `height`, the first of them has
/// the index `first`, and `target` is the index of the node whose authentication path is wanted.
fn reduce(
    tree: &impl Tree,
    mut height: u8,
    mut first: u32,
    mut nodes: Vec<Node>,
    mut target: Option<u32>,
) -> ComputedTree {
    let mut path = Vec::new();
    while nodes.len() > 1 {
        if let Some(at) = target {
            // The nodes are a power of two in number and begin at an even index, so each node has
            // its sibling among them.
            path.push(nodes[((at ^ 1) - first) as usize]);
            target = Some(at >> 1);
        }
        height += 1;
        first >>= 1;
        nodes = nodes
            .as_chunks()
            .0
            .iter()
            .zip(first..)
            .map(|([left, right], index)| tree.join(height, index, left, right))
            .collect();
    }
    ComputedTree { root: nodes[0], path }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree whose nodes contain their height and index.
    struct Named(u8);

    impl Tree for Named {
        fn height(&self) -> u8 {
            self.0
        }

        fn leaf(&self, index: u32) -> Node {
            name(0, index)
        }

        fn join(&self, height: u8, index: u32, left: &Node, right: &Node) -> Node {
            assert_eq!(
                (*left, *right),
                (name(height - 1, 2 * index), name(height - 1, 2 * index + 1))
            );
            name(height, index)
        }
    }

    fn name(height: u8, index: u32) -> Node {
        let mut node = [height; 32];
        node[..4].copy_from_slice(&index.to_be_bytes());
        node
    }

    /// A tree in which one leaf differs when it is computed the second time.
    struct Unsteady(AtomicU32);

    impl Tree for Unsteady {
        fn height(&self) -> u8 {
            2
        }

        fn leaf(&self, index: u32) -> Node {
            [self.0.fetch_add(1, Ordering::Relaxed) as u8 / 7; 32].map(|it| it + index as u8)
        }

        fn join(&self, _: u8, _: u32, left: &Node, right: &Node) -> Node {
            std::array::from_fn(|at| left[at].wrapping_mul(3) ^ right[at])
        }
    }

    #[test]
    fn a_tree_that_differs_from_itself_is_none() {
        assert!(grow_twice(&Named(3), 1, &mut |_| ()).is_some());
        assert!(grow_twice(&Unsteady(AtomicU32::new(0)), 1, &mut |_| ()).is_none());
    }

    #[test]
    fn every_leaf_finds_its_way_to_the_root() {
        for height in [1, 5, 7, 8, 10] {
            for leaf in [0, 1, (1 << height) / 2, (1 << height) - 1] {
                let mut leaves = 0;
                let computed = grow(&Named(height), leaf, &mut |more| leaves += more);
                assert_eq!(computed.root, name(height, 0));
                let way: Vec<_> =
                    (0..height).map(|level| name(level, (leaf >> level) ^ 1)).collect();
                assert_eq!(computed.path, way, "height {height}, leaf {leaf}");
                assert_eq!(leaves, 1 << height);
            }
        }
    }
}
