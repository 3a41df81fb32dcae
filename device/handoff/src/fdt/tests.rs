//! The trees are built by code here, so that the tests need no external tool. The boot tests show that `dtc` and
//! Linux read the result.

use std::string::String;
use std::vec::Vec;
use std::{format, vec};

use super::*;

/// A device tree under construction.
#[derive(Default, Clone)]
struct Builder {
    structure: Vec<u8>,
    strings: Vec<u8>,
}

impl Builder {
    fn token(&mut self, token: u32) {
        self.structure.extend(token.to_be_bytes());
    }

    fn begin(mut self, name: &str) -> Self {
        self.token(BEGIN_NODE);
        self.structure.extend(name.as_bytes());
        self.structure.push(0);
        self.structure.resize(self.structure.len().next_multiple_of(4), 0);
        self
    }

    fn prop(mut self, name: &str, value: &[u8]) -> Self {
        self.token(PROP);
        self.structure.extend((value.len() as u32).to_be_bytes());
        self.structure.extend((self.strings.len() as u32).to_be_bytes());
        self.structure.extend(value);
        self.structure.resize(self.structure.len().next_multiple_of(4), 0);
        self.strings.extend(name.as_bytes());
        self.strings.push(0);
        self
    }

    fn end(mut self) -> Self {
        self.token(END_NODE);
        self
    }

    fn finish(mut self) -> Vec<u8> {
        self.token(END);
        let strings_at = 56 + self.structure.len();
        let total = strings_at + self.strings.len();
        let mut tree = Vec::new();
        for field in [
            MAGIC,
            total as u32,
            56,
            strings_at as u32,
            40,
            17,
            16,
            0,
            self.strings.len() as u32,
            self.structure.len() as u32,
        ] {
            tree.extend(field.to_be_bytes());
        }
        tree.extend([0; 16]);
        tree.extend(self.structure);
        tree.extend(self.strings);
        tree
    }
}

fn cells(node: Builder) -> Builder {
    node.prop("#address-cells", &2u32.to_be_bytes()).prop("#size-cells", &2u32.to_be_bytes())
}

fn cpu(tree: Builder, hart: u32) -> Builder {
    tree.begin(&format!("cpu@{hart:x}"))
        .prop("reg", &hart.to_be_bytes())
        .prop("status", b"okay\0")
        .end()
}

fn example() -> Builder {
    let tree = Builder::default().begin("").prop("model", b"x\0").begin("chosen").end();
    let tree = cells(tree.begin("reserved-memory")).prop("ranges", b"").end();
    cpu(cpu(tree.begin("cpus"), 0), 1).end().end()
}

const EDITS: Edits<'static> = Edits {
    bootargs: "quiet",
    initrd: Some((0x8800_0000, 0x8800_1234)),
    reservations: &[
        Reservation { name: "hartlock-a", address: 0x8000_0000, size: 4096, compatible: None },
        Reservation { name: "hartlock-b", address: 0, size: 16, compatible: Some("x,y") },
    ],
    harts: 0b01,
};

/// Returns the tokens of a tree as text, one line for each token.
fn dump(tree: &[u8]) -> Vec<String> {
    let parts = Tree::parse(tree).expect("the result is a tree");
    let (mut at, mut lines, mut path) = (0, Vec::new(), Vec::new());
    loop {
        let token = be32_at(parts.structure, at).unwrap();
        at += 4;
        match token {
            BEGIN_NODE => {
                let name = String::from_utf8(text_at(parts.structure, at).unwrap().into()).unwrap();
                at = aligned(at + name.len() + 1).unwrap();
                path.push(name);
                lines.push(path.join("/"));
            }
            END_NODE => drop(path.pop()),
            PROP => {
                let len = be32_at(parts.structure, at).unwrap() as usize;
                let name_at = be32_at(parts.structure, at + 4).unwrap() as usize;
                let name = String::from_utf8(text_at(parts.strings, name_at).unwrap().into());
                let value = &parts.structure[at + 8..at + 8 + len];
                lines.push(format!("{} {} {value:x?}", path.join("/"), name.unwrap()));
                at = aligned(at + 8 + len).unwrap();
            }
            END => return lines,
            _ => panic!("token {token}"),
        }
    }
}

fn edited(tree: &[u8], edits: &Edits<'_>) -> Result<Vec<String>, Reason> {
    let mut out = vec![0xee; 4096];
    let len = edit(tree, &mut out, edits)?;
    Ok(dump(&out[..len]))
}

