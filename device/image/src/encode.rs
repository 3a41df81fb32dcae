//! Encoding of a manifest (image format §4). Each manifest has exactly one encoding.

use crate::bytes::Writer;
use crate::manifest::{Closing, Manifest};
use crate::types::KeyRecord;

/// Writes the signed region of `manifest` into `out` and returns its size in bytes, or `None` if `out` is too small.
///
/// The fields `signed_size`, the counts and the size of the extensions are computed. All other fields are written
/// without a check, even if they are invalid. The signing tool verifies the result.
pub fn encode_manifest(manifest: &Manifest<'_>, out: &mut [u8]) -> Option<usize> {
    let mut body = Writer::new(out);
    body.put(manifest.bundle_type.tag());
    body.put_u32(0); // signed_size, below
    body.put_u32(manifest.signatures_size);
    body.put_u64(manifest.bundle_size);
    body.put_u64(manifest.security_version);
    body.put_u64(manifest.created);
    body.put_u32(manifest.lifecycle_mask);
    body.put_u32(manifest.signers.len() as u32);
    body.put_u32(manifest.payloads.len() as u32);
    body.put_u32(manifest.extensions.encoded_len() as u32);
    body.put(manifest.identity.board.field());
    body.put(manifest.identity.soc.field());
    body.put(manifest.label.field());
    body.put(&[0; 64]);
    for signer in manifest.signers.iter() {
        put_key(&mut body, signer);
    }
    for payload in manifest.payloads.iter() {
        body.put(&payload.prefix());
        body.put(&payload.digest);
    }
    manifest.extensions.encode(&mut body);
    match &manifest.closing {
        Closing::Trust { list, carried } => {
            body.put_u32(list.policy.number());
            body.put_u32(list.keys.len() as u32);
            body.put_u64(*carried);
            for key in list.keys.iter() {
                put_key(&mut body, key);
            }
        }
        Closing::Bootargs(bootargs) => {
            body.put_u32(bootargs.len() as u32);
            body.put_u32(0);
            body.put(bootargs);
            body.pad_to(8);
        }
    }
    let signed_size = body.finish()?;
    out.get_mut(16..20)?.copy_from_slice(&(signed_size as u32).to_le_bytes());
    Some(signed_size)
}

/// Appends a key record (§4.2).
fn put_key(out: &mut Writer<'_>, key: &KeyRecord) {
    out.put_u32(key.algorithm);
    out.put_u32(key.parameters);
    out.put(&key.key_id);
    out.put_u64(0);
}
