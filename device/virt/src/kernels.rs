//! Chooses the kernels of this hart by trying them (boot flow §2.4).

use core::arch::{asm, global_asm};

use hartlock_kernels::{HashFamily, KernelFault, Kernels, Probe, Tier};

use crate::console;

global_asm!(include_str!("attempt.S"));

unsafe extern "C" {
    fn attempt_m(instructions: unsafe extern "C" fn()) -> bool;
    fn attempt_s(instructions: unsafe extern "C" fn()) -> bool;
}

/// The mode of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// M-mode: ROM and bench.
    Machine,
    /// S-mode: loader.
    Supervisor,
}

/// The result of trying the kernels on a hart.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The kernels in use.
    pub kernels: Kernels,
    /// Tiers that trapped, bit i = tier i.
    pub trapped: u32,
    /// Families whose known answer was wrong, for each tier: bit i = family i.
    pub wrong: [u8; TIERS],
}

/// Tiers by their numbers, and none at 0.
const TIERS: usize = Tier::ALL.len() + 1;

impl Choice {
    /// For each tier that is not used as it should be: its number, and the families whose answer was
    /// wrong; 0 if its instructions trapped (boot flow §3.5, step 12).
    pub fn rejections(&self) -> impl Iterator<Item = (u32, u64)> {
        let (trapped, wrong) = (self.trapped, self.wrong);
        (0..).zip(wrong).filter_map(move |(tier, families)| {
            let is_rejected = families != 0 || trapped & (1 << tier) != 0;
            is_rejected.then_some((tier, families.into()))
        })
    }
}

/// Tries kernels on this hart and records the results.
#[derive(Debug)]
struct Tried {
    mode: Mode,
    trapped: u32,
    wrong: [u8; TIERS],
    /// The only tier that is tried beside the portable one.
    only: Option<Tier>,
}

// SAFETY: `attempt_m` and `attempt_s` answer 1 only after what they call has returned.
unsafe impl Probe for Tried {
    fn runs(&mut self, instructions: unsafe extern "C" fn()) -> bool {
        match self.mode {
            // SAFETY: interrupts are off in every stage, and the probes of the kernels are leaves
            // that use no saved register and no memory.
            Mode::Machine => unsafe { attempt_m(instructions) },
            // SAFETY: as above.
            Mode::Supervisor => unsafe { attempt_s(instructions) },
        }
    }

    fn rejected(&mut self, family: HashFamily, tier: Tier, why: KernelFault) {
        match why {
            KernelFault::Trapped => self.trapped |= 1 << tier as u32,
            KernelFault::WrongAnswer => {
                if let Some(families) = self.wrong.get_mut(tier as usize) {
                    *families |= 1 << family as u32;
                }
            }
        }
    }

    fn is_wanted(&self, _: HashFamily, tier: Tier) -> bool {
        let Some(only) = self.only else { return true };
        // Lanes need something for what does not fill them, and every hart has that.
        tier == only || (only >= Tier::Zvbb && tier == Tier::Rv64)
    }
}

/// The fastest kernels that work on this hart.
pub fn choose(mode: Mode) -> Choice {
    detect(mode, None)
}

/// The portable form and one tier, and below vectors the base one: to test and to count it.
pub fn choose_only(mode: Mode, tier: Tier) -> Choice {
    detect(mode, Some(tier))
}

fn detect(mode: Mode, only: Option<Tier>) -> Choice {
    enable_vectors(mode);
    let mut tried = Tried { mode, trapped: 0, wrong: [0; TIERS], only };
    let kernels = Kernels::detect(&mut tried);
    Choice { kernels, trapped: tried.trapped, wrong: tried.wrong }
}

/// A line on the console: what is used, what is not there, and what is wrong.
pub fn print(choice: &Choice) {
    console::print("hartlock: hashes");
    for family in HashFamily::ALL {
        let (one, many) = (choice.kernels.tier(family), choice.kernels.tier_of_many(family));
        for part in [" ", family.name(), " ", one.name()] {
            console::print(part);
        }
        if many != one {
            console::print("/");
            console::print(many.name());
        }
    }
    for (title, is_wrong) in [("; not there:", false), ("; WRONG:", true)] {
        let mut title = title;
        for (number, families) in choice.rejections() {
            if (families != 0) == is_wrong
                && let Some(tier) = Tier::ALL.into_iter().find(|tier| *tier as u32 == number)
            {
                console::print(core::mem::take(&mut title));
                console::print(" ");
                console::print(tier.name());
            }
        }
    }
    console::print("\n");
}

/// Lets vector instructions run, on a hart that has them; without them, the bits stay 0.
fn enable_vectors(mode: Mode) {
    /// VS = Initial (RISC-V Privileged Architecture §3.1.6.6).
    const INITIAL: usize = 1 << 9;
    match mode {
        // SAFETY: changes only whether vector instructions trap.
        Mode::Machine => unsafe { asm!("csrs mstatus, {}", in(reg) INITIAL, options(nostack)) },
        // SAFETY: as above.
        Mode::Supervisor => unsafe { asm!("csrs sstatus, {}", in(reg) INITIAL, options(nostack)) },
    }
}
