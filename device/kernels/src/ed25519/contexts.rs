//! Ed25519ctx and Ed25519ph (RFC 8032 §5.1), the variants that first hash a prefix with a context.
//!
//! They serve known-answer tests on a workstation. Bundles are not signed with them, and boot stages do not contain
//! them.

use super::{PUBLIC_KEY_LEN, SIGNATURE_LEN, Violation, solve};
use crate::{Hash, sha2::Sha512};

pub use crate::signature::MAX_CONTEXT_LEN;

/// A context of at most [`MAX_CONTEXT_LEN`] bytes. A signer of Ed25519ctx should not use an empty context (RFC 8032
/// §5.1), but a verifier accepts it.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a>(&'a [u8]);

impl<'a> Context<'a> {
    /// Makes a context. Returns `None` if it is too long.
    pub const fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() <= MAX_CONTEXT_LEN { Some(Self(bytes)) } else { None }
    }
}

/// Verifies an Ed25519ctx signature of `message`.
///
/// # Errors
///
/// The errors of [`crate::ed25519::verify`].
pub fn verify_with_context(
    public_key: &[u8; PUBLIC_KEY_LEN],
    context: Context<'_>,
    message: &[u8],
    signature: &[u8; SIGNATURE_LEN],
) -> Result<(), Violation> {
    verify(0, public_key, context, message, signature)
}

/// Verifies an Ed25519ph signature of the message with this SHA-512 digest.
///
/// # Errors
///
/// The errors of [`crate::ed25519::verify`].
pub fn verify_pre_hashed(
    public_key: &[u8; PUBLIC_KEY_LEN],
    context: Context<'_>,
    digest: &[u8; 64],
    signature: &[u8; SIGNATURE_LEN],
) -> Result<(), Violation> {
    verify(1, public_key, context, digest, signature)
}

fn verify(
    flag: u8,
    public_key: &[u8; PUBLIC_KEY_LEN],
    Context(context): Context<'_>,
    message: &[u8],
    signature: &[u8; SIGNATURE_LEN],
) -> Result<(), Violation> {
    // The prefix is dom2 (§2).
    let start = || {
        let mut hash = Sha512::new();
        hash.update(b"SigEd25519 no Ed25519 collisions");
        hash.update(&[flag, context.len() as u8]);
        hash.update(context);
        hash
    };
    let expected_r = solve(public_key, message, signature, start)?;
    if signature.starts_with(&expected_r) { Ok(()) } else { Err(Violation::Mismatch) }
}
