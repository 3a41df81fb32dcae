//! Implements the platform of the verifier for a bundle in memory.

use hartlock_image::{
    MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE, PAGE_SIZE, PayloadRecord, Reason, align_up,
};
use hartlock_verify::tree;
use hartlock_verify::{Acceptance, Loaded, Platform, authenticate, bits_of};

/// Runs all steps of image format §8 with the library.
pub fn judge(bundle: &[u8], acceptance: &Acceptance<'_>, is_medium: bool) -> Result<(), Reason> {
    // The buffer is not filled with zeros, because its old contents must not matter.
    let mut metadata = vec![0xa5; MAX_SIGNED_SIZE + MAX_SIGNATURES_SIZE];
    let mut medium = Medium { bytes: bundle, is_medium, next_unread: 0 };
    let mut authenticated = authenticate(&mut medium, acceptance, acceptance, &mut metadata)?;
    authenticated.load_payloads(&mut medium)?;
    // The first check accepted the bundle. The redundant check must do the same for every bundle.
    let verdict = authenticated.conclude().expect("the redundant check refuses an accepted bundle");
    assert!(verdict.is_accepted() && verdict.is_confirmed());
    Ok(())
}

struct Medium<'a> {
    bytes: &'a [u8],
    is_medium: bool,
    next_unread: u64,
}

impl<'a> Medium<'a> {
    /// Returns bytes of the medium and checks that each byte is read at most once and in order,
    /// because a second read could return other bytes.
    fn take(&mut self, offset: u64, len: u64) -> Result<&'a [u8], Reason> {
        assert!(offset >= self.next_unread, "byte {offset} is read twice");
        self.next_unread = offset + len;
        let rest = self.bytes.get(offset as usize..).and_then(|rest| rest.get(..len as usize));
        rest.ok_or(Reason::Truncated)
    }
}

impl Platform for Medium<'_> {
    fn medium_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn ends_with_bundle(&self) -> bool {
        !self.is_medium
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), Reason> {
        into.copy_from_slice(self.take(offset, into.len() as u64)?);
        Ok(())
    }

    fn load(&mut self, payload: &PayloadRecord) -> Result<Loaded, Reason> {
        let padded_size = align_up(payload.size, PAGE_SIZE).ok_or(Reason::InternalLimit)?;
        let (bytes, padding) =
            self.take(payload.offset, padded_size)?.split_at(payload.size as usize);
        let digest = tree::digest(payload, bytes);
        Ok(Loaded { digest, padding: bits_of(padding) })
    }
}
