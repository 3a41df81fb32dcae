//! RSA keys (RFC 8017): PSS and PKCS#1 v1.5 with a blinded private-key operation.
//!
//! Both paddings are implemented here, because PSS must give the same signature for the same message: its salt is
//! an HMAC over the digest, keyed with the private key. Without the private key, this salt cannot be
//! distinguished from a random one, so forging a signature is as hard as with any salt (RFC 8017 §9.1 even allows
//! a fixed one).

use ::rsa::BoxedUint;
use ::rsa::RsaPrivateKey;
use ::rsa::hazmat::rsa_decrypt_and_check;
use ::rsa::pkcs1::{DecodeRsaPrivateKey, EncodeRsaPrivateKey};
use ::rsa::rand_core::UnwrapErr;
use ::rsa::traits::{PrivateKeyParts, PublicKeyParts};
use getrandom::SysRng;
use hartlock_image::{Algorithm, HashId, RsaPadding};
use hmac::{Hmac, KeyInit, Mac};
use pkcs1::{RsaPssParamsOwned as RsaPssParams, RsaPublicKeyRef, UintRef};
use pkcs8::AssociatedOid;
use pkcs8::der::{Decode, Encode};
use pkcs8::spki::AlgorithmIdentifierRef;
use sha2::{Digest, Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

use super::random::random;
use super::{KeyErrorKind, oids};

/// The only public exponent that bundles have, 65537 (image format §2.2).
const EXPONENT: [u8; 3] = [1, 0, 1];

/// Returns the modulus size in bits of a public key in PKCS#1, which must be a size that bundles have.
pub(super) fn public_bits(der: &[u8]) -> Result<usize, KeyErrorKind> {
    let key = RsaPublicKeyRef::from_der(der)
        .map_err(|_| KeyErrorKind::Malformed("its DER is not that of an RSAPublicKey"))?;
    let modulus = key.modulus.as_bytes();
    let bits =
        modulus.first().map_or(0, |first| 8 * modulus.len() - first.leading_zeros() as usize);
    let unsupported = |what: String| Err(KeyErrorKind::UnsupportedAlgorithm(what));
    if !matches!(bits, 2048 | 3072 | 4096) {
        return unsupported(format!("RSA with {bits} bits"));
    }
    if key.public_exponent.as_bytes() != EXPONENT {
        return unsupported("RSA with another public exponent than 65537".to_string());
    }
    // A product of two odd primes is odd.
    if modulus.last().is_none_or(|last| last & 1 == 0) {
        return Err(KeyErrorKind::Malformed("its modulus is even"));
    }
    Ok(bits)
}

/// The sources that state padding and hash of an RSA key, which its numbers do not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SchemeSources<'a> {
    /// The algorithm in the line before the key.
    pub(super) stated: Option<Algorithm>,
    /// The algorithms given by the caller. Entries of another modulus size have no effect.
    pub(super) requested: &'a [Algorithm],
    /// Some if the identifier of the key is id-RSASSA-PSS; the inner value is the hash, if the identifier names
    /// one.
    pub(super) pss: Option<Option<HashId>>,
}

