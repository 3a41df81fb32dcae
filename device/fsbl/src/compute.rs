//! SHA3-512, and Ed25519 with SHA3-512, computed by engines or in software.
//!
//! An engine is used if it passes known-answer tests, and until it fails. Software computes everything that no engine
//! does, and [`Computer::fault`] returns the reason.

use hartlock_image::HashId;
use hartlock_kernels::ed25519_signer::KeyPair;
use hartlock_kernels::engines::{EngineFault, EngineKind, Engines, Sha3Digest, SigningSlot};
use hartlock_kernels::secret::{confined, wipe};
use hartlock_kernels::sha3::Sha3_512;
use hartlock_kernels::{EngineUse, Hash, Kernels};

/// The implementation of all computations: engines, or software in their place.
pub struct Computer {
    kernels: Kernels,
    /// The engines of the kernels were tried. Software does their work before.
    is_tried: bool,
    /// True while an engine hashes memory part by part.
    has_parts: bool,
}

impl Computer {
    /// Tries the engines of these kernels, by known answers.
    pub fn new(kernels: Kernels) -> Self {
        let mut computer = Self::untried(kernels);
        computer.try_engines();
        computer
    }

    /// The same with engines that are not tried, and not used, before [`try_engines`](Self::try_engines).
    pub const fn untried(kernels: Kernels) -> Self {
        Self { kernels, is_tried: false, has_parts: false }
    }

    /// Tries engines that were not tried.
    // Out of line: what only this needs is off the stack when it has returned.
    #[inline(never)]
    pub fn try_engines(&mut self) {
        if !self.is_tried {
            self.is_tried = true;
            // Why an engine is not used is asked for later.
            let _ = self.kernels.use_sha3_engine();
            let _ = self.kernels.use_ed25519_engine();
        }
    }

    /// The engines, once they were tried.
    fn engines(&self) -> Option<&'static dyn Engines> {
        self.kernels.engines().filter(|_| self.is_tried)
    }

    /// Returns the reasons why software replaces an engine: that of the hash, and that of signatures.
    pub fn fault(&self) -> [Option<EngineFault>; 2] {
        [EngineKind::Sha3, EngineKind::Ed25519].map(|kind| {
            self.engines().map_or(Some(EngineFault::Missing), |engines| engines.fault(kind))
        })
    }

    /// Returns the kernels that software uses.
    pub const fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// Computes SHA3-512 of consecutive parts, which are not secret.
    pub fn digest(&mut self, parts: &[&[u8]]) -> [u8; 64] {
        let mut digest = Sha3Digest::EMPTY;
        self.hash(parts, &mut digest);
        digest.0
    }

    /// Computes SHA3-512 of consecutive parts, which may be secret.
    pub(crate) fn hash(&mut self, parts: &[&[u8]], to: &mut Sha3Digest) {
        hash_into(&self.kernels, parts, to);
    }

    /// Computes SHA3-512 of memory that devices have written and to which the processor has stored nothing since.
    fn digest_of_memory(&mut self, bytes: &[u8]) -> Sha3Digest {
        by(&self.kernels, |engines, to| engines.sha3_of_memory(HashId::Sha3_512, bytes, to))
            .unwrap_or_else(|| {
                let mut digest = Sha3Digest::EMPTY;
                in_software(&self.kernels, &[bytes], &mut digest);
                digest
            })
    }

    /// Begins the digest of memory that is written part by part.
    pub(crate) fn begin_parts(&mut self) {
        self.has_parts =
            hash_engine(&self.kernels).and_then(Engines::begin_sha3_parts) == Some(true);
    }

    /// Hashes a part that was written. Does nothing if the whole memory will be hashed at the end.
    pub(crate) fn part(&mut self, bytes: &[u8], is_last: bool) {
        let part = |engines: &dyn Engines| engines.sha3_part(bytes, is_last);
        self.has_parts = self.has_parts && hash_engine(&self.kernels).and_then(part).is_some();
    }

    /// Returns the digest of the whole memory. If an engine has not hashed it by parts, it is hashed here.
    pub(crate) fn end_parts(&mut self, whole: &[u8]) -> Sha3Digest {
        let end = || by(&self.kernels, |engines, to| engines.end_sha3_parts(to));
        let by_parts = self.has_parts.then(end);
        self.has_parts = false;
        by_parts.flatten().unwrap_or_else(|| self.digest_of_memory(whole))
    }

    /// The engine for signatures, unless it has failed.
    fn sign_engine(&self) -> Option<&'static dyn Engines> {
        let works = |engines: &&dyn Engines| engines.fault(EngineKind::Ed25519).is_none();
        self.kernels.engines_for(EngineUse::Ed25519).filter(works)
    }

    /// Computes the public key of an expanded key. If an engine computes it, the key stays in its slot.
    pub(crate) fn public_key(
        &mut self,
        slot: SigningSlot,
        expanded: &[u8; 64],
        public_key: &mut [u8; 32],
    ) -> Option<()> {
        let load = |engines: &dyn Engines| engines.load_ed25519(slot, expanded, public_key);
        if self.sign_engine().and_then(load).is_none() {
            key_in_software(expanded, public_key)?;
        }
        Some(())
    }

    /// Signs with a key whose public key was computed with the same slot. If the result is `None`, `signature` holds no
    /// signature.
    pub(crate) fn sign(
        &mut self,
        (slot, expanded): (SigningSlot, &[u8; 64]),
        public_key: &[u8; 32],
        message: &[u8],
        signature: &mut [u8; 64],
    ) -> Option<()> {
        let kernels = &self.kernels;
        let (_, prefix) = expanded.split_at(32);
        if let Some(engines) = self.sign_engine() {
            let mut nonce = Sha3Digest::EMPTY;
            hash_into(kernels, &[prefix, message], &mut nonce);
            let mut challenge = |r: &[u8; 32]| {
                let mut digest = Sha3Digest::EMPTY;
                hash_into(kernels, &[r, public_key, message], &mut digest);
                digest.0
            };
            let signed = engines.sign_ed25519(slot, &nonce.0, &mut challenge, signature);
            wipe(&mut nonce.0);
            if signed.is_some() {
                return signed;
            }
        }
        sign_in_software(kernels, expanded, public_key, message, signature)
    }

    /// Clears keys, and the data that they were derived from, in all engines. Returns false if an engine does not
    /// confirm this, or did not when it failed: then it may still hold keys.
    pub fn wipe(&mut self) -> bool {
        if let Some(engines) = self.engines() {
            engines.wipe(EngineKind::Sha3);
            engines.wipe(EngineKind::Ed25519);
        }
        !self.fault().contains(&Some(EngineFault::Stuck))
    }
}

