//! SHA3-512, and Ed25519 with SHA3-512, computed by engines or in software.
//!
//! An engine is used if it passes known-answer tests, and until it fails. Software computes everything that no engine
//! does, and [`Computer::fault`] returns the reason.

use hartlock_kernels::ed25519_signer::{ExpandedKey, KeyPair};
use hartlock_kernels::sha2::Sha512;
use hartlock_kernels::sha3::Sha3_512;
use hartlock_kernels::signature::{Comparison, Rejection};
use hartlock_kernels::{Hash, Kernels};

use crate::known;

/// A function that computes the challenge from R: the digest of R, public key and message.
pub type Challenge<'a> = &'a mut dyn FnMut(&[u8; 32]) -> [u8; 64];

/// A digest of SHA3-512. It is aligned to a 64-bit word, because Rocket has no unaligned accesses: a copy of 64 bytes
/// takes twenty cycles by words and three hundred by bytes, and a digest is passed through several functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub struct Digest(pub [u8; 64]);

/// A key slot of a signature engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Slot for the device's key.
    Device,
    /// Slot for the monitor's key.
    Monitor,
    /// Slot for the key of the known-answer test, which is not secret.
    Known,
}

/// An engine for SHA3-512. If a method returns `None`, the engine is not used any more.
pub trait HashEngine {
    /// Computes the digest of bytes that the processor holds, one part after the other.
    fn digest(&mut self, parts: &[&[u8]]) -> Option<Digest>;

    /// Computes the digest of memory that devices have written and to which the processor has stored nothing since.
    fn digest_of_memory(&mut self, bytes: &[u8]) -> Option<Digest>;

    /// Begins the digest of memory that is written part by part. Returns false if this engine can only hash whole
    /// ranges.
    fn begin_parts(&mut self) -> Option<bool> {
        Some(false)
    }

    /// Hashes the next part, under the same condition as [`digest_of_memory`](Self::digest_of_memory). The length of
    /// each part except the last is a multiple of [`PART_UNIT`] bytes.
    fn part(&mut self, _: &[u8], _is_last: bool) -> Option<()> {
        None
    }

    /// Returns the digest of all parts.
    fn end_parts(&mut self) -> Option<Digest> {
        None
    }

    /// Clears all hashed data from the engine, also after a failure.
    fn wipe(&mut self) -> Option<()>;
}

/// Unit in bytes for the lengths of all parts but the last.
pub const PART_UNIT: usize = 8;

/// An engine for Ed25519. If a method returns `None`, the engine is not used any more.
pub trait SignEngine {
    /// Stores an expanded key in an empty slot, and computes its public key.
    fn load(&mut self, slot: Slot, expanded: &[u8; 64], public_key: &mut [u8; 32]) -> Option<()>;

    /// Signs with the key of a loaded slot. `nonce` is the digest of prefix and message.
    fn sign(
        &mut self,
        slot: Slot,
        nonce: &[u8; 64],
        challenge: Challenge<'_>,
        signature: &mut [u8; 64],
    ) -> Option<()>;

    /// Verifies a signature. `challenge` is the digest of R, public key and message, by any hash.
    fn verify(
        &mut self,
        public_key: &[u8; 32],
        signature: &[u8; 64],
        challenge: &[u8; 64],
    ) -> Option<Result<(), Rejection>>;

    /// Clears all keys and data from the engine.
    fn wipe(&mut self) -> Option<()>;
}

/// Value for a signature that the engine accepts. No other answer produces these bits.
const GENUINE: [u8; 32] = [0x5c; 32];

/// An engine type for machines without an engine.
pub enum Never {}

/// The reason why an engine is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The machine has no such engine.
    Missing,
    /// The engine failed its known-answer test or did not respond to it.
    WrongAnswer,
    /// The engine failed during an operation.
    Failed,
    /// The engine failed during an operation, and did not confirm that it has cleared its data.
    Stuck,
}

