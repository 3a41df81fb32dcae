//! Keys for the host (feature `keys`, `spec/requests.md`). The key of the slot is derived from the device secret before
//! the host leaves reset, and [`KeyService`] serves the requests of the host.

use hartlock_drivers::device_secret::DeviceSecretPage;
use hartlock_drivers::key_slot::KeySlot;
use hartlock_kernels::secret::Secret;
pub use hartlock_rot::keys::KeyService;
use hartlock_rot::{DEVICE_SECRET, KEY_SLOT, wipe_stack};

use crate::engines::RotEngines;

/// Input of the key derivation of SP 800-108 §4.1 with HMAC-SHA-256, for one block: counter, label, zero byte, and
/// length of the key in bits.
const DERIVATION: &[u8] = b"\0\0\0\x01hartlock-key-slot-v1\0\0\0\x01\0";

/// Derives the key of the slot, and closes slot and secret until reset. Without an engine or a secret the slot stays
/// empty, and requests to import keys are refused. Returns true if the slot has a key.
pub fn fill_slot(engines: &RotEngines) -> bool {
    let is_filled = derive_and_fill(engines);
    // The compiler may have left copies of secret and key on the stack.
    wipe_stack();
    is_filled
}

/// Derives the key and fills the slot. The function has its own stack frame, so that all its data is below the stack
/// pointer when it has returned.
#[inline(never)]
fn derive_and_fill(engines: &RotEngines) -> bool {
    // SAFETY: the address is the page of the slot, of which this is the only user.
    let mut slot = unsafe { KeySlot::new(core::ptr::with_exposed_provenance_mut(KEY_SLOT)) };
    // SAFETY: the address is the page of the secret. The monitor of a TEE is endorsed only after this function has
    // returned.
    let mut page =
        unsafe { DeviceSecretPage::new(core::ptr::with_exposed_provenance_mut(DEVICE_SECRET)) };
    let mut secret = Secret::<64>::ZERO;
    page.read(&mut secret);
    // Without a TEE no other code needs the secret. With a TEE, the code that endorses the monitor closes it.
    let is_closed = cfg!(feature = "tee") || page.close(|| ());
    let first = secret.first().copied().unwrap_or_default();
    // Storage that was never written holds the same value on every such device, so no key is derived from it.
    let is_blank = matches!(first, 0 | 0xff) && secret.iter().all(|byte| *byte == first);
    let mut key = Secret::<32>::ZERO;
    let is_usable = is_closed && !is_blank;
    if is_usable && engines.mac(&*secret, DERIVATION, &mut key).is_some() {
        return slot.fill(&key, || ());
    }
    slot.lock();
    false
}
