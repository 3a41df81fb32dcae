//! The encoding that the three fixed blocks share: tag, key list, names and digest.

use hartlock_image::{
    KEY_RECORD_SIZE, KeyRecord, List, MAX_TRUSTED_KEYS, Name, Policy, TrustList, Writer, bytes_at,
    is_zero, u32_at,
};
use hartlock_kernels::Hash;
use hartlock_kernels::sha2::Sha384;

/// Computes SHA-384 of a byte string.
pub(crate) fn sha384(bytes: &[u8]) -> [u8; 48] {
    let mut hash = Sha384::new();
    hash.update(bytes);
    hash.finalize()
}

/// Returns true if `block` starts with `tag`, has at offset `digest_at` the SHA-384 digest of all
/// preceding bytes, and contains only zeros after the digest.
pub(crate) fn is_intact(block: &[u8], tag: &[u8; 16], digest_at: usize) -> bool {
    let Some((body, rest)) = block.split_at_checked(digest_at) else { return false };
    let Some((digest, padding)) = rest.split_at_checked(48) else { return false };
    bytes_at::<16>(body, 0) == Some(*tag) && digest == sha384(body) && is_zero(padding)
}

/// Reads the policy, the number of keys and the key records of a block. Returns `None` if they are
/// malformed.
pub(crate) fn read_trust(
    block: &[u8],
    policy_at: usize,
    count_at: usize,
    keys_at: usize,
) -> Option<TrustList> {
    let policy = Policy::from_number(u32_at(block, policy_at)?)?;
    let key_count = u32_at(block, count_at)? as usize;
    if !(1..=MAX_TRUSTED_KEYS).contains(&key_count) {
        return None;
    }
    let records = block.get(keys_at..)?.as_chunks::<KEY_RECORD_SIZE>().0;
    let mut keys = List::<KeyRecord, MAX_TRUSTED_KEYS>::new();
    for (index, record) in records.iter().enumerate().take(MAX_TRUSTED_KEYS) {
        if index < key_count {
            let key = KeyRecord::parse(record)?;
            let is_new = keys.iter().all(|earlier| earlier.key_id != key.key_id);
            if !is_new || !keys.push(key) {
                return None;
            }
        } else if !is_zero(record) {
            return None;
        }
    }
    (keys.len() == key_count).then_some(TrustList { policy, keys })
}

/// Writes the eight key record slots. Unused slots are zero.
pub(crate) fn put_keys(out: &mut Writer<'_>, trust: &TrustList) {
    for index in 0..MAX_TRUSTED_KEYS {
        match trust.keys.get(index) {
            Some(key) => {
                out.put_u32(key.algorithm);
                out.put_u32(key.parameters);
                out.put(&key.key_id);
                out.put_u64(0);
            }
            None => out.put(&[0; KEY_RECORD_SIZE]),
        }
    }
}

/// Reads the board or SoC name at offset `at`.
pub(crate) fn read_name(block: &[u8], at: usize) -> Option<Name> {
    Name::from_field(&bytes_at(block, at)?)
}

/// Writes SHA-384 of all bytes before `digest_at` at offset `digest_at`, and returns the digest.
pub(crate) fn seal(block: &mut [u8], digest_at: usize) -> [u8; 48] {
    let digest = sha384(block.get(..digest_at).unwrap_or(&[]));
    if let Some(place) = block.get_mut(digest_at..).and_then(<[u8]>::first_chunk_mut) {
        *place = digest;
    }
    digest
}
