//! Runs hash-based signatures on the root of trust (`verif/programs/rot-signatures`). The roots are checked here.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_kat::roots::{self, RootCaseHead, Scheme};
use hartlock_kernels::Kernels;
use hartlock_kernels::signature::{Comparison, Rejection};
use hartlock_testkit::signed;

use super::End;
use super::model::{self, Core};
use super::rot::{self, Rot};
use xtask::{firmware, project};

/// The address at which the programs read their cases (`host/kat/src/roots.rs`).
pub(super) const CASES: u64 = 0x8100_0000;
/// A limit above the cycles of a signature that is verified in software.
const MAX_CYCLES: &str = "400000000";

/// A kind of signature, and the algorithm that signs.
#[derive(Clone, Copy)]
pub struct HashSignatureKind {
    pub name: &'static str,
    scheme: Scheme,
    /// The name in the image format (§2.2).
    algorithm: &'static str,
}

/// All kinds that are measured.
pub static KINDS: [HashSignatureKind; 3] = [
    HashSignatureKind {
        name: "XMSS-SHA2_10_256",
        scheme: Scheme::Xmss,
        algorithm: "xmss-sha2-10-256",
    },
    HashSignatureKind { name: "LMS H10/W4", scheme: Scheme::Lms, algorithm: "lms-sha256-h10-w4" },
    HashSignatureKind {
        name: "SLH-DSA-SHA2-128s",
        scheme: Scheme::SlhDsaSha2_128s,
        algorithm: "slh-dsa-sha2-128s",
    },
];

/// The unit that computes roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootUnit {
    /// The engine for hash-based signatures, fed as the ROM feeds it.
    Engine,
    /// The same engine, fed by the core.
    Pushed,
    /// Software, with the engine for SHA-256.
    Sha256Engine,
    /// Only software.
    Software,
}

impl RootUnit {
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

    const fn is_engine(self) -> bool {
        matches!(self, Self::Engine | Self::Pushed)
    }
}

/// A case in the form that a program reads (`host/kat/src/roots.rs`).
pub(super) struct RootCase {
    pub scheme: Scheme,
    pub key: Vec<u8>,
    /// The message, which for SLH-DSA is encoded.
    pub message: Vec<u8>,
    pub signature: Vec<u8>,
}

