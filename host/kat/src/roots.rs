//! Cases of hash-based signatures and the roots computed from them, for programs that run on the cycle-accurate
//! machine.
//!
//! A case begins with its scheme and the lengths of key, message and signature, in four bytes each. The key, the
//! message and the signature follow, each padded to a multiple of eight bytes. The message of SLH-DSA is the encoded
//! message M′ (FIPS 205 §10.2). A key of LMS that begins with a number of levels is a key of HSS.

use hartlock_kernels::signature::{Comparison, Rejection};
use hartlock_kernels::slh_dsa::{self, SlhDsaMessage};
use hartlock_kernels::{Kernels, lms, xmss};

/// The offset of the cases from the start of memory. Their number in eight bytes comes first, and then the cases.
pub const OFFSET: u64 = 16 << 20;
/// Length in bytes of the key of an LMS tree: two types, I and T[1].
const LMS_KEY_LEN: usize = 8 + 16 + 32;
/// Length in bytes of the scheme and the lengths.
pub const HEAD_LEN: usize = 16;

/// The signature scheme, with the numbers of `hartlock_kernels::engines::RootScheme`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// XMSS.
    Xmss = 0,
    /// XMSS^MT.
    XmssMt = 1,
    /// LMS and HSS.
    Lms = 2,
    /// SLH-DSA-SHA2-128s.
    SlhDsaSha2_128s = 3,
}

/// The scheme of a case and the lengths of its parts.
#[derive(Clone, Copy, Debug)]
pub struct RootCaseHead {
    scheme: Scheme,
    lengths: [usize; 3],
}

impl RootCaseHead {
    /// Decodes the head of a case; `None` if the scheme is unknown.
    pub fn decode(bytes: &[u8; HEAD_LEN]) -> Option<Self> {
        let (words, _) = bytes.as_chunks();
        let mut numbers = words.iter().map(|word| u32::from_le_bytes(*word));
        let scheme = match numbers.next()? {
            0 => Scheme::Xmss,
            1 => Scheme::XmssMt,
            2 => Scheme::Lms,
            3 => Scheme::SlhDsaSha2_128s,
            _ => return None,
        };
        let mut length = || Some(numbers.next()? as usize);
        Some(Self { scheme, lengths: [length()?, length()?, length()?] })
    }

    /// Returns the length in bytes of key, message and signature, with padding.
    pub fn body_len(&self) -> usize {
        self.lengths.iter().map(|length| length.next_multiple_of(8)).sum()
    }

    /// Returns the case whose key, message and signature are in `body`.
    pub fn case<'a>(&self, mut body: &'a [u8]) -> Option<RootCase<'a>> {
        let mut take = |length: usize| {
            let (now, later) = body.split_at_checked(length.next_multiple_of(8))?;
            body = later;
            now.get(..length)
        };
        let [key, message, signature] = self.lengths;
        Some(RootCase {
            scheme: self.scheme,
            key: take(key)?,
            message: take(message)?,
            signature: take(signature)?,
        })
    }
}

/// A case: a signature with its message and key.
#[derive(Clone, Copy, Debug)]
pub struct RootCase<'a> {
    scheme: Scheme,
    key: &'a [u8],
    message: &'a [u8],
    signature: &'a [u8],
}

impl RootCase<'_> {
    /// Returns the length of the root in bytes.
    pub fn root_len(&self) -> usize {
        match self.scheme {
            Scheme::SlhDsaSha2_128s => 16,
            // Hash values that are truncated to 24 bytes make the key shorter.
            Scheme::Lms if self.tree_key_len() == LMS_KEY_LEN - 8 => 24,
            Scheme::Xmss | Scheme::XmssMt if self.key.len() == 4 + 2 * 24 => 24,
            _ => 32,
        }
    }

    /// Returns the number of trees whose roots a verifier computes, if it finds no fault before the last one.
    pub fn trees(&self) -> u32 {
        match (self.scheme, self.key.first_chunk()) {
            (Scheme::Lms, Some(levels)) if self.is_hss() => u32::from_be_bytes(*levels),
            _ => 1,
        }
    }

    fn is_hss(&self) -> bool {
        self.tree_key_len() != self.key.len()
    }

    /// Returns the length in bytes of the key without the number of levels: a length that is not a multiple of eight
    /// includes that number.
    fn tree_key_len(&self) -> usize {
        self.key.len() & !7
    }

    /// Computes the root from the signature, and returns it with the root in the key.
    ///
    /// # Errors
    /// The errors of the verifier.
    pub fn compare(&self, kernels: &Kernels) -> Result<Comparison, Rejection> {
        let Self { scheme, key, message, signature } = *self;
        match scheme {
            Scheme::Xmss | Scheme::XmssMt => {
                let is_one = scheme == Scheme::Xmss;
                let kind = if is_one { xmss::Scheme::Xmss } else { xmss::Scheme::XmssMt };
                xmss::compare(kernels, kind, xmss::Sets::Approved, key, &[message], signature)
            }
            Scheme::Lms if self.is_hss() => lms::hss::compare(kernels, key, &[message], signature),
            Scheme::Lms => lms::compare(kernels, key, &[message], signature),
            Scheme::SlhDsaSha2_128s => {
                let set = slh_dsa::SlhDsaSet::Sha2_128s;
                slh_dsa::compare(kernels, set, key, decoded(message), signature)
            }
        }
    }
}

/// Decodes M′ into context and message, because verifiers take these separately and encode them again.
fn decoded(encoded: &[u8]) -> SlhDsaMessage<'_> {
    match encoded {
        [0, context_len, rest @ ..] => match rest.split_at_checked((*context_len).into()) {
            Some((context, message)) => SlhDsaMessage::Pure { context, message },
            None => SlhDsaMessage::Internal(encoded),
        },
        _ => SlhDsaMessage::Internal(encoded),
    }
}
