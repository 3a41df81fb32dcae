//! The engines that are joined to the kernels. An engine is used for the operations whose known answers it gave.

use hartlock_algorithm::HashId;

use crate::Kernels;
use crate::dispatch::{Chosen, Compress, KernelFault, Tier};
use crate::engines::{EngineFault, EngineKind, Engines, RootScheme, Sha3Digest};
use crate::known::answers_one;
use crate::sha2::Sha256;
use crate::sha3::{Sha3_256, Sha3_384, Sha3_512};

/// An operation that an engine can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineUse {
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// Powers of RSA with the exponent 65537.
    Rsa,
    /// ECDSA with P-256.
    P256,
    /// ECDSA with P-384.
    P384,
    /// Roots of XMSS.
    Xmss,
    /// Roots of XMSS^MT.
    XmssMt,
    /// Roots of LMS.
    Lms,
    /// Roots of SLH-DSA-SHA2-128s.
    SlhDsaSha2_128s,
    /// Ed25519.
    Ed25519,
}

impl EngineUse {
    /// Digests of this hash, if it is one of SHA-3.
    pub const fn of_hash(hash: HashId) -> Option<Self> {
        match hash {
            HashId::Sha3_256 => Some(Self::Sha3_256),
            HashId::Sha3_384 => Some(Self::Sha3_384),
            HashId::Sha3_512 => Some(Self::Sha3_512),
            _ => None,
        }
    }

    /// Roots of such signatures.
    pub const fn of_scheme(scheme: RootScheme) -> Self {
        match scheme {
            RootScheme::Xmss => Self::Xmss,
            RootScheme::XmssMt => Self::XmssMt,
            RootScheme::Lms => Self::Lms,
            RootScheme::SlhDsaSha2_128s => Self::SlhDsaSha2_128s,
        }
    }

    pub(crate) const fn bit(self) -> u16 {
        1 << self as u32
    }
}

/// Published digests of `abc`.
const SHA3_KNOWN: [(EngineUse, HashId, &[u8]); 3] = [
    (EngineUse::Sha3_256, HashId::Sha3_256, &Sha3_256::KAT),
    (EngineUse::Sha3_384, HashId::Sha3_384, &Sha3_384::KAT),
    (EngineUse::Sha3_512, HashId::Sha3_512, &Sha3_512::KAT),
];

/// The engines of a platform, and the uses for which they gave known answers.
#[derive(Clone, Copy)]
pub(crate) struct Joined {
    engines: Option<&'static dyn Engines>,
    uses: u16,
}

impl Joined {
    /// No engines.
    pub(crate) const NONE: Self = Self { engines: None, uses: 0 };
}

impl Kernels {
    /// With the engines of this platform, which are not used yet.
    #[must_use]
    pub const fn join(self, engines: &'static dyn Engines) -> Self {
        Self { joined: Joined { engines: Some(engines), uses: 0 }, ..self }
    }

    /// The engines of this platform, if there are any.
    pub const fn engines(&self) -> Option<&'static dyn Engines> {
        self.joined.engines
    }

    /// The engines, if they are used for this.
    pub const fn engines_for(&self, purpose: EngineUse) -> Option<&'static dyn Engines> {
        if self.joined.uses & purpose.bit() != 0 { self.joined.engines } else { None }
    }

    /// Adds the uses of an engine for which it gave known answers: `answers` has the bits of uses, and whether an answer was
    /// right, if there was one.
    pub(crate) fn add_uses(
        &mut self,
        kind: EngineKind,
        answers: &[(u16, Option<bool>)],
    ) -> Result<(), KernelFault> {
        let is_wrong = answers.iter().any(|(_, answer)| *answer == Some(false));
        let right = |uses, &(it, answer)| if answer == Some(true) { uses | it } else { uses };
        let known = answers.iter().fold(0, right);
        if is_wrong || known == 0 {
            return Err(self.reject(kind));
        }
        self.joined.uses |= known;
        Ok(())
    }

    /// Nothing uses this engine any more.
    fn reject(&self, kind: EngineKind) -> KernelFault {
        if let Some(engine) = self.joined.engines.and_then(|engines| engines.attachment(kind)) {
            engine.wipe(Some(EngineFault::WrongAnswer));
        }
        KernelFault::WrongAnswer
    }

    /// Uses the engine for SHA-256, if it gives known answers: a faulty engine would compute wrong digests.
    ///
    /// # Errors
    /// `WrongAnswer`: the engine is not used any more.
    pub fn use_sha256_engine(&mut self) -> Result<(), KernelFault> {
        let engines = self.joined.engines.ok_or(KernelFault::WrongAnswer)?;
        let before = self.sha256;
        self.sha256 = Chosen::one_by_one(Tier::Engine, Compress::Engine(engines));
        if answers_one::<Sha256>(self, &Sha256::KAT) {
            return Ok(());
        }
        self.sha256 = before;
        Err(self.reject(EngineKind::Sha2))
    }

    /// Uses the engine for SHA-3, for the hashes of which it gives the published digest.
    ///
    /// # Errors
    /// `WrongAnswer` if one digest is wrong, or there is none: the engine is not used any more.
    pub fn use_sha3_engine(&mut self) -> Result<(), KernelFault> {
        let engines = self.joined.engines.ok_or(KernelFault::WrongAnswer)?;
        let mut answers = [(0, None); 3];
        for (answer, (purpose, hash, known)) in answers.iter_mut().zip(SHA3_KNOWN) {
            let mut digest = Sha3Digest::EMPTY;
            let given = engines.sha3(hash, &[b"a", b"bc"], &mut digest);
            *answer = (purpose.bit(), given.map(|()| digest.0.starts_with(known)));
        }
        self.add_uses(EngineKind::Sha3, &answers)
    }
}

#[cfg(test)]
mod tests;
