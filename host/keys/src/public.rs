//! Public keys and their encoding as SPKI (RFC 5280 §4.1).

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use hartlock_image::{Algorithm, HssSet, KEY_ID_SIZE, KeyRecord, XmssSet};
use pkcs8::der::asn1::{AnyRef, BitStringRef, Null, OctetStringRef};
use pkcs8::der::{Decode, Encode, Tag, Tagged};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use super::formats::{self, Encoding, Format, KeyContainer, PUBLIC_LABEL};
use super::{ForeignForm, KeyError, KeyErrorKind, ecdsa, ed25519, oids, rsa, stateful};
use crate::Error;
use crate::rsa::SchemeSources;

/// A public key, encoded as in a signature block.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    algorithm: Algorithm,
    bytes: Vec<u8>,
}

impl PublicKey {
    /// Reads a public key in SPKI, or in PKCS#1 for RSA, from a PEM or DER file.
    ///
    /// # Errors
    /// If the file cannot be read or is not a valid public key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_for(path, &[])
    }

    /// Same as [`PublicKey::read`]; `algorithms` state padding and hash of RSA keys.
    ///
    /// # Errors
    /// The errors of [`PublicKey::read`].
    pub fn read_for(path: &Path, algorithms: &[Algorithm]) -> Result<Self, Error> {
        let bytes = formats::read(path)?;
        Self::decode(&bytes, algorithms)
            .map_err(|kind| Error::Key(KeyError { path: path.to_path_buf(), kind }))
    }

    /// Decodes a key in PEM.
    ///
    /// # Errors
    /// See [`KeyErrorKind`].
    pub fn from_pem(pem: &[u8]) -> Result<Self, KeyErrorKind> {
        Self::decode_file(pem, &[], false)
    }

    /// Decodes a key in PEM or DER. `algorithms` state padding and hash of RSA keys whose files do not;
    /// entries of another modulus size have no effect.
    ///
    /// # Errors
    /// See [`KeyErrorKind`].
    pub fn decode(file: &[u8], algorithms: &[Algorithm]) -> Result<Self, KeyErrorKind> {
        Self::decode_file(file, algorithms, true)
    }

    fn decode_file(
        file: &[u8],
        algorithms: &[Algorithm],
        may_be_der: bool,
    ) -> Result<Self, KeyErrorKind> {
        if formats::is_private_label(file) {
            return Err(KeyErrorKind::IsPrivate);
        }
        let KeyContainer { encoding, der, stated, .. } = formats::open(file, may_be_der)?;
        let scheme = SchemeSources { stated, requested: algorithms, pss: None };
        match encoding {
            Encoding::Public => Self::from_spki(&der, scheme),
            Encoding::RsaPublic => {
                let algorithm = scheme.algorithm(rsa::public_bits(&der)?)?;
                Self::from_bytes(algorithm, &der)
            }
            _ => Err(KeyErrorKind::IsPrivate),
        }
    }

    /// Returns the form of a public key that this crate reads and does not write, if the file has one.
    pub fn older_form(file: &[u8]) -> Option<&'static str> {
        let KeyContainer { encoding: Encoding::Public, der, .. } =
            formats::open(file, true).ok()?
        else {
            return None;
        };
        let info = SubjectPublicKeyInfoRef::from_der(&der).ok()?;
        let is_hss = info.algorithm.oid == oids::HSS;
        info.subject_public_key.as_bytes().filter(|_| is_hss).and_then(|bytes| hss_key(bytes).1)
    }

    fn from_spki(der: &[u8], scheme: SchemeSources<'_>) -> Result<Self, KeyErrorKind> {
        let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|_| MALFORMED_SPKI)?;
        let bytes = info.subject_public_key.as_bytes().ok_or(MALFORMED_SPKI)?;
        let bytes = &*if info.algorithm.oid == oids::HSS { hss_key(bytes).0 } else { bytes.into() };
        let algorithm = identify(&info.algorithm, bytes, scheme)?;
        Self::from_bytes(algorithm, bytes)
    }

    /// Checks the encoding of a key in the same way as a verifier (image format §2.2).
    ///
    /// # Errors
    /// `WrongLength`, `CompressedPoint`, `UnsupportedAlgorithm`, or `Malformed` if a verifier would refuse
    /// the key.
    pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, KeyErrorKind> {
        let expected = algorithm.public_key_size();
        match algorithm {
            // The length of a point depends on its form, which is checked there.
            Algorithm::Ecdsa(curve) => ecdsa::check_public(curve, bytes)?,
            _ if bytes.len() != expected => {
                return Err(KeyErrorKind::WrongLength { expected, actual: bytes.len() });
            }
            Algorithm::Ed25519 => ed25519::check_public(bytes)?,
            Algorithm::Rsa { modulus_bits, .. } => {
                if rsa::public_bits(bytes)? != usize::from(modulus_bits) {
                    return Err(KeyErrorKind::Malformed("its modulus has another size"));
                }
            }
            Algorithm::Hss(_) | Algorithm::Xmss(_) | Algorithm::XmssMt(_) => {
                if !stateful::is_public_key_of(algorithm, bytes) {
                    return Err(KeyErrorKind::Malformed("it names another set of parameters"));
                }
            }
            // Every string of the right length is a valid key.
            Algorithm::MlDsa(_) | Algorithm::SlhDsa(_) => {}
        }
        Ok(Self { algorithm, bytes: bytes.to_vec() })
    }

    /// Encodes the key as SPKI in PEM.
    pub fn to_pem(&self) -> String {
        formats::key_pem(PUBLIC_LABEL, &self.to_der(), self.algorithm).to_string()
    }

    /// Encodes the key as SPKI in DER.
    pub fn to_der(&self) -> Vec<u8> {
        let algorithm = identifier(self.algorithm);
        BitStringRef::from_bytes(&self.bytes)
            .and_then(|subject_public_key| {
                SubjectPublicKeyInfoRef { algorithm, subject_public_key }.to_der()
            })
            .expect("a few kilobytes")
    }

    /// Encodes the key as SPKI in the given format.
    pub fn export(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Pem => self.to_pem().into_bytes(),
            Format::Der => self.to_der(),
        }
    }

    /// Returns the algorithm of the key.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the key as encoded in a signature block.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the record of this key in a manifest (image format §4.2).
    pub fn record(&self) -> KeyRecord {
        let (algorithm, parameters) = self.algorithm().numbers();
        KeyRecord { algorithm, parameters, key_id: self.key_id() }
    }

    /// Returns the key id (image format §2.5).
    pub fn key_id(&self) -> [u8; KEY_ID_SIZE] {
        let (algorithm, parameters) = self.algorithm().numbers();
        hartlock_verify::key_id(algorithm, parameters, self.as_bytes())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record().fmt(f)
    }
}

