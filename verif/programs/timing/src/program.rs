//! The program on a hart.

use core::arch::global_asm;
use core::hint::black_box;
use core::sync::atomic::{AtomicU32, Ordering};

use hartlock_kernels::{CipherMode, CipherTier, Kernels, Tier};
use hartlock_timing::{
    LEAKS, OPERAND_LEAKS, Part, SECRET_LEN, SUBJECTS, SecretBytes, Subject, Uses, VECTOR_LEAKS,
    fill,
};
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{PrivilegeMode, choose_cipher_only, choose_only};
use hartlock_virt::machine;

global_asm!(include_str!("../../bench/src/start.S"));
global_asm!(include_str!("marks.S"));

unsafe extern "C" {
    /// Marks the start of the runs of another computation.
    safe fn timing_subject();
    /// Marks the start of a run.
    safe fn timing_begin();
    /// Marks the start of a run of which [`Part::Confined`] is observed.
    safe fn timing_begin_confined();
    /// Marks the end of a run.
    safe fn timing_end();
}

/// Number of secrets, which whoever runs the program sets in its image.
#[unsafe(no_mangle)]
static TIMING_SECRETS: AtomicU32 = AtomicU32::new(4);
/// One if portable code is run as well: the interpreter does it in less time than an emulator that is observed.
#[unsafe(no_mangle)]
static TIMING_PORTABLE: AtomicU32 = AtomicU32::new(1);

#[unsafe(no_mangle)]
extern "C" fn bench_main() -> ! {
    let secrets = TIMING_SECRETS.load(Ordering::Relaxed);
    let is_portable_wanted = TIMING_PORTABLE.load(Ordering::Relaxed) == 1;
    let run = |subject: &Subject, kernels: &Kernels, tier: &str| {
        run(subject, kernels, tier, secrets);
    };
    for tier in CipherTier::ALL {
        if tier == CipherTier::Portable && !is_portable_wanted {
            continue;
        }
        let (kernels, _) = choose_cipher_only(PrivilegeMode::Machine, tier);
        for subject in SUBJECTS {
            if let Uses::Cipher(mode) = subject.uses
                && kernels.cipher_tier(mode) == tier
            {
                run(subject, &kernels, tier.name());
            }
        }
        if tier == CipherTier::Zvkned && kernels.cipher_tier(CipherMode::Ctr) == tier {
            VECTOR_LEAKS.iter().for_each(|subject| run(subject, &kernels, "vector"));
        }
    }
    for tier in Tier::ALL {
        if tier == Tier::Portable && !is_portable_wanted {
            continue;
        }
        let kernels = choose_only(PrivilegeMode::Machine, tier).kernels;
        for subject in SUBJECTS {
            if let Uses::Hash(family) = subject.uses
                && kernels.tier(family) == tier
            {
                run(subject, &kernels, tier.name());
            }
        }
    }
    if is_portable_wanted {
        let all = SUBJECTS.iter().filter(|subject| subject.uses == Uses::Portable);
        all.chain(OPERAND_LEAKS).for_each(|subject| run(subject, &Kernels::PORTABLE, "portable"));
    }
    LEAKS.iter().for_each(|subject| run(subject, &Kernels::PORTABLE, "portable"));
    console::line(&["timing: done"]);
    machine::end(0)
}

/// Runs a computation with each secret, at the same addresses.
#[inline(never)]
fn run(subject: &Subject, kernels: &Kernels, tier: &str, secrets: u32) {
    console::line(&["timing ", subject.name, " ", tier]);
    timing_subject();
    let mut secret: SecretBytes = [0; SECRET_LEN];
    for number in 0..secrets {
        fill(&mut secret, number);
        let secret = black_box(&secret);
        match subject.part {
            Part::Everything => timing_begin(),
            Part::Confined => timing_begin_confined(),
        }
        let is_right = (subject.run)(kernels, secret);
        timing_end();
        if !black_box(is_right) {
            let number = Number::decimal(number.into());
            console::line(&["wrong ", subject.name, " ", tier, " secret ", number.as_str()]);
        }
    }
}

/// Handles a trap; called by start.S with an empty stack.
#[unsafe(no_mangle)]
extern "C" fn bench_trap(cause: u64, pc: u64, value: u64) -> ! {
    let text = [cause, pc, value].map(Number::hex);
    let [cause, pc, value] = text.each_ref().map(Number::as_str);
    console::line(&["timing: trap: mcause 0x", cause, " mepc 0x", pc, " mtval 0x", value]);
    machine::end(1)
}
