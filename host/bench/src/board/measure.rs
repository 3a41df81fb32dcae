//! Checks and measurements of kernels. Each kernel is first checked in a child process, so that one that traps or hangs
//! on a wrong answer does not end the program.

mod ciphers;
mod hashes;

use core::hint::black_box;

use hartlock_bench::statistics::MAX_SAMPLES;
use hartlock_kernels::{
    CipherMode, CipherTier, HashFamily, KernelFault, Kernels, MAX_LANES, Probe, Tier,
};

use super::arguments::Arguments;
use super::probes::{self, Probed};
use super::report::{Measurement, Report};
use super::system::{self, Counter, End};

/// Maximum length of a message in bytes.
pub const MAX_LEN: usize = 64 << 10;

/// Messages, one after the other.
#[repr(align(64))]
struct Messages([u8; MAX_LEN * MAX_LANES]);

/// One kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernel {
    Hash(HashFamily, Tier),
    Cipher(CipherMode, CipherTier),
}

impl Kernel {
    fn all() -> impl Iterator<Item = Self> {
        let hashes = HashFamily::ALL
            .into_iter()
            .flat_map(|family| Tier::ALL.into_iter().map(move |tier| Self::Hash(family, tier)));
        let ciphers = CipherMode::ALL
            .into_iter()
            .flat_map(|mode| CipherTier::ALL.into_iter().map(move |tier| Self::Cipher(mode, tier)));
        hashes.chain(ciphers)
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Hash(family, tier) => (family.name(), tier.name()),
            Self::Cipher(mode, tier) => (mode.name(), tier.name()),
        }
    }

    /// Selects this kernel, and what it needs beside itself.
    fn select(self) -> (Kernels, Chooser) {
        let mut chooser = Chooser { only: self, fault: None };
        (Kernels::detect(&mut chooser), chooser)
    }

    fn is_selected(self, kernels: &Kernels) -> bool {
        match self {
            Self::Hash(family, tier) => {
                kernels.tier(family) == tier || kernels.tier_of_many(family) == tier
            }
            Self::Cipher(mode, tier) => kernels.cipher_tier(mode) == tier,
        }
    }
}

/// A probe that wants one kernel, and remembers why it cannot have it.
struct Chooser {
    only: Kernel,
    fault: Option<KernelFault>,
}

// SAFETY: the probe is true only after a child process has executed the instructions and has ended by itself.
unsafe impl Probe for Chooser {
    fn runs(&mut self, instructions: unsafe extern "C" fn()) -> bool {
        // SAFETY: probes of kernels are leaf functions that use no saved register and no memory; a trap ends the child.
        let run = || unsafe { instructions() };
        Probed::of(system::in_child(|| probes::done(run))) == Probed::Works
    }

    fn rejected(&mut self, family: HashFamily, tier: Tier, why: KernelFault) {
        if self.only == Kernel::Hash(family, tier) {
            self.fault = Some(why);
        }
    }

    fn is_wanted(&self, family: HashFamily, tier: Tier) -> bool {
        let Kernel::Hash(only, wanted) = self.only else { return false };
        // Kernels with lanes need another one for what does not fill them, and every hart has this one.
        family == only && (tier == wanted || (wanted >= Tier::Zvbb && tier == Tier::Rv64))
    }

    fn rejected_cipher(&mut self, mode: CipherMode, tier: CipherTier, why: KernelFault) {
        // A mode can have several kernels of a tier: a wrong answer of one says more than that another one is absent.
        if self.only == Kernel::Cipher(mode, tier) && self.fault != Some(KernelFault::WrongAnswer) {
            self.fault = Some(why);
        }
    }

    fn is_cipher_wanted(&self, mode: CipherMode, tier: CipherTier) -> bool {
        let Kernel::Cipher(_, wanted) = self.only else { return false };
        // GCM encrypts single blocks with the kernel of counter mode.
        self.only == Kernel::Cipher(mode, tier)
            || (mode == CipherMode::Ctr && tier == wanted.min(CipherTier::Zvkned))
    }
}

/// What the check of a kernel has shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// All answers were right.
    Works,
    /// The processor lacks an instruction.
    Absent,
    /// An answer was wrong.
    Wrong,
    /// The kernel ended its process although its probe did not.
    Crashed,
}

impl Checked {
    pub const fn name(self) -> &'static str {
        match self {
            Checked::Works => "works",
            Checked::Absent => "absent",
            Checked::Wrong => "wrong",
            Checked::Crashed => "crashed",
        }
    }
}

