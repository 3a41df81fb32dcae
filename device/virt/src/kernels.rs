//! Selection of the kernels of this hart by probes and known answers (boot flow §2.1).

use core::arch::{asm, global_asm};

#[cfg(feature = "research")]
use hartlock_kernels::WalnutTier;
#[cfg(feature = "aes")]
use hartlock_kernels::{CipherMode, CipherTier};
use hartlock_kernels::{HashFamily, KernelFault, Kernels, Probe, Tier};

use crate::console;

global_asm!(include_str!("attempt.S"));

unsafe extern "C" {
    fn attempt_m(instructions: unsafe extern "C" fn()) -> bool;
    fn attempt_s(instructions: unsafe extern "C" fn()) -> bool;
}

/// The privilege mode of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivilegeMode {
    /// M-mode, in which the ROM and the test bench run.
    Machine,
    /// S-mode, in which the loader runs.
    Supervisor,
}

/// The result of the kernel selection on a hart.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Kernels that the hart uses.
    pub kernels: Kernels,
    /// Mask of the tiers whose probe trapped; bit i stands for tier i.
    pub trapped: u32,
    /// Hash families whose known answer was wrong, for each tier; bit i stands for family i.
    pub wrong: [u8; TIERS],
}

/// Number of tiers, which are numbered from 1, and one.
const TIERS: usize = Tier::LAST as usize + 1;

impl Choice {
    /// Returns an entry for each tier that was rejected: its number, and the families with a wrong answer, or 0 if its
    /// instructions trapped (boot flow §3.5, step 12).
    pub fn rejections(&self) -> impl Iterator<Item = (u32, u64)> {
        let (trapped, wrong) = (self.trapped, self.wrong);
        Tier::ALL.into_iter().filter_map(move |tier| {
            let families = wrong.get(tier as usize).copied().unwrap_or_default();
            let is_rejected = families != 0 || trapped & (1 << tier as u32) != 0;
            is_rejected.then_some((tier as u32, families.into()))
        })
    }
}

/// A probe for kernels that records the results on this hart.
#[derive(Debug)]
struct Tried {
    mode: PrivilegeMode,
    trapped: u32,
    wrong: [u8; TIERS],
    /// The only tier to be tried in addition to the portable form, if set.
    only: Option<Tier>,
    #[cfg(feature = "aes")]
    ciphers: TriedCiphers,
    #[cfg(feature = "research")]
    walnut: TriedWalnut,
}

impl Tried {
    /// Returns a probe that tries everything.
    fn new(mode: PrivilegeMode) -> Self {
        Self {
            mode,
            trapped: 0,
            wrong: [0; TIERS],
            only: None,
            #[cfg(feature = "aes")]
            ciphers: TriedCiphers::default(),
            #[cfg(feature = "research")]
            walnut: TriedWalnut::default(),
        }
    }
}

/// What a probe records of ciphers.
#[cfg(feature = "aes")]
#[derive(Debug, Default)]
struct TriedCiphers {
    faults: CipherFaults,
    /// The only tier to be tried in addition to the portable form, if set.
    only: Option<CipherTier>,
}

/// The reason for which a tier is not used for a mode, by number of mode and tier.
#[cfg(feature = "aes")]
pub type CipherFaults = [[Option<KernelFault>; CipherTier::ALL.len() + 1]; CipherMode::ALL.len()];

/// What a probe records of E-multiplication.
#[cfg(feature = "research")]
#[derive(Debug, Default)]
struct TriedWalnut {
    faults: WalnutFaults,
    /// The only tier to be tried in addition to the portable form, if set.
    only: Option<WalnutTier>,
}

/// The reason for which a tier is not used, by its number.
#[cfg(feature = "research")]
pub type WalnutFaults = [Option<KernelFault>; WalnutTier::ALL.len() + 1];

