//! Chooses the upsets of a part of a campaign. Each is a bit and a cycle.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::plan::{CampaignPart, cycle_of};
use super::registers::Register;

/// The set of possible upsets: all bits of the part's registers in all cycles of its window.
pub struct Space {
    /// Index of each register in the list of the model, and number of bits at which an upset of the register may begin.
    registers: Vec<(usize, usize)>,
    pub bits: usize,
    pub first_cycle: u64,
    pub cycles: u64,
    effect: &'static str,
    stuck_cycles: u64,
}

impl Space {
    pub fn of(
        part: &CampaignPart,
        registers: &[Register],
        marks: &BTreeMap<String, u64>,
    ) -> Result<Space> {
        let (from, to) = (cycle_of(&part.from, marks)?, cycle_of(&part.to, marks)?);
        let end = marks.get("end").copied().unwrap_or_default();
        let to = to.min(end);
        ensure!(from < to, "{}: no cycle from {} to {}", part.name, part.from, part.to);
        let places = registers.iter().enumerate().filter(|(_, register)| part.has(&register.name));
        let width = |register: &Register| (register.bits() + 1).saturating_sub(part.effect.bits());
        let registers: Vec<_> = places.map(|(place, it)| (place, width(it))).collect();
        let bits = registers.iter().map(|(_, bits)| bits).sum();
        ensure!(bits > 0, "{} has no register", part.name);
        Ok(Space {
            registers,
            bits,
            first_cycle: from,
            cycles: to - from,
            effect: part.effect.words(),
            stuck_cycles: part.cycles,
        })
    }

    /// Returns the number of registers.
    pub fn registers(&self) -> usize {
        self.registers.len()
    }

    pub fn len(&self) -> u64 {
        self.bits as u64 * self.cycles
    }

    /// Returns positions in the order of time: all, or a random one in each of `samples` ranges of the same length.
    pub fn positions(&self, samples: Option<usize>, seed: u64) -> Vec<u64> {
        let all = self.len();
        let wanted = samples.map_or(all, |samples| (samples as u64).min(all));
        if wanted == all {
            return (0..all).collect();
        }
        let mut random = Random(seed);
        let bound = |at: u64| (u128::from(all) * u128::from(at) / u128::from(wanted)) as u64;
        let pick = |at| {
            let (from, to) = (bound(at), bound(at + 1));
            from + random.below(to - from)
        };
        (0..wanted).map(pick).collect()
    }

    /// Returns cycle, register and bit of a position.
    pub fn at(&self, position: u64) -> (u64, usize, usize) {
        let cycle = self.first_cycle + position / self.bits as u64;
        let mut bit = (position % self.bits as u64) as usize;
        for &(place, bits) in &self.registers {
            if bit < bits {
                return (cycle, place, bit);
            }
            bit -= bits;
        }
        unreachable!("a position has a bit")
    }

    /// Returns the line for the bench.
    pub fn line(&self, position: u64) -> String {
        let (cycle, register, bit) = self.at(position);
        format!("{cycle} {register} {bit} {} {}\n", self.effect, self.stuck_cycles)
    }
}

/// The generator SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        Space {
            registers: vec![(3, 2), (7, 5)],
            bits: 7,
            first_cycle: 10,
            cycles: 100,
            effect: "1 flip",
            stuck_cycles: 1,
        }
    }

    #[test]
    fn every_bit_of_every_cycle_is_there_once() {
        let space = space();
        let all = space.positions(None, 1);
        let places: std::collections::BTreeSet<_> = all.iter().map(|at| space.at(*at)).collect();
        assert_eq!(places.len(), 700);
        assert_eq!(space.at(0), (10, 3, 0));
        assert_eq!(space.at(7 * 99 + 6), (109, 7, 4));
        assert_eq!(space.line(8), "11 3 1 1 flip 1\n");
        assert_eq!(space.positions(Some(1000), 1), all);
    }

    #[test]
    fn samples_are_spread_in_order_and_repeatable() {
        let space = space();
        let samples = space.positions(Some(50), 1);
        assert_eq!(samples.len(), 50);
        assert!(samples.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(samples.iter().zip(0..).all(|(at, range)| at / 14 == range));
        assert_eq!(samples, space.positions(Some(50), 1));
        assert_ne!(samples, space.positions(Some(50), 2));
    }
}
