//! Labels each retired instruction with its class and its purpose, and computes its cost (section 3.3 of
//! the paper).
//!
//! Opcode labels follow from the instruction and from the address that it accessed. Semantic labels come
//! from the program: it writes pairs of an address and a label to a section that is not loaded
//! (`verif/programs/accelerator`). All instructions that retire from that address on have the label, until
//! an address with another label is reached. Nothing is labelled by hand, and a label is not an
//! instruction.

use std::collections::BTreeMap;

/// The four classes of table 1 in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opcode {
    Alu,
    Control,
    /// Access to the scratchpad or to an engine.
    MemoryRot,
    /// Access to the host's memory.
    MemoryRam,
}

impl Opcode {
    pub const ALL: [Self; 4] = [Self::Alu, Self::Control, Self::MemoryRot, Self::MemoryRam];

    /// Returns the paper's name of the class.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alu => "ALU",
            Self::Control => "CTL",
            Self::MemoryRot => "Memory-RoT",
            Self::MemoryRam => "Memory-RAM",
        }
    }
}

/// The purposes in table 1. HMAC has all of them except the last, AES has three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    Config,
    Digest,
    Wait,
    Final,
    Cipher,
}

impl Purpose {
    pub const ALL: [Self; 5] = [Self::Config, Self::Digest, Self::Wait, Self::Final, Self::Cipher];
    /// Purposes of SHA-256 and HMAC, in the order of table 1.
    pub const OF_HASHES: [Self; 4] = [Self::Config, Self::Digest, Self::Wait, Self::Final];
    /// Purposes of AES.
    pub const OF_AES: [Self; 3] = [Self::Config, Self::Cipher, Self::Wait];

    /// Returns the paper's name of the purpose.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Config => "Config",
            Self::Digest => "Digest",
            Self::Wait => "Wait",
            Self::Final => "Final",
            Self::Cipher => "Cipher",
        }
    }

    /// Returns the purpose with a number of the program (`verif/programs/accelerator/src/labels.rs`); 0
    /// stands for none.
    pub fn from_number(number: u32) -> Option<Self> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        Self::ALL.get(index).copied()
    }
}

/// A retired instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retired {
    /// The cycle in which the instruction retired.
    pub cycle: u64,
    pub pc: u32,
    /// The encoding; the lower half for a compressed instruction.
    pub instruction: u32,
    /// The address of the load or store.
    pub address: Option<u32>,
    pub is_store: bool,
}

/// The source or destination of a transfer, as counted in table 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransferEnd {
    EngineRead,
    EngineWrite,
    MemoryRead,
    MemoryWrite,
}

impl TransferEnd {
    fn of(retired: &Retired) -> Option<Self> {
        let is_engine = REGISTERS.contains(&retired.address?);
        Some(match (is_engine, retired.is_store) {
            (true, false) => Self::EngineRead,
            (true, true) => Self::EngineWrite,
            (false, false) => Self::MemoryRead,
            (false, true) => Self::MemoryWrite,
        })
    }
}

/// Start of the host's memory in the address space of the root of trust (`hw/soc/README.md`).
const HOST_MEMORY: u32 = 0x8000_0000;

/// Address range of the engines' registers.
const REGISTERS: std::ops::Range<u32> = 0x4000_0000..0x4000_f000;

/// Classifies an instruction (RISC-V Unprivileged Architecture, chapters 2 and 28 for RV32C).
pub fn decode(retired: &Retired) -> Opcode {
    match retired.address {
        Some(address) if address >= HOST_MEMORY => return Opcode::MemoryRam,
        Some(_) => return Opcode::MemoryRot,
        None => {}
    }
    if is_control(retired.instruction) { Opcode::Control } else { Opcode::Alu }
}

fn is_control(instruction: u32) -> bool {
    const QUADRANT: u32 = 0b11;
    if instruction & QUADRANT == QUADRANT {
        // BRANCH, JALR, JAL.
        return matches!(instruction & 0x7f, 0x63 | 0x67 | 0x6f);
    }
    match (instruction & QUADRANT, instruction >> 13 & 0b111) {
        // C.JAL, C.J, C.BEQZ, C.BNEZ.
        (0b01, 0b001 | 0b101 | 0b110 | 0b111) => true,
        // C.JR and C.JALR have a first register and no second one; C.MV and C.ADD have a second one, and
        // C.EBREAK has none.
        (0b10, 0b100) => instruction >> 2 & 0x1f == 0 && instruction >> 7 & 0x1f != 0,
        _ => false,
    }
}

