//! Byte patterns for keys and signatures of known-answer tests.

/// Fills `bytes` with a pattern that depends on `seed`.
#[inline(never)]
pub(crate) fn fill_with_pattern(bytes: &mut [u8], seed: u8) {
    // `black_box` prevents the compiler from evaluating the test, so that it runs on the device.
    let mut byte = core::hint::black_box(seed);
    for to in bytes {
        *to = byte;
        byte = byte.wrapping_add(167);
    }
}
