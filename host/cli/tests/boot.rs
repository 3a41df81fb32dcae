//! Tests of `hartlock boot` without an emulator: the provisioning, and the files that remain.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Bench, Run};

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
