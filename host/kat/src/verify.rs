//! The operation `verify`, with the table of signature schemes.
//!
//! A scheme is a row of [`SCHEMES`] and a file with a function `verify`. A new one reads the fields that it
//! needs from the [`Request`], calls the verifier of `hartlock_kernels`, and converts its result with
//! [`answer_of::answer_of`].

use hartlock_image::{Curve, MlDsaSet, ParameterSet, SlhDsaSet};
use hartlock_kernels::Kernels;

use crate::request::Field;
use crate::{Answer, Engine, Request};

mod answer_of;
mod ecdsa;
mod ed25519;
mod lms;
mod ml_dsa;
mod named_hash;
mod rsa;
mod slh_dsa;
mod walnut;
mod xmss;

/// The function of a scheme that answers a case from its `public_key`, `message`, `signature` and options.
///
/// An unknown name in an option is `UnsupportedField`; a length that no key, context or signature of the algorithm
/// has is `Invalid`; a key size that the scheme does not support is `Unsupported`.
type Verify = fn(&Kernels, &Request<'_>) -> Answer;

/// A row of the table.
struct SchemeEntry {
    /// Returns true if the algorithm with this name (spec/kat.md) belongs to the scheme.
    has: fn(&str) -> bool,
    /// The fields that the scheme needs in addition to key, message and signature.
    needs: &'static [Field],
    verify: Verify,
}

const fn scheme(has: fn(&str) -> bool, needs: &'static [Field], verify: Verify) -> SchemeEntry {
    SchemeEntry { has, needs, verify }
}

static SCHEMES: &[SchemeEntry] = &[
    scheme(|alg| ed25519::NAMES.contains(&alg), &[], ed25519::verify),
    scheme(is_set::<Curve>, &[Field::Hash, Field::Encoding], ecdsa::verify),
    scheme(|alg| matches!(alg, "rsa-pkcs1" | "rsa-pss"), &[Field::Hash], rsa::verify),
    scheme(|alg| matches!(alg, "lms" | "hss"), &[], lms::verify),
    scheme(|alg| matches!(alg, "xmss" | "xmssmt"), &[], xmss::verify),
    scheme(is_set::<MlDsaSet>, &[], ml_dsa::verify),
    scheme(is_set::<SlhDsaSet>, &[], slh_dsa::verify),
    scheme(|alg| matches!(alg, "walnut-128" | "walnut-256"), &[], walnut::verify),
];

/// Returns true if the image format has a parameter set of this name.
fn is_set<S: ParameterSet>(alg: &str) -> bool {
    S::from_name(alg).is_some()
}

fn scheme_of(alg: &str) -> Option<&'static SchemeEntry> {
    SCHEMES.iter().find(|scheme| (scheme.has)(alg))
}

/// Returns the fields that an algorithm needs in addition to key, message and signature; `None` if the
/// algorithm is unknown.
pub fn needs(alg: &str) -> Option<&'static [Field]> {
    scheme_of(alg).map(|scheme| scheme.needs)
}

/// Verifies a signature.
pub(crate) fn answer(engine: &Engine, request: &Request<'_>) -> Answer {
    match scheme_of(request.alg()) {
        Some(scheme) => (scheme.verify)(&engine.kernels, request),
        None => Answer::UnsupportedField(Field::Alg),
    }
}
