//! The edits of the device tree for Linux (boot flow §6), and the rules of that for OpenSBI (§5.6).
//!
//! Rules: an edited tree differs from its source only in the permitted places, once in each; a tree
//! that can be edited is not refused. The reader here is independent: it builds a tree, whereas
//! `hartlock_handoff::fdt` copies tokens.

use hartlock_handoff::domain;
use hartlock_handoff::fdt::{Edits, Reservation, edit};
use hartlock_maps::qemu_virt;

use crate::choices::Choices;

#[derive(Clone, Debug, PartialEq)]
struct Node {
    name: Vec<u8>,
    items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Property(Vec<u8>, Vec<u8>),
    Node(Node),
}

/// The root node, and the parts of a device tree that the edits do not change.
#[derive(Clone, Debug, PartialEq)]
struct DeviceTree {
    boot_cpu: u32,
    reservations: Vec<u8>,
    root: Node,
}

const RESERVATIONS: [Reservation<'static>; 2] = [
    Reservation { name: "hartlock-rom", address: 0x8010_0000, size: 0x1_0000, compatible: None },
    Reservation { name: "hartlock-log", address: 0, size: 16, compatible: Some("hartlock,log") },
];

fn edits(choices: &mut Choices<'_>) -> Edits<'static> {
    Edits {
        bootargs: choices.of(&["quiet", "", "console=ttyS0 rdinit=/init"]),
        initrd: choices.of(&[Some((0x8800_0000, 0x8800_1234)), None, Some((u64::MAX, 0))]),
        reservations: &RESERVATIONS[..choices.of(&[2, 1, 0])],
        harts: choices.of(&[0b1, 0b11111, 0b10, 0, u64::MAX]),
        boot_hart: 0,
    }
}

/// Edits arbitrary bytes.
pub fn bytes(data: &[u8]) {
    let mut choices = Choices::new(data);
    let edits = edits(&mut choices);
    check(choices.rest(), &edits);
}

/// Edits a tree that has most of the nodes and properties that the edits need.
pub fn built(data: &[u8]) {
    let mut choices = Choices::new(data);
    let edits = edits(&mut choices);
    let mut source = Source::default();
    source.build(&mut choices);
    // Each pair is the version and the last compatible version.
    let versions = choices.of(&[(17, 16), (17, 16), (17, 17), (16, 16), (18, 16), (18, 18)]);
    let mut blob = source.finish(choices.word(), versions);
    for _ in 0..choices.of(&[0, 0, 0, 1, 2]) {
        let at = choices.below(blob.len());
        blob[at] = choices.byte();
    }
    check(&blob, &edits);
}

fn check(source: &[u8], edits: &Edits<'_>) {
    // A tree without a domain is never right.
    if let Some(wanted) = qemu_virt::BOARD.domain() {
        let judged = domain::check(source, &wanted);
        let names_domain = source.windows(21).any(|text| text == b"opensbi,domain,config");
        assert!(judged.is_err() || names_domain, "{judged:?}");
    }
    let mut out = vec![0xee; 2 * source.len() + 1024];
    let result = edit(source, &mut out, edits);
    let wanted = read(source).and_then(|tree| apply(tree, edits));
    match (result, wanted) {
        (Ok(len), Some(wanted)) => {
            let edited = read(&out[..len]).expect("the result is a tree");
            assert!(edited == wanted, "edited: {edited:?}\nwanted: {wanted:?}");
            assert!(edit(&out[..len], &mut vec![0; out.len()], edits).is_err(), "edited twice");
            assert!(edit(source, &mut vec![0; len - 1], edits).is_err(), "too small a place");
        }
        (Err(_), None) => {}
        (Ok(_), None) => panic!("a tree that is malformed or not fit is edited"),
        (Err(_), Some(wanted)) => panic!("a good tree is refused: {wanted:?}"),
    }
}

// --- expected result ---

fn property(name: &str, value: impl Into<Vec<u8>>) -> Item {
    Item::Property(name.into(), value.into())
}

fn text(value: &str) -> Vec<u8> {
    [value.as_bytes(), b"\0"].concat()
}

/// Returns the tree with the edits; `None` if it must be refused.
fn apply(mut tree: DeviceTree, edits: &Edits<'_>) -> Option<DeviceTree> {
    is_well_ordered(&tree.root).then_some(())?;
    has_two_cells(&tree.root).then_some(())?;
    let (mut chosen, mut reserved, mut boot_harts) = (0, 0, 0);
    for item in &mut tree.root.items {
        let Item::Node(node) = item else { continue };
        match node.name.as_slice() {
            b"chosen" => {
                chosen += 1;
                edit_chosen(node, edits)?;
            }
            b"reserved-memory" => {
                reserved += 1;
                edit_reserved(node, edits)?;
            }
            b"cpus" => {
                for item in &mut node.items {
                    if let Item::Node(cpu) = item {
                        boot_harts += edit_cpu(cpu, edits)?;
                    }
                }
            }
            name if name.starts_with(b"chosen@") || name.starts_with(b"reserved-memory@") => {
                return None;
            }
            _ => {}
        }
    }
    if chosen == 0 {
        let mut node = Node { name: b"chosen".to_vec(), items: Vec::new() };
        edit_chosen(&mut node, edits)?;
        tree.root.items.push(Item::Node(node));
    }
    if reserved == 0 {
        let cells = ["#address-cells", "#size-cells"].map(|name| property(name, [0, 0, 0, 2]));
        let items = cells.into_iter().chain([property("ranges", [])]).collect();
        let mut node = Node { name: b"reserved-memory".to_vec(), items };
        edit_reserved(&mut node, edits)?;
        tree.root.items.push(Item::Node(node));
    }
    (chosen <= 1 && reserved <= 1 && boot_harts == 1).then_some(tree)
}

/// Returns true if the properties of each node are before its children.
fn is_well_ordered(node: &Node) -> bool {
    let is_node = |item: &Item| matches!(item, Item::Node(_));
    let first = node.items.iter().position(is_node).unwrap_or(node.items.len());
    node.items[first..].iter().all(|item| match item {
        Item::Node(child) => is_well_ordered(child),
        Item::Property(..) => false,
    })
}

fn has_two_cells(node: &Node) -> bool {
    ["#address-cells", "#size-cells"].iter().all(|name| values(node, name).eq([&[0, 0, 0, 2][..]]))
}

fn edit_chosen(node: &mut Node, edits: &Edits<'_>) -> Option<()> {
    let is_of_one_boot = |name: &[u8]| {
        let is_of_board = [&b"linux,stdout-path"[..], b"linux,pci-probe-only"].contains(&name);
        [&b"bootargs"[..], b"kaslr-seed", b"rng-seed"].contains(&name)
            || name.starts_with(b"linux,") && !is_of_board
    };
    let is_wrong = |item: &Item| matches!(item, Item::Property(name, _) if is_of_one_boot(name));
    if node.items.iter().any(is_wrong) {
        return None;
    }
    let mut added = vec![property("bootargs", text(edits.bootargs))];
    if let Some((start, end)) = edits.initrd {
        added.push(property("linux,initrd-start", start.to_be_bytes()));
        added.push(property("linux,initrd-end", end.to_be_bytes()));
    }
    node.items.splice(0..0, added);
    Some(())
}

fn edit_reserved(node: &mut Node, edits: &Edits<'_>) -> Option<()> {
    if !has_two_cells(node) || values(node, "ranges").count() != 1 {
        return None;
    }
    let is_ours =
        |item: &Item| matches!(item, Item::Node(child) if child.name.starts_with(b"hartlock-"));
    if node.items.iter().any(is_ours) {
        return None;
    }
    for reservation in edits.reservations {
        let range = [reservation.address.to_be_bytes(), reservation.size.to_be_bytes()];
        let mut items = vec![property("reg", range.concat()), property("no-map", [])];
        items.extend(reservation.compatible.map(|it| property("compatible", text(it))));
        let name = format!("{}@{:x}", reservation.name, reservation.address).into_bytes();
        node.items.push(Item::Node(Node { name, items }));
    }
    Some(())
}

/// Edits a node of a CPU. Returns how often it names the boot hart.
fn edit_cpu(node: &mut Node, edits: &Edits<'_>) -> Option<usize> {
    let hart = match node.name.strip_prefix(b"cpu@") {
        // A unit address consists of hexadecimal digits only (Devicetree Specification §2.2.1).
        Some(unit) => {
            if unit.is_empty() || unit.len() > 16 || !unit.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            u64::from_str_radix(str::from_utf8(unit).ok()?, 16).ok()?
        }
        None => {
            let mut kinds = values(node, "device_type");
            let is_cpu = |it: &[u8]| it == b"cpu" || it.starts_with(b"cpu\0");
            if node.name != b"cpu" && !kinds.next().is_some_and(is_cpu) {
                return Some(0);
            }
            let Some(reg) = values(node, "reg").next() else { return Some(0) };
            let number = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
            matches!(reg.len(), 4 | 8).then(|| reg.iter().fold(0, number))?
        }
    };
    for value in values(node, "reg") {
        let number = match *value {
            [a, b, c, d] => u64::from(u32::from_be_bytes([a, b, c, d])),
            _ => u64::from_be_bytes(value.try_into().ok()?),
        };
        if number != hart {
            return None;
        }
    }
    let is_boot_hart = hart == edits.boot_hart;
    let is_okay = |value: &[u8]| {
        value.split(|it| *it == 0).next().is_some_and(|it| it == b"okay" || it == b"ok")
    };
    if is_boot_hart && values(node, "status").any(|value| !is_okay(value)) {
        return None;
    }
    let count = if is_boot_hart { values(node, "reg").count() } else { 0 };
    if hart >= 64 || edits.harts >> hart & 1 == 0 {
        let is_status = |item: &Item| matches!(item, Item::Property(name, _) if name == b"status");
        node.items.retain(|item| !is_status(item));
        node.items.insert(0, property("status", text("disabled")));
    }
    Some(count)
}

fn values<'a>(node: &'a Node, name: &str) -> impl Iterator<Item = &'a [u8]> {
    node.items.iter().filter_map(move |item| match item {
        Item::Property(own, value) if own == name.as_bytes() => Some(&value[..]),
        _ => None,
    })
}

