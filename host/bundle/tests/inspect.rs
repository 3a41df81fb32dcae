//! Tests that inspection of an unverified bundle shows everything that can be shown, and never panics.

use std::fs;
use std::sync::LazyLock;

use crate::common::Bench;
use hartlock_boards::Boards;
use hartlock_bundle::inspect::{Inspection, inspect_file};
use hartlock_image::Reason;

fn inspect(bench: &Bench, bytes: &[u8]) -> Inspection {
    // Reading the board descriptions takes longer than inspecting a file, so they are read only once.
    static BOARDS: LazyLock<Boards> = LazyLock::new(Boards::default);
    inspect_file(&bench.write("inspected", bytes), &BOARDS).unwrap()
}

#[test]
fn a_good_bundle_is_described_as_it_was_built() {
    let bench = Bench::new();
    for (spec, name) in [(bench.system(), "system.hlk"), (bench.boot(), "boot.hlk")] {
        let built = bench.build(&spec, name).unwrap();
        let inspection = inspect_file(&bench.path(name), &Boards::default()).unwrap();
        assert_eq!(inspection.reason, None);
        assert_eq!(inspection.manifest, Some(built));
        assert_eq!(inspection.file_size, fs::metadata(bench.path(name)).unwrap().len());
    }
}

#[test]
fn the_first_fault_of_the_form_is_named_and_the_rest_is_shown() {
    let bench = Bench::new();
    bench.build(&bench.system(), "system.hlk").unwrap();
    let bundle = fs::read(bench.path("system.hlk")).unwrap();
    let signed_size = u32::from_le_bytes(bundle[16..20].try_into().unwrap()) as usize;
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bundle = bundle.clone();
        change(&mut bundle);
        inspect(&bench, &bundle)
    };

    let malformed = damaged(&|bytes| bytes[48..52].fill(0));
    assert_eq!(malformed.reason, Some(Reason::LifecycleMaskInvalid));
    assert_eq!(malformed.header.map(|header| header.board), Some("qemu-virt".to_string()));
    assert_eq!(malformed.manifest, None);

    let foreign_block = damaged(&|bytes| bytes[signed_size + 16] ^= 1);
    assert_eq!(foreign_block.reason, Some(Reason::SignerMismatch));
    assert!(foreign_block.manifest.is_some());
    let no_block = damaged(&|bytes| bytes[signed_size + 8..signed_size + 16].fill(0xff));
    assert_eq!(no_block.reason, Some(Reason::SignatureBlockTruncated));
    assert!(no_block.manifest.is_some());

    assert_eq!(damaged(&|bytes| bytes.push(0)).reason, Some(Reason::TrailingBytes));
    assert_eq!(damaged(&|bytes| bytes.truncate(4096)).reason, Some(Reason::Truncated));
    assert_eq!(damaged(&|bytes| bytes.truncate(300)).reason, Some(Reason::Truncated));
    assert_eq!(damaged(&|bytes| bytes[0] = 0x1b).reason, Some(Reason::UnknownTag));
    assert_eq!(inspect(&bench, &[]).header, None);
}

#[test]
fn a_stage_is_known_by_one_statement_outside_a_bundle() {
    let bench = Bench::new();
    let statement =
        |algorithms: u8| [&b"HARTLOCK-CARRIES"[..], &[algorithms, 0, 0, 0, 0, 0, 0, 0]].concat();
    let code = [0x13; 256];
    let stage = [&code[..], &statement(2), &code].concat();
    let inspection = inspect(&bench, &stage);
    assert_eq!((inspection.carried, inspection.reason), (Some(2), None));

    let twice = inspect(&bench, &[&stage[..], &statement(4)].concat());
    assert_eq!((twice.carried, twice.reason), (None, Some(Reason::UnknownTag)));

    // The mark of OpenSBI is not in its first page.
    let opensbi = inspect(&bench, &[&[0x13; 8192][..], b"OpenSBI v1.9"].concat());
    assert_eq!((opensbi.looks_like, opensbi.reason), (Some("OpenSBI"), Some(Reason::UnknownTag)));

    // A bundle with a damaged tag is not the loader that it contains.
    bench.write("fw.bin", &stage);
    bench.build(&bench.boot(), "boot.hlk").unwrap();
    let mut bundle = fs::read(bench.path("boot.hlk")).unwrap();
    assert!(bundle.windows(stage.len()).any(|part| part == stage));
    bundle[0] ^= 1;
    let damaged = inspect(&bench, &bundle);
    assert_eq!((damaged.carried, damaged.reason), (None, Some(Reason::UnknownTag)));
}

#[test]
fn no_bytes_make_it_panic_or_print_control_characters() {
    let bench = Bench::new();
    bench.build(&bench.boot(), "boot.hlk").unwrap();
    let bundle = fs::read(bench.path("boot.hlk")).unwrap();
    // The random numbers come from a generator with a fixed seed (Numerical Recipes), so that failures can be
    // reproduced.
    let mut state = 1_u32;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let interesting = [0, 1, 2, 4, 7, 8, 0x1b, 0x7f, 0x80, 0xff];
    for _ in 0..3000 {
        let mut bytes = bundle[..4096].to_vec();
        for _ in 0..=random(6) {
            let at = random(1024);
            bytes[at] = interesting[random(interesting.len())];
        }
        bytes.truncate(if random(4) == 0 { random(1200) } else { 4096 });
        let inspection = inspect(&bench, &bytes);
        assert!(inspection.reason.is_some());
        let shown = format!("{:?}", (inspection.header, inspection.manifest));
        assert!(!shown.contains(|c: char| c.is_control()), "{shown}");
    }
}
