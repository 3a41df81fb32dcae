//! SHA3-512 and Ed25519 with it, by engines or in software.
//!
//! An engine is used if it has given known answers, and until it fails. Software does what an engine does not, and
//! [`Computer::fault`] says why.

use hartlock_kernels::ed25519_signer::{ExpandedKey, KeyPair};
use hartlock_kernels::sha3::Sha3_512;
use hartlock_kernels::{Hash, Kernels};

use crate::known;

/// What makes a challenge of R: the digest of R, public key and message.
pub type Challenge<'a> = &'a mut dyn FnMut(&[u8; 32]) -> [u8; 64];

/// A key slot of a signing engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The device's key.
    Device,
    /// The monitor's key.
    Monitor,
    /// The key of the known answer, which no secret is in.
    Known,
}

/// An engine for SHA3-512. `None` of any method means that it is not used any more.
pub trait HashEngine {
    /// The digest of bytes that the processor has, one part after the other.
    fn digest(&mut self, parts: &[&[u8]]) -> Option<[u8; 64]>;

    /// The digest of memory to which nothing was stored by the processor since devices have written it.
    fn digest_of_memory(&mut self, bytes: &[u8]) -> Option<[u8; 64]>;

    /// Forgets what it hashed.
    fn wipe(&mut self) -> Option<()>;
}

/// An engine for Ed25519. `None` of any method means that it is not used any more.
pub trait SignEngine {
    /// Puts an expanded key into an empty slot, and computes its public key.
    fn load(&mut self, slot: Slot, expanded: &[u8; 64]) -> Option<[u8; 32]>;

    /// Signs with a slot that was loaded. `nonce` is the digest of prefix and message.
    fn sign(&mut self, slot: Slot, nonce: &[u8; 64], challenge: Challenge<'_>) -> Option<[u8; 64]>;

    /// Forgets everything.
    fn wipe(&mut self) -> Option<()>;
}

/// No engine.
pub enum Never {}

/// Why an engine is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is none.
    Missing,
    /// A known answer was wrong, or it gave none.
    WrongAnswer,
    /// It failed at work.
    Failed,
}

/// What computes.
pub struct Computer<H, S> {
    kernels: Kernels,
    hash: Result<H, Fault>,
    sign: Result<S, Fault>,
}

impl<H: HashEngine, S: SignEngine> Computer<H, S> {
    /// Tries the engines, by known answers.
    pub fn new(kernels: Kernels, hash: Option<H>, sign: Option<S>) -> Self {
        Self { kernels, hash: tried(hash, hash_is_right), sign: tried(sign, sign_is_right) }
    }

    /// Why software does what an engine could: of the hash, and of signatures.
    pub fn fault(&self) -> [Option<Fault>; 2] {
        [self.hash.as_ref().err().copied(), self.sign.as_ref().err().copied()]
    }

    /// What software computes with.
    pub const fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// SHA3-512 of parts that follow each other.
    pub fn digest(&mut self, parts: &[&[u8]]) -> [u8; 64] {
        digest(&mut self.hash, &self.kernels, parts)
    }

    /// SHA3-512 of memory to which nothing was stored by the processor since devices have written it.
    pub fn digest_of_memory(&mut self, bytes: &[u8]) -> [u8; 64] {
        let kernels = &self.kernels;
        by(&mut self.hash, |engine| engine.digest_of_memory(bytes))
            .unwrap_or_else(|| in_software(kernels, &[bytes]))
    }

    /// The public key of an expanded key, which stays in its slot if an engine computes it.
    pub(crate) fn public_key(&mut self, slot: Slot, expanded: &[u8; 64]) -> Option<[u8; 32]> {
        by(&mut self.sign, |engine| engine.load(slot, expanded))
            .or_else(|| Some(*key_pair(expanded)?.public_key()))
    }

