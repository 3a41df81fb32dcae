//! Tests of builds: the content of the bundle, the default values, and the files on disk after a failure.

use std::fs;

use crate::common::{Bench, code, initramfs, linux_tree, pattern, verify};
use hartlock_bundle::Error;
use hartlock_bundle::build::build;
use hartlock_bundle::describe::{Description, Payload};
use hartlock_bundle::spec::{BundleSpec, ModeName};
use hartlock_bundle::verify::Expectation;
use hartlock_image::{BundleType, HashId, Lifecycle, Name, PayloadType, Policy};
use hartlock_keys::PrivateKey;

fn payload<'a>(description: &'a Description, name: &str) -> &'a Payload {
    description.payloads.iter().find(|payload| payload.payload_type == name).unwrap()
}

#[test]
fn what_was_built_verifies_as_it_was_described() {
    let bench = Bench::new();
    for (spec, name) in [(bench.system(), "system.hlk"), (bench.boot(), "boot.hlk")] {
        let built = bench.build(&spec, name).unwrap();
        assert_eq!(verify(&bench.path(name), &bench.expectation()).unwrap(), built);
        assert_eq!(built.bundle_size, fs::metadata(bench.path(name)).unwrap().len());
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let bench = Bench::new();
    bench.build(&bench.system(), "first.hlk").unwrap();
    let mut shuffled = bench.system();
    shuffled.payloads.reverse();
    bench.build(&shuffled, "second.hlk").unwrap();
    assert_eq!(
        fs::read(bench.path("first.hlk")).unwrap(),
        fs::read(bench.path("second.hlk")).unwrap()
    );
}

#[test]
fn the_date_changes_itself_and_the_signature_only() {
    let bench = Bench::new();
    let at = |created: u64| {
        let path = bench.path("dated.hlk");
        build(&bench.system(), &bench.keys, created, &path, &mut |_, _| ()).unwrap();
        fs::read(path).unwrap()
    };
    let (undated, dated) = (at(0), at(0x0102_0304_0506_0708));
    let signed_size = u32::from_le_bytes(undated[16..20].try_into().unwrap()) as usize;
    let signature = signed_size + 16 + 32..signed_size + 16 + 32 + 64;
    for position in (0..undated.len()).filter(|at| undated[*at] != dated[*at]) {
        assert!((40..48).contains(&position) || signature.contains(&position), "{position}");
    }
    assert_ne!(undated, dated);
}

#[test]
fn one_to_four_keys_sign_in_the_given_order() {
    let mut bench = Bench::new();
    for count in 1..=4 {
        let built = bench.build(&bench.system(), "system.hlk").unwrap();
        let ids: Vec<_> = bench
            .keys
            .iter()
            .map(|key| hartlock_bundle::describe::hex(&key.public().key_id()))
            .collect();
        let signers: Vec<_> = built.signers.iter().map(|key| key.key_id.clone()).collect();
        assert_eq!(signers, ids, "{count} keys");
        // The key of every signer is needed, whichever of them is missing.
        for missing in 0..count {
            let mut expectation = bench.expectation();
            expectation.keys.remove(missing);
            assert_eq!(code(verify(&bench.path("system.hlk"), &expectation)), 1001);
        }
        bench.keys.push(PrivateKey::generate().unwrap());
    }
    assert_eq!(code(bench.build(&bench.system(), "five.hlk")), 402);
    bench.keys.clear();
    assert_eq!(code(bench.build(&bench.system(), "none.hlk")), 402);
}

#[test]
fn the_same_key_twice_is_refused() {
    let mut bench = Bench::new();
    let again = PrivateKey::from_pem(bench.keys[0].to_pem().unwrap().as_bytes()).unwrap();
    bench.keys.push(again);
    assert_eq!(code(bench.build(&bench.system(), "system.hlk")), 409);
}

#[test]
fn a_key_that_did_not_sign_is_refused() {
    let bench = Bench::new();
    bench.build(&bench.system(), "system.hlk").unwrap();
    let mut expectation = bench.expectation();
    expectation.keys = vec![PrivateKey::generate().unwrap().public()];
    assert_eq!(code(verify(&bench.path("system.hlk"), &expectation)), 1001);
    // Further keys are allowed, and so is a key that is given twice.
    expectation.keys.extend([bench.keys[0].public(), bench.keys[0].public()]);
    verify(&bench.path("system.hlk"), &expectation).unwrap();
}

#[test]
fn defaults_are_those_of_the_board() {
    let bench = Bench::new();
    let mut system = bench.system();
    system.block_size = None;
    system.bootargs = None;
    let system = bench.build(&system, "system.hlk").unwrap();
    assert_eq!((system.board.as_str(), system.soc.as_str()), ("qemu-virt", "virt"));
    assert_eq!(system.lifecycle, ["development", "production"]);
    assert_eq!((system.label.as_str(), system.created), ("", 0));
    assert_eq!(system.bootargs.as_deref(), Some(""));
    let boot = bench.build(&bench.boot(), "boot.hlk").unwrap();
    let expected = [
        (&boot, "opensbi", 0x8000_0000, 0x8_0000, 0x8000_0000, 0),
        (&boot, "loader", 0x8020_0000, 0x20_0000, 0x8020_0000, 0),
        (&boot, "boot-fdt", 0x8040_0000, 0x2_0000, 0, 0),
        (&system, "kernel", 0x8200_0000, 0x1000, 0x8200_0000, 81_920),
        (&system, "initramfs", 0x8800_0000, 0x1000, 0, 81_920),
        (&system, "system-fdt", 0x8600_0000, 0x1000, 0, 0),
    ];
    for (bundle, name, load_address, memory_size, entry, block_size) in expected {
        let payload = payload(bundle, name);
        assert_eq!(payload.load_address, load_address, "{name}");
        assert_eq!(payload.memory_size, memory_size, "{name}");
        assert_eq!(payload.entry, entry, "{name}");
        assert_eq!(payload.block_size, block_size, "{name}");
        assert_eq!(payload.hash, "sha384", "{name}");
        assert_eq!(payload.mode, if block_size == 0 { "flat" } else { "blocks" }, "{name}");
    }
}

#[test]
fn a_kernel_gets_the_memory_of_its_header() {
    let bench = Bench::new();
    let mut kernel = pattern(3000);
    kernel[16..24].copy_from_slice(&0x12_3456_u64.to_le_bytes());
    kernel[24..32].fill(0);
    kernel[0x38..0x3c].copy_from_slice(b"RSC\x05");
    bench.write("linux", &kernel);
    bench.write("initrd", &initramfs());
    let built = bench.build(&bench.system(), "system.hlk").unwrap();
    assert_eq!(payload(&built, "kernel").memory_size, 0x12_4000);
    // The build reads the header of the kernel first. That must not remove bytes from the payload.
    let bundle = fs::read(bench.path("system.hlk")).unwrap();
    assert_eq!(bundle[4096..4096 + 3000], kernel);

    kernel[16..24].fill(0xff);
    bench.write("linux", &kernel);
    assert_eq!(code(bench.build(&bench.system(), "system.hlk")), 511);
}

#[test]
fn a_payload_says_how_it_is_hashed() {
    let bench = Bench::new();
    let mut spec = bench.system();
    spec.hash = Some(HashId::Sha3_256);
    spec.payloads[0].mode = Some(ModeName::Flat);
    spec.payloads[1].hash = Some(HashId::Sha512);
    spec.payloads[2].block_size = Some(2048);
    let built = bench.build(&spec, "system.hlk").unwrap();
    let how = |name| {
        let payload = payload(&built, name);
        (payload.hash, payload.mode, payload.block_size)
    };
    assert_eq!(how("kernel"), ("sha3-256", "flat", 0));
    assert_eq!(how("initramfs"), ("sha512", "blocks", 1024));
    assert_eq!(how("system-fdt"), ("sha3-256", "blocks", 2048));
}

#[test]
fn hash_and_mode_follow_each_other_where_one_is_free() {
    let bench = Bench::new();
    let mut spec = bench.system();
    spec.payloads[0].mode = Some(ModeName::ParallelHash);
    spec.payloads[1].hash = Some(HashId::Shake128);
    spec.payloads[2].hash = Some(HashId::Kt128);
    let built = bench.build(&spec, "system.hlk").unwrap();
    let how = |name| {
        let payload = payload(&built, name);
        (payload.hash, payload.mode, payload.block_size, payload.is_nist_approved)
    };
    assert_eq!(how("kernel"), ("shake256", "parallelhash", 1024, true));
    assert_eq!(how("initramfs"), ("shake128", "parallelhash", 1024, true));
    assert_eq!(how("system-fdt"), ("kt128", "flat", 0, false));
}

#[test]
fn a_pair_that_is_not_allowed_is_named() {
    let bench = Bench::new();
    let mut spec = bench.system();
    spec.payloads[1].hash = Some(HashId::Sha512);
    spec.payloads[1].mode = Some(ModeName::ParallelHash);
    let error = bench.build(&spec, "system.hlk").unwrap_err();
    assert_eq!(error.context(), ["the initramfs has mode parallelhash with hash sha512"]);
}

#[test]
fn every_hash_and_an_empty_initramfs_verify() {
    let bench = Bench::new();
    bench.write("initrd", &[]);
    for hash in HashId::ALL {
        let spec = BundleSpec { hash: Some(hash), ..bench.system() };
        bench.build(&spec, "system.hlk").unwrap();
        verify(&bench.path("system.hlk"), &bench.expectation()).unwrap();
    }
}

#[test]
fn large_payloads_are_streamed_through_all_cores() {
    let bench = Bench::new();
    bench.write("linux", &pattern(9 << 20));
    let mut seen = Vec::new();
    let spec = bench.system();
    let path = bench.path("system.hlk");
    build(&spec, &bench.keys, 0, &path, &mut |done, total| seen.push((done, total))).unwrap();
    let tree = linux_tree(0).len() as u64;
    let total = 2 * ((9 << 20) + 2049 + tree);
    assert_eq!(seen.last(), Some(&(total, total)));
    assert!(seen.is_sorted() && seen.iter().all(|(_, of)| *of == total));
}

/// The reason code of a refusal, and a change of the description that causes it.
type Fault = (u16, fn(&mut BundleSpec));

#[test]
fn an_inconsistent_description_gives_its_reason_and_leaves_nothing() {
    let bench = Bench::new();
    let before = bench.file_names();
    let system: &[Fault] = &[
        (405, |spec| spec.board = Some(String::new())),
        (406, |spec| spec.soc = Some("a b".to_string())),
        (407, |spec| spec.label = Some("ä".to_string())),
        (408, |spec| spec.lifecycle = Some(vec![])),
        (430, |spec| spec.bootargs = Some("a".repeat(2049))),
        (431, |spec| spec.bootargs = Some("a\nb".to_string())),
        (501, |spec| spec.payloads[0].payload_type = PayloadType::Loader),
        (502, |spec| spec.payloads[0].payload_type = PayloadType::SystemFdt),
        (503, |spec| drop(spec.payloads.remove(0))),
        (503, |spec| spec.payloads.clear()),
        (506, |spec| spec.payloads[0].block_size = Some(1000)),
        (506, |spec| spec.block_size = Some(32 << 20)),
        (506, |spec| {
            spec.hash = Some(HashId::Shake128);
            spec.payloads[0].block_size = Some(1000);
        }),
        (515, |spec| {
            spec.hash = Some(HashId::Shake128);
            spec.payloads[0].mode = Some(ModeName::Flat);
        }),
        (515, |spec| {
            spec.payloads[0].hash = Some(HashId::Shake256);
            spec.payloads[0].mode = Some(ModeName::Blocks);
        }),
        (515, |spec| {
            spec.payloads[0].hash = Some(HashId::Kt128);
            spec.payloads[0].mode = Some(ModeName::ParallelHash);
        }),
        (515, |spec| {
            spec.hash = Some(HashId::Sha384);
            spec.payloads[0].mode = Some(ModeName::ParallelHash);
        }),
        (510, |spec| spec.payloads[0].load_address = Some(1)),
        (510, |spec| spec.payloads[0].memory_size = Some(0)),
        (511, |spec| spec.payloads[0].memory_size = Some(u64::MAX - 4095)),
        (512, |spec| {
            spec.payloads[0].load_address = Some(0x8200_0000);
            spec.payloads[1].load_address = Some(0x8200_0000);
        }),
        (513, |spec| spec.payloads[0].entry = Some(0)),
        (513, |spec| spec.payloads[1].entry = Some(0x8800_0000)),
        (701, |spec| spec.payloads[0].load_address = Some(0x1000)),
        (703, |spec| spec.payloads[0].load_address = Some(0x8210_0000)),
    ];
    let boot: &[Fault] = &[
        (421, |spec| spec.trust = None),
        (422, |spec| {
            let trust = spec.trust.as_mut().unwrap();
            trust.keys.push(trust.keys[0].clone());
        }),
        (423, |spec| spec.trust.as_mut().unwrap().policy = Policy::Hybrid),
        (701, |spec| spec.payloads[1].load_address = Some(0x8080_0000)),
        (703, |spec| spec.payloads[0].entry = Some(0x8000_0004)),
    ];
    for (faults, spec) in [(system, bench.system()), (boot, bench.boot())] {
        for (at, (expected, damage)) in faults.iter().enumerate() {
            let mut spec = spec.clone();
            damage(&mut spec);
            assert_eq!(code(bench.build(&spec, "out.hlk")), *expected, "fault {at}: {spec:?}");
            assert_eq!(bench.file_names(), before, "fault {at} left a file");
        }
    }
}

#[test]
fn an_empty_payload_is_refused() {
    let bench = Bench::new();
    bench.write("linux", &[]);
    let result = bench.build(&bench.system(), "system.hlk");
    assert_eq!(code(result), 509);
}

#[test]
fn an_old_bundle_survives_a_failed_build() {
    let bench = Bench::new();
    bench.write("out.hlk", b"old");
    let mut spec = bench.system();
    spec.payloads.remove(0);
    bench.build(&spec, "out.hlk").unwrap_err();
    assert_eq!(fs::read(bench.path("out.hlk")).unwrap(), b"old");
    bench.build(&bench.system(), "out.hlk").unwrap();
    assert_ne!(fs::read(bench.path("out.hlk")).unwrap(), b"old");
}

#[test]
fn inputs_and_keys_are_never_replaced() {
    let bench = Bench::new();
    bench.write("root.pem", bench.keys[0].to_pem().unwrap().as_bytes());
    for name in ["linux", "root.pem"] {
        let before = fs::read(bench.path(name)).unwrap();
        let result = bench.build(&bench.system(), name);
        assert!(matches!(result, Err(Error::Spec(_) | Error::File(_))), "{result:?}");
        assert_eq!(fs::read(bench.path(name)).unwrap(), before);
    }
}

#[test]
fn missing_parts_of_the_description_are_named() {
    let bench = Bench::new();
    let message = |change: fn(&mut BundleSpec)| {
        let mut spec = bench.system();
        change(&mut spec);
        let error = bench.build(&spec, "out.hlk").unwrap_err();
        assert!(!error.hint().is_empty());
        error.to_string()
    };
    assert!(message(|spec| spec.bundle_type = None).contains("type"));
    assert!(message(|spec| spec.security_version = None).contains("security version"));
    assert!(message(|spec| spec.board = Some("other".into())).contains("load address"));
    assert!(message(|spec| spec.payloads[0].file = "missing".into()).contains("missing"));
    let mut boot = bench.boot();
    boot.bootargs = Some(String::new());
    assert!(matches!(bench.build(&boot, "out.hlk"), Err(Error::Spec(_))));
    let mut system = bench.system();
    system.trust = bench.boot().trust;
    assert!(matches!(bench.build(&system, "out.hlk"), Err(Error::Spec(_))));
}

#[test]
fn a_bundle_for_an_unknown_board_is_not_measured_by_the_map_of_another() {
    let bench = Bench::new();
    let mut spec = bench.system();
    spec.board = Some("other".to_string());
    for (at, payload) in spec.payloads.iter_mut().enumerate() {
        payload.load_address = Some(0x1000 * at as u64);
    }
    bench.build(&spec, "other.hlk").unwrap();
    verify(&bench.path("other.hlk"), &bench.expectation()).unwrap();
}

#[test]
fn what_the_caller_asks_for_is_checked() {
    let bench = Bench::new();
    bench.build(&bench.system(), "system.hlk").unwrap();
    let path = bench.path("system.hlk");
    let check = |change: fn(&mut Expectation)| {
        let mut expectation = bench.expectation();
        change(&mut expectation);
        verify(&path, &expectation)
    };
    check(|it| {
        it.bundle_type = Some(BundleType::System);
        it.board = Name::new("qemu-virt");
        it.soc = Name::new("virt");
        it.floor = Some(4);
        it.lifecycle = Some(Lifecycle::Production);
    })
    .unwrap();
    assert_eq!(code(check(|it| it.bundle_type = Some(BundleType::Boot))), 103);
    assert_eq!(code(check(|it| it.board = Name::new("virt"))), 601);
    assert_eq!(code(check(|it| it.soc = Name::new("other"))), 602);
    assert_eq!(code(check(|it| it.floor = Some(5))), 603);
    assert_eq!(code(check(|it| it.lifecycle = Some(Lifecycle::Returned))), 604);
    assert_eq!(code(check(|it| it.keys.clear())), 1001);
}
