//! Cases of hash-based signatures, and the roots that they lead to: for programs of the cycle-accurate machine.
//!
//! A case is its scheme, the lengths of key, message and signature, each in four bytes, then the bytes of each, padded to
//! eight. The message of SLH-DSA is the encoded one, M′ of FIPS 205 §10.2. A key of LMS with a count of levels in front is one
//! of HSS.

use hartlock_kernels::signature::{Comparison, Rejection};
use hartlock_kernels::slh_dsa::{self, Message};
use hartlock_kernels::{Kernels, lms, xmss};

/// From the start of memory to the cases: their count in eight bytes, and one after the other.
pub const OFFSET: u64 = 16 << 20;
/// Bytes of the key of a tree of LMS: two types, I and T[1].
const LMS_KEY_LEN: usize = 8 + 16 + 32;
/// Bytes of scheme and lengths.
pub const HEAD_LEN: usize = 16;

/// What kind of signature it is: the numbers of `hartlock_kernels::hash_based::Scheme`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// XMSS.
    Xmss = 0,
    /// XMSS^MT.
    XmssMt = 1,
    /// LMS, and HSS.
    Lms = 2,
    /// SLH-DSA-SHA2-128s.
    SlhDsaSha2_128s = 3,
}

/// Scheme and lengths of a case.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    scheme: Scheme,
    lengths: [usize; 3],
}

impl Head {
    /// Nothing if there is no such scheme.
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

    /// Bytes of what follows, with padding.
    pub fn body_len(&self) -> usize {
        self.lengths.iter().map(|length| length.next_multiple_of(8)).sum()
    }

    /// The case in what follows.
    pub fn case<'a>(&self, mut body: &'a [u8]) -> Option<Case<'a>> {
        let mut take = |length: usize| {
            let (now, later) = body.split_at_checked(length.next_multiple_of(8))?;
            body = later;
            now.get(..length)
        };
        let [key, message, signature] = self.lengths;
        Some(Case {
            scheme: self.scheme,
            key: take(key)?,
            message: take(message)?,
            signature: take(signature)?,
        })
    }
}

/// A signature.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    scheme: Scheme,
    key: &'a [u8],
    message: &'a [u8],
    signature: &'a [u8],
}

impl Case<'_> {
    /// Bytes of the root.
    pub fn root_len(&self) -> usize {
        match self.scheme {
            Scheme::SlhDsaSha2_128s => 16,
            // Hash values that are cut to 24 bytes make shorter keys.
            Scheme::Lms if self.tree_key_len() == LMS_KEY_LEN - 8 => 24,
            Scheme::Xmss | Scheme::XmssMt if self.key.len() == 4 + 2 * 24 => 24,
            _ => 32,
        }
    }

    /// Trees whose roots a verifier computes, if it finds nothing wrong before the last one.
    pub fn trees(&self) -> u32 {
        match (self.scheme, self.key.first_chunk()) {
            (Scheme::Lms, Some(levels)) if self.is_hss() => u32::from_be_bytes(*levels),
            _ => 1,
        }
    }

    fn is_hss(&self) -> bool {
        self.tree_key_len() != self.key.len()
    }

    /// Bytes of the key without a count of levels: with it they are no multiple of eight.
    fn tree_key_len(&self) -> usize {
        self.key.len() & !7
    }

    /// The root that it leads to, and that in the key.
    ///
    /// # Errors
    /// Those of the verifier.
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

/// The message of M′, as an interface has it that encodes it again: verifiers get it in parts.
fn decoded(encoded: &[u8]) -> Message<'_> {
    match encoded {
        [0, context_len, rest @ ..] => match rest.split_at_checked((*context_len).into()) {
            Some((context, message)) => Message::Pure { context, message },
            None => Message::Internal(encoded),
        },
        _ => Message::Internal(encoded),
    }
}
