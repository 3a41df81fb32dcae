//! BearSSL: `aes_ct64` and `ghash_ctmul64` (`bearssl_block.h`, `bearssl_hash.h`, `bearssl_aead.h`).

use core::ffi::{c_int, c_void};

use hartlock_kernels::CipherTier;

use crate::{Peer, Prepared};

pub const PEER: Peer = Peer { name: "bearssl", with_key };

/// A buffer that is larger than the subkeys with the pointer in front of them, and than a context of GCM.
#[repr(align(16))]
struct BearsslBuffer([u8; 512]);

type Hash = unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, usize);

unsafe extern "C" {
    fn br_aes_ct64_ctr_init(keys: *mut c_void, key: *const c_void, len: usize);
    fn br_ghash_ctmul64(y: *mut c_void, h: *const c_void, data: *const c_void, len: usize);
    fn br_gcm_init(context: *mut c_void, keys: *mut c_void, hash: Hash);
    fn br_gcm_reset(context: *mut c_void, iv: *const c_void, len: usize);
    fn br_gcm_flip(context: *mut c_void);
    fn br_gcm_run(context: *mut c_void, encrypt: c_int, data: *mut c_void, len: usize);
    fn br_gcm_check_tag(context: *mut c_void, tag: *const c_void) -> u32;
}

fn with_key(_: CipherTier, key: &[u8; 32], work: &mut dyn FnMut(&dyn Prepared)) {
    let mut keys = BearsslBuffer([0; 512]);
    // SAFETY: the buffer is large enough, and pointer and length are those of the key.
    unsafe { br_aes_ct64_ctr_init(keys.0.as_mut_ptr().cast(), key.as_ptr().cast(), key.len()) };
    work(&keys);
}

impl Prepared for BearsslBuffer {
    fn gcm(&self, iv: &[u8; 12], text: &mut [u8], tag: &[u8; 16]) -> bool {
        let mut context = BearsslBuffer([0; 512]);
        let context = context.0.as_mut_ptr().cast();
        let keys = self.0.as_ptr().cast_mut().cast();
        // SAFETY: the buffer is large enough, and stores the pointer to the subkeys, which outlive it and are only read.
        // Lengths are those of vector and text; a tag has 16 bytes.
        unsafe {
            br_gcm_init(context, keys, br_ghash_ctmul64);
            br_gcm_reset(context, iv.as_ptr().cast(), iv.len());
            br_gcm_flip(context);
            br_gcm_run(context, 0, text.as_mut_ptr().cast(), text.len());
            br_gcm_check_tag(context, tag.as_ptr().cast()) == 1
        }
    }
}
