//! Tests that a device tree which the loader or Linux cannot use is neither signed nor verified (boot flow §6), and that
//! content of another type is not verified (command §2).

use std::path::{Path, PathBuf};

use hartlock_boards::Boards;
use hartlock_bundle::Error;
use hartlock_bundle::build::{Build, OutputForm};
use hartlock_bundle::reuse::notes_on_tree;
use hartlock_bundle::spec::BundleSpec;
use hartlock_bundle::verify::Expectation;
use hartlock_handoff::builder::{Node, cells, system_tree};
use hartlock_image::Reason;
use hartlock_keys::Signer;

use crate::common::{Bench, initramfs, pattern, verify};

/// The kernel has 3,000 bytes at 0x8200_0000, and the initramfs 2,049 at 0x8800_0000.
fn right() -> Node {
    system_tree(5, 0x8000_0000)
}

fn with(change: impl FnOnce(&mut Node)) -> Vec<u8> {
    let mut tree = right();
    change(&mut tree);
    tree.flatten()
}

/// Signs a system bundle with a tree for the default board, or for one that nobody knows.
fn sign(bench: &Bench, tree: &[u8], board: Option<&str>) -> Result<PathBuf, Error> {
    bench.write("virt.dtb", tree);
    let mut spec: BundleSpec = bench.system();
    if let Some(board) = board {
        spec.board = Some(board.to_string());
        let addresses = [0x8200_0000, 0x8800_0000, 0x8600_0000];
        for (payload, address) in spec.payloads.iter_mut().zip(addresses) {
            payload.load_address = Some(address);
        }
    }
    let output = bench.path("system.hlk");
    let boards = Boards::default();
    let signers = bench.signers();
    let build = Build { is_any_type: true, ..build_of(&signers, &spec, &boards, &output) };
    build.run(&mut |_, _| (), &mut |_, _| ())?;
    Ok(output)
}

fn build_of<'a>(
    signers: &'a [&'a dyn Signer],
    spec: &'a BundleSpec,
    boards: &'a Boards,
    output: &'a Path,
) -> Build<'a> {
    Build {
        spec,
        keys: signers,
        created: 0,
        output,
        boards,
        inputs: &[],
        is_forced: true,
        is_any_type: false,
        ending: OutputForm::Signed,
    }
}

