//! Keys and signatures for counting the instructions of verifications, made by signers of other projects.
//!
//! All values are derived from fixed seeds, because the number of instructions depends on the values and
//! must be the same in every run. Therefore none of these keys is secret.

use std::convert::Infallible;

use anyhow::{Context, Result, bail, ensure};
use lms_signature::{lms, ots};
use ml_dsa::signature::{RandomizedSigner, RandomizedSignerMut, SignatureEncoding, Signer};
use rand_core::{Rng, TryCryptoRng, TryRng};
use rsa::pkcs1::EncodeRsaPublicKey;
use rsa::traits::PublicKeyParts;
use sha2::digest::array::Array;
use sha2::{Digest, Sha256, Sha384};

/// Returns the number of genuine signatures of an algorithm; there is also one that must be refused.
/// Algorithms whose cost depends on the digits of a digest have more, so that the mean is within two per
/// cent of the mean over all signatures.
pub fn genuine(algorithm: &str) -> usize {
    let is_of_chains = ["lms", "xmss"].iter().any(|name| algorithm.starts_with(name));
    if is_of_chains { 16 } else { 4 }
}

/// A case with its bytes.
pub struct SignatureCase {
    pub is_genuine: bool,
    pub key: Vec<u8>,
    pub message: Vec<u8>,
    pub signature: Vec<u8>,
}

/// Returns the cases of an algorithm, given by its name in the image format (§2.2): genuine signatures of
/// several messages, and the last signature with a message that was changed.
pub fn of(algorithm: &str) -> Result<Vec<SignatureCase>> {
    let mut cases = several(algorithm, genuine(algorithm))?;
    let last = cases.last().context("there are several")?;
    let mut message = last.message.clone();
    message[0] ^= 1;
    let (key, signature) = (last.key.clone(), last.signature.clone());
    cases.push(SignatureCase { is_genuine: false, key, message, signature });
    Ok(cases)
}

/// Makes genuine signatures of an algorithm.
pub fn several(algorithm: &str, count: usize) -> Result<Vec<SignatureCase>> {
    over(algorithm, (0..count).map(|index| message(algorithm, index)).collect())
}

/// Makes genuine signatures of these messages with one key.
pub fn over(algorithm: &str, messages: Vec<Vec<u8>>) -> Result<Vec<SignatureCase>> {
    let mut rng = Stream::new(algorithm);
    let (key, signatures) = sign(algorithm, &messages, &mut rng)
        .with_context(|| format!("signing with {algorithm}"))?;
    ensure!(signatures.len() == messages.len(), "a signature is missing");
    let cases = messages.into_iter().zip(signatures);
    Ok(cases
        .map(|(message, signature)| SignatureCase {
            is_genuine: true,
            key: key.clone(),
            message,
            signature,
        })
        .collect())
}

/// Returns a short message, because a longer one would only add the cost of its hash.
fn message(algorithm: &str, index: usize) -> Vec<u8> {
    Sha256::digest(format!("message {index} for {algorithm}")).to_vec()
}

