//! The secret of a device.

use core::hint::black_box;

use hartlock_image::Reason;

/// An expanded Ed25519 key as Keystone keeps it: a scalar, and the prefix of nonces. It is overwritten when it is dropped.
#[repr(align(8))] // as a digest
pub struct DeviceSecret([u8; 64]);

impl DeviceSecret {
    /// Moves the secret out of `bytes`, which are overwritten whatever comes of it.
    ///
    /// # Errors
    /// `DeviceSecretInvalid` if all bits are equal: storage that was never written, or that is closed already.
    pub fn take(bytes: &mut [u8; 64]) -> Result<Self, Reason> {
        let secret = Self(*bytes);
        wipe(bytes);
        let any = secret.0.iter().fold(0, |seen, byte| seen | byte);
        let all = secret.0.iter().fold(u8::MAX, |seen, byte| seen & byte);
        let is_usable = black_box(any) != 0 && black_box(all) != u8::MAX;
        if is_usable { Ok(secret) } else { Err(Reason::DeviceSecretInvalid) }
    }

    /// Takes what `read` shows, which `close` has to close until reset, also if it is no secret.
    ///
    /// # Errors
    /// As [`take`](Self::take); `NotEndorsed` if it stays open.
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

impl Drop for DeviceSecret {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl core::fmt::Debug for DeviceSecret {
    /// It is not shown.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DeviceSecret").finish_non_exhaustive()
    }
}

/// Overwrites bytes, as far as the language lets one say so without unsafe code.
pub(crate) fn wipe<const N: usize>(bytes: &mut [u8; N]) {
    *bytes = black_box([0; N]);
}
