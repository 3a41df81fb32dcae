//! Verification of hash-based signatures with a hardware engine (`hw/ip/xmss`).
//!
//! The engine computes the root from key, message and signature, like a software verifier. The same code as without
//! an engine checks the form of the signature before, and compares the roots afterwards. So a wrong root causes a
//! refusal, and an engine cannot accept a signature that software rejects.

use crate::comparison::Comparison;
use crate::pattern::fill_with_pattern;
use crate::{KernelFault, Kernels};

/// Length of the longest root in bytes.
pub const ROOT_LEN: usize = 32;

/// Length in bytes of the scratch space for known-answer tests, which is the length of a SLH-DSA-SHA2-128s signature.
pub const SCRATCH_LEN: usize = 7856;
/// Length in bytes of the scratch space for known-answer tests without SLH-DSA.
pub const SCRATCH_LEN_OF_TREES: usize = LMS_PATH_AT + 4 + 10 * 32;

/// The signature scheme of a request. The encoded key determines the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// XMSS (RFC 8391 §4.1, SP 800-208 §5).
    Xmss,
    /// XMSS^MT (RFC 8391 §4.2). Its parameter set numbers have a different meaning in XMSS.
    XmssMt,
    /// A single LMS tree (RFC 8554 §5). HSS makes one request for each level.
    Lms,
    /// SLH-DSA-SHA2-128s (FIPS 205). The message is the encoded message M′ of §10.2.
    SlhDsaSha2_128s,
}

/// A request to compute the root of a signature. Lengths, type codes and the index were checked before.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Scheme of the signature.
    pub scheme: Scheme,
    /// Public key in the encoding of its standard, including type codes.
    pub public_key: &'a [u8],
    /// Message, split into pieces.
    pub message: &'a [&'a [u8]],
    /// Signature in the encoding of its standard.
    pub signature: &'a [u8],
}

/// A root in little-endian words, because engines return words. A shorter root is followed by zeros.
pub type Root = [u32; ROOT_LEN / 4];
/// Initial value of a root.
const NO_ROOT: Root = [0; ROOT_LEN / 4];

/// The functions of an engine that computes the root of a signature while its caller does other work.
#[derive(Clone, Copy)]
pub struct Engine {
    /// Starts a computation. Returns `None` if the engine does not support the parameters or does not respond. Then
    /// software computes the root.
    pub start: fn(&Request<'_>) -> Option<()>,
    /// Waits for the computation that was started last and writes its root. Returns `None` if the engine does not
    /// respond or finds the input malformed. Then software computes the root.
    pub finish: fn(&mut Root) -> Option<()>,
}

impl Engine {
    fn root(self, request: &Request<'_>) -> Option<Root> {
        (self.start)(request)?;
        let mut root = NO_ROOT;
        (self.finish)(&mut root)?;
        Some(root)
    }
}

/// An engine, and the schemes for which it passed the known-answer tests.
#[derive(Clone, Copy)]
pub(crate) struct HashBased {
    #[allow(dead_code, reason = "unless a verifier of such signatures is carried")]
    engine: Engine,
    schemes: u8,
}

impl HashBased {
    /// The value without an engine.
    pub(crate) const NONE: Self =
        Self { engine: Engine { start: |_| None, finish: |_| None }, schemes: 0 };

    const fn has(&self, scheme: Scheme) -> bool {
        self.schemes & bit(scheme) != 0
    }

    /// Writes the computed and the claimed root to `both`. Returns `None` if no engine computes roots of this scheme,
    /// or if the engine fails.
    #[allow(dead_code, reason = "unless a verifier of such signatures is carried")]
    pub(crate) fn compare(
        &self,
        request: &Request<'_>,
        claimed: &[u8],
        both: &mut Option<Comparison>,
    ) -> Option<()> {
        if !self.has(request.scheme) {
            return None;
        }
        (self.engine.start)(request)?;
        // The claimed value is copied while the engine computes, because the copy takes as long as a hash.
        let both = both.insert(Comparison::DIFFERENT);
        both.claim(claimed);
        let mut root = NO_ROOT;
        (self.engine.finish)(&mut root)?;
        both.compute(&root, claimed.len());
        Some(())
    }
}

const fn bit(scheme: Scheme) -> u8 {
    1 << scheme as u32
}

impl Kernels {
    /// Returns these kernels with an engine for hash-based signatures. The engine is used for a scheme if it returns
    /// the known root for one message and a different root for another message. `scratch` has [`SCRATCH_LEN`] bytes.
    /// If it is shorter, software remains in use for schemes whose signatures do not fit.
    ///
    /// # Errors
    /// `WrongAnswer` if any root is wrong, so that the engine is not used at all, or if the engine returns no root.
    pub fn with_hash_based_engine(
        self,
        engine: Engine,
        scratch: &mut [u8],
    ) -> Result<Self, KernelFault> {
        let mut schemes = 0;
        for known in &KNOWN {
            let Some(signature) = scratch.get_mut(..known.signature_len) else { continue };
            match known.answer(engine, signature) {
                Some(true) => schemes |= known.schemes,
                Some(false) => return Err(KernelFault::WrongAnswer),
                None => {}
            }
        }
        if schemes == 0 {
            return Err(KernelFault::WrongAnswer);
        }
        Ok(Self { hash_based: HashBased { engine, schemes }, ..self })
    }

