//! Replacement of the decryption in an archive without AES: encrypted payloads are refused.

use hartlock_image::{Manifest, PayloadRecord, Reason};
use hartlock_kernels::Kernels;
use hartlock_verify::pool::Job;

use crate::library::Library;

/// The decryption of a boot, which there is not.
pub struct Decryption {}

#[allow(clippy::unused_self, reason = "the functions are those of an archive with AES")]
impl Decryption {
    /// False: a platform that unwraps keys would promise what the archive cannot do.
    pub(crate) const IS_THERE: bool = false;

    /// Refuses a bundle with an encrypted payload.
    ///
    /// # Errors
    /// `ClassKeyMissing`.
    pub fn unwrap(&self, _: &Library, manifest: &Manifest<'_>) -> Result<(), Reason> {
        manifest.extensions.encrypted().next().map_or(Ok(()), |_| Err(Reason::ClassKeyMissing))
    }

    /// Returns false: no payload is encrypted.
    ///
    /// # Errors
    /// None.
    pub const fn begin(&self, _: &PayloadRecord, _: *mut u8) -> Result<bool, Reason> {
        Ok(false)
    }

    /// Does nothing.
    ///
    /// # Safety
    /// Always.
    pub const unsafe fn decrypt(&self, _: &Kernels, _: u32, _: *mut u8, _: u64, _: u64) {}

    /// Does nothing.
    ///
    /// # Safety
    /// Always.
    pub const unsafe fn decrypt_block(&self, _: &Kernels, _: u32, _: &Job, _: u64) {}

    /// Returns true.
    pub const fn is_done(&self, _: u64) -> bool {
        true
    }

    /// Does nothing.
    pub const fn end(&self, _: &PayloadRecord) {}

    /// Does nothing: a bundle with an encrypted payload was refused.
    ///
    /// # Errors
    /// None.
    pub const fn confirm(&self, _: &Manifest<'_>) -> Result<(), Reason> {
        Ok(())
    }

    /// Does nothing.
    pub const fn forget_keys(&self) {}

    /// Does nothing.
    pub const fn forget(&self, _: &Library) {}
}
