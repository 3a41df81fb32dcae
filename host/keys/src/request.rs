//! Requests to sign, for programs and for people on other machines (`spec/signers.md` §4).

use base64ct::{Base64, Encoding};
use hartlock_image::{Algorithm, HashId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256, Sha384, Sha512};
use shake::{ExtendableOutput, Shake256, Update, XofReader};

use crate::{Message, PublicKey, SignerError, SignerReason};

/// Name of the form of a request.
const FORM: &str = "hartlock/sign-request-v1";
/// Maximum length in bytes of a request: that of a first stage in Base64, and a little more.
pub const MAX_REQUEST: usize = 32 << 20;

/// A request to sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignRequest {
    form: String,
    /// The contents of the signed bytes, in words.
    contents: Vec<String>,
    signers: Vec<RequestedSigner>,
    /// The signed bytes in Base64.
    signed: String,
}

/// A signer of a request. Numbers are in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestedSigner {
    algorithm: String,
    key_id: String,
    public_key: String,
    /// Hash of the algorithm, if the signature is one of a digest.
    hash: Option<String>,
    /// Digest of the signed bytes with this hash.
    digest: Option<String>,
    /// The message representative of ML-DSA (FIPS 204, algorithm 7, line 6), with an empty context.
    external_mu: Option<String>,
}

impl RequestedSigner {
    fn new(public: &PublicKey, signed: &[u8]) -> Self {
        let hash = signed_hash(public.algorithm());
        Self {
            algorithm: public.algorithm().to_string(),
            key_id: hex(&public.key_id()),
            public_key: public.to_pem(),
            hash: hash.map(|hash| hash.name().to_string()),
            digest: hash.map(|hash| hex(&digest(hash, signed))),
            external_mu: external_mu(public, signed).map(|mu| hex(&mu)),
        }
    }
}

impl SignRequest {
    /// Makes a request.
    pub fn new(message: &Message<'_>, signers: &[PublicKey]) -> Self {
        let signer = |public| RequestedSigner::new(public, message.signed);
        Self {
            form: FORM.to_string(),
            contents: message.contents.to_vec(),
            signers: signers.iter().map(signer).collect(),
            signed: Base64::encode_string(message.signed),
        }
    }

    /// Reads a request. It says what to sign, and proves nothing.
    ///
    /// # Errors
    /// `RequestMalformed` if it has another form, or fields that are missing, unknown or given twice.
    pub fn parse(text: &[u8], name: &str) -> Result<Self, SignerError> {
        let malformed =
            |detail: String| SignerError::new(SignerReason::RequestMalformed, name, detail);
        let request: Self =
            serde_json::from_slice(text).map_err(|error| malformed(error.to_string()))?;
        if request.form != FORM {
            return Err(malformed(format!("its form is not {FORM}")));
        }
        request.public_keys().ok_or_else(|| malformed("a public key is not valid".to_string()))?;
        Ok(request)
    }

    /// Returns the keys of the signers, or `None` if one of them is not valid.
    pub fn public_keys(&self) -> Option<Vec<PublicKey>> {
        let key = |signer: &RequestedSigner| {
            let algorithm = Algorithm::from_name(&signer.algorithm)?;
            PublicKey::decode(signer.public_key.as_bytes(), &[algorithm]).ok()
        };
        self.signers.iter().map(key).collect()
    }

    /// Encodes the request as JSON. The same request has the same bytes.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("strings and lists");
        text + "\n"
    }
}

/// Returns the hash of an algorithm whose signatures are those of a digest: a signer needs no other bytes.
pub(crate) fn signed_hash(algorithm: Algorithm) -> Option<HashId> {
    match algorithm {
        Algorithm::Rsa { .. } | Algorithm::Ecdsa(_) => Some(algorithm.hash()),
        _ => None,
    }
}

/// Returns the digest of the signed bytes, with SHA-2.
pub(crate) fn digest(hash: HashId, signed: &[u8]) -> Vec<u8> {
    match hash {
        HashId::Sha384 => Sha384::digest(signed).to_vec(),
        HashId::Sha512 => Sha512::digest(signed).to_vec(),
        _ => Sha256::digest(signed).to_vec(),
    }
}

/// Returns the message representative that ML-DSA signs (FIPS 204, algorithm 7, line 6), which key services
/// call *external mu*. It depends on the public key and on all signed bytes. Returns `None` for another
/// algorithm.
pub fn external_mu(public: &PublicKey, signed: &[u8]) -> Option<[u8; 64]> {
    let Algorithm::MlDsa(_) = public.algorithm() else { return None };
    let mut tr = [0; 64];
    let mut hash = Shake256::default();
    hash.update(public.as_bytes());
    hash.finalize_xof().read(&mut tr);
    let mut hash = Shake256::default();
    hash.update(&tr);
    // A pure signature, and a context of no bytes (algorithm 2, line 10).
    hash.update(&[0, 0]);
    hash.update(signed);
    let mut mu = [0; 64];
    hash.finalize_xof().read(&mut mu);
    Some(mu)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use hartlock_image::MlDsaSet;

    use ::ml_dsa::{B32, ExpandedSigningKey, MlDsa65};

    use super::*;
    use crate::accepted;

    #[test]
    fn a_signature_of_external_mu_is_one_of_the_message() {
        let key = ExpandedSigningKey::<MlDsa65>::from_seed(&B32::from([7; 32]));
        let public = key.verifying_key().encode();
        let public = PublicKey::from_bytes(Algorithm::MlDsa(MlDsaSet::MlDsa65), &public).unwrap();
        let mu = external_mu(&public, b"message").unwrap();
        let signature = key.sign_mu_deterministic(&mu.into()).encode();
        assert!(accepted(&public, b"message", &signature).is_some());
        assert!(accepted(&public, b"messages", &signature).is_none());
    }
}
