//! Requests with keys that were wrapped for this device and are used by handle (`spec/requests.md`), with the feature
//! `keys`. The results of the engines are compared with those of software on the workstation, which are in memory
//! before the boot; software on this hart verifies signatures. Then each refusal is provoked.

use hartlock_drivers::mailbox::request::{INLINE, Operation, Refusal};
use hartlock_drivers::mailbox::{Answer, HostSide, Request};
use hartlock_kernels::Kernels;
use hartlock_kernels::rsa::{RsaPublicKey, pkcs1};
use hartlock_kernels::sha2::Sha256;
use hartlock_keystore::keys::MAX_FAILED_IMPORTS;
use hartlock_maps::hartlock_soc;

use crate::asking::{MISSING, Patience, ask, expect, listen, sha256};
use crate::closed;

/// Addresses of the inputs that the runner has written (`verif/machines/run/src/machines/rot_keys.rs`), of records, and of results.
const INPUTS: usize = hartlock_soc::RAM.start as usize + (20 << 20);
const RECORD: usize = hartlock_soc::RAM.start as usize + (21 << 20);
/// Address of results, which is odd.
const RESULT: usize = hartlock_soc::RAM.start as usize + (22 << 20) + 3;
/// Length in bytes of the longest record, and of the space for its result.
const LONGEST: usize = 4136;

/// Offsets and lengths of the inputs.
const SECRET_KEY: (usize, usize) = (0, 48);
const MALFORMED_KEY: (usize, usize) = (0x40, 48);
const COUNTER_KEY: (usize, usize) = (0x80, 48);
const MODULUS: (usize, usize) = (0x100, 256);
const PRIVATE_KEY: (usize, usize) = (0x200, 1424);
const GCM: (usize, usize) = (0x1000, TEXT_LEN + 16);
const CTR: (usize, usize) = (0x1800, TEXT_LEN);
/// Offset and length of a byte with flags of the features that the device lacks.
const LACKS: (usize, usize) = (0x1ffc, 1);
const SECRET: u8 = 1;
const NOISE: u8 = 2;

const TEXT_LEN: usize = 999;
const MORE: &[u8; 21] = b"authenticated as well";
const IV: &[u8; 12] = b"twelve bytes";
const COUNTER: &[u8; 16] = b"counter of CTR\xff\xfe";
const MESSAGE: &[u8] = b"what is signed";

/// Number of the first request.
const FIRST_ID: u32 = 100;

pub fn run(mailbox: &mut HostSide) {
    listen(mailbox);
    let mut host = Host { mailbox, id: FIRST_ID - 1 };
    match input(LACKS) {
        [SECRET] => return host.refuse_without_secret(),
        [NOISE] => return host.refuse_without_noise(),
        _ => {}
    }
    let secret = host.import("a secret key", input(SECRET_KEY));
    let private = host.import("a private key", input(PRIVATE_KEY));
    host.seal(secret);
    let counter = host.import("a secret key for CTR", input(COUNTER_KEY));
    host.count(counter);
    host.misuse(secret, counter);
    host.served("released", Operation::ReleaseKey, &[&counter.to_le_bytes()]);
    host.sign(private);
    host.refuse(secret, private);
}

struct Host<'a> {
    mailbox: &'a mut HostSide,
    id: u32,
}

