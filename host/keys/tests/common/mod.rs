//! Other implementations that verify our signatures.

use fips204 as lattices;
use fips205 as hash_based;
use hartlock_image::Algorithm;
use hartlock_keys::{PrivateKey, PublicKey};

/// The message that the tests sign.
pub const MESSAGE: &[u8] = b"signed by one and verified by the other";

/// Reports that a test could not check everything. It does not use `eprintln!`, whose output the
/// test harness hides if the test passes.
pub fn skipped(why: impl std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

pub fn generated(name: &str) -> PrivateKey {
    PrivateKey::generate_for(Algorithm::from_name(name).unwrap(), &mut |_, _| ()).unwrap()
}

/// Verifies a signature over [`MESSAGE`] with an implementation that did not make it.
pub fn second_opinion(key: &PublicKey, signature: &[u8]) -> bool {
    /// Both libraries have a module for each set, with the same names in it.
    macro_rules! fips {
        ($library:ident, $set:ident) => {{
            use $library::traits::{SerDes, Verifier};
            let key = $library::$set::PublicKey::try_from_bytes(key.as_bytes().try_into().unwrap());
            let Ok(signature) = signature.try_into() else { return false };
            key.unwrap().verify(MESSAGE, signature, b"")
        }};
    }
    match key.algorithm().to_string().as_str() {
        "ml-dsa-44" => fips!(lattices, ml_dsa_44),
        "ml-dsa-65" => fips!(lattices, ml_dsa_65),
        "ml-dsa-87" => fips!(lattices, ml_dsa_87),
        "slh-dsa-sha2-128s" => fips!(hash_based, slh_dsa_sha2_128s),
        "slh-dsa-sha2-128f" => fips!(hash_based, slh_dsa_sha2_128f),
        "slh-dsa-sha2-192s" => fips!(hash_based, slh_dsa_sha2_192s),
        "slh-dsa-sha2-192f" => fips!(hash_based, slh_dsa_sha2_192f),
        "slh-dsa-sha2-256s" => fips!(hash_based, slh_dsa_sha2_256s),
        "slh-dsa-sha2-256f" => fips!(hash_based, slh_dsa_sha2_256f),
        "slh-dsa-shake-128s" => fips!(hash_based, slh_dsa_shake_128s),
        "slh-dsa-shake-128f" => fips!(hash_based, slh_dsa_shake_128f),
        "slh-dsa-shake-192s" => fips!(hash_based, slh_dsa_shake_192s),
        "slh-dsa-shake-192f" => fips!(hash_based, slh_dsa_shake_192f),
        "slh-dsa-shake-256s" => fips!(hash_based, slh_dsa_shake_256s),
        "slh-dsa-shake-256f" => fips!(hash_based, slh_dsa_shake_256f),
        // These algorithms are verified only by openssl.
        _ => true,
    }
}
