//! RSA by the engine for big numbers: what of an operation is load of operands, what the engine's time, and what the way of
//! the result.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::ciphers;
use super::labels::Retired;
use super::payload::CYCLES_PER_BYTE;
use super::runs::{Memory, Ran, Trace};
use crate::counts::Count;
use hartlock_results::run::{How, Row};

/// Registers of the engine (`hw/ip/bignum/doc/registers.md`), where the root of trust has it.
const ENGINE: u32 = 0x4000_a000;
const COMMAND: u32 = ENGINE + 0x10;
const STATUS: u32 = ENGINE + 0x14;
const DATA: u32 = ENGINE + 0x2c;

pub const TABLE: &str = "RSA, parts";
const ROOM: &str = "its microprogram is in a ROM of the engine, so no program is loaded";
const OTHER_ENGINE: &str =
    "our engine with 16 DSP blocks in the place of OTBN, which cannot be had";

/// Cycles of the parts of an operation. They follow each other, and are all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phases {
    /// Until the command: key, exponent and payload into the engine.
    pub load: u64,
    /// Until the status says that it has ended.
    pub compute: u64,
    /// Until the driver has returned: checks, the result out of the engine, a wipe after a private operation.
    pub rest: u64,
}

impl Phases {
    /// Of what retired in a run: the driver wipes the engine, writes operands, then the command that computes, asks for the
    /// status alone until it has ended, and goes on with other registers. `before` is the cycle before the first.
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

/// An operation with a key of RSA.
#[derive(Clone, Debug)]
pub struct Operation {
    /// As the program calls it.
    pub what: String,
    /// Of payload and result; the key is in the scratchpad.
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

/// The operations of a run of the program.
///
/// # Errors
/// If one of them did not use the engine.
pub fn of(trace: &Trace) -> Result<Vec<Operation>> {
    let runs = trace.runs.iter().filter(|run| run.what.starts_with("rsa-"));
    let operation = |run: &Ran| {
        let phases = Phases::of(run.before, &run.retired);
        let phases = phases.with_context(|| format!("no power in the run of {}", run.what))?;
        Ok(Operation { what: run.what.clone(), memory: run.memory, bytes: run.bytes, phases })
    };
    runs.map(operation).collect()
}

/// Figure 2, and what it consists of.
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

/// How many times slower the fastest software on CVA6 is, the payload in RAM. The paper has decryptions only, named after the
/// key.
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

/// Parts of every operation.
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
            // The wipe before is no beginning.
            access(12, COMMAND, true),
            access(15, STATUS, false),
            access(30, DATA, true),
            access(40, COMMAND, true),
            access(45, STATUS, false),
            access(90, 0x1000_0000, false),
            access(100, STATUS, false),
            access(105, 0x1000_0000, true),
            access(110, outcome, false),
            // Nor is the one afterwards.
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
