//! Tests of `hartlock boot` without an emulator: the provisioning, and the files that remain.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Bench, Run, boot_tree};

/// A program that pretends to be QEMU. It ends at once or, if a file `hold` exists, writes its process id to
/// a file and continues to run.
const QEMU: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "QEMU emulator version 10.0.0"; exit; fi
if [ ! -e hold ]; then exit 1; fi
echo $$ >number.new && mv number.new number
exec sleep 600
"#;

/// Offsets of the two copies of the state record in flash bank 1 (boot flow §2, §3.2).
const STATE_AT: [usize; 2] = [0x1f8_0000, 0x1fc_0000];

/// Time limit that only ends a test that hangs.
const HANG: Duration = Duration::from_secs(60);

fn bench() -> Bench {
    let bench = Bench::with_bundle();
    bench.run(&["keygen", "-o", "second.pem"]).expect(0);
    bench.write("rom.bin", &[0x13; 64]);
    // Another process writes the file, because a program cannot be started while this process has it open for
    // writing.
    let write = ["-c", "printf %s \"$0\" >qemu && chmod +x qemu", QEMU];
    bench.tool("sh", &write).unwrap().expect(0);
    bench
}

fn boot(bench: &Bench, more: &[&str]) -> Command {
    let mut command = bench.command();
    // Temporary files of a process that was killed are removed with the folder of the test.
    command.env("TMPDIR", bench.folder());
    command.args(["boot", "--qemu", "./qemu", "--rom", "rom.bin", "--boot-bundle", "system.hlk"]);
    command.args(["--system", "system.hlk", "--state", "device", "--root-key", "root.pub.pem"]);
    command.args(more);
    command
}

fn run(bench: &Bench, more: &[&str]) -> Run {
    Run::of(boot(bench, more).output().unwrap())
}

/// Returns the revocation bits of the valid state record.
fn revoked_keys(bench: &Bench) -> u32 {
    let flash = bench.read("device/pflash1.img");
    let records = STATE_AT.iter().map(|at| &flash[*at..*at + 128]);
    let intact = records.filter(|record| record.starts_with(b"HARTLOCK-STAT-v1"));
    let sequence = |record: &&[u8]| u64::from_le_bytes(record[16..24].try_into().unwrap());
    let record = intact.max_by_key(sequence).unwrap();
    u32::from_le_bytes(record[44..48].try_into().unwrap())
}

#[test]
fn revoked_root_keys_are_provisioned_and_stay_revoked() {
    let bench = bench();
    let second = ["--root-key", "second.pub.pem"];
    for (more, expected) in [
        (&[][..], 0),
        (&["--provision-revoked", "1", "--provision-revoked", "1"], 0b10),
        (&["--provision-boot-floor", "2"], 0b10),
        (&["--provision-revoked", "0"], 0b11),
        (&[], 0b11),
    ] {
        // The emulator ends at once, so there is no verdict. The device is provisioned before that.
        run(&bench, &[&second, more].concat()).expect(2);
        assert_eq!(revoked_keys(&bench), expected, "{more:?}");
    }
}