/// Numbers of instructions and cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCost {
    pub instructions: u64,
    pub cycles: u64,
}

impl InstructionCost {
    fn add(&mut self, cycles: u64) {
        self.instructions += 1;
        self.cycles += cycles;
    }
}

/// Costs of a run, by both labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labelled {
    costs: BTreeMap<(Purpose, Opcode), InstructionCost>,
    /// Cycles of each load and store in order, by class.
    accesses: BTreeMap<Opcode, Vec<u64>>,
    /// Numbers of loads and stores, by label.
    ends: BTreeMap<(Purpose, TransferEnd), u64>,
}

/// Cycles of single accesses (table 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccessCost {
    pub least: u64,
    pub most: u64,
    pub average: f64,
}

impl Labelled {
    /// Labels the instructions of a run. `before` is the cycle in which the instruction before the first
    /// one retired. The cost of an instruction is the number of cycles since the one before it retired.
    pub fn new(
        before: u64,
        retired: &[Retired],
        markers: &BTreeMap<u32, Option<Purpose>>,
    ) -> Labelled {
        let mut labelled = Labelled::default();
        let (mut last, mut purpose) = (before, None);
        for it in retired {
            if let Some(marked) = markers.get(&it.pc) {
                purpose = *marked;
            }
            let cycles = it.cycle - last;
            last = it.cycle;
            let Some(purpose) = purpose else { continue };
            let opcode = decode(it);
            labelled.costs.entry((purpose, opcode)).or_default().add(cycles);
            if it.address.is_some() {
                labelled.accesses.entry(opcode).or_default().push(cycles);
            }
            if let Some(end) = TransferEnd::of(it) {
                *labelled.ends.entry((purpose, end)).or_default() += 1;
            }
        }
        labelled
    }

    /// Returns the sum of the costs with these labels; `None` selects all.
    pub fn cost(&self, purpose: Option<Purpose>, opcode: Option<Opcode>) -> InstructionCost {
        let fits = |(of, kind): &(Purpose, Opcode)| {
            purpose.is_none_or(|it| it == *of) && opcode.is_none_or(|it| it == *kind)
        };
        let costs = self.costs.iter().filter(|(labels, _)| fits(labels));
        costs.fold(InstructionCost::default(), |sum, (_, cost)| InstructionCost {
            instructions: sum.instructions + cost.instructions,
            cycles: sum.cycles + cost.cycles,
        })
    }

    /// Returns the number of loads or stores with this purpose.
    pub fn ends(&self, purpose: Purpose, end: TransferEnd) -> u64 {
        self.ends.get(&(purpose, end)).copied().unwrap_or_default()
    }

    /// Adds the accesses of another run, for statistics over all runs.
    pub fn merge_accesses(&mut self, other: &Labelled) {
        for (opcode, cycles) in &other.accesses {
            self.accesses.entry(*opcode).or_default().extend(cycles);
        }
    }

    /// Returns the number of accesses for each cost in cycles.
    pub fn access_counts(&self, opcode: Opcode) -> BTreeMap<u64, usize> {
        let mut counts = BTreeMap::new();
        for cycles in self.accesses.get(&opcode).into_iter().flatten() {
            *counts.entry(*cycles).or_default() += 1;
        }
        counts
    }

