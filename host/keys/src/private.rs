//! Private keys and their encoding as PKCS#8 (RFC 5958).

use std::fmt;
use std::path::Path;

use hartlock_image::{Algorithm, RsaPadding};
use pkcs8::PrivateKeyInfoRef;
use pkcs8::der::asn1::{AnyRef, BitStringRef, ContextSpecific, OctetStringRef};
use pkcs8::der::{self, Decode, Encode, Tag, TagNumber};
use pkcs8::spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use super::ecdsa::EcdsaKey;
use super::ed25519::Ed25519Key;
use super::formats::{self, ENCRYPTED_LABEL, Encoding, Format, KeyContainer, PRIVATE_LABEL};
use super::ml_dsa::MlDsaKey;
use super::public::{check_parameters, curve_of, identifier};
use super::rsa::{RsaKey, SchemeSources};
use super::slh_dsa::SlhDsaKey;
use super::stateful::StatefulKey;
use super::{KeyError, KeyErrorKind, OnProgress, Passphrase, PublicKey, encrypted, oids};
use crate::Error;

/// A function that asks the user for the passphrase of a file.
pub type AskPassphrase<'a> = &'a dyn Fn(&Path) -> Result<Passphrase, Error>;

/// Information for reading a key file that the file itself may not hold.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The algorithms that RSA keys may be for, if their files do not state it. Entries of another size
    /// than the key's have no effect.
    pub algorithms: &'a [Algorithm],
    /// The function that is called if a key is encrypted. Without it, an encrypted key is refused.
    pub passphrase: Option<AskPassphrase<'a>>,
    /// Accepts a stateful key on a file system that is not known to keep its index, such as the overlay of
    /// a container. The caller promises that there is only one copy of the file.
    pub any_file_system: bool,
}

/// A private key. Its memory is wiped when it is dropped.
pub struct PrivateKey {
    public: PublicKey,
    secret: Secret,
}

/// The secret part of a key, with one variant for each family of algorithms.
enum Secret {
    Ed25519(Ed25519Key),
    Rsa { key: RsaKey, padding: RsaPadding, hash: hartlock_image::HashId },
    Ecdsa(EcdsaKey),
    MlDsa(MlDsaKey),
    SlhDsa(SlhDsaKey),
    Stateful(StatefulKey),
}

impl Secret {
    fn rsa(key: RsaKey, scheme: SchemeSources<'_>) -> Result<(Algorithm, Self), KeyErrorKind> {
        let algorithm = scheme.algorithm(key.bits())?;
        match algorithm {
            Algorithm::Rsa { padding, hash, .. } => {
                Ok((algorithm, Secret::Rsa { key, padding, hash }))
            }
            _ => Err(KeyErrorKind::Malformed("its scheme is not one of RSA")),
        }
    }
}

impl PrivateKey {
    /// Generates an Ed25519 key from the operating system's random numbers.
    ///
    /// # Errors
    /// `NoRandomness` if there are none.
    pub fn generate() -> Result<Self, KeyErrorKind> {
        Self::generate_for(Algorithm::Ed25519, &mut |_, _| ())
    }

    /// Generates a key from the operating system's random numbers. `on_progress` counts the leaves of a
    /// tree, if the algorithm has one.
    ///
    /// # Errors
    /// `NoRandomness` if there are none.
    pub fn generate_for(
        algorithm: Algorithm,
        on_progress: OnProgress<'_>,
    ) -> Result<Self, KeyErrorKind> {
        let secret = match algorithm {
            Algorithm::Ed25519 => Secret::Ed25519(Ed25519Key::generate()?),
            Algorithm::Rsa { padding, modulus_bits, hash } => {
                Secret::Rsa { key: RsaKey::generate(modulus_bits)?, padding, hash }
            }
            Algorithm::Ecdsa(curve) => Secret::Ecdsa(EcdsaKey::generate(curve)?),
            Algorithm::MlDsa(set) => Secret::MlDsa(MlDsaKey::generate(set)?),
            Algorithm::SlhDsa(set) => Secret::SlhDsa(SlhDsaKey::generate(set)?),
            Algorithm::Hss(_) | Algorithm::Xmss(_) | Algorithm::XmssMt(_) => {
                Secret::Stateful(StatefulKey::generate(algorithm, on_progress)?)
            }
        };
        Self::of(algorithm, secret)
    }

