//! Cases of hash-based signatures, and the roots that they lead to: for programs of the cycle-accurate machine.
//!
//! A case is its scheme, the lengths of key, message and signature, each in four bytes, then the bytes of each, padded to
//! eight.

use hartlock_kernels::signature::{Comparison, Rejection};
use hartlock_kernels::{Kernels, lms, slh_dsa, xmss};

/// From the start of memory to the cases: their count in eight bytes, and one after the other.
pub const OFFSET: u64 = 16 << 20;
/// Bytes of scheme and lengths.
pub const HEAD_LEN: usize = 16;

/// What kind of signature it is: the numbers of `hartlock_kernels::hash_based::Scheme`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// XMSS.
    Xmss = 0,
    /// XMSS^MT.
    XmssMt = 1,
    /// One tree of LMS.
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
            _ if self.key.len() == 4 + 2 * 24 || self.key.len() == 8 + 16 + 24 => 24,
            _ => 32,
        }
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
            Scheme::Lms => lms::compare(kernels, key, &[message], signature),
            Scheme::SlhDsaSha2_128s => {
                let set = slh_dsa::SlhDsaSet::Sha2_128s;
                let message = slh_dsa::Message::Pure { context: &[], message };
                slh_dsa::compare(kernels, set, key, message, signature)
            }
        }
    }
}