    pub fn access_cost(&self, opcode: Opcode) -> Option<AccessCost> {
        let cycles = self.accesses.get(&opcode)?;
        let sum: u64 = cycles.iter().sum();
        Some(AccessCost {
            least: *cycles.iter().min()?,
            most: *cycles.iter().max()?,
            average: sum as f64 / cycles.len() as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retired(cycle: u64, pc: u32, instruction: u32, address: Option<u32>) -> Retired {
        Retired { cycle, pc, instruction, address, is_store: false }
    }

    #[test]
    fn instructions_are_told_apart_by_their_encoding() {
        for (instruction, is_jump) in [
            (0x0000_0013, false), // addi x0, x0, 0
            (0x0000_006f, true),  // jal x0, 0
            (0x0000_8067, true),  // jalr x0, 0(x1)
            (0x0000_0063, true),  // beq x0, x0, 0
            (0x3000_2073, false), // csrrs x0, mstatus, x0
            (0x0000_0001, false), // c.nop
            (0x0000_a001, true),  // c.j 0
            (0x0000_2001, true),  // c.jal 0
            (0x0000_c001, true),  // c.beqz x8, 0
            (0x0000_e001, true),  // c.bnez x8, 0
            (0x0000_8082, true),  // c.jr x1
            (0x0000_9082, true),  // c.jalr x1
            (0x0000_852e, false), // c.mv x10, x11
            (0x0000_952e, false), // c.add x10, x11
            (0x0000_9002, false), // c.ebreak
        ] {
            let expected = if is_jump { Opcode::Control } else { Opcode::Alu };
            assert_eq!(decode(&retired(0, 0, instruction, None)), expected, "{instruction:08x}");
        }
        assert_eq!(decode(&retired(0, 0, 0x4398, Some(0x9000_0000))), Opcode::MemoryRam);
        assert_eq!(decode(&retired(0, 0, 0x4398, Some(0x4000_0000))), Opcode::MemoryRot);
    }

    #[test]
    fn labels_hold_from_their_marker_to_the_next() {
        const NOP: u32 = 0x13;
        let markers = [(8, Some(Purpose::Config)), (16, Some(Purpose::Wait)), (24, None)].into();
        let run = [
            retired(11, 4, NOP, None),
            retired(12, 8, NOP, None),
            retired(17, 12, 0x4398, Some(0x4000_0000)),
            retired(20, 16, NOP, None),
            // The loop returns to the address of the first label.
            retired(22, 8, 0xa001, None),
            retired(23, 24, NOP, None),
        ];
        let labelled = Labelled::new(10, &run, &markers);
        let cost = |purpose, opcode| {
            let InstructionCost { instructions, cycles } = labelled.cost(purpose, opcode);
            (instructions, cycles)
        };
        assert_eq!(cost(None, None), (4, 11), "what has no label does not count");
        assert_eq!(cost(Some(Purpose::Config), None), (3, 8));
        assert_eq!(cost(Some(Purpose::Config), Some(Opcode::MemoryRot)), (1, 5));
        assert_eq!(cost(None, Some(Opcode::Control)), (1, 2));
        assert_eq!(cost(Some(Purpose::Wait), None), (1, 3));
        let access = labelled.access_cost(Opcode::MemoryRot).unwrap();
        assert_eq!((access.least, access.most, access.average), (5, 5, 5.0));
        assert_eq!(labelled.access_cost(Opcode::MemoryRam), None);
        assert_eq!(labelled.ends(Purpose::Config, TransferEnd::EngineRead), 1);
        assert_eq!(labelled.ends(Purpose::Wait, TransferEnd::EngineRead), 0);
    }

    #[test]
    fn ends_of_moves_are_told_apart() {
        let of =
            |address, is_store| TransferEnd::of(&Retired { is_store, ..retired(0, 0, 0, address) });
        assert_eq!(of(Some(0x4000_9050), false), Some(TransferEnd::EngineRead));
        assert_eq!(of(Some(0x4000_9040), true), Some(TransferEnd::EngineWrite));
        assert_eq!(of(Some(0x8000_0000), false), Some(TransferEnd::MemoryRead));
        assert_eq!(of(Some(0x1000_0000), true), Some(TransferEnd::MemoryWrite));
        assert_eq!(of(None, false), None);
    }

    #[test]
    fn numbers_of_labels_are_those_of_the_program() {
        assert_eq!(Purpose::from_number(0), None);
        assert_eq!(Purpose::from_number(1), Some(Purpose::Config));
        assert_eq!(Purpose::from_number(4), Some(Purpose::Final));
        assert_eq!(Purpose::from_number(5), Some(Purpose::Cipher));
        assert_eq!(Purpose::from_number(6), None);
    }
}
