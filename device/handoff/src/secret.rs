//! The device secret and the keys that are derived from it (`spec/device-secret.md`).

use core::fmt;
use core::hint::black_box;

use hartlock_image::Name;
use hartlock_kernels::Hash;
use hartlock_kernels::secret::Secret;
use hartlock_kernels::sha2::Sha384;

/// Length of the device secret in bytes.
pub const SECRET_SIZE: usize = 32;
/// Length in bytes of a derived key, and of an authentication tag.
pub const KEY_SIZE: usize = 48;
/// Block length of SHA-384 in bytes.
const BLOCK_SIZE: usize = 128;

/// A secret of 32 random bytes that no other device has. Its `Debug` form does not print the bytes.
///
/// Bytes and derived keys are overwritten when they are dropped. A boot stage reads and uses them inside of
/// [`confined`](hartlock_kernels::secret::confined), because values that are moved leave copies.
pub struct DeviceSecret(Secret<SECRET_SIZE>);

impl PartialEq for DeviceSecret {
    fn eq(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }
}

impl Clone for DeviceSecret {
    fn clone(&self) -> Self {
        Self::of(&self.0)
    }
}

impl fmt::Debug for DeviceSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("DeviceSecret")
    }
}

/// The purpose of a derived key. Knowledge of a key for one purpose does not reveal a key for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The key authenticates state records (boot flow §3.2).
    State,
    /// The key unwraps the class keys of encrypted payloads.
    Payloads,
    /// The key is passed to a monitor in M-mode. Reserved for a later version.
    Monitor,
    /// The key is the seed of the attestation key. Reserved for a later version.
    Attestation,
}

impl Purpose {
    /// Returns the label of the purpose in the key derivation.
    pub const fn label(self) -> &'static [u8] {
        match self {
            Self::State => b"hartlock-state-v1",
            Self::Payloads => b"hartlock-payloads-v1",
            Self::Monitor => b"hartlock-monitor-v1",
            Self::Attestation => b"hartlock-attestation-v1",
        }
    }
}

impl DeviceSecret {
    /// Makes a secret from its bytes. Returns `None` for a secret that was never programmed, which means that all
    /// bits are clear or all bits are set.
    pub fn new(bytes: [u8; SECRET_SIZE]) -> Option<Self> {
        // Every byte is read: a search for the first byte that differs would take a time that depends on the secret.
        let [first, ..] = bytes;
        let difference = bytes.iter().fold(0, |all, byte| all | byte ^ first);
        let is_blank = black_box(difference) == 0 && matches!(first, 0 | 0xff);
        (!is_blank).then(|| Self::of(&bytes))
    }

    fn of(bytes: &[u8; SECRET_SIZE]) -> Self {
        let mut secret = Secret::ZERO;
        *secret = *bytes;
        Self(secret)
    }

    /// Returns the bytes of the secret, for programming a device.
    pub const fn bytes(&self) -> &[u8; SECRET_SIZE] {
        self.0.bytes()
    }

    /// Derives the key for `purpose` on a device with this board and SoC, with one block of HMAC-SHA-384 as in SP
    /// 800-108r1 §4.1.
    pub fn derive(&self, purpose: Purpose, board: &Name, soc: &Name) -> Secret<KEY_SIZE> {
        const COUNTER: [u8; 4] = 1_u32.to_be_bytes();
        const BITS: [u8; 4] = (8 * KEY_SIZE as u32).to_be_bytes();
        let mut key = Secret::ZERO;
        let parts = [&COUNTER, purpose.label(), &[0], board.field(), soc.field(), &BITS];
        *key = hmac(&*self.0, &parts);
        key
    }
}

/// Computes HMAC-SHA-384 (FIPS 198-1) of the concatenation of `parts`. The key has at most 128 bytes.
pub(crate) fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; KEY_SIZE] {
    let inner = {
        let mut hash = keyed(key, 0x36);
        parts.iter().for_each(|part| hash.update(part));
        hash.finalize()
    };
    let mut hash = keyed(key, 0x5c);
    hash.update(&inner);
    hash.finalize()
}