// --- independent reader (Devicetree Specification §5) ---

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn string(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    rest.get(..rest.iter().position(|byte| *byte == 0)?)
}

fn read(blob: &[u8]) -> Option<DeviceTree> {
    let blob = blob.get(..word(blob, 4)? as usize)?;
    let header: Vec<u32> = (0..10).map(|index| word(blob, 4 * index)).collect::<Option<_>>()?;
    if header[0] != 0xd00d_feed || header[5] < 17 || header[6] > 17 {
        return None;
    }
    let part = |at: u32, len: u32| blob.get(at as usize..)?.get(..len as usize);
    let reservations = blob.get(header[4] as usize..)?;
    let count = reservations.chunks_exact(16).position(|entry| entry == [0; 16])?;
    let mut reader =
        Reader { tokens: part(header[2], header[9])?, strings: part(header[3], header[8])?, at: 0 };
    let root = reader.root()?;
    Some(DeviceTree {
        boot_cpu: header[7],
        reservations: reservations[..16 * count].to_vec(),
        root,
    })
}

struct Reader<'a> {
    tokens: &'a [u8],
    strings: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<u32> {
        loop {
            let token = word(self.tokens, self.at)?;
            self.at += 4;
            if token != 4 {
                return Some(token);
            }
        }
    }

    /// Reads the root node, which has no name, and the end token after it.
    fn root(&mut self) -> Option<Node> {
        let is_root = self.next()? == 1;
        let root = self.node()?;
        (is_root && root.name.is_empty() && self.next()? == 9).then_some(root)
    }

    /// Reads a node whose begin token was already read.
    fn node(&mut self) -> Option<Node> {
        let name = string(self.tokens, self.at)?.to_vec();
        self.at = (self.at + name.len() + 1).next_multiple_of(4);
        let mut items = Vec::new();
        loop {
            match self.next()? {
                1 => items.push(Item::Node(self.node()?)),
                2 => return Some(Node { name, items }),
                3 => {
                    let len = word(self.tokens, self.at)? as usize;
                    let name = string(self.strings, word(self.tokens, self.at + 4)? as usize)?;
                    let value = self.tokens.get(self.at + 8..self.at + 8 + len)?;
                    items.push(Item::Property(name.to_vec(), value.to_vec()));
                    self.at = (self.at + 8 + len).next_multiple_of(4);
                }
                _ => return None,
            }
        }
    }
}

