//! RSA by the big-number engine: the share of loading operands, of computing, and of reading the result.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::ciphers;
use super::labels::Retired;
use super::payload::CYCLES_PER_BYTE;
use super::runs::{Memory, Ran, Trace};
use crate::counts::Count;
use hartlock_results::run::{How, Row};

/// Registers of the engine (`hw/ip/bignum/doc/registers.md`), at its address in the root of trust.
const ENGINE: u32 = 0x4000_a000;
const COMMAND: u32 = ENGINE + 0x10;
const STATUS: u32 = ENGINE + 0x14;
const DATA: u32 = ENGINE + 0x2c;

pub const TABLE: &str = "RSA, parts";
const ROOM: &str = "its microprogram is in a ROM of the engine, so no program is loaded";
const OTHER_ENGINE: &str =
    "our engine with 16 DSP blocks in the place of OTBN, which cannot be had";

/// Cycles of the phases of an operation, which follow each other without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    /// Cycles until the command: the driver writes key, exponent and payload to the engine.
    pub load: u64,
    /// Cycles until the status register shows the end.
    pub compute: u64,
    /// Cycles until the driver returns: it checks, reads the result, and clears the engine after a private operation.
    pub rest: u64,
}

impl Phases {
    /// Finds the phases in the retired instructions of a run. The driver clears the engine, writes operands and the
    /// command, polls only the status register until the end, and then accesses other registers. `before` is the cycle
    /// before the first instruction. Returns `None` if a phase is missing.
    pub fn of(before: u64, retired: &[Retired]) -> Option<Self> {
        let is_write = |it: &Retired, to| it.address == Some(to) && it.is_store;
        let operand = retired.iter().position(|it| is_write(it, DATA))?;
        let command = retired.iter().skip(operand).position(|it| is_write(it, COMMAND))?;
        let begin = operand + command;
        let (loaded, after) = retired.split_at_checked(begin + 1)?;
        let is_other =
            |it: &Retired| it.address.is_some_and(|it| it >> 12 == ENGINE >> 12 && it != STATUS);
        let end = after.iter().position(is_other)?;
        let last_poll = after.get(..end)?.iter().rfind(|it| it.address == Some(STATUS))?;
        let (started, last) = (loaded.last()?.cycle, retired.last()?.cycle);
        Some(Self {
            load: started - before,
            compute: last_poll.cycle - started,
            rest: last - last_poll.cycle,
        })
    }

    pub const fn all(self) -> u64 {
        self.load + self.compute + self.rest
    }
}

/// An RSA operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Name of the operation in the program.
    pub what: String,
    /// Memory of payload and result; the key is in the scratchpad.
    pub memory: Memory,
    pub bytes: usize,
    pub phases: Phases,
}

impl Operation {
    fn config(&self) -> String {
        let title = ciphers::title(&self.what).unwrap_or("another");
        format!("{}, {title}", self.memory.name())
    }

    fn cycles_per_byte(&self) -> f64 {
        self.phases.all() as f64 / self.bytes as f64
    }
}

/// Returns the operations in a run of the program.
///
/// # Errors
/// Fails if an operation did not use the engine.
pub fn of(trace: &Trace) -> Result<Vec<Operation>> {
    let runs = trace.runs.iter().filter(|run| run.what.starts_with("rsa-"));
    let operation = |run: &Ran| {
        let phases = Phases::of(run.before, &run.retired);
        let phases = phases.with_context(|| format!("no power in the run of {}", run.what))?;
        Ok(Operation { what: run.what.clone(), memory: run.memory, bytes: run.bytes, phases })
    };
    runs.map(operation).collect()
}

/// Returns the rows of figure 2 and of the phases.
pub fn rows(operations: &[Operation]) -> Vec<Row> {
    let mut rows = Vec::new();
    for it in operations {
        let config = it.config();
        let row = Row::info("Figure 2", "cost", CYCLES_PER_BYTE, it.cycles_per_byte()).of(&config);
        rows.push(row.noted(format!("{} cycles; {OTHER_ENGINE}", it.phases.all())));
        let Phases { load, compute, rest } = it.phases;
        for (metric, cycles) in
            [("load of operands", load), ("engine", compute), ("checks and result", rest)]
        {
            let row = Row::info(TABLE, metric, "cycles", cycles as f64).of(&config);
            rows.push(if metric == "load of operands" { row.noted(ROOM) } else { row });
        }
    }
    How::Simulated.made(rows)
}

/// Returns the speed-ups over the fastest software on CVA6, with the payload in RAM. The paper has decryptions only and
/// names them by the key.
pub fn speed_up_rows(operations: &[Operation], software: &[Count]) -> Result<Vec<Row>> {
    let from_ram = operations.iter().filter(|it| it.memory == Memory::Ram);
    let row = |it: &Operation| {
        let title = ciphers::title(&it.what).context("another operation")?;
        let software = ciphers::fastest(software, title).with_context(|| format!("no {title}"))?;
        let speed_up = software.cycles_per_byte() / it.cycles_per_byte();
        let config = title.strip_suffix(" decryption").unwrap_or(title);
        let row = Row::info("Section 4.2", "speed-up over CVA6", "times", speed_up).of(config);
        Ok(row
            .noted(format!("{OTHER_ENGINE}; over the fastest software, which is not the paper's")))
    };
    Ok(How::Simulated.made(from_ram.map(row).collect::<Result<_>>()?))
}

/// Formats the phases of every operation as CSV.
pub fn csv(operations: &[Operation]) -> String {
    let mut text = "operation,memory,bytes,load,compute,rest\n".to_owned();
    for Operation { what, memory, bytes, phases: Phases { load, compute, rest } } in operations {
        let _ = writeln!(text, "{what},{},{bytes},{load},{compute},{rest}", memory.name());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(cycle: u64, address: u32, is_store: bool) -> Retired {
        Retired { cycle, pc: 0, instruction: 0x13, address: Some(address), is_store }
    }

    #[test]
    fn parts_are_told_apart_by_the_registers_of_the_engine() {
        let outcome = ENGINE + 0x24;
        let run = [
            // The command that clears the engine before the operation is not its start.
            access(12, COMMAND, true),
            access(15, STATUS, false),
            access(30, DATA, true),
            access(40, COMMAND, true),
            access(45, STATUS, false),
            access(90, 0x1000_0000, false),
            access(100, STATUS, false),
            access(105, 0x1000_0000, true),
            access(110, outcome, false),
            // The command that clears it afterwards is not its start either.
            access(120, COMMAND, true),
            access(125, STATUS, false),
        ];
        let phases = Phases::of(10, &run).unwrap();
        assert_eq!(phases, Phases { load: 30, compute: 60, rest: 25 });
        assert_eq!(phases.all(), 115);
        assert_eq!(Phases::of(10, &run[..3]), None, "no command");
        assert_eq!(Phases::of(10, &run[..7]), None, "no end");
    }

    #[test]
    fn software_is_compared_with_all_of_an_operation() {
        let phases = Phases { load: 10_000, compute: 60_000, rest: 10_000 };
        let of = |memory| Operation { what: "rsa-512-private".into(), memory, bytes: 64, phases };
        let software = Count {
            who: "bearssl-i62".into(),
            what: "rsa-512-private".into(),
            bytes: 64,
            cycles: 800_000,
            instructions: 1,
        };
        let operations = [of(Memory::Rot), of(Memory::Ram)];
        let rows = speed_up_rows(&operations, &[software]).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((&*rows[0].config, rows[0].ours), ("RSA-512", Some(10.0)));
        assert!(speed_up_rows(&operations, &[]).is_err());
    }
}