impl SchemeSources<'_> {
    /// Returns the algorithm of a key of this modulus size. All sources that state it must agree. There is no
    /// default, because another scheme gives another key id.
    pub(super) fn algorithm(&self, bits: usize) -> Result<Algorithm, KeyErrorKind> {
        let modulus_bits = u16::try_from(bits)
            .map_err(|_| KeyErrorKind::Malformed("its modulus is far too long"))?;
        let padding = RsaPadding::Pss;
        let identified =
            self.pss.flatten().map(|hash| Algorithm::Rsa { padding, modulus_bits, hash });
        let is_of_size = |it: &&Algorithm| matches!(it, Algorithm::Rsa { modulus_bits: of, .. } if *of == modulus_bits);
        let mut requested = self.requested.iter().filter(is_of_size).copied();
        // If the caller gives several algorithms of this size, the one that the file states is used.
        let of_file = identified.or(self.stated);
        let requested = requested.clone().find(|it| Some(*it) == of_file).or(requested.next());
        let said = [identified, self.stated, requested];
        let chosen = said.into_iter().flatten().next();
        let chosen = chosen.ok_or(KeyErrorKind::SchemeNotStated(bits))?;
        if let Some(other) = said.into_iter().flatten().find(|other| *other != chosen) {
            let (key, asked) = (chosen.to_string(), other.to_string());
            return Err(KeyErrorKind::OtherScheme { key, asked });
        }
        match chosen {
            Algorithm::Rsa { modulus_bits: of, padding: own, .. }
                if of == modulus_bits && (self.pss.is_none() || own == padding) =>
            {
                Ok(chosen)
            }
            _ => {
                let name = if self.pss.is_some() { "RSA-PSS" } else { "RSA" };
                let key = format!("{name} with {bits} bits");
                Err(KeyErrorKind::OtherAlgorithm { key, asked: chosen.to_string() })
            }
        }
    }

    /// Checks that the line before a key of any algorithm names that algorithm.
    pub(super) fn check(&self, algorithm: Algorithm) -> Result<(), KeyErrorKind> {
        match self.stated {
            Some(stated) if stated != algorithm => Err(KeyErrorKind::OtherAlgorithm {
                key: algorithm.to_string(),
                asked: stated.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Adds what the identifier of an RSA key states about padding and hash.
    pub(super) fn identified(
        self,
        identifier: &AlgorithmIdentifierRef<'_>,
    ) -> Result<Self, KeyErrorKind> {
        if identifier.oid == oids::RSA {
            return Ok(self);
        }
        let Some(parameters) = identifier.parameters else {
            return Ok(Self { pss: Some(None), ..self });
        };
        let der = parameters.to_der().map_err(|_| MALFORMED_PSS)?;
        let parameters = RsaPssParams::from_der(&der).map_err(|_| MALFORMED_PSS)?;
        let hash = [HashId::Sha256, HashId::Sha384, HashId::Sha512]
            .into_iter()
            .zip([(Sha256::OID, 32), (Sha384::OID, 48), (Sha512::OID, 64)])
            .find(|(_, (oid, _))| *oid == parameters.hash.oid);
        let unsupported = |what: String| Err(KeyErrorKind::UnsupportedAlgorithm(what));
        let Some((hash, (oid, digest))) = hash else {
            return unsupported(format!("RSA-PSS with {}", oids::hash_name(parameters.hash.oid)));
        };
        // Image format §2.2: the message and MGF1 use the same hash, and the salt has the length of its digest.
        let mask = parameters.mask_gen.parameters.filter(|_| parameters.mask_gen.oid == oids::MGF1);
        match mask {
            Some(mask) if mask.oid == oid => {}
            Some(mask) => {
                let (own, other) = (oids::hash_name(oid), oids::hash_name(mask.oid));
                return unsupported(format!("RSA-PSS with {own} and a mask of {other}"));
            }
            None => return unsupported("RSA-PSS with a mask that is not MGF1".to_string()),
        }
        // RFC 4055 §3.1: the salt length of a key is the shortest that a signature with it may have.
        if parameters.salt_len > digest {
            return unsupported(format!(
                "RSA-PSS with salts of at least {} bytes, which is more than the {digest} of a digest",
                parameters.salt_len
            ));
        }
        Ok(Self { pss: Some(Some(hash)), ..self })
    }
}

/// A private key. Its memory is wiped when it is dropped.
pub(super) struct RsaKey(RsaPrivateKey);

impl RsaKey {
    pub(super) fn generate(bits: u16) -> Result<Self, KeyErrorKind> {
        // The key generator below cannot report that there are no random numbers.
        random(&mut [0; 32])?;
        RsaPrivateKey::new(&mut UnwrapErr(SysRng), bits.into())
            .map(Self)
            .map_err(|_| KeyErrorKind::NoRandomness)
    }

    /// Decodes an RSAPrivateKey (RFC 8017 appendix A.1.2) and checks that its numbers belong together.
    pub(super) fn decode(der: &[u8]) -> Result<Self, KeyErrorKind> {
        const MALFORMED: KeyErrorKind =
            KeyErrorKind::Malformed("its DER is not that of an RSAPrivateKey");
        let parts = pkcs1::RsaPrivateKeyRef::from_der(der).map_err(|_| MALFORMED)?;
        let public = encode_public(&parts.modulus, &parts.public_exponent).ok_or(MALFORMED)?;
        public_bits(&public)?;
        let key =
            RsaPrivateKey::from_pkcs1_der(der).map_err(|_| KeyErrorKind::PublicHalfDiffers)?;
        // All numbers that are computed from the primes must equal those in the file.
        match key.to_pkcs1_der() {
            Ok(again) if again.as_bytes() == der => Ok(Self(key)),
            _ => Err(KeyErrorKind::PublicHalfDiffers),
        }
    }

    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let document = self.0.to_pkcs1_der().expect("two primes");
        Zeroizing::new(document.as_bytes().to_vec())
    }

    pub(super) fn bits(&self) -> usize {
        self.0.n().bits_vartime() as usize
    }

    /// Returns the public key as an RSAPublicKey in DER.
    pub(super) fn public(&self) -> Vec<u8> {
        let (modulus, exponent) = (self.0.n().to_be_bytes(), self.0.e().to_be_bytes());
        public_of(&modulus, &exponent).expect("two numbers")
    }

    /// Signs a message.
    ///
    /// # Errors
    /// `NoRandomness` if there are no random numbers for blinding, `PublicHalfDiffers` if the signature does not
    /// verify.
    pub(super) fn sign(
        &self,
        padding: RsaPadding,
        hash: HashId,
        message: &[u8],
    ) -> Result<Vec<u8>, KeyErrorKind> {
        let size = self.bits() / 8;
        let digest = hash_of(hash, &[message]);
        let encoded = match padding {
            RsaPadding::Pss => emsa_pss(hash, &digest, &self.salt(hash, &digest), size),
            RsaPadding::Pkcs1 => emsa_pkcs1(hash, &digest, size),
        };
        random(&mut [0; 32])?;
        let number = BoxedUint::from_be_slice(&encoded, self.0.n_bits_precision())
            .map_err(|_| OUT_OF_RANGE)?;
        // This call also verifies the result with the public exponent: a faulty signature would reveal the
        // primes.
        let signature = rsa_decrypt_and_check(&self.0, Some(&mut SysRng), &number)
            .map_err(|_| KeyErrorKind::PublicHalfDiffers)?;
        let bytes = signature.to_be_bytes();
        let (zeros, signature) = bytes.split_at_checked(bytes.len() - size).ok_or(OUT_OF_RANGE)?;
        if zeros.iter().all(|zero| *zero == 0) { Ok(signature.to_vec()) } else { Err(OUT_OF_RANGE) }
    }

    /// Derives the salt of PSS. It has the length of a digest and cannot be predicted before the signature
    /// exists.
    fn salt(&self, hash: HashId, digest: &[u8]) -> Vec<u8> {
        let exponent = Zeroizing::new(self.0.d().to_be_bytes());
        let key = Zeroizing::new(Sha512::digest(&exponent[..]));
        let parts: [&[u8]; 3] = [b"HLKpsssl", &[hash as u8], digest];
        macro_rules! mac {
            ($hash:ty) => {{
                let mut mac =
                    Hmac::<$hash>::new_from_slice(&key[..]).expect("HMAC takes keys of any length");
                parts.iter().for_each(|part| mac.update(part));
                mac.finalize().into_bytes().to_vec()
            }};
        }
        match hash {
            HashId::Sha256 => mac!(Sha256),
            HashId::Sha384 => mac!(Sha384),
            _ => mac!(Sha512),
        }
    }
}

const MALFORMED_PSS: KeyErrorKind =
    KeyErrorKind::Malformed("its identifier has parameters that are not those of RSASSA-PSS");
const OUT_OF_RANGE: KeyErrorKind = KeyErrorKind::Malformed("a number is out of range");

/// Encodes an RSAPublicKey (RFC 8017 appendix A.1.1) from the bytes of its numbers.
pub(super) fn public_of(modulus: &[u8], exponent: &[u8]) -> Option<Vec<u8>> {
    encode_public(&UintRef::new(modulus).ok()?, &UintRef::new(exponent).ok()?)
}

fn encode_public(modulus: &UintRef<'_>, exponent: &UintRef<'_>) -> Option<Vec<u8>> {
    RsaPublicKeyRef { modulus: *modulus, public_exponent: *exponent }.to_der().ok()
}

/// Computes SHA-256, SHA-384 or SHA-512 over the parts; RSA is not used with other hashes.
fn hash_of(hash: HashId, parts: &[&[u8]]) -> Vec<u8> {
    fn digest<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
        let mut hash = D::new();
        parts.iter().for_each(|part| hash.update(part));
        hash.finalize().to_vec()
    }
    match hash {
        HashId::Sha256 => digest::<Sha256>(parts),
        HashId::Sha384 => digest::<Sha384>(parts),
        _ => digest::<Sha512>(parts),
    }
}

/// Encodes EMSA-PSS (RFC 8017 §9.1.1) for a modulus of `size` bytes, whose top bit is set.
fn emsa_pss(hash: HashId, digest: &[u8], salt: &[u8], size: usize) -> Vec<u8> {
    let h = hash_of(hash, &[&[0; 8], digest, salt]);
    let mut db = vec![0; size - h.len() - 1];
    let at = db.len() - salt.len();
    db[at - 1] = 1;
    db[at..].copy_from_slice(salt);
    for (counter, block) in (0_u32..).zip(db.chunks_mut(h.len())) {
        // MGF1 (RFC 8017 appendix B.2.1).
        let mask = hash_of(hash, &[&h, &counter.to_be_bytes()]);
        block.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    }
    // emBits is one less than the number of bits of the modulus.
    db[0] &= 0x7f;
    [&db[..], &h, &[0xbc]].concat()
}

/// Encodes EMSA-PKCS1-v1_5 (RFC 8017 §9.2).
fn emsa_pkcs1(hash: HashId, digest: &[u8], size: usize) -> Vec<u8> {
    // The last arc of the identifier of the hash, after 2.16.840.1.101.3.4.2 (RFC 8017 appendix B.1).
    let arc = match hash {
        HashId::Sha256 => 1,
        HashId::Sha384 => 2,
        _ => 3,
    };
    let len = digest.len() as u8;
    let mut info = vec![0x30, 17 + len, 0x30, 13, 0x06, 9];
    info.extend([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, arc, 0x05, 0, 0x04, len]);
    info.extend(digest);
    let mut encoded = vec![0xff; size];
    encoded[..2].copy_from_slice(&[0, 1]);
    let at = size - info.len();
    encoded[at - 1] = 0;
    encoded[at..].copy_from_slice(&info);
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No standard requires the larger prime to be first, and not every tool puts it first.
    #[test]
    fn primes_may_stand_in_any_order() {
        let key = RsaKey::generate(2048).unwrap();
        let (n, e, d) = (key.0.n().as_ref().clone(), key.0.e().clone(), key.0.d().clone());
        let primes: Vec<BoxedUint> =
            key.0.primes().iter().rev().map(|prime| prime.as_ref().clone()).collect();
        let swapped = RsaPrivateKey::from_components(n, e, d, primes).unwrap();
        let der = swapped.to_pkcs1_der().unwrap();
        let again = RsaKey::decode(der.as_bytes()).unwrap();
        assert_eq!(again.public(), key.public());
        assert_ne!(again.encode(), key.encode());
        let sign = |key: &RsaKey| key.sign(RsaPadding::Pkcs1, HashId::Sha256, b"").unwrap();
        assert_eq!(sign(&again), sign(&key));
    }
}
