//! Generated inputs of firmware: constants, linker memory, and the forms of its modules.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::output::NOTICE;
use super::rust::{about, constant, decimal, hex, module};
use hartlock_boards::model::{Board, Clock, Dma, Environment, Storage};

/// Returns `board.rs`, which device/virt includes. `stages` is the board whose memory map its
/// boot stages use.
pub fn constants(board: &Board, stages: &Board) -> Result<String> {
    let mut out = format!(
        "// {NOTICE}\n\n\
         /// The memory map that the stages of this board have.\n\
         pub use maps::{} as map;\n\n\
         /// Ticks of its clock per second.\n\
         pub const TICKS_PER_SECOND: u64 = {};\n",
        module(&stages.name),
        decimal(board.ticks_per_second)
    );
    for device in &board.device {
        let name = constant(&device.name);
        out.push('\n');
        about(&mut out, "", &device.about)?;
        writeln!(out, "pub const {name}: usize = {};", hex(device.start))?;
        if let Some(count) = device.count {
            writeln!(out, "/// Number of instances.")?;
            writeln!(out, "pub const {name}_COUNT: usize = {count};")?;
            writeln!(out, "/// Bytes from one to the next.")?;
            writeln!(out, "pub const {name}_SIZE: usize = {};", hex(device.size.0))?;
        }
        if let Some(is_ready) = device.always_ready {
            writeln!(out, "/// True if the transmitter always has room.")?;
            writeln!(out, "pub const {name}_IS_ALWAYS_READY: bool = {is_ready};")?;
        }
        if let Some(number) = device.interrupt {
            writeln!(out, "/// Interrupt source number.")?;
            writeln!(out, "pub const {name}_INTERRUPT: u32 = {number};")?;
        }
    }
    let last = board.device.iter().map(|device| device.start).max().unwrap_or(0);
    writeln!(out, "\n/// Registers of the device with the highest address.")?;
    writeln!(out, "pub const LAST_DEVICE: usize = {};", hex(last))?;
    Ok(out)
}

/// Returns `memory.ld`, which linker scripts include. If the memory map is that of another board,
/// only its regions in RAM are used.
pub fn linker_memory(board: &Board, stages: &Board) -> Result<String> {
    let ram = board.region("ram")?.start;
    let mut out = format!("/* {NOTICE} */\nMEMORY {{\n");
    for region in &stages.region {
        let Some(attributes) = &region.linker else { continue };
        if board.name != stages.name && region.start < ram {
            continue;
        }
        let size = region.size.with_context(|| format!("{}: has no size", region.name))?;
        line(&mut out, &region.name, attributes, region.start, size.0)?;
    }
    out += "}\n";
    Ok(out)
}

fn line(out: &mut String, name: &str, attributes: &str, start: u64, size: u64) -> Result<()> {
    let head = format!("{} ({attributes})", constant(name));
    writeln!(out, "  {head} : ORIGIN = {start:#010x}, LENGTH = {size:#x}")?;
    Ok(())
}

/// Returns the forms of modules for the build script of device/virt, one line `name=value` for
/// each.
pub fn forms(board: &Board) -> String {
    let environment = match board.forms.environment {
        Environment::Supervisor => "supervisor",
        Environment::Bare => "bare",
    };
    let clock = match board.forms.clock {
        Clock::Time => "time",
        Clock::Cycles => "cycles",
    };
    let storage = match board.forms.storage {
        Storage::Virtio => "virtio",
        Storage::VirtioPci => "virtio-pci",
        Storage::Bench => "bench",
    };
    let dma = match board.forms.dma {
        Dma::Open => "open",
        Dma::Iommu => "iommu",
    };
    format!("environment={environment}\nclock={clock}\nstorage={storage}\ndma={dma}\n")
}

/// Returns `root-of-trust.rs`, which device/rot includes.
pub fn root_of_trust(board: &Board) -> Result<String> {
    let mut out = format!(
        "// {NOTICE}\n\n/// Ticks of its clock per second.\npub const TICKS_PER_SECOND: u64 = {};\n",
        decimal(board.ticks_per_second)
    );
    for own in &board.root_of_trust {
        out.push('\n');
        about(&mut out, "", &own.about)?;
        writeln!(out, "pub const {}: usize = {};", constant(&own.name), hex(own.start))?;
    }
    Ok(out)
}

/// Returns `root-of-trust.ld`, the linker memory of device/rot.
pub fn root_of_trust_memory(board: &Board) -> Result<String> {
    let mut out = format!("/* {NOTICE} */\nMEMORY {{\n");
    for own in &board.root_of_trust {
        if let Some(attributes) = &own.linker {
            line(&mut out, &own.name, attributes, own.start, own.size.0)?;
        }
    }
    out += "}\n";
    Ok(out)
}
