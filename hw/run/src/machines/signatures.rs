//! Hash-based signatures on the root of trust (`firmware/tests/rot-signatures`): roots are judged here.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_kat::roots::Scheme;
use hartlock_kernels::signature::{Comparison, Rejection};
use hartlock_kernels::{Kernels, lms, slh_dsa, xmss};
use hartlock_testkit::signed;

use super::End;
use super::model::{self, Core};
use super::rot::{self, Rot};
use xtask::{firmware, project};

/// Where the programs look for their cases (`crates/kat/src/roots.rs`).
const CASES: u64 = 0x8100_0000;
/// More than a signature takes that is verified in software.
const MAX_CYCLES: &str = "400000000";

/// A kind of signature, and who makes it.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    scheme: Scheme,
    /// By its name in the image format (§2.2).
    algorithm: &'static str,
}

/// All that are measured.
pub static KINDS: [Kind; 3] = [
    Kind { name: "XMSS-SHA2_10_256", scheme: Scheme::Xmss, algorithm: "xmss-sha2-10-256" },
    Kind { name: "LMS H10/W4", scheme: Scheme::Lms, algorithm: "lms-sha256-h10-w4" },
    Kind {
        name: "SLH-DSA-SHA2-128s",
        scheme: Scheme::SlhDsaSha2_128s,
        algorithm: "slh-dsa-sha2-128s",
    },
];

/// What computes roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The engine for hash-based signatures, as the ROM feeds it.
    Engine,
    /// The same fed by the core.
    Pushed,
    /// Software, with the engine for SHA-256.
    Sha256Engine,
    /// Software alone.
    Software,
}

impl By {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Pushed => "engine, fed by the core",
            Self::Sha256Engine => "software, SHA-256 engine",
            Self::Software => "software",
        }
    }

    const fn features(self) -> &'static [&'static str] {
        match self {
            Self::Engine => &["engine"],
            Self::Pushed => &["pushed"],
            Self::Sha256Engine => &[],
            Self::Software => &["software"],
        }
    }

    /// Whether it has kinds of this scheme.
    fn has(self, scheme: Scheme) -> bool {
        !matches!(self, Self::Engine | Self::Pushed) || scheme == Scheme::Xmss
    }
}

pub(super) struct Case {
    pub scheme: Scheme,
    pub key: Vec<u8>,
    pub message: Vec<u8>,
    pub signature: Vec<u8>,
}

impl Case {
    /// Signatures of a kind: the same every time.
    fn several(kind: &Kind, count: usize) -> Result<Vec<Self>> {
        // One level of HSS is a tree of LMS with counts in front (RFC 8554 §6.1, §6.2).
        let skipped = if kind.scheme == Scheme::Lms { 4 } else { 0 };
        let cases = signed::several(kind.algorithm, count)?.into_iter().map(|it| Self {
            scheme: kind.scheme,
            key: it.key[skipped..].to_vec(),
            message: it.message,
            signature: it.signature[skipped..].to_vec(),
        });
        Ok(cases.collect())
    }

