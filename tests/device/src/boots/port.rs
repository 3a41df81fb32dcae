//! The board that is booted: `qemu-virt`, or another one of boards/ that QEMU's `virt` can be.
//!
//! Everything that builds firmware reads HARTLOCK_BOARD (firmware/virt/build.rs), so a run for another
//! board is a run of this program in that environment.

use std::env;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use hartlock_emulator::qemu::Machine;
use toml::{Table, Value};

use xtask::{Verdict, project};

pub use xtask::project::board as name;
use xtask::project::{BOARD_VARIABLE as VARIABLE, DEFAULT_BOARD as DEFAULT};

/// Whether it is the board that every case is made for.
pub fn is_default() -> bool {
    name() == DEFAULT
}

/// What an emulated device is made of and read out by, at the places of the default board.
const SHARED: [&str; 10] = [
    "rom-flash",
    "root-of-trust",
    "bundle-flash",
    "boot-slot",
    "state-copies",
    "opensbi",
    "rom-ram",
    "handoff",
    "log",
    "linux-fdt",
];

/// Runs this program again for another board; `None` if it already runs for it.
pub fn run_for(board: &str) -> Result<Option<Verdict>> {
    if board == name() {
        return Ok(None);
    }
    check(&read(DEFAULT)?, &read(board)?)?;
    let mut again = Command::new(env::current_exe()?);
    again.args(env::args_os().skip(1)).env(VARIABLE, board);
    let status = again.status().context("cannot start itself")?;
    match status.code() {
        Some(0) => Ok(Some(Verdict::Yes)),
        Some(1) => Ok(Some(Verdict::No)),
        _ => bail!("the run for {board} came to no end"),
    }
}

/// What the description of the board says about itself.
pub struct Identity {
    pub board: String,
    pub soc: String,
    pub harts: u32,
}

/// What the emulator has to be. A board that it does not know is like the default one.
pub fn machine() -> Machine {
    Machine::by_name(&name()).unwrap_or_default()
}

/// Names and harts of the board.
pub fn identity() -> Result<Identity> {
    let table = read(&name())?;
    let text = |key: &str| table.get(key).and_then(Value::as_str).map(str::to_owned);
    let harts = table.get("harts").and_then(Value::as_integer);
    Ok(Identity {
        board: text("name").context("no name")?,
        soc: text("soc").context("no soc")?,
        harts: harts.and_then(|harts| harts.try_into().ok()).context("no harts")?,
    })
}

fn read(board: &str) -> Result<Table> {
    let file = project::root().join("boards").join(board).join("board.toml");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let own: Table = text.parse().with_context(|| file.display().to_string())?;
    let Some(base) = own.get("extends").and_then(Value::as_str) else { return Ok(own) };
    // What it does not say itself. The first region of a name counts.
    let mut all = own.clone();
    for (key, value) in read(base)? {
        match (all.get_mut(&key), value) {
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
            (Some(_), _) => {}
            (None, value) => {
                all.insert(key, value);
            }
        }
    }
    Ok(all)
}

/// A device image is laid out as for the default board.
fn check(default: &Table, other: &Table) -> Result<()> {
    for name in SHARED {
        let (there, here) = (region(default, name), region(other, name));
        ensure!(there == here, "region {name} differs: device images are made as for {DEFAULT}");
    }
    Ok(())
}

fn region<'a>(board: &'a Table, name: &str) -> Option<[Option<&'a Value>; 3]> {
    let mut regions = board.get("region")?.as_array()?.iter();
    let found = regions.find(|it| it.get("name").and_then(Value::as_str) == Some(name))?;
    Some(["start", "size", "count"].map(|key| found.get(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_board_that_needs_other_device_images() {
        let default = read(DEFAULT).unwrap();
        assert!(SHARED.iter().all(|name| region(&default, name).is_some()));
        let moved = |from: &str, to: &str| {
            let text = default.to_string();
            assert!(text.contains(from), "{text}");
            check(&default, &text.replace(from, to).parse().unwrap())
        };
        assert!(moved("harts = 5", "harts = 3").is_ok());
        let log = i64::from(0x8012_0000_u32).to_string();
        let error = moved(&log, "2148667392").unwrap_err().to_string();
        assert!(error.contains("region log differs"), "{error}");
    }
}
