//! `cargo xtask kernels`: tests every kernel of hashes, ciphers and WalnutDSA on emulated harts, each with
//! another set of extensions.
//!
//! The bench selects each tier in turn, hashes the same messages with it, one at a time and all at
//! once, and counts instructions. A hart without an extension must not offer its tier; a kernel of
//! a lower tier that uses an instruction of a higher one traps there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use hartlock_emulator::bare;
use hartlock_image::HashId;
use hartlock_jobs::kernels::Plan;
use hartlock_jobs::pack::{Header, JOB_KERNELS};
use hartlock_kernels::{HashFamily, Tier};

use crate::bench;
use xtask::Outcome;
use xtask::{Verdict, firmware};

mod cases;
pub mod ciphers;
pub mod first_stage;
pub mod walnut;

pub use cases::counted_digest;

#[derive(clap::Args)]
pub struct KernelsArgs {
    /// Run only harts whose name contains this text
    #[arg(value_name = "HART")]
    filter: Option<String>,
    /// Show the output of the bench
    #[arg(short, long)]
    verbose: bool,
}

/// An emulated hart, and the tiers that work on it.
pub struct Hart {
    pub name: &'static str,
    /// Number of bits of a vector register; 0 if the hart has none.
    pub vlen: u32,
    hart: &'static bare::Hart,
    /// The tiers that work on the hart in addition to the portable form.
    tiers: &'static [Tier],
}

const SCALAR: &[Tier] = &[Tier::Rv64];
const ZBB: &[Tier] = &[Tier::Rv64, Tier::Zbb];
const ZKNH: &[Tier] = &[Tier::Rv64, Tier::Zbb, Tier::Zknh];
/// Tiers of a hart without Zbb, which shows that the vector kernels do not use Zbb.
const LANES: &[Tier] = &[Tier::Rv64, Tier::V, Tier::Zvbb];
/// Tiers of a hart with Zvkb only: lanes need no other part of Zvbb.
const STREAMS: &[Tier] = &[Tier::Rv64, Tier::V, Tier::Zvbb, Tier::Zvknh];
const EVERY: &[Tier] = &[Tier::Rv64, Tier::Zbb, Tier::Zknh, Tier::V, Tier::Zvbb, Tier::Zvknh];
/// Tiers of a hart with vectors and without vector crypto, with Zbb and without it.
const V_AND_ZBB: &[Tier] = &[Tier::Rv64, Tier::Zbb, Tier::V];
const V: &[Tier] = &[Tier::Rv64, Tier::V];

const fn hart(index: usize, tiers: &'static [Tier]) -> Hart {
    let hart = &bare::HARTS[index];
    Hart { name: hart.name, vlen: hart.vlen, hart, tiers }
}

pub const HARTS: &[Hart] = &[
    hart(0, SCALAR),
    hart(1, ZBB),
    hart(2, ZKNH),
    hart(3, LANES),
    hart(4, LANES),
    hart(5, LANES),
    hart(6, STREAMS),
    hart(7, STREAMS),
    hart(8, EVERY),
    hart(9, V_AND_ZBB),
    hart(10, V_AND_ZBB),
    hart(11, V),
];

/// A lower bound of the instructions a byte of one long message, derived on docs/src/concepts/kernels.md: the operations of
/// the hash in the form that the kernel uses.
struct Floor {
    hash: &'static str,
    tier: Tier,
    per_byte: f64,
    /// How far the kernel may be above its floor, as a ratio.
    most: f64,
}

const fn floor(hash: &'static str, tier: Tier, per_block: u32, block_bytes: u32) -> Floor {
    Floor { hash, tier, per_byte: per_block as f64 / block_bytes as f64, most: 1.04 }
}

