//! The key pair of the monitor, and its endorsement by the device's signature.

use hartlock_image::Reason;
use hartlock_kernels::engines::{Sha3Digest, SigningSlot};
use hartlock_kernels::secret::{confined, wipe};

use crate::compute::Computer;
use crate::medium::Point;
use crate::secret::ExpandedDeviceKey;

/// Length in bytes of the message that the device signs: the measurement, then the monitor's public key.
const MESSAGE_LEN: usize = 64 + 32;

/// The data for the monitor. The secret key is overwritten when the value is dropped.
#[repr(align(8))] // the same alignment as a digest
pub struct Endorsement {
    /// SHA3-512 digest of the monitor.
    pub measurement: [u8; 64],
    /// Public key of the monitor.
    pub public_key: [u8; 32],
    /// Signature of the device's key over measurement and public key.
    pub signature: [u8; 64],
    /// Public key of the device.
    pub device_public_key: [u8; 32],
    /// Expanded secret key of the monitor: clamped scalar and prefix.
    pub secret_key: [u8; 64],
}

impl Endorsement {
    /// An endorsement with all bytes zero.
    pub const EMPTY: Self = Self {
        measurement: [0; 64],
        public_key: [0; 32],
        signature: [0; 64],
        device_public_key: [0; 32],
        secret_key: [0; 64],
    };
}

impl Endorsement {
    /// Overwrites the secret key, for a caller that does not return.
    pub fn wipe(&mut self) {
        wipe(&mut self.secret_key);
    }
}

impl Drop for Endorsement {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl core::fmt::Debug for Endorsement {
    /// Formats the endorsement without its secret key.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut shown = f.debug_struct("Endorsement");
        shown.field("measurement", &self.measurement).field("public_key", &self.public_key);
        shown.finish_non_exhaustive()
    }
}

/// The device's key. If an engine computed its public key, the engine holds the secret in a slot.
#[derive(Debug)]
pub struct DeviceKey<'a> {
    secret: &'a ExpandedDeviceKey,
    public_key: [u8; 32],
}

/// Loads the device's key and endorses the monitor. `made` contains the measurement and receives all other fields.
///
/// # Errors
/// As [`DeviceKey::load`] and [`DeviceKey::endorse`].
pub fn endorse(
    computer: &mut Computer,
    secret: &ExpandedDeviceKey,
    made: &mut Endorsement,
    mut reached: impl FnMut(Point),
) -> Result<(), Reason> {
    let device = DeviceKey::load(computer, secret)?;
    reached(Point::DeviceKey);
    device.endorse(computer, made, reached)
}

impl<'a> DeviceKey<'a> {
    /// Computes the public key of the device. After this the caller has to wipe `computer`, by
    /// [`endorse`](Self::endorse) or [`Computer::wipe`].
    ///
    /// # Errors
    /// `NotEndorsed` if neither engine nor software makes one; then no engine has a key.
    pub fn load(computer: &mut Computer, secret: &'a ExpandedDeviceKey) -> Result<Self, Reason> {
        let mut public_key = [0; 32];
        let load = || computer.public_key(SigningSlot::Device, secret.bytes(), &mut public_key);
        if confined(load).is_some() {
            return Ok(Self { secret, public_key });
        }
        computer.wipe();
        Err(Reason::NotEndorsed)
    }

    /// Derives the monitor's key pair, and endorses measurement and public key. The seed of the key pair is the first
    /// half of SHA3-512(device secret, measurement), over all 64 bytes of each, which is the intended derivation of
    /// Keystone. Keystone's own loader uses only one byte of each (`sizeof` of an element), so that all its monitors
    /// share 8,192 keys; this code never derives such a key. `made` contains the measurement and receives all other
    /// fields.
    ///
    /// # Errors
    /// `NotEndorsed` if neither an engine nor software computes a key or a signature; then `made` contains no secret.
    pub fn endorse(
        &self,
        computer: &mut Computer,
        made: &mut Endorsement,
        reached: impl FnMut(Point),
    ) -> Result<(), Reason> {
        confined(|| self.endorse_confined(computer, made, reached))
    }

    #[inline(never)]
    fn endorse_confined(
        &self,
        computer: &mut Computer,
        made: &mut Endorsement,
        mut reached: impl FnMut(Point),
    ) -> Result<(), Reason> {
        made.device_public_key = self.public_key;
        let (mut derived, mut expanded) = (Sha3Digest::EMPTY, Sha3Digest::EMPTY);
        computer.hash(&[self.secret.bytes(), &made.measurement], &mut derived);
        let (seed, _) = derived.0.split_at(32);
        computer.hash(&[seed], &mut expanded);
        made.secret_key = expanded.0;
        wipe(&mut derived.0);
        wipe(&mut expanded.0);
        // The scalar is clamped by RFC 8032 §5.1.5, because the monitor uses it for signing without further changes.
        made.secret_key[0] &= 0xf8;
        made.secret_key[31] = made.secret_key[31] & 0x7f | 0x40;
        reached(Point::Derived);
        let is_made = self.sign(computer, made, &mut reached).is_some();
        // The engines are wiped even if a step failed, so that no key stays in them.
        let is_wiped = computer.wipe();
        if is_made && is_wiped {
            return Ok(());
        }
        made.wipe();
        Err(Reason::NotEndorsed)
    }

    fn sign(
        &self,
        computer: &mut Computer,
        made: &mut Endorsement,
        reached: &mut impl FnMut(Point),
    ) -> Option<()> {
        computer.public_key(SigningSlot::Monitor, &made.secret_key, &mut made.public_key)?;
        reached(Point::KeyPair);
        let mut message = [0; MESSAGE_LEN];
        let (measurement, public_key) = message.split_first_chunk_mut()?;
        *measurement = made.measurement;
        *public_key.first_chunk_mut()? = made.public_key;
        let key = (SigningSlot::Device, self.secret.bytes());
        computer.sign(key, &self.public_key, &message, &mut made.signature)?;
        reached(Point::Endorsed);
        Some(())
    }
}
