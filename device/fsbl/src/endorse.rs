//! The key pair of the monitor, and its endorsement by the device.

use hartlock_image::Reason;

use crate::compute::{Computer, HashEngine, SignEngine, Slot};
use crate::medium::Point;
use crate::secret::{DeviceSecret, wipe};

/// Bytes that the device signs: measurement, then the monitor's public key.
const MESSAGE_LEN: usize = 64 + 32;

/// What the monitor gets. Its secret is overwritten when this is dropped.
#[repr(align(8))] // as a digest
pub struct Endorsement {
    /// SHA3-512 of the monitor.
    pub measurement: [u8; 64],
    /// The monitor's.
    pub public_key: [u8; 32],
    /// By the device's key, over measurement and public key.
    pub signature: [u8; 64],
    /// The device's.
    pub device_public_key: [u8; 32],
    /// The monitor's expanded key: clamped scalar and prefix.
    pub secret_key: [u8; 64],
}

impl Endorsement {
    /// None yet.
    pub const EMPTY: Self = Self {
        measurement: [0; 64],
        public_key: [0; 32],
        signature: [0; 64],
        device_public_key: [0; 32],
        secret_key: [0; 64],
    };
}

impl Drop for Endorsement {
    fn drop(&mut self) {
        wipe(&mut self.secret_key);
    }
}

impl core::fmt::Debug for Endorsement {
    /// The secret is not shown.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut shown = f.debug_struct("Endorsement");
        shown.field("measurement", &self.measurement).field("public_key", &self.public_key);
        shown.finish_non_exhaustive()
    }
}

/// The device's key. If an engine computed its public key, it has the secret in a slot.
#[derive(Debug)]
pub struct DeviceKey<'a> {
    secret: &'a DeviceSecret,
    public_key: [u8; 32],
}

/// Makes the device's key and endorses.
///
/// # Errors
/// As [`DeviceKey::load`] and [`DeviceKey::endorse`].
pub fn endorse<H: HashEngine, S: SignEngine>(
    computer: &mut Computer<H, S>,
    secret: &DeviceSecret,
    measurement: &[u8; 64],
    mut reached: impl FnMut(Point),
) -> Result<Endorsement, Reason> {
    let device = DeviceKey::load(computer, secret)?;
    reached(Point::DeviceKey);
    let mut made = Endorsement { measurement: *measurement, ..Endorsement::EMPTY };
    device.endorse(computer, &mut made, reached)?;
    Ok(made)
}

impl<'a> DeviceKey<'a> {
    /// Computes the public key. From here on something has to be done with `computer` that wipes it:
    /// [`endorse`](Self::endorse), or [`Computer::wipe`].
    ///
    /// # Errors
    /// `NotEndorsed` if neither engine nor software makes one; then no engine has a key.
    pub fn load<H: HashEngine, S: SignEngine>(
        computer: &mut Computer<H, S>,
        secret: &'a DeviceSecret,
    ) -> Result<Self, Reason> {
        let mut public_key = [0; 32];
        if computer.public_key(Slot::Device, secret.bytes(), &mut public_key).is_some() {
            return Ok(Self { secret, public_key });
        }
        computer.wipe();
        Err(Reason::NotEndorsed)
    }

    /// Derives the monitor's key pair as Keystone means to: its seed is the first half of SHA3-512(device secret, measurement),
    /// all 64 bytes of each. Keystone's own loader takes one byte of each (`sizeof` of an element), so that all monitors in the
    /// world share 8,192 keys; that form is never made here. Then endorses measurement and public key. The measurement is in
    /// `made`, which gets the rest.
    ///
    /// # Errors
    /// `NotEndorsed` if a key or a signature could not be made, by engine and software; then no secret is left in `made`.
    #[inline(never)]
    pub fn endorse<H: HashEngine, S: SignEngine>(
        &self,
        computer: &mut Computer<H, S>,
        made: &mut Endorsement,
        mut reached: impl FnMut(Point),
    ) -> Result<(), Reason> {
        made.device_public_key = self.public_key;
        let mut derived = computer.hashed(&[self.secret.bytes(), &made.measurement]);
        let (seed, _) = derived.0.split_at(32);
        let mut expanded = computer.hashed(&[seed]);
        made.secret_key = expanded.0;
        wipe(&mut derived.0);
        wipe(&mut expanded.0);
        // RFC 8032 §5.1.5; the monitor signs with it as it is.
        made.secret_key[0] &= 0xf8;
        made.secret_key[31] = made.secret_key[31] & 0x7f | 0x40;
        reached(Point::Derived);
        let is_made = self.sign(computer, made, &mut reached).is_some();
        // Also if something failed: no key stays in an engine.
        let is_wiped = computer.wipe();
        if is_made && is_wiped {
            return Ok(());
        }
        wipe(&mut made.secret_key);
        Err(Reason::NotEndorsed)
    }

    fn sign<H: HashEngine, S: SignEngine>(
        &self,
        computer: &mut Computer<H, S>,
        made: &mut Endorsement,
        reached: &mut impl FnMut(Point),
    ) -> Option<()> {
        computer.public_key(Slot::Monitor, &made.secret_key, &mut made.public_key)?;
        reached(Point::KeyPair);
        let mut message = [0; MESSAGE_LEN];
        let (measurement, public_key) = message.split_first_chunk_mut()?;
        *measurement = made.measurement;
        *public_key.first_chunk_mut()? = made.public_key;
        let key = (Slot::Device, self.secret.bytes());
        computer.sign(key, &self.public_key, &message, &mut made.signature)?;
        reached(Point::Endorsed);
        Some(())
    }
}
