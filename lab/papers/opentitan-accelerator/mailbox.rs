//! Measures the same digest from the host's side, including request, mailbox and answer.

use anyhow::{Context, Result, ensure};

use super::runs::Function;
use super::{CYCLES_PER_BYTE, KEY};
use crate::counts::Count;
use hartlock_hw::machines::rot_boot::{HostBoot, SMALL_SIZE};
use hartlock_hw::machines::soc;
use hartlock_results::run::{How, Row};
use xtask::project;

/// Message length in bytes of the host's program (`verif/programs/rot-host`).
const MESSAGE_LEN: usize = 4096;
/// Prefix of the program's line for a digest of a message in memory, for which it polls.
const POLLED: &str = "host: a digest in memory ";
/// The machine with a host and the root of trust.
const MACHINE: &str = "soc-1";

/// Returns rows with the cost and the speed-up from the host's first store to the mailbox until it has loaded
/// the answer, and the number of cycles.
pub fn rows(software: &[Count], bytes: usize) -> Result<(Vec<Row>, f64)> {
    ensure!(bytes == MESSAGE_LEN, "the host's message has {MESSAGE_LEN} bytes");
    let machine = soc::soc(MACHINE).context("the machine with a host")?;
    eprintln!("the mailbox on {MACHINE}");
    let folder = project::work_dir("hw").join(KEY);
    let boot = HostBoot { size: SMALL_SIZE, ..HostBoot::default() };
    let measured = boot.run(machine, &folder)?;
    let cycles = measured.console.lines().find_map(|line| line.strip_prefix(POLLED));
    let cycles: f64 = cycles.with_context(|| measured.console.clone())?.trim().parse()?;
    let is_it = |it: &&Count| {
        it.who == "bearssl"
            && it.bytes == bytes
            && Function::of_baseline(&it.what) == Some(Function::Sha256)
    };
    let software = software.iter().find(is_it).context("no BearSSL")?.cycles as f64;
    let config = "SHA-256, mailbox included";
    let note = format!("{cycles:.0} cycles from the host's request to the answer, on {MACHINE}");
    let rows = vec![
        Row::info("Figure 2", "cost", CYCLES_PER_BYTE, cycles / bytes as f64)
            .of(&format!("RAM, {config}, {bytes} bytes"))
            .noted(note.clone()),
        Row::info("Section 4.2", "speed-up over CVA6", "times", software / cycles)
            .of(config)
            .noted(note + "; the paper measures the root of trust alone"),
    ];
    Ok((How::Simulated.made(rows), cycles))
}
