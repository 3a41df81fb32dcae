//! Tests the options of `hartlock boot` and their effect on the device.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hartlock_image::Reason;
use serde_json::Value;
use tempfile::TempDir;

use super::board::{STUB_RUNS, TestBoard};
use super::case::Case;
use crate::demo;
use hartlock_testkit::keys::{A, B};
use xtask::run;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("refusal/root-key-revoked-with-the-command", revoked),
        Case::new("linux/only-the-text-that-was-waited-for-is-success", awaited),
    ]
}

/// Boots a kernel that prints one line and powers off. The command says yes if that line is waited for, or no text at
/// all, and it is undecided if the device ends without the text.
fn awaited(bench: &TestBoard) -> Result<()> {
    let device = CommandBoard::new(bench)?;
    let boot = |more: &[&str]| -> Result<_> {
        let (code, json) = device.boot(&[&["--root-key", "signer.pem"], more].concat())?;
        Ok((code, json["booted"].clone(), json["error"]["message"].clone()))
    };
    for success in [&["--until", STUB_RUNS][..], &["--until", ""]] {
        let answer = boot(success)?;
        ensure!(answer == (Some(0), true.into(), Value::Null), "{success:?} gave {answer:?}");
    }
    for (undecided, text) in
        [(&["--until", "never printed"][..], "never printed"), (&[], "Run /init as init process")]
    {
        let expected = format!("the device powered off without printing `{text}`");
        let answer = boot(undecided)?;
        let is_right = answer == (Some(2), false.into(), expected.into());
        ensure!(is_right, "{undecided:?} gave {answer:?}");
    }
    Ok(())
}

/// The files of a device in a temporary folder, for the command.
struct CommandBoard<'a> {
    folder: TempDir,
    hartlock: PathBuf,
    qemu: &'a Path,
}

impl<'a> CommandBoard<'a> {
    fn new(bench: &'a TestBoard) -> Result<Self> {
        let setup = bench.setup(&[], &[])?;
        let folder = tempfile::tempdir()?;
        let file = |name: &str| folder.path().join(name);
        fs::write(file("rom.bin"), &setup.rom)?;
        fs::write(file("boot.hlk"), &setup.boot)?;
        fs::write(file("system.hlk"), setup.system.context("there is a disk")?)?;
        fs::write(file("signer.pem"), A.public_pem()?)?;
        fs::write(file("other.pem"), B.public_pem()?)?;
        Ok(Self { folder, hartlock: demo::build_command()?, qemu: &bench.tools.qemu })
    }

    /// Boots the device, and returns the exit code and the output of the command.
    fn boot(&self, more: &[&str]) -> Result<(Option<i32>, Value)> {
        let mut boot = Command::new(&self.hartlock);
        boot.current_dir(self.folder.path()).args(["--json", "boot", "--quiet", "--qemu"]);
        boot.arg(self.qemu).args(["--rom", "rom.bin", "--boot-bundle", "boot.hlk"]);
        boot.args(["--system", "system.hlk", "--harts", "2"]).args(more);
        let output = run::capture(&mut boot)?;
        let json = serde_json::from_slice(&output.stdout);
        Ok((output.status.code(), json.with_context(|| run::tail(&output, 25))?))
    }
}

/// Revokes the signer of the boot bundle, and then also the other root key.
fn revoked(bench: &TestBoard) -> Result<()> {
    let device = CommandBoard::new(bench)?;
    let boot = |revoked: &str| -> Result<_> {
        let (code, json) = device.boot(&[
            "--until",
            "entering OpenSBI",
            "--root-key",
            "signer.pem",
            "--root-key",
            "other.pem",
            "--provision-revoked",
            revoked,
        ])?;
        Ok((code, json["error"]["reason"]["code"].clone()))
    };
    let refused = boot("0")?;
    let code = format!("E{:04}", Reason::NoTrustedSigner as u16);
    ensure!(refused == (Some(1), code.into()), "revoking the signer gave {refused:?}");
    let booted = boot("1")?;
    ensure!(booted == (Some(0), Value::Null), "revoking the other key gave {booted:?}");
    Ok(())
}
