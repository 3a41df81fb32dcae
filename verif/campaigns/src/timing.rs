//! `cargo xtask timing`: tests that no instruction and no address depends on a secret.
//!
//! The computations of `verif/programs/timing` run in three ways: on this machine under memcheck, which follows the
//! bits of the secret; in the interpreter of `verif/fault`, which executes scalar code with many secrets; and on QEMU
//! with a plugin, for code that needs extensions of the instruction set. Each of them must also find the computations
//! that leak. What none of them sees is said in `docs/security/timing.md`.

mod emulated;
mod interpreted;
mod latency;
mod memcheck;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use hartlock_kernels::{CipherMode, CipherTier, HashFamily, Tier};
use hartlock_timing::{LEAKS, OPERAND_LEAKS, SUBJECTS, Uses};
use xtask::{Outcome, Verdict, firmware};

use crate::skips::symbols::Symbols;

/// Number of secrets, and the harts of the emulator on which code is run, for a check of every change.
const FEW: Extent = Extent { secrets: 16, harts: &["ciphers-1024", "every-512"] };
/// The same for the second tier: all harts that select another kernel or another length of vectors.
const MANY: Extent = Extent {
    secrets: 1000,
    harts: &[
        "zkne",
        "zkne-zbkc",
        "zvkned-128",
        "zvbc-128",
        "zvbc-256",
        "zvbc-512",
        "zvkg-128",
        "zvkg-256",
        "zvkg-512",
        "ciphers-1024",
        "zknh",
        "zvknh-128",
        "zvknh-256",
        "every-512",
    ],
};

#[derive(Clone, Copy)]
struct Extent {
    secrets: u32,
    harts: &'static [&'static str],
}

/// What no means sees, for a reader of the output.
const LEFT_OUT: &str = "\
Left out: cycles, caches and speculation; paths that no secret took; the linked stages, RV32 and engines; hashes with
lanes; private keys of `hartlock sign`. That single instructions take a constant time rests on Zkt and Zvkt, which
cannot be probed (docs/security/timing.md).";

#[derive(clap::Args)]
pub struct TimingArgs {
    /// Run few secrets on two harts, as the first tier of the tests does
    #[arg(long)]
    quick: bool,
    /// Use this means alone
    #[arg(value_enum)]
    means: Option<Means>,
}

/// A means that observes computations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Means {
    /// Memcheck on this machine
    Memcheck,
    /// The interpreter of RV64IMAC
    Interpreter,
    /// QEMU with a plugin
    Emulator,
}

const ALL: [Means; 3] = [Means::Memcheck, Means::Interpreter, Means::Emulator];

/// The names of a row about all instructions that were executed, instead of those of a computation and its tier.
const INSTRUCTIONS: (&str, &str) = ("instructions", "zkt-zvkt");

/// The result of a means for a computation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TimingRow {
    subject: String,
    /// The kernels that it uses.
    tier: String,
    /// What was observed, for a reader.
    observed: String,
    /// What depends on the secret.
    leak: Option<String>,
}

pub fn main(args: &TimingArgs) -> Result<Verdict> {
    let extent = if args.quick { FEW } else { MANY };
    let faults = run(extent, args.means.as_slice(), |line| println!("{line}"))?;
    println!("{LEFT_OUT}");
    faults.iter().for_each(|fault| println!("FAULT {fault}"));
    Ok(if faults.is_empty() { Verdict::Yes } else { Verdict::No })
}

/// Test step: few secrets.
pub fn first_step(_: &Path) -> Result<Outcome> {
    outcome(FEW)
}

/// Test step: many secrets, on all harts.
pub fn step(_: &Path) -> Result<Outcome> {
    outcome(MANY)
}

fn outcome(extent: Extent) -> Result<Outcome> {
    let faults = run(extent, &[], |_| ())?;
    Ok(if faults.is_empty() { Outcome::Passed } else { Outcome::Failed(faults.join("\n")) })
}

/// Runs some means, or all of them if none is given. Returns the faults.
fn run(extent: Extent, only: &[Means], mut print: impl FnMut(&str)) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for means in ALL.into_iter().filter(|means| only.is_empty() || only.contains(means)) {
        let start = Instant::now();
        let (title, rows) = match means {
            Means::Memcheck => ("memcheck, on this machine".to_owned(), memcheck::run()?),
            Means::Interpreter => (
                format!("interpreter of RV64IMAC, {} secrets", extent.secrets),
                interpreted::run(extent.secrets)?,
            ),
            Means::Emulator => (
                format!("QEMU, {} secrets on {}", extent.secrets, extent.harts.join(", ")),
                emulated::run(extent.secrets, extent.harts)?,
            ),
        };
        print(&format!("{title} ({:.1} s)", start.elapsed().as_secs_f64()));
        for TimingRow { subject, tier, observed, leak } in &rows {
            let found = leak.as_deref().unwrap_or("nothing depends on the secret");
            print(&format!("  {subject:<24}{tier:<10}{observed:<52}{found}"));
        }
        faults.extend(judge(means, &rows).into_iter().map(|fault| format!("{means:?}: {fault}")));
    }
    Ok(faults)
}

