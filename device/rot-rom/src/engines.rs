//! The engines of the root of trust: one value, which `rot_main` makes and joins to the kernels.
//!
//! Hashes and verifiers of `device/kernels` call the engines through [`Engines`]. DMA streams payloads to the engines for
//! hashes ([`RotEngines::sha256_of_stream`], [`RotEngines::sha3_of_stream`]).

use core::cell::Cell;

#[cfg(feature = "tee")]
use hartlock_drivers::ed25519::Ed25519;
use hartlock_drivers::sha2::{self, Sha2};
use hartlock_drivers::sha3::{self, Sha3};
use hartlock_drivers::wait::Polling;
use hartlock_image::HashId;
use hartlock_kernels::engines::{Attached, Engines, NO_HASH_VALUE, Sha3Digest};
#[cfg(feature = "tee")]
use hartlock_kernels::engines::{Attachment, EngineKind};
use hartlock_regs::Block;
use hartlock_rot::{SHA2, SHA3};
use hartlock_verify::tree::Digest;

#[cfg(feature = "hash-based")]
mod roots;
#[cfg(feature = "hash-based")]
pub use roots::KNOWN_LEN;

/// The engines, each until it fails.
pub struct RotEngines {
    /// In a cell of its own, which costs a compression less than [`Attached`] does. It is never asked for a fault: one that does
    /// not respond leaves a hash value of no message.
    sha2: Cell<Option<Sha2<Polling>>>,
    sha3: Attached<Sha3<Polling>>,
    #[cfg(feature = "hash-based")]
    roots: Attached<roots::RootEngine>,
    #[cfg(all(feature = "bignum", any(feature = "ecdsa", feature = "rsa")))]
    numbers: Attached<hartlock_drivers::bignum::Bignum<Polling>>,
    #[cfg(feature = "tee")]
    ed25519: Attached<Ed25519<Polling>>,
}

// SAFETY: there is one hart, and it takes no interrupts.
unsafe impl Sync for RotEngines {}

impl RotEngines {
    /// Takes the engines that are there and work. Called once.
    pub fn take() -> Self {
        // SAFETY: the engine's registers, of which this is the only user.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA2)) };
        let sha2 = Cell::new(Sha2::new(registers, Polling).ok());
        // SAFETY: as above.
        let registers = unsafe { Block::new(core::ptr::with_exposed_provenance_mut(SHA3)) };
        let sha3 = Attached::new(Sha3::new(registers, Polling).ok());
        Self {
            sha2,
            sha3,
            #[cfg(feature = "hash-based")]
            roots: Attached::new(roots::take()),
            #[cfg(all(feature = "bignum", any(feature = "ecdsa", feature = "rsa")))]
            numbers: Attached::new(numbers()),
            #[cfg(feature = "tee")]
            ed25519: Attached::new(ed25519()),
        }
    }

    /// Returns the answer of the SHA-2 engine. The engine is not available to others in the meantime.
    fn with_sha2<T>(&self, ask: impl FnOnce(&mut Sha2<Polling>) -> Option<T>) -> Option<T> {
        let mut engine = self.sha2.take()?;
        let answer = ask(&mut engine);
        self.sha2.set(Some(engine));
        answer
    }

    /// Resets the hash state of the engine for SHA-2. It is no kernel any more: a compression would return a value that no
    /// message has.
    pub fn give_back_sha2(&self) -> Option<Sha2<Polling>> {
        let mut engine = self.sha2.take()?;
        engine.wipe().ok()?;
        Some(engine)
    }

    /// HMAC-SHA-256 with a key of at most a block; nothing if there is no engine, or it failed. The key is wiped with the engine
    /// when it is given back.
    #[cfg(feature = "keys")]
    pub fn mac(&self, key: &[u8], message: &[u8], tag: &mut [u8; 32]) -> Option<()> {
        self.with_sha2(|engine| {
            engine.start(sha2::Sha2Function::HmacSha256(key)).ok()?;
            engine.push(message);
            engine.process();
            engine.until_done().ok()?;
            *tag = engine.digest().ok()?;
            Some(())
        })
    }

    /// SHA-256 of what `bring` streams to the engine; nothing if there is no engine, or it or the stream failed.
    pub fn sha256_of_stream(&self, bring: impl FnOnce() -> Option<()>) -> Option<[u8; 32]> {
        self.with_sha2(|engine| {
            receive(engine, bring)?;
            engine.digest().ok()
        })
    }

    /// The digest of SHA-3 of what `bring` streams to the engine; nothing if there is none for this hash, or it or the stream
    /// failed.
    pub fn sha3_of_stream(
        &self,
        hash: HashId,
        mut bring: impl FnMut() -> Option<()>,
    ) -> Option<Digest> {
        let mut digest = Sha3Digest::EMPTY;
        self.sha3_by(hash, true, &mut digest, &mut |_| bring())?;
        Some(digest.0)
    }

    /// The digest of a message that `feed` brings.
    // Out of line: one for all messages.
    #[inline(never)]
    fn sha3_by(
        &self,
        hash: HashId,
        is_stream: bool,
        digest: &mut Sha3Digest,
        feed: &mut dyn FnMut(&mut Sha3<Polling>) -> Option<()>,
    ) -> Option<()> {
        let function = function(hash)?;
        let digest = digest.0.get_mut(..hash.output_len())?;
        let compute = |engine: &mut Sha3<Polling>| {
            engine.start_from(function, is_stream).ok()?;
            feed(engine)?;
            engine.read(digest).ok()
        };
        // Without an endorsement, no message has a secret.
        if cfg!(feature = "tee") { self.sha3.ask(compute) } else { self.sha3.with(compute)? }
    }
}

