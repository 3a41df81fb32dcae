//! LMS and HSS (RFC 8554 §5.4, §6.3).

use hartlock_kernels::{Kernels, lms};

use super::answer_of::answer_of;
use crate::request::Field;
use crate::{Answer, Request};

pub(super) fn verify(kernels: &Kernels, request: &Request<'_>) -> Answer {
    let verify = if request.alg() == "lms" { lms::verify } else { lms::hss::verify };
    let message = [request.bytes(Field::Message)];
    let (key, signature) = (request.bytes(Field::PublicKey), request.bytes(Field::Signature));
    answer_of(verify(kernels, key, &message, signature))
}
