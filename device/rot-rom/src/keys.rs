//! Keys for the host (feature `keys`, `spec/requests.md`): the slot key is made of the device secret before the host leaves its
//! reset, and [`Service`] serves its requests.

use hartlock_drivers::device_secret::DeviceSecret;
use hartlock_drivers::key_slot::KeySlot;
pub use hartlock_rot::keys::Service;
use hartlock_rot::{DEVICE_SECRET, KEY_SLOT, wipe_stack};

use crate::{console, engine};

/// SP 800-108 §4.1 with HMAC-SHA-256, one block: counter, label, zero, bits of the key.
const DERIVATION: &[u8] = b"\0\0\0\x01hartlock-key-slot-v1\0\0\0\x01\0";

/// Makes the key of the slot and closes slot and secret until reset. Without an engine or a secret the slot stays empty, and
/// imports of keys are refused.
pub fn fill_slot() {
    let is_filled = derive_and_fill();
    // Copies of secret and key that the compiler made.
    wipe_stack();
    if !is_filled {
        console::line(&["hartlock: no key in the slot"]);
    }
}

/// In a frame of its own, which is below the stack pointer when it has returned.
#[inline(never)]
fn derive_and_fill() -> bool {
    // SAFETY: the page of the slot, of which this is the only user.
    let mut slot = unsafe { KeySlot::new(core::ptr::with_exposed_provenance_mut(KEY_SLOT)) };
    // SAFETY: the page of the secret. The monitor of a TEE is endorsed after this has returned.
    let mut page =
        unsafe { DeviceSecret::new(core::ptr::with_exposed_provenance_mut(DEVICE_SECRET)) };
    let secret = page.read();
    // Without a TEE nothing else needs it. With one, the code that endorses closes it.
    let is_closed = cfg!(feature = "tee") || page.close(|| ());
    let first = secret.first().copied().unwrap_or_default();
    // Storage that was never written: its key would be that of every such device.
    let is_blank = matches!(first, 0 | 0xff) && secret.iter().all(|byte| *byte == first);
    let key = if is_closed && !is_blank { engine::mac(&secret, DERIVATION) } else { None };
    match key {
        Some(key) => slot.fill(&key, || ()),
        None => {
            slot.lock();
            false
        }
    }
}
