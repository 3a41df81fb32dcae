//! Finds jumps of a linked image that one skipped instruction could redirect to an address chosen by an attacker.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// A jump, and the function that contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    pub address: u64,
    pub function: String,
}

/// The jumps of an image, by the source of their target.
#[derive(Debug, Default)]
pub struct Jumps {
    /// Jumps by `auipc` and `jalr` through the same register. If `auipc` is skipped, the old value of the register is
    /// used.
    pub pairs: Vec<Jump>,
    /// Jumps through a register that are neither calls nor returns: jump tables, and tail calls through a function
    /// pointer.
    pub computed: Vec<Jump>,
}

impl Jumps {
    /// Reads all code of an image.
    ///
    /// # Errors
    /// If it is not an ELF file with code and symbols.
    pub fn of(elf: &Path) -> Result<Self> {
        let bytes = fs::read(elf).with_context(|| elf.display().to_string())?;
        let file = object::File::parse(&*bytes)?;
        let functions: BTreeMap<u64, &str> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text)
            .filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?)))
            .collect();
        let name = |address: u64| {
            functions.range(..=address).next_back().map_or("?", |(_, name)| *name).to_owned()
        };
        let mut jumps = Self::default();
        let mut count = 0;
        for section in file.sections().filter(|it| it.kind() == SectionKind::Text) {
            let mut previous = 0;
            for (offset, word) in Words(section.data()?, 0) {
                let address = section.address() + offset as u64;
                let jump = || Jump { address, function: name(address) };
                if is_pair(previous, word) {
                    jumps.pairs.push(jump());
                } else if is_computed(word) {
                    jumps.computed.push(jump());
                }
                previous = word;
                count += 1;
            }
        }
        ensure!(count > 1000, "{}: {count} instructions", elf.display());
        Ok(jumps)
    }
}

/// An iterator over consecutive instructions with their offsets in bytes. An instruction of 16 bits is extended with
/// zeros.
struct Words<'a>(&'a [u8], usize);

impl Iterator for Words<'_> {
    type Item = (usize, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.1;
        let half = |at: usize| {
            let bytes = self.0.get(at..at + 2)?;
            Some(u32::from(u16::from_le_bytes([bytes[0], bytes[1]])))
        };
        let low = half(offset)?;
        let (word, len) = if low & 3 == 3 { (low | half(offset + 2)? << 16, 4) } else { (low, 2) };
        self.1 += len;
        Some((offset, word))
    }
}

/// Returns the register that contains the target of a jump and the register that receives the return address, or `None`
/// if the instruction is not such a jump.
fn jump_registers(word: u32) -> Option<(u32, u32)> {
    let rs1 = word >> 15 & 31;
    let short = word >> 7 & 31;
    match word {
        _ if word & 0x707f == 0x67 => Some((rs1, word >> 7 & 31)),
        _ if word & 0xffff_f07f == 0x8002 && short != 0 => Some((short, 0)),
        _ if word & 0xffff_f07f == 0x9002 && short != 0 => Some((short, 1)),
        _ => None,
    }
}

fn is_pair(previous: u32, word: u32) -> bool {
    let is_auipc = previous & 0x7f == 0x17;
    is_auipc && jump_registers(word).is_some_and(|(source, _)| source == previous >> 7 & 31)
}

fn is_computed(word: u32) -> bool {
    const RA: u32 = 1;
    jump_registers(word).is_some_and(|(source, link)| link == 0 && source != RA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_pairs_and_computed_jumps() {
        // auipc t1, 0; jr 8(t1)
        assert!(is_pair(0x0000_0317, 0x0083_0067));
        // auipc ra, 0; jalr ra; and through another register
        assert!(is_pair(0x0000_0097, 0x0000_80e7));
        assert!(!is_pair(0x0000_0097, 0x0083_0067));
        // ret; jr a1; jalr a1; add a0, a0, a1, whose upper half is no instruction
        assert!(!is_computed(0x8082) && is_computed(0x8582) && !is_computed(0x9582));
        assert!(!is_computed(0x952e) && is_computed(0x0005_8067));
    }

    #[test]
    fn reads_instructions_of_both_sizes() {
        let code = [0x82, 0x80, 0x17, 0x03, 0x00, 0x00, 0x67, 0x00, 0x83, 0x00, 0x01];
        let words: Vec<_> = Words(&code, 0).collect();
        assert_eq!(words, [(0, 0x8082), (2, 0x317), (6, 0x0083_0067)]);
    }
}
