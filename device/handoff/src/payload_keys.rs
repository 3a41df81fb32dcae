//! The keys of encrypted payloads: class-key store and payload-key page (boot flow §3.6, image format §7.6).

use hartlock_image::{CLASS_ID_SIZE, List, Reason, WRAPPED_KEY_SIZE, Writer, bytes_at, u32_at};
use hartlock_kernels::Hash;
use hartlock_kernels::sha2::Sha384;

use crate::block;
use crate::secret::KEY_SIZE;

/// Length of a class key, of a content key, and of the key that wraps class keys, in bytes: AES-256.
pub const CIPHER_KEY_SIZE: usize = 32;
/// Maximum number of class keys of a device.
pub const MAX_CLASS_KEYS: usize = 4;
/// Length of the class-key store in bytes.
pub const CLASS_KEY_STORE_SIZE: usize = 384;
/// Length of the payload-key page in bytes.
pub const PAYLOAD_KEY_PAGE_SIZE: usize = 4096;

const STORE_TAG: &[u8; 16] = b"HARTLOCK-CKEY-v1";
const PAGE_TAG: &[u8; 16] = b"HARTLOCK-PKEY-v1";
const ENTRIES_AT: usize = 32;
const ENTRY_SIZE: usize = 64;
const DIGEST_AT: usize = ENTRIES_AT + MAX_CLASS_KEYS * ENTRY_SIZE;
const KEY_AT: usize = 32;
const STORE_AT: usize = 64;

/// Returns the id of a class key (image format §7.6).
pub fn class_id(key: &[u8; CIPHER_KEY_SIZE]) -> [u8; CLASS_ID_SIZE] {
    let mut hash = Sha384::new();
    hash.update(b"HLKclass");
    hash.update(key);
    bytes_at(&hash.finalize(), 0).unwrap_or_default()
}

/// A class key that is wrapped for one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrappedClassKey {
    /// Id of the class key.
    pub class_id: [u8; CLASS_ID_SIZE],
    /// The key, wrapped by AES-KW under the device's key for payloads.
    pub wrapped: [u8; WRAPPED_KEY_SIZE],
}

/// The class keys of a device, in flash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassKeyStore {
    /// The keys, with different ids.
    pub keys: List<WrappedClassKey, MAX_CLASS_KEYS>,
}

impl ClassKeyStore {
    /// Parses the store. Erased flash, whose bytes are all ones, has no keys.
    ///
    /// # Errors
    /// `PayloadKeysInvalid`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Reason> {
        let block: [u8; CLASS_KEY_STORE_SIZE] =
            bytes_at(bytes, 0).ok_or(Reason::PayloadKeysInvalid)?;
        if block.iter().all(|byte| *byte == 0xff) {
            return Ok(Self { keys: List::new() });
        }
        Self::parse_written(&block).ok_or(Reason::PayloadKeysInvalid)
    }

    fn parse_written(block: &[u8; CLASS_KEY_STORE_SIZE]) -> Option<Self> {
        let count = u32_at(block, 16)? as usize;
        let (entries, _) = block.get(ENTRIES_AT..DIGEST_AT)?.as_chunks::<ENTRY_SIZE>();
        let mut keys = List::new();
        for entry in entries.get(..count)? {
            let key =
                WrappedClassKey { class_id: bytes_at(entry, 0)?, wrapped: bytes_at(entry, 16)? };
            if keys.iter().any(|earlier: &WrappedClassKey| earlier.class_id == key.class_id) {
                return None;
            }
            keys.push(key).then_some(())?;
        }
        let store = Self { keys };
        // Tag and digest are right, and every byte that is not a part of a field is zero.
        (store.encode() == *block).then_some(store)
    }

    /// Encodes the store.
    pub fn encode(&self) -> [u8; CLASS_KEY_STORE_SIZE] {
        let mut bytes = [0; CLASS_KEY_STORE_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put(STORE_TAG);
        out.put_u32(self.keys.len() as u32);
        out.put(&[0; 12]);
        for key in self.keys.iter() {
            out.put(&key.class_id);
            out.put(&key.wrapped);
            out.put_u64(0);
        }
        block::seal(&mut bytes, DIGEST_AT);
        bytes
    }
}

/// Writes the payload-key page: the device's key for payloads, and a copy of the class-key store, which nobody has
/// parsed. `page` is zero.
pub fn write_page(page: &mut [u8], key: &[u8; KEY_SIZE], store: &[u8]) {
    let mut out = Writer::new(page);
    out.put(PAGE_TAG);
    out.put(&[0; KEY_AT - 16]);
    out.put(key.get(..STORE_AT - KEY_AT).unwrap_or_default());
    out.put(store.get(..CLASS_KEY_STORE_SIZE).unwrap_or_default());
}

