//! Bytes for keys and signatures of known-answer tests.

/// Fills what a known-answer test checks with arbitrary bytes. Any bytes are the signature of
/// some key.
#[inline(never)]
pub(crate) fn fill_with_pattern(bytes: &mut [u8], seed: u8) {
    // Opaque, so that the test runs on the device and the compiler does not evaluate it.
    let mut byte = core::hint::black_box(seed);
    for to in bytes {
        *to = byte;
        byte = byte.wrapping_add(167);
    }
}
