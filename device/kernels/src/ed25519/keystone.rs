//! Ed25519 with SHA3-512 instead of SHA-512, as the boot ROM of the Keystone enclave framework uses it. No standard
//! describes this legacy scheme, so it has a separate name.
//!
//! For a verifier only the hash of R, key and message differs. A signature of one scheme is not valid in the other,
//! except with negligible probability. Neither a key nor a signature names its scheme, so a caller that accepts a key
//! states its scheme and must not try both.
//!
//! The strict rule of [`crate::ed25519`] applies. It is stricter than Keystone's own verifier, which also accepts S +
//! L in place of S, and keys that are not canonical. Keystone's signer makes no such signatures.

use super::{PUBLIC_KEY_LEN, SIGNATURE_LEN, Violation, solve};
use crate::{Hash, Kernels, sha3::Sha3_512};

/// Runs the known-answer test and returns true if it passes. A signature must be accepted, and must be refused for
/// another message. The test takes the time of two verifications.
pub fn self_test() -> bool {
    let message = core::hint::black_box(b"ab");
    verify(KAT_PUBLIC_KEY, message, KAT_SIGNATURE) == Ok(())
        && verify(KAT_PUBLIC_KEY, &message[..1], KAT_SIGNATURE) == Err(Violation::Mismatch)
}

// The seed of this key is the SHA-256 digest of "hartlock ed25519-keystone self test". The program that made the
// signature reproduces RFC 8032 §7.1, test 3, if it uses SHA-512.
const KAT_PUBLIC_KEY: &[u8; PUBLIC_KEY_LEN] = b"\
      \xf1\x53\x01\xee\x3c\x82\x01\x45\x85\x98\x6b\x69\xed\x4f\xdd\xcb\
      \x98\x6d\x50\x3b\xd6\x5a\x0a\xfe\x11\x69\x8b\x08\x46\x86\x78\x83";

const KAT_SIGNATURE: &[u8; SIGNATURE_LEN] = b"\
      \x08\x48\x2b\x05\x69\x61\x7f\x93\xf3\xd6\x09\x6c\xe2\xb7\xb3\x22\
      \x06\x44\xd9\x48\x24\x82\xeb\xb0\x40\x41\x54\x7b\x85\x25\x1d\x70\
      \xac\x28\xd2\x59\x05\x3c\x3c\x09\x02\x9d\x49\xea\x9a\xf9\xf6\xde\
      \x85\xdd\x80\xfc\x29\x42\xb4\x0f\xae\xe1\x73\xea\x18\x52\xf4\x03";

/// Verifies a signature of `message`.
///
/// # Errors
///
/// The errors of [`crate::ed25519::verify`].
pub fn verify(
    public_key: &[u8; PUBLIC_KEY_LEN],
    message: &[u8],
    signature: &[u8; SIGNATURE_LEN],
) -> Result<(), Violation> {
    let expected_r = expected_r(&Kernels::PORTABLE, public_key, message, signature)?;
    if signature.starts_with(&expected_r) { Ok(()) } else { Err(Violation::Mismatch) }
}

/// Computes the encoding that equals R, the first half of the signature, if the signature is valid. This serves a
/// caller that compares redundantly instead of with a single branch.
///
/// # Errors
///
/// The errors of [`crate::ed25519::expected_r`].
pub fn expected_r(
    kernels: &Kernels,
    public_key: &[u8; PUBLIC_KEY_LEN],
    message: &[u8],
    signature: &[u8; SIGNATURE_LEN],
) -> Result<[u8; 32], Violation> {
    solve(public_key, message, signature, || Sha3_512::with(kernels))
}
