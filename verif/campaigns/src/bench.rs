//! Runs the bench image (`verif/programs/bench`) on an emulated board.

use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use xtask::{run, tools};

/// Time limit that only ends a hang; a slow machine does not reach it.
const HANG: Duration = Duration::from_secs(300);
/// Address from which the bench reads its pack of cases (`verif/programs/bench/src/main.rs`).
pub const PACK_ADDRESS: u64 = hartlock_emulator::bare::PACK_ADDRESS;

/// Runs the bench until it powers the machine off, and returns the console output. `options` are
/// the QEMU options that select the hart.
///
/// # Errors
/// Fails if QEMU hangs or exits with an error; the error contains the console output.
pub fn emulate(bench: &Path, pack: &Path, options: &[&str]) -> Result<String> {
    let pack = pack.to_str().context("the path of the pack is not UTF-8")?.replace(',', ",,");
    let loader = format!("loader,file={pack},addr={PACK_ADDRESS:#x},force-raw=on");
    emulate_without_pack(bench, &[options, &["-device", &loader]].concat())
}

/// Same as [`emulate`], for an image that needs no pack.
///
/// # Errors
/// Fails for the same reasons as [`emulate`].
pub fn emulate_without_pack(image: &Path, options: &[&str]) -> Result<String> {
    let mut qemu = Command::new(tools::locate()?.qemu);
    qemu.args(["-machine", "virt", "-smp", "1", "-m", "512M", "-nographic"]);
    qemu.args(options).args(["-monitor", "none", "-serial", "stdio", "-bios"]).arg(image);
    qemu.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = qemu.spawn().map_err(|error| run::not_started(&qemu, &error))?;
    let output = child.stdout.take().context("the pipe was just made")?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let result = BufReader::new(output).read_to_end(&mut text);
        // After a timeout the receiver is dropped, and the text is not needed.
        let _ = sender.send(result.map(|_| text));
    });
    let Ok(answer) = receiver.recv_timeout(HANG) else {
        child.kill()?;
        child.wait()?;
        bail!("the bench did not end within {HANG:?}");
    };
    let text = String::from_utf8_lossy(&answer?).replace('\r', "");
    let status = child.wait()?;
    ensure!(status.success(), "the bench failed ({status})\n{text}");
    Ok(text)
}
