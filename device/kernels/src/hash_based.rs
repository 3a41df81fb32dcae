//! Verification of hash-based signatures with a hardware engine (`hw/ip/xmss`).
//!
//! The engine computes the root from key, message and signature, like a software verifier. The same code as without
//! an engine checks the form of the signature before, and compares the roots afterwards. So a wrong root causes a
//! refusal, and an engine cannot accept a signature that software rejects.

use crate::comparison::Comparison;
use crate::engines::{EngineKind, Engines, ROOT_LEN, Root, RootRequest, RootScheme};
use crate::joined::EngineUse;
use crate::pattern::fill_with_pattern;
use crate::{KernelFault, Kernels};

/// Length in bytes of the scratch space for known-answer tests, which is the length of a SLH-DSA-SHA2-128s signature.
pub const SCRATCH_LEN: usize = 7856;
/// Length in bytes of the scratch space for known-answer tests without SLH-DSA.
pub const SCRATCH_LEN_OF_TREES: usize = LMS_PATH_AT + 4 + 10 * 32;

/// Initial value of a root.
const NO_ROOT: Root = [0; ROOT_LEN / 4];

fn root(engines: &dyn Engines, request: &RootRequest<'_>) -> Option<Root> {
    engines.start_root(request)?;
    let mut root = NO_ROOT;
    engines.finish_root(&mut root)?;
    Some(root)
}

impl Kernels {
    /// Uses the engine for hash-based signatures. A scheme is left to it if it gives the known root for a message, and
    /// another one for another message. `scratch` has [`SCRATCH_LEN`] bytes; with fewer, schemes whose signatures do
    /// not fit are left to software.
    ///
    /// # Errors
    /// `WrongAnswer` if one root is wrong, or there is none: the engine is not used any more.
    pub fn use_hash_based_engine(&mut self, scratch: &mut [u8]) -> Result<(), KernelFault> {
        let engines = self.engines().ok_or(KernelFault::WrongAnswer)?;
        let answers = KNOWN.each_ref().map(|known| {
            let signature = scratch.get_mut(..known.signature_len);
            (known.uses, signature.and_then(|signature| known.answer(engines, signature)))
        });
        self.add_uses(EngineKind::HashBased, &answers)
    }

    /// Writes the computed and the claimed root to `both`. Returns `None` if no engine computes roots of this scheme,
    /// or if the engine fails.
    #[allow(dead_code, reason = "unless a verifier of such signatures is carried")]
    pub(crate) fn compare_root(
        &self,
        request: &RootRequest<'_>,
        claimed: &[u8],
        both: &mut Option<Comparison>,
    ) -> Option<()> {
        let engines = self.engines_for(EngineUse::of_scheme(request.scheme))?;
        engines.start_root(request)?;
        // The claimed value is copied while the engine computes, because the copy takes as long as a hash.
        let both = both.insert(Comparison::DIFFERENT);
        both.claim(claimed);
        let mut root = NO_ROOT;
        engines.finish_root(&mut root)?;
        both.compute(&root, claimed.len());
        Some(())
    }
}

/// A known answer. The root was computed by a separate program (`spec/reference`) that was written from the
/// standards. Signature and key are byte patterns that contain the numbers of a parameter set. No key makes such a
/// signature, and no verifier accepts it.
struct Known {
    scheme: RootScheme,
    /// The uses whose answers it speaks for: the layers of XMSS^MT are trees of XMSS.
    uses: u16,
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
        scheme: RootScheme::Xmss,
        uses: EngineUse::Xmss.bit() | EngineUse::XmssMt.bit(),
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
        scheme: RootScheme::Lms,
        uses: EngineUse::Lms.bit(),
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
        scheme: RootScheme::SlhDsaSha2_128s,
        uses: EngineUse::SlhDsaSha2_128s.bit(),
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
    fn answer(&self, engines: &dyn Engines, signature: &mut [u8]) -> Option<bool> {
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
            let request = RootRequest { scheme: self.scheme, public_key: key, message, signature };
            root(engines, &request)
        };
        let known = |root: Root| {
            let words = root.iter().map(|word| word.to_le_bytes());
            words.eq(self.root.as_chunks().0.iter().copied())
        };
        let (right, other) = (root_of(b"abc")?, root_of(b"abd")?);
        Some(known(right) && !known(other))
    }
}

#[cfg(test)]
mod tests;