/// The engine for SHA3-512, if it is used.
fn hash_engine(kernels: &Kernels) -> Option<&'static dyn Engines> {
    kernels.engines_for(EngineUse::Sha3_512)
}

/// The digest that the engine for SHA3-512 gives.
fn by(
    kernels: &Kernels,
    ask: impl FnOnce(&dyn Engines, &mut Sha3Digest) -> Option<()>,
) -> Option<Sha3Digest> {
    let mut digest = Sha3Digest::EMPTY;
    ask(hash_engine(kernels)?, &mut digest)?;
    Some(digest)
}

fn hash_into(kernels: &Kernels, parts: &[&[u8]], to: &mut Sha3Digest) {
    let by_engine = |engines: &dyn Engines| engines.sha3(HashId::Sha3_512, parts, to);
    if hash_engine(kernels).and_then(by_engine).is_none() {
        in_software(kernels, parts, to);
    }
}

// The function is not inlined, so that its variables are on the stack only where software replaces an engine.
#[inline(never)]
fn in_software(kernels: &Kernels, parts: &[&[u8]], to: &mut Sha3Digest) {
    confined(|| {
        let mut hash = Sha3_512::with(kernels);
        parts.iter().for_each(|part| hash.update(part));
        to.0 = hash.finalize();
    });
}

#[inline(never)]
fn key_in_software(expanded: &[u8; 64], public_key: &mut [u8; 32]) -> Option<()> {
    *public_key = *KeyPair::new(expanded).ok()?.public_key();
    Some(())
}

#[inline(never)]
fn sign_in_software(
    kernels: &Kernels,
    expanded: &[u8; 64],
    public_key: &[u8; 32],
    message: &[u8],
    signature: &mut [u8; 64],
) -> Option<()> {
    let pair = KeyPair::new(expanded).ok()?;
    // A public key that an engine computed is not trusted: signing under two public keys with the same scalar would
    // reveal the scalar.
    if pair.public_key() != public_key {
        return None;
    }
    *signature = pair.sign(|| Sha3_512::with(kernels), message).ok()?;
    Some(())
}