/// Returns the AlgorithmIdentifier of an algorithm's keys, as the standards define it.
pub(super) fn identifier(algorithm: Algorithm) -> AlgorithmIdentifierRef<'static> {
    let parameters = match algorithm {
        Algorithm::Rsa { .. } => Some(AnyRef::from(Null)),
        Algorithm::Ecdsa(curve) => Some(AnyRef::from(ecdsa::curve_identifier(curve))),
        _ => None,
    };
    AlgorithmIdentifierRef { oid: oids::of(algorithm), parameters }
}

/// Returns the algorithm of a key. If the identifier does not determine it, the rest comes from the key
/// (`public`) or from `scheme`.
pub(super) fn identify(
    identifier: &AlgorithmIdentifierRef<'_>,
    public: &[u8],
    scheme: SchemeSources<'_>,
) -> Result<Algorithm, KeyErrorKind> {
    let oid = identifier.oid;
    let numbers: Vec<u32> =
        public.as_chunks().0.iter().take(3).map(|bytes| u32::from_be_bytes(*bytes)).collect();
    let unsupported = |what: &str| KeyErrorKind::UnsupportedAlgorithm(what.to_string());
    let algorithm = match oid {
        oids::RSA | oids::RSA_PSS => {
            scheme.identified(identifier)?.algorithm(rsa::public_bits(public)?)?
        }
        oids::EC => Algorithm::Ecdsa(curve_of(identifier, false)?),
        oids::HSS => match numbers[..] {
            [levels, lms, ots] => {
                // Numbers that do not fit into a byte become 0, which no parameter set has.
                let [levels, lms, ots] =
                    [levels, lms, ots].map(|number| u8::try_from(number).unwrap_or(0));
                HssSet::new(levels, lms, ots).map(Algorithm::Hss).ok_or_else(|| {
                    let types = format!("HSS with {levels} levels and the types {lms} and {ots}");
                    KeyErrorKind::UnsupportedAlgorithm(types)
                })?
            }
            _ => return Err(KeyErrorKind::Malformed("it has no numbers of its trees")),
        },
        oids::XMSS | oids::XMSS_MT => {
            let number =
                *numbers.first().ok_or(KeyErrorKind::Malformed("it has no number of its set"))?;
            let found = match oid {
                oids::XMSS => XmssSet::single(number).map(Algorithm::Xmss),
                _ => XmssSet::multi(number).map(Algorithm::XmssMt),
            };
            found.ok_or_else(|| unsupported("XMSS with a set that SP 800-208 does not approve"))?
        }
        _ => oids::algorithm_of_identifier(oid)
            .ok_or_else(|| KeyErrorKind::UnsupportedAlgorithm(oids::name(oid)))?,
    };
    check_parameters(identifier, algorithm)?;
    scheme.check(algorithm)?;
    Ok(algorithm)
}

