//! Verifies signatures of RSA and ECDSA with the engine for big numbers and with our software, on the root of trust and
//! on a host. Cycles are measured, and verdicts have to be those of this workstation.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_image::Algorithm;
use hartlock_kat::numbers::{HEAD_LEN, NumberCaseHead};
use hartlock_kernels::Kernels;
use hartlock_kernels::signature::Rejection;
use hartlock_testkit::signers::{
    ECDSA_P256, ECDSA_P384, RSA_PKCS1_2048, RSA_PSS_3072_SHA256, Signer,
};
use sha2::{Digest, Sha256};

use super::End;
use super::kept;
use super::model::{self, Core};
use super::rot::{self, Rot};
use super::signatures::CASES;
use xtask::{firmware, project};

/// A limit above the cycles for all vectors.
const MAX_CYCLES: &str = "4000000000";

/// A kind of signature, and the fake key that makes it.
pub struct BignumSignatureKind {
    pub name: &'static str,
    signer: &'static Signer,
}

/// All kinds that are measured.
pub static KINDS: [BignumSignatureKind; 4] = [
    BignumSignatureKind { name: "RSA-PKCS1-2048-SHA256", signer: &RSA_PKCS1_2048 },
    BignumSignatureKind { name: "RSA-PSS-3072-SHA256", signer: &RSA_PSS_3072_SHA256 },
    BignumSignatureKind { name: "ECDSA-P256-SHA256", signer: &ECDSA_P256 },
    BignumSignatureKind { name: "ECDSA-P384-SHA384", signer: &ECDSA_P384 },
];

impl BignumSignatureKind {
    /// Returns a signature and the same with a flipped bit. The message is short, so that its hash takes few of the
    /// cycles.
    fn cases(&self) -> [BignumCase; 2] {
        let message = Sha256::digest(format!("message for {}", self.name)).to_vec();
        let signature = self.signer.sign(&message);
        let mut changed = signature.clone();
        if let Some(last) = changed.last_mut() {
            *last ^= 1;
        }
        [signature, changed].map(|signature| BignumCase {
            algorithm: self.signer.algorithm(),
            key: self.signer.public_key(),
            message: message.clone(),
            signature,
        })
    }
}

/// The verifier. Hashes are computed by software in both cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BignumVerifier {
    /// Software that uses the engine for big numbers.
    Engine,
    Software,
}

impl BignumVerifier {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Software => "software",
        }
    }

    /// Returns the number of cases of each kind.
    const fn cases(self) -> usize {
        match self {
            Self::Engine => 2,
            Self::Software => 1,
        }
    }

    fn cycles(self, cycles: &[u64]) -> Vec<BignumCycles> {
        let kinds = cycles.chunks_exact(self.cases());
        kinds.map(|kind| BignumCycles { genuine: kind[0], flipped: kind.get(1).copied() }).collect()
    }

    const fn features(self) -> &'static [&'static str] {
        match self {
            Self::Engine => &["vectors"],
            Self::Software => &["software"],
        }
    }
}

/// The cycles of a kind, from the call of the verifier to its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BignumCycles {
    /// The cycles of a signature that is accepted.
    pub genuine: u64,
    /// The cycles of the same signature with a flipped bit, which is refused. In software this is not run, because it
    /// takes long.
    pub flipped: Option<u64>,
}

/// A case in the form that a program reads (`host/kat/src/numbers.rs`).
#[derive(Clone)]
pub(super) struct BignumCase {
    pub algorithm: Algorithm,
    pub key: Vec<u8>,
    pub message: Vec<u8>,
    pub signature: Vec<u8>,
}

