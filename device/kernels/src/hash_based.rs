//! An engine for hash-based signatures (`hw/ip/xmss`) as a kernel of their verifiers.
//!
//! It computes what a verifier computes: the root that key, message and signature lead to. What a signature has to look
//! like is checked before it is asked, and the root is compared afterwards, both by the same code as without an engine.
//! So a wrong root makes a refusal, and an engine cannot accept what its caller does not.

use crate::comparison::Comparison;
use crate::pattern::fill_with_pattern;
use crate::{KernelFault, Kernels};

/// Bytes of the longest root.
pub const ROOT_LEN: usize = 32;

/// Bytes that known-answer tests need for a signature: those of SLH-DSA-SHA2-128s.
pub const SCRATCH_LEN: usize = 7856;
/// The same without SLH-DSA.
pub const SCRATCH_LEN_OF_TREES: usize = LMS_PATH_AT + 4 + 10 * 32;

/// What kind of signature it is. The parameters are in the encoded key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// XMSS (RFC 8391 §4.1, SP 800-208 §5).
    Xmss,
    /// XMSS^MT (RFC 8391 §4.2): the numbers of its sets mean others in XMSS.
    XmssMt,
    /// One tree of LMS (RFC 8554 §5): HSS asks for each level.
    Lms,
    /// SLH-DSA-SHA2-128s (FIPS 205). The message is the encoded one, M′ of §10.2.
    SlhDsaSha2_128s,
}

/// A signature whose root is asked for. Lengths, types and index have been checked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What kind of signature it is.
    pub scheme: Scheme,
    /// The key as its standard encodes it, types in front.
    pub public_key: &'a [u8],
    /// The message that is cut into these.
    pub message: &'a [&'a [u8]],
    /// The signature as its standard encodes it.
    pub signature: &'a [u8],
}

/// A root, the bytes of its parameter set first, in words whose lowest byte comes first: engines give words.
pub type Root = [u32; ROOT_LEN / 4];
/// A place for one.
const NO_ROOT: Root = [0; ROOT_LEN / 4];

/// What computes the root that a signature leads to, while its caller does something else.
#[derive(Clone, Copy)]
pub struct Engine {
    /// Begins. Nothing if the engine does not have the parameters, or does not respond: software computes the root then.
    pub start: fn(&Request<'_>) -> Option<()>,
    /// The root of what began last. Nothing if the engine does not respond, or does not find the form of the parameters:
    /// likewise.
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

/// An engine with the schemes of which it gave known answers.
#[derive(Clone, Copy)]
pub(crate) struct HashBased {
    #[allow(dead_code, reason = "unless a verifier of such signatures is carried")]
    engine: Engine,
    schemes: u8,
}

impl HashBased {
    /// No engine.
    pub(crate) const NONE: Self =
        Self { engine: Engine { start: |_| None, finish: |_| None }, schemes: 0 };

    const fn has(&self, scheme: Scheme) -> bool {
        self.schemes & bit(scheme) != 0
    }

    /// The root and the claimed one in a place of the caller's. Nothing if there is no engine for it.
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
        // What its root is compared with is copied while the engine computes: it takes as long as a hash does.
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
    /// With an engine for hash-based signatures. A scheme is left to it if it gives the known root for a message, and
    /// another one for another message. `scratch` has [`SCRATCH_LEN`] bytes; with fewer, schemes whose signatures do
    /// not fit are left to software.
    ///
    /// # Errors
    /// `WrongAnswer` if one root is wrong: none of the engine's answers counts then. The same if it gives none.
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

    /// Whether an engine computes the roots of such signatures.
    pub const fn has_hash_based_engine(&self, scheme: Scheme) -> bool {
        self.hash_based.has(scheme)
    }
}

/// A root that was computed by a program apart (`spec/reference`), written after the standards. Signature and key are
/// patterns with the numbers of a parameter set in them: no key makes such a signature, and no verifier would accept it.
struct Known {
    scheme: Scheme,
    /// The schemes whose answers it speaks for: the layers of XMSS^MT are trees of XMSS.
    schemes: u8,
    signature_len: usize,
    key_len: usize,
    /// Words of key and signature that are no pattern, by their positions.
    in_key: &'static [(usize, u32)],
    in_signature: &'static [(usize, u32)],
    /// In front of the message.
    prefix: &'static [u8],
    root: [u8; ROOT_LEN],
}

const LMS_PATH_AT: usize = 8 + (1 + 67) * 32;

const KNOWN: [Known; 3] = [
    // XMSS-SHA2_10_256.
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
    // LMS_SHA256_M32_H10 with LMOTS_SHA256_N32_W4.
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
    // Sixteen bytes of root.
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

/// Bytes of the longest key among them.
const KEY_LEN: usize = 68;

impl Known {
    /// Whether the engine is right, if it has these parameters.
    fn answer(&self, engine: Engine, signature: &mut [u8]) -> Option<bool> {
        let mut key = [0; KEY_LEN];
        let key = key.get_mut(..self.key_len)?;
        // Encoded numbers come before what is a pattern: XMSS has one, LMS two.
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
