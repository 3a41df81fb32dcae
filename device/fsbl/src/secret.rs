//! The device secret of the first-stage boot loader.

use core::hint::black_box;

use hartlock_image::Reason;

/// An expanded Ed25519 key in Keystone's format: a scalar, and the prefix of nonces. It is overwritten when it is
/// dropped.
#[repr(align(8))] // the same alignment as a digest
pub struct ExpandedDeviceKey([u8; 64]);

impl ExpandedDeviceKey {
    /// Moves the secret out of `bytes`, which are overwritten in any case.
    ///
    /// # Errors
    /// `DeviceSecretInvalid` if all bits are equal, because the storage was never written or is already closed.
    pub fn take(bytes: &mut [u8; 64]) -> Result<Self, Reason> {
        let secret = Self(*bytes);
        wipe(bytes);
        let any = secret.0.iter().fold(0, |seen, byte| seen | byte);
        let all = secret.0.iter().fold(u8::MAX, |seen, byte| seen & byte);
        let is_usable = black_box(any) != 0 && black_box(all) != u8::MAX;
        if is_usable { Ok(secret) } else { Err(Reason::DeviceSecretInvalid) }
    }

    /// Takes the secret that `read` returns. `close` has to close it until reset, even if the secret is invalid.
    ///
    /// # Errors
    /// The same as those of [`take`](Self::take); `NotEndorsed` if the secret stays accessible.
    pub fn take_and_close(
        read: impl FnOnce() -> [u8; 64],
        close: impl FnOnce() -> bool,
    ) -> Result<Self, Reason> {
        let secret = Self::take(&mut read());
        let is_closed = close();
        let secret = secret?;
        if is_closed { Ok(secret) } else { Err(Reason::NotEndorsed) }
    }

    pub(crate) const fn bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

impl Drop for ExpandedDeviceKey {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl core::fmt::Debug for ExpandedDeviceKey {
    /// Formats the type without the secret.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ExpandedDeviceKey").finish_non_exhaustive()
    }
}

/// Overwrites bytes, as reliably as is possible without unsafe code.
pub(crate) fn wipe<const N: usize>(bytes: &mut [u8; N]) {
    *bytes = black_box([0; N]);
}