impl RootCase {
    /// Returns signatures of a kind, which are the same every time.
    fn several(kind: &HashSignatureKind, count: usize) -> Result<Vec<Self>> {
        // HSS with one level is a tree of LMS with counts before key and signature (RFC 8554 §6.1, §6.2).
        let skipped = if kind.scheme == Scheme::Lms { 4 } else { 0 };
        // This is the prefix of a message without a context (FIPS 205 §10.2).
        let prefix: &[u8] = if kind.scheme == Scheme::SlhDsaSha2_128s { &[0, 0] } else { &[] };
        let cases = signed::several(kind.algorithm, count)?.into_iter().map(|it| Self {
            scheme: kind.scheme,
            key: it.key[skipped..].to_vec(),
            message: [prefix, &it.message].concat(),
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

    /// Returns the root that software computes from the signature, or the reason why there is none.
    fn computed(&self) -> Result<Vec<u8>, Rejection> {
        self.with(|case| Ok(case.compare(&Kernels::PORTABLE)?.computed[..case.root_len()].to_vec()))
    }

    /// Returns true if the signature is valid.
    pub(super) fn is_valid(&self) -> bool {
        let compared = |case: roots::RootCase<'_>| case.compare(&Kernels::PORTABLE);
        self.with(compared).as_ref().is_ok_and(|compared: &Comparison| compared.check().is_ok())
    }

    /// Returns the number of roots that a verifier computes, if it does not refuse before the last one.
    fn trees(&self) -> u32 {
        self.with(|case| case.trees())
    }

    /// Calls `action` with the case as a program decodes it.
    fn with<T>(&self, action: impl FnOnce(roots::RootCase<'_>) -> T) -> T {
        let bytes = self.encode();
        let (head, body) = bytes.split_first_chunk().expect("a head");
        let head = RootCaseHead::decode(head).expect("a scheme");
        action(head.case(body).expect("as many bytes as the head says"))
    }
}

/// Returns the cycles of each of `count` signatures of a kind, as the processor of the root of trust counts them.
///
/// # Errors
/// If a root is wrong, or the program fails.
pub fn measure(rot: Rot, kind: &HashSignatureKind, by: RootUnit, count: usize) -> Result<Vec<u64>> {
    let cases = RootCase::several(kind, count)?;
    ensure!(cases.iter().all(RootCase::is_valid), "a signature of the workstation does not fit");
    run_on(rot, by, &cases)
}

/// Returns the cycles of cases. Each has to give the same root as software.
///
/// # Errors
/// Same as [`measure`].
pub(super) fn run_on(rot: Rot, by: RootUnit, cases: &[RootCase]) -> Result<Vec<u64>> {
    let program = firmware::rot_program("rot-signatures", by.features())?;
    run(&rot::machine(rot)?, &program, &rot::folder(rot), by, cases)
}

/// Does the same as [`measure`] in software on the first hart of a host, with warm caches.
///
/// # Errors
/// Same as [`measure`].
pub fn measure_on_host(core: Core, kind: &HashSignatureKind, count: usize) -> Result<Vec<u64>> {
    let program = firmware::stage("host-signatures", &[])?.elf;
    run(
        &model::machine(core, false)?,
        &program,
        &project::work_dir("hw").join(core.name),
        RootUnit::Software,
        &RootCase::several(kind, count)?,
    )
}

fn run(
    machine: &Path,
    program: &Path,
    folder: &Path,
    by: RootUnit,
    cases: &[RootCase],
) -> Result<Vec<u64>> {
    let folder = folder.join("signatures");
    fs::create_dir_all(&folder)?;
    let mut bytes = (cases.len() as u64).to_le_bytes().to_vec();
    bytes.extend(cases.iter().flat_map(RootCase::encode));
    let file = folder.join("cases.bin");
    fs::write(&file, bytes)?;
    let load = format!("{}@{CASES:#x}", file.display());
    let options = ["--max-cycles", MAX_CYCLES, "--load", &load];
    let (console, _, end) = rot::run_program(machine, program, &folder, &options)?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    judge(&console, by, cases)
}

/// Prints the cycles of a signature of each kind on these machines.
///
/// # Errors
/// Same as [`measure`].
pub fn print_table(rots: &[Rot], cores: &[Core]) -> Result<()> {
    println!("{:<18} {:<14} {:<26} {:>10}", "signature", "machine", "root by", "cycles");
    let line = |kind: &HashSignatureKind, machine, by, cycles: Vec<u64>| {
        for cycles in cycles {
            println!("{:<18} {machine:<14} {by:<26} {cycles:>10}", kind.name);
        }
    };
    for kind in &KINDS {
        for &rot in rots {
            for by in
                [RootUnit::Engine, RootUnit::Pushed, RootUnit::Sha256Engine, RootUnit::Software]
            {
                line(kind, rot.name, by.name(), measure(rot, kind, by, 1)?);
            }
        }
        for &core in cores {
            line(kind, core.name, RootUnit::Software.name(), measure_on_host(core, kind, 1)?);
        }
    }
    println!("cycles of the processor from the call of the verifier to the root");
    Ok(())
}

/// Reads a line `sig <number> <cycles> <roots of the engine> <root>` for each case, and returns the cycles.
fn judge(console: &str, by: RootUnit, cases: &[RootCase]) -> Result<Vec<u64>> {
    let lines: Vec<&str> = console.lines().filter(|line| line.starts_with("sig ")).collect();
    ensure!(lines.len() == cases.len(), "{} roots of {}", lines.len(), cases.len());
    let rows = lines.iter().zip(cases).enumerate().map(|(number, (line, case))| {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, number_said, cycles, by_engine, root] = words[..] else {
            anyhow::bail!("the program printed {line:?}")
        };
        ensure!(number_said == number.to_string(), "the order of cases: {line:?}");
        let computed = case.computed();
        let expected = match &computed {
            Ok(root) => hexadecimal(root),
            Err(rejection) => format!("{rejection:?}"),
        };
        ensure!(root == expected, "a root is wrong: {line}");
        // If the engine gives up, software computes the same root.
        let trees = if by.is_engine() { case.trees() } else { 0 };
        ensure!(computed.is_err() || by_engine == trees.to_string(), "roots of the engine: {line}");
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
        let cases = RootCase::several(&KINDS[1], 2).unwrap();
        let line = |number: usize| {
            let root = hexadecimal(&cases[number].computed().unwrap());
            format!("sig {number} 70{number} 1 {root}\n")
        };
        let judged = |console: &str| judge(console, RootUnit::Engine, &cases);
        let good = [line(0), line(1)].concat();
        assert_eq!(judged(&good).unwrap(), [700, 701]);
        assert!(judge(&good, RootUnit::Software, &cases).is_err(), "by an engine");
        assert!(judged(&good.replace(" 701 1 ", " 701 0 ")).is_err(), "not by the engine");
        assert!(judged(&line(0)).is_err());
        assert!(judged(&[line(1), line(0)].concat()).is_err());
        assert!(judged(&good.replace(" 701 1 ", " 701 1 0")).is_err());
        let of_other_length = [RootCase {
            signature: vec![0; 9],
            ..RootCase::several(&KINDS[0], 1).unwrap().remove(0)
        }];
        let judged = |console: &str| judge(console, RootUnit::Engine, &of_other_length);
        assert_eq!(judged("sig 0 70 0 SignatureLength\n").unwrap(), [70]);
        assert!(judged("sig 0 70 0 IndexOutOfRange\n").is_err());
    }

    #[test]
    fn kinds_are_genuine_and_have_one_root() {
        for kind in &KINDS {
            let cases = RootCase::several(kind, 1).unwrap();
            assert!(cases[0].is_valid(), "{}", kind.name);
            assert_eq!(cases[0].trees(), 1, "{}", kind.name);
        }
    }
}
