//! Cases out of the host's memory, one at a time in the scratchpad.

use hartlock_kernels::hash_based::Scheme;
use hartlock_rot::{HOST_MEMORY, host};

/// Where the workstation has put them.
const CASES: u64 = HOST_MEMORY as u64 + (16 << 20);
/// Bytes of the longest case: SLH-DSA-SHA2-128s with a short message.
const ROOM: usize = 9 << 10;
/// Words in front of a case.
const HEAD: usize = 4;

static mut BYTES: [u8; ROOM] = [0; ROOM];

/// A signature.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub scheme: Scheme,
    pub key: &'a [u8],
    pub message: &'a [u8],
    pub signature: &'a [u8],
}

impl Case<'_> {
    pub fn root_len(&self) -> usize {
        match self.scheme {
            Scheme::SlhDsaSha2_128s => 16,
            // A signature of SHA-256 with 24 bytes has shorter keys.
            _ if self.key.len() == 4 + 2 * 24 || self.key.len() == 8 + 16 + 24 => 24,
            _ => 32,
        }
    }
}

pub struct Cases {
    pub count: u32,
    at: u64,
}

impl Cases {
    pub fn open() -> Option<Self> {
        let [count] = words(CASES)?;
        Some(Self { count, at: CASES + 8 })
    }

    /// The next one, in place of the one before.
    pub fn next(&mut self) -> Option<Case<'_>> {
        let [scheme, key, message, signature] = words::<HEAD>(self.at)?;
        let bytes = &raw mut BYTES;
        // SAFETY: a case borrows what returns it, so none of those before lives.
        let bytes = unsafe { &mut *bytes };
        let mut rest = &mut bytes[..];
        let mut at = self.at + 4 * HEAD as u64;
        let mut take = |len: u32| {
            let len = len as usize;
            let (now, later) =
                core::mem::take(&mut rest).split_at_mut_checked(len.next_multiple_of(8))?;
            rest = later;
            host::read(at, now).ok()?;
            at += now.len() as u64;
            let now: &[u8] = now;
            now.get(..len)
        };
        let scheme = match scheme {
            0 => Scheme::Xmss,
            1 => Scheme::XmssMt,
            2 => Scheme::Lms,
            3 => Scheme::SlhDsaSha2_128s,
            _ => return None,
        };
        let (key, message, signature) = (take(key)?, take(message)?, take(signature)?);
        self.at = at;
        Some(Case { scheme, key, message, signature })
    }
}

fn words<const N: usize>(at: u64) -> Option<[u32; N]> {
    let mut bytes = [[0; 4]; N];
    host::read(at, bytes.as_flattened_mut()).ok()?;
    Some(bytes.map(u32::from_le_bytes))
}