/// Unwraps the content key of a payload with the keys of the payload-key page. Call this inside of
/// [`confined`](hartlock_kernels::secret::confined).
///
/// # Errors
/// `PayloadKeysInvalid`, `ClassKeyMissing`, `ContentKeyInvalid`; `key` is then zero.
#[cfg(any(feature = "decrypt", test))]
pub fn unwrap_content_key(
    page: &[u8],
    encryption: &hartlock_image::Encryption,
    key: &mut [u8; CIPHER_KEY_SIZE],
) -> Result<(), Reason> {
    use hartlock_kernels::secret::{Secret, wipe};

    wipe(key);
    if bytes_at(page, 0) != Some(*PAGE_TAG) {
        return Err(Reason::PayloadKeysInvalid);
    }
    let store = ClassKeyStore::parse(page.get(STORE_AT..).unwrap_or_default())?;
    let wrapped = store.keys.iter().find(|key| key.class_id == encryption.class_id);
    let wrapped = wrapped.ok_or(Reason::ClassKeyMissing)?;
    let wrapping_key = page.get(KEY_AT..STORE_AT).unwrap_or_default();
    let mut class_key = Secret::<CIPHER_KEY_SIZE>::ZERO;
    unwrap(wrapping_key, &wrapped.wrapped, &mut class_key, Reason::PayloadKeysInvalid)?;
    if class_id(&class_key) != encryption.class_id {
        return Err(Reason::PayloadKeysInvalid);
    }
    unwrap(&*class_key, &encryption.wrapped, key, Reason::ContentKeyInvalid)
}

/// Decrypts bytes of an encrypted payload in place with the kernel of the calling hart (image format §7.6). They begin
/// `offset` bytes after the first byte of the payload, which is a multiple of 16. Several harts may share the key.
#[cfg(any(feature = "decrypt", test))]
pub fn decrypt(
    kernels: &hartlock_kernels::Kernels,
    key: &hartlock_kernels::aes::AesKey,
    offset: u64,
    bytes: &mut [u8],
) {
    use hartlock_kernels::aes::{BLOCK_SIZE, ctr};
    use hartlock_kernels::secret::confined;
    use hartlock_kernels::{CipherMode, CipherTier};

    let counter = u128::from(offset / BLOCK_SIZE as u64).to_be_bytes();
    if kernels.cipher_tier(CipherMode::Ctr) == CipherTier::Portable {
        confined(|| ctr::apply_wide_with(kernels, key, &counter, bytes));
    } else {
        // The kernels in assembly use no stack.
        ctr::apply_wide_with(kernels, key, &counter, bytes);
    }
}

/// Unwraps a key by another one (AES-KW, RFC 3394 §2.2.2), or returns `refused`.
#[cfg(any(feature = "decrypt", test))]
fn unwrap(
    wrapping_key: &[u8],
    wrapped: &[u8; WRAPPED_KEY_SIZE],
    key: &mut [u8; CIPHER_KEY_SIZE],
    refused: Reason,
) -> Result<(), Reason> {
    use hartlock_kernels::aes::{AesKey, kw};

    let mut cipher = AesKey::EMPTY;
    cipher.expand(wrapping_key).map_err(|_| refused)?;
    kw::unwrap(&cipher, wrapped, key).map_err(|_| refused)
}

#[cfg(test)]
mod tests {
    use aes_kw::KwAes256;
    use aes_kw::cipher::KeyInit;
    use hartlock_image::{Encryption, PayloadType};
    use std::vec::Vec;

    use super::*;

    const DEVICE_KEY: [u8; KEY_SIZE] = [0x42; KEY_SIZE];
    const CONTENT_KEY: [u8; CIPHER_KEY_SIZE] = [0x77; CIPHER_KEY_SIZE];

    fn class_key(number: u8) -> [u8; CIPHER_KEY_SIZE] {
        [number; CIPHER_KEY_SIZE]
    }

    fn wrap(wrapping: &[u8; CIPHER_KEY_SIZE], key: &[u8; CIPHER_KEY_SIZE]) -> [u8; 40] {
        let mut wrapped = [0; WRAPPED_KEY_SIZE];
        KwAes256::new(&(*wrapping).into()).wrap_key(key, &mut wrapped).unwrap();
        wrapped
    }

    /// Returns the store of the device with these class keys.
    fn store(numbers: &[u8]) -> ClassKeyStore {
        let entry = |number: &u8| {
            let key = class_key(*number);
            let wrapped = wrap(DEVICE_KEY.first_chunk().unwrap(), &key);
            WrappedClassKey { class_id: class_id(&key), wrapped }
        };
        ClassKeyStore { keys: numbers.iter().map(entry).collect() }
    }

    fn page(store: &[u8]) -> [u8; PAYLOAD_KEY_PAGE_SIZE] {
        let mut page = [0; PAYLOAD_KEY_PAGE_SIZE];
        write_page(&mut page, &DEVICE_KEY, store);
        page
    }

    fn encryption(number: u8) -> Encryption {
        let key = class_key(number);
        let wrapped = wrap(&key, &CONTENT_KEY);
        Encryption { payload_type: PayloadType::Kernel, class_id: class_id(&key), wrapped }
    }

    fn unwrapped(page: &[u8], encryption: &Encryption) -> Result<[u8; CIPHER_KEY_SIZE], Reason> {
        let mut key = [0xee; CIPHER_KEY_SIZE];
        let result = unwrap_content_key(page, encryption, &mut key);
        // A key of which half was unwrapped must not stay.
        assert!(result.is_ok() || key == [0; CIPHER_KEY_SIZE]);
        result.map(|()| key)
    }