// --- source trees ---

#[derive(Default)]
struct Source {
    tokens: Vec<u8>,
    strings: Vec<u8>,
}

const NODES: [&str; 18] = [
    "chosen",
    "reserved-memory",
    "cpus",
    "cpu@0",
    "cpu@1",
    "cpu@2",
    "cpu@a",
    "cpu@+1",
    "cpu@",
    "soc",
    "hartlock-log",
    "memory@80000000",
    "cpu@40",
    "cpu",
    "core@1",
    "",
    "chosen@0",
    "reserved-memory@0",
];

const PROPERTIES: [(&str, &[u8]); 18] = [
    ("model", b"x\0"),
    ("#address-cells", &[0, 0, 0, 2]),
    ("#size-cells", &[0, 0, 0, 2]),
    ("#size-cells", &[0, 0, 0, 1]),
    ("reg", &[0, 0, 0, 0]),
    ("reg", &[0, 0, 0, 1]),
    ("reg", &[0, 0, 0, 0, 0, 0, 0, 1]),
    ("reg", &[]),
    ("status", b"okay\0"),
    ("bootargs", b"\0"),
    ("linux,initrd-end", &[0; 8]),
    ("ranges", &[]),
    ("rng-seed", &[7; 8]),
    ("linux,uefi-system-table", &[0; 8]),
    ("linux,stdout-path", b"/soc\0"),
    ("status", b"disabled\0"),
    ("device_type", b"cpu\0"),
    ("device_type", b"memory\0"),
];

