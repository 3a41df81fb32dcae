//! RSASSA-PKCS1-v1_5 and RSASSA-PSS (RFC 8017 §8). Its options are `hash`, `mgf_hash` and
//! `salt_len`.

use hartlock_kernels::Kernels;
use hartlock_kernels::rsa::{Digester, RsaPublicKey, pkcs1, pss};
use hartlock_kernels::xof::Xof;

use super::answer_of::answer_of;
use super::named_hash::NamedHash;
use crate::request::Field;
use crate::{Answer, Request};

pub(super) fn verify(kernels: &Kernels, request: &Request<'_>) -> Answer {
    let name = request.text(Field::Hash).unwrap_or_default();
    let Some(hash) = NamedHash::new(kernels, name) else {
        return Answer::UnsupportedField(Field::Hash);
    };
    let key = match RsaPublicKey::from_spki_der(request.bytes(Field::PublicKey)) {
        Ok(key) => key,
        Err(rejection) => return answer_of(Err(rejection)),
    };
    let signature = request.bytes(Field::Signature);
    let Some(digest) = hash.of(request.bytes(Field::Message)) else {
        return Answer::UnsupportedField(Field::Hash);
    };
    let digest = digest.as_ref();
    if request.alg() == "rsa-pkcs1" {
        let Some((info, len)) = hash.digest_info() else {
            return Answer::UnsupportedField(Field::Hash);
        };
        let info = info.get(..len).unwrap_or(&info);
        let compared = pkcs1::compare(&key, info, digest, signature);
        return answer_of(compared.and_then(|compared| compared.check()));
    }
    let salt_len = match request.number(Field::SaltLen) {
        Some(len) => usize::try_from(len).unwrap_or(usize::MAX),
        None => hash.output_len(),
    };
    let compare =
        |mask: &dyn pss::Mask| pss::compare(&key, &hash, mask, digest, salt_len, signature);
    let mgf_name = request.text(Field::MgfHash).unwrap_or(name);
    // SHAKE is used directly as the mask generation function, and not within MGF1 (RFC 8702 §3.2).
    let compared = match mgf_name {
        "shake128" => compare(&Shake(Xof::shake128(kernels))),
        "shake256" => compare(&Shake(Xof::shake256(kernels))),
        _ => match NamedHash::new(kernels, mgf_name) {
            Some(hash) => compare(&pss::Mgf1(&hash)),
            None => return Answer::UnsupportedField(Field::MgfHash),
        },
    };
    answer_of(compared.and_then(|compared| compared.check()))
}

/// SHAKE as a mask generation function.
struct Shake(Xof);

impl pss::Mask for Shake {
    fn apply(&self, seed: &[u8], data: &mut [u8]) {
        let mut xof = self.0.clone();
        xof.update(seed);
        let mut output = xof.finalize();
        for byte in data {
            let mut mask = [0];
            output.read(&mut mask);
            let [mask] = mask;
            *byte ^= mask;
        }
    }
}