    /// Signs with a key whose public key was computed with this slot.
    pub(crate) fn sign(
        &mut self,
        (slot, expanded): (Slot, &[u8; 64]),
        public_key: &[u8; 32],
        message: &[u8],
    ) -> Option<[u8; 64]> {
        let Self { kernels, hash, sign } = self;
        let (_, prefix) = expanded.split_at(32);
        if sign.is_ok() {
            let mut nonce = digest(hash, kernels, &[prefix, message]);
            let mut challenge = |r: &[u8; 32]| digest(hash, kernels, &[r, public_key, message]);
            let signature = by(sign, |engine| engine.sign(slot, &nonce, &mut challenge));
            crate::secret::wipe(&mut nonce);
            if signature.is_some() {
                return signature;
            }
        }
        let pair = key_pair(expanded)?;
        // A public key of an engine is not taken over: another one for the same scalar would give it away.
        let is_same = pair.public_key() == public_key;
        let signature = pair.sign(|| Sha3_512::with(kernels), message).ok()?;
        is_same.then_some(signature)
    }

    /// Has engines forget keys and what keys were made of. False if one does not: it cannot be trusted to have forgotten.
    pub fn wipe(&mut self) -> bool {
        let (has_hash, has_sign) = (self.hash.is_ok(), self.sign.is_ok());
        let of_hash = by(&mut self.hash, HashEngine::wipe).is_some() || !has_hash;
        let of_sign = by(&mut self.sign, SignEngine::wipe).is_some() || !has_sign;
        of_hash && of_sign
    }
}

fn tried<E>(engine: Option<E>, is_right: impl FnOnce(&mut E) -> Option<bool>) -> Result<E, Fault> {
    let mut engine = engine.ok_or(Fault::Missing)?;
    if is_right(&mut engine) == Some(true) { Ok(engine) } else { Err(Fault::WrongAnswer) }
}

fn hash_is_right<H: HashEngine>(engine: &mut H) -> Option<bool> {
    Some(engine.digest(&[b"a", b"bc"])? == Sha3_512::KAT)
}

fn sign_is_right<S: SignEngine>(engine: &mut S) -> Option<bool> {
    let is_key = engine.load(Slot::Known, &known::EXPANDED)? == known::PUBLIC_KEY;
    let mut has_r = false;
    let (r, _) = known::SIGNATURE.split_at(32);
    let signature = engine.sign(Slot::Known, &known::NONCE, &mut |given| {
        has_r = given == r;
        known::CHALLENGE
    })?;
    engine.wipe()?;
    Some(is_key && has_r && signature == known::SIGNATURE)
}

/// What an engine gives. One that gives nothing has failed for good.
fn by<E, T>(engine: &mut Result<E, Fault>, ask: impl FnOnce(&mut E) -> Option<T>) -> Option<T> {
    let answer = ask(engine.as_mut().ok()?);
    if answer.is_none() {
        *engine = Err(Fault::Failed);
    }
    answer
}

fn digest<H: HashEngine>(
    engine: &mut Result<H, Fault>,
    kernels: &Kernels,
    parts: &[&[u8]],
) -> [u8; 64] {
    by(engine, |engine| engine.digest(parts)).unwrap_or_else(|| in_software(kernels, parts))
}

fn in_software(kernels: &Kernels, parts: &[&[u8]]) -> [u8; 64] {
    let mut hash = Sha3_512::with(kernels);
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize()
}

fn key_pair(expanded: &[u8; 64]) -> Option<KeyPair> {
    KeyPair::new(ExpandedKey::from_digest(expanded)).ok()
}

impl HashEngine for Never {
    fn digest(&mut self, _: &[&[u8]]) -> Option<[u8; 64]> {
        match *self {}
    }

    fn digest_of_memory(&mut self, _: &[u8]) -> Option<[u8; 64]> {
        match *self {}
    }

    fn wipe(&mut self) -> Option<()> {
        match *self {}
    }
}

impl SignEngine for Never {
    fn load(&mut self, _: Slot, _: &[u8; 64]) -> Option<[u8; 32]> {
        match *self {}
    }

    fn sign(&mut self, _: Slot, _: &[u8; 64], _: Challenge<'_>) -> Option<[u8; 64]> {
        match *self {}
    }

    fn wipe(&mut self) -> Option<()> {
        match *self {}
    }
}