impl Source {
    fn token(&mut self, token: u32) {
        self.tokens.extend(token.to_be_bytes());
    }

    fn begin(&mut self, name: &str) {
        self.token(1);
        self.tokens.extend(text(name));
        self.tokens.resize(self.tokens.len().next_multiple_of(4), 0);
    }

    fn property(&mut self, (name, value): (&str, &[u8])) {
        self.token(3);
        self.token(value.len() as u32);
        self.token(self.strings.len() as u32);
        self.tokens.extend(value);
        self.tokens.resize(self.tokens.len().next_multiple_of(4), 0);
        self.strings.extend(text(name));
    }

    /// Writes a correct tree, with additional tokens at some positions.
    fn build(&mut self, choices: &mut Choices<'_>) {
        self.more(choices);
        self.begin("");
        self.property(PROPERTIES[1]);
        if !choices.rarely(10) {
            self.property(PROPERTIES[2]);
        }
        for _ in 0..choices.of(&[0, 0, 1]) {
            self.property(choices.of(&PROPERTIES));
        }
        for (name, children) in [("chosen", 0), ("reserved-memory", 0), ("cpus", 3)] {
            if choices.rarely(8) {
                continue;
            }
            self.begin(name);
            if name == "reserved-memory" {
                self.property(PROPERTIES[1]);
                self.property(PROPERTIES[2]);
                if !choices.rarely(6) {
                    self.property(PROPERTIES[11]);
                }
            }
            self.more(choices);
            for hart in 0..children {
                self.begin(NODES[3 + hart]);
                self.property(("reg", &(hart as u32).to_be_bytes()));
                self.more(choices);
                self.token(2);
            }
            self.token(2);
            self.more(choices);
        }
        self.token(2);
        self.more(choices);
        self.token(9);
    }

    fn more(&mut self, choices: &mut Choices<'_>) {
        for _ in 0..choices.of(&[0, 0, 0, 1, 2]) {
            match choices.below(6) {
                0 => self.token(4),
                1 => {
                    self.begin(choices.of(&NODES));
                    self.property(choices.of(&PROPERTIES));
                    self.token(2);
                }
                2 => self.token(choices.of(&[2, 9, 1, 5])),
                _ => self.property(choices.of(&PROPERTIES)),
            }
        }
    }

    fn finish(mut self, boot_cpu: u32, (version, compatible): (u32, u32)) -> Vec<u8> {
        self.strings.extend(b"unfinished");
        let (tokens_at, strings_at) = (72, 72 + self.tokens.len());
        let total = strings_at + self.strings.len();
        let header = [
            0xd00d_feed,
            total as u32,
            tokens_at,
            strings_at as u32,
            40,
            version,
            compatible,
            boot_cpu,
            self.strings.len() as u32,
            self.tokens.len() as u32,
        ];
        let mut blob: Vec<u8> = header.iter().flat_map(|field| field.to_be_bytes()).collect();
        // The reservation block has one entry and the terminating entry.
        blob.extend([0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0]);
        blob.extend([0; 16]);
        blob.extend(self.tokens);
        blob.extend(self.strings);
        blob
    }
}