    fn encode(&self) -> Vec<u8> {
        let parts = [&self.key, &self.message, &self.signature];
        let mut bytes = (self.scheme as u32).to_le_bytes().to_vec();
        bytes.extend(parts.iter().flat_map(|part| (part.len() as u32).to_le_bytes()));
        for part in parts {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        bytes
    }

    /// What software makes of it: the root that it leads to, or why there is none.
    fn computed(&self) -> Result<Vec<u8>, Rejection> {
        let (compared, len) = self.compare();
        compared.map(|compared| compared.computed[..len].to_vec())
    }

    /// Whether the signature is valid.
    pub(super) fn is_valid(&self) -> bool {
        self.compare().0.is_ok_and(|compared| compared.check().is_ok())
    }

    fn compare(&self) -> (Result<Comparison, Rejection>, usize) {
        let Self { scheme, key, message, signature } = self;
        let kernels = &Kernels::PORTABLE;
        match scheme {
            Scheme::Xmss | Scheme::XmssMt => {
                let (scheme, sets) = (xmss::Scheme::Xmss, xmss::Sets::Approved);
                (xmss::compare(kernels, scheme, sets, key, &[message], signature), 32)
            }
            Scheme::Lms => (lms::compare(kernels, key, &[message], signature), 32),
            Scheme::SlhDsaSha2_128s => {
                let message = slh_dsa::Message::Pure { context: &[], message };
                let set = slh_dsa::SlhDsaSet::Sha2_128s;
                (slh_dsa::compare(kernels, set, key, message, signature), 16)
            }
        }
    }
}

/// Cycles of each of `count` signatures of a kind, as the processor of the root of trust counts them.
///
/// # Errors
/// If a root is wrong, or the program fails.
pub fn measure(rot: Rot, kind: &Kind, by: By, count: usize) -> Result<Vec<u64>> {
    let cases = Case::several(kind, count)?;
    ensure!(cases.iter().all(Case::is_valid), "a signature of the workstation does not fit");
    run_on(rot, by, &cases)
}

/// Cycles of cases, each of which has to give what software gives.
///
/// # Errors
/// As [`measure`].
pub(super) fn run_on(rot: Rot, by: By, cases: &[Case]) -> Result<Vec<u64>> {
    let program = firmware::rot_program("rot-signatures", by.features())?;
    run(&rot::machine(rot)?, &program, &rot::folder(rot), cases)
}

/// The same in software on the first hart of a host, with warm caches.
///
/// # Errors
/// As above.
pub fn measure_on_host(core: Core, kind: &Kind, count: usize) -> Result<Vec<u64>> {
    let program = firmware::stage("host-signatures", &[])?.elf;
    run(
        &model::machine(core, false)?,
        &program,
        &project::work_dir("hw").join(core.name),
        &Case::several(kind, count)?,
    )
}

fn run(machine: &Path, program: &Path, folder: &Path, cases: &[Case]) -> Result<Vec<u64>> {
    let folder = folder.join("signatures");
    fs::create_dir_all(&folder)?;
    let mut bytes = (cases.len() as u64).to_le_bytes().to_vec();
    bytes.extend(cases.iter().flat_map(Case::encode));
    let file = folder.join("cases.bin");
    fs::write(&file, bytes)?;
    let load = format!("{}@{CASES:#x}", file.display());
    let options = ["--max-cycles", MAX_CYCLES, "--load", &load];
    let (console, _, end) = rot::run_program(machine, program, &folder, &options)?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    judge(&console, cases)
}

/// A signature of each kind on these machines.
///
/// # Errors
/// As [`measure`].
pub fn print_table(rots: &[Rot], cores: &[Core]) -> Result<()> {
    println!("{:<18} {:<14} {:<26} {:>10}", "signature", "machine", "root by", "cycles");
    let line = |kind: &Kind, machine, by, cycles: Vec<u64>| {
        for cycles in cycles {
            println!("{:<18} {machine:<14} {by:<26} {cycles:>10}", kind.name);
        }
    };
    for kind in &KINDS {
        for &rot in rots {
            for by in [By::Engine, By::Pushed, By::Sha256Engine, By::Software] {
                if by.has(kind.scheme) {
                    line(kind, rot.name, by.name(), measure(rot, kind, by, 1)?);
                }
            }
        }
        for &core in cores {
            line(kind, core.name, By::Software.name(), measure_on_host(core, kind, 1)?);
        }
    }
    println!("cycles of the processor from the call of the verifier to the root");
    Ok(())
}

/// `sig <number> <cycles> <root>` for each case.
fn judge(console: &str, cases: &[Case]) -> Result<Vec<u64>> {
    let lines: Vec<&str> = console.lines().filter(|line| line.starts_with("sig ")).collect();
    ensure!(lines.len() == cases.len(), "{} roots of {}", lines.len(), cases.len());
    let rows = lines.iter().zip(cases).enumerate().map(|(number, (line, case))| {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, number_said, cycles, root] = words[..] else {
            anyhow::bail!("the program printed {line:?}")
        };
        ensure!(number_said == number.to_string(), "the order of cases: {line:?}");
        let expected = match case.computed() {
            Ok(root) => hexadecimal(&root),
            Err(rejection) => format!("{rejection:?}"),
        };
        ensure!(root == expected, "a root is wrong: {line}");
        cycles.parse().with_context(|| format!("cycles of {line:?}"))
    });
    rows.collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_that_is_wrong_or_missing_is_noticed() {
        let cases = Case::several(&KINDS[1], 2).unwrap();
        let line = |number: usize| {
            let root = hexadecimal(&cases[number].computed().unwrap());
            format!("sig {number} 70{number} {root}\n")
        };
        assert_eq!(judge(&[line(0), line(1)].concat(), &cases).unwrap(), [700, 701]);
        assert!(judge(&line(0), &cases).is_err());
        assert!(judge(&[line(1), line(0)].concat(), &cases).is_err());
        let of_other_length =
            [Case { signature: vec![0; 9], ..Case::several(&KINDS[1], 1).unwrap().remove(0) }];
        assert_eq!(judge("sig 0 70 SignatureLength\n", &of_other_length).unwrap(), [70]);
        assert!(judge("sig 0 70 IndexOutOfRange\n", &of_other_length).is_err());
        let wrong = line(1).replace(" 701 ", " 701 0");
        assert!(judge(&[line(0), wrong].concat(), &cases).is_err());
    }
}
