//! AES-256-CBC of BearSSL, in each of its portable implementations (`bearssl_block.h`).

use core::ffi::c_void;

use crate::operands::{AES_BLOCK_LEN, AES_KEY_LEN};

/// A buffer that is larger than the subkeys of any implementation with the preceding pointer, and at
/// least as strictly aligned.
#[repr(align(16))]
struct Keys([u8; 512]);

type CbcInit = unsafe extern "C" fn(*mut c_void, *const c_void, usize);
type CbcRun = unsafe extern "C" fn(*const c_void, *mut c_void, *mut c_void, usize);

/// An implementation of AES-256-CBC.
pub struct CbcVariant {
    pub name: &'static str,
    init: CbcInit,
    run: CbcRun,
}

unsafe extern "C" {
    fn br_aes_big_cbcenc_init(keys: *mut c_void, key: *const c_void, len: usize);
    fn br_aes_big_cbcenc_run(keys: *const c_void, iv: *mut c_void, data: *mut c_void, len: usize);
    fn br_aes_small_cbcenc_init(keys: *mut c_void, key: *const c_void, len: usize);
    fn br_aes_small_cbcenc_run(keys: *const c_void, iv: *mut c_void, data: *mut c_void, len: usize);
    fn br_aes_ct_cbcenc_init(keys: *mut c_void, key: *const c_void, len: usize);
    fn br_aes_ct_cbcenc_run(keys: *const c_void, iv: *mut c_void, data: *mut c_void, len: usize);
    fn br_aes_ct64_cbcenc_init(keys: *mut c_void, key: *const c_void, len: usize);
    fn br_aes_ct64_cbcenc_run(keys: *const c_void, iv: *mut c_void, data: *mut c_void, len: usize);
}

/// All implementations. The first one is the fastest on most processors; quick runs count only that
/// one.
pub const VARIANTS: [CbcVariant; 4] = [
    CbcVariant {
        name: "bearssl-aes_big",
        init: br_aes_big_cbcenc_init,
        run: br_aes_big_cbcenc_run,
    },
    CbcVariant {
        name: "bearssl-aes_small",
        init: br_aes_small_cbcenc_init,
        run: br_aes_small_cbcenc_run,
    },
    CbcVariant { name: "bearssl-aes_ct", init: br_aes_ct_cbcenc_init, run: br_aes_ct_cbcenc_run },
    CbcVariant {
        name: "bearssl-aes_ct64",
        init: br_aes_ct64_cbcenc_init,
        run: br_aes_ct64_cbcenc_run,
    },
];

impl CbcVariant {
    /// Encrypts whole blocks in place. This includes the key schedule, because the engine computes it
    /// as well.
    pub fn encrypt(
        &self,
        key: &[u8; AES_KEY_LEN],
        mut iv: [u8; AES_BLOCK_LEN],
        text: &mut [[u8; AES_BLOCK_LEN]],
    ) {
        let mut keys = Keys([0; 512]);
        let keys = keys.0.as_mut_ptr().cast();
        // SAFETY: the buffer is large enough for the subkeys, and lengths are those of the slices. The
        // library changes the initialisation vector, which is a copy.
        unsafe {
            (self.init)(keys, key.as_ptr().cast(), key.len());
            (self.run)(keys, iv.as_mut_ptr().cast(), text.as_mut_ptr().cast(), size_of_val(text));
        }
    }
}