/// The trees that the loader or Linux cannot use, and what a refusal says.
fn faults() -> Vec<(Vec<u8>, &'static [&'static str])> {
    let right = right().flatten();
    let mut old = right.clone();
    old[23] = 16;
    let chosen = |name: &str, value: &[u8]| with(|tree| tree.at("chosen").set(name, value));
    let reserved = |address: u32| {
        with(|tree| {
            let node = Node::new("vendor").with("reg", &cells(&[0, address, 0, 0x1000]));
            tree.at("reserved-memory").children.push(node);
        })
    };
    vec![
        (right[..4].to_vec(), &["the file has 4 bytes, and its header alone 40"]),
        (right[..200].to_vec(), &["its `totalsize` is", "the file has 200 bytes"]),
        (vec![7; 100], &["it does not begin with 0xd00dfeed"]),
        (old, &["its `version` is 16"]),
        (
            chosen("bootargs", b"quiet\0"),
            &["/chosen: `bootargs` is \"quiet\"", "belongs to one boot"],
        ),
        (
            chosen("linux,initrd-start", &cells(&[0x8800_0000])),
            &["/chosen: `linux,initrd-start` is <0x88000000>"],
        ),
        (chosen("rng-seed", &[0x8c; 32]), &["/chosen: `rng-seed` is 32 bytes"]),
        (chosen("kaslr-seed", &cells(&[1, 2])), &["/chosen: `kaslr-seed` is <0x1 0x2>"]),
        (
            with(|tree| tree.children.push(Node::new("chosen"))),
            &["/chosen", "the tree has it at most once"],
        ),
        (
            with(|tree| tree.set("#size-cells", &cells(&[1]))),
            &["/: `#size-cells` is <0x1>", "Linux ignores every reservation"],
        ),
        (
            with(|tree| tree.at("reserved-memory").remove("ranges")),
            &["/reserved-memory", "`ranges`"],
        ),
        (
            with(|tree| tree.at("cpus/cpu@4").set("reg", &cells(&[5]))),
            &["/cpus/cpu@4: `reg` is <0x5>", "the unit address of a CPU"],
        ),
        (with(|tree| drop(tree.at("cpus").children.remove(0))), &["hart 0 enters Linux"]),
        (
            with(|tree| tree.at("cpus/cpu@0").set("status", b"disabled\0")),
            &["/cpus/cpu@0: `status` is \"disabled\""],
        ),
        (
            with(|tree| {
                tree.at("reserved-memory").children.push(Node::new("hartlock-log@80120000"))
            }),
            &["/reserved-memory/hartlock-log@80120000"],
        ),
        (
            with(|tree| tree.at("cpus").remove("timebase-frequency")),
            &["/cpus: `timebase-frequency` is missing", "stop without a word"],
        ),
        (
            with(|tree| tree.at("cpus/cpu@0").set("compatible", b"vendor,core\0")),
            &["/cpus/cpu@0: `compatible` is \"vendor,core\""],
        ),
        (
            with(|tree| tree.at("cpus/cpu@0").set("riscv,isa", b"rv32imac\0")),
            &["/cpus/cpu@0: `riscv,isa` is \"rv32imac\"", "rv64ima"],
        ),
        (with(|tree| tree.at("cpus/cpu@0").children.clear()), &["/cpus/cpu@0", "riscv,cpu-intc"]),
        (
            with(|tree| tree.set("padding", &[0; 256 << 10])),
            &["fit into the 256 KiB that board qemu-virt has"],
        ),
        (
            with(|tree| {
                tree.at("memory@80000000").set("reg", &cells(&[0, 0x8000_0000, 0, 0x800_0000]))
            }),
            &[
                "no `/memory` node of the tree has 0x88000000",
                "the initramfs at 0x88000000 to 0x88001000",
            ],
        ),
        (
            reserved(0x8200_0000),
            &[
                "/reserved-memory/vendor: `reg` is 0x82000000 to 0x82001000",
                "the kernel at 0x82000000",
            ],
        ),
        (reserved(0x8800_0000), &["the initramfs at 0x88000000"]),
    ]
}

#[track_caller]
fn expect(result: Result<impl std::fmt::Debug, Error>, says: &[&str]) {
    match result {
        Err(Error::Refused(refusal)) => {
            assert_eq!(refusal.reason, Reason::DeviceTreeUnusable, "{refusal:?}");
            let text = refusal.context.join("\n");
            assert!(says.iter().all(|it| text.contains(it)), "{says:?}: {refusal:?}");
            assert!(refusal.hint.is_some(), "{refusal:?}");
        }
        other => panic!("{says:?}: not refused: {other:?}"),
    }
}

fn asked(bench: &Bench, boards: Boards) -> Expectation {
    Expectation { boards, contents: true, is_any_type: true, ..bench.expectation() }
}

#[test]
fn a_tree_that_the_loader_or_linux_cannot_use_is_not_signed() {
    let bench = Bench::new();
    for (tree, says) in faults() {
        expect(sign(&bench, &tree, None), says);
        assert!(!bench.path("system.hlk").exists(), "{says:?}");
    }
}

#[test]
fn a_tree_that_the_loader_or_linux_cannot_use_is_not_verified() {
    let bench = Bench::new();
    let path = bench.write("nobody.toml", b"name = \"nobody\"\nextends = \"qemu-virt\"\n");
    let mut boards = Boards::default();
    boards.add(&path).unwrap();
    let good = sign(&bench, &right().flatten(), Some("nobody")).unwrap();
    verify(&good, &asked(&bench, boards.clone())).unwrap();
    for (tree, says) in faults() {
        if says[0].contains("qemu-virt") {
            continue;
        }
        let bundle = sign(&bench, &tree, Some("nobody")).unwrap();
        expect(verify(&bundle, &asked(&bench, boards.clone())), says);
        // The bundle itself is right, and so is its tree for a board that is not known.
        verify(&bundle, &bench.expectation()).unwrap();
        verify(&bundle, &asked(&bench, Boards::default())).unwrap();
    }
}