const FLOORS: &[Floor] = &[
    floor("sha256", Tier::Rv64, 2848, 64),
    floor("sha256", Tier::Zbb, 2208, 64),
    floor("sha256", Tier::Zknh, 1312, 64),
    floor("sha384", Tier::Rv64, 4408, 128),
    floor("sha384", Tier::Zbb, 2808, 128),
    floor("sha384", Tier::Zknh, 1656, 128),
    floor("sha512", Tier::Rv64, 4408, 128),
    floor("sha512", Tier::Zbb, 2808, 128),
    floor("sha512", Tier::Zknh, 1656, 128),
    Floor { most: 1.035, ..floor("sha3-256", Tier::Rv64, 4690, 136) },
    // Five instructions a round for which no register is left weigh more where a rotation is one instruction.
    Floor { most: 1.0525, ..floor("sha3-256", Tier::Zbb, 3178, 136) },
];

/// Returns QEMU's options for a hart.
fn options(hart: &bare::Hart) -> Vec<String> {
    // QEMU executes one instruction per nanosecond of emulated time, so the count of instructions
    // is exact.
    ["-cpu", &hart.cpu(), "-icount", "shift=0"].map(str::to_owned).to_vec()
}

impl Hart {
    /// Returns QEMU's options for this hart.
    pub fn options(&self) -> Vec<String> {
        options(self.hart)
    }

    /// Returns the names of the kernels that must work, as the bench prints them: family, tier and
    /// form.
    fn expected(&self) -> BTreeSet<String> {
        let tiers = [Tier::Portable].iter().chain(self.tiers);
        let forms = tiers.flat_map(|tier| {
            HashFamily::ALL.into_iter().flat_map(move |family| {
                let forms: &[&str] = match (tier, family) {
                    (Tier::V | Tier::Zvbb, _) => &["many"],
                    (Tier::Zknh | Tier::Zvknh, HashFamily::Keccak) => &[],
                    _ => &["one", "many"],
                };
                forms.iter().map(move |form| format!("{} {} {form}", family.name(), tier.name()))
            })
        });
        forms.collect()
    }
}

/// Number of instructions that a kernel needed for a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    pub hash: String,
    pub tier: String,
    /// The form: `one` message at a time, or `many`, one in each lane.
    pub form: String,
    pub bytes: u64,
    pub instructions: u64,
    /// Number of cycles, if the cycle-accurate machine counted them.
    pub cycles: Option<u64>,
}

impl Count {
    pub fn per_byte(&self) -> f64 {
        self.instructions as f64 / self.bytes as f64
    }
}

pub fn main(args: &KernelsArgs) -> Result<Verdict> {
    let is_wanted =
        |hart: &&Hart| args.filter.as_ref().is_none_or(|filter| hart.name.contains(filter));
    let bench = KernelBench::prepare()?;
    let mut verdict = Verdict::Yes;
    for hart in HARTS.iter().filter(is_wanted) {
        let start = std::time::Instant::now();
        let console = bench.console(hart)?;
        if args.verbose {
            print!("{console}");
        }
        let (counts, faults) = read(hart, &console)?;
        println!("{} ({:.1} s)", hart.name, start.elapsed().as_secs_f64());
        for count in &counts {
            let Count { hash, tier, form, .. } = count;
            println!("  {hash:<9}{tier:<10}{form:<6}{:7.3} instructions/byte", count.per_byte());
        }
        for fault in &faults {
            println!("  {fault}");
            verdict = Verdict::No;
        }
    }
    for run in [ciphers::run, walnut::run] {
        if run(args.filter.as_deref(), args.verbose)? == Verdict::No {
            verdict = Verdict::No;
        }
    }
    Ok(verdict)
}

/// Test step: checks every kernel on harts that have its tier.
pub fn step(_: &Path) -> Result<Outcome> {
    let bench = KernelBench::prepare()?;
    if firmware::has_panic_path(&bench.stage.elf)? {
        return Ok(Outcome::Failed("the bench can reach a panic".into()));
    }
    let mut all = Vec::new();
    for hart in HARTS {
        let (_, faults) = read(hart, &bench.console(hart)?)?;
        all.extend(faults.into_iter().map(|fault| format!("{}: {fault}", hart.name)));
    }
    all.extend(ciphers::faults()?);
    all.extend(walnut::faults()?);
    Ok(if all.is_empty() { Outcome::Passed } else { Outcome::Failed(all.join("\n")) })
}

