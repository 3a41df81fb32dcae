//! Engines beside the hart: what a platform offers to hashes and verifiers.
//!
//! A program makes one value that implements [`Engines`], in its `main`, and joins it to its kernels ([`Kernels::join`]). Hashes and
//! verifiers get the engines with the kernels, and each use of an engine begins with known answers (`Kernels::use_sha256_engine`
//! and its siblings). A method that returns nothing leaves the work to software, so an engine changes no verdict: what a
//! signature has to look like is checked before an engine is asked, and what it gives is compared afterwards, by the same code
//! as without one.
//!
//! [`Kernels::join`]: crate::Kernels::join

use core::cell::RefCell;

use hartlock_algorithm::HashId;

#[cfg(any(feature = "ed25519-signer", test))]
use crate::comparison::Rejection;

/// Bytes of the longest root.
pub const ROOT_LEN: usize = 32;
/// A root, the bytes of its parameter set first, in words whose lowest byte comes first: engines give words.
pub type Root = [u32; ROOT_LEN / 4];

/// The verdict on a signature of ECDSA that fits, and the one on a signature that does not: they differ in 16 bits. Any other
/// word is no verdict.
pub const GENUINE: u32 = 0xc33c_c33c;
/// See [`GENUINE`].
pub const NOT_GENUINE: u32 = 0x9669_9669;

/// The exponent of every key of RSA that a verifier accepts.
pub const EXPONENT: u32 = 65537;

/// A hash value of SHA-256 that no message is known to have.
pub const NO_HASH_VALUE: [u32; 8] = [u32::MAX; 8];

/// Bytes of which each part of a message in memory but the last has a multiple ([`Engines::sha3_part`]).
pub const PART_UNIT: usize = 8;

/// A digest of SHA-3, zeros after it. It has the alignment of a word, because Rocket has no accesses that are not aligned: a copy
/// of 64 bytes takes twenty cycles by words and three hundred by bytes, and one is passed through several functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub struct Sha3Digest(pub [u8; 64]);

impl Sha3Digest {
    /// An empty digest, for an engine to fill.
    pub const EMPTY: Self = Self([0; 64]);
}

/// A scheme of hash-based signatures. The parameters are in the encoded key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootScheme {
    /// XMSS (RFC 8391 §4.1, SP 800-208 §5).
    Xmss,
    /// XMSS^MT (RFC 8391 §4.2). The same set number stands for another set in XMSS.
    XmssMt,
    /// A single tree of LMS (RFC 8554 §5). HSS makes a request for each level.
    Lms,
    /// SLH-DSA-SHA2-128s (FIPS 205). The message is the encoded one, M′ of §10.2.
    SlhDsaSha2_128s,
}

/// A request for the root of a hash-based signature. Lengths, types and index have been checked.
#[derive(Clone, Copy, Debug)]
pub struct RootRequest<'a> {
    /// The scheme of the signature.
    pub scheme: RootScheme,
    /// The key as its standard encodes it, types in front.
    pub public_key: &'a [u8],
    /// The parts of the message, in order.
    pub message: &'a [&'a [u8]],
    /// The signature as its standard encodes it.
    pub signature: &'a [u8],
}

/// A signature of ECDSA: the key is a point of the curve, and r and s are from 1 to n - 1. Every number is big-endian and as long
/// as those of the curve.
#[derive(Clone, Copy, Debug)]
pub struct EcdsaRequest<'a> {
    /// True for P-384, false for P-256.
    pub is_p384: bool,
    /// The coordinates x and y of the public key.
    pub point: &'a [u8],
    /// The digest of the message.
    pub digest: &'a [u8],
    /// The numbers r and s of the signature.
    pub signature: &'a [u8],
}

/// A key slot of an engine for Ed25519.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SigningSlot {
    /// The device's key.
    Device,
    /// The monitor's key.
    Monitor,
    /// The key of the known-answer test, which is not secret.
    Known,
}

/// A function that computes the challenge from R: the digest of R, public key and message.
pub type Challenge<'a> = &'a mut dyn FnMut(&[u8; 32]) -> [u8; 64];