impl Host<'_> {
    /// Sends a request with this record.
    fn ask(&mut self, what: &str, operation: Operation, record: &[&[u8]]) -> Answer {
        let length = write(record);
        let is_inline =
            !matches!(operation, Operation::Encrypt | Operation::Decrypt | Operation::Sign);
        let (flags, destination) = if is_inline { (INLINE, 0) } else { (0, RESULT as u64) };
        self.id = self.id.wrapping_add(1);
        let operation = operation as u16;
        let request =
            Request { operation, flags, id: self.id, source: RECORD as u64, destination, length };
        // The program polls for the first answer, and sleeps for all others.
        let patience = if self.id == FIRST_ID { Patience::Awake } else { Patience::Asleep };
        ask(self.mailbox, patience, what, &request)
    }

    fn served(&mut self, what: &str, operation: Operation, record: &[&[u8]]) -> u32 {
        let answer = self.ask(what, operation, record);
        expect(answer.status == 0 && answer.reason == 0, what);
        let [word, ..] = answer.result;
        word
    }

    /// Sends a request that has to be refused with this error. Nothing may be written.
    fn refused(&mut self, what: &str, operation: Operation, record: &[&[u8]], refusal: Refusal) {
        clear();
        let answer = self.ask(what, operation, record);
        expect(answer.status == refusal as u8, what);
        expect(answer.reason == refusal.reason() as u16, "its number is another one");
        expect(answer.result.iter().all(|word| *word == 0), "a refusal has a result");
        expect(result(LONGEST).iter().all(|byte| *byte == 0), "a refusal writes");
    }

    fn import(&mut self, what: &str, wrapped: &[u8]) -> u32 {
        self.served(what, Operation::ImportKey, &[wrapped])
    }

    fn refuse_without_secret(&mut self) {
        self.refused(
            "a key for a device without a secret",
            Operation::ImportKey,
            &[input(SECRET_KEY)],
            Refusal::NoKeys,
        );
    }

    /// Checks that a private key is refused, because there is no blinding without noise. A secret key does not need
    /// noise.
    fn refuse_without_noise(&mut self) {
        self.refused(
            "a private key for a device without noise",
            Operation::ImportKey,
            &[input(PRIVATE_KEY)],
            Refusal::Failed,
        );
        self.import("a secret key", input(SECRET_KEY));
    }

    /// Encrypts and decrypts with GCM.
    fn seal(&mut self, key: u32) {
        let text = text();
        let head = gcm(key);
        let len = self.served("encrypted with GCM", Operation::Encrypt, &[&head, MORE, &text]);
        expect(len as usize == GCM.1 && result(GCM.1) == input(GCM), "GCM differs from software");
        let len = self.served("decrypted with GCM", Operation::Decrypt, &[&head, MORE, input(GCM)]);
        expect(len as usize == TEXT_LEN && result(TEXT_LEN) == text, "GCM does not decrypt");
    }

    /// Encrypts and decrypts with CTR.
    fn count(&mut self, key: u32) {
        let text = text();
        let head = record(key, 2, 0, COUNTER);
        let len = self.served("encrypted with CTR", Operation::Encrypt, &[&head, &text]);
        expect(len as usize == CTR.1 && result(CTR.1) == input(CTR), "CTR differs from software");
        let len = self.served("decrypted with CTR", Operation::Decrypt, &[&head, input(CTR)]);
        expect(len as usize == TEXT_LEN && result(TEXT_LEN) == text, "CTR does not decrypt");
    }

    /// Checks that a key can be used only in its mode.
    fn misuse(&mut self, secret: u32, counter: u32) {
        let text = [0; 16];
        for (what, head) in [
            ("CTR by a key of GCM", record(secret, 2, 0, COUNTER)),
            ("GCM by a key of CTR", gcm(counter)),
        ] {
            let parts: [&[u8]; 3] = [&head, MORE, &text];
            self.refused(what, Operation::Encrypt, &parts, Refusal::KeyUse);
        }
    }

    /// Signs twice, because the second signature uses another blinding pair. Software on this hart verifies.
    fn sign(&mut self, key: u32) {
        let (handle, digest) = (key.to_le_bytes(), sha256(MESSAGE));
        let public = RsaPublicKey::new(input(MODULUS), &[1, 0, 1]);
        for what in ["signed", "signed again"] {
            let len = self.served(what, Operation::Sign, &[&handle, &digest]) as usize;
            expect(len == MODULUS.1, "a signature of another length");
            let verify =
                |public| pkcs1::verify::<Sha256>(&Kernels::PORTABLE, &public, MESSAGE, result(len));
            expect(public.is_ok_and(|public| verify(public).is_ok()), "software refuses it");
        }
        let mut signature = [0; 256];
        signature.copy_from_slice(result(256));
        self.served("verified", Operation::Verify, &[&handle, &digest, &signature]);
        signature[100] ^= 1;
        let record: [&[u8]; 3] = [&handle, &digest, &signature];
        self.refused(
            "a changed signature",
            Operation::Verify,
            &record,
            Refusal::SignatureNotAuthentic,
        );
    }

    fn refuse(&mut self, secret: u32, private: u32) {
        use Operation::{Decrypt, Encrypt, ImportKey, ReleaseKey, Sign, Verify};
        let head = gcm(secret);
        let mut changed = [0; GCM.1];
        changed.copy_from_slice(input(GCM));
        changed[500] ^= 1;
        self.refused(
            "a changed text",
            Decrypt,
            &[&head, MORE, &changed],
            Refusal::TextNotAuthentic,
        );
        let handle = private.to_le_bytes();
        for (what, operation, record, refusal) in [
            (
                "a mode that is none",
                Encrypt,
                &record(secret, 3, 0, COUNTER)[..],
                Refusal::Malformed,
            ),
            ("data that are too long", Encrypt, &record(secret, 1, 1, COUNTER), Refusal::Malformed),
            ("half a record", Encrypt, &head[..12], Refusal::Malformed),
            ("no record", Verify, &[], Refusal::Malformed),
            ("a secret key that signs", Sign, &head, Refusal::KeyUse),
            (
                "a private key that encrypts",
                Encrypt,
                &record(private, 2, 0, COUNTER),
                Refusal::KeyUse,
            ),
            ("a handle that is none", ReleaseKey, &[0; 4], Refusal::UnknownHandle),
            ("a key of no form", ImportKey, input(MALFORMED_KEY), Refusal::KeyMalformed),
            ("a key of no length", ImportKey, &head, Refusal::Malformed),
            ("a record that is too long", Encrypt, &[1; LONGEST + 1], Refusal::TooLong),
        ] {
            self.refused(what, operation, &[record], refusal);
        }
        let words = |operation: Operation, flags, source, destination, length| Request {
            operation: operation as u16,
            flags,
            id: 1,
            source,
            destination,
            length,
        };
        let there = RESULT as u64;
        let rest = [
            ("a record in the ROM", words(Sign, 0, 0, there, 36), Refusal::OutsideMemory),
            (
                "a signature into the scratchpad",
                words(Sign, 0, RECORD as u64, 0x1000_0000, 36),
                Refusal::OutsideMemory,
            ),
            (
                "a record in its own M-mode memory",
                words(Sign, 0, hartlock_soc::FIRST.start, there, 36),
                Refusal::Protected,
            ),
            (
                "a text over its record",
                words(Encrypt, 0, RECORD as u64, RECORD as u64, 100),
                Refusal::Overlap,
            ),
            (
                "a signature in the answer",
                words(Sign, INLINE, RECORD as u64, 0, 36),
                Refusal::UnknownFlag,
            ),
            ("an operation that is none", words(Sign, 0, 0, 0, 0), Refusal::UnknownOperation),
            (
                "a record in memory that is missing",
                words(Sign, 0, MISSING, there, 36),
                Refusal::Failed,
            ),
        ];
        for (what, mut request, refusal) in rest {
            if refusal == Refusal::UnknownOperation {
                request.operation = 8;
            }
            let answer = ask(self.mailbox, Patience::Asleep, what, &request);
            let is_right =
                answer.status == refusal as u8 && answer.reason == refusal.reason() as u16;
            expect(is_right, "it should have been refused");
        }
        closed::attack(self.mailbox, &words(Sign, 0, RECORD as u64, there, 36), Some(256));
        let others = [
            self.import("a third key", input(SECRET_KEY)),
            self.import("a fourth key", input(SECRET_KEY)),
        ];
        self.refused("a fifth key", ImportKey, &[input(SECRET_KEY)], Refusal::NoFreeHandle);
        for key in others.into_iter().chain([private]) {
            self.served("released", ReleaseKey, &[&key.to_le_bytes()]);
        }
        let digest = sha256(MESSAGE);
        self.refused("a key that was released", Sign, &[&handle, &digest], Refusal::UnknownHandle);
        let mut wrong = [0; SECRET_KEY.1];
        wrong.copy_from_slice(input(SECRET_KEY));
        wrong[20] ^= 1;
        // One changed key was already refused above.
        for _ in 1..MAX_FAILED_IMPORTS {
            self.refused("a changed key", ImportKey, &[&wrong], Refusal::KeyNotAuthentic);
        }
        self.refused("a key after many", ImportKey, &[input(SECRET_KEY)], Refusal::QuotaSpent);
        // The imported key can still be used.
        self.seal(secret);
    }
}