impl Fault {
    /// Returns the console text that reports the use of an engine, or the reason why software replaces it.
    pub const fn said(fault: Option<Self>) -> &'static str {
        match fault {
            None => "by its engine",
            Some(Self::Missing) => "in software, there is no engine",
            Some(Self::WrongAnswer) => "in software, the engine answers wrong",
            Some(Self::Failed) => "in software, the engine has failed",
            Some(Self::Stuck) => "in software, the engine has failed and does not forget",
        }
    }
}

/// The implementation of all computations: engines, or software in their place.
pub struct Computer<H, S> {
    kernels: Kernels,
    hash: Result<H, Fault>,
    sign: Result<S, Fault>,
    /// Engines that were not tested yet. Until then software does their work.
    untried: Option<(Option<H>, Option<S>)>,
    /// True while an engine hashes memory part by part.
    has_parts: bool,
}

impl<H: HashEngine, S: SignEngine> Computer<H, S> {
    /// Tests the engines with known answers.
    pub fn new(kernels: Kernels, hash: Option<H>, sign: Option<S>) -> Self {
        let mut computer = Self::untried(kernels, hash, sign);
        computer.try_engines();
        computer
    }

    /// Same as [`new`](Self::new), except that the engines are neither tested nor used before
    /// [`try_engines`](Self::try_engines).
    pub const fn untried(kernels: Kernels, hash: Option<H>, sign: Option<S>) -> Self {
        let untried = Some((hash, sign));
        Self {
            kernels,
            hash: Err(Fault::Missing),
            sign: Err(Fault::Missing),
            untried,
            has_parts: false,
        }
    }

    /// Tests the engines that were not tested yet.
    pub(crate) fn try_engines(&mut self) {
        if let Some((hash, sign)) = self.untried.take() {
            self.hash = tried(hash, hash_is_right, H::wipe);
            self.sign = tried(sign, sign_is_right, S::wipe);
        }
    }

    /// Returns the reasons why software replaces an engine: that of the hash, and that of signatures.
    pub fn fault(&self) -> [Option<Fault>; 2] {
        [self.hash.as_ref().err().copied(), self.sign.as_ref().err().copied()]
    }

    /// Returns the kernels that software uses.
    pub const fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// Computes SHA3-512 of consecutive parts.
    pub fn digest(&mut self, parts: &[&[u8]]) -> [u8; 64] {
        self.hashed(parts).0
    }

    /// Same as [`digest`](Self::digest), except that the result has the aligned type.
    pub(crate) fn hashed(&mut self, parts: &[&[u8]]) -> Digest {
        digest(&mut self.hash, &self.kernels, parts)
    }

    /// Computes SHA3-512 of memory that devices have written and to which the processor has stored nothing since.
    fn digest_of_memory(&mut self, bytes: &[u8]) -> Digest {
        let kernels = &self.kernels;
        by(&mut self.hash, |engine| engine.digest_of_memory(bytes))
            .unwrap_or_else(|| in_software(kernels, &[bytes]))
    }

    /// Begins the digest of memory that is written part by part.
    pub(crate) fn begin_parts(&mut self) {
        self.has_parts = by(&mut self.hash, HashEngine::begin_parts) == Some(true);
    }

    /// Hashes a part that was written. Does nothing if the whole memory will be hashed at the end.
    pub(crate) fn part(&mut self, bytes: &[u8], is_last: bool) {
        self.has_parts =
            self.has_parts && by(&mut self.hash, |engine| engine.part(bytes, is_last)).is_some();
    }

    /// Returns the digest of the whole memory. If an engine has not hashed it by parts, it is hashed here.
    pub(crate) fn end_parts(&mut self, whole: &[u8]) -> Digest {
        let by_parts = self.has_parts.then(|| by(&mut self.hash, HashEngine::end_parts));
        self.has_parts = false;
        by_parts.flatten().unwrap_or_else(|| self.digest_of_memory(whole))
    }

    /// Computes the public key of an expanded key. If an engine computes it, the key stays in its slot.
    pub(crate) fn public_key(
        &mut self,
        slot: Slot,
        expanded: &[u8; 64],
        public_key: &mut [u8; 32],
    ) -> Option<()> {
        let loaded = by_sign(&mut self.sign, |engine| engine.load(slot, expanded, public_key));
        if loaded.is_none() {
            *public_key = key_in_software(expanded)?;
        }
        Some(())
    }

