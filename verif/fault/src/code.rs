//! The code of a stage, decoded at each halfword.

use hartlock_verify::board::Region;

use crate::instruction::Instruction;
use crate::memory::read;

/// Decoded instructions by address.
#[derive(Debug)]
pub struct Code {
    /// Address of the first instruction.
    pub start: u64,
    instructions: Vec<Instruction>,
}

impl Code {
    /// Decodes the code in `bytes`, which begins at address `start`. `decode` takes a word and its
    /// address.
    pub fn decode(start: u64, bytes: &[u8], decode: fn(u32, u64) -> Instruction) -> Self {
        // The last instruction may have 16 bits, so it is padded to a word.
        let padded = [bytes, &[0; 2]].concat();
        let halves = (0..bytes.len() as u64).step_by(2);
        let word = |offset| read::<4>(&padded, offset).unwrap_or(0) as u32;
        let instructions = halves.map(|at| decode(word(at), start + at)).collect();
        Self { start, instructions }
    }

    /// Returns the instruction at an address; `None` outside the code.
    #[inline]
    pub fn at(&self, pc: u64) -> Option<Instruction> {
        let half = pc.wrapping_sub(self.start) / 2;
        self.instructions.get(usize::try_from(half).ok()?).copied()
    }

    /// Returns the address range of the code.
    pub fn region(&self) -> Region {
        Region::new(self.start, 2 * self.instructions.len() as u64)
    }
}
