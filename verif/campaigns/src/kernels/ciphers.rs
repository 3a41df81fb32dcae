//! Tests of the kernels of AES, which the bench compares with the portable form on the hart itself.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::bare;
use hartlock_jobs::ciphers::CASES;
use hartlock_jobs::pack::{Header, JOB_CIPHERS};
use hartlock_kernels::{CipherMode, CipherTier};
use xtask::{Verdict, firmware};

use super::{Count, options};
use crate::bench;

/// A kernel: its mode and its tier.
type Kernel = (CipherMode, CipherTier);

const ZKNE: Kernel = (CipherMode::Ctr, CipherTier::Zkne);
const ZKNE_GCM: Kernel = (CipherMode::Gcm, CipherTier::Zkne);
const ZVKNED: Kernel = (CipherMode::Ctr, CipherTier::Zvkned);
const ZVBC: Kernel = (CipherMode::Gcm, CipherTier::Zvkned);
const ZVKG: Kernel = (CipherMode::Gcm, CipherTier::Zvkg);

/// Names of harts, and the kernels that work on them in addition to the portable ones.
const HARTS: &[(&str, &[Kernel])] = &[
    ("rv64", &[]),
    // Lanes of hashes need Zvkb alone, and no kernel of AES does.
    ("zvbb-128", &[]),
    ("zkne", &[ZKNE]),
    ("zkne-zbkc", &[ZKNE, ZKNE_GCM]),
    ("zvkned-128", &[ZVKNED]),
    ("zvbc-128", &[ZVKNED, ZVBC]),
    ("zvbc-256", &[ZVKNED, ZVBC]),
    ("zvbc-512", &[ZVKNED, ZVBC]),
    ("zvkg-128", &[ZVKNED, ZVKG]),
    ("zvkg-256", &[ZVKNED, ZVKG]),
    ("zvkg-512", &[ZVKNED, ZVKG]),
    ("ciphers-1024", &[ZKNE, ZKNE_GCM, ZVKNED, ZVBC, ZVKG]),
];

/// Maximum instructions per byte of a long text, with everything that a call does: hart, mode with its key, tier. They were
/// set before the kernels were written. Those of `aes-key` are per byte of the key, and what the kernels take.
pub const BOUNDS: &[(&str, &str, CipherTier, f64)] = &[
    ("zvkned-128", "aes-ctr-256", CipherTier::Zvkned, 0.37),
    ("zvkg-256", "aes-ctr-256", CipherTier::Zvkned, 0.19),
    ("zvkg-512", "aes-ctr-256", CipherTier::Zvkned, 0.095),
    ("zvkg-128", "aes-gcm-256", CipherTier::Zvkg, 0.46),
    ("zvkg-256", "aes-gcm-256", CipherTier::Zvkg, 0.24),
    ("zvkg-512", "aes-gcm-256", CipherTier::Zvkg, 0.125),
    ("zvbc-128", "ghash", CipherTier::Zvkned, 0.65),
    ("zvbc-256", "ghash", CipherTier::Zvkned, 0.33),
    ("zvbc-512", "ghash", CipherTier::Zvkned, 0.17),
    ("zkne-zbkc", "aes-gcm-256", CipherTier::Zkne, 6.5),
    ("zkne-zbkc", "aes-key-256", CipherTier::Zkne, 6.2),
    ("zvkg-128", "aes-key-256", CipherTier::Zvkned, 5.2),
];

/// Runs all harts whose name contains `filter`, and prints counts and faults.
pub fn run(filter: Option<&str>, is_verbose: bool) -> Result<Verdict> {
    let mut verdict = Verdict::Yes;
    let is_wanted = |name: &str| filter.is_none_or(|filter| name.contains(filter));
    if !HARTS.iter().any(|(name, _)| is_wanted(name)) {
        return Ok(verdict);
    }
    let bench = CipherBench::prepare()?;
    for (name, kernels) in HARTS.iter().filter(|(name, _)| is_wanted(name)) {
        let console = bench.console(name)?;
        if is_verbose {
            print!("{console}");
        }
        let (counts, faults) = read(name, kernels, &console)?;
        println!("{name}, ciphers");
        for count in &counts {
            let Count { hash, tier, form, .. } = count;
            println!("  {hash:<12}{tier:<10}{form:<6}{:7.3} instructions/byte", count.per_byte());
        }
        for fault in &faults {
            println!("  {fault}");
            verdict = Verdict::No;
        }
    }
    Ok(verdict)
}