#[test]
fn a_root_key_that_is_not_there_cannot_be_revoked() {
    let bench = bench();
    for place in ["1", "8", "32", "4294967295"] {
        let refused = run(&bench, &["--provision-revoked", place, "--json"]).expect(2);
        let json = refused.json();
        assert_eq!(
            (&json["schema"], &json["outcome"]),
            (&"hartlock/boot-v1".into(), &"undecided".into())
        );
        let message = json["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("cannot revoke root key {place}")), "{message}");
        assert!(json["error"]["hint"].as_str().unwrap().contains("--root-key"), "{json}");
    }
    for place in ["", "-1", "first", "4294967296"] {
        run(&bench, &[&format!("--provision-revoked={place}")]).expect(2);
    }
    assert!(!bench.path("device").exists(), "a device was made");
}

/// Returns a ROM that states that it verifies Ed25519 (1) and ML-DSA (19).
fn stating_rom() -> Vec<u8> {
    let algorithms = (1u64 << 1 | 1 << 19).to_le_bytes();
    [&[0x13; 64][..], b"HARTLOCK-ROM-HAS", &algorithms, &[0x13; 40]].concat()
}

#[test]
fn a_root_key_that_the_rom_lacks_is_named_before_the_boot() {
    let bench = bench();
    bench.write("rom.bin", &stating_rom());
    for algorithm in ["ml-dsa-44", "lms-sha256-h5-w8", "ecdsa-p256"] {
        let file = format!("{algorithm}.pem");
        bench.run(&["keygen", "--algorithm", algorithm, "-o", &file]).expect(0);
    }
    // Every root key counts, whatever the policy.
    let keys = ["--root-key", "lms-sha256-h5-w8.pub.pem", "--root-key", "ecdsa-p256.pub.pem"];
    let refused = run(&bench, &keys).expect(2).stderr;
    for part in [
        "E0307",
        "lms-sha256-h5-w8 of lms-sha256-h5-w8.pub.pem",
        "ecdsa-p256 of ecdsa-p256.pub.pem",
        "cargo xtask firmware --with ecdsa --with lms",
    ] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    assert!(!bench.path("device").exists(), "a device was made");
    // This ROM has the algorithm, so the emulator is started, and ends at once.
    let started = run(&bench, &["--root-key", "ml-dsa-44.pub.pem"]).expect(2);
    assert!(started.stderr.contains("QEMU exited"), "{started:?}");
}

#[test]
fn a_stage_says_what_it_verifies() {
    let bench = bench();
    bench.write("rom.bin", &stating_rom());
    let page = bench.run(&["inspect", "rom.bin"]).expect(0).stdout;
    assert!(page.contains("a Hartlock ROM, as it says itself"), "{page}");
    assert!(page.contains("verifies    signatures of ed25519, ml-dsa\n"), "{page}");
    let json = bench.run(&["inspect", "rom.bin", "--json"]).expect(0).json();
    assert_eq!(json["outcome"], "well-formed");
    assert_eq!(json["carries"], serde_json::json!(["ed25519", "ml-dsa"]));
    // A ROM is no loader.
    let words = "sign --type boot --opensbi fw.bin --loader rom.bin --boot-fdt virt.dtb -o boot.hlk \
                 --security-version 1 --key root.pem --trust root.pub.pem";
    let refused = bench.run(&words.split(' ').filter(|it| !it.is_empty()).collect::<Vec<_>>());
    assert!(refused.expect(1).stderr.contains("`rom.bin` looks like a Hartlock ROM"));
}

#[test]
fn what_is_not_given_is_that_of_the_installation() {
    let bench = bench();
    // Another process writes the program, as in `bench`.
    let copy = "mkdir -p usr/bin usr/libexec/hartlock nothing && cp \"$0\" usr/bin/hartlock";
    bench.tool("sh", &["-c", copy, env!("CARGO_BIN_EXE_hartlock")]).unwrap().expect(0);
    let run = |words: &str| {
        let mut command = Command::new(bench.path("usr/bin/hartlock"));
        command.current_dir(bench.folder()).env("PATH", bench.path("nothing"));
        command.env_remove("HARTLOCK_QEMU").args(words.split(' '));
        Run::of(command.output().unwrap())
    };
    let sign =
        "sign --type boot --security-version 1 --force-type --key root.pem --trust root.pub.pem";
    let sign = format!("{sign} -o boot.hlk");
    let boot = "boot --boot-bundle boot.hlk --system system.hlk --root-key root.pub.pem";
    let missing = run(&sign).expect(1);
    assert!(missing.stderr.contains("loader      missing"), "{missing:?}");
    let missing = run(boot).expect(2);
    assert!(
        missing.stderr.contains("no ROM is given, and none for board qemu-virt"),
        "{missing:?}"
    );
    let install = "for f in qemu-virt/rom.bin qemu-virt/loader.bin opensbi/fw_dynamic.bin; do \
                   install -D fw.bin usr/share/hartlock/firmware/$f; done; \
                   cp virt.dtb usr/share/hartlock/firmware/qemu-virt/boot.dtb";
    bench.tool("sh", &["-c", install]).unwrap().expect(0);
    let signed = run(&sign).expect(0);
    for name in ["opensbi", "loader", "boot-fdt"] {
        let line = format!("using the {name} {}", bench.path("usr/share/hartlock").display());
        assert!(signed.stderr.contains(&line), "{signed:?}");
    }
    let given = run(&format!("{sign} --loader fw.bin")).expect(0);
    assert!(!given.stderr.contains("using the loader"), "{given:?}");
    let missing = run(boot).expect(2);
    assert!(missing.stderr.contains("Install QEMU 10"), "{missing:?}");
    std::os::unix::fs::symlink(
        bench.path("qemu"),
        bench.path("usr/libexec/hartlock/qemu-system-riscv64"),
    )
    .unwrap();
    // This QEMU ends at once. It was started with the installed ROM.
    let ended = run(&format!("{boot} --state device")).expect(2);
    assert!(ended.stderr.contains("using the ROM") && ended.stderr.contains("QEMU exited"));
    assert!(bench.read("device/pflash0.img").starts_with(&bench.read("fw.bin")));
    // A board that nobody installed has no ROM, and its name leads nowhere.
    bench.write("own.toml", b"name = \"../qemu-virt\"\nextends = \"qemu-virt\"\n");
    run(&format!("{boot} --board own.toml")).expect(2);
}

#[test]
#[cfg(target_os = "linux")]
fn the_emulator_does_not_outlive_a_command_that_is_killed() {
    let bench = bench();
    if bench.tool("setpriv", &["--version"]).is_none() {
        return;
    }
    bench.write("hold", &[]);
    let quiet = || Stdio::null();
    let mut command = boot(&bench, &[]);
    command.stdin(quiet()).stdout(quiet()).stderr(quiet());
    let mut killed = command.spawn().unwrap();
    let number = wait_for(|| fs::read_to_string(bench.path("number")).ok());
    assert!(is_alive(number.trim()));
    // After SIGKILL no code of the command is executed.
    killed.kill().unwrap();
    killed.wait().unwrap();
    wait_for(|| (!is_alive(number.trim())).then_some(()));
}

/// Returns true if a process runs. A process that has ended but was not waited for does not count.
fn is_alive(number: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

fn wait_for<T>(look: impl Fn() -> Option<T>) -> T {
    let until = Instant::now() + HANG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "it does not happen");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A program that pretends to be QEMU, whose device prints a refusal.
const REFUSING: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "QEMU emulator version 10.0.0"; exit; fi
cat console
exit 1
"#;

/// Boots a device whose stage refuses with this code, and returns the details and the hint.
fn refused(bench: &Bench, stage: &str, code: &str, args: &[&str]) -> (String, String) {
    bench.write("console", format!("hartlock: {stage} refused: {code} Text.\n").as_bytes());
    let write = ["-c", "printf %s \"$0\" >refusing && chmod +x refusing", REFUSING];
    bench.tool("sh", &write).unwrap().expect(0);
    let common = ["boot", "--json", "--qemu", "./refusing", "--rom", "rom.bin"];
    let run = bench.run(&[&common, args].concat()).expect(1);
    let json = run.json();
    assert_eq!(json["error"]["reason"]["code"], code, "{json}");
    let context = json["error"]["context"].as_array().unwrap();
    let lines: Vec<_> = context.iter().map(|line| line.as_str().unwrap()).collect();
    (lines.join("\n"), json["error"]["hint"].as_str().unwrap().to_owned())
}

/// Makes a boot bundle, signed by one key, that trusts another one for the system bundle.
fn with_boot_bundle() -> Bench {
    let bench = bench();
    bench.run(&["keygen", "-o", "pq.pem", "--algorithm", "ml-dsa-44"]).expect(0);
    let sign = "sign --type boot --opensbi fw.bin --loader fw.bin --boot-fdt virt.dtb --security-version 1 \
                --key root.pem --trust second.pub.pem -o boot.hlk";
    bench.run(&sign.split_whitespace().collect::<Vec<_>>()).expect(0);
    bench
}

const BOTH: [&str; 4] = ["--boot-bundle", "boot.hlk", "--system", "system.hlk"];

#[test]
fn a_revoked_root_key_is_told_from_one_that_is_not_listed() {
    let bench = with_boot_bundle();
    let keys = |file: &str| {
        let json = bench.run(&["key", "show", file, "--json"]).expect(0).json();
        format!("ed25519 {}…", &json["key_id"].as_str().unwrap()[..16])
    };
    let (root, second) = (keys("root.pub.pem"), keys("second.pub.pem"));
    let two = ["--root-key", "second.pub.pem", "--root-key", "root.pub.pem"];
    let revoked = ["--provision-revoked", "1"];
    let (lines, hint) = refused(&bench, "rom", "E0304", &[&BOTH[..], &two, &revoked].concat());
    assert!(
        lines.contains(&format!("signed by {root}, which is root key 1 and is revoked")),
        "{lines}"
    );
    assert!(hint.contains("not revoked"), "{hint}");

    let other = ["--root-key", "second.pub.pem"];
    let (lines, hint) = refused(&bench, "rom", "E0304", &[&BOTH[..], &other].concat());
    let expected = format!("signed by {root}; the root keys are {second}");
    assert!(lines.contains(&expected), "{lines}");
    assert!(hint.contains("private half of second.pub.pem"), "{hint}");

    let own = ["--root-key", "root.pub.pem"];
    let (lines, hint) = refused(&bench, "loader", "E0304", &[&BOTH[..], &own].concat());
    let expected = format!("signed by {root}; the boot bundle trusts {second}");
    assert!(lines.contains(&expected), "{lines}");
    assert!(hint.contains("--trust"), "{hint}");
}

#[test]
fn a_rom_without_a_statement_names_key_algorithm_and_command() {
    let bench = with_boot_bundle();
    let keys = ["--root-key", "root.pub.pem", "--root-key", "pq.pub.pem"];
    let (lines, hint) = refused(&bench, "rom", "E0307", &[&BOTH[..], &keys].concat());
    assert!(lines.contains("ml-dsa-44 of pq.pub.pem") && !lines.contains("root.pub"), "{lines}");
    assert!(hint.contains("`cargo xtask firmware --with ml-dsa`"), "{hint}");
}

#[test]
fn a_hart_that_a_wrong_boot_tree_leaves_out_is_blamed_on_the_tree() {
    let bench = with_boot_bundle();
    let own = ["--root-key", "root.pub.pem"];
    let (lines, hint) = refused(&bench, "loader", "E0906", &[&BOTH[..], &own].concat());
    assert!(!lines.contains("tree") && hint.contains("Power cycle"), "{lines} {hint}");
    let mut linux = boot_tree();
    linux.at("chosen").children.clear();
    bench.write("linux.dtb", &linux.flatten());
    bench.describe_for_unknown_board("linux.dtb");
    bench.run(&["sign", "bundle.toml", "--key", "root.pem", "-o", "mine.hlk"]).expect(0);
    let both = ["--boot-bundle", "mine.hlk", "--system", "system.hlk", "--board", "mine.toml"];
    let (lines, hint) = refused(&bench, "loader", "E0906", &[&both[..], &own].concat());
    assert!(lines.contains("the boot device tree: "), "{lines}");
    assert!(hint.contains("`boot.dtb`: this one is for Linux"), "{hint}");
}

#[test]
fn bundles_that_were_swapped_are_told_before_the_boot() {
    let bench = with_boot_bundle();
    let own = ["--root-key", "root.pub.pem"];
    let swapped = ["--boot-bundle", "system.hlk", "--system", "boot.hlk"];
    let args = ["boot", "--qemu", "./qemu", "--rom", "rom.bin", "--state", "device"];
    let run = bench.run(&[&args[..], &swapped, &own].concat()).expect(2);
    assert!(run.stderr.contains("E0103") && run.stderr.contains("Swap the files"), "{run:#?}");
    assert!(!bench.path("device").exists(), "a device was made");
    // One bundle of the wrong type is left to the device.
    let one = ["--boot-bundle", "system.hlk", "--system", "system.hlk"];
    let (lines, hint) = refused(&bench, "rom", "E0103", &[&one[..], &own].concat());
    assert!(lines.contains("it is a system bundle"), "{lines}");
    assert!(hint.contains("a boot bundle with `--boot-bundle`"), "{hint}");
}