fn gcm(key: u32) -> [u8; 24] {
    let mut iv = [0; 16];
    iv[..12].copy_from_slice(IV);
    record(key, 1, MORE.len() as u16, &iv)
}

/// Returns the bytes of a record before additional data and text.
fn record(key: u32, mode: u16, more: u16, iv: &[u8; 16]) -> [u8; 24] {
    let mut head = [0; 24];
    head[..4].copy_from_slice(&key.to_le_bytes());
    head[4..6].copy_from_slice(&mode.to_le_bytes());
    head[6..8].copy_from_slice(&more.to_le_bytes());
    head[8..].copy_from_slice(iv);
    head
}

/// Writes a record, and returns its length.
fn write(parts: &[&[u8]]) -> u32 {
    let mut at = 0;
    for part in parts {
        // SAFETY: no other code uses this memory while no request is pending.
        let to = unsafe { core::slice::from_raw_parts_mut((RECORD + at) as *mut u8, part.len()) };
        to.copy_from_slice(part);
        at += part.len();
    }
    at as u32
}

fn input((offset, len): (usize, usize)) -> &'static [u8] {
    // SAFETY: nothing writes to this memory.
    unsafe { core::slice::from_raw_parts((INPUTS + offset) as *const u8, len) }
}

/// Returns the first bytes of a result.
fn result(len: usize) -> &'static [u8] {
    // SAFETY: the answer has arrived, so nothing writes to this memory until the next request.
    unsafe { core::slice::from_raw_parts(RESULT as *const u8, len) }
}

fn clear() {
    // SAFETY: no request is pending, so nothing else accesses this memory.
    unsafe { core::slice::from_raw_parts_mut(RESULT as *mut u8, LONGEST) }.fill(0);
}

/// Returns the plaintext.
fn text() -> [u8; TEXT_LEN] {
    let mut text = [0; TEXT_LEN];
    text.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 7 + 3) as u8);
    text
}
