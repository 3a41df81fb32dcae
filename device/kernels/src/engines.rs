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
    /// A place for one.
    pub const EMPTY: Self = Self([0; 64]);
}

/// What kind of hash-based signature it is. The parameters are in the encoded key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootScheme {
    /// XMSS (RFC 8391 §4.1, SP 800-208 §5).
    Xmss,
    /// XMSS^MT (RFC 8391 §4.2): the numbers of its sets mean others in XMSS.
    XmssMt,
    /// One tree of LMS (RFC 8554 §5): HSS asks for each level.
    Lms,
    /// SLH-DSA-SHA2-128s (FIPS 205). The message is the encoded one, M′ of §10.2.
    SlhDsaSha2_128s,
}

/// A hash-based signature whose root is asked for. Lengths, types and index have been checked.
#[derive(Clone, Copy, Debug)]
pub struct RootRequest<'a> {
    /// What kind of signature it is.
    pub scheme: RootScheme,
    /// The key as its standard encodes it, types in front.
    pub public_key: &'a [u8],
    /// The message that is cut into these.
    pub message: &'a [&'a [u8]],
    /// The signature as its standard encodes it.
    pub signature: &'a [u8],
}

/// A signature of ECDSA: the key is a point of the curve, and r and s are from 1 to n - 1. Every number is big-endian and as long
/// as those of the curve.
#[derive(Clone, Copy, Debug)]
pub struct EcdsaRequest<'a> {
    /// P-384, and not P-256.
    pub is_p384: bool,
    /// x and y.
    pub point: &'a [u8],
    /// Of the message.
    pub digest: &'a [u8],
    /// r and s.
    pub signature: &'a [u8],
}

/// A key slot of an engine for Ed25519.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SigningSlot {
    /// The device's key.
    Device,
    /// The monitor's key.
    Monitor,
    /// The key of the known answer, which no secret is in.
    Known,
}

/// What makes a challenge of R: the digest of R, public key and message.
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

/// What a platform computes with engines. A method that a platform does not have returns nothing, and software does its work; the
/// same if an engine does not respond, or does not have the parameters.
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

    /// Whether a signature of Ed25519 verifies: `challenge` is the digest of R, public key and message, whatever the hash.
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
    /// Why an engine is not used.
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

/// Why an engine is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineFault {
    /// There is none.
    Missing,
    /// A known answer was wrong, or it gave none.
    WrongAnswer,
    /// It failed at work.
    Failed,
    /// It failed at work, and did not say that it has forgotten it.
    Stuck,
}

impl EngineFault {
    /// What a boot says of work that is done by an engine, or why software does it.
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

/// An engine that can forget.
pub trait Wipe {
    /// Forgets secrets, and what was made of them. Nothing if the engine does not say that it has.
    fn wipe(&mut self) -> Option<()>;
}

/// The state of an engine, whichever it is.
pub trait Attachment {
    /// Why it is not used.
    fn fault(&self) -> Option<EngineFault>;

    /// Has it forget what it has, and uses it no more if there is a reason. One that does not say that it has forgotten is not
    /// used either. After a wrong known answer it does not matter: those are public.
    fn wipe(&self, reason: Option<EngineFault>);
}

/// An engine that is used until it fails.
#[derive(Debug)]
pub struct Attached<E>(RefCell<Result<E, EngineFault>>);

impl<E> Attached<E> {
    /// This one; with nothing, it is missing.
    pub fn new(engine: Option<E>) -> Self {
        Self(RefCell::new(engine.ok_or(EngineFault::Missing)))
    }

    /// What is done with the engine. Nothing if it is not used, or in use.
    pub fn with<T>(&self, action: impl FnOnce(&mut E) -> T) -> Option<T> {
        Some(action(self.0.try_borrow_mut().ok()?.as_mut().ok()?))
    }

    /// Takes the engine away.
    pub fn take(&self) -> Option<E> {
        self.0
            .try_borrow_mut()
            .ok()
            .and_then(|mut place| core::mem::replace(&mut *place, Err(EngineFault::Missing)).ok())
    }
}

impl<E: Wipe> Attached<E> {
    /// What the engine gives. One that gives nothing has failed for good, and has to forget what it has: a key may be in it.
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
        // Who asks while it is in use is told that it works.
        self.0.try_borrow().ok()?.as_ref().err().copied()
    }

    // Out of line: an engine fails seldom, and in several places.
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
