//! Job 5 on the board. It prints these lines on the console, for each tier:
//!
//! ```text
//! walnut <tier> works|absent|wrong
//! checked <tier> <cases>
//! wrong <level> <tier> generators <number>
//! count <level> <tier> products <generators> <instructions>
//! count <level> <tier> all <generators> <instructions>
//! ```
//!
//! `products` is E-multiplication alone; `all` is a verification without the hash of the message.

use core::hint::black_box;

use hartlock_jobs::walnut::{COUNTED_BRAID, GENERATORS, SEEDS, WalnutCase};
use hartlock_kernels::walnut::WalnutLevel;
use hartlock_kernels::{KernelFault, Kernels, WalnutTier};
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{PrivilegeMode, choose_walnut_only};

use super::taken::{NO_TAG, Taken};

/// Checks each tier, then counts its instructions. Returns `false` if the pack is not empty.
pub fn run(count: u32, body: &[u8]) -> bool {
    if count != 0 || !body.is_empty() {
        return false;
    }
    for tier in WalnutTier::ALL {
        let (kernels, faults) = choose_walnut_only(PrivilegeMode::Machine, tier);
        let word = match faults.get(tier as usize).copied().flatten() {
            _ if kernels.walnut_tier() == tier => "works",
            Some(KernelFault::WrongAnswer) => "wrong",
            _ => "absent",
        };
        console::line(&["walnut ", tier.name(), " ", word]);
        if word == "works" {
            check(&kernels, tier);
            WalnutLevel::ALL.into_iter().for_each(|level| count_level(&kernels, level, tier));
        }
    }
    true
}

fn check(kernels: &Kernels, tier: WalnutTier) {
    let mut cases = 0;
    for level in WalnutLevel::ALL {
        for generators in GENERATORS {
            for seed in 0..SEEDS {
                cases += 1;
                let case = WalnutCase::new(level, generators, seed);
                let agrees =
                    case.parse().zip(case.parse()).is_some_and(|(mut ours, mut wanted)| {
                        ours.multiply(kernels);
                        wanted.multiply(&Kernels::PORTABLE);
                        ours.products() == wanted.products()
                    });
                if !agrees {
                    let generators = Number::decimal(generators as u64);
                    for part in ["wrong ", level.name(), " ", tier.name(), " generators "] {
                        console::print(part);
                    }
                    console::line(&[generators.as_str()]);
                }
            }
        }
    }
    console::line(&["checked ", tier.name(), " ", Number::decimal(cases).as_str()]);
}

fn count_level(kernels: &Kernels, level: WalnutLevel, tier: WalnutTier) {
    let case = WalnutCase::new(level, COUNTED_BRAID, 1);
    let Some(mut parsed) = case.parse() else { return };
    let generators = Number::decimal(parsed.generators() as u64);
    let products = Taken::by(NO_TAG, || black_box(&mut parsed).multiply(kernels));
    let all = Taken::by(NO_TAG, || {
        if let Some(mut verification) = black_box(&case).parse() {
            verification.multiply(kernels);
            black_box(verification.is_valid());
        }
    });
    for (what, taken) in [(" products ", products), (" all ", all)] {
        for part in ["count ", level.name(), " ", tier.name(), what, generators.as_str()] {
            console::print(part);
        }
        taken.print();
    }
}
