//! What is hashed, the same on every core, and what must come out.

use hartlock_hw::machines::digests;

/// Bytes of the payloads (figure 2 of the paper).
pub const SIZES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];

/// The digest in hexadecimal; nothing for a function of another name.
pub fn digest(what: &str, bytes: usize) -> Option<String> {
    digests::digest(what, &digests::message(0, bytes))
}
