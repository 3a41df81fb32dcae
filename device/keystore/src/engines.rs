//! Engines for requests with keys: `hw/ip/aes` with its key slot, and `hw/ip/bignum` with the noise source for its
//! blinding.

use hartlock_drivers::aes::{self, Aes, Direction};
use hartlock_drivers::bignum::{self, Bignum, Blinding, PrivateKey};
use hartlock_drivers::noise_source::NoiseSource;
use hartlock_drivers::wait::Polling;

use crate::keys::{Cipher, EngineFailure, KeyEngines, RsaPrivateKey, TextMode};

/// Public exponent e of all RSA keys of this module.
const EXPONENT: u32 = 65537;

/// Both engines, each of which is wiped after every operation, and the noise source.
pub struct HardwareKeyEngines {
    aes: Aes,
    numbers: Bignum<Polling>,
    noise: NoiseSource,
}

impl HardwareKeyEngines {
    /// Engines that work. Whether the noise source does is known when it is needed.
    ///
    /// The engine for big numbers is polled: an upset may leave an engine busy, and nothing else would wake a core that sleeps
    /// until its interrupt.
    #[must_use]
    pub const fn new(aes: Aes, numbers: Bignum<Polling>, noise: NoiseSource) -> Self {
        Self { aes, numbers, noise }
    }

    /// Runs an operation of the AES engine and wipes the engine in any case. Without the wipe the result is not used.
    fn with_aes<T>(
        &mut self,
        operation: impl FnOnce(&mut Aes) -> Result<T, aes::Error>,
    ) -> Result<T, EngineFailure> {
        let result = operation(&mut self.aes);
        self.aes.wipe().map_err(|_| EngineFailure::Failed)?;
        result.map_err(|error| match error {
            aes::Error::NotAuthentic => EngineFailure::NotAuthentic,
            _ => EngineFailure::Failed,
        })
    }

    /// Runs a public power and wipes the big-number engine, which otherwise keeps its operands, including those of a
    /// blinding pair.
    fn with_public(
        &mut self,
        operation: impl FnOnce(&mut Bignum<Polling>) -> Result<(), bignum::Error>,
    ) -> Result<(), EngineFailure> {
        let result = operation(&mut self.numbers);
        self.numbers.wipe().map_err(failure)?;
        result.map_err(failure)
    }
}

impl KeyEngines for HardwareKeyEngines {
    fn unwrap_key(&mut self, wrapped: &[u8], key: &mut [u8]) -> Result<(), EngineFailure> {
        let loaded = self.aes.load_slot();
        let unwrapped = self.with_aes(|aes| loaded.and_then(|()| aes.unwrap_key(wrapped, key)));
        let is_empty = loaded == Err(aes::Error::Refused);
        zero_unless(if is_empty { Err(EngineFailure::NoKey) } else { unwrapped }, key)
    }

    fn encrypt(&mut self, cipher: Cipher<'_>, text: &mut [u8]) -> Result<[u8; 16], EngineFailure> {
        self.with_aes(|aes| {
            aes.load_key(cipher.key)?;
            match cipher.mode {
                TextMode::Gcm => aes.seal(vector(&cipher)?, cipher.more, text),
                TextMode::Ctr => {
                    aes.process(aes::ModeOfOperation::Ctr(cipher.iv), Direction::Encrypt, text)?;
                    Ok([0; 16])
                }
            }
        })
    }

    fn decrypt(
        &mut self,
        cipher: Cipher<'_>,
        text: &mut [u8],
        tag: &[u8],
    ) -> Result<(), EngineFailure> {
        let decrypted = self.with_aes(|aes| {
            aes.load_key(cipher.key)?;
            match cipher.mode {
                TextMode::Gcm => aes.open(vector(&cipher)?, cipher.more, text, tag),
                TextMode::Ctr => {
                    aes.process(aes::ModeOfOperation::Ctr(cipher.iv), Direction::Decrypt, text)
                }
            }
        });
        zero_unless(decrypted, text)
    }

    fn private(
        &mut self,
        key: RsaPrivateKey<'_>,
        base: &[u8],
        result: &mut [u8],
    ) -> Result<(), EngineFailure> {
        let [p, q, exponent_p, exponent_q, coefficient] = key.halves;
        let [factor, inverse] = key.blinding;
        let private = PrivateKey {
            modulus: key.modulus,
            exponent: EXPONENT,
            primes: (p, q),
            exponents: (exponent_p, exponent_q),
            coefficient,
        };
        let blinding = Blinding { factor, inverse };
        self.numbers.private(&private, &blinding, base, result).map_err(|error| match error {
            // e is valid, so the error refers to the exponent of a prime.
            bignum::Error::BadExponent => EngineFailure::BadKey,
            other => failure(other),
        })
    }

    fn square(
        &mut self,
        modulus: &[u8],
        number: &[u8],
        result: &mut [u8],
    ) -> Result<(), EngineFailure> {
        self.with_public(|numbers| numbers.power(modulus, number, 2, result))
    }

    fn power_secret(
        &mut self,
        modulus: &[u8],
        number: &[u8],
        exponent: &[u8; 8],
        result: &mut [u8],
    ) -> Result<(), EngineFailure> {
        self.numbers.power_secret(modulus, number, exponent, result).map_err(failure)
    }

    fn noise(&mut self, bits: &mut [u8; 8]) -> Result<(), EngineFailure> {
        self.noise.read(bits, || ()).map_err(|_| EngineFailure::Failed)
    }

    fn recover(
        &mut self,
        modulus: &[u8],
        signature: &[u8],
        result: &mut [u8],
    ) -> Result<(), EngineFailure> {
        self.with_public(|numbers| numbers.recover(modulus, signature, EXPONENT, result))
    }
}

/// Overwrites `bytes` with zeros if the operation failed at any step.
fn zero_unless(result: Result<(), EngineFailure>, bytes: &mut [u8]) -> Result<(), EngineFailure> {
    if result.is_err() {
        bytes.fill(0);
    }
    result
}

/// Returns the initialization vector of a GCM message.
fn vector<'a>(cipher: &Cipher<'a>) -> Result<&'a [u8], aes::Error> {
    cipher.iv.get(..12).ok_or(aes::Error::Length)
}

const fn failure(error: bignum::Error) -> EngineFailure {
    match error {
        bignum::Error::BadKey | bignum::Error::BadModulus => EngineFailure::BadKey,
        bignum::Error::BadOperand => EngineFailure::BadOperand,
        _ => EngineFailure::Failed,
    }
}
