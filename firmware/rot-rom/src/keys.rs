//! Keys for the host (feature `keys`, `spec/requests.md`): the slot key is made of the device secret before the host leaves its
//! reset, and requests are served by the engines for AES and for big numbers.
//!
//! The engines' pages are empty on machines without them: an access traps there.

use hartlock_drivers::device_secret::DeviceSecret;
use hartlock_drivers::key_slot::KeySlot;
use hartlock_drivers::mailbox::Answer;
use hartlock_drivers::mailbox::key_engines::Hardware;
use hartlock_drivers::mailbox::keys::{BUFFER_LEN, Keys};
use hartlock_drivers::mailbox::request::{Permitted, Refusal};
use hartlock_rot::{AES, BIGNUM, DEVICE_SECRET, KEY_SLOT, NOISE_SOURCE, host, wipe_stack};

use crate::{console, engine};

/// SP 800-108 §4.1 with HMAC-SHA-256, one block: counter, label, zero, bits of the key.
const DERIVATION: &[u8] = b"\0\0\0\x01hartlock-key-slot-v1\0\0\0\x01\0";

/// Keys, and the record of the request that is served: the scratchpad, which only the root of trust reaches.
static mut KEYS: Keys = Keys::new();
static mut BUFFER: [u8; BUFFER_LEN] = [0; BUFFER_LEN];

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

/// What serves requests with keys.
pub struct Service {
    engines: Option<Hardware>,
    keys: &'static mut Keys,
    buffer: &'static mut [u8; BUFFER_LEN],
}

impl Service {
    /// Takes the engines. Called once.
    pub fn take() -> Self {
        let (keys, buffer) = (&raw mut KEYS, &raw mut BUFFER);
        // SAFETY: this is its only user.
        let keys = unsafe { &mut *keys };
        // SAFETY: likewise.
        let buffer = unsafe { &mut *buffer };
        Self { engines: engines(), keys, buffer }
    }

    /// Serves a request, and leaves its result in memory and answer.
    pub fn serve(&mut self, permitted: Permitted, answer: &mut Answer) -> Result<(), Refusal> {
        let result = self.serve_copy(permitted, answer);
        self.buffer.fill(0);
        result
    }

    fn serve_copy(
        &mut self,
        Permitted { operation, input, output }: Permitted,
        answer: &mut Answer,
    ) -> Result<(), Refusal> {
        let len = usize::try_from(input.size()).map_err(|_| Refusal::TooLong)?;
        let record = self.buffer.get_mut(..len).ok_or(Refusal::TooLong)?;
        // Each byte is read once: what the host changes from now on changes nothing.
        host::read(input.start, record).map_err(|_| Refusal::Failed)?;
        let done = self.keys.serve(self.engines.as_mut(), operation, self.buffer, len)?;
        if let Some(output) = output {
            // The room that was judged has at least so many bytes.
            let result = self.buffer.get(done.range).ok_or(Refusal::Failed)?;
            host::write(output.start, result).map_err(|_| Refusal::Failed)?;
        }
        if let Some(word) = answer.result.first_mut() {
            *word = done.word;
        }
        Ok(())
    }
}

fn engines() -> Option<Hardware> {
    let [aes, numbers, noise] =
        [AES, BIGNUM, NOISE_SOURCE].map(core::ptr::with_exposed_provenance_mut);
    // SAFETY: their pages, of which this is the only user: the kernel that verified the bundle is not called any more.
    unsafe { Hardware::at(aes, numbers, noise) }
}
