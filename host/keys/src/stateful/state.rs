//! The encoding of the file of a stateful key (`spec/stateful-key.md` §2).

use hartlock_image::Algorithm;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::StatefulKey;
use crate::KeyErrorKind;

const MAGIC: &[u8; 8] = b"HLKstate";
const VERSION: u32 = 1;
/// Length in bytes of the fields before the seeds.
const HEADER_SIZE: usize = 32;
const CHECKSUM_SIZE: usize = 32;
const MALFORMED: KeyErrorKind =
    KeyErrorKind::Malformed("it is not the state of a key that counts its signatures");

/// The digest that the file keeps for a tree below the top one: SHA-256 of what the tree above it
/// signs.
pub(super) type Record = [u8; 32];

/// Encodes a key with the given next index and digests of trees.
pub(super) fn encode(key: &StatefulKey, next: u64, records: &[Record]) -> Zeroizing<Vec<u8>> {
    let (algorithm, parameters) = key.algorithm.numbers();
    let records = records.as_flattened();
    let size = HEADER_SIZE + key.seeds.len() + key.public.len() + records.len() + CHECKSUM_SIZE;
    // Allocated in full, so that no reallocation leaves a copy of the secrets.
    let mut bytes = Zeroizing::new(Vec::with_capacity(size));
    bytes.extend(MAGIC);
    for number in [VERSION, algorithm, parameters, key.seeds.len() as u32] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(next.to_le_bytes());
    bytes.extend(key.seeds.iter());
    bytes.extend(&key.public);
    bytes.extend(records);
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

/// Decodes a key.
///
/// # Errors
/// `Malformed` if the encoding is not valid, `StateChecksum`, `StateVersion`,
/// `UnsupportedAlgorithm`.
pub(super) fn decode(bytes: &[u8]) -> Result<StatefulKey, KeyErrorKind> {
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_SIZE>().ok_or(MALFORMED)?;
    if !content.starts_with(MAGIC) || content.len() < HEADER_SIZE {
        return Err(MALFORMED);
    }
    // The checksum detects accidents only: anyone who can write the file can write a valid
    // checksum.
    if Sha256::digest(content)[..] != checksum[..] {
        return Err(KeyErrorKind::StateChecksum);
    }
    let number = |at: usize| content[at..].first_chunk().map_or(0, |it| u32::from_le_bytes(*it));
    let (version, seeds_size) = (number(8), number(20) as usize);
    if version != VERSION {
        return Err(KeyErrorKind::StateVersion(version));
    }
    let algorithm = Algorithm::from_numbers(number(12), number(16))
        .filter(|algorithm| algorithm.is_stateful())
        .ok_or(MALFORMED)?;
    let next = u64::from(number(24)) | u64::from(number(28)) << 32;
    let (seeds, rest) = content[HEADER_SIZE..].split_at_checked(seeds_size).ok_or(MALFORMED)?;
    let (public, records) = rest.split_at_checked(algorithm.public_key_size()).ok_or(MALFORMED)?;
    let (records, incomplete) = records.as_chunks();
    let key = StatefulKey {
        algorithm,
        seeds: Zeroizing::new(seeds.to_vec()),
        public: public.to_vec(),
        next,
        records: records.to_vec(),
        path: None,
        any_file_system: false,
    };
    let is_whole = seeds.len() == super::seeds_size(algorithm)
        && incomplete.is_empty()
        && records.len() + 1 == super::shape(algorithm).1 as usize
        // Before the first signature, all digests are zero.
        && (next != 0 || records.as_flattened().iter().all(|byte| *byte == 0))
        && super::is_public_key_of(algorithm, public)
        && next <= key.capacity();
    if !is_whole {
        return Err(MALFORMED);
    }
    Ok(key)
}
