//! Ed25519 with the strict rule of `hartlock_kernels::ed25519` (RFC 8032 §5.1), and its variants,
//! which have the same rule: Ed25519ctx and Ed25519ph with the option `context`, and Keystone's with
//! SHA3-512.

use hartlock_kernels::ed25519::{self, PUBLIC_KEY_LEN, SIGNATURE_LEN};
use hartlock_kernels::ed25519_contexts::{Context, verify_pre_hashed, verify_with_context};
use hartlock_kernels::signature::Rejection;
use hartlock_kernels::{Hash, Kernels, ed25519_keystone, sha2::Sha512};

use super::answer_of::answer_of;
use crate::request::Field;
use crate::{Answer, Request};

/// The names of the scheme and of its variants.
pub(super) const NAMES: [&str; 4] = ["ed25519", "ed25519ph", "ed25519ctx", "ed25519-keystone"];

pub(super) fn verify(kernels: &Kernels, request: &Request<'_>) -> Answer {
    let Ok(public_key) = <&[u8; PUBLIC_KEY_LEN]>::try_from(request.bytes(Field::PublicKey)) else {
        return answer_of(Err(Rejection::InvalidKey));
    };
    let Ok(signature) = <&[u8; SIGNATURE_LEN]>::try_from(request.bytes(Field::Signature)) else {
        return answer_of(Err(Rejection::SignatureLength));
    };
    let Some(context) = Context::new(request.bytes(Field::Context)) else {
        return answer_of(Err(Rejection::ContextLength));
    };
    let message = request.bytes(Field::Message);
    let compared = |expected: Result<[u8; 32], ed25519::Violation>| match expected {
        Ok(r) if signature.starts_with(&r) => Ok(()),
        Ok(_) => Err(ed25519::Violation::Mismatch),
        Err(rejection) => Err(rejection),
    };
    let verdict = match request.alg() {
        "ed25519ctx" => verify_with_context(public_key, context, message, signature),
        "ed25519ph" => {
            let mut hash = Sha512::with(kernels);
            hash.update(message);
            verify_pre_hashed(public_key, context, &hash.finalize(), signature)
        }
        "ed25519-keystone" => {
            compared(ed25519_keystone::expected_r(kernels, public_key, message, signature))
        }
        _ => compared(ed25519::expected_r(kernels, public_key, message, signature)),
    };
    answer_of(verdict.map_err(Rejection::from))
}
