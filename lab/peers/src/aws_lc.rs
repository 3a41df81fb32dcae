//! The hashes of AWS-LC's libcrypto. Its functions have a prefix, because some have the same names as
//! OpenSSL's.

use crate::hash::Hash;

pub const HASHES: &[(&str, Hash)] = &[
    ("sha256", |message, digest| hash(aws_lc_SHA256, message, digest)),
    ("sha384", |message, digest| hash(aws_lc_SHA384, message, digest)),
    ("sha512", |message, digest| hash(aws_lc_SHA512, message, digest)),
    ("sha3-256", |message, digest| hash(aws_lc_SHA3_256, message, digest)),
    ("sha3-384", |message, digest| hash(aws_lc_SHA3_384, message, digest)),
    ("sha3-512", |message, digest| hash(aws_lc_SHA3_512, message, digest)),
];

type OneShot = unsafe extern "C" fn(*const u8, usize, *mut u8) -> *mut u8;

unsafe extern "C" {
    fn aws_lc_SHA256(data: *const u8, len: usize, digest: *mut u8) -> *mut u8;
    fn aws_lc_SHA384(data: *const u8, len: usize, digest: *mut u8) -> *mut u8;
    fn aws_lc_SHA512(data: *const u8, len: usize, digest: *mut u8) -> *mut u8;
    fn aws_lc_SHA3_256(data: *const u8, len: usize, digest: *mut u8) -> *mut u8;
    fn aws_lc_SHA3_384(data: *const u8, len: usize, digest: *mut u8) -> *mut u8;
    fn aws_lc_SHA3_512(data: *const u8, len: usize, digest: *mut u8) -> *mut u8;
}

fn hash(of: OneShot, message: &[u8], digest: &mut [u8; 64]) {
    // SAFETY: pointer and length are those of the message, and no digest is longer than 64 bytes.
    unsafe { of(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
}

/// Replaces a function of the part that is not linked. It would clear contexts, which contain only public data
/// here.
#[unsafe(no_mangle)]
extern "C" fn aws_lc_OPENSSL_cleanse(_: *mut core::ffi::c_void, _: usize) {}