    fn of(algorithm: Algorithm, secret: Secret) -> Result<Self, KeyErrorKind> {
        let bytes = match &secret {
            Secret::Ed25519(key) => key.public(),
            Secret::Rsa { key, .. } => key.public(),
            Secret::Ecdsa(key) => key.public(),
            Secret::MlDsa(key) => key.public(),
            Secret::SlhDsa(key) => key.public(),
            Secret::Stateful(key) => key.public_bytes().to_vec(),
        };
        Ok(Self { public: PublicKey::from_bytes(algorithm, &bytes)?, secret })
    }

    /// Reads a private key in PKCS#8, PKCS#1, SEC 1 or the stateful form. All forms are read in PEM, and
    /// all except the stateful one in DER.
    ///
    /// # Errors
    /// If the file cannot be read or is not a valid private key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::read_with(path, ReadOptions::default())
    }

    /// Same as [`PrivateKey::read`], with options for information that the file does not hold.
    ///
    /// # Errors
    /// The errors of [`PrivateKey::read`].
    pub fn read_with(path: &Path, options: ReadOptions<'_>) -> Result<Self, Error> {
        let file = formats::read(path)?;
        let fail = |kind| Error::Key(KeyError { path: path.to_path_buf(), kind });
        let opened = open(&file, true).map_err(fail)?;
        let opened = match (opened.encoding, options.passphrase) {
            (Encoding::Encrypted, Some(ask)) => decrypt(&opened, &ask(path)?).map_err(fail)?,
            _ => opened,
        };
        let mut key = Self::of_opened(&opened, options.algorithms, Some(path)).map_err(fail)?;
        if let (Secret::Stateful(key), true) = (&mut key.secret, options.any_file_system) {
            key.accept_any_file_system();
        }
        Ok(key)
    }

    /// Returns the name of the file system of a stateful key, if that file system is not known to keep the
    /// index.
    pub fn unsupported_file_system(&self) -> Option<String> {
        match &self.secret {
            Secret::Stateful(key) => key.unsupported_file_system(),
            _ => None,
        }
    }

    /// Decodes an unencrypted key in PEM. A stateful key that is decoded so cannot sign, because it has no
    /// file.
    ///
    /// # Errors
    /// See [`KeyErrorKind`].
    pub fn from_pem(pem: &[u8]) -> Result<Self, KeyErrorKind> {
        Self::of_opened(&open(pem, false)?, &[], None)
    }

    /// Decodes a key in PEM or DER, and decrypts it with `passphrase` if it is encrypted.
    ///
    /// # Errors
    /// See [`KeyErrorKind`].
    pub fn decode(
        file: &[u8],
        algorithms: &[Algorithm],
        passphrase: Option<&[u8]>,
    ) -> Result<Self, KeyErrorKind> {
        let mut opened = open(file, true)?;
        if let (Encoding::Encrypted, Some(passphrase)) = (opened.encoding, passphrase) {
            opened = decrypt(&opened, passphrase)?;
        }
        Self::of_opened(&opened, algorithms, None)
    }

    fn of_opened(
        opened: &KeyContainer,
        algorithms: &[Algorithm],
        path: Option<&Path>,
    ) -> Result<Self, KeyErrorKind> {
        let scheme = SchemeSources { stated: opened.stated, requested: algorithms, pss: None };
        let (algorithm, secret) = match opened.encoding {
            Encoding::Private => return Self::from_pkcs8(&opened.der, scheme),
            Encoding::Encrypted => return Err(KeyErrorKind::Encrypted),
            Encoding::RsaPrivate => Secret::rsa(RsaKey::decode(&opened.der)?, scheme)?,
            Encoding::EcPrivate => {
                let key = EcdsaKey::decode(&opened.der, opened.curve)?;
                (Algorithm::Ecdsa(key.curve()), Secret::Ecdsa(key))
            }
            Encoding::Stateful => {
                let key = StatefulKey::decode(&opened.der, path)?;
                (key.algorithm(), Secret::Stateful(key))
            }
            Encoding::Public | Encoding::RsaPublic => return Err(KeyErrorKind::IsPublic),
        };
        scheme.check(algorithm)?;
        Self::of(algorithm, secret)
    }

    fn from_pkcs8(der: &[u8], scheme: SchemeSources<'_>) -> Result<Self, KeyErrorKind> {
        let info = PrivateKeyInfoRef::from_der(der)
            .or_else(|_| explicit_public_half(der))
            .map_err(|_| KeyErrorKind::Malformed("its DER is not that of PKCS#8"))?;
        let encoded = info.private_key.as_bytes();
        let public = info.public_key.map(|public| public.as_bytes().map(<[u8]>::to_vec));
        let identified = info.algorithm;
        let (algorithm, secret) = match identified.oid {
            oids::RSA | oids::RSA_PSS => {
                Secret::rsa(RsaKey::decode(encoded)?, scheme.identified(&identified)?)?
            }
            oids::EC => {
                let key = EcdsaKey::decode(encoded, Some(curve_of(&identified, true)?))?;
                (Algorithm::Ecdsa(key.curve()), Secret::Ecdsa(key))
            }
            oid => {
                let algorithm = oids::algorithm_of_identifier(oid)
                    .ok_or_else(|| KeyErrorKind::UnsupportedAlgorithm(oids::name(oid)))?;
                let secret = match algorithm {
                    Algorithm::MlDsa(set) => Secret::MlDsa(MlDsaKey::decode(set, encoded)?),
                    Algorithm::SlhDsa(set) => Secret::SlhDsa(SlhDsaKey::decode(set, encoded)?),
                    _ => Secret::Ed25519(Ed25519Key::decode(info)?),
                };
                (algorithm, secret)
            }
        };
        check_parameters(&identified, algorithm)?;
        scheme.check(algorithm)?;
        let key = Self::of(algorithm, secret)?;
        match public {
            Some(public) if public.as_deref() != Some(key.public.as_bytes()) => {
                Err(KeyErrorKind::PublicHalfDiffers)
            }
            _ => Ok(key),
        }
    }

    /// Encodes the key as PKCS#8 version 1, without the public key, as `openssl genpkey` does. Readers
    /// that are older than RFC 5958 refuse version 2.
    fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>, KeyErrorKind> {
        let encoded = match &self.secret {
            Secret::Ed25519(key) => key.encode(),
            Secret::Rsa { key, .. } => key.encode(),
            Secret::Ecdsa(key) => key.encode(),
            Secret::MlDsa(key) => key.encode(),
            Secret::SlhDsa(key) => key.encode(),
            Secret::Stateful(_) => return Err(KeyErrorKind::StateNotExported),
        };
        let info = OctetStringRef::new(&encoded)
            .map(|encoded| PrivateKeyInfoRef::new(identifier(self.public.algorithm()), encoded))
            .and_then(|info| info.to_der())
            .expect("a few kilobytes");
        Ok(Zeroizing::new(info))
    }

    /// Encodes the key as PKCS#8 in PEM.
    ///
    /// # Errors
    /// `StateNotExported` for a stateful key, of which only one file may exist.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyErrorKind> {
        Ok(formats::key_pem(PRIVATE_LABEL, &self.to_pkcs8()?, self.algorithm()))
    }

    /// Encodes the key as PKCS#8, encrypted if a passphrase is given.
    ///
    /// # Errors
    /// `StateNotExported` for a stateful key, `NoRandomness` if there is none for salt and IV.
    pub fn export(
        &self,
        format: Format,
        passphrase: Option<&[u8]>,
    ) -> Result<Zeroizing<Vec<u8>>, KeyErrorKind> {
        let plain = self.to_pkcs8()?;
        let (label, der) = match passphrase {
            None => (PRIVATE_LABEL, plain),
            Some(passphrase) => {
                let document = encrypted::encrypt(&plain, passphrase)?;
                (ENCRYPTED_LABEL, Zeroizing::new(document.as_bytes().to_vec()))
            }
        };
        Ok(match format {
            Format::Der => der,
            Format::Pem => {
                let text = formats::key_pem(label, &der, self.algorithm());
                Zeroizing::new(text.as_bytes().to_vec())
            }
        })
    }

    /// Returns the content of a new key file: that of [`PrivateKey::export`], or the initial state of a
    /// stateful key.
    pub(super) fn first_file(
        &self,
        format: Format,
        passphrase: Option<&[u8]>,
    ) -> Result<Zeroizing<Vec<u8>>, KeyErrorKind> {
        match &self.secret {
            // A stateful file changes with each signature, so it has one form and no passphrase.
            Secret::Stateful(key) if format == Format::Pem && passphrase.is_none() => {
                Ok(Zeroizing::new(key.to_pem().as_bytes().to_vec()))
            }
            _ => self.export(format, passphrase),
        }
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        self.public.clone()
    }

    /// Returns the algorithm of the key.
    pub const fn algorithm(&self) -> Algorithm {
        self.public.algorithm()
    }

    /// Returns the number of signatures that are left and the total number, or `None` if signing does not
    /// use the key up.
    pub fn signatures_left(&self) -> Option<(u64, u64)> {
        match &self.secret {
            Secret::Stateful(key) => Some((key.left(), key.capacity())),
            _ => None,
        }
    }

    /// Returns the length of a signature in bytes.
    pub fn signature_size(&self) -> usize {
        match &self.secret {
            Secret::Stateful(key) => key.signature_size(),
            _ => self.algorithm().signature_size().unwrap_or(0),
        }
    }

    /// Signs a message. A key without a state gives the same signature for the same message; a stateful
    /// key spends an index of its file for each signature.
    ///
    /// # Errors
    /// If there are no random numbers for blinding, or if no index can be spent safely.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.sign_observed(message, &mut |_, _| ())
    }

    /// Same as [`PrivateKey::sign`]; `on_progress` counts the leaves of trees, if the algorithm has them.
    ///
    /// # Errors
    /// The errors of [`PrivateKey::sign`].
    pub fn sign_observed(
        &self,
        message: &[u8],
        on_progress: OnProgress<'_>,
    ) -> Result<Vec<u8>, Error> {
        Ok(match &self.secret {
            Secret::Ed25519(key) => key.sign(message),
            Secret::Rsa { key, padding, hash } => key
                .sign(*padding, *hash, message)
                .map_err(|kind| Error::Key(KeyError { path: "-".into(), kind }))?,
            Secret::Ecdsa(key) => key.sign(message),
            Secret::MlDsa(key) => key.sign(message),
            Secret::SlhDsa(key) => key.sign(message),
            Secret::Stateful(key) => key.sign(message, on_progress)?,
        })
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "private half of {:?}", self.public)
    }
}