/// Returns the faults of a means: a leak, a leak that it did not find, and a computation that it did not run.
fn judge(means: Means, rows: &[TimingRow]) -> Vec<String> {
    let is_meant_to_leak = |row: &TimingRow| row.subject.starts_with("leak-");
    let mut faults: Vec<String> = rows
        .iter()
        .filter(|row| row.leak.is_some() != is_meant_to_leak(row))
        .map(|row| match &row.leak {
            Some(leak) => format!("{} {}: {leak}", row.subject, row.tier),
            None => format!("the leak of {} was not found", row.subject),
        })
        .collect();
    let done: BTreeSet<_> =
        rows.iter().map(|row| (row.subject.as_str(), row.tier.as_str())).collect();
    let expected = expected(means);
    faults.extend(
        expected.difference(&done).map(|(subject, tier)| format!("{subject} {tier} was not run")),
    );
    faults
}

/// Returns the computations and tiers that a means has to run, on any of its harts.
fn expected(means: Means) -> BTreeSet<(&'static str, &'static str)> {
    const PORTABLE: &str = "portable";
    let mut expected: BTreeSet<_> = LEAKS.iter().map(|subject| (subject.name, PORTABLE)).collect();
    match means {
        Means::Memcheck => {}
        Means::Interpreter => {
            expected.extend(OPERAND_LEAKS.iter().map(|subject| (subject.name, PORTABLE)));
        }
        Means::Emulator => {
            expected.extend([("leak-gather", "vector"), INSTRUCTIONS]);
        }
    }
    for subject in SUBJECTS {
        let tiers: &[&str] = match (means, subject.uses) {
            (Means::Memcheck, _) | (Means::Interpreter, Uses::Portable | Uses::Cipher(_)) => {
                &[PORTABLE]
            }
            (Means::Interpreter, Uses::Hash(_)) => &[PORTABLE, Tier::Rv64.name()],
            (Means::Emulator, Uses::Portable) => &[],
            (Means::Emulator, Uses::Cipher(CipherMode::Ctr)) => {
                &[CipherTier::Zkne.name(), CipherTier::Zvkned.name()]
            }
            (Means::Emulator, Uses::Cipher(CipherMode::Gcm)) => {
                &[CipherTier::Zkne.name(), CipherTier::Zvkned.name(), CipherTier::Zvkg.name()]
            }
            (Means::Emulator, Uses::Hash(HashFamily::Keccak)) => &[Tier::Zbb.name()],
            (Means::Emulator, Uses::Hash(_)) => {
                &[Tier::Zbb.name(), Tier::Zknh.name(), Tier::Zvknh.name()]
            }
        };
        expected.extend(tiers.iter().map(|tier| (subject.name, *tier)));
    }
    expected
}

/// The linked program for a hart.
struct Linked {
    elf: std::path::PathBuf,
    symbols: Symbols,
}

impl Linked {
    fn build() -> Result<Self> {
        let elf = firmware::stage("timing", &[])?.elf;
        Ok(Self { symbols: Symbols::read(&elf)?, elf })
    }

    /// Returns the address of a mark.
    fn mark(&self, name: &str) -> Result<u64> {
        firmware::symbol(&self.elf, &format!("timing_{name}"))
    }

    /// Returns the bytes of the program, which runs with `secrets` secrets.
    fn image(&self, secrets: u32, has_portable: bool) -> Result<Vec<u8>> {
        let mut image = firmware::flat_binary(&self.elf)?;
        let start = firmware::symbol(&self.elf, "_start")?;
        for (name, value) in
            [("TIMING_SECRETS", secrets), ("TIMING_PORTABLE", u32::from(has_portable))]
        {
            let offset = usize::try_from(firmware::symbol(&self.elf, name)? - start)?;
            image[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
        }
        Ok(image)
    }

    /// Describes an address.
    fn name(&self, address: u64) -> String {
        format!("{address:#x} in {}", self.symbols.name(address))
    }
}

/// Splits the line of the console that names a computation and its tier.
fn named(line: &str) -> Result<(String, String)> {
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        ["timing", subject, tier] => Ok(((*subject).to_owned(), (*tier).to_owned())),
        _ => anyhow::bail!("no name of a computation: {line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leak_one_that_is_not_found_and_a_computation_that_is_not_run_are_faults() {
        for means in ALL {
            let right: Vec<TimingRow> = expected(means)
                .into_iter()
                .map(|(subject, tier)| TimingRow {
                    subject: subject.to_owned(),
                    tier: tier.to_owned(),
                    observed: String::new(),
                    leak: subject.starts_with("leak-").then(|| "an address".to_owned()),
                })
                .collect();
            assert_eq!(judge(means, &right), [""; 0]);
            for index in 0..right.len() {
                let mut wrong = right.clone();
                wrong[index].leak = match wrong[index].leak {
                    Some(_) => None,
                    None => Some("a branch".to_owned()),
                };
                assert_eq!(judge(means, &wrong).len(), 1, "{:?}", wrong[index]);
                let missing = wrong.remove(index);
                assert_eq!(judge(means, &wrong).len(), 1, "{missing:?}");
            }
        }
    }
}
