//! AES-256-CBC of BearSSL, in each of its portable implementations (`bearssl_block.h`).

use core::ffi::c_void;

use crate::operands::{AES_BLOCK_LEN, AES_KEY_LEN};

/// Larger than the subkeys of any implementation with the pointer before them, and as strictly aligned.
#[repr(align(16))]
struct Keys([u8; 512]);

type Init = unsafe extern "C" fn(*mut c_void, *const c_void, usize);
type Run = unsafe extern "C" fn(*const c_void, *mut c_void, *mut c_void, usize);

/// One implementation.
pub struct Variant {
    pub name: &'static str,
    init: Init,
    run: Run,
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

/// The one that is the fastest in most processors comes first: it alone is counted in the quick form.
pub const VARIANTS: [Variant; 4] = [
    Variant { name: "bearssl-aes_big", init: br_aes_big_cbcenc_init, run: br_aes_big_cbcenc_run },
    Variant {
        name: "bearssl-aes_small",
        init: br_aes_small_cbcenc_init,
        run: br_aes_small_cbcenc_run,
    },
    Variant { name: "bearssl-aes_ct", init: br_aes_ct_cbcenc_init, run: br_aes_ct_cbcenc_run },
    Variant {
        name: "bearssl-aes_ct64",
        init: br_aes_ct64_cbcenc_init,
        run: br_aes_ct64_cbcenc_run,
    },
];

impl Variant {
    /// Encrypts whole blocks in place. Subkeys are made, too, as the engine makes them.
    pub fn encrypt(
        &self,
        key: &[u8; AES_KEY_LEN],
        mut iv: [u8; AES_BLOCK_LEN],
        text: &mut [[u8; AES_BLOCK_LEN]],
    ) {
        let mut keys = Keys([0; 512]);
        let keys = keys.0.as_mut_ptr().cast();
        // SAFETY: the subkeys have room, and lengths are those of the slices. The vector is changed.
        unsafe {
            (self.init)(keys, key.as_ptr().cast(), key.len());
            (self.run)(keys, iv.as_mut_ptr().cast(), text.as_mut_ptr().cast(), size_of_val(text));
        }
    }
}
