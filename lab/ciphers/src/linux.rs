//! Linux: its kernels of counter mode, for Zvkned and Zvkb, and of GHASH, for Zvkg. It has none that does both, and none
//! that expands a key in vector instructions, so that GCM is not counted and the key is expanded by OpenSSL.

use core::ffi::c_void;

use hartlock_kernels::CipherTier;

use crate::{Peer, Prepared, openssl};

pub const PEER: Peer = Peer { name: "linux", with_key };

unsafe extern "C" {
    fn aes_encrypt_zvkned(keys: *const c_void, from: *const u8, to: *mut u8);
    fn aes_ctr32_crypt_zvkned_zvkb(
        keys: *const c_void,
        from: *const u8,
        to: *mut u8,
        len: usize,
        counter: *mut u8,
    );
    fn ghash_zvkg(hash: *mut u8, key: *const u8, data: *const u8, len: usize);
}

/// Subkeys of encryption and of decryption, of which the second are not used here, and the length of the key in bytes.
#[repr(C, align(16))]
struct LinuxKeys {
    encrypt: [u8; 240],
    _decrypt: [u8; 240],
    key_len: u32,
    tier: CipherTier,
}

fn with_key(tier: CipherTier, key: &[u8; 32], work: &mut dyn FnMut(&dyn Prepared)) {
    if !matches!(tier, CipherTier::Zvkned | CipherTier::Zvkg) {
        return;
    }
    let expanded = openssl::expanded(tier, key);
    let mut encrypt = [0; 240];
    encrypt.copy_from_slice(&expanded[..240]);
    work(&LinuxKeys { encrypt, _decrypt: [0; 240], key_len: 32, tier });
}

impl LinuxKeys {
    fn encrypt(&self, block: &[u8; 16]) -> [u8; 16] {
        let mut to = [0; 16];
        let keys = core::ptr::from_ref(self).cast();
        // SAFETY: the structure is as the kernel expects it, and both blocks have 16 bytes.
        unsafe { aes_encrypt_zvkned(keys, block.as_ptr(), to.as_mut_ptr()) };
        to
    }
}

impl Prepared for LinuxKeys {
    fn ctr(&self, counter: &[u8; 16], text: &mut [u8]) -> bool {
        let (from, to, mut counter) = (text.as_ptr(), text.as_mut_ptr(), *counter);
        let keys = core::ptr::from_ref(self).cast();
        // SAFETY: the structure is as the kernel expects it, pointers and length are those of the text, and a counter has 16
        // bytes.
        unsafe { aes_ctr32_crypt_zvkned_zvkb(keys, from, to, text.len(), counter.as_mut_ptr()) };
        true
    }

    /// SP 800-38D §7.1 for additional data of whole blocks.
    fn ghash(&self, iv: &[u8; 12], data: &[u8]) -> Option<[u8; 16]> {
        if self.tier != CipherTier::Zvkg {
            return None;
        }
        let mut lengths = [0; 16];
        lengths[..8].copy_from_slice(&(8 * data.len() as u64).to_be_bytes());
        let (key, mut hash) = (self.encrypt(&[0; 16]), [0; 16]);
        for blocks in [data, &lengths] {
            // SAFETY: hash and key have 16 bytes, and the data are whole blocks, and not empty.
            unsafe {
                ghash_zvkg(hash.as_mut_ptr(), key.as_ptr(), blocks.as_ptr(), blocks.len());
            }
        }
        let mut first = [0; 16];
        first[..12].copy_from_slice(iv);
        first[15] = 1;
        let mask = self.encrypt(&first);
        hash.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        Some(hash)
    }
}
