//! The step `emulator`, which checks that the fetched emulator, firmware and device tree compiler
//! work on this machine.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use xtask::Outcome;
use xtask::{run, tools};

/// A limit that only ends a hang; it is long enough for a slow machine.
const HANG: Duration = Duration::from_secs(120);

/// Compiles a device tree, then starts OpenSBI and waits until it prints its name.
pub fn step(root: &Path) -> Result<Outcome> {
    let tools = tools::locate()?;
    let mut dtc = Command::new("sh");
    dtc.arg("-c").arg("echo '/dts-v1/; / { };' | \"$0\" --out-format dtb >/dev/null");
    run::quietly(dtc.arg(&tools.dtc).current_dir(root)).context("the device tree compiler")?;

    let mut qemu = Command::new(&tools.qemu);
    qemu.args(["-machine", "virt", "-nographic", "-bios"]).arg(&tools.opensbi);
    qemu.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = qemu.spawn().map_err(|error| run::not_started(&qemu, &error))?;
    let output = child.stdout.take().context("the pipe was just made")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        // After a hang the receiver no longer exists, and the result is not needed.
        let _ = sender.send(lines.any(|line| line.contains("OpenSBI v")));
    });
    let answer = receiver.recv_timeout(HANG);
    // OpenSBI waits for a next stage, and none is given.
    child.kill()?;
    child.wait()?;
    Ok(match answer {
        Ok(true) => Outcome::Passed,
        Ok(false) => Outcome::Failed("QEMU ended before OpenSBI started".into()),
        Err(_) => Outcome::Failed(format!("OpenSBI did not start within {HANG:?}")),
    })
}