#[test]
fn trees_of_other_tools_are_signed() {
    let bench = Bench::new();
    let right = right().flatten();
    let without = |name: &str| with(|tree| tree.children.retain(|child| child.name != name));
    for (what, tree) in [
        ("right", right.clone()),
        ("no chosen", without("chosen")),
        ("no reserved-memory", without("reserved-memory")),
        ("bytes after the tree", [&right[..], &[0xa5; 4096]].concat()),
        ("64 KiB of zeros after the tree", [&right[..], &[0; 64 << 10]].concat()),
        ("fewer harts", with(|tree| tree.at("cpus").children.truncate(3))),
        (
            "a map of the harts",
            with(|tree| tree.at("cpus").children.insert(0, Node::new("cpu-map"))),
        ),
        (
            "a hart that the board does not have",
            with(|tree| {
                let cpu = tree.at("cpus/cpu@4");
                cpu.name = "cpu@0A".to_string();
                cpu.set("reg", &cells(&[10]));
            }),
        ),
        (
            "two cells for a hart",
            with(|tree| {
                for hart in 0..5 {
                    tree.at(&format!("cpus/cpu@{hart}")).set("reg", &cells(&[0, hart]));
                }
            }),
        ),
        ("strings before the structure", strings_first(&right)),
        ("NOP tokens", nops(&right)),
    ] {
        sign(&bench, &tree, None).unwrap_or_else(|error| panic!("{what}: {error:?}"));
    }
}

fn field(tree: &[u8], at: usize) -> usize {
    u32::from_be_bytes(tree[at..at + 4].try_into().unwrap()) as usize
}

fn set_field(tree: &mut [u8], at: usize, value: usize) {
    tree[at..at + 4].copy_from_slice(&(value as u32).to_be_bytes());
}

/// Puts the strings, which are the last part, before the structure.
fn strings_first(tree: &[u8]) -> Vec<u8> {
    let (structure_at, strings_at) = (field(tree, 8), field(tree, 12));
    let mut strings = tree[strings_at..].to_vec();
    strings.resize(strings.len().next_multiple_of(4), 0);
    let mut other = [&tree[..structure_at], &strings, &tree[structure_at..strings_at]].concat();
    let total = other.len();
    set_field(&mut other, 4, total);
    set_field(&mut other, 8, structure_at + strings.len());
    set_field(&mut other, 12, structure_at);
    other
}

/// Puts NOP tokens before the root and before the end.
fn nops(tree: &[u8]) -> Vec<u8> {
    let (structure_at, strings_at) = (field(tree, 8), field(tree, 12));
    let nop = cells(&[4]);
    let end = strings_at - 4;
    let parts = [&tree[..structure_at], &nop, &tree[structure_at..end], &nop, &nop, &tree[end..]];
    let mut other = parts.concat();
    for (at, more) in [(4, 12), (12, 12), (36, 12)] {
        let value = field(&other, at) + more;
        set_field(&mut other, at, value);
    }
    other
}

