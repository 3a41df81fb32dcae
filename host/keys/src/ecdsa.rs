//! ECDSA keys on P-256 and P-384 (RFC 5480, RFC 5915).
//!
//! Signatures use the deterministic nonces of RFC 6979: the same message always gives the same signature,
//! and signing cannot fail for lack of random numbers.

use hartlock_image::Curve;
use pkcs8::ObjectIdentifier;
use pkcs8::der::asn1::{AnyRef, ContextSpecific, OctetStringRef};
use pkcs8::der::{Decode, Encode, Reader, Tag, TagNumber, Tagged};
use sec1::EcPrivateKey;
use zeroize::Zeroizing;

use super::random::random;
use super::{ForeignForm, KeyErrorKind, oids};

/// Returns the length in bytes of a coordinate and of a private key.
const fn field_size(curve: Curve) -> usize {
    match curve {
        Curve::P256 => 32,
        Curve::P384 => 48,
    }
}

pub(super) const fn curve_identifier(curve: Curve) -> &'static ObjectIdentifier {
    match curve {
        Curve::P256 => &oids::P256,
        Curve::P384 => &oids::P384,
    }
}

/// Checks that a public key is an uncompressed point on the curve, the only form that bundles have (image
/// format §2.2).
///
/// # Errors
/// `CompressedPoint`, `WrongLength`, or `Malformed` if the point is not on the curve.
pub(super) fn check_public(curve: Curve, bytes: &[u8]) -> Result<(), KeyErrorKind> {
    let (expected, actual) = (1 + 2 * field_size(curve), bytes.len());
    if matches!(bytes.first(), Some(2 | 3)) && actual == 1 + field_size(curve) {
        return Err(KeyErrorKind::CompressedPoint);
    }
    if actual != expected {
        return Err(KeyErrorKind::WrongLength { expected, actual });
    }
    let is_valid = bytes.first() == Some(&4)
        && match curve {
            Curve::P256 => p256::ecdsa::VerifyingKey::from_sec1_bytes(bytes).is_ok(),
            Curve::P384 => p384::ecdsa::VerifyingKey::from_sec1_bytes(bytes).is_ok(),
        };
    if is_valid {
        Ok(())
    } else {
        Err(KeyErrorKind::Malformed(
            "its point is not on the curve, or has another form than two coordinates",
        ))
    }
}

/// Returns why an ECPrivateKey cannot be decoded. The library reads only curves that are named.
fn of_broken_key(der: &[u8]) -> KeyErrorKind {
    let parameters = AnyRef::from_der(der).and_then(|key| {
        key.sequence(|reader| {
            u8::decode(reader)?;
            <&OctetStringRef>::decode(reader)?;
            let parameters = ContextSpecific::<AnyRef<'_>>::decode_explicit(reader, TagNumber(0))?;
            reader.drain(reader.remaining_len())?;
            Ok(parameters)
        })
    });
    match parameters {
        Ok(Some(it)) if it.value.tag() == Tag::Sequence => {
            KeyErrorKind::ForeignForm(ForeignForm::PrivateCurveInNumbers)
        }
        _ => KeyErrorKind::Malformed("its DER is not that of an ECPrivateKey"),
    }
}

/// A private key. Its memory is wiped when it is dropped.
pub(super) enum EcdsaKey {
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
}

impl EcdsaKey {
    pub(super) fn generate(curve: Curve) -> Result<Self, KeyErrorKind> {
        // FIPS 186-5 appendix A.2.2: a candidate that is out of range is discarded, which happens very
        // rarely.
        loop {
            let mut scalar = Zeroizing::new(vec![0; field_size(curve)]);
            random(&mut scalar)?;
            if let Ok(key) = Self::from_scalar(curve, &scalar) {
                return Ok(key);
            }
        }
    }