impl BignumCase {
    fn encode(&self) -> Vec<u8> {
        let (algorithm, parameters) = self.algorithm.numbers();
        let parts = [&self.key, &self.message, &self.signature];
        let lengths = parts.map(|part| part.len() as u32);
        let mut bytes: Vec<u8> = [algorithm, parameters]
            .into_iter()
            .chain(lengths)
            .chain([0])
            .flat_map(u32::to_le_bytes)
            .collect();
        for part in parts {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        bytes
    }

    /// Returns the verdict of software.
    pub fn verdict(&self) -> Result<(), Rejection> {
        let bytes = self.encode();
        let (head, body) = bytes.split_first_chunk::<HEAD_LEN>().expect("a head");
        NumberCaseHead::decode(head).expect("an algorithm").verify(&Kernels::PORTABLE, body)
    }
}

/// Verifies a signature of each of these kinds once on the root of trust, and with the engine also the flipped one.
///
/// # Errors
/// If a verdict is wrong, or was not given by `by`.
pub fn measure(
    machine: Rot,
    by: BignumVerifier,
    kinds: &[BignumSignatureKind],
) -> Result<Vec<BignumCycles>> {
    let cycles = run_on(machine, by, "numbers", &cases(kinds, by)?)?;
    Ok(by.cycles(&cycles))
}

/// Does the same as [`measure`] in software on the first hart of a host, whose caches are empty at the start.
///
/// # Errors
/// Same as [`measure`].
pub fn measure_on_host(core: Core, kinds: &[BignumSignatureKind]) -> Result<Vec<BignumCycles>> {
    let program = firmware::stage("host-signatures", &["numbers"])?.elf;
    let folder = project::work_dir("hw").join(core.name).join("numbers");
    let by = BignumVerifier::Software;
    let cycles = run(&model::machine(core, false)?, &program, &folder, by, &cases(kinds, by)?)?;
    Ok(by.cycles(&cycles))
}

/// Returns the cases of each kind, after checking them: software of this workstation must accept the signature, and
/// must refuse the flipped one in its last comparison, after all other checks.
fn cases(kinds: &[BignumSignatureKind], by: BignumVerifier) -> Result<Vec<BignumCase>> {
    let mut all = Vec::new();
    for kind in kinds {
        let cases = kind.cases();
        let is_right =
            cases.each_ref().map(BignumCase::verdict) == [Ok(()), Err(Rejection::Mismatch)];
        ensure!(is_right, "a signature of the workstation does not fit: {}", kind.name);
        all.extend(cases.into_iter().take(by.cases()));
    }
    Ok(all)
}

/// Returns the cycles of cases on the root of trust. Each of them must get the verdict of software.
///
/// # Errors
/// Same as [`measure`].
pub(super) fn run_on(
    machine: Rot,
    by: BignumVerifier,
    folder: &str,
    cases: &[BignumCase],
) -> Result<Vec<u64>> {
    let program = firmware::rot_program("rot-crypto", by.features())?;
    run(&rot::machine(machine)?, &program, &rot::folder(machine).join(folder), by, cases)
}

fn run(
    machine: &Path,
    program: &Path,
    folder: &Path,
    by: BignumVerifier,
    cases: &[BignumCase],
) -> Result<Vec<u64>> {
    fs::create_dir_all(folder)?;
    let mut bytes = (cases.len() as u64).to_le_bytes().to_vec();
    bytes.extend(cases.iter().flat_map(BignumCase::encode));
    let file = folder.join("cases.bin");
    fs::write(&file, bytes)?;
    let load = format!("{}@{CASES:#x}", file.display());
    let options = ["--max-cycles", MAX_CYCLES, "--load", &load];
    let ran = || {
        let (console, _, end) = rot::run_program(machine, program, folder, &options)?;
        ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
        Ok(console)
    };
    let console = match by {
        BignumVerifier::Engine => ran()?,
        BignumVerifier::Software => kept::console(machine, &[program, &file], &[MAX_CYCLES], ran)?,
    };
    let verdicts: Vec<_> = cases.iter().map(BignumCase::verdict).collect();
    judge(&console, by, &verdicts)
}

/// Prints the cycles of a signature of each kind, by the engine on machines that have one, else in software.
///
/// # Errors
/// Same as [`measure`].
pub fn print_table(rots: &[Rot], cores: &[Core]) -> Result<()> {
    println!(
        "{:<22} {:<14} {:<10} {:>10} {:>10}",
        "signature", "machine", "by", "genuine", "flipped"
    );
    let print = |machine, by: BignumVerifier, cycles: Vec<BignumCycles>| {
        for (kind, BignumCycles { genuine, flipped }) in KINDS.iter().zip(cycles) {
            let flipped = flipped.map_or(String::new(), |cycles| cycles.to_string());
            println!(
                "{:<22} {machine:<14} {:<10} {genuine:>10} {flipped:>10}",
                kind.name,
                by.name()
            );
        }
    };
    for &rot in rots {
        // A machine without the engine has the same processor and memory, and is simulated faster.
        let by = if rot.has_bignum() { BignumVerifier::Engine } else { BignumVerifier::Software };
        print(rot.name, by, measure(rot, by, &KINDS)?);
    }
    for &core in cores {
        print(core.name, BignumVerifier::Software, measure_on_host(core, &KINDS)?);
    }
    println!(
        "cycles of the processor from the call of the verifier to its verdict, hashes by software"
    );
    Ok(())
}

/// Reads a line `sig <number> <cycles> <answers of the engine> <verdict>` for each case, and returns the cycles.
fn judge(
    console: &str,
    by: BignumVerifier,
    verdicts: &[Result<(), Rejection>],
) -> Result<Vec<u64>> {
    let lines: Vec<&str> = console.lines().filter(|line| line.starts_with("sig ")).collect();
    ensure!(lines.len() == verdicts.len(), "{} verdicts of {}", lines.len(), verdicts.len());
    let mut all = Vec::new();
    for (number, (line, verdict)) in lines.iter().zip(verdicts).enumerate() {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let [_, number_said, cycles, given, said] = words[..] else {
            anyhow::bail!("the program printed {line:?}")
        };
        ensure!(number_said == number.to_string(), "the order of cases: {line:?}");
        ensure!(said == format!("{verdict:?}"), "software says {verdict:?}: {line}");
        // A malformed key or signature is refused before the engine is used.
        let is_asked =
            by == BignumVerifier::Engine && matches!(verdict, Ok(()) | Err(Rejection::Mismatch));
        ensure!(given == u8::from(is_asked).to_string(), "answers of the engine: {line}");
        all.push(cycles.parse().with_context(|| format!("no cycles: {line}"))?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_that_is_wrong_or_missing_is_noticed() {
        let verdicts = [Ok(()), Err(Rejection::Mismatch), Err(Rejection::SignatureLength)];
        let good = "sig 0 70 1 Ok(())\nsig 1 7 1 Err(Mismatch)\nsig 2 7 0 Err(SignatureLength)\n";
        let judged = |console: &str| judge(console, BignumVerifier::Engine, &verdicts);
        assert_eq!(judged(good).unwrap(), [70, 7, 7]);
        let without = good.replace(" 1 ", " 0 ").replace("sig 0 7 0", "sig 1 7 0");
        assert_eq!(judge(&without, BignumVerifier::Software, &verdicts).unwrap(), [70, 7, 7]);
        assert!(judged(&without).is_err(), "not by the engine");
        assert!(judge(good, BignumVerifier::Software, &verdicts).is_err(), "by the engine");
        for (from, to) in [
            ("1 Ok(())", "0 Ok(())"),
            ("1 Err(Mismatch)", "1 Ok(())"),
            ("Err(SignatureLength)", "Err(InvalidKey)"),
            ("sig 2 7 0", "sig 2 7 1"),
            ("sig 1", "sig 3"),
            (" 70 ", " many "),
        ] {
            assert!(judged(&good.replace(from, to)).is_err(), "{from}");
        }
        assert!(judge(good, BignumVerifier::Engine, &verdicts[..2]).is_err());
    }

    #[test]
    fn a_case_has_its_form() {
        let algorithm = Algorithm::from_name("ecdsa-p256").unwrap();
        let case = BignumCase {
            algorithm,
            key: vec![4; 65],
            message: vec![1, 2, 3],
            signature: vec![0; 63],
        };
        assert_eq!(case.encode().len(), HEAD_LEN + 72 + 8 + 64);
        assert_eq!(case.verdict(), Err(Rejection::InvalidKey));
    }

    #[test]
    fn a_signature_of_each_kind_fits_and_its_flipped_one_does_not() {
        for kind in &KINDS {
            let [genuine, flipped] = kind.cases();
            assert_eq!(genuine.verdict(), Ok(()), "{}", kind.name);
            assert_eq!(flipped.verdict(), Err(Rejection::Mismatch), "{}", kind.name);
            assert_eq!(genuine.encode(), kind.cases()[0].encode(), "the same every time");
            assert_eq!(genuine.message.len(), 32);
        }
    }
}