#[test]
fn what_surprises_is_named() {
    const MAC: &str = "local-mac-address";
    let bench = Bench::new();
    let boards = Boards::default();
    let board = boards.default_board();
    let flash = |at: u32| {
        let reg = cells(&[0, at, 0, 0x1000]);
        Node::new(&format!("flash@{at:x}")).with("compatible", b"cfi-flash\0").with("reg", &reg)
    };
    let notes = |change: &dyn Fn(&mut Node)| {
        let bundle = sign(&bench, &with(change), None).unwrap();
        notes_on_tree(&bundle, board).unwrap()
    };
    let on_bus = |bus: Node, node: Node| {
        let bus = bus.with("#address-cells", &cells(&[2])).with("#size-cells", &cells(&[2]));
        notes(&|tree| *tree = tree.clone().and(bus.clone().and(node.clone())))
    };
    let identity = || Node::new("soc").with("ranges", b"");
    assert_eq!(notes(&|_| ()), [""; 0]);
    // A page of the flash, which is closed, and one of a device that is not.
    assert_eq!(
        on_bus(identity(), flash(0x2000_0000)),
        [
            "The system-fdt has the device /soc/flash@20000000, and board qemu-virt closes `flash` to Linux: its driver \
          would trap."
        ]
    );
    assert_eq!(on_bus(identity(), flash(0x1000_0000)), [""; 0]);
    // Addresses of a bus that translates them say nothing.
    assert_eq!(on_bus(Node::new("soc"), flash(0x2000_0000)), [""; 0]);
    let disabled = flash(0x2000_0000).with("status", b"disabled\0");
    assert_eq!(on_bus(identity(), disabled), [""; 0]);

    let port = |mac: &[u8]| Node::new("ethernet@10090000").with(MAC, mac);
    assert_eq!(
        on_bus(identity(), port(b"\x02\0\0\0\0\x01")),
        [
            "The system-fdt has /soc/ethernet@10090000: `local-mac-address` is 6 bytes: each device that boots the bundle gets \
          this value."
        ]
    );
    assert_eq!(on_bus(identity(), port(&[0; 6])), [""; 0]);
    let number = notes(&|tree| tree.set("serial-number", b"0017\0"));
    assert_eq!(number.len(), 1);
    assert!(
        number[0].starts_with("The system-fdt has /: `serial-number` is \"0017\":"),
        "{number:?}"
    );
}

#[test]
fn content_of_another_type_is_not_verified() {
    let bench = Bench::new();
    let bundle = sign(&bench, &right().flatten(), None).unwrap();
    let strict = Expectation { is_any_type: false, ..asked(&bench, Boards::default()) };
    // The kernel of the bench has no header.
    let error = verify(&bundle, &strict).unwrap_err();
    let Error::Content(content) = &error else { panic!("{error:?}") };
    assert!(content.to_string().starts_with("the kernel in `"), "{content}");
    assert!(error.hint().contains("to accept it as it is, add `--force-type`"), "{}", error.hint());
    verify(&bundle, &asked(&bench, Boards::default())).unwrap();

    let mut kernel = pattern(3000);
    kernel[0x10..0x20].copy_from_slice(&[[0, 0x10, 0, 0, 0, 0, 0, 0], [0; 8]].concat());
    kernel[0x38..0x3c].copy_from_slice(b"RSC\x05");
    bench.write("linux", &kernel);
    // A device refuses the initramfs of the bench, too, if the kernel is Linux.
    let error = sign(&bench, &right().flatten(), None).unwrap_err();
    assert!(error.to_string().contains("the initramfs must be"), "{error}");
    assert!(!error.hint().contains("--force-type"), "{}", error.hint());
    bench.write("initrd", &initramfs());
    let bundle = sign(&bench, &right().flatten(), None).unwrap();
    verify(&bundle, &strict).unwrap();
}

