//! Secrets from the operating system, and from nothing else.

use crate::KeyErrorKind;

// A test can make the operating system refuse.
#[cfg(test)]
use crate::refusals::fill;
#[cfg(not(test))]
use getrandom::fill;

/// Fills a secret.
pub(super) fn random(room: &mut [u8]) -> Result<(), KeyErrorKind> {
    fill(room).map_err(|_| KeyErrorKind::NoRandomness)
}
