//! Random numbers for secrets. They come only from the operating system.

use crate::KeyErrorKind;

// A test can make this function fail as the operating system might.
#[cfg(test)]
use crate::refusals::fill;
#[cfg(not(test))]
use getrandom::fill;

/// Fills `room` with random bytes from the operating system.
pub(super) fn random(room: &mut [u8]) -> Result<(), KeyErrorKind> {
    fill(room).map_err(|_| KeyErrorKind::NoRandomness)
}