/// Has this engine hash what `bring` streams to it.
pub fn receive(engine: &mut Sha2<Polling>, bring: impl FnOnce() -> Option<()>) -> Option<()> {
    engine.start_stream(sha2::Sha2Function::Sha256).ok()?;
    bring()?;
    engine.until_done().ok()
}

/// The function of a hash that the engine for SHA-3 has.
const fn function(hash: HashId) -> Option<sha3::Sha3Function<'static>> {
    match hash {
        HashId::Sha3_256 => Some(sha3::Sha3Function::Sha3_256),
        HashId::Sha3_384 => Some(sha3::Sha3Function::Sha3_384),
        HashId::Sha3_512 => Some(sha3::Sha3Function::Sha3_512),
        _ => None,
    }
}

#[cfg(all(feature = "bignum", any(feature = "ecdsa", feature = "rsa")))]
fn numbers() -> Option<hartlock_drivers::bignum::Bignum<Polling>> {
    use hartlock_drivers::bignum::Bignum;
    // SAFETY: the engine's registers, of which this is the only user.
    let registers =
        unsafe { Block::new(core::ptr::with_exposed_provenance_mut(hartlock_rot::BIGNUM)) };
    Bignum::new(registers, Polling).ok()
}

#[cfg(feature = "tee")]
fn ed25519() -> Option<Ed25519<Polling>> {
    // SAFETY: the engine's registers, of which this is the only user.
    let registers =
        unsafe { Block::new(core::ptr::with_exposed_provenance_mut(hartlock_rot::ED25519)) };
    Ed25519::new(registers, Polling).ok()
}

impl Engines for RotEngines {
    /// Returns the engines that an endorsement needs. The others receive no secrets, and are only used for operations whose
    /// known answers they gave.
    #[cfg(feature = "tee")]
    fn attachment(&self, kind: EngineKind) -> Option<&dyn Attachment> {
        match kind {
            EngineKind::Sha3 => Some(&self.sha3),
            EngineKind::Ed25519 => Some(&self.ed25519),
            _ => None,
        }
    }

    fn compress_sha256(&self, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
        if self.with_sha2(|engine| engine.compress(state, blocks).ok()).is_none() {
            *state = NO_HASH_VALUE;
        }
    }

    fn sha3(&self, hash: HashId, parts: &[&[u8]], digest: &mut Sha3Digest) -> Option<()> {
        self.sha3_by(hash, false, digest, &mut |engine| {
            parts.iter().for_each(|part| engine.push(part));
            engine.end();
            Some(())
        })
    }

    #[cfg(all(feature = "bignum", feature = "rsa"))]
    fn power(&self, modulus: &[u8], base: &[u8], result: &mut [u8]) -> Option<()> {
        let exponent = hartlock_kernels::engines::EXPONENT;
        self.numbers.ask(|engine| engine.recover(modulus, base, exponent, result).ok())
    }

    #[cfg(all(feature = "bignum", feature = "ecdsa"))]
    fn judge_ecdsa(&self, request: &hartlock_kernels::engines::EcdsaRequest<'_>) -> Option<u32> {
        let hartlock_kernels::engines::EcdsaRequest { is_p384, point, digest, signature } =
            *request;
        self.numbers.ask(|engine| engine.judge(is_p384, point, digest, signature).ok())
    }

    #[cfg(feature = "hash-based")]
    fn start_root(&self, request: &hartlock_kernels::engines::RootRequest<'_>) -> Option<()> {
        let key = roots::key(request)?;
        self.roots.with(|engine| engine.start(&key, request.message, request.signature))?
    }

    #[cfg(feature = "hash-based")]
    fn finish_root(&self, root: &mut hartlock_kernels::engines::Root) -> Option<()> {
        self.roots.with(|engine| engine.root(root))?
    }

    #[cfg(feature = "tee")]
    fn verify_ed25519(
        &self,
        public_key: &[u8; 32],
        signature: &[u8; 64],
        challenge: &[u8; 64],
    ) -> Option<Result<(), hartlock_kernels::signature::Rejection>> {
        self.ed25519.ask(|engine| engine.verify(public_key, signature, challenge).ok())
    }

    #[cfg(feature = "tee")]
    fn load_ed25519(
        &self,
        slot: hartlock_kernels::engines::SigningSlot,
        expanded: &[u8; 64],
        public_key: &mut [u8; 32],
    ) -> Option<()> {
        self.ed25519.ask(|engine| {
            *public_key = engine.load(slot.into(), expanded).ok()?;
            Some(())
        })
    }

    #[cfg(feature = "tee")]
    fn sign_ed25519(
        &self,
        slot: hartlock_kernels::engines::SigningSlot,
        nonce: &[u8; 64],
        challenge: hartlock_kernels::engines::Challenge<'_>,
        signature: &mut [u8; 64],
    ) -> Option<()> {
        self.ed25519.ask(|engine| {
            *signature = engine.sign(slot.into(), nonce, challenge).ok()?;
            Some(())
        })
    }
}
