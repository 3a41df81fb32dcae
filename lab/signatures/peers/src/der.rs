//! Encodes ECDSA signatures for libraries.

/// Maximum length of a signature in bytes: a sequence of two integers of 48 bytes, each with a sign
/// byte.
pub const MAX_SIGNATURE_LEN: usize = 2 + 2 * (2 + 49);

/// Encodes the two halves of a signature as ECDSA-Sig-Value (RFC 3279 §2.2.3), which libraries
/// read.
pub fn signature<'a>(halves: &[u8], der: &'a mut [u8; MAX_SIGNATURE_LEN]) -> Option<&'a [u8]> {
    const SEQUENCE: u8 = 0x30;
    const INTEGER: u8 = 2;
    let mut len = 2;
    for half in halves.chunks(halves.len().div_ceil(2).max(1)) {
        let start = half.iter().position(|byte| *byte != 0)?;
        let digits = half.get(start..)?;
        let sign = usize::from(digits.first()? >> 7);
        let to = der.get_mut(len..)?.get_mut(..2 + sign + digits.len())?;
        to[..2].copy_from_slice(&[INTEGER, (sign + digits.len()) as u8]);
        to[2 + sign..].copy_from_slice(digits);
        len += to.len();
    }
    der[..2].copy_from_slice(&[SEQUENCE, (len - 2) as u8]);
    der.get(..len)
}