    #[test]
    fn the_id_of_a_class_key_is_that_of_the_specification() {
        // Python: hashlib.sha384(b"HLKclass" + bytes(range(32))).hexdigest()[:32]
        let key = core::array::from_fn(|index| index as u8);
        assert_eq!(class_id(&key), 0x02cf_1cd7_a5f3_9589_6352_17c8_07d1_b810_u128.to_be_bytes());
    }

    #[test]
    fn a_content_key_is_unwrapped_with_the_key_of_its_class() {
        for numbers in [&[1][..], &[1, 2], &[4, 3, 2, 1]] {
            assert_eq!(unwrapped(&page(&store(numbers).encode()), &encryption(1)), Ok(CONTENT_KEY));
        }
        for numbers in [&[][..], &[2], &[2, 3, 4, 5]] {
            let page = page(&store(numbers).encode());
            assert_eq!(unwrapped(&page, &encryption(1)), Err(Reason::ClassKeyMissing));
        }
        let erased = [0xff; CLASS_KEY_STORE_SIZE];
        assert_eq!(unwrapped(&page(&erased), &encryption(1)), Err(Reason::ClassKeyMissing));
    }

    #[test]
    fn a_wrap_that_was_changed_or_is_of_another_key_is_refused() {
        let good = page(&store(&[1]).encode());
        for bit in 0..8 * WRAPPED_KEY_SIZE {
            let mut changed = encryption(1);
            changed.wrapped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unwrapped(&good, &changed), Err(Reason::ContentKeyInvalid), "bit {bit}");
        }
        let swapped = Encryption { wrapped: encryption(2).wrapped, ..encryption(1) };
        assert_eq!(unwrapped(&good, &swapped), Err(Reason::ContentKeyInvalid));

        // The store of another device, and a class key under the name of another one.
        let mut other = good;
        other[KEY_AT] ^= 1;
        assert_eq!(unwrapped(&other, &encryption(1)), Err(Reason::PayloadKeysInvalid));
        let mut keys: Vec<_> = store(&[2]).keys.iter().copied().collect();
        keys[0].class_id = class_id(&class_key(1));
        let renamed = ClassKeyStore { keys: keys.into_iter().collect() }.encode();
        assert_eq!(unwrapped(&page(&renamed), &encryption(1)), Err(Reason::PayloadKeysInvalid));
    }

    #[test]
    fn every_flipped_bit_of_a_store_is_noticed() {
        for numbers in [&[][..], &[1], &[1, 2, 3, 4]] {
            let good = store(numbers).encode();
            assert_eq!(ClassKeyStore::parse(&good), Ok(store(numbers)));
            for bit in 0..8 * good.len() {
                let mut bad = good;
                bad[bit / 8] ^= 1 << (bit % 8);
                let parsed = ClassKeyStore::parse(&bad);
                assert_eq!(parsed, Err(Reason::PayloadKeysInvalid), "bit {bit}");
            }
            for len in 0..good.len() {
                assert!(ClassKeyStore::parse(&good[..len]).is_err(), "{len}");
            }
        }
        // Digests that are right, over what no signer of a store writes.
        for (at, byte) in [(0, 0), (16, 5), (20, 1), (ENTRIES_AT + 56, 1), (DIGEST_AT - 1, 1)] {
            let mut bad = store(&[1]).encode();
            bad[at] = byte;
            block::seal(&mut bad, DIGEST_AT);
            assert_eq!(ClassKeyStore::parse(&bad), Err(Reason::PayloadKeysInvalid), "byte {at}");
        }
        let twice = store(&[1, 1]).encode();
        assert_eq!(ClassKeyStore::parse(&twice), Err(Reason::PayloadKeysInvalid));
    }

    #[test]
    fn a_page_that_the_rom_did_not_write_is_refused() {
        let good = page(&store(&[1]).encode());
        for page in [[0; PAYLOAD_KEY_PAGE_SIZE], [0xff; PAYLOAD_KEY_PAGE_SIZE]] {
            assert_eq!(unwrapped(&page, &encryption(1)), Err(Reason::PayloadKeysInvalid));
        }
        for bit in 0..8 * PAGE_TAG.len() {
            let mut bad = good;
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unwrapped(&bad, &encryption(1)), Err(Reason::PayloadKeysInvalid));
        }
        for len in [0, 15, 16, STORE_AT, STORE_AT + CLASS_KEY_STORE_SIZE - 1] {
            assert_eq!(unwrapped(&good[..len], &encryption(1)), Err(Reason::PayloadKeysInvalid));
        }
        let expected = store(&[1]).encode();
        assert_eq!(good[..32], [&PAGE_TAG[..], &[0; 16]].concat());
        assert_eq!(good[32..64], DEVICE_KEY[..32]);
        assert_eq!(good[64..448], expected);
        assert_eq!(good[448..], [0; PAYLOAD_KEY_PAGE_SIZE - 448]);
    }
}