// SAFETY: `attempt_m` and `attempt_s` return true only after the called code has returned.
unsafe impl Probe for Tried {
    fn runs(&mut self, instructions: unsafe extern "C" fn()) -> bool {
        match self.mode {
            // SAFETY: interrupts are off in every stage, and the probes of the kernels are leaf functions that use no
            // saved register and no memory.
            PrivilegeMode::Machine => unsafe { attempt_m(instructions) },
            // SAFETY: the same argument as for M-mode applies.
            PrivilegeMode::Supervisor => unsafe { attempt_s(instructions) },
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
        // Kernels with lanes need another kernel for the data that does not fill the lanes, and every hart has this
        // tier.
        let has_lanes = matches!(only, Tier::V | Tier::Zvbb | Tier::Zvknh);
        tier == only || (has_lanes && tier == Tier::Rv64)
    }

    #[cfg(feature = "aes")]
    fn rejected_cipher(&mut self, mode: CipherMode, tier: CipherTier, why: KernelFault) {
        let tiers = self.ciphers.faults.get_mut(mode as usize);
        if let Some(fault) = tiers.and_then(|tiers| tiers.get_mut(tier as usize)) {
            *fault = Some(why);
        }
    }

    #[cfg(feature = "aes")]
    fn is_cipher_wanted(&self, mode: CipherMode, tier: CipherTier) -> bool {
        let Some(only) = self.ciphers.only else { return true };
        // GCM with Zvkg encrypts single blocks with the kernel of counter mode.
        tier == only
            || (only, mode, tier) == (CipherTier::Zvkg, CipherMode::Ctr, CipherTier::Zvkned)
    }

    #[cfg(feature = "research")]
    fn rejected_walnut(&mut self, tier: WalnutTier, why: KernelFault) {
        if let Some(fault) = self.walnut.faults.get_mut(tier as usize) {
            *fault = Some(why);
        }
    }

    #[cfg(feature = "research")]
    fn is_walnut_wanted(&self, tier: WalnutTier) -> bool {
        self.walnut.only.is_none_or(|only| tier == only)
    }
}

/// Selects the fastest kernels that work on this hart.
pub fn choose(mode: PrivilegeMode) -> Choice {
    detect(mode, None)
}

/// Selects only the portable form and one tier, plus the base tier if that one uses vectors. This serves to test and
/// measure the tier.
pub fn choose_only(mode: PrivilegeMode, tier: Tier) -> Choice {
    detect(mode, Some(tier))
}

fn detect(mode: PrivilegeMode, only: Option<Tier>) -> Choice {
    enable_vectors(mode);
    let mut tried = Tried {
        only,
        // A caller that wants one tier of hashes uses no cipher, so none is tried.
        #[cfg(feature = "aes")]
        ciphers: TriedCiphers {
            only: only.map(|_| CipherTier::Portable),
            ..TriedCiphers::default()
        },
        ..Tried::new(mode)
    };
    let kernels = Kernels::detect(&mut tried);
    Choice { kernels, trapped: tried.trapped, wrong: tried.wrong }
}

/// Selects only the portable forms and one tier of ciphers, to test and measure it. Also returns why tiers are not used.
#[cfg(feature = "aes")]
pub fn choose_cipher_only(mode: PrivilegeMode, tier: CipherTier) -> (Kernels, CipherFaults) {
    enable_vectors(mode);
    let mut tried = Tried {
        only: Some(Tier::Portable),
        ciphers: TriedCiphers { only: Some(tier), ..TriedCiphers::default() },
        ..Tried::new(mode)
    };
    let kernels = Kernels::detect(&mut tried);
    (kernels, tried.ciphers.faults)
}

/// Selects only the portable forms and one tier of E-multiplication, to test and measure it. Also returns why tiers are not
/// used.
#[cfg(feature = "research")]
pub fn choose_walnut_only(mode: PrivilegeMode, tier: WalnutTier) -> (Kernels, WalnutFaults) {
    enable_vectors(mode);
    let mut tried = Tried {
        only: Some(Tier::Portable),
        walnut: TriedWalnut { only: Some(tier), ..TriedWalnut::default() },
        ..Tried::new(mode)
    };
    let kernels = Kernels::detect(&mut tried);
    (kernels, tried.walnut.faults)
}

/// Prints a line that lists the kernels in use, the missing ones and those with wrong answers.
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

/// Enables vector instructions on a hart that has them; on other harts the bits stay 0.
fn enable_vectors(mode: PrivilegeMode) {
    /// Value Initial of the field VS (RISC-V Privileged Architecture §3.1.6.6).
    const INITIAL: usize = 1 << 9;
    match mode {
        // SAFETY: the instruction only changes whether vector instructions trap.
        PrivilegeMode::Machine => unsafe {
            asm!("csrs mstatus, {}", in(reg) INITIAL, options(nostack))
        },
        // SAFETY: the instruction only changes whether vector instructions trap.
        PrivilegeMode::Supervisor => unsafe {
            asm!("csrs sstatus, {}", in(reg) INITIAL, options(nostack))
        },
    }
}