/// Opens the container of a private key; `IsPublic` if the file holds a public key.
fn open(file: &[u8], may_be_der: bool) -> Result<KeyContainer, KeyErrorKind> {
    if formats::is_public_label(file) {
        return Err(KeyErrorKind::IsPublic);
    }
    let opened = formats::open(file, may_be_der)?;
    if opened.encoding.is_private() { Ok(opened) } else { Err(KeyErrorKind::IsPublic) }
}

/// Decodes PKCS#8 whose public key has an explicit tag (`[1] EXPLICIT BIT STRING`), as earlier versions of the library
/// `ring` wrote it. RFC 5958 §2 has an implicit tag.
fn explicit_public_half(der: &[u8]) -> der::Result<PrivateKeyInfoRef<'_>> {
    AnyRef::from_der(der)?.sequence(|reader| {
        let version = u8::decode(reader)?;
        let algorithm = AlgorithmIdentifierRef::decode(reader)?;
        let private_key = <&OctetStringRef>::decode(reader)?;
        let public = ContextSpecific::<BitStringRef<'_>>::decode_explicit(reader, TagNumber(1))?;
        let mut info = PrivateKeyInfoRef::new(algorithm, private_key);
        info.public_key = public.map(|public| public.value);
        // Only version 2, whose number is 1, has a public key.
        let is_version_2 = version == 1 && info.public_key.is_some();
        if is_version_2 { Ok(info) } else { Err(Tag::Integer.value_error().into()) }
    })
}

fn decrypt(opened: &KeyContainer, passphrase: &[u8]) -> Result<KeyContainer, KeyErrorKind> {
    let document = encrypted::decrypt(&opened.der, passphrase)?;
    let der = Zeroizing::new(document.as_bytes().to_vec());
    Ok(KeyContainer { encoding: Encoding::Private, der, stated: opened.stated, curve: None })
}
