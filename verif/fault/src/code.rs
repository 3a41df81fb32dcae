//! The code of a stage, decoded at each halfword.

use hartlock_verify::board::Region;

use crate::instruction::Instruction;
use crate::memory::read;

/// Instructions by their address.
#[derive(Debug)]
pub struct Code {
    /// Address of the first one.
    pub start: u64,
    instructions: Vec<Instruction>,
}

impl Code {
    /// Decodes bytes at an address. `decode` takes a word and its address.
    pub fn decode(start: u64, bytes: &[u8], decode: fn(u32, u64) -> Instruction) -> Self {
        // The last instruction may be one of 16 bits.
        let padded = [bytes, &[0; 2]].concat();
        let halves = (0..bytes.len() as u64).step_by(2);
        let word = |offset| read::<4>(&padded, offset).unwrap_or(0) as u32;
        let instructions = halves.map(|at| decode(word(at), start + at)).collect();
        Self { start, instructions }
    }

    /// The instruction at an address, if that is inside.
    #[inline]
    pub fn at(&self, pc: u64) -> Option<Instruction> {
        let half = pc.wrapping_sub(self.start) / 2;
        self.instructions.get(usize::try_from(half).ok()?).copied()
    }

    /// Where it is.
    pub fn region(&self) -> Region {
        Region::new(self.start, 2 * self.instructions.len() as u64)
    }
}
