//! XMSS and XMSS^MT (RFC 8391 §4.1.10, §4.2.5). Every parameter set is accepted: known answers do not
//! depend on the approval of a set.

use hartlock_kernels::Kernels;
use hartlock_kernels::xmss::{self, Scheme, Sets};

use super::answer_of::answer_of;
use crate::request::Field;
use crate::{Answer, Request};

pub(super) fn verify(kernels: &Kernels, request: &Request<'_>) -> Answer {
    let scheme = if request.alg() == "xmss" { Scheme::Xmss } else { Scheme::XmssMt };
    let message = [request.bytes(Field::Message)];
    let (key, signature) = (request.bytes(Field::PublicKey), request.bytes(Field::Signature));
    answer_of(xmss::verify(kernels, scheme, Sets::Every, key, &message, signature))
}
