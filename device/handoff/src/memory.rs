//! Compares the device tree for Linux with the memory that a bundle fills (boot flow §6, rules 9, 10 and 12).
//!
//! Linux takes its memory from the tree. A payload outside of it, or in a part that the tree reserves, is lost or ends
//! the boot without a word.

use core::cell::Cell;

use hartlock_image::{PayloadRecord, bytes_at};

use crate::domain::{FoundNode, Nodes};
use crate::fdt::{Tree, is_okay};

/// A range of memory that a bundle fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
}

impl Filled {
    /// No byte of memory.
    pub const NOTHING: Self = Self { start: 0, end: 0 };

    /// Returns the range of a payload that Linux keeps.
    pub const fn by(payload: &PayloadRecord) -> Self {
        Self { start: payload.load_address, end: payload.memory_end() }
    }

    /// Returns true if the two ranges share a byte. An empty range shares none.
    fn overlaps(&self, start: u64, size: u64) -> bool {
        self.start.max(start) < self.end.min(start.saturating_add(size))
    }
}

/// The first contradiction of a tree. `index` is that of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFault<'a> {
    /// The tree has no memory at this address of a range.
    NoMemory {
        /// Its index.
        index: usize,
        /// The first address without memory.
        address: u64,
    },
    /// A node of `/reserved-memory` reserves a part of a range.
    Reserved {
        /// Its index.
        index: usize,
        /// Name of the node.
        node: &'a [u8],
        /// Address and size of what is reserved.
        reservation: (u64, u64),
    },
    /// An entry of the memory reservation block reserves a part of a range.
    ReservedByEntry {
        /// Its index.
        index: usize,
        /// Address and size of what is reserved.
        reservation: (u64, u64),
    },
    /// The command line limits the memory to less than a range needs.
    Limited {
        /// Its index.
        index: usize,
        /// The bytes of memory up to the end of the range.
        needed: u64,
    },
}

impl MemoryFault<'_> {
    /// Returns what is wrong with the tree, for the console.
    pub const fn text(&self) -> &'static str {
        match self {
            Self::NoMemory { .. } => "no memory at a payload",
            Self::Reserved { .. } | Self::ReservedByEntry { .. } => {
                "a payload is in reserved memory"
            }
            Self::Limited { .. } => "mem= leaves no memory at a payload",
        }
    }
}

/// Checks that the tree has memory for each range, and reserves no part of one. Of the memory, Linux keeps `limit` bytes
/// from the lowest address on ([`crate::bootargs::memory_limit`]), or all. Addresses and sizes have two cells, which
/// [`crate::fdt::edit`] requires.
///
/// # Errors
/// The first contradiction.
pub fn check<'a>(
    tree: &'a Tree<'a>,
    filled: &[Filled],
    limit: Option<u64>,
) -> Result<(), MemoryFault<'a>> {
    for (index, range) in filled.iter().enumerate() {
        let mut address = range.start;
        while address < range.end {
            // Memory does not go on at address 0 after the last address.
            let has = |start, size| address.checked_sub(start).is_some_and(|offset| offset < size);
            let Some((_, (start, size))) = find(tree, Kind::Memory, &has) else {
                return Err(MemoryFault::NoMemory { index, address });
            };
            address = start.saturating_add(size);
            if address == u64::MAX {
                break;
            }
        }
        let needed = Cell::new(0_u64);
        let count = |start: u64, size: u64| {
            let below = range.end.saturating_sub(start).min(size);
            needed.set(needed.get().saturating_add(below));
            false
        };
        find(tree, Kind::Memory, &count);
        let needed = needed.get();
        if range.start < range.end && limit.is_some_and(|limit| needed > limit) {
            return Err(MemoryFault::Limited { index, needed });
        }
        let overlaps = |start, size| range.overlaps(start, size);
        if let Some((node, reservation)) = find(tree, Kind::Reserved, &overlaps) {
            return Err(MemoryFault::Reserved { index, node, reservation });
        }
        let entries = tree.reservations.as_chunks::<16>().0;
        if let Some(reservation) = entries.iter().map(pair).find(|it| overlaps(it.0, it.1)) {
            return Err(MemoryFault::ReservedByEntry { index, reservation });
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Memory,
    Reserved,
}

/// Returns the first range of this kind that `is_it` accepts, with the name of its node. Both are enabled nodes: those of
/// memory are children of the root, those of reservations of `/reserved-memory`.
// One copy for all callers, because a stage has little room.
#[inline(never)]
fn find<'a>(
    tree: &'a Tree<'a>,
    kind: Kind,
    is_it: &dyn Fn(u64, u64) -> bool,
) -> Option<(&'a [u8], (u64, u64))> {
    const CHILD: usize = 2;
    const GRANDCHILD: usize = 3;
    let mut is_below_reserved = false;
    for node in Nodes::all(tree) {
        if node.depth == CHILD {
            is_below_reserved = node.name == b"reserved-memory";
        }
        let is_of_kind = match (kind, node.depth) {
            (Kind::Memory, CHILD) => tree.property(&node, "device_type") == Some(b"memory\0"),
            (Kind::Reserved, GRANDCHILD) => is_below_reserved,
            _ => false,
        };
        if is_of_kind && is_available(tree, &node) {
            let found = ranges(tree, &node, kind).find(|(start, size)| is_it(*start, *size));
            if let Some(range) = found {
                return Some((node.name, range));
            }
        }
    }
    None
}