    /// Signs with a key whose public key was computed with the same slot. If the result is `None`, `signature` holds no
    /// signature.
    pub(crate) fn sign(
        &mut self,
        (slot, expanded): (Slot, &[u8; 64]),
        public_key: &[u8; 32],
        message: &[u8],
        signature: &mut [u8; 64],
    ) -> Option<()> {
        let Self { kernels, hash, sign, .. } = self;
        let (_, prefix) = expanded.split_at(32);
        if sign.is_ok() {
            let mut nonce = digest(hash, kernels, &[prefix, message]);
            let mut challenge = |r: &[u8; 32]| digest(hash, kernels, &[r, public_key, message]).0;
            let signed =
                by_sign(sign, |engine| engine.sign(slot, &nonce.0, &mut challenge, signature));
            crate::secret::wipe(&mut nonce.0);
            if signed.is_some() {
                return signed;
            }
        }
        sign_in_software(kernels, expanded, public_key, message, signature)
    }

    /// Verifies a signature of RFC 8032 (with SHA-512) by the engine, twice, so that a single wrong answer is not
    /// enough. Returns `None` without an engine or if it fails.
    pub(crate) fn verify(
        &mut self,
        public_key: &[u8; 32],
        message: &[u8],
        signature: &[u8; 64],
    ) -> Option<Result<Comparison, Rejection>> {
        let Self { kernels, sign, .. } = self;
        if sign.is_err() {
            return None;
        }
        let (r, _) = signature.split_at(32);
        let mut answers = [0; 64];
        for answer in answers.as_chunks_mut::<32>().0 {
            let mut hash = Sha512::with(kernels);
            [r, public_key, message].into_iter().for_each(|part| hash.update(part));
            let challenge = hash.finalize();
            match by_sign(sign, |engine| engine.verify(public_key, signature, &challenge))? {
                Ok(()) => *answer = GENUINE,
                Err(Rejection::Mismatch) => {}
                Err(rejection) => return Some(Err(rejection)),
            }
        }
        Some(Comparison::of(&answers, [GENUINE; 2].as_flattened()))
    }

    /// Clears keys, and the data that they were derived from, in all engines. Returns false if an engine does not
    /// confirm this, or did not when it failed: then it may still hold keys.
    pub fn wipe(&mut self) -> bool {
        by(&mut self.hash, HashEngine::wipe);
        by_sign(&mut self.sign, SignEngine::wipe);
        !self.fault().contains(&Some(Fault::Stuck))
    }
}

/// Tests an engine. Only public values are used, so that it does not matter if a faulty engine keeps them.
fn tried<E>(
    engine: Option<E>,
    is_right: impl FnOnce(&mut E) -> Option<bool>,
    wipe: impl FnOnce(&mut E) -> Option<()>,
) -> Result<E, Fault> {
    let mut engine = engine.ok_or(Fault::Missing)?;
    if is_right(&mut engine) == Some(true) {
        return Ok(engine);
    }
    let _ = wipe(&mut engine);
    Err(Fault::WrongAnswer)
}

fn hash_is_right<H: HashEngine>(engine: &mut H) -> Option<bool> {
    Some(engine.digest(&[b"a", b"bc"])?.0 == Sha3_512::KAT)
}

fn sign_is_right<S: SignEngine>(engine: &mut S) -> Option<bool> {
    let mut public_key = [0; 32];
    engine.load(Slot::Known, &known::EXPANDED, &mut public_key)?;
    let is_key = public_key == known::PUBLIC_KEY;
    let mut has_r = false;
    let (r, _) = known::SIGNATURE.split_at(32);
    let mut signature = [0; 64];
    let mut challenge = |given: &[u8; 32]| {
        has_r = given == r;
        known::CHALLENGE
    };
    engine.sign(Slot::Known, &known::NONCE, &mut challenge, &mut signature)?;
    engine.wipe()?;
    // The engine has to accept and to refuse. A changed bit of the challenge corresponds to another message.
    let mut other = known::CHALLENGE;
    other[0] ^= 1;
    let mut verify = |challenge| engine.verify(&known::PUBLIC_KEY, &known::SIGNATURE, challenge);
    let is_verified = verify(&known::CHALLENGE)? == Ok(());
    let is_refused = verify(&other)? == Err(Rejection::Mismatch);
    let is_right = is_key && has_r && signature == known::SIGNATURE;
    Some(is_right && is_verified && is_refused)
}

