//! WalnutDSA, which is broken and here for measurements alone. `signature` is the braid, and `message` the bytes after
//! it.

use hartlock_kernels::sha2::{Sha256, Sha512};
use hartlock_kernels::walnut::{self, WalnutLevel};
use hartlock_kernels::{Hash, Kernels};

use crate::request::Field;
use crate::{Answer, Request};

pub(super) fn verify(kernels: &Kernels, request: &Request<'_>) -> Answer {
    let [key, message, braid] =
        [Field::PublicKey, Field::Message, Field::Signature].map(|field| request.bytes(field));
    let is_valid = if request.alg() == "walnut-128" {
        let mut hash = Sha256::with(kernels);
        hash.update(message);
        walnut::verify(kernels, WalnutLevel::Level128, key, braid, &hash.finalize())
    } else {
        let mut hash = Sha512::with(kernels);
        hash.update(message);
        walnut::verify(kernels, WalnutLevel::Level256, key, braid, &hash.finalize())
    };
    if is_valid {
        Answer::Valid
    } else {
        Answer::Invalid("the equation does not hold, or a part is malformed")
    }
}
