//! AES-256-CTR and AES-256-GCM of BearSSL, in the implementations that suit a 64-bit hart (`bearssl_block.h`,
//! `bearssl_hash.h`, `bearssl_aead.h`).

use core::ffi::{c_int, c_void};

use crate::operands::{AES_BLOCK_LEN, AES_KEY_LEN, GCM_IV_LEN, HEADER};

/// A buffer that is larger than the subkeys of any implementation with the preceding pointer, and than a GCM context,
/// and at least as strictly aligned.
#[repr(align(16))]
struct ModeContext([u8; 512]);

impl ModeContext {
    const EMPTY: Self = Self([0; 512]);

    fn pointer(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

type ModeInit = unsafe extern "C" fn(*mut c_void, *const c_void, usize);
type ModeRun = unsafe extern "C" fn(*const c_void, *const c_void, u32, *mut c_void, usize) -> u32;
type Hash = unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, usize);

/// An implementation of one mode.
pub struct ModeVariant {
    pub name: &'static str,
    pub mode: &'static str,
    init: ModeInit,
    run: ModeRun,
    /// GHASH function; `None` for CTR.
    hash: Option<Hash>,
}

unsafe extern "C" {
    fn br_aes_big_ctr_init(keys: *mut c_void, key: *const c_void, len: usize);
    fn br_aes_big_ctr_run(
        keys: *const c_void,
        iv: *const c_void,
        counter: u32,
        data: *mut c_void,
        len: usize,
    ) -> u32;
    fn br_aes_ct64_ctr_init(keys: *mut c_void, key: *const c_void, len: usize);
    fn br_aes_ct64_ctr_run(
        keys: *const c_void,
        iv: *const c_void,
        counter: u32,
        data: *mut c_void,
        len: usize,
    ) -> u32;
    fn br_ghash_ctmul(y: *mut c_void, h: *const c_void, data: *const c_void, len: usize);
    fn br_ghash_ctmul64(y: *mut c_void, h: *const c_void, data: *const c_void, len: usize);
    fn br_gcm_init(context: *mut c_void, keys: *mut c_void, hash: Hash);
    fn br_gcm_reset(context: *mut c_void, iv: *const c_void, len: usize);
    fn br_gcm_aad_inject(context: *mut c_void, data: *const c_void, len: usize);
    fn br_gcm_flip(context: *mut c_void);
    fn br_gcm_run(context: *mut c_void, encrypt: c_int, data: *mut c_void, len: usize);
    fn br_gcm_get_tag(context: *mut c_void, tag: *mut c_void);
}

pub const CTR: &str = "aes-256-ctr";
pub const GCM: &str = "aes-256-gcm";

/// All implementations. The last one is the slowest on most 64-bit processors.
pub const VARIANTS: [ModeVariant; 5] = [
    ModeVariant {
        name: "bearssl-aes_big",
        mode: CTR,
        init: br_aes_big_ctr_init,
        run: br_aes_big_ctr_run,
        hash: None,
    },
    ModeVariant {
        name: "bearssl-aes_ct64",
        mode: CTR,
        init: br_aes_ct64_ctr_init,
        run: br_aes_ct64_ctr_run,
        hash: None,
    },
    ModeVariant {
        name: "bearssl-aes_big+ctmul64",
        mode: GCM,
        init: br_aes_big_ctr_init,
        run: br_aes_big_ctr_run,
        hash: Some(br_ghash_ctmul64),
    },
    ModeVariant {
        name: "bearssl-aes_ct64+ctmul64",
        mode: GCM,
        init: br_aes_ct64_ctr_init,
        run: br_aes_ct64_ctr_run,
        hash: Some(br_ghash_ctmul64),
    },
    ModeVariant {
        name: "bearssl-aes_big+ctmul",
        mode: GCM,
        init: br_aes_big_ctr_init,
        run: br_aes_big_ctr_run,
        hash: Some(br_ghash_ctmul),
    },
];

impl ModeVariant {
    /// Encrypts in place, and returns the tag in GCM mode. This includes the key schedule, because the engine computes
    /// it as well.
    pub fn encrypt(
        &self,
        key: &[u8; AES_KEY_LEN],
        iv: &[u8; AES_BLOCK_LEN],
        text: &mut [u8],
    ) -> Option<[u8; AES_BLOCK_LEN]> {
        let mut keys = ModeContext::EMPTY;
        let keys = keys.pointer();
        let (data, len) = (text.as_mut_ptr().cast(), text.len());
        // SAFETY: the buffer is large enough for the subkeys, and the length is that of the key.
        unsafe { (self.init)(keys, key.as_ptr().cast(), key.len()) };
        let Some(hash) = self.hash else {
            let [.., a, b, c, d] = *iv;
            let counter = u32::from_be_bytes([a, b, c, d]);
            // SAFETY: twelve bytes of the initialisation vector are read, and the length is that of the text.
            unsafe { (self.run)(keys, iv.as_ptr().cast(), counter, data, len) };
            return None;
        };
        let (mut context, mut tag) = (ModeContext::EMPTY, [0; AES_BLOCK_LEN]);
        let context = context.pointer();
        // SAFETY: the context is large enough. It stores the pointer to the subkeys, which begin with a pointer to
        // their functions and outlive the context. Lengths are those of vector, header and text; a tag has 16 bytes.
        unsafe {
            br_gcm_init(context, keys, hash);
            br_gcm_reset(context, iv.as_ptr().cast(), GCM_IV_LEN);
            br_gcm_aad_inject(context, HEADER.as_ptr().cast(), HEADER.len());
            br_gcm_flip(context);
            br_gcm_run(context, 1, data, len);
            br_gcm_get_tag(context, tag.as_mut_ptr().cast());
        }
        Some(tag)
    }
}
