//! The properties of a named hash that signatures need.

use hartlock_kernels::Kernels;
use hartlock_kernels::rsa::Digester;

use crate::Engine;
use crate::hash::{self, Digest, MAX_LEN, Name};

/// Maximum length in bytes of the input that PSS hashes at once: zeros, digest and salt (RFC 8017
/// §9.1.2).
const MAX_PARTS_LEN: usize = 8 + MAX_LEN + 512;

/// A hash by its name, computed with given kernels.
pub(super) struct NamedHash {
    engine: Engine,
    name: Name,
}

impl NamedHash {
    /// Returns `None` if the hash is not supported here.
    pub(super) fn new(kernels: &Kernels, name: &str) -> Option<Self> {
        let named = Self { engine: Engine::with(*kernels), name: Name::parse(name)? };
        named.of(b"").map(|_| named)
    }

    /// Computes the digest of a message.
    pub(super) fn of(&self, message: &[u8]) -> Option<Digest> {
        hash::digest(&self.engine, self.name, &[], message)
    }

    /// Returns the last arc of the hash's object identifier 2.16.840.1.101.3.4.2.x; `None` if the hash
    /// has no identifier of NIST.
    const fn number(&self) -> Option<u8> {
        Some(match self.name {
            Name::Sha256 => 1,
            Name::Sha384 => 2,
            Name::Sha512 => 3,
            Name::Sha224 => 4,
            Name::Sha512_224 => 5,
            Name::Sha512_256 => 6,
            Name::Sha3_224 => 7,
            Name::Sha3_256 => 8,
            Name::Sha3_384 => 9,
            Name::Sha3_512 => 10,
            Name::Shake128 => 11,
            Name::Shake256 => 12,
            Name::Sha1 | Name::Kt128 => return None,
        })
    }

    /// Returns the object identifier in DER, as pre-hash signatures sign it (FIPS 204 §5.4, FIPS 205
    /// §10.2.2).
    pub(super) fn object_identifier(&self) -> Option<[u8; 11]> {
        let number = self.number()?;
        Some([0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, number])
    }

    /// Returns the bytes of DigestInfo before the digest (RFC 8017 §9.2), with NULL as parameters, and
    /// their number; `None` if the hash has no DigestInfo.
    pub(super) fn digest_info(&self) -> Option<([u8; 19], usize)> {
        let len = self.name.output_len() as u8;
        if self.name == Name::Sha1 {
            // The identifier 1.3.14.3.2.26 is four bytes shorter.
            let mut info = [0; 19];
            let short = [0x30, 33, 0x30, 9, 0x06, 5, 0x2b, 14, 3, 2, 26, 0x05, 0, 0x04, len];
            for (to, from) in info.iter_mut().zip(short) {
                *to = from;
            }
            return Some((info, short.len()));
        }
        if matches!(self.name, Name::Shake128 | Name::Shake256) {
            return None;
        }
        let [a, b, c, d, e, f, g, h, i, j, k] = self.object_identifier()?;
        let outer = len.wrapping_add(17);
        let info = [0x30, outer, 0x30, 13, a, b, c, d, e, f, g, h, i, j, k, 0x05, 0, 0x04, len];
        Some((info, info.len()))
    }
}

impl Digester for NamedHash {
    fn output_len(&self) -> usize {
        self.name.output_len()
    }

    fn digest(&self, parts: &[&[u8]], digest: &mut [u8]) {
        let mut whole = [0; MAX_PARTS_LEN];
        let mut len = 0;
        for byte in parts.iter().copied().flatten() {
            if let Some(to) = whole.get_mut(len) {
                *to = *byte;
            }
            len += 1;
        }
        // An input that does not fit is never a valid message of PSS; the digest of no bytes is used for
        // it.
        let whole = whole.get(..len).unwrap_or_default();
        if let Some(of) = self.of(whole) {
            for (to, from) in digest.iter_mut().zip(of.as_ref()) {
                *to = *from;
            }
        }
    }
}
