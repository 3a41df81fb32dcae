//! ECDSA over P-256 and P-384 (FIPS 186-5 §6.4.2). Its options are `hash` and `encoding`.

use hartlock_kernels::Kernels;
use hartlock_kernels::ecdsa::{self, Curve, EcdsaPublicKey, MAX_SIGNATURE_LEN};
use hartlock_kernels::signature::{ParameterSet, Rejection};

use super::answer_of::answer_of;
use super::named_hash::NamedHash;
use crate::request::Field;
use crate::{Answer, Request};

pub(super) fn verify(kernels: &Kernels, request: &Request<'_>) -> Answer {
    let name = request.text(Field::Hash).unwrap_or_default();
    let Some(hash) = NamedHash::new(kernels, name) else {
        return Answer::UnsupportedField(Field::Hash);
    };
    let Some(digest) = hash.of(request.bytes(Field::Message)) else {
        return Answer::UnsupportedField(Field::Hash);
    };
    let Some(curve) = Curve::from_name(request.alg()) else {
        return Answer::UnsupportedField(Field::Alg);
    };
    let key = match key(curve, request.bytes(Field::PublicKey)) {
        Ok(key) => key,
        Err(rejection) => return answer_of(Err(rejection)),
    };
    let signature = request.bytes(Field::Signature);
    let mut room = [0; MAX_SIGNATURE_LEN];
    let signature = match request.text(Field::Encoding) {
        Some("p1363") => signature,
        Some("der") => match ecdsa::from_der(curve, signature, &mut room) {
            Ok(signature) => signature,
            Err(rejection) => return answer_of(Err(rejection)),
        },
        _ => return Answer::UnsupportedField(Field::Encoding),
    };
    let compared = ecdsa::compare(&key, digest.as_ref(), signature);
    answer_of(compared.and_then(|compared| compared.check()))
}

/// Decodes a public key, which is a SubjectPublicKeyInfo or an uncompressed point.
fn key(curve: Curve, bytes: &[u8]) -> Result<EcdsaPublicKey, Rejection> {
    if bytes.len() == curve.public_key_size() {
        return EcdsaPublicKey::from_sec1(curve, bytes);
    }
    let key = EcdsaPublicKey::from_spki_der(bytes)?;
    if key.curve() == curve { Ok(key) } else { Err(Rejection::InvalidKey) }
}
