//! ML-DSA (FIPS 204 §5.3, §5.4). Its options are `context`, `interface` and `prehash`.

use hartlock_kernels::Kernels;
use hartlock_kernels::ml_dsa::{self, MlDsaMessage, MlDsaSet};
use hartlock_kernels::signature::{ParameterSet, Rejection};

use super::answer_of::answer_of;
use super::named_hash::NamedHash;
use crate::request::Field;
use crate::{Answer, Request};

pub(super) fn verify(kernels: &Kernels, request: &Request<'_>) -> Answer {
    let Some(set) = MlDsaSet::from_name(request.alg()) else {
        return Answer::UnsupportedField(Field::Alg);
    };
    let context = request.bytes(Field::Context);
    let message = request.bytes(Field::Message);
    let (key, signature) = (request.bytes(Field::PublicKey), request.bytes(Field::Signature));
    let verify = |message| answer_of(ml_dsa::verify(kernels, set, key, message, signature));
    match (request.text(Field::Interface), request.text(Field::Prehash)) {
        (None | Some("external"), None) => {
            verify(MlDsaMessage::Pure { context, message: &[message] })
        }
        (None | Some("external"), Some(name)) => {
            let Some(hash) = NamedHash::new(kernels, name) else {
                return Answer::UnsupportedField(Field::Prehash);
            };
            match (hash.object_identifier(), hash.of(message)) {
                (Some(oid), Some(digest)) => {
                    verify(MlDsaMessage::PreHash { context, oid: &oid, digest: digest.as_ref() })
                }
                _ => Answer::UnsupportedField(Field::Prehash),
            }
        }
        (Some("internal"), _) => verify(MlDsaMessage::Internal(&[message])),
        (Some("external-mu"), _) => match message.try_into() {
            Ok(mu) => verify(MlDsaMessage::ExternalMu(mu)),
            // The message representative µ always has the other length.
            Err(_) => answer_of(Err(Rejection::Mismatch)),
        },
        _ => Answer::UnsupportedField(Field::Interface),
    }
}
