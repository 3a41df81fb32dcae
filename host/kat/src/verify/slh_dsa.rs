//! SLH-DSA (FIPS 205 §10.3). Its options are `context`, `interface` and `prehash`.

use hartlock_kernels::Kernels;
use hartlock_kernels::signature::ParameterSet;
use hartlock_kernels::slh_dsa::{self, SlhDsaMessage, SlhDsaSet};

use super::answer_of::answer_of;
use super::named_hash::NamedHash;
use crate::request::Field;
use crate::{Answer, Request};

pub(super) fn verify(kernels: &Kernels, request: &Request<'_>) -> Answer {
    let Some(set) = SlhDsaSet::from_name(request.alg()) else {
        return Answer::UnsupportedField(Field::Alg);
    };
    let context = request.bytes(Field::Context);
    let message = request.bytes(Field::Message);
    let (key, signature) = (request.bytes(Field::PublicKey), request.bytes(Field::Signature));
    let verify = |message| answer_of(slh_dsa::verify(kernels, set, key, message, signature));
    match (request.text(Field::Interface), request.text(Field::Prehash)) {
        (None | Some("external"), None) => verify(SlhDsaMessage::Pure { context, message }),
        (None | Some("external"), Some(name)) => {
            let Some(hash) = NamedHash::new(kernels, name) else {
                return Answer::UnsupportedField(Field::Prehash);
            };
            match (hash.object_identifier(), hash.of(message)) {
                (Some(oid), Some(digest)) => {
                    verify(SlhDsaMessage::PreHashed { context, oid: &oid, digest: digest.as_ref() })
                }
                _ => Answer::UnsupportedField(Field::Prehash),
            }
        }
        (Some("internal"), _) => verify(SlhDsaMessage::Internal(message)),
        _ => Answer::UnsupportedField(Field::Interface),
    }
}