/// The engines of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// SHA-256.
    Sha2,
    /// SHA-3.
    Sha3,
    /// Powers, and ECDSA.
    Bignum,
    /// Roots of hash-based signatures.
    HashBased,
    /// Ed25519.
    Ed25519,
}

/// The computations that a platform leaves to engines. A method returns `None` if the platform has no such engine, if the
/// engine does not respond, or if it does not support the parameters. Software then computes the result.
///
/// `Sync`, because kernels are shared between threads on a workstation. A program on a device has one hart that uses engines.
pub trait Engines: Sync {
    /// The state of an engine, if the platform may have one.
    fn attachment(&self, _kind: EngineKind) -> Option<&dyn Attachment> {
        None
    }

    /// Adds whole blocks to a hash value of SHA-256 (FIPS 180-4 §6.2.2). An engine that does not respond leaves
    /// [`NO_HASH_VALUE`]: any comparison with the digest that follows fails.
    fn compress_sha256(&self, state: &mut [u32; 8], _blocks: &[[u8; 64]]) {
        *state = NO_HASH_VALUE;
    }

    /// The digest of SHA-3 of parts that follow each other, which the processor has.
    fn sha3(&self, _hash: HashId, _parts: &[&[u8]], _digest: &mut Sha3Digest) -> Option<()> {
        None
    }

    /// The same of memory to which the processor stored nothing since devices have written it.
    fn sha3_of_memory(&self, hash: HashId, bytes: &[u8], digest: &mut Sha3Digest) -> Option<()> {
        self.sha3(hash, &[bytes], digest)
    }

    /// Begins SHA3-512 of memory that is written part by part. False if this engine takes memory as a whole alone.
    fn begin_sha3_parts(&self) -> Option<bool> {
        Some(false)
    }

    /// The next part; as [`sha3_of_memory`](Self::sha3_of_memory). Each but the last has a multiple of [`PART_UNIT`] bytes.
    fn sha3_part(&self, _bytes: &[u8], _is_last: bool) -> Option<()> {
        None
    }

    /// The digest of all parts.
    fn end_sha3_parts(&self, _digest: &mut Sha3Digest) -> Option<()> {
        None
    }

    /// The base to the power of [`EXPONENT`], modulo an odd modulus: modulus, base and result are big-endian and of one length, and
    /// the base is below the modulus.
    fn power(&self, _modulus: &[u8], _base: &[u8], _result: &mut [u8]) -> Option<()> {
        None
    }

    /// The verdict on a signature of ECDSA: [`GENUINE`] or [`NOT_GENUINE`].
    fn judge_ecdsa(&self, _request: &EcdsaRequest<'_>) -> Option<u32> {
        None
    }

    /// Begins with the root that a hash-based signature leads to.
    fn start_root(&self, _request: &RootRequest<'_>) -> Option<()> {
        None
    }

    /// The root of what began last. Nothing also if the engine does not find the form of the parameters.
    fn finish_root(&self, _root: &mut Root) -> Option<()> {
        None
    }

    /// Verifies an Ed25519 signature. `challenge` is the digest of R, public key and message, with any hash.
    #[cfg(any(feature = "ed25519-signer", test))]
    fn verify_ed25519(
        &self,
        _public_key: &[u8; 32],
        _signature: &[u8; 64],
        _challenge: &[u8; 64],
    ) -> Option<Result<(), Rejection>> {
        None
    }

    /// Puts an expanded key into an empty slot of Ed25519, and computes its public key.
    #[cfg(any(feature = "ed25519-signer", test))]
    fn load_ed25519(
        &self,
        _slot: SigningSlot,
        _expanded: &[u8; 64],
        _public_key: &mut [u8; 32],
    ) -> Option<()> {
        None
    }

    /// Signs with a slot that was loaded. `nonce` is the digest of prefix and message.
    #[cfg(any(feature = "ed25519-signer", test))]
    fn sign_ed25519(
        &self,
        _slot: SigningSlot,
        _nonce: &[u8; 64],
        _challenge: Challenge<'_>,
        _signature: &mut [u8; 64],
    ) -> Option<()> {
        None
    }
}