/// The bench image and its pack of cases.
pub struct KernelBench {
    stage: firmware::StageFiles,
    folder: tempfile::TempDir,
}

impl KernelBench {
    pub fn prepare() -> Result<Self> {
        Self::with(&[], &Plan::EVERYTHING, &cases::all()?)
    }

    /// Prepares the bench for the cycle-accurate machine, where a second of QEMU takes hours. It
    /// runs the tiers of the first of [`HARTS`], and only these hashes, with messages of
    /// `counted_len` bytes.
    pub fn for_machine(hashes: &[HashId], counted_len: usize) -> Result<Self> {
        let plan = Plan {
            tiers: [Tier::Portable]
                .iter()
                .chain(SCALAR)
                .fold(0, |all, tier| all | 1 << *tier as u32),
            hashes: hashes.iter().fold(0, |all, hash| all | 1 << *hash as u32),
            counted_len,
            counts_many: false,
        };
        Self::with(&["soc"], &plan, &cases::few(hashes))
    }

    fn with(features: &[&str], plan: &Plan, cases: &[cases::OwnedCase]) -> Result<Self> {
        let bench =
            Self { stage: firmware::stage("jobs", features)?, folder: tempfile::tempdir()? };
        let body = [&plan.encode()[..], &cases::encode(cases)?].concat();
        let count = u32::try_from(cases.len())?;
        let header = Header { job: JOB_KERNELS, count, body_size: body.len() as u64 };
        fs::write(bench.pack(), [&header.encode()[..], &body].concat())?;
        Ok(bench)
    }

    pub fn console(&self, hart: &Hart) -> Result<String> {
        let options = hart.options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        self.run(&options).with_context(|| hart.name.to_owned())
    }

    /// Runs the bench with these QEMU options and returns the console output.
    pub fn run(&self, options: &[&str]) -> Result<String> {
        bench::emulate(&self.stage.bin, &self.pack(), options)
    }

    /// Returns the path of the pack with the plan and the cases.
    pub fn pack(&self) -> PathBuf {
        self.folder.path().join("pack.bin")
    }

    /// Returns the path of the linked bench image.
    pub fn elf(&self) -> &Path {
        &self.stage.elf
    }
}

/// Returns the counts in the bench's console output, and its faults.
pub fn read(hart: &Hart, console: &str) -> Result<(Vec<Count>, Vec<String>)> {
    let mut counts = Vec::new();
    let mut faults = Vec::new();
    let mut working = BTreeSet::new();
    let mut checked = BTreeSet::new();
    for line in console.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["kernel", family, tier, form, "works", _] => {
                working.insert(format!("{family} {tier} {form}"));
            }
            ["count", hash, tier, form, bytes, instructions, cycles @ ..] => counts.push(Count {
                hash: (*hash).to_owned(),
                tier: (*tier).to_owned(),
                form: (*form).to_owned(),
                bytes: bytes.parse()?,
                instructions: instructions.parse()?,
                cycles: cycles.first().map(|cycles| cycles.parse()).transpose()?,
            }),
            // The digest belongs to the message that was counted in the line before.
            ["digest", hash, tier, digest] if is_right(counts.last(), hash, tier, digest) => {}
            ["checked", tier, cases] => {
                ensure!(cases.parse::<u32>()? > 0, "no cases");
                checked.insert((*tier).to_owned());
            }
            ["kernel", _, _, "absent"] | ["bench:", "done"] | [""] => {}
            // Any other line is a fault: a wrong digest, a wrong known answer at start-up, or an
            // unexpected line.
            _ => faults.push(line.to_owned()),
        }
    }
    let expected = hart.expected();
    let differences = expected.symmetric_difference(&working);
    faults.extend(differences.map(|kernel| match expected.contains(kernel) {
        true => format!("{kernel} does not work"),
        false => format!("{kernel} works, without its extension"),
    }));
    for count in counts.iter().filter(|count| count.form == "one") {
        let taken = count.per_byte();
        let floor = FLOORS
            .iter()
            .find(|floor| count.hash == floor.hash && count.tier == floor.tier.name())
            .filter(|floor| taken > floor.per_byte * floor.most);
        faults.extend(floor.map(|Floor { hash, tier, per_byte, most }| {
            let tier = tier.name();
            format!("{hash} {tier} takes {taken:.3}, more than {most} times {per_byte:.3}")
        }));
    }
    for tier in [Tier::Portable].iter().chain(hart.tiers) {
        if !checked.contains(tier.name()) {
            faults.push(format!("{} was not checked", tier.name()));
        }
    }
    Ok((counts, faults))
}