/// Returns the faults of all harts.
pub fn faults() -> Result<Vec<String>> {
    let bench = CipherBench::prepare()?;
    let mut all = Vec::new();
    for (name, kernels) in HARTS {
        let (_, faults) = read(name, kernels, &bench.console(name)?)?;
        all.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    Ok(all)
}

/// Returns the counts of all harts with their names, which need not be within the bounds.
///
/// # Errors
/// Fails if a kernel does not work, or differs from the portable form.
pub fn counted() -> Result<Vec<(&'static str, Count)>> {
    let bench = CipherBench::prepare()?;
    let mut all = Vec::new();
    for (name, kernels) in HARTS {
        let (counts, faults) = checked(kernels, &bench.console(name)?)?;
        ensure!(faults.is_empty(), "{name}: {}", faults.join("\n"));
        all.extend(counts.into_iter().map(|count| (*name, count)));
    }
    Ok(all)
}

/// Returns QEMU's options for the hart with this name.
///
/// # Errors
/// Fails if there is no such hart.
pub fn options_of(name: &str) -> Result<Vec<String>> {
    Ok(options(bare::Hart::find(name).context("there is no such hart")?))
}

/// The bench image and its pack.
struct CipherBench {
    stage: firmware::StageFiles,
    pack: tempfile::NamedTempFile,
}

impl CipherBench {
    fn prepare() -> Result<Self> {
        let pack = tempfile::NamedTempFile::new()?;
        let header = Header { job: JOB_CIPHERS, count: 0, body_size: 0 };
        fs::write(pack.path(), header.encode())?;
        Ok(Self { stage: firmware::stage("jobs", &[])?, pack })
    }

    fn console(&self, name: &str) -> Result<String> {
        let options = options_of(name)?;
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        bench::emulate(&self.stage.bin, self.pack.path(), &options).context(name.to_owned())
    }
}

/// Returns the counts in the console output, and the faults, which include bounds that are exceeded.
fn read(hart: &str, kernels: &[Kernel], console: &str) -> Result<(Vec<Count>, Vec<String>)> {
    let (counts, mut faults) = checked(kernels, console)?;
    for (_, cipher, tier, most) in BOUNDS.iter().filter(|bound| bound.0 == hart) {
        let count = counts.iter().find(|it| it.hash == *cipher && it.tier == tier.name());
        match count.map(Count::per_byte) {
            Some(taken) if taken <= *most => {}
            Some(taken) => faults.push(format!("{cipher} takes {taken:.3}, more than {most}")),
            None => faults.push(format!("{cipher} {} was not counted", tier.name())),
        }
    }
    Ok((counts, faults))
}

/// Returns the counts in the console output, and the kernels that do not work or differ from the portable form.
fn checked(kernels: &[Kernel], console: &str) -> Result<(Vec<Count>, Vec<String>)> {
    let mut counts: Vec<Count> = Vec::new();
    let mut faults = Vec::new();
    let (mut working, mut checked) = (BTreeSet::new(), BTreeSet::new());
    for line in console.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["cipher", mode, tier, "works"] => {
                working.insert(format!("{mode} {tier}"));
            }
            ["checked", mode, tier, cases] if cases.parse() == Ok(CASES) => {
                checked.insert(format!("{mode} {tier}"));
            }
            ["count", cipher, tier, form, bytes, instructions] => counts.push(Count {
                hash: (*cipher).to_owned(),
                tier: (*tier).to_owned(),
                form: (*form).to_owned(),
                bytes: bytes.parse()?,
                instructions: instructions.parse()?,
                cycles: None,
            }),
            ["cipher", _, _, "absent"] | ["bench:", "done"] | [""] => {}
            // Anything else is a fault, such as a difference or a wrong known answer.
            _ => faults.push(line.to_owned()),
        }
    }
    let portable = CipherMode::ALL.into_iter().map(|mode| (mode, CipherTier::Portable));
    let expected: BTreeSet<_> = portable
        .chain(kernels.iter().copied())
        .map(|(mode, tier)| format!("{} {}", mode.name(), tier.name()))
        .collect();
    for kernel in expected.symmetric_difference(&working) {
        faults.push(match expected.contains(kernel) {
            true => format!("{kernel} does not work"),
            false => format!("{kernel} works, without its extension"),
        });
    }
    let unchecked = working.difference(&checked);
    faults.extend(unchecked.map(|kernel| format!("{kernel} was not checked")));
    Ok((counts, faults))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a hart with Zvkned prints.
    fn console() -> String {
        let of = |kernel: &str| format!("cipher {kernel} works\nchecked {kernel} {CASES}\n");
        ["aes-ctr portable", "aes-gcm portable", "aes-ctr zvkned"].map(of).concat()
            + "cipher aes-gcm zvkg absent\ncount aes-ctr-256 zvkned one 100 37\nbench: done\n"
    }

    #[test]
    fn every_hart_has_a_name_that_the_emulator_knows() {
        let named: BTreeSet<_> = HARTS.iter().map(|(name, _)| *name).collect();
        assert!(named.iter().all(|name| bare::Hart::find(name).is_some()));
        assert!(bare::CIPHER_HARTS.iter().all(|hart| named.contains(hart.name)));
        assert!(BOUNDS.iter().all(|(hart, ..)| named.contains(hart)));
    }

    #[test]
    fn a_difference_a_missing_kernel_and_a_slow_one_are_faults() {
        let faults = |console: &str| read("zvkned-128", &[ZVKNED], console).unwrap().1;
        let right = console();
        assert_eq!(faults(&right), [""; 0]);
        assert_eq!(faults(&right.replace("100 37", "100 38")).len(), 1);
        assert_eq!(faults(&right.replace("count aes-ctr-256", "count aes-ctr-128")).len(), 1);
        for kernel in ["aes-ctr zvkned", "aes-gcm portable"] {
            let absent = right.replace(&format!("cipher {kernel} works"), "");
            assert_eq!(faults(&absent), [format!("{kernel} does not work")]);
            let unchecked = right.replace(&format!("checked {kernel}"), "checked of another");
            assert!(faults(&unchecked).contains(&format!("{kernel} was not checked")));
        }
        let more = right.replace("zvkg absent", "zvkg works");
        assert!(faults(&more).contains(&"aes-gcm zvkg works, without its extension".to_owned()));
        let wrong =
            right.replace("bench: done", "wrong aes-ctr zvkned counter key 256 bytes 1 wrap 0");
        assert_eq!(faults(&wrong).len(), 1);
        assert_eq!(faults(&right.replace("zvkg absent", "zvkg wrong")).len(), 1);
    }
}
