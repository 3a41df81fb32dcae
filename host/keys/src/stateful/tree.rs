//! Merkle trees, grown by all cores.
//!
//! A tree is cut into subtrees of one height. Each thread grows the next one from its leaves and hands
//! over its root; what is above them is little and grows at the end. Nothing is kept: a tree follows
//! from its seed.

use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;

/// A node. Sets with nodes of 24 bytes use the first 24.
pub(super) type Node = [u8; 32];

/// Height of what is grown by one thread at the end: enough subtrees that no core waits long.
const TOP_HEIGHT: u8 = 7;
/// Leaves between two reports.
const REPORT: u32 = 64;

/// A tree whose nodes can be computed.
pub(super) trait Tree: Sync {
    /// Height: 2^height leaves. Maximum 25.
    fn height(&self) -> u8;

    /// A leaf.
    fn leaf(&self, index: u32) -> Node;

    /// The node `index` of those at `height`, from its two children.
    fn join(&self, height: u8, index: u32, left: &Node, right: &Node) -> Node;
}

/// The trees of one leaf at the bottom, from the bottom up.
#[derive(Default)]
pub(super) struct Trees {
    pub(super) grown: Vec<Grown>,
    /// What each tree but the lowest signs of the tree below it, so that there is one fewer of these.
    pub(super) certified: Vec<Vec<u8>>,
    /// The public key to which they lead.
    pub(super) public: Vec<u8>,
}

/// The top of a tree, and the way from one leaf to it.
#[derive(PartialEq, Eq)]
pub(super) struct Grown {
    pub(super) root: Node,
    /// Siblings of the nodes between the leaf and the root, from the leaf upwards.
    pub(super) path: Vec<Node>,
}

/// What a thread has to say.
enum Event {
    Leaves(u64),
    Subtree(u32, Grown),
}

/// Grows a tree. `on_leaves` is called after every few leaves.
pub(super) fn grow(tree: &impl Tree, leaf: u32, on_leaves: &mut dyn FnMut(u64)) -> Grown {
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
                    let grown = subtree(tree, cut, number, leaf, &|leaves| {
                        let _ = sender.send(Event::Leaves(leaves));
                    });
                    let _ = sender.send(Event::Subtree(number, grown));
                }
            });
        }
        drop(sender);
        for event in receiver {
            match event {
                Event::Leaves(leaves) => on_leaves(leaves),
                Event::Subtree(number, grown) => {
                    roots[number as usize] = grown.root;
                    if number == leaf >> cut {
                        path = grown.path;
                    }
                }
            }
        }
    });
    let top = reduce(tree, cut, 0, roots, Some(leaf >> cut));
    path.extend(top.path);
    Grown { root: top.root, path }
}

/// Grows a tree two times; `None` if one of them differs, as after a fault of the processor.
pub(super) fn grow_twice(
    tree: &impl Tree,
    leaf: u32,
    on_leaves: &mut dyn FnMut(u64),
) -> Option<Grown> {
    let first = grow(tree, leaf, on_leaves);
    let second = grow(tree, leaf, on_leaves);
    (first == second).then_some(second)
}

/// Grows the subtree `number` of those of height `cut`.
fn subtree(tree: &impl Tree, cut: u8, number: u32, leaf: u32, on_leaves: &dyn Fn(u64)) -> Grown {
    let first = number << cut;
    let mut leaves = Vec::with_capacity(1 << cut);
    for index in first..first + (1 << cut) {
        leaves.push(tree.leaf(index));
        // A subtree of fewer leaves than that reports all of them together.
        let every = REPORT.min(1 << cut);
        if (index + 1) % every == 0 {
            on_leaves(every.into());
        }
    }
    reduce(tree, 0, first, leaves, (leaf >> cut == number).then_some(leaf))
}

/// Joins neighbours until one node is left. The nodes are at `height`, the first of them is
/// number `first` there, and `target` is the one whose way up is wanted.
fn reduce(
    tree: &impl Tree,
    mut height: u8,
    mut first: u32,
    mut nodes: Vec<Node>,
    mut target: Option<u32>,
) -> Grown {
    let mut path = Vec::new();
    while nodes.len() > 1 {
        if let Some(at) = target {
            // As many nodes as a power of two begin at an even number.
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
    Grown { root: nodes[0], path }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree whose nodes say who they are.
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

    /// A tree of which the second growth has one other leaf.
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
                let grown = grow(&Named(height), leaf, &mut |more| leaves += more);
                assert_eq!(grown.root, name(height, 0));
                let way: Vec<_> =
                    (0..height).map(|level| name(level, (leaf >> level) ^ 1)).collect();
                assert_eq!(grown.path, way, "height {height}, leaf {leaf}");
                assert_eq!(leaves, 1 << height);
            }
        }
    }
}
