//! Requests with keys on the root of trust without a host. The program `verif/programs/rot-crypto` with the feature
//! `keys` lets the code of the ROM serve them, and compares the results with those that software of the workstation
//! computed.

use std::fs;

use anyhow::{Context, Result, ensure};
use hartlock_drivers::mailbox::request::{Operation, Refusal};
use hartlock_testkit::leaks::Leaks;
use hartlock_testkit::signers::RSA_PKCS1_2048;
use sha2::{Digest, Sha256};

use super::End;
use super::ciphertexts::seal;
use super::rot::{self, Rot};
use super::rot_keys::{AES_HEADER, IV, KEY, MODULUS_LEN, MORE, private_key, wrap};
use super::scratchpads::{Scratchpads, WIPE};
use super::signatures::CASES;
use xtask::firmware;

/// The key of the slot.
const SLOT: [u8; 32] = *b"a fake key that wraps, for tests";
const MESSAGE: &[u8] = b"what is signed";
/// A text of two blocks and a part of a third.
const TEXT: &[u8] = b"a text of two blocks and a part of a third";
/// The address of the first result. Each result has a place of its own.
const RESULTS: u32 = 0x8180_0000;
const RESULT_STEP: usize = 0x1000;
/// A limit far above the cycles of the program.
const MAX_CYCLES: &str = "20000000";
/// Handles of the first import and of the second (`device/keystore/src/keys.rs`).
const SECRET: u32 = 0x101;
const PRIVATE: u32 = 0x202;
/// The maximum number of cycles of a signature by RSA-2048, with blinding, check and wipes.
const MOST_TO_SIGN: u64 = 1_600_000;

/// A request, and its expected answer.
struct Request {
    name: &'static str,
    operation: Operation,
    record: Vec<u8>,
    result: Vec<u8>,
    /// The answer: a handle, or the length of the result in bytes.
    word: u32,
    /// The reason of a refusal, if there is one: on a device with noise, and without.
    refusals: [Option<Refusal>; 2],
}

impl Request {
    const fn refusal(&self, lacks: MissingPart) -> Option<Refusal> {
        let [with_noise, without] = self.refusals;
        match lacks {
            MissingPart::Nothing => with_noise,
            MissingPart::Noise => without,
            MissingPart::Engine => Some(Refusal::NoKeys),
        }
    }

    /// Sets another refusal for a device without noise.
    fn without_noise(self, refusal: Refusal) -> Self {
        let [with_noise, _] = self.refusals;
        Self { refusals: [with_noise, Some(refusal)], ..self }
    }

    /// Marks a request that uses the private key, which is not imported on a device without noise.
    fn by_private_key(self) -> Self {
        self.without_noise(Refusal::UnknownHandle)
    }

    /// Returns the expected line of the program, without number and cycles.
    fn answer(&self, lacks: MissingPart) -> String {
        match self.refusal(lacks) {
            None => format!("{} right", self.word),
            Some(refusal) => format!("0 {refusal:?}"),
        }
    }
}

/// Returns a request that is served.
fn served_request(
    name: &'static str,
    operation: Operation,
    record: &[&[u8]],
    (word, result): (u32, &[u8]),
) -> Request {
    let record = record.concat();
    Request { name, operation, record, result: result.to_vec(), word, refusals: [None; 2] }
}

/// Returns a request that is refused.
fn refused_request(
    name: &'static str,
    operation: Operation,
    record: &[&[u8]],
    refusal: Refusal,
) -> Request {
    let request = served_request(name, operation, record, (0, &[]));
    Request { refusals: [Some(refusal); 2], ..request }
}

/// A part that a root of trust lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingPart {
    Nothing,
    /// The noise source always delivers the same number.
    Noise,
    /// The engine for big numbers is absent.
    Engine,
}

impl MissingPart {
    /// All variants, which are tried one after the other.
    pub const ALL: [MissingPart; 3] =
        [MissingPart::Nothing, MissingPart::Noise, MissingPart::Engine];

    /// Returns the options of the machine.
    const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::Noise => &["--noise-stuck"],
            Self::Engine => &["--upset-result", "bignum-absent"],
        }
    }
}

