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

fn root() -> Builder {
    cells(Builder::default().begin("").prop("model", b"x\0"))
}

fn chosen(tree: Builder) -> Builder {
    tree.begin("chosen").end()
}

fn reserved(tree: Builder) -> Builder {
    cells(tree.begin("reserved-memory")).prop("ranges", b"").end()
}

/// Adds the harts, and ends the tree.
fn harts(tree: Builder) -> Builder {
    cpu(cpu(tree.begin("cpus"), 0), 1).end().end()
}

fn example() -> Builder {
    harts(reserved(chosen(root())))
}

const EDITS: Edits<'static> = Edits {
    bootargs: "quiet",
    initrd: Some((0x8800_0000, 0x8800_1234)),
    reservations: &[
        Reservation { name: "hartlock-a", address: 0x8000_0000, size: 4096, compatible: None },
        Reservation { name: "hartlock-b", address: 0, size: 16, compatible: Some("x,y") },
    ],
    harts: 0b01,
    boot_hart: 0,
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

fn edited(tree: &[u8], edits: &Edits<'_>) -> Result<Vec<String>, TreeFault> {
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
fn a_cpu_is_what_linux_takes_for_one() {
    let with = |name: &str, properties: &[(&str, &[u8])]| {
        let node = cpu(reserved(chosen(root())).begin("cpus"), 0).begin(name);
        let node = properties.iter().fold(node, |node, it| node.prop(it.0, it.1));
        let after = edited(&node.end().end().end().finish(), &EDITS).unwrap();
        let status = format!("/cpus/{name} status [64, 69, 73, 61, 62, 6c, 65, 64, 0]");
        after.iter().filter(|line| **line == status).count()
    };
    let (kind, reg): ((_, &[u8]), (_, &[u8])) = (("device_type", b"cpu\0"), ("reg", &[0, 0, 0, 1]));
    for (name, properties, count) in [
        ("core@1", &[kind, reg][..], 1),
        ("core@1", &[reg, ("status", b"okay\0"), kind], 1),
        ("core", &[kind, ("reg", &[0, 0, 0, 0, 0, 0, 0, 1])], 1),
        ("cpu", &[reg], 1),
        ("cpu@1", &[], 1),
        // No number, another kind, or a text that only contains it.
        ("core@1", &[kind], 0),
        ("core@1", &[reg], 0),
        ("cpu", &[], 0),
        ("cache@1", &[reg, ("device_type", b"cache\0cpu\0")], 0),
        ("core@1", &[reg, ("device_type", b"cpux\0")], 0),
        ("core@1", &[reg, ("device_type", b"cpu\0x\0")], 1),
    ] {
        assert_eq!(with(name, properties), count, "{name}: {properties:?}");
    }
}

#[test]
fn without_an_initramfs_there_is_no_initrd_property() {
    let after = edited(&example().finish(), &Edits { initrd: None, ..EDITS }).unwrap();
    assert!(!after.iter().any(|line| line.contains("initrd")));
}

#[test]
fn adds_the_nodes_that_are_missing() {
    let whole = edited(&example().finish(), &EDITS).unwrap();
    let wanted = |lines: &[String]| {
        let mut lines: Vec<_> = lines.to_vec();
        lines.sort();
        lines
    };
    for (what, tree) in [
        ("no chosen", harts(reserved(root()))),
        ("no reserved-memory", harts(chosen(root()))),
        ("neither", harts(root())),
    ] {
        let after = edited(&tree.finish(), &EDITS).unwrap();
        assert_eq!(wanted(&after), wanted(&whole), "{what}");
    }
}

#[test]
fn refuses_a_tree_by_the_rule_that_it_breaks() {
    let ours = |name: &str| {
        harts(
            cells(chosen(root()).begin("reserved-memory"))
                .prop("ranges", b"")
                .begin(name)
                .end()
                .end(),
        )
    };
    let of_boot = |name: &str| harts(reserved(root().begin("chosen").prop(name, b"\0").end()));
    let cpu_with = |name: &str, value: &[u8]| {
        cpu(reserved(chosen(root())).begin("cpus"), 0)
            .begin("cpu@1")
            .prop(name, value)
            .end()
            .end()
            .end()
    };
    let boot_hart = |name: &str, value: &[u8]| {
        reserved(chosen(root()))
            .begin("cpus")
            .begin("cpu@0")
            .prop("reg", &[0; 4])
            .prop(name, value)
            .end()
            .end()
            .end()
    };
    let node = |properties: &[(&str, u32)]| {
        let node = chosen(root()).begin("reserved-memory").prop("ranges", b"");
        let with = properties.iter().fold(node, |node, it| node.prop(it.0, &it.1.to_be_bytes()));
        harts(with.end())
    };
    let root_with = |properties: &[(&str, u32)]| {
        let tree = Builder::default().begin("");
        let with = properties.iter().fold(tree, |node, it| node.prop(it.0, &it.1.to_be_bytes()));
        harts(reserved(chosen(with)))
    };
    let (address, size) = ("#address-cells", "#size-cells");
    let broken = [
        ("open node", Rule::Form, {
            let mut tree = chosen(root());
            tree.token(END);
            tree
        }),
        ("a second root", Rule::Form, example().begin("").end()),
        ("a second root with a name", Rule::Form, example().begin("x").end()),
        ("a named root", Rule::Form, Builder::default().begin("x").end()),
        ("no root", Rule::Form, Builder::default()),
        (
            "a property before the root",
            Rule::Form,
            Builder::default().prop("x", b"").begin("").end(),
        ),
        ("a property after the end of the root", Rule::Form, example().prop("model", b"x\0")),
        ("a property after a child", Rule::Form, harts(chosen(root()).prop("model", b"y\0"))),
        ("two chosen", Rule::Once, harts(chosen(chosen(root())))),
        ("chosen with a unit address", Rule::Once, harts(root().begin("chosen@0").end())),
        ("two reserved-memory", Rule::Once, harts(reserved(reserved(root())))),
        (
            "reserved-memory with a unit address",
            Rule::Once,
            harts(root().begin("reserved-memory@0").end()),
        ),
        ("bootargs", Rule::OfOneBoot, of_boot("bootargs")),
        ("start of an initrd", Rule::OfOneBoot, of_boot("linux,initrd-start")),
        ("end of an initrd", Rule::OfOneBoot, of_boot("linux,initrd-end")),
        ("seed of addresses", Rule::OfOneBoot, of_boot("kaslr-seed")),
        ("seed of random numbers", Rule::OfOneBoot, of_boot("rng-seed")),
        ("tables of UEFI", Rule::OfOneBoot, of_boot("linux,uefi-system-table")),
        ("memory of a crash kernel", Rule::OfOneBoot, of_boot("linux,usable-memory-range")),
        ("one cell", Rule::Cells, node(&[(address, 2), (size, 1)])),
        ("address cells twice and no size cells", Rule::Cells, node(&[(address, 2), (address, 2)])),
        ("no cells", Rule::Cells, node(&[])),
        ("no ranges", Rule::Cells, harts(cells(chosen(root()).begin("reserved-memory")).end())),
        ("one cell in the root", Rule::Cells, root_with(&[(address, 1), (size, 2)])),
        ("no size cells in the root", Rule::Cells, root_with(&[(address, 2)])),
        (
            "size cells twice in the root",
            Rule::Cells,
            root_with(&[(address, 2), (size, 2), (size, 2)]),
        ),
        ("reservation of ours", Rule::Reservation, ours("hartlock-a@0")),
        ("cpu with another reg", Rule::Hart, cpu_with("reg", &[0, 0, 0, 2])),
        ("cpu with an empty reg", Rule::Hart, cpu_with("reg", b"")),
        (
            "cpu without a number",
            Rule::Hart,
            harts(reserved(chosen(root())).begin("cpus").begin("cpu@+1").end().end()),
        ),
        (
            "cpu by its kind, with a long reg",
            Rule::Hart,
            cpu(reserved(chosen(root())).begin("cpus"), 0)
                .begin("core")
                .prop("device_type", b"cpu\0")
                .prop("reg", &[0; 12])
                .end()
                .end()
                .end(),
        ),
        (
            "boot hart twice, once by its kind",
            Rule::BootHart,
            cpu(reserved(chosen(root())).begin("cpus"), 0)
                .begin("core")
                .prop("device_type", b"cpu\0")
                .prop("reg", &[0; 4])
                .end()
                .end()
                .end(),
        ),
        ("no harts", Rule::BootHart, reserved(chosen(root())).end()),
        (
            "boot hart without reg",
            Rule::BootHart,
            reserved(chosen(root())).begin("cpus").begin("cpu@0").end().end().end(),
        ),
        (
            "boot hart twice",
            Rule::BootHart,
            cpu(cpu(reserved(chosen(root())).begin("cpus"), 0), 0).end().end(),
        ),
        ("boot hart with two reg", Rule::BootHart, boot_hart("reg", &[0; 4])),
        ("boot hart disabled", Rule::BootHart, boot_hart("status", b"disabled\0")),
        ("boot hart almost enabled", Rule::BootHart, boot_hart("status", b"okx\0")),
    ];
    for (what, rule, tree) in broken {
        let result = edited(&tree.finish(), &EDITS).map_err(|fault| fault.rule);
        assert_eq!(result, Err(rule), "{what}");
    }
}

#[test]
fn each_rule_has_a_text() {
    let rules = [
        Rule::Form,
        Rule::Once,
        Rule::OfOneBoot,
        Rule::Cells,
        Rule::Reservation,
        Rule::Hart,
        Rule::BootHart,
        Rule::Room,
    ];
    let texts = rules.map(Rule::text);
    assert_eq!((texts[0], texts[7]), ("malformed", "too large"));
    assert!(texts.iter().all(|text| texts.iter().filter(|it| *it == text).count() == 1));
}

#[test]
fn keeps_what_an_earlier_boot_has_not_left() {
    for name in ["stdout-path", "linux,stdout-path", "linux,pci-probe-only", "u-boot,version"] {
        let tree = harts(reserved(root().begin("chosen").prop(name, b"\0").end()));
        let after = edited(&tree.finish(), &EDITS).unwrap();
        assert!(after.contains(&format!("/chosen {name} [0]")), "{name}");
    }
}

#[test]
fn keeps_reservations_of_others_and_takes_a_hart_of_two_cells() {
    let reserved = cells(chosen(root()).begin("reserved-memory")).prop("ranges", b"");
    let tree = reserved.begin("vendor-log@0").end().end().begin("cpus");
    let tree = tree.begin("cpu@0").prop("reg", &[0; 8]).end().end().end();
    let after = edited(&tree.finish(), &EDITS).unwrap();
    assert!(after.contains(&"/reserved-memory/vendor-log@0".into()), "{after:?}");
}

#[test]
fn a_header_has_mark_and_version() {
    let with = |fields: &[(usize, u32)]| {
        let mut tree = example().finish();
        for (at, value) in fields {
            tree[*at..*at + 4].copy_from_slice(&value.to_be_bytes());
        }
        edited(&tree, &EDITS).map(drop).map_err(|fault| fault.rule)
    };
    let (mark, version, compatible) = (0, 20, 24);
    for fields in [&[][..], &[(version, 18)], &[(compatible, 17)], &[(compatible, 1)]] {
        assert_eq!(with(fields), Ok(()), "{fields:?}");
    }
    for fields in [
        &[(mark, MAGIC ^ 1)][..],
        &[(version, 16)],
        &[(version, 0)],
        &[(version, 18), (compatible, 18)],
        &[(compatible, 19)],
    ] {
        assert_eq!(with(fields), Err(Rule::Form), "{fields:?}");
    }
}

#[test]
fn copies_the_list_of_reservations_and_drops_tokens_without_a_meaning() {
    let mut tree = example().finish();
    let entry = [[0, 0, 0, 0, 0x80, 1, 0, 0].as_slice(), &[0, 0, 0, 0, 0, 0, 0x10, 0]].concat();
    tree.splice(40..40, entry.iter().copied());
    for at in [4, 8, 12] {
        let field = be32_at(&tree, at).unwrap() + 16;
        tree[at..at + 4].copy_from_slice(&field.to_be_bytes());
    }
    let mut out = [0; 4096];
    edit(&tree, &mut out, &EDITS).unwrap();
    assert_eq!((&out[40..56], &out[56..72]), (&entry[..], &[0; 16][..]));

    let mut first = Builder::default();
    first.token(NOP);
    let mut with_nops = chosen(cells(first.begin("").prop("model", b"x\0")));
    with_nops.token(NOP);
    let mut with_nops = harts(reserved(with_nops));
    with_nops.token(NOP);
    assert_eq!(edited(&with_nops.finish(), &EDITS), edited(&example().finish(), &EDITS));
}

#[test]
fn numbers_have_their_digits() {
    for (number, digits) in
        [(0, "0"), (0x9a, "9a"), (0x1234_5678, "12345678"), (0x8_9abc_def0, "89abcdef0")]
    {
        let (all, len) = hex(number);
        assert_eq!(&all[16 - len..], digits.as_bytes());
    }
    let (all, len) = hex(u64::MAX);
    assert_eq!(&all[16 - len..], [b'f'; 16]);
}

#[test]
fn a_fault_says_where_it_is() {
    let tree = harts(reserved(root().begin("chosen").prop("bootargs", b"x\0").end())).finish();
    let fault = edit(&tree, &mut [0; 4096], &EDITS).unwrap_err();
    let mut at = fault.at;
    let parts = Tree::parse(&tree).unwrap();
    let Some(Token::Property(name, b"x\0")) = parts.token(&mut at) else { panic!("{fault:?}") };
    assert_eq!(parts.name_at(name), Some(&b"bootargs"[..]));
}

#[test]
fn refuses_a_place_that_is_too_small() {
    let tree = example().finish();
    let mut out = vec![0; 4096];
    let len = edit(&tree, &mut out, &EDITS).unwrap();
    for size in 0..len {
        let refused = edit(&tree, &mut vec![0; size], &EDITS).map_err(|fault| fault.rule);
        assert_eq!(refused, Err(Rule::Room), "{size} bytes");
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

#[test]
fn hexadecimal_digits_are_a_number() {
    assert_eq!(number_of_hex(b"1f"), Some(31));
    assert_eq!(number_of_hex(b"FFFFFFFFFFFFFFFF"), Some(u64::MAX));
    for other in [&b""[..], b"g", b"+1", b"-1", b" 1", b"10000000000000000", b"\xff"] {
        assert_eq!(number_of_hex(other), None, "{other:?}");
    }
}
