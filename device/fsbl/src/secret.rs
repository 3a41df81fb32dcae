//! The device secret of the first-stage boot loader.

use core::hint::black_box;

use hartlock_image::Reason;
use hartlock_kernels::secret::{Secret, confined};

/// An expanded Ed25519 key in Keystone's format: a scalar, and the prefix of nonces. It is overwritten when it is
/// dropped, and stays where it was read to.
#[repr(align(8))] // the same alignment as a digest
pub struct ExpandedDeviceKey(Secret<64>);

impl ExpandedDeviceKey {
    /// The place for a secret that was not read yet.
    pub const EMPTY: Self = Self(Secret::ZERO);

    /// Reads the secret by `read`, and closes it by `close` until reset, even if the secret is invalid.
    ///
    /// # Errors
    /// `DeviceSecretInvalid` if all bits are equal, because the storage was never written or is already closed;
    /// `NotEndorsed` if the secret stays accessible.
    pub fn take(
        &mut self,
        read: impl FnOnce(&mut [u8; 64]),
        close: impl FnOnce() -> bool,
    ) -> Result<(), Reason> {
        let is_usable = confined(|| {
            read(&mut self.0);
            let any = self.0.iter().fold(0, |seen, byte| seen | byte);
            let all = self.0.iter().fold(u8::MAX, |seen, byte| seen & byte);
            black_box(any) != 0 && black_box(all) != u8::MAX
        });
        let is_closed = close();
        match (is_usable, is_closed) {
            (true, true) => Ok(()),
            (true, false) => Err(Reason::NotEndorsed),
            (false, _) => Err(Reason::DeviceSecretInvalid),
        }
    }

    pub(crate) const fn bytes(&self) -> &[u8; 64] {
        self.0.bytes()
    }
}

impl core::fmt::Debug for ExpandedDeviceKey {
    /// Formats the type without the secret.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ExpandedDeviceKey").finish_non_exhaustive()
    }
}
