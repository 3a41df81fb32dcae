//! Follows the hints that `hartlock boot` gives for a refusal with several causes (spec/errors.toml), on the device that
//! refused: what the hint says is done by a command, and then the device boots.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hartlock_image::{PayloadType, Reason};
use serde_json::Value;
use tempfile::TempDir;

use super::board::{STUB_RUNS, TestBoard};
use super::case::Case;
use crate::demo;
use hartlock_testkit::keys::A;
use xtask::{firmware, run};

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("refusal/hint-for-bundles-in-wrong-places", wrong_places),
        Case::new("refusal/hint-for-keys-that-are-not-trusted", untrusted),
        Case::new("refusal/hint-for-an-algorithm-that-the-rom-lacks", without_algorithm),
        Case::new("refusal/hint-for-the-device-tree-of-an-emulator", other_tree),
    ]
}

/// A folder in which a user signs for a device and boots it.
struct Desk<'a> {
    folder: TempDir,
    hartlock: PathBuf,
    bench: &'a TestBoard,
}

impl<'a> Desk<'a> {
    /// Makes the keys `root`, `other` and `system`, and a system bundle of the last one.
    fn new(bench: &'a TestBoard) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let desk = Self { folder, hartlock: demo::build_command()?, bench };
        let firmware = &bench.firmware;
        for (name, from) in [
            ("rom.bin", &firmware.rom.bin),
            ("loader.bin", &firmware.loader.bin),
            ("opensbi.bin", &bench.tools.opensbi),
            ("boot.dtb", &firmware.boot_fdt),
            ("system.dtb", &firmware.system_fdt),
            ("kernel", &firmware::stage("stub", &[])?.bin),
        ] {
            fs::copy(from, desk.folder.path().join(name)).context(name)?;
        }
        for key in ["root", "other", "system"] {
            desk.done(&format!("keygen -o {key}.pem"))?;
        }
        desk.sign_system("system")?;
        Ok(desk)
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.hartlock);
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        command
    }

    /// Runs a command that has to succeed.
    fn done(&self, arguments: &str) -> Result<()> {
        run::quietly(&mut self.command(arguments)).map(drop)
    }

    fn sign_system(&self, key: &str) -> Result<()> {
        self.done(&format!(
            "sign --type system --security-version 1 --kernel kernel --system-fdt system.dtb --force-type --force \
             --key {key}.pem -o system.hlk"
        ))
    }

    fn sign_boot(&self, key: &str) -> Result<()> {
        self.done(&format!(
            "sign --type boot --security-version 1 --opensbi opensbi.bin --loader loader.bin --boot-fdt boot.dtb \
             --trust system.pub.pem --force --key {key}.pem -o boot.hlk"
        ))
    }

    fn boot(&self, arguments: &str) -> Result<(Option<i32>, Value)> {
        let mut boot = self.command(&format!("--json boot --quiet --harts 2 {arguments}"));
        boot.args(["--until", STUB_RUNS, "--qemu"]).arg(&self.bench.tools.qemu);
        let output = run::capture(&mut boot)?;
        let json = serde_json::from_slice(&output.stdout);
        Ok((output.status.code(), json.with_context(|| run::tail(&output, 25))?))
    }

    /// Checks that a boot ends with this reason, and returns the hint.
    fn refused(&self, arguments: &str, reason: Reason, hint: &str) -> Result<String> {
        let (code, json) = self.boot(arguments)?;
        let error = &json["error"];
        let expected = format!("E{:04}", reason as u16);
        let given = error["hint"].as_str().unwrap_or_default();
        let is_right = matches!(code, Some(1 | 2))
            && error["reason"]["code"] == expected
            && given.to_lowercase().starts_with(hint);
        ensure!(is_right, "{arguments}: {code:?} {error:#}");
        Ok(given.to_owned())
    }

    fn booted(&self, arguments: &str) -> Result<()> {
        let (code, json) = self.boot(arguments)?;
        ensure!(code == Some(0), "{arguments}: {code:?} {:#}", json["error"]);
        Ok(())
    }
}

const DEVICE: &str = "--rom rom.bin --root-key root.pub.pem";
const BUNDLES: &str = "--boot-bundle boot.hlk --system system.hlk";

fn wrong_places(bench: &TestBoard) -> Result<()> {
    let desk = Desk::new(bench)?;
    desk.sign_boot("root")?;
    let refused = |bundles: &str, hint| {
        desk.refused(&format!("{DEVICE} {bundles}"), Reason::WrongBundleType, hint)
    };
    refused("--boot-bundle system.hlk --system boot.hlk", "swap the files")?;
    refused("--boot-bundle system.hlk --system system.hlk", "give a boot bundle with `--boot-bu")?;
    refused("--boot-bundle boot.hlk --system boot.hlk", "give a system bundle with `--system`")?;
    desk.booted(&format!("{DEVICE} {BUNDLES}"))
}

fn untrusted(bench: &TestBoard) -> Result<()> {
    let desk = Desk::new(bench)?;
    let device = format!("{DEVICE} {BUNDLES}");
    let refused = |device: &str, hint| desk.refused(device, Reason::NoTrustedSigner, hint);
    desk.sign_boot("other")?;
    refused(&device, "sign the boot bundle with the private half of root.pub.pem")?;
    desk.sign_boot("root")?;
    desk.booted(&device)?;

    desk.sign_system("other")?;
    refused(&device, "sign the system bundle with a key that the boot bundle trusts")?;
    desk.sign_system("system")?;
    desk.booted(&device)?;

    let revoked = format!("{device} --root-key other.pub.pem --provision-revoked 0");
    refused(&revoked, "sign with a root key that is not revoked")?;
    desk.sign_boot("other")?;
    desk.booted(&revoked)
}

fn without_algorithm(bench: &TestBoard) -> Result<()> {
    let desk = Desk::new(bench)?;
    desk.done("keygen --algorithm ecdsa-p384 -o later.pem")?;
    desk.sign_boot("later")?;
    let device = |rom: &str| format!("--rom {rom} --root-key later.pub.pem {BUNDLES}");
    let hint = desk.refused(
        &device("rom.bin"),
        Reason::TrustedAlgorithmMissing,
        "build a rom that has it, with `cargo xtask firmware --with ecdsa`",
    )?;
    let feature = hint.split("--with ").nth(1).and_then(|rest| rest.split('`').next());
    ensure!(feature == Some("ecdsa"), "{hint}");
    let rom = firmware::stage("rom", &["ecdsa"])?.bin;
    desk.booted(&device(rom.to_str().context("a path in UTF-8")?))
}

/// A test key signs the boot bundle, because the command does not sign such a tree.
fn other_tree(bench: &TestBoard) -> Result<()> {
    let desk = Desk::new(bench)?;
    let tree = fs::read(&bench.firmware.system_fdt)?;
    let setup = bench.setup_with_payload(&bench.firmware.loader, PayloadType::BootFdt, tree)?;
    let file = |name: &str| desk.folder.path().join(name);
    fs::write(file("boot.hlk"), &setup.boot)?;
    fs::write(file("root.pub.pem"), A.public_pem()?)?;
    fs::write(file("system.hlk"), setup.system.context("there is a disk")?)?;
    let device = format!("{DEVICE} {BUNDLES}");
    desk.refused(&device, Reason::MemoryReachable, "use the boot device tree of the board")?;
    fs::write(file("boot.hlk"), &bench.setup(&[], &[])?.boot)?;
    desk.booted(&device)
}
