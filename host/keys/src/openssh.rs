//! Keys in the forms of OpenSSH (RFC 4253 §6.6; PROTOCOL.key of OpenSSH), which a library reads. They are encoded again in
//! the forms of the other tools, whose rules then apply.

use pkcs8::der::Encode;
use pkcs8::der::asn1::{AnyRef, BitStringRef, Null, OctetStringRef};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pkcs8::{ObjectIdentifier, PrivateKeyInfoRef};
use rsa::pkcs1::EncodeRsaPrivateKey;
use rsa::{BoxedUint, RsaPrivateKey};
use sec1::EcPrivateKey;
use ssh_key::private::{EcdsaKeypair, KeypairData, RsaKeypair};
use ssh_key::public::{EcdsaPublicKey, KeyData};
use ssh_key::{EcdsaCurve, Mpint};
use zeroize::Zeroizing;

use super::formats::Encoding;
use super::{ForeignForm, KeyErrorKind, oids};

/// PEM label of a private key.
pub(super) const LABEL: &str = "OPENSSH PRIVATE KEY";
/// The first words of the lines of public keys.
const NAMES: [&str; 4] = ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"];

const BROKEN: KeyErrorKind = KeyErrorKind::ForeignForm(ForeignForm::BrokenOpenSsh);

/// Returns true if a text begins like the line of a public key.
pub(super) fn is_public(text: &str) -> bool {
    NAMES.iter().any(|name| text.starts_with(name))
}

/// Decodes the line of a public key, and encodes the key as SPKI.
pub(super) fn public(text: &str) -> Result<(Encoding, Vec<u8>), KeyErrorKind> {
    let mut lines = text.lines().filter(|line| !line.trim_ascii().is_empty());
    let line = lines.next().unwrap_or_default().trim_ascii();
    if lines.next().is_some() {
        return Err(KeyErrorKind::TrailingData("more than one line of OpenSSH"));
    }
    let name = line.split_ascii_whitespace().next().unwrap_or_default();
    if name.contains("-cert-") {
        return Err(KeyErrorKind::ForeignForm(ForeignForm::OpenSshCertificate));
    }
    let key = ssh_key::PublicKey::from_openssh(line).map_err(|_| BROKEN)?;
    let spki = |oid, parameters, key: &[u8]| {
        let algorithm = AlgorithmIdentifierRef { oid, parameters };
        BitStringRef::from_bytes(key)
            .and_then(|subject_public_key| {
                SubjectPublicKeyInfoRef { algorithm, subject_public_key }.to_der()
            })
            .map_err(|_| BROKEN)
    };
    let der = match key.key_data() {
        KeyData::Ed25519(key) => spki(oids::ED25519, None, &key.0),
        KeyData::Ecdsa(EcdsaPublicKey::NistP256(point)) => {
            spki(oids::EC, Some(AnyRef::from(&oids::P256)), point.as_bytes())
        }
        KeyData::Ecdsa(EcdsaPublicKey::NistP384(point)) => {
            spki(oids::EC, Some(AnyRef::from(&oids::P384)), point.as_bytes())
        }
        KeyData::Rsa(key) => {
            let public = super::rsa::public_of(number(key.n())?, number(key.e())?).ok_or(BROKEN)?;
            spki(oids::RSA, Some(AnyRef::from(Null)), &public)
        }
        KeyData::SkEd25519(_) | KeyData::SkEcdsaSha2NistP256(_) => {
            Err(KeyErrorKind::ForeignForm(ForeignForm::SecurityKey))
        }
        _ => Err(unsupported(name)),
    };
    Ok((Encoding::Public, der?))
}

/// Decodes a private key without a passphrase, and encodes it in PKCS#8, SEC 1 or PKCS#1.
pub(super) fn private(bytes: &[u8]) -> Result<(Encoding, Zeroizing<Vec<u8>>), KeyErrorKind> {
    let key = ssh_key::PrivateKey::from_bytes(bytes).map_err(|_| BROKEN)?;
    match key.key_data() {
        KeypairData::Encrypted(_) => Err(KeyErrorKind::ForeignForm(ForeignForm::LockedOpenSsh)),
        KeypairData::Ed25519(pair) => {
            let seed = Zeroizing::new(pair.private.to_bytes());
            let seed = OctetStringRef::new(&seed[..]).and_then(|seed| seed.to_der());
            let seed = Zeroizing::new(seed.map_err(|_| BROKEN)?);
            let identifier = AlgorithmIdentifierRef { oid: oids::ED25519, parameters: None };
            let der = OctetStringRef::new(&seed).and_then(|seed| {
                let mut info = PrivateKeyInfoRef::new(identifier, seed);
                info.public_key = Some(BitStringRef::from_bytes(&pair.public.0)?);
                info.to_der()
            });
            Ok((Encoding::Private, Zeroizing::new(der.map_err(|_| BROKEN)?)))
        }
        KeypairData::Ecdsa(pair) => Ok((Encoding::EcPrivate, ecdsa(pair)?)),
        KeypairData::Rsa(pair) => Ok((Encoding::RsaPrivate, rsa_private(pair)?)),
        KeypairData::SkEd25519(_) | KeypairData::SkEcdsaSha2NistP256(_) => {
            Err(KeyErrorKind::ForeignForm(ForeignForm::SecurityKey))
        }
        _ => Err(unsupported(key.algorithm().as_str())),
    }
}

fn ecdsa(pair: &EcdsaKeypair) -> Result<Zeroizing<Vec<u8>>, KeyErrorKind> {
    let curve: ObjectIdentifier = match pair.curve() {
        EcdsaCurve::NistP256 => oids::P256,
        EcdsaCurve::NistP384 => oids::P384,
        other => return Err(unsupported(other.as_str())),
    };
    let key = EcPrivateKey {
        private_key: pair.private_key_bytes(),
        parameters: Some(curve.into()),
        public_key: Some(pair.public_key_bytes()),
    };
    key.to_der().map(Zeroizing::new).map_err(|_| BROKEN)
}

/// Computes the exponents of the Chinese remainder theorem, which the form of OpenSSH does not have.
fn rsa_private(pair: &RsaKeypair) -> Result<Zeroizing<Vec<u8>>, KeyErrorKind> {
    let (public, private) = (pair.public(), pair.private());
    let uint = |value: &Mpint| Ok(BoxedUint::from_be_slice_vartime(number(value)?));
    let primes = vec![uint(private.p())?, uint(private.q())?];
    let (n, e, d) = (uint(public.n())?, uint(public.e())?, uint(private.d())?);
    let key = RsaPrivateKey::from_components(n, e, d, primes)
        .map_err(|_| KeyErrorKind::PublicHalfDiffers)?;
    let der = key.to_pkcs1_der().map_err(|_| BROKEN)?;
    Ok(Zeroizing::new(der.as_bytes().to_vec()))
}

fn number(value: &Mpint) -> Result<&[u8], KeyErrorKind> {
    value.as_positive_bytes().ok_or(BROKEN)
}

fn unsupported(name: &str) -> KeyErrorKind {
    KeyErrorKind::UnsupportedAlgorithm(format!("{name} of OpenSSH"))
}
