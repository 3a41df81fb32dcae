//! Tests the options of `hartlock boot` and their effect on the device.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hartlock_image::Reason;
use serde_json::Value;

use super::board::TestBoard;
use super::case::Case;
use crate::demo;
use hartlock_testkit::keys::{A, B};
use xtask::run;

pub fn cases() -> Vec<Case> {
    vec![Case::new("refusal/root-key-revoked-with-the-command", revoked)]
}

/// Revokes the signer of the boot bundle, and then also the other root key.
fn revoked(bench: &TestBoard) -> Result<()> {
    let hartlock = demo::build_command()?;
    let setup = bench.setup(&[], &[])?;
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name);
    fs::write(file("rom.bin"), &setup.rom)?;
    fs::write(file("boot.hlk"), &setup.boot)?;
    fs::write(file("system.hlk"), setup.system.context("there is a disk")?)?;
    fs::write(file("signer.pem"), A.public_pem()?)?;
    fs::write(file("other.pem"), B.public_pem()?)?;
    let boot = |revoked: &str| -> Result<_> {
        let mut boot = Command::new(&hartlock);
        boot.current_dir(folder.path()).args(["--json", "boot", "--quiet", "--qemu"]);
        boot.arg(&bench.tools.qemu).args(["--rom", "rom.bin", "--boot-bundle", "boot.hlk"]);
        boot.args(["--system", "system.hlk", "--harts", "2", "--until", "entering OpenSBI"]);
        boot.args(["--root-key", "signer.pem", "--root-key", "other.pem"]);
        boot.args(["--provision-revoked", revoked]);
        let output = run::capture(&mut boot)?;
        let json: Value =
            serde_json::from_slice(&output.stdout).with_context(|| run::tail(&output, 25))?;
        Ok((output.status.code(), json["error"]["reason"]["code"].clone()))
    };
    let refused = boot("0")?;
    let code = format!("E{:04}", Reason::NoTrustedSigner as u16);
    ensure!(refused == (Some(1), code.into()), "revoking the signer gave {refused:?}");
    let booted = boot("1")?;
    ensure!(booted == (Some(0), Value::Null), "revoking the other key gave {booted:?}");
    Ok(())
}