/// Makes a key in the encoding of the image format, and its signatures.
fn sign(
    algorithm: &str,
    messages: &[Vec<u8>],
    rng: &mut Stream,
) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
    let mut signatures = Vec::new();
    let key = match algorithm {
        "ed25519" => {
            let key = ed25519_dalek::SigningKey::from_bytes(&rng.bytes());
            signatures.extend(
                messages
                    .iter()
                    .map(|message| ed25519_dalek::Signer::sign(&key, message).to_bytes().to_vec()),
            );
            key.verifying_key().to_bytes().to_vec()
        }
        "ecdsa-p256" => {
            let key = p256::ecdsa::SigningKey::from_slice(&rng.bytes::<32>())?;
            for message in messages {
                let signature: p256::ecdsa::Signature = key.try_sign(message)?;
                signatures.push(signature.to_bytes().to_vec());
            }
            key.verifying_key().to_sec1_point(false).as_bytes().to_vec()
        }
        "ecdsa-p384" => {
            let key = p384::ecdsa::SigningKey::from_slice(&rng.bytes::<48>())?;
            for message in messages {
                let signature: p384::ecdsa::Signature = key.try_sign(message)?;
                signatures.push(signature.to_bytes().to_vec());
            }
            key.verifying_key().to_sec1_point(false).as_bytes().to_vec()
        }
        "rsa-pss-3072-sha384" => {
            let key = rsa::RsaPrivateKey::new(rng, 3072)?;
            ensure!(key.size() == 384, "a modulus of {} bytes", key.size());
            let signer = rsa::pss::SigningKey::<Sha384>::new(key.clone());
            for message in messages {
                signatures.push(signer.try_sign_with_rng(rng, message)?.to_vec());
            }
            key.to_public_key().to_pkcs1_der()?.as_bytes().to_vec()
        }
        "lms-sha256-h10-w4" => {
            type Mode = lms::LmsSha256M32H10<ots::LmsOtsSha256N32W4>;
            let mut key = lms::SigningKey::<Mode>::new(rng);
            for message in messages {
                // HSS with one level (RFC 8554 §6.2) has no signed key before the signature.
                let signature = key.try_sign_with_rng(rng, message)?.to_vec();
                signatures.push([&0_u32.to_be_bytes()[..], &signature].concat());
            }
            let public: Array<u8, _> = key.public().into();
            [&1_u32.to_be_bytes()[..], &public].concat()
        }
        "xmss-sha2-10-256" => {
            let seed = rng.bytes::<96>();
            let mut pair = xmss::KeyPair::<xmss::XmssSha2_10_256>::from_seed(&seed)?;
            for message in messages {
                signatures.push(pair.signing_key().sign_detached(message)?.as_ref().to_vec());
            }
            pair.verifying_key().as_ref().to_vec()
        }
        "ml-dsa-44" => ml_dsa_key::<ml_dsa::MlDsa44>(messages, rng, &mut signatures)?,
        "ml-dsa-65" => ml_dsa_key::<ml_dsa::MlDsa65>(messages, rng, &mut signatures)?,
        "ml-dsa-87" => ml_dsa_key::<ml_dsa::MlDsa87>(messages, rng, &mut signatures)?,
        "slh-dsa-sha2-128s" => {
            let seeds = rng.bytes::<48>();
            let (seeds, _) = seeds.as_chunks::<16>();
            let key = slh_dsa::SigningKey::<slh_dsa::Sha2_128s>::slh_keygen_internal(
                &seeds[0], &seeds[1], &seeds[2],
            );
            for message in messages {
                signatures.push(key.try_sign(message)?.to_bytes().to_vec());
            }
            let public: &slh_dsa::VerifyingKey<_> = key.as_ref();
            public.to_bytes().to_vec()
        }
        // Here a message is a seed, and its public key is stored in the place of the signature.
        "ed25519-key-pair" => {
            let seeds = messages.iter().map(|seed| Ok(seed.as_slice().try_into()?));
            let keys = seeds.collect::<Result<Vec<[u8; 32]>>>()?;
            let public = |seed| ed25519_dalek::SigningKey::from_bytes(seed).verifying_key();
            signatures.extend(keys.iter().map(|seed| public(seed).to_bytes().to_vec()));
            Vec::new()
        }
        // The key is the secret seed, which is published here.
        "ed25519-sign" => {
            let seed = rng.bytes();
            let key = ed25519_dalek::SigningKey::from_bytes(&seed);
            let sign = |message: &Vec<u8>| ed25519_dalek::Signer::sign(&key, message).to_bytes();
            signatures.extend(messages.iter().map(|message| sign(message).to_vec()));
            seed.to_vec()
        }
        _ => bail!("no signer of it"),
    };
    Ok((key, signatures))
}

fn ml_dsa_key<P: ml_dsa::MlDsaParams>(
    messages: &[Vec<u8>],
    rng: &mut Stream,
    signatures: &mut Vec<Vec<u8>>,
) -> Result<Vec<u8>> {
    let key = ml_dsa::SigningKey::<P>::from_seed(&rng.bytes::<32>().into());
    for message in messages {
        let signature = key.expanded_key().sign_deterministic(message, b"")?;
        signatures.push(signature.encode().to_vec());
    }
    Ok(key.expanded_key().verifying_key().encode().to_vec())
}

/// A stream of bytes that are derived from a name: SHA-256 of the name and a counter.
pub(crate) struct Stream {
    name: String,
    counter: u64,
}

impl Stream {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), counter: 0 }
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill_bytes(&mut bytes);
        bytes
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.bytes()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.bytes()))
    }

    fn try_fill_bytes(&mut self, to: &mut [u8]) -> Result<(), Infallible> {
        for part in to.chunks_mut(32) {
            let block = Sha256::digest(format!("no secret: {} {}", self.name, self.counter));
            self.counter += 1;
            part.copy_from_slice(&block[..part.len()]);
        }
        Ok(())
    }
}

/// Some signers require a cryptographic generator. This one is not.
impl TryCryptoRng for Stream {}