    fn from_scalar(curve: Curve, scalar: &[u8]) -> Result<Self, KeyErrorKind> {
        // RFC 5915 §3 has a fixed length, and some tools leave zeros at the front away or put one there. Either way the
        // number is the same.
        let (expected, actual) = (field_size(curve), scalar.len());
        let zeros = scalar.iter().take_while(|byte| **byte == 0).count();
        let number = &scalar[zeros..];
        if number.len() > expected {
            return Err(KeyErrorKind::WrongLength { expected, actual });
        }
        let mut padded = Zeroizing::new(vec![0; expected - number.len()]);
        padded.reserve_exact(number.len());
        padded.extend(number);
        let scalar = &padded[..];
        let malformed =
            |_| KeyErrorKind::Malformed("its number is zero or not below the order of the curve");
        Ok(match curve {
            Curve::P256 => {
                EcdsaKey::P256(p256::ecdsa::SigningKey::from_slice(scalar).map_err(malformed)?)
            }
            Curve::P384 => {
                EcdsaKey::P384(p384::ecdsa::SigningKey::from_slice(scalar).map_err(malformed)?)
            }
        })
    }

    /// Decodes an ECPrivateKey. `curve` is the curve that the container names, if it names one.
    pub(super) fn decode(der: &[u8], curve: Option<Curve>) -> Result<Self, KeyErrorKind> {
        let key = EcPrivateKey::from_der(der).map_err(|_| of_broken_key(der))?;
        let own = match key.parameters.and_then(sec1::EcParameters::named_curve) {
            Some(oid) => Some(oids::curve(oid).ok_or_else(|| {
                KeyErrorKind::UnsupportedAlgorithm(oids::name(oid).replace("the algorithm", "EC"))
            })?),
            None => None,
        };
        let curve = match (curve, own) {
            (Some(outer), Some(own)) if outer != own => {
                return Err(KeyErrorKind::PublicHalfDiffers);
            }
            (outer, own) => {
                outer.or(own).ok_or(KeyErrorKind::Malformed("nothing names its curve"))?
            }
        };
        let decoded = Self::from_scalar(curve, key.private_key)?;
        // Some tools write the public key as a compressed point here.
        let is_own = |public| public == decoded.public() || public == decoded.compressed();
        if key.public_key.is_none_or(is_own) {
            Ok(decoded)
        } else {
            Err(KeyErrorKind::PublicHalfDiffers)
        }
    }

    /// Encodes an ECPrivateKey with the public key and without the curve, as `openssl genpkey` writes it
    /// within PKCS#8, whose algorithm identifier already names the curve.
    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let (scalar, public) = (self.scalar(), self.public());
        let key =
            EcPrivateKey { private_key: &scalar, parameters: None, public_key: Some(&public) };
        Zeroizing::new(key.to_der().expect("an encoding of fixed size"))
    }

    fn scalar(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(match self {
            EcdsaKey::P256(key) => key.to_bytes().to_vec(),
            EcdsaKey::P384(key) => key.to_bytes().to_vec(),
        })
    }

    pub(super) const fn curve(&self) -> Curve {
        match self {
            EcdsaKey::P256(_) => Curve::P256,
            EcdsaKey::P384(_) => Curve::P384,
        }
    }

    pub(super) fn public(&self) -> Vec<u8> {
        match self {
            EcdsaKey::P256(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            EcdsaKey::P384(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
        }
    }

    /// Returns the public key as a compressed point: x and the sign of y (SEC 1 §2.3.3).
    fn compressed(&self) -> Vec<u8> {
        match self {
            EcdsaKey::P256(key) => key.verifying_key().to_sec1_point(true).as_bytes().to_vec(),
            EcdsaKey::P384(key) => key.verifying_key().to_sec1_point(true).as_bytes().to_vec(),
        }
    }

    /// Signs a message and returns the concatenation of r and s.
    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            EcdsaKey::P256(key) => {
                let signature: p256::ecdsa::Signature =
                    p256::ecdsa::signature::Signer::sign(key, message);
                signature.to_bytes().to_vec()
            }
            EcdsaKey::P384(key) => {
                let signature: p384::ecdsa::Signature =
                    p384::ecdsa::signature::Signer::sign(key, message);
                signature.to_bytes().to_vec()
            }
        }
    }
}