    /// Returns true if an engine computes roots of this scheme.
    pub const fn has_hash_based_engine(&self, scheme: Scheme) -> bool {
        self.hash_based.has(scheme)
    }
}

/// A known answer. The root was computed by a separate program (`spec/reference`) that was written from the
/// standards. Signature and key are byte patterns that contain the numbers of a parameter set. No key makes such a
/// signature, and no verifier accepts it.
struct Known {
    scheme: Scheme,
    /// Bit mask of the schemes that this answer qualifies. XMSS^MT is included with XMSS, because its layers are XMSS
    /// trees.
    schemes: u8,
    signature_len: usize,
    key_len: usize,
    /// Positions and values of the words in key and signature that are not part of the pattern.
    in_key: &'static [(usize, u32)],
    in_signature: &'static [(usize, u32)],
    /// Bytes before the message.
    prefix: &'static [u8],
    root: [u8; ROOT_LEN],
}

const LMS_PATH_AT: usize = 8 + (1 + 67) * 32;

const KNOWN: [Known; 3] = [
    // This is XMSS-SHA2_10_256.
    Known {
        scheme: Scheme::Xmss,
        schemes: bit(Scheme::Xmss) | bit(Scheme::XmssMt),
        signature_len: 4 + (1 + 67 + 10) * 32,
        key_len: 4 + 64,
        in_key: &[(0, 1)],
        in_signature: &[(0, 0x2a5)],
        prefix: &[],
        root: *b"\xc7\xd5\x01\xb1\xf3\xfa\x47\x37\xdc\xe0\xf7\x5e\x37\x20\xec\x24\
            \x9e\x4b\xa6\x44\x9f\x0b\xaa\xec\x66\x03\x0e\x96\x1c\xa7\xe2\xc1",
    },
    // This is LMS_SHA256_M32_H10 with LMOTS_SHA256_N32_W4.
    Known {
        scheme: Scheme::Lms,
        schemes: bit(Scheme::Lms),
        signature_len: SCRATCH_LEN_OF_TREES,
        key_len: 8 + 16 + 32,
        in_key: &[(0, 6), (4, 3)],
        in_signature: &[(0, 0x15), (4, 3), (LMS_PATH_AT, 6)],
        prefix: &[],
        root: *b"\x14\xd7\xfb\x2a\xb7\xfb\x35\x8e\xdc\x8c\x7c\x08\x39\x91\x88\x4c\
            \x64\xf2\xaa\xf1\xf0\xfa\xcd\x25\x52\xb9\x02\x26\x13\x9f\xa7\xbd",
    },
    // The root has 16 bytes.
    Known {
        scheme: Scheme::SlhDsaSha2_128s,
        schemes: bit(Scheme::SlhDsaSha2_128s),
        signature_len: SCRATCH_LEN,
        key_len: 32,
        in_key: &[],
        in_signature: &[],
        prefix: &[0, 0],
        root: *b"\x0f\x90\xf1\x5f\xbf\x7f\xdf\x46\x84\x2b\xfd\xeb\x5c\x47\xdb\xa1\
            \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    },
];

/// Length in bytes of the longest key in [`KNOWN`].
const KEY_LEN: usize = 68;

impl Known {
    /// Returns true if the engine computes the right roots, and `None` if it does not support the parameters.
    fn answer(&self, engine: Engine, signature: &mut [u8]) -> Option<bool> {
        let mut key = [0; KEY_LEN];
        let key = key.get_mut(..self.key_len)?;
        // The encoded numbers precede the pattern. XMSS has one of them, LMS two.
        let head = self.in_key.len().wrapping_mul(4);
        fill_with_pattern(key.get_mut(head..)?, 2);
        fill_with_pattern(signature, 1);
        for (bytes, words) in [(&mut *key, self.in_key), (&mut *signature, self.in_signature)] {
            for &(at, word) in words {
                *bytes.get_mut(at..)?.first_chunk_mut()? = word.to_be_bytes();
            }
        }
        let root_of = |message: &[u8]| {
            let message = &[self.prefix, message];
            engine.root(&Request { scheme: self.scheme, public_key: key, message, signature })
        };
        let known = |root: Root| {
            let words = root.iter().map(|word| word.to_le_bytes());
            words.eq(self.root.as_chunks().0.iter().copied())
        };
        let (root, other) = (root_of(b"abc")?, root_of(b"abd")?);
        Some(known(root) && !known(other))
    }
}

#[cfg(test)]
mod tests;
