//! Tests that a device tree for OpenSBI which leaves memory open is neither signed nor verified (boot flow §5.6).

use std::fs;
use std::path::PathBuf;

use hartlock_boards::Boards;
use hartlock_bundle::Error;
use hartlock_bundle::build::{Build, OutputForm};
use hartlock_bundle::spec::IdentitySpec;
use hartlock_bundle::verify::Expectation;
use hartlock_handoff::builder::{DOMAIN, Node, cells};
use hartlock_image::Reason;

use crate::common::{Bench, boot_tree, code, verify};

/// Changes of the default tree, and what the refusal says.
type TreeFault = (fn(&mut Node), &'static str);

const FAULTS: [TreeFault; 9] = [
    // What an emulator dumps: harts and nothing about OpenSBI.
    (
        |tree| tree.at("chosen").children.clear(),
        "it has no node `opensbi,domain,config` where OpenSBI looks",
    ),
    (
        |tree| {
            tree.at(DOMAIN).remove("regions");
        },
        "S-mode could read, write, execute 0x20000000: `flash` is closed",
    ),
    (|tree| tree.at("cpus/cpu@3").remove("opensbi-domain"), "hart 3 is in no domain"),
    (|tree| tree.at(DOMAIN).set("possible-harts", &cells(&[1, 2, 3, 4])), "hart 4 is in no domain"),
    (|tree| set_permissions(tree, 3, 0x18), "0x80110000: `handoff` may be read, and nothing else"),
    (|tree| set_permissions(tree, 2, 0x3f), "read, write, execute 0x80100000: `rom-ram` is closed"),
    (|tree| set_permissions(tree, 4, 0x08), "could read 0x10100000: `fw-cfg` is closed"),
    (
        |tree| tree.at("chosen/opensbi-config").remove("cold-boot-harts"),
        "`cold-boot-harts` has to name hart 0 alone",
    ),
    (
        |tree| tree.at(DOMAIN).set("next-addr", &cells(&[0, 0x8200_0000])),
        "enters something else than the loader",
    ),
];

/// Sets the permissions of a region of the domain.
fn set_permissions(tree: &mut Node, index: usize, permissions: u32) {
    let domain = tree.at(DOMAIN);
    let regions = domain.properties.iter_mut().find(|(name, _)| name == "regions").unwrap();
    regions.1[8 * index + 4..][..4].copy_from_slice(&permissions.to_be_bytes());
}

/// Signs a boot bundle with a tree and a change of its description.
fn sign(bench: &Bench, tree: &[u8], boards: &Boards, change: Change) -> Result<PathBuf, Error> {
    bench.write("boot.dtb", tree);
    let mut spec = bench.boot();
    change(&mut spec);
    let output = bench.path("boot.hlk");
    let build = Build {
        spec: &spec,
        keys: &bench.signers(),
        created: 0,
        output: &output,
        boards,
        inputs: &[],
        is_forced: true,
        is_any_type: true,
        ending: OutputForm::Signed,
    };
    build.run(&mut |_, _| (), &mut |_, _| ())?;
    Ok(output)
}

type Change = fn(&mut hartlock_bundle::spec::BundleSpec);

#[track_caller]
fn expect(result: Result<impl std::fmt::Debug, Error>, reason: Reason, says: &str) {
    match result {
        Err(Error::Refused(refusal)) => {
            assert_eq!(refusal.reason, reason, "{refusal:?}");
            assert!(refusal.context.iter().any(|line| line.contains(says)), "{refusal:?}");
        }
        other => panic!("not refused: {other:?}"),
    }
}

/// Signs a boot bundle for a board that is not known, so that nobody looks at its tree.
fn forced(bench: &Bench, tree: &[u8]) -> PathBuf {
    let unknown: Change = |spec| {
        spec.board = Some("nobody".to_string());
        spec.soc = Some("virt".to_string());
        for (payload, address) in
            spec.payloads.iter_mut().zip([0x8000_0000, 0x8020_0000, 0x8040_0000])
        {
            payload.load_address = Some(address);
        }
    };
    sign(bench, tree, &Boards::default(), unknown).unwrap()
}

fn asked(bench: &Bench, boards: Boards) -> Expectation {
    Expectation { boards, contents: true, ..bench.expectation() }
}

#[test]
fn an_open_tree_is_not_signed() {
    let bench = Bench::new();
    let boards = Boards::default();
    sign(&bench, &boot_tree().flatten(), &boards, |_| ()).unwrap();
    fs::remove_file(bench.path("boot.hlk")).unwrap();
    for (fault, says) in FAULTS {
        let mut tree = boot_tree();
        fault(&mut tree);
        let result = sign(&bench, &tree.flatten(), &boards, |_| ());
        expect(result, Reason::MemoryNotClosed, says);
        assert!(!bench.path("boot.hlk").exists(), "{says}");
    }
    let tree = boot_tree().flatten();
    for bytes in [&tree[..2000], &tree[..4], &[7; 100]] {
        let result = sign(&bench, bytes, &boards, |_| ());
        expect(result, Reason::DeviceTreeUnusable, "no device tree");
    }
}

#[test]
fn an_open_tree_in_a_signed_bundle_is_not_verified() {
    let bench = Bench::new();
    let described = "name = \"nobody\"\nextends = \"qemu-virt\"\n";
    let path = bench.write("nobody.toml", described.as_bytes());
    let mut boards = Boards::default();
    boards.add(&path).unwrap();
    let good = forced(&bench, &boot_tree().flatten());
    verify(&good, &asked(&bench, boards.clone())).unwrap();
    for (fault, says) in FAULTS {
        let mut tree = boot_tree();
        fault(&mut tree);
        let bundle = forced(&bench, &tree.flatten());
        expect(verify(&bundle, &asked(&bench, boards.clone())), Reason::MemoryNotClosed, says);
        // The bundle itself is right, and so is its tree for a board that is not known.
        verify(&bundle, &bench.expectation()).unwrap();
        verify(&bundle, &asked(&bench, Boards::default())).unwrap();
    }
    let bundle = forced(&bench, &boot_tree().flatten()[..2000]);
    assert_eq!(code(verify(&bundle, &asked(&bench, boards))), 908);
}

#[test]
fn the_board_of_a_user_says_what_is_closed() {
    let bench = Bench::new();
    let boards = |text: &str| {
        let path = bench.write("mine.toml", format!("name = \"mine\"\n{text}").as_bytes());
        let mut boards = Boards::default();
        boards.add(&path).unwrap();
        boards
    };
    let mine: Change = |spec| spec.board = Some("mine".to_string());
    let more = "extends = \"qemu-virt\"\n[[device]]\nname = \"otp\"\nstart = 0x1011_0000\nsize = \"4 KiB\"\n\
                about = \"Fuses.\"\nclosed = true\n";
    let tree = boot_tree().flatten();
    sign(&bench, &tree, &boards("extends = \"qemu-virt\"\n"), mine).unwrap();
    let result = sign(&bench, &tree, &boards(more), mine);
    expect(result, Reason::MemoryNotClosed, "board mine: S-mode could read, write, execute");
    // A region that moves stays closed, although its entry does not say so again.
    let moved = "extends = \"qemu-virt\"\n[[region]]\nname = \"rom-ram\"\nstart = 0x8013_0000\nsize = \"64 KiB\"\n\
                 about = \"The ROM's.\"\n";
    let result = sign(&bench, &tree, &boards(moved), mine);
    expect(result, Reason::MemoryNotClosed, "0x80130000: `rom-ram` is closed");
    // Where no OpenSBI runs there is no domain.
    let bare = "extends = \"qemu-virt\"\n[forms]\nenvironment = \"bare\"\n";
    sign(&bench, b"any file", &boards(bare), mine).unwrap();
}

#[test]
fn a_bundle_for_several_boards_keeps_the_rules_of_each() {
    let bench = Bench::new();
    let both: Change = |spec| {
        let (board, soc) = ("qemu-virt-iommu".to_string(), "virt".to_string());
        spec.also_for = vec![IdentitySpec { board, soc }];
    };
    let tree = boot_tree().flatten();
    let result = sign(&bench, &tree, &Boards::default(), both);
    expect(
        result,
        Reason::MemoryNotClosed,
        "board qemu-virt-iommu: S-mode could read, write, execute",
    );
}
