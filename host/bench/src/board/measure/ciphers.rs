//! Cipher kernels: AES in counter mode, AES-GCM and GHASH, all on one message in place.

use hartlock_kernels::aes::{AesKey, BLOCK_SIZE, ctr, gcm};
use hartlock_kernels::{CipherMode, CipherTier, Kernels};

use super::{MAX_LEN, Messages, Meter, Subject, use_up};

/// No secret: what is measured does not depend on it.
const KEY: [u8; 32] = [0x5a; 32];
const COUNTER: [u8; BLOCK_SIZE] = [3; BLOCK_SIZE];
const IV: [u8; 12] = [7; 12];

/// Returns true if the kernels do what the portable ones do. The messages are changed.
pub fn are_right(kernels: &Kernels, mode: CipherMode, messages: &mut Messages, len: usize) -> bool {
    let (ours, wanted) = messages.0.split_at_mut(MAX_LEN);
    let ours = ours.get_mut(..len).unwrap_or_default();
    let wanted = wanted.get_mut(..len).unwrap_or_default();
    wanted.copy_from_slice(ours);
    let (mut key, mut portable) = (AesKey::with(kernels), AesKey::EMPTY);
    [16, 24, 32].into_iter().all(|size| {
        let bytes = KEY.get(..size).unwrap_or_default();
        let is_expanded = key.expand(bytes).is_ok() && portable.expand(bytes).is_ok();
        let is_done = match mode {
            CipherMode::Ctr => {
                ctr::apply(&key, &COUNTER, ours).is_ok()
                    && ctr::apply(&portable, &COUNTER, wanted).is_ok()
            }
            CipherMode::Gcm => {
                let tag = gcm::tag(&portable, &IV, &KEY, wanted).unwrap_or_default();
                gcm::tag(&key, &IV, &KEY, ours) == Ok(tag)
                    && gcm::decrypt(&key, &IV, &KEY, ours, &tag).is_ok()
                    && gcm::decrypt(&portable, &IV, &KEY, wanted, &tag).is_ok()
            }
        };
        is_expanded && is_done && ours == wanted
    })
}

/// Measures a kernel with the key sizes of 128 and 256 bits.
pub fn measure(
    meter: &mut Meter<'_>,
    kernels: &Kernels,
    mode: CipherMode,
    tier: CipherTier,
    messages: &mut Messages,
) {
    let text = messages.0.get_mut(..meter.arguments.message_len()).unwrap_or_default();
    let subject = |name| Subject { name, tier: tier.name(), form: "one", messages: 1 };
    let mut key = AesKey::with(kernels);
    for (size, ctr_name, gcm_name) in
        [(16, "aes-128-ctr", "aes-128-gcm"), (32, "aes-256-ctr", "aes-256-gcm")]
    {
        if key.expand(KEY.get(..size).unwrap_or_default()).is_err() {
            continue;
        }
        match mode {
            CipherMode::Ctr => {
                meter.measure(&subject(ctr_name), || use_up(ctr::apply(&key, &COUNTER, text)));
            }
            CipherMode::Gcm => {
                // Decryption makes another text, whose decryption makes this one again. So the tags take turns.
                let first = gcm::tag(&key, &IV, &[], text).unwrap_or_default();
                use_up(gcm::decrypt(&key, &IV, &[], text, &first));
                let mut tags = [gcm::tag(&key, &IV, &[], text).unwrap_or_default(), first];
                meter.measure(&subject(gcm_name), || {
                    use_up(gcm::decrypt(&key, &IV, &[], text, &tags[0]));
                    tags.reverse();
                });
                // The hash alone is that of additional data without a text.
                if size == 32 {
                    meter.measure(&subject("ghash"), || use_up(gcm::tag(&key, &IV, text, &[])));
                }
            }
        }
    }
}