#[test]
fn a_command_line_leaves_the_memory_of_the_payloads() {
    let bench = Bench::new();
    bench.write("virt.dtb", &right().flatten());
    let boards = Boards::default();
    let output = bench.path("system.hlk");
    let sign = |bootargs: &str| {
        let spec = BundleSpec { bootargs: Some(bootargs.to_string()), ..bench.system() };
        let signers = bench.signers();
        let build = Build { is_any_type: true, ..build_of(&signers, &spec, &boards, &output) };
        build.run(&mut |_, _| (), &mut |_, _| ())
    };
    sign("quiet mem=512M").unwrap();
    sign("initrd=0x90000000,4096").unwrap();
    let says = ["less than the first 0x8001000 bytes", "the initramfs at 0x88000000"];
    expect(sign("quiet mem=128M").map(|_| ()), &says);
    expect(sign("mem=1M").map(|_| ()), &["the kernel at 0x8"]);
    // Linux takes an initramfs that its command line names.
    let mut kernel = pattern(3000);
    kernel[0x10..0x20].copy_from_slice(&[[0, 0x10, 0, 0, 0, 0, 0, 0], [0; 8]].concat());
    kernel[0x38..0x3c].copy_from_slice(b"RSC\x05");
    bench.write("linux", &kernel);
    bench.write("initrd", &initramfs());
    sign("noinitrd").unwrap();
    let error = sign("quiet initrd=0x90000000,4096").unwrap_err();
    let Error::Refused(refusal) = &error else { panic!("{error:?}") };
    assert_eq!(refusal.reason, Reason::PayloadUnusable);
    assert!(error.hint().starts_with("Leave the option out"), "{}", error.hint());
}

#[test]
fn an_initramfs_that_is_cut_is_not_signed() {
    let bench = Bench::new();
    let mut kernel = pattern(3000);
    kernel[0x10..0x20].copy_from_slice(&[[0, 0x10, 0, 0, 0, 0, 0, 0], [0; 8]].concat());
    bench.write("linux", &kernel);
    // An entry of five bytes with a name of one letter.
    let numbers = [0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 2, 0].map(|number| format!("{number:08x}"));
    let whole = ["070701", &numbers.concat(), "x\0", "12345"].concat();
    let cut = &whole.as_bytes()[..whole.len() - 1];
    // Linux alone unpacks it.
    bench.write("initrd", cut);
    let forced = asked(&bench, Boards::default());
    let other = sign(&bench, &right().flatten(), None).unwrap();
    verify(&other, &forced).unwrap();
    kernel[0x38..0x3c].copy_from_slice(b"RSC\x05");
    bench.write("linux", &kernel);
    let error = sign(&bench, &right().flatten(), None).unwrap_err();
    assert!(error.to_string().contains("has an archive that is cut"), "{error}");
    assert!(!error.hint().contains("--force-type"), "{}", error.hint());
    for zeros in ["", "\0\0\0\0"] {
        // The size of the file has a letter that is no digit.
        bench.write(
            "initrd",
            [zeros, &whole.replacen("00000005", "0000000x", 1)].concat().as_bytes(),
        );
        let error = sign(&bench, &right().flatten(), None).unwrap_err();
        assert!(error.to_string().contains("an archive with a damaged header"), "{error}");
    }
    bench.write("initrd", whole.as_bytes());
    let bundle = sign(&bench, &right().flatten(), None).unwrap();
    verify(&bundle, &forced).unwrap();
}

#[test]
fn a_payload_that_changes_while_it_is_signed_is_judged_as_signed() {
    let bench = Bench::new();
    let mut kernel = pattern(3000);
    kernel[0x10..0x20].copy_from_slice(&[[0, 0x10, 0, 0, 0, 0, 0, 0], [0; 8]].concat());
    kernel[0x38..0x3c].copy_from_slice(b"RSC\x05");
    bench.write("linux", &kernel);
    bench.write("initrd", &initramfs());
    bench.write("virt.dtb", &right().flatten());
    let (spec, output) = (bench.system(), bench.path("system.hlk"));
    let boards = Boards::default();
    let signers = bench.signers();
    let build = build_of(&signers, &spec, &boards, &output);
    build.run(&mut |_, _| (), &mut |_, _| ()).unwrap();
    // The first call comes when the kernel was copied, and before the initramfs is.
    let mut change = |_, _| drop(bench.write("initrd", &[b'7'; 124]));
    let error = build.run(&mut change, &mut |_, _| ()).unwrap_err();
    assert!(error.to_string().starts_with("the initramfs in `"), "{error}");
}