fn is_available(tree: &Tree<'_>, node: &FoundNode<'_>) -> bool {
    tree.property(node, "status").is_none_or(is_okay)
}

/// Returns addresses and sizes of a node. Of memory, Linux prefers the property of its own.
fn ranges<'a>(
    tree: &Tree<'a>,
    node: &FoundNode<'_>,
    kind: Kind,
) -> impl Iterator<Item = (u64, u64)> + use<'a> {
    let own = tree.property(node, "linux,usable-memory").filter(|_| kind == Kind::Memory);
    let reg = own.or_else(|| tree.property(node, "reg")).unwrap_or_default();
    reg.as_chunks::<16>().0.iter().map(pair)
}

fn pair(entry: &[u8; 16]) -> (u64, u64) {
    let number = |at| bytes_at(entry, at).map_or(0, u64::from_be_bytes);
    (number(0), number(8))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::builder::{Node, cells};

    fn memory(name: &str, reg: &[u32]) -> Node {
        Node::new(name).with("device_type", b"memory\0").with("reg", &cells(reg))
    }

    fn tree() -> Node {
        let reserved = Node::new("reserved-memory")
            .and(Node::new("vendor@90000000").with("reg", &cells(&[0, 0x9000_0000, 0, 0x1000])))
            .and(Node::new("pool").with("size", &cells(&[0, 0x1000])));
        Node::new("")
            .and(memory("memory@80000000", &[0, 0x8000_0000, 0, 0x2000_0000]))
            .and(reserved)
    }

    fn filled(ranges: &[(u64, u64)]) -> Vec<Filled> {
        ranges.iter().map(|(start, end)| Filled { start: *start, end: *end }).collect()
    }

    #[track_caller]
    fn expect(tree: &Node, ranges: &[(u64, u64)], wanted: Result<(), MemoryFault<'_>>) {
        let bytes = tree.flatten();
        assert_eq!(check(&Tree::parse(&bytes).unwrap(), &filled(ranges), None), wanted);
    }

    #[test]
    fn what_is_in_free_memory_is_right() {
        expect(&tree(), &[(0x8000_0000, 0x9000_0000), (0x9000_1000, 0xa000_0000)], Ok(()));
        // Several ranges of one node, and several nodes, are memory together.
        let parts = [0, 0x8000_0000, 0, 0x1000, 0, 0x8000_1000, 0, 0x1000];
        let two = Node::new("")
            .and(memory("memory@0", &parts))
            .and(memory("memory@1", &[0, 0x8000_2000, 0, 0x1000]));
        expect(&two, &[(0x8000_0000, 0x8000_3000)], Ok(()));
        expect(
            &two,
            &[(0x8000_0000, 0x8000_3001)],
            Err(MemoryFault::NoMemory { index: 0, address: 0x8000_3000 }),
        );
    }

    #[test]
    fn what_is_outside_of_memory_is_found() {
        let no_memory = |index, address| Err(MemoryFault::NoMemory { index, address });
        expect(&tree(), &[(0x7fff_f000, 0x8000_1000)], no_memory(0, 0x7fff_f000));
        let ranges = [(0x8000_0000, 0x8000_1000), (0x9f00_0000, 0xa000_1000)];
        expect(&tree(), &ranges, no_memory(1, 0xa000_0000));
        let mut disabled = tree();
        disabled.at("memory@80000000").set("status", b"disabled\0");
        expect(&disabled, &[(0x8000_0000, 0x8000_1000)], no_memory(0, 0x8000_0000));
        let mut less = tree();
        less.at("memory@80000000").set("linux,usable-memory", &cells(&[0, 0x8000_0000, 0, 0x1000]));
        expect(&less, &[(0x8000_0000, 0x8000_2000)], no_memory(0, 0x8000_1000));
        expect(&Node::new(""), &[(0x8000_0000, 0x8000_1000)], no_memory(0, 0x8000_0000));
        // The end of this memory would be above all addresses, and a sum of 64 bits 0x9000_0000.
        let wrapped = memory("memory@ffffffff00000000", &[u32::MAX, 0, 1, 0x9000_0000]);
        let wrapped = Node::new("").and(wrapped);
        expect(&wrapped, &[(0x8000_0000, 0x8000_1000)], no_memory(0, 0x8000_0000));
    }

    #[test]
    fn what_a_limit_cuts_off_is_found() {
        let two = Node::new("")
            .and(memory("memory@1", &[0, 0x9000_0000, 0, 0x1000]))
            .and(memory("memory@0", &[0, 0x8000_0000, 0, 0x1000]));
        let bytes = two.flatten();
        let tree = Tree::parse(&bytes).unwrap();
        let ranges = [(0x8000_0000, 0x8000_1000), (0x9000_0000, 0x9000_0800)];
        let limited = |limit| check(&tree, &filled(&ranges), limit);
        assert_eq!(limited(None), Ok(()));
        assert_eq!(limited(Some(0x1800)), Ok(()));
        let wanted = |index, needed| Err(MemoryFault::Limited { index, needed });
        assert_eq!(limited(Some(0x17ff)), wanted(1, 0x1800));
        assert_eq!(limited(Some(0xfff)), wanted(0, 0x1000));
        let nothing = (0x9000_0800, 0x9000_0800);
        assert_eq!(check(&tree, &filled(&[(0, 0), nothing]), Some(1)), Ok(()));
    }

    #[test]
    fn what_is_reserved_is_found() {
        let reservation = (0x9000_0000, 0x1000);
        let wanted = MemoryFault::Reserved { index: 0, node: b"vendor@90000000", reservation };
        expect(&tree(), &[(0x9000_0fff, 0x9000_1000)], Err(wanted));
        expect(&tree(), &[(0x8000_0000, 0x9000_0001)], Err(wanted));
        let mut disabled = tree();
        disabled.at("reserved-memory/vendor@90000000").set("status", b"disabled\0");
        expect(&disabled, &[(0x8000_0000, 0x9000_0001)], Ok(()));
        // Linux reads a status up to its first zero, and the length of a value says nothing to it.
        for status in [&b"okay\0"[..], b"okay", b"ok\0\0", b"ok\0disabled\0"] {
            let mut enabled = tree();
            enabled.at("reserved-memory/vendor@90000000").set("status", status);
            expect(&enabled, &[(0x8000_0000, 0x9000_0001)], Err(wanted));
        }
        // This property is one of memory. In a reservation it hides nothing.
        let mut hidden = tree();
        hidden.at("reserved-memory/vendor@90000000").set("linux,usable-memory", b"");
        expect(&hidden, &[(0x8000_0000, 0x9000_0001)], Err(wanted));
        // An empty range has no address in common with another one.
        expect(&tree(), &[(0x9000_0800, 0x9000_0800)], Ok(()));
        let mut empty = tree();
        empty.at("reserved-memory/vendor@90000000").set("reg", &cells(&[0, 0x9000_0000, 0, 0]));
        expect(&empty, &[(0x8000_0000, 0x9000_0001)], Ok(()));
        // An entry before the end of the reservation block.
        let mut bytes = tree().flatten();
        let entry = cells(&[0, 0x9100_0000, 0, 0x2000]);
        bytes.splice(40..40, entry);
        for at in [8, 12] {
            let offset = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) + 16;
            bytes[at..at + 4].copy_from_slice(&offset.to_be_bytes());
        }
        let total = bytes.len() as u32;
        bytes[4..8].copy_from_slice(&total.to_be_bytes());
        let tree = Tree::parse(&bytes).unwrap();
        let wanted = MemoryFault::ReservedByEntry { index: 0, reservation: (0x9100_0000, 0x2000) };
        assert_eq!(check(&tree, &filled(&[(0x9100_1000, 0x9100_3000)]), None), Err(wanted));
        assert_eq!(check(&tree, &filled(&[(0x9100_2000, 0x9100_3000)]), None), Ok(()));
    }
}