/// No engines.
pub struct NoEngines;

impl Engines for NoEngines {}

impl dyn Engines + '_ {
    /// The reason why an engine is not used.
    pub fn fault(&self, kind: EngineKind) -> Option<EngineFault> {
        self.attachment(kind).map_or(Some(EngineFault::Missing), Attachment::fault)
    }

    /// Has an engine forget what it has. One that does not say that it has is not used any more.
    pub fn wipe(&self, kind: EngineKind) {
        if let Some(engine) = self.attachment(kind) {
            engine.wipe(None);
        }
    }
}

impl core::fmt::Debug for dyn Engines + '_ {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Engines")
    }
}

/// The reason why an engine is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineFault {
    /// The platform has no such engine.
    Missing,
    /// The engine failed its known-answer test or did not respond to it.
    WrongAnswer,
    /// The engine failed during an operation.
    Failed,
    /// The engine failed during an operation, and did not confirm that it has cleared its data.
    Stuck,
}

impl EngineFault {
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

/// An engine that can clear its data.
pub trait Wipe {
    /// Clears secrets and everything derived from them. Returns `None` if the engine does not confirm it.
    fn wipe(&mut self) -> Option<()>;
}

/// The state of an engine of any kind.
pub trait Attachment {
    /// Returns the reason why the engine is not used, or `None` if it is used.
    fn fault(&self) -> Option<EngineFault>;

    /// Clears the data of the engine. With a reason the engine is not used any more; the same if it does not confirm that it
    /// has cleared its data. After a wrong known answer the confirmation is not needed, because known answers are public.
    fn wipe(&self, reason: Option<EngineFault>);
}

/// An engine that is used until it fails.
#[derive(Debug)]
pub struct Attached<E>(RefCell<Result<E, EngineFault>>);

impl<E> Attached<E> {
    /// Attaches an engine; `None` stands for an engine that the platform does not have.
    pub fn new(engine: Option<E>) -> Self {
        Self(RefCell::new(engine.ok_or(EngineFault::Missing)))
    }

    /// Applies a function to the engine. Returns `None` if the engine is not used, or is in use at the moment.
    pub fn with<T>(&self, action: impl FnOnce(&mut E) -> T) -> Option<T> {
        Some(action(self.0.try_borrow_mut().ok()?.as_mut().ok()?))
    }

    /// Removes the engine and returns it.
    pub fn take(&self) -> Option<E> {
        self.0
            .try_borrow_mut()
            .ok()
            .and_then(|mut place| core::mem::replace(&mut *place, Err(EngineFault::Missing)).ok())
    }
}

impl<E: Wipe> Attached<E> {
    /// Returns the answer of the engine. An engine without an answer has failed: it is not used any more, and its data is
    /// cleared because a key may be in it.
    pub fn ask<T>(&self, ask: impl FnOnce(&mut E) -> Option<T>) -> Option<T> {
        let answer = self.with(ask)?;
        if answer.is_none() {
            self.wipe(Some(EngineFault::Failed));
        }
        answer
    }
}

impl<E: Wipe> Attachment for Attached<E> {
    fn fault(&self) -> Option<EngineFault> {
        // During an operation the engine counts as working.
        self.0.try_borrow().ok()?.as_ref().err().copied()
    }

    // This is out of line, because an engine fails rarely and the code has several callers.
    #[inline(never)]
    fn wipe(&self, reason: Option<EngineFault>) {
        let Ok(mut place) = self.0.try_borrow_mut() else { return };
        let has_forgotten = match &mut *place {
            Ok(engine) => engine.wipe().is_some(),
            Err(EngineFault::Missing) => return,
            Err(_) => true,
        };
        let does_not_matter = reason == Some(EngineFault::WrongAnswer);
        let fault =
            if has_forgotten || does_not_matter { reason } else { Some(EngineFault::Stuck) };
        if let Some(fault) = fault {
            *place = Err(fault);
        }
    }
}
