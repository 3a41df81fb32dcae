//! Operation `verify`: the table of signature algorithms.
//!
//! A scheme is a row of [`SCHEMES`] and one file here with a function `verify`. To plug one in: read the
//! fields that it needs from the [`Request`], call the verifier of `hartlock_kernels`, and turn its answer
//! with [`judged::judged`].

use hartlock_image::{Curve, MlDsaSet, ParameterSet, SlhDsaSet};
use hartlock_kernels::Kernels;

use crate::request::Field;
use crate::{Answer, Engine, Request};

mod ecdsa;
mod ed25519;
mod judged;
mod lms;
mod ml_dsa;
mod named;
mod rsa;
mod slh_dsa;
mod walnut;
mod xmss;

/// What a scheme does with a case: its `public_key`, `message` and `signature`, and whatever options it has.
///
/// Names of options that the scheme does not know are `NotCarried`; sizes that no key, context or
/// signature of the algorithm has are `Invalid`; sizes of keys that it does not carry are `Unsupported`.
type Verify = fn(&Kernels, &Request<'_>) -> Answer;

/// A row of the table.
struct Scheme {
    /// Whether an algorithm is of this scheme, by its name (spec/kat.md).
    has: fn(&str) -> bool,
    /// Fields that it needs beside key, message and signature.
    needs: &'static [Field],
    verify: Verify,
}

const fn scheme(has: fn(&str) -> bool, needs: &'static [Field], verify: Verify) -> Scheme {
    Scheme { has, needs, verify }
}

static SCHEMES: &[Scheme] = &[
    scheme(|alg| ed25519::NAMES.contains(&alg), &[], ed25519::verify),
    scheme(is_set::<Curve>, &[Field::Hash, Field::Encoding], ecdsa::verify),
    scheme(|alg| matches!(alg, "rsa-pkcs1" | "rsa-pss"), &[Field::Hash], rsa::verify),
    scheme(|alg| matches!(alg, "lms" | "hss"), &[], lms::verify),
    scheme(|alg| matches!(alg, "xmss" | "xmssmt"), &[], xmss::verify),
    scheme(is_set::<MlDsaSet>, &[], ml_dsa::verify),
    scheme(is_set::<SlhDsaSet>, &[], slh_dsa::verify),
    scheme(|alg| matches!(alg, "walnut-128" | "walnut-256"), &[], walnut::verify),
];

/// Whether a parameter set has this name in the image format, too.
fn is_set<S: ParameterSet>(alg: &str) -> bool {
    S::from_name(alg).is_some()
}

fn scheme_of(alg: &str) -> Option<&'static Scheme> {
    SCHEMES.iter().find(|scheme| (scheme.has)(alg))
}

/// Whether an algorithm is known, and which fields it needs beside key, message and signature.
pub fn needs(alg: &str) -> Option<&'static [Field]> {
    scheme_of(alg).map(|scheme| scheme.needs)
}

/// Judges a signature.
pub(crate) fn answer(engine: &Engine, request: &Request<'_>) -> Answer {
    match scheme_of(request.alg()) {
        Some(scheme) => (scheme.verify)(&engine.kernels, request),
        None => Answer::NotCarried(Field::Alg),
    }
}
