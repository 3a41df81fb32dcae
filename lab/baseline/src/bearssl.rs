//! Calls BearSSL through the two functions of its interface that a program would use
//! (`bearssl_hash.h`, `bearssl_hmac.h`).

use core::ffi::c_void;

use crate::hash::{Digest, Mac};

/// A buffer that is larger than any context of BearSSL, and at least as strictly aligned.
#[repr(align(16))]
struct HashContext([u8; 512]);

impl HashContext {
    fn new() -> Self {
        Self([0; 512])
    }

    fn ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

unsafe extern "C" {
    /// The table of SHA-256 functions that HMAC needs. Only its address is used.
    static br_sha256_vtable: [*const c_void; 8];

    fn br_sha256_init(context: *mut c_void);
    fn br_sha224_update(context: *mut c_void, data: *const c_void, len: usize);
    fn br_sha256_out(context: *const c_void, out: *mut c_void);
    fn br_hmac_key_init(key: *mut c_void, digest: *const c_void, bytes: *const c_void, len: usize);
    fn br_hmac_init(context: *mut c_void, key: *const c_void, out_len: usize);
    fn br_hmac_update(context: *mut c_void, data: *const c_void, len: usize);
    fn br_hmac_out(context: *const c_void, out: *mut c_void) -> usize;
}

pub fn sha256(message: &[u8]) -> Digest {
    let mut context = HashContext::new();
    let mut digest = [0; 32];
    // SAFETY: the context is large enough, and lengths are those of the slices. SHA-256 and SHA-224
    // share the update function, for which the header defines a macro.
    unsafe {
        br_sha256_init(context.ptr());
        br_sha224_update(context.ptr(), message.as_ptr().cast(), message.len());
        br_sha256_out(context.ptr(), digest.as_mut_ptr().cast());
    }
    digest
}

pub const HMAC: Mac = |key, message| {
    let (mut keyed, mut context) = (HashContext::new(), HashContext::new());
    let mut digest = [0; 32];
    // SAFETY: the contexts are large enough, and lengths are those of the slices; the table of
    // functions is BearSSL's own.
    unsafe {
        let functions = (&raw const br_sha256_vtable).cast();
        br_hmac_key_init(keyed.ptr(), functions, key.as_ptr().cast(), key.len());
        br_hmac_init(context.ptr(), keyed.ptr(), 0);
        br_hmac_update(context.ptr(), message.as_ptr().cast(), message.len());
        br_hmac_out(context.ptr(), digest.as_mut_ptr().cast());
    }
    digest
};