/// Calls the hash engine.
fn by<H: HashEngine, T>(
    engine: &mut Result<H, Fault>,
    ask: impl FnOnce(&mut H) -> Option<T>,
) -> Option<T> {
    asked(engine, ask, H::wipe)
}

/// Calls the signature engine.
fn by_sign<S: SignEngine, T>(
    engine: &mut Result<S, Fault>,
    ask: impl FnOnce(&mut S) -> Option<T>,
) -> Option<T> {
    asked(engine, ask, S::wipe)
}

/// Calls an engine. If it returns `None`, it has failed permanently and has to clear its data, because a key may be in
/// it.
fn asked<E, T>(
    engine: &mut Result<E, Fault>,
    ask: impl FnOnce(&mut E) -> Option<T>,
    wipe: impl FnOnce(&mut E) -> Option<()>,
) -> Option<T> {
    let working = engine.as_mut().ok()?;
    let answer = ask(working);
    if answer.is_none() {
        *engine = Err(if wipe(working).is_some() { Fault::Failed } else { Fault::Stuck });
    }
    answer
}

fn digest<H: HashEngine>(
    engine: &mut Result<H, Fault>,
    kernels: &Kernels,
    parts: &[&[u8]],
) -> Digest {
    by(engine, |engine| engine.digest(parts)).unwrap_or_else(|| in_software(kernels, parts))
}

// The function is not inlined, so that its variables are on the stack only where software replaces an engine.
#[inline(never)]
fn in_software(kernels: &Kernels, parts: &[&[u8]]) -> Digest {
    let mut hash = Sha3_512::with(kernels);
    parts.iter().for_each(|part| hash.update(part));
    Digest(hash.finalize())
}

#[inline(never)]
fn key_in_software(expanded: &[u8; 64]) -> Option<[u8; 32]> {
    Some(*KeyPair::new(ExpandedKey::from_digest(expanded)).ok()?.public_key())
}

#[inline(never)]
fn sign_in_software(
    kernels: &Kernels,
    expanded: &[u8; 64],
    public_key: &[u8; 32],
    message: &[u8],
    signature: &mut [u8; 64],
) -> Option<()> {
    let pair = KeyPair::new(ExpandedKey::from_digest(expanded)).ok()?;
    // A public key that an engine computed is not trusted: signing under two public keys with the same scalar would
    // reveal the scalar.
    if pair.public_key() != public_key {
        return None;
    }
    *signature = pair.sign(|| Sha3_512::with(kernels), message).ok()?;
    Some(())
}

impl HashEngine for Never {
    fn digest(&mut self, _: &[&[u8]]) -> Option<Digest> {
        match *self {}
    }

    fn digest_of_memory(&mut self, _: &[u8]) -> Option<Digest> {
        match *self {}
    }

    fn wipe(&mut self) -> Option<()> {
        match *self {}
    }
}

impl SignEngine for Never {
    fn load(&mut self, _: Slot, _: &[u8; 64], _: &mut [u8; 32]) -> Option<()> {
        match *self {}
    }

    fn sign(&mut self, _: Slot, _: &[u8; 64], _: Challenge<'_>, _: &mut [u8; 64]) -> Option<()> {
        match *self {}
    }

    fn verify(
        &mut self,
        _: &[u8; 32],
        _: &[u8; 64],
        _: &[u8; 64],
    ) -> Option<Result<(), Rejection>> {
        match *self {}
    }

    fn wipe(&mut self) -> Option<()> {
        match *self {}
    }
}
