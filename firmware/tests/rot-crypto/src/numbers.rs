//! What both ways to use the engine for big numbers share.

/// The exponent of every key.
pub const EXPONENT: u32 = 65537;

/// Two numbers of equal length.
pub fn halves<const N: usize>(both: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
    let (first, second) = both.split_first_chunk()?;
    Some((first, second.try_into().ok()?))
}