const MALFORMED_SPKI: KeyErrorKind =
    KeyErrorKind::Malformed("its DER is not that of a SubjectPublicKeyInfo");

/// Length in bytes of an LMS public key without its root: two types and the identifier (RFC 8554 §5.3).
const LMS_HEADER: usize = 24;
/// Lengths in bytes of the roots that SP 800-208 approves.
const LMS_ROOTS: [usize; 2] = [24, 32];

/// Returns the HSS public key in the bit string of an SPKI in the encoding of RFC 9802, and the older form that it has,
/// if it has one.
fn hss_key(bytes: &[u8]) -> (Cow<'_, [u8]>, Option<&'static str>) {
    // RFC 8708 §4 has an OCTET STRING around the key. Its tag differs from the first byte of a number of levels.
    let (bytes, wrapped) = match <&OctetStringRef>::from_der(bytes) {
        Ok(wrapped) => (wrapped.as_bytes(), true),
        Err(_) => (bytes, false),
    };
    // A key of LMS alone is shorter by the number of levels. It is that of HSS with one level (RFC 8554 §6).
    if LMS_ROOTS.iter().any(|root| bytes.len() == LMS_HEADER + root) {
        let key = [&1_u32.to_be_bytes()[..], bytes].concat();
        return (key.into(), Some("a key of LMS alone, without the number of levels"));
    }
    (bytes.into(), wrapped.then_some("RFC 8708, an octet string around the key"))
}

/// Returns the curve in the parameters of an EC key's identifier.
pub(super) fn curve_of(
    identifier: &AlgorithmIdentifierRef<'_>,
    is_private: bool,
) -> Result<hartlock_image::Curve, KeyErrorKind> {
    if identifier.parameters.is_some_and(|parameters| parameters.tag() == Tag::Sequence) {
        return Err(KeyErrorKind::ForeignForm(if is_private {
            ForeignForm::PrivateCurveInNumbers
        } else {
            ForeignForm::PublicCurveInNumbers
        }));
    }
    let oid = identifier
        .parameters_oid()
        .map_err(|_| KeyErrorKind::Malformed("its identifier names no curve"))?;
    oids::curve(oid).ok_or_else(|| {
        let name = oids::name(oid);
        let is_known = name.starts_with("EC");
        KeyErrorKind::UnsupportedAlgorithm(if is_known { name } else { "EC (ECDSA)".to_string() })
    })
}

/// Checks that the parameters have the only encoding that the algorithm allows, and that they are not left
/// out.
pub(super) fn check_parameters(
    actual: &AlgorithmIdentifierRef<'_>,
    algorithm: Algorithm,
) -> Result<(), KeyErrorKind> {
    // The parameters of PSS were checked when its hash was read. RFC 3279 §2.3.1 has NULL for RSA, and some tools leave it
    // out, which changes nothing else.
    let is_read = actual.oid == oids::RSA_PSS
        || actual.oid == oids::RSA && actual.parameters.is_none()
        || *actual == identifier(algorithm);
    if is_read {
        Ok(())
    } else {
        Err(KeyErrorKind::Malformed(
            "its identifier has other parameters than those of its algorithm",
        ))
    }
}