/// Returns a hash state that has absorbed one block: the zero-padded key, XORed with `pad` in every byte.
fn keyed(key: &[u8], pad: u8) -> Sha384 {
    let mut block = [pad; BLOCK_SIZE];
    for (place, byte) in block.iter_mut().zip(key) {
        *place ^= byte;
    }
    let mut hash = Sha384::new();
    hash.update(&block);
    hash
}

/// Returns true if the two tags are equal. The run time does not depend on the contents, because an attacker who
/// writes a tag and measures the boot time could otherwise find the correct tag byte by byte.
pub(crate) fn is_same(a: &[u8; KEY_SIZE], b: &[u8; KEY_SIZE]) -> bool {
    let difference = a.iter().zip(b).fold(0, |sum, (a, b)| sum | black_box(a ^ b));
    black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        bytes.iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
        text
    }

    #[test]
    fn hmac_gives_the_known_answers() {
        // The test vectors are from RFC 4231 §4.2, §4.3 and §4.5.
        for (key, data, expected) in [
            (
                &[0x0b; 20][..],
                &b"Hi There"[..],
                "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c\
                 faea9ea9076ede7f4af152e8b2fa9cb6",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
                 8e2240ca5e69e2c78b3239ecfab21649",
            ),
            (
                &(1..=25).collect::<Vec<u8>>(),
                &[0xcd; 50],
                "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e\
                 6801dd23c4a7d679ccf8a386c674cffb",
            ),
        ] {
            assert_eq!(hex(&hmac(key, &[data])), expected);
            let (first, second) = data.split_at(data.len() / 2);
            assert_eq!(hex(&hmac(key, &[first, &[], second])), expected);
        }
    }

    #[test]
    fn every_purpose_board_and_device_has_a_key_of_its_own() {
        let name = |text| Name::new(text).unwrap();
        let mut keys = Vec::new();
        for secret in [[1; 32], [2; 32]] {
            let secret = DeviceSecret::new(secret).unwrap();
            for purpose in
                [Purpose::State, Purpose::Payloads, Purpose::Monitor, Purpose::Attestation]
            {
                for (board, soc) in [("a", "b"), ("ab", "b"), ("a", "ab")] {
                    keys.push(*secret.derive(purpose, &name(board), &name(soc)));
                }
            }
        }
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((keys.len(), count), (24, 24));
        // This is the example of spec/device-secret.md.
        let secret = DeviceSecret::new(core::array::from_fn(|index| index as u8)).unwrap();
        let key = secret.derive(Purpose::State, &name("qemu-virt"), &name("virt"));
        assert_eq!(hex(&*key), EXAMPLE);
    }

    /// The expected key. It was computed with the Python module `hmac`, as spec/device-secret.md says.
    const EXAMPLE: &str = "16e6dc4b3cfbab9d30b9a7fc86d931a748ab160f50b684e0\
                           2ed918b2eb5f22022022729751b3aa7637502cc5762af610";

    #[test]
    fn a_secret_that_was_never_programmed_is_none_and_none_is_printed() {
        assert_eq!([0, 0xff].map(|byte| DeviceSecret::new([byte; 32])), [None, None]);
        let secret = DeviceSecret::new([0xa5; 32]).unwrap();
        assert_eq!(std::format!("{secret:?}"), "DeviceSecret");
        assert!(secret == secret.clone() && secret != DeviceSecret::new([0xa4; 32]).unwrap());
    }

    #[test]
    fn tags_that_differ_in_one_bit_are_not_the_same() {
        let tag = [0x5a; KEY_SIZE];
        assert!(is_same(&tag, &tag));
        for bit in 0..KEY_SIZE * 8 {
            let mut other = tag;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_same(&tag, &other));
        }
    }
}
