//! Makes device trees for tests, which need no external tool and no file with a tree.

use std::borrow::ToOwned;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use crate::domain::{Access, Closed, EXECUTE, READ, WRITE};

/// A node of a device tree. The changes that tests make panic if a node or property does not exist.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Its name with the unit address.
    pub name: String,
    /// Names and values of its properties.
    pub properties: Vec<(String, Vec<u8>)>,
    /// Its children.
    pub children: Vec<Node>,
}

/// Returns the bytes of cells.
pub fn cells(cells: &[u32]) -> Vec<u8> {
    cells.iter().flat_map(|cell| cell.to_be_bytes()).collect()
}

/// Returns two cells for a number of 64 bits.
fn double(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

impl Node {
    /// Makes a node without properties.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Adds or replaces a property.
    #[must_use]
    pub fn with(mut self, name: &str, value: &[u8]) -> Self {
        self.set(name, value);
        self
    }

    /// Adds a child.
    #[must_use]
    pub fn and(mut self, child: Node) -> Self {
        self.children.push(child);
        self
    }

    /// Adds or replaces a property.
    pub fn set(&mut self, name: &str, value: &[u8]) {
        match self.properties.iter_mut().find(|(own, _)| own == name) {
            Some(property) => property.1 = value.to_vec(),
            None => self.properties.push((name.to_owned(), value.to_vec())),
        }
    }

    /// Removes a property.
    pub fn remove(&mut self, name: &str) {
        let before = self.properties.len();
        self.properties.retain(|(own, _)| own != name);
        assert_ne!(self.properties.len(), before, "{}: no {name}", self.name);
    }

    /// Returns a node by its path below this one: `cpus/cpu@0`.
    pub fn at(&mut self, path: &str) -> &mut Node {
        path.split('/').fold(self, |node, name| {
            let child = node.children.iter_mut().find(|child| child.name == name);
            child.unwrap_or_else(|| panic!("no {name} of {path}"))
        })
    }

    fn write(&self, structure: &mut Vec<u8>, strings: &mut Vec<u8>) {
        let pad = |bytes: &mut Vec<u8>| bytes.resize(bytes.len().next_multiple_of(4), 0);
        structure.extend([0, 0, 0, 1]);
        structure.extend(self.name.bytes().chain([0]));
        pad(structure);
        for (name, value) in &self.properties {
            structure.extend([0, 0, 0, 3]);
            structure.extend(cells(&[value.len() as u32, strings.len() as u32]));
            structure.extend(value);
            pad(structure);
            strings.extend(name.bytes().chain([0]));
        }
        for child in &self.children {
            child.write(structure, strings);
        }
        structure.extend([0, 0, 0, 2]);
    }

    /// Returns the flattened device tree of which this node is the root (Devicetree Specification v0.4 §5).
    pub fn flatten(&self) -> Vec<u8> {
        const RESERVATIONS_AT: usize = 40;
        const STRUCTURE_AT: usize = RESERVATIONS_AT + 16;
        let (mut structure, mut strings) = (Vec::new(), Vec::new());
        self.write(&mut structure, &mut strings);
        structure.extend([0, 0, 0, 9]);
        let strings_at = STRUCTURE_AT + structure.len();
        let total = strings_at + strings.len();
        let header = [
            0xd00d_feed,
            total as u32,
            STRUCTURE_AT as u32,
            strings_at as u32,
            RESERVATIONS_AT as u32,
            17,
            16,
            0,
            strings.len() as u32,
            structure.len() as u32,
        ];
        [cells(&header), vec![0; 16], structure, strings].concat()
    }
}

/// Path of the domain in [`boot_tree`].
pub const DOMAIN: &str = "chosen/opensbi-domains/system";
/// Path of the region that opens all memory in [`boot_tree`].
pub const MEMORY: &str = "chosen/opensbi-domains/memory";

/// The phandle of the domain in [`boot_tree`]. That of hart n is n + 1.
pub const DOMAIN_PHANDLE: u32 = 0x100;

/// Makes a node of a region.
pub fn region(name: &str, phandle: u32, base: u64, order: u32) -> Node {
    Node::new(name)
        .with("compatible", b"opensbi,domain,memregion\0")
        .with("base", &cells(&double(base)))
        .with("order", &cells(&[order]))
        .with("phandle", &cells(&[phandle]))
}

/// Makes a device tree for OpenSBI whose domain has all harts, closes these ranges, and opens the gigabyte of memory
/// from `memory` on. A range is closed by as many regions as aligned powers of two make it up.
pub fn boot_tree(harts: u32, memory: u64, closed: &[Closed]) -> Node {
    let mut domains = Node::new("opensbi-domains").with("compatible", b"opensbi,domain,config\0");
    let mut regions = Vec::new();
    let mut phandle = DOMAIN_PHANDLE + 1;
    for range in closed.iter().filter(|range| range.access != Access::Monitor) {
        let mut start = range.start;
        while start < range.end {
            let order = (range.end - start).ilog2().min(start.trailing_zeros());
            domains.children.push(region(&format!("closed-{start:x}"), phandle, start, order));
            regions.extend([phandle, if range.access == Access::Read { READ } else { 0 }]);
            phandle += 1;
            start += 1 << order;
        }
    }
    domains.children.push(region("memory", phandle, memory, 30));
    regions.extend([phandle, READ | WRITE | EXECUTE | 7]);
    let all: Vec<u32> = (1..=harts).collect();
    domains.children.push(
        Node::new("system")
            .with("compatible", b"opensbi,domain,instance\0")
            .with("possible-harts", &cells(&all))
            .with("regions", &cells(&regions))
            .with("boot-hart", &cells(&[1]))
            .with("system-reset-allowed", b"")
            .with("phandle", &cells(&[DOMAIN_PHANDLE])),
    );
    let settings = Node::new("opensbi-config")
        .with("compatible", b"opensbi,config\0")
        .with("cold-boot-harts", &cells(&[1]));
    let mut cpus = cpus(harts);
    for cpu in &mut cpus.children {
        cpu.set("opensbi-domain", &cells(&[DOMAIN_PHANDLE]));
    }
    let console = Node::new("serial@10000000")
        .with("compatible", b"ns16550a\0")
        .with("reg", &cells(&[0x1000_0000, 0x100]));
    let bus = Node::new("bus")
        .with("#address-cells", &cells(&[1]))
        .with("#size-cells", &cells(&[1]))
        .with("ranges", b"")
        .and(console);
    Node::new("").and(Node::new("chosen").and(settings).and(domains)).and(cpus).and(bus)
}

fn cpus(harts: u32) -> Node {
    let mut cpus = Node::new("cpus")
        .with("#address-cells", &cells(&[1]))
        .with("#size-cells", &cells(&[0]))
        .with("timebase-frequency", &cells(&[10_000_000]));
    for hart in 0..harts {
        cpus.children.push(
            Node::new(&format!("cpu@{hart:x}"))
                .with("device_type", b"cpu\0")
                .with("reg", &cells(&[hart]))
                .with("status", b"okay\0")
                .with("compatible", b"riscv\0")
                .with("riscv,isa", b"rv64imafdc\0")
                .with("phandle", &cells(&[hart + 1]))
                .and(Node::new("interrupt-controller").with("compatible", b"riscv,cpu-intc\0")),
        );
    }
    cpus
}

/// Makes a device tree for Linux with the gigabyte of memory from `memory` on.
pub fn system_tree(harts: u32, memory: u64) -> Node {
    let two = cells(&[2]);
    let reserved = Node::new("reserved-memory")
        .with("#address-cells", &two)
        .with("#size-cells", &two)
        .with("ranges", b"");
    Node::new("")
        .with("#address-cells", &two)
        .with("#size-cells", &two)
        .and(memory_node(memory))
        .and(cpus(harts))
        .and(Node::new("chosen").with("stdout-path", b"/soc/serial@10000000\0"))
        .and(reserved)
}

/// Makes the node of the gigabyte of memory from `start` on.
pub fn memory_node(start: u64) -> Node {
    let [high, low] = double(start);
    Node::new(&format!("memory@{start:x}"))
        .with("device_type", b"memory\0")
        .with("reg", &cells(&[high, low, 0, 1 << 30]))
}