/// Returns true if the digest of the last counted message is correct.
fn is_right(last: Option<&Count>, hash: &str, tier: &str, digest: &str) -> bool {
    last.is_some_and(|count| {
        count.hash == hash
            && count.tier == tier
            && counted_digest(hash, count.bytes).is_some_and(|right| right == digest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_hart_has_its_tiers() {
        assert_eq!(HARTS.len(), bare::HARTS.len());
        for (hart, tier) in [
            ("rv64", Tier::Rv64),
            ("zknh", Tier::Zknh),
            ("zvbb-512", Tier::Zvbb),
            ("v-512", Tier::V),
        ] {
            let hart = HARTS.iter().find(|it| it.name == hart).unwrap();
            assert_eq!(hart.tiers.last(), Some(&tier));
        }
    }

    #[test]
    fn misses_no_kernel_and_no_wrong_digest() {
        let hart = &HARTS[0];
        let lines = |kernel: &str| format!("kernel {kernel} works 1\n");
        let mut console: String = hart.expected().iter().map(|kernel| lines(kernel)).collect();
        console +=
            "checked portable 3\nchecked rv64 3\ncount sha256 rv64 one 10 460\nbench: done\n";
        let (counts, faults) = read(hart, &console).unwrap();
        assert_eq!((counts[0].per_byte(), faults), (46.0, vec![]));
        assert_eq!(counts[0].cycles, None);
        let (counts, _) = read(hart, &console.replace("460", "460 490")).unwrap();
        assert_eq!(counts[0].cycles, Some(490));
        let without = console.replace(&lines("sha512 rv64 one"), "");
        assert_eq!(read(hart, &without).unwrap().1, ["sha512 rv64 one does not work"]);
        let more = format!("{console}{}", lines("sha512 zbb one"));
        assert_eq!(read(hart, &more).unwrap().1.len(), 1);
        let wrong = format!("{console}wrong rv64 one case 1 message 0\n");
        assert_eq!(read(hart, &wrong).unwrap().1.len(), 1);
        let digest = counted_digest("sha256", 10).unwrap();
        for (digest, faults) in [(digest.as_str(), 0), ("00", 1)] {
            let of_count = format!("460\ndigest sha256 rv64 {digest}\n");
            let told = console.replace("460\n", &of_count);
            assert_eq!(read(hart, &told).unwrap().1.len(), faults);
        }
        // 1.035 times 34.485 are 35.692.
        for (taken, faults) in [(356, 0), (357, 1)] {
            let slow = format!("count sha3-256 rv64 one 10 {taken}\n");
            assert_eq!(read(hart, &(slow + &console)).unwrap().1.len(), faults);
        }
        let unchecked = console.replace("checked rv64 3\n", "");
        assert_eq!(read(hart, &unchecked).unwrap().1, ["rv64 was not checked"]);
    }
}
