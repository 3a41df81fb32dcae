//! Reads a payload of a bundle whose content is judged as a whole.

use hartlock_image::{PayloadRecord, Reason};
use hartlock_verify::tree;

use crate::Refusal;

/// Maximum length of a device tree in bytes. Every board has less room for it.
const MAX_SIZE: u64 = 16 << 20;

/// Reads a device tree. `read` reads bytes of the bundle.
///
/// # Errors
/// `DeviceTreeUnusable` if it is larger than any place for it; `PayloadDigestMismatch` if what was read does not have the
/// digest of the manifest.
pub(crate) fn read_verified(
    payload: &PayloadRecord,
    read: impl FnOnce(u64, &mut [u8]) -> Result<(), Reason>,
) -> Result<Vec<u8>, Refusal> {
    if payload.size > MAX_SIZE {
        let context = format!("the {} has {} bytes", payload.payload_type.name(), payload.size);
        return Err(Refusal::with(Reason::DeviceTreeUnusable, context));
    }
    let mut bytes = vec![0; payload.size as usize];
    read(payload.offset, &mut bytes).map_err(Refusal::new)?;
    if tree::digest(payload, &bytes) != payload.digest {
        let context = format!("payload {}", payload.payload_type.name());
        return Err(Refusal::with(Reason::PayloadDigestMismatch, context));
    }
    Ok(bytes)
}
