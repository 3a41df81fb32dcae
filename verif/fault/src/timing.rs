//! Observes a program that runs computations with different secrets: the addresses of its instructions and of the data
//! that they access must be the same for all of them.
//!
//! The program calls empty functions between the computations, the *marks* (`verif/programs/timing`).

use crate::code::Code;
use crate::hart::{Bus, Event, Hart};
use crate::instruction::{Instruction, Operation};
use crate::memory::Memory;

/// Size in bytes of the memory from the first address of the program on.
const MEMORY: usize = 8 << 20;
/// Maximum number of instructions of a program. It only ends a program that hangs.
const LONGEST: u64 = 1 << 40;
/// The devices of the board `virt` that the program uses: its console, and the device that ends the machine.
const UART: u64 = 0x1000_0000;
const UART_STATUS: u64 = UART + 5;
const TRANSMITTER_EMPTY: u64 = 0x60;
const TEST: u64 = 0x10_0000;

/// A linked program and the addresses that an observer needs.
#[derive(Debug)]
pub struct Program<'a> {
    /// The bytes of the program in memory.
    pub image: &'a [u8],
    /// The address of its first byte, which is its entry.
    pub start: u64,
    /// The mark in front of all runs of a computation.
    pub subject: u64,
    /// The mark in front of a run.
    pub begin: u64,
    /// The mark in front of a run that is observed only inside of the functions `confined`.
    pub begin_confined: u64,
    /// The mark after a run.
    pub end: u64,
    /// The addresses of the functions `confined`.
    pub confined: Vec<u64>,
}

/// What an observer sees: the address of an instruction, or that of a load or a store. The time of a division depends on
/// its operands, so they are seen as well (it is not in Zkt; Unprivileged ISA, chapter on scalar cryptography).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// An instruction.
    Instruction(u64),
    /// A load with its length in bytes.
    Load(u64, u8),
    /// A store with its length in bytes.
    Store(u64, u8),
    /// The operands of a division.
    Division(u64, u64),
    /// The run has ended.
    End,
}

/// The first place where a run differs from the first run of its computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the run, from 0.
    pub run: u64,
    /// The address of the instruction that accesses other data, or after which another instruction follows.
    pub pc: u64,
    /// What the first run did.
    pub first: Seen,
    /// What this run did instead.
    pub other: Seen,
}

/// All runs of a computation.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// The last line on the console before them.
    pub name: String,
    /// Number of runs.
    pub count: u64,
    /// Number of instructions of the first run.
    pub instructions: u64,
    /// Number of loads and stores of the first run.
    pub accesses: u64,
    /// The first difference.
    pub difference: Option<Difference>,
}

/// Runs the program until it ends the machine. Returns what was observed, and the console output.
///
/// # Errors
/// If the program fails or does not end.
pub fn observe(program: &Program<'_>) -> Result<(Vec<Runs>, String), String> {
    let image = program.image.get(..MEMORY).unwrap_or(program.image);
    let mut memory = Memory::filled(MEMORY, [0, 0]);
    for (offset, byte) in (0..).zip(image) {
        memory.store::<1>(offset, (*byte).into());
    }
    let mut board = Board { memory, start: program.start, ..Board::default() };
    let mut hart = Hart::new(0, program.start);
    let mut observer = Observer::new(program);
    let code = Code::decode(program.start, image, |word, _| Instruction::decode(word));
    for _ in 0..LONGEST {
        if let Some(code) = board.ended {
            let text = board.console;
            return if code == 0 { Ok((observer.finish(), text)) } else { Err(text) };
        }
        let Some(instruction) = code.at(hart.pc) else {
            return Err(format!("{}no instruction at {:#x}", board.console, hart.pc));
        };
        observer.at(&hart, instruction, &board);
        board.accessed = None;
        match hart.execute(instruction, &mut board) {
            Ok(()) | Err(Event::Protection) => {}
            Err(Event::Trap(cause, value)) => hart.trap(cause, value),
            Err(event) => return Err(format!("{}{event:?} at {:#x}", board.console, hart.pc)),
        }
        if let Some(seen) = board.accessed {
            observer.see(seen);
        }
    }
    Err(format!("{}the program does not end", board.console))
}

/// The state of an observation.
struct Observer<'a> {
    program: &'a Program<'a>,
    /// The first mark, and the distance of the last one from it.
    marks: (u64, u64),
    all: Vec<Runs>,
    /// The computation that runs.
    now: Runs,
    /// What its first run did.
    first: Vec<Seen>,
    /// Number of the things that this run has done, as long as it is the same as the first one.
    position: usize,
    /// The address of the last instruction.
    pc: u64,
    /// True if something is observed at the moment.
    is_watching: bool,
    /// True while a run lasts of which only what runs inside of `confined` is observed.
    is_in_part: bool,
    /// The return address of the outermost function `confined`.
    confined_until: Option<u64>,
}