/// The name of a request, its cycles as the processor of the root of trust counts them, and its refusal, if there is
/// one.
pub type MeasuredRequest = (&'static str, u64, Option<Refusal>);

/// Runs the program, which has all requests served, and checks the answers.
///
/// # Errors
/// If a result or a refusal differs, a refusal has written something, a signature takes too long, the stack is not
/// wiped after an import, a secret is left at the end, or the program fails.
pub fn measure(rot: Rot, lacks: MissingPart) -> Result<Vec<MeasuredRequest>> {
    let requests = requests()?;
    let program = firmware::rot_program("rot-crypto", &["keys"])?;
    let folder = rot::folder(rot).join("crypto-keys");
    fs::create_dir_all(&folder)?;
    let file = folder.join("requests.bin");
    fs::write(&file, encode(&requests))?;
    let load = format!("{}@{CASES:#x}", file.display());
    let [before, after] = WIPE;
    let saved = Scratchpads::at([before, after, "rot_keys_served"], &fs::read(&program)?, &folder)?;
    let options = ["--max-cycles", MAX_CYCLES, "--load", &load];
    let options = [&options[..], &saved.options(), lacks.options()].concat();
    let (console, _, end) = rot::run_program(&rot::machine(rot)?, &program, &folder, &options)?;
    ensure!(end == End::Success, "the program ended in {end:?}\n{console}");
    let [before, after, end] = saved.read()?;
    ensure!(saved.depth(&after) < saved.depth(&before), "the stack is not wiped after an import");
    // The imported key must be found here; otherwise the search at the end would show nothing.
    let mut imported = Leaks::default();
    imported.add("key", &KEY);
    let is_found = !imported.found_in(&after).is_empty();
    ensure!(lacks == MissingPart::Engine || is_found, "no key after its import");
    let found = secrets()?.found_in(&end);
    ensure!(found.is_empty(), "left when all keys are released: {found:?}");
    judge(&requests, lacks, &console)
}

/// Returns the bytes that must be found nowhere at the end: keys, texts, and the digest of the signed message.
fn secrets() -> Result<Leaks> {
    let mut secrets = Leaks::default();
    secrets.add("key", &KEY);
    secrets.add("private key", &private_key()?.1.split_off(AES_HEADER.len() + MODULUS_LEN));
    secrets.add("text", TEXT);
    secrets.add("digest", &Sha256::digest(MESSAGE));
    Ok(secrets)
}

fn judge(requests: &[Request], lacks: MissingPart, console: &str) -> Result<Vec<MeasuredRequest>> {
    let lines: Vec<_> = console.lines().collect();
    ensure!(lines.len() == requests.len(), "not a line for each request:\n{console}");
    let judged = requests.iter().zip(lines).enumerate().map(|(number, (request, line))| {
        let cycles = line.split(' ').nth(2).unwrap_or_default();
        ensure!(
            line == format!("key {number} {cycles} {}", request.answer(lacks)),
            "{}, which lacks {lacks:?}: {line}",
            request.name
        );
        let cycles = cycles.parse().with_context(|| format!("no number: {line}"))?;
        let is_slow = request.operation == Operation::Sign && cycles > MOST_TO_SIGN;
        ensure!(!is_slow, "{} takes {cycles} cycles, more than {MOST_TO_SIGN}", request.name);
        Ok((request.name, cycles, request.refusal(lacks)))
    });
    judged.collect()
}

fn encode(requests: &[Request]) -> Vec<u8> {
    let mut bytes = SLOT.to_vec();
    bytes.extend((requests.len() as u32).to_le_bytes());
    let destinations = (RESULTS..).step_by(RESULT_STEP);
    for (Request { operation, record, result, .. }, destination) in
        requests.iter().zip(destinations)
    {
        use Operation::{Decrypt, Encrypt, Sign};
        let has_result = matches!(operation, Encrypt | Decrypt | Sign);
        let destination = if has_result { destination } else { 0 };
        let words = [*operation as u32, record.len() as u32, destination, result.len() as u32];
        bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
        for part in [record, result] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
    }
    bytes
}

/// Returns a request of each operation, and requests with changed inputs and the refusals that they must get.
fn requests() -> Result<Vec<Request>> {
    use Operation::{Decrypt, Encrypt, ImportKey, ReleaseKey, Sign, Verify};
    use Refusal::{Failed, KeyNotAuthentic, KeyUse, SignatureNotAuthentic};
    let secret = wrap(&SLOT, &[&AES_HEADER[..], &KEY].concat())?;
    let private = wrap(&SLOT, &private_key()?.1)?;
    let sealed = seal(&KEY, IV, MORE, TEXT);
    let digest = Sha256::digest(MESSAGE);
    let signature = RSA_PKCS1_2048.sign(MESSAGE);
    let key = PRIVATE.to_le_bytes();
    let mut gcm = [&SECRET.to_le_bytes()[..], &[1, 0, MORE.len() as u8, 0], IV].concat();
    gcm.resize(24, 0);
    let flipped = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    let len = |bytes: &[u8]| bytes.len() as u32;
    Ok(vec![
        served_request("import-aes-256", ImportKey, &[&secret], (SECRET, &[])),
        served_request("import-rsa-2048", ImportKey, &[&private], (PRIVATE, &[]))
            .without_noise(Failed),
        served_request("encrypt-gcm", Encrypt, &[&gcm, MORE, TEXT], (len(&sealed), &sealed)),
        served_request("decrypt-gcm", Decrypt, &[&gcm, MORE, &sealed], (len(TEXT), TEXT)),
        served_request("sign", Sign, &[&key, &digest], (len(&signature), &signature))
            .by_private_key(),
        served_request("verify", Verify, &[&key, &digest, &signature], (0, &[])).by_private_key(),
        refused_request(
            "verify-changed",
            Verify,
            &[&key, &digest, &flipped(&signature, 100)],
            SignatureNotAuthentic,
        )
        .by_private_key(),
        refused_request(
            "decrypt-changed",
            Decrypt,
            &[&gcm, MORE, &flipped(&sealed, 20)],
            Refusal::TextNotAuthentic,
        ),
        refused_request("import-changed", ImportKey, &[&flipped(&private, 700)], KeyNotAuthentic)
            .without_noise(Failed),
        refused_request("sign-by-aes-256", Sign, &[&SECRET.to_le_bytes(), &digest], KeyUse),
        served_request("release-aes-256", ReleaseKey, &[&SECRET.to_le_bytes()], (0, &[])),
        served_request("release-rsa-2048", ReleaseKey, &[&key], (0, &[])).by_private_key(),
        refused_request("encrypt-released", Encrypt, &[&gcm, MORE, TEXT], Refusal::UnknownHandle),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn console(lacks: MissingPart) -> String {
        let mut lines = String::new();
        for (number, request) in requests().unwrap().iter().enumerate() {
            lines += &format!("key {number} 1{number} {}\n", request.answer(lacks));
        }
        lines
    }

    #[test]
    fn judges_each_request() {
        let requests = requests().unwrap();
        let signed = [None, Some(Refusal::UnknownHandle), Some(Refusal::NoKeys)];
        for (lacks, refusal) in MissingPart::ALL.into_iter().zip(signed) {
            let judged = judge(&requests, lacks, &console(lacks)).unwrap();
            assert_eq!(judged.len(), requests.len());
            assert_eq!((judged[4].0, judged[4].2), ("sign", refusal));
            for other in MissingPart::ALL.into_iter().filter(|other| *other != lacks) {
                assert!(judge(&requests, other, &console(lacks)).is_err());
            }
        }
        for (from, to) in [
            ("right", "wrong"),
            ("257", "258"),
            ("KeyUse", "right"),
            ("key 3", "key 2"),
            ("14 256", "1600001 256"),
        ] {
            let changed = console(MissingPart::Nothing).replacen(from, to, 1);
            assert!(judge(&requests, MissingPart::Nothing, &changed).is_err(), "{from}");
        }
        assert!(
            judge(&requests[1..], MissingPart::Nothing, &console(MissingPart::Nothing)).is_err()
        );
    }
}
