//! The board that is booted: `qemu-virt`, or another board of `boards/` that QEMU's machine `virt` can
//! emulate.
//!
//! All code that builds firmware reads the variable HARTLOCK_BOARD (device/virt/build.rs). A run for
//! another board therefore starts this program again with that variable set.

use std::env;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use hartlock_boards::{Error, KnownBoard, shipped};
use hartlock_emulator::board::Emulated;

use xtask::Verdict;

pub use xtask::project::board as name;
use xtask::project::{BOARD_VARIABLE as VARIABLE, DEFAULT_BOARD as DEFAULT};

/// Returns true if the board is `qemu-virt`, for which all cases are made.
pub fn is_default() -> bool {
    name() == DEFAULT
}

/// Runs this program again for another board. Returns `None` if the program already runs for that
/// board.
pub fn run_for(board: &str) -> Result<Option<Verdict>> {
    if board == name() {
        return Ok(None);
    }
    emulated_of(board)?;
    let mut again = Command::new(env::current_exe()?);
    again.args(env::args_os().skip(1)).env(VARIABLE, board);
    let status = again.status().context("cannot start itself")?;
    match status.code() {
        Some(0) => Ok(Some(Verdict::Yes)),
        Some(1) => Ok(Some(Verdict::No)),
        _ => bail!("the run for {board} did not finish"),
    }
}

/// Name and number of harts of the board, from its description.
pub struct Identity {
    pub board: String,
    pub soc: String,
    pub harts: u32,
}

/// Returns the properties that the emulator must have for this board.
pub fn emulated() -> Result<Emulated> {
    emulated_of(&name())
}

fn emulated_of(board: &str) -> Result<Emulated> {
    let known = known(board)?;
    Emulated::of(known).map_err(|error| match &error {
        Error::Wrong { fault, .. } => anyhow!("{error}\n{fault}"),
        Error::File(_) => error.into(),
    })
}

/// Returns the names and the number of harts of the board.
pub fn identity() -> Result<Identity> {
    let board = &known(&name())?.description;
    Ok(Identity { board: board.name.clone(), soc: board.soc.clone(), harts: board.harts })
}

fn known(board: &str) -> Result<&'static KnownBoard> {
    let known = shipped().iter().find(|known| known.name() == board);
    known.with_context(|| format!("no right description device/boards/{board}/board.toml"))
}