impl<'a> Observer<'a> {
    fn new(program: &'a Program<'a>) -> Self {
        let marks = [program.subject, program.begin, program.begin_confined, program.end];
        let (low, high) =
            marks.iter().fold((u64::MAX, 0), |(low, high), mark| (low.min(*mark), high.max(*mark)));
        Self {
            program,
            marks: (low, high - low),
            all: Vec::new(),
            now: Runs::default(),
            first: Vec::new(),
            position: 0,
            pc: 0,
            is_watching: false,
            is_in_part: false,
            confined_until: None,
        }
    }

    /// Returns what was observed.
    fn finish(mut self) -> Vec<Runs> {
        self.all.push(self.now);
        // What precedes the first computation.
        self.all.remove(0);
        self.all
    }

    /// Looks at the next instruction.
    #[inline]
    fn at(&mut self, hart: &Hart, instruction: Instruction, board: &Board) {
        let pc = hart.pc;
        if pc.wrapping_sub(self.marks.0) <= self.marks.1 {
            self.at_mark(pc, board);
        }
        if self.is_in_part {
            match self.confined_until {
                None if self.program.confined.contains(&pc) => {
                    (self.confined_until, self.is_watching) = (Some(hart.x[1]), true);
                }
                Some(until) if until == pc => {
                    (self.confined_until, self.is_watching) = (None, false);
                }
                _ => {}
            }
        }
        if self.is_watching {
            self.see(Seen::Instruction(pc));
            self.pc = pc;
            if is_division(instruction.operation) {
                let [dividend, divisor] =
                    [instruction.rs1, instruction.rs2].map(|it| hart.x[usize::from(it & 31)]);
                self.see(Seen::Division(dividend, divisor));
            }
        }
    }

    #[cold]
    fn at_mark(&mut self, pc: u64, board: &Board) {
        let program = self.program;
        if pc == program.subject {
            let name = board.console.lines().next_back().unwrap_or_default().to_owned();
            let before = std::mem::replace(&mut self.now, Runs { name, ..Runs::default() });
            self.all.push(before);
            self.first.clear();
        } else if pc == program.begin || pc == program.begin_confined {
            self.position = 0;
            self.is_in_part = pc == program.begin_confined;
            self.is_watching = !self.is_in_part;
        } else if pc == program.end {
            // A run that is observed in part has ended with that part.
            self.is_watching |= self.is_in_part;
            self.see(Seen::End);
            (self.is_watching, self.is_in_part, self.confined_until) = (false, false, None);
            self.now.count += 1;
        }
    }

    /// Notes what the first run does, and compares the others with it.
    #[inline]
    fn see(&mut self, seen: Seen) {
        if !self.is_watching {
            return;
        }
        if self.now.count == 0 {
            self.first.push(seen);
            match seen {
                Seen::Instruction(_) => self.now.instructions += 1,
                Seen::Load(..) | Seen::Store(..) => self.now.accesses += 1,
                Seen::Division(..) | Seen::End => {}
            }
        } else if self.first.get(self.position) == Some(&seen) {
            self.position += 1;
        } else {
            self.differs(seen);
        }
    }

    #[cold]
    fn differs(&mut self, other: Seen) {
        let first = self.first.get(self.position).copied().unwrap_or(Seen::End);
        let difference = Difference { run: self.now.count, pc: self.pc, first, other };
        self.now.difference.get_or_insert(difference);
        // The rest of this run says nothing.
        (self.is_watching, self.is_in_part) = (false, false);
    }
}

fn is_division(operation: Operation) -> bool {
    use Operation::{Div, Divu, Divuw, Divw, Rem, Remu, Remuw, Remw};
    matches!(operation, Div | Divu | Rem | Remu | Divw | Divuw | Remw | Remuw)
}

/// Memory and devices.
struct Board {
    memory: Memory,
    start: u64,
    console: String,
    /// The exit code of the machine after its end.
    ended: Option<u64>,
    /// What the last instruction accessed. No instruction that is decoded accesses two things.
    accessed: Option<Seen>,
}

impl Default for Board {
    fn default() -> Self {
        let memory = Memory::filled(0, [0, 0]);
        Self { memory, start: 0, console: String::new(), ended: None, accessed: None }
    }
}

impl Bus for Board {
    #[inline]
    fn load<const N: usize>(&mut self, address: u64) -> Option<u64> {
        if address == UART_STATUS {
            return Some(TRANSMITTER_EMPTY);
        }
        self.accessed = Some(Seen::Load(address, N as u8));
        self.memory.load::<N>(address.checked_sub(self.start)?)
    }

    #[inline]
    fn store<const N: usize>(&mut self, address: u64, value: u64) -> Option<()> {
        match address {
            UART => self.console.push(char::from(value as u8)),
            TEST => self.ended = Some((value & 0xffff_ffff) >> 16),
            _ => {
                self.accessed = Some(Seen::Store(address, N as u8));
                return self.memory.store::<N>(address.checked_sub(self.start)?, value);
            }
        }
        Some(())
    }

    fn counter(&mut self) -> u64 {
        0
    }

    fn pending(&self, _: u64) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests;