#[test]
fn makes_exactly_the_permitted_edits() {
    let before = dump(&example().finish());
    let after = edited(&example().finish(), &EDITS).unwrap();
    let added: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
    let removed: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
    assert_eq!(
        added,
        [
            "/chosen bootargs [71, 75, 69, 65, 74, 0]",
            "/chosen linux,initrd-start [0, 0, 0, 0, 88, 0, 0, 0]",
            "/chosen linux,initrd-end [0, 0, 0, 0, 88, 0, 12, 34]",
            "/reserved-memory/hartlock-a@80000000",
            "/reserved-memory/hartlock-a@80000000 reg [0, 0, 0, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0]",
            "/reserved-memory/hartlock-a@80000000 no-map []",
            "/reserved-memory/hartlock-b@0",
            "/reserved-memory/hartlock-b@0 reg [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10]",
            "/reserved-memory/hartlock-b@0 no-map []",
            "/reserved-memory/hartlock-b@0 compatible [78, 2c, 79, 0]",
            "/cpus/cpu@1 status [64, 69, 73, 61, 62, 6c, 65, 64, 0]",
        ]
    );
    assert_eq!(removed, ["/cpus/cpu@1 status [6f, 6b, 61, 79, 0]"]);
}

#[test]
fn without_an_initramfs_there_is_no_initrd_property() {
    let after = edited(&example().finish(), &Edits { initrd: None, ..EDITS }).unwrap();
    assert!(!after.iter().any(|line| line.contains("initrd")));
}

#[test]
fn refuses_a_tree_that_lacks_or_already_has_what_is_edited() {
    let root = || Builder::default().begin("");
    let reserved = |tree: Builder| cells(tree.begin("reserved-memory")).end();
    let broken = [
        ("no chosen", reserved(root()).end()),
        ("no reserved-memory", root().begin("chosen").end().end()),
        ("two chosen", reserved(root().begin("chosen").end()).begin("chosen").end().end()),
        ("bootargs", reserved(root().begin("chosen").prop("bootargs", b"\0").end()).end()),
        ("initrd", reserved(root().begin("chosen").prop("linux,initrd-end", &[0; 8]).end()).end()),
        (
            "other cells",
            root()
                .begin("chosen")
                .end()
                .begin("reserved-memory")
                .prop("#address-cells", &1u32.to_be_bytes())
                .prop("#size-cells", &1u32.to_be_bytes())
                .end()
                .end(),
        ),
        (
            "reservation of ours",
            cells(root().begin("chosen").end().begin("reserved-memory"))
                .begin("hartlock-a@0")
                .end()
                .end()
                .end(),
        ),
        (
            "cpu with another reg",
            reserved(root().begin("chosen").end())
                .begin("cpus")
                .begin("cpu@1")
                .prop("reg", &2u32.to_be_bytes())
                .end()
                .end()
                .end(),
        ),
        (
            "cpu without a number",
            reserved(root().begin("chosen").end()).begin("cpus").begin("cpu@+1").end().end().end(),
        ),
        (
            "cpu with an empty reg",
            reserved(root().begin("chosen").end())
                .begin("cpus")
                .begin("cpu@0")
                .prop("reg", b"")
                .end()
                .end()
                .end(),
        ),
        (
            "address cells twice and no size cells",
            root()
                .begin("chosen")
                .end()
                .begin("reserved-memory")
                .prop("#address-cells", &2u32.to_be_bytes())
                .prop("#address-cells", &2u32.to_be_bytes())
                .end()
                .end(),
        ),
        ("open node", reserved(root().begin("chosen").end())),
        ("a second root", example().begin("").end()),
        (
            "a property before the root",
            reserved(Builder::default().prop("x", b"").begin("").begin("chosen").end()).end(),
        ),
        ("a property after the end of the root", example().prop("model", b"x\0")),
    ];
    for (what, tree) in broken {
        assert_eq!(edited(&tree.finish(), &EDITS), Err(Reason::DeviceTreeUnusable), "{what}");
    }
}

#[test]
fn refuses_a_place_that_is_too_small() {
    let tree = example().finish();
    let mut out = vec![0; 4096];
    let len = edit(&tree, &mut out, &EDITS).unwrap();
    for size in 0..len {
        let refused = edit(&tree, &mut vec![0; size], &EDITS);
        assert_eq!(refused, Err(Reason::DeviceTreeUnusable), "{size} bytes");
    }
}

#[test]
fn any_cut_and_any_changed_byte_end_without_a_panic() {
    let tree = example().finish();
    let mut out = vec![0; 4096];
    for len in 0..tree.len() {
        assert!(edit(&tree[..len], &mut out, &EDITS).is_err(), "cut to {len} bytes");
    }
    for at in 0..tree.len() {
        for value in [0, 1, 2, 3, 4, 9, 0x7f, 0xff] {
            let mut changed = tree.clone();
            changed[at] = value;
            let _ = edit(&changed, &mut out, &EDITS);
        }
    }
}
