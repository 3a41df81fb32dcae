//! Lists the instructions that a stage executes, and skips one of them.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hartlock_verify::board::Region;

use super::Debugger;

/// An instruction that a boot executes.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub pc: u64,
    /// Length in bytes.
    pub len: u64,
}

impl Instruction {
    /// Parses a line of QEMU's listing: `0x0000000020000000: 00000297 auipc …`.
    fn read(line: &str) -> Option<Self> {
        let (address, rest) = line.strip_prefix("0x")?.split_once(':')?;
        let digits = rest.split_whitespace().next()?;
        u32::from_str_radix(digits, 16).ok()?;
        let pc = u64::from_str_radix(address, 16).ok()?;
        matches!(digits.len(), 4 | 8).then_some(Self { pc, len: digits.len() as u64 / 2 })
    }
}

/// Returns QEMU options that write the instructions in the memory range `code` to a file.
pub fn listing_options(file: &Path, code: Region) -> [String; 6] {
    let range = format!("{:#x}+{:#x}", code.start, code.size());
    let path = file.display().to_string();
    ["-d", "in_asm", "-D", &path, "-dfilter", &range].map(str::to_owned)
}

/// Returns the instructions of such a listing, in the order of their first execution.
///
/// # Errors
/// Fails if there are too few for a stage that reached a decision.
pub fn listed(file: &Path, code: Region) -> Result<Vec<Instruction>> {
    let text = fs::read_to_string(file).context("QEMU left no trace")?;
    // QEMU lists code twice if it translates it twice.
    let mut seen = HashSet::new();
    let instructions: Vec<Instruction> = text
        .lines()
        .filter_map(Instruction::read)
        .filter(|it| code.contains(&Region::new(it.pc, it.len)) && seen.insert(it.pc))
        .collect();
    ensure!(instructions.len() > 1000, "the trace has {} instructions", instructions.len());
    Ok(instructions)
}

/// Lets the machine run to an instruction and moves the program counter past it. Returns `false` if
/// the instruction is not reached.
///
/// # Errors
/// Fails if the debug stub returns an error.
pub fn skip(debugger: &mut Debugger, instruction: Instruction, patience: Duration) -> Result<bool> {
    let Instruction { pc, len } = instruction;
    if debugger.run_to(pc, patience)? != Some(pc) {
        return Ok(false);
    }
    debugger.set_pc(pc + len)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_lines_of_a_listing_that_are_instructions() {
        let read = |line| Instruction::read(line).map(|it| (it.pc, it.len));
        let wide = "0x0000000020000000:  00000297          auipc           t0,0";
        assert_eq!(read(wide), Some((0x2000_0000, 4)));
        assert_eq!(read("0x20000004:  4501  li a0,0"), Some((0x2000_0004, 2)));
        for other in ["IN: main", "Priv: 3; Virt: 0", "0x20000004:  450  x", "0x20000004:  zzzz  x"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