/// Checks a kernel with its known answers, and against the portable one with the messages of the measurement.
fn check(kernel: Kernel, messages: &mut Messages, len: usize) -> Checked {
    const ABSENT: i32 = 1;
    const WRONG: i32 = 2;
    let end = system::in_child(|| {
        let (kernels, chooser) = kernel.select();
        if !kernel.is_selected(&kernels) {
            return if chooser.fault == Some(KernelFault::WrongAnswer) { WRONG } else { ABSENT };
        }
        let is_right = match kernel {
            Kernel::Hash(family, _) => hashes::are_right(&kernels, family, messages, len),
            Kernel::Cipher(mode, _) => ciphers::are_right(&kernels, mode, messages, len),
        };
        if is_right { 0 } else { WRONG }
    });
    match end {
        Some(End::Code(0)) => Checked::Works,
        Some(End::Code(ABSENT)) => Checked::Absent,
        Some(End::Code(WRONG)) => Checked::Wrong,
        _ => Checked::Crashed,
    }
}

/// Checks and measures every kernel. Returns false if one has given a wrong answer or has ended its process.
pub fn all(report: &mut Report, arguments: &Arguments) -> bool {
    const KERNELS: usize =
        HashFamily::ALL.len() * Tier::ALL.len() + CipherMode::ALL.len() * CipherTier::ALL.len();
    let mut messages = Messages([0; MAX_LEN * MAX_LANES]);
    let mut number = 1_u32;
    for byte in &mut messages.0 {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (number >> 24) as u8;
    }
    let mut results = [Checked::Absent; KERNELS];
    for (result, kernel) in results.iter_mut().zip(Kernel::all()) {
        *result = check(kernel, &mut messages, arguments.message_len());
        report.kernel(kernel.names(), *result);
    }
    // Cycles are PERF_COUNT_HW_CPU_CYCLES, instructions PERF_COUNT_HW_INSTRUCTIONS.
    let counters = Counters { cycles: Counter::open(0), instructions: Counter::open(1) };
    report.counters(counters.cycles.is_some(), counters.instructions.is_some());
    let mut meter = Meter { report, arguments, counters };
    for (result, kernel) in results.iter().zip(Kernel::all()) {
        if *result == Checked::Works {
            let (kernels, _) = kernel.select();
            match kernel {
                Kernel::Hash(family, tier) => {
                    hashes::measure(&mut meter, &kernels, family, tier, &messages);
                }
                Kernel::Cipher(mode, tier) => {
                    ciphers::measure(&mut meter, &kernels, mode, tier, &mut messages);
                }
            }
        }
    }
    results.iter().all(|result| matches!(result, Checked::Works | Checked::Absent))
}

/// The counters that Linux and the machine have; a number is missing if it could not be counted all the time.
struct Counters {
    cycles: Option<Counter>,
    instructions: Option<Counter>,
}

/// What takes samples.
struct Meter<'a> {
    report: &'a mut Report,
    arguments: &'a Arguments,
    counters: Counters,
}

/// What a measurement is of.
struct Subject {
    name: &'static str,
    tier: &'static str,
    form: &'static str,
    messages: usize,
}

impl Meter<'_> {
    /// Measures `work`, which processes the messages of the subject once.
    fn measure(&mut self, subject: &Subject, mut work: impl FnMut()) {
        // The first call fills the caches, the second one says how often a sample repeats the work.
        work();
        let start = system::now();
        work();
        let once = system::now().wrapping_sub(start).max(1);
        let repeats = (self.arguments.sample_time() / once).clamp(1, 1 << 20);
        let count = self.arguments.samples().min(MAX_SAMPLES);
        let [mut nanoseconds, mut cycles, mut instructions] = [[0; MAX_SAMPLES]; 3];
        let (mut has_cycles, mut has_instructions) = (true, true);
        for at in 0..count {
            let before = [&self.counters.cycles, &self.counters.instructions].map(read);
            let start = system::now();
            for _ in 0..repeats {
                work();
            }
            let time = system::now().wrapping_sub(start);
            let after = [&self.counters.cycles, &self.counters.instructions].map(read);
            let difference = |which: usize| {
                let (before, after) = (*before.get(which)?, *after.get(which)?);
                after?.checked_sub(before?)
            };
            has_cycles &= put(&mut cycles, at, difference(0));
            has_instructions &= put(&mut instructions, at, difference(1));
            put(&mut nanoseconds, at, Some(time));
        }
        self.report.measurement(&Measurement {
            name: subject.name,
            tier: subject.tier,
            form: subject.form,
            messages: subject.messages,
            bytes: self.arguments.message_len(),
            repeats,
            count,
            nanoseconds,
            cycles: has_cycles.then_some(cycles),
            instructions: has_instructions.then_some(instructions),
        });
    }
}

fn read(counter: &Option<Counter>) -> Option<u64> {
    counter.as_ref()?.read()
}

/// Stores a sample; false if there is none.
fn put(samples: &mut [u64; MAX_SAMPLES], at: usize, sample: Option<u64>) -> bool {
    match (samples.get_mut(at), sample) {
        (Some(place), Some(sample)) => {
            *place = sample;
            true
        }
        _ => false,
    }
}

/// Does something whose result nobody needs.
fn use_up<T>(value: T) {
    black_box(value);
}
