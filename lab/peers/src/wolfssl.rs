//! The hashes of wolfSSL's wolfCrypt.

use core::ffi::c_void;

use crate::hash::Hash;

pub const HASHES: &[(&str, Hash)] = &[
    ("sha256", |m, d| sha2(wc_InitSha256, wc_Sha256Update, wc_Sha256Final, m, d)),
    ("sha384", |m, d| sha2(wc_InitSha384, wc_Sha384Update, wc_Sha384Final, m, d)),
    ("sha512", |m, d| sha2(wc_InitSha512, wc_Sha512Update, wc_Sha512Final, m, d)),
    ("sha3-256", |m, d| sha3(wc_InitSha3_256, wc_Sha3_256_Update, wc_Sha3_256_Final, m, d)),
    ("sha3-384", |m, d| sha3(wc_InitSha3_384, wc_Sha3_384_Update, wc_Sha3_384_Final, m, d)),
    ("sha3-512", |m, d| sha3(wc_InitSha3_512, wc_Sha3_512_Update, wc_Sha3_512_Final, m, d)),
];

/// wolfCrypt's `INVALID_DEVID`, with which no callback computes the hash.
const NO_DEVICE: i32 = -2;

/// A buffer that is larger than any context of wolfCrypt's hashes.
#[repr(align(64))]
struct WolfsslContext([u8; 2048]);

type Init = unsafe extern "C" fn(*mut c_void) -> i32;
type InitSha3 = unsafe extern "C" fn(*mut c_void, *mut c_void, i32) -> i32;
type WolfsslUpdate = unsafe extern "C" fn(*mut c_void, *const u8, u32) -> i32;
type WolfsslFinal = unsafe extern "C" fn(*mut c_void, *mut u8) -> i32;

unsafe extern "C" {
    fn wc_InitSha256(context: *mut c_void) -> i32;
    fn wc_Sha256Update(context: *mut c_void, data: *const u8, len: u32) -> i32;
    fn wc_Sha256Final(context: *mut c_void, digest: *mut u8) -> i32;
    fn wc_InitSha384(context: *mut c_void) -> i32;
    fn wc_Sha384Update(context: *mut c_void, data: *const u8, len: u32) -> i32;
    fn wc_Sha384Final(context: *mut c_void, digest: *mut u8) -> i32;
    fn wc_InitSha512(context: *mut c_void) -> i32;
    fn wc_Sha512Update(context: *mut c_void, data: *const u8, len: u32) -> i32;
    fn wc_Sha512Final(context: *mut c_void, digest: *mut u8) -> i32;
    fn wc_InitSha3_256(context: *mut c_void, heap: *mut c_void, device: i32) -> i32;
    fn wc_Sha3_256_Update(context: *mut c_void, data: *const u8, len: u32) -> i32;
    fn wc_Sha3_256_Final(context: *mut c_void, digest: *mut u8) -> i32;
    fn wc_InitSha3_384(context: *mut c_void, heap: *mut c_void, device: i32) -> i32;
    fn wc_Sha3_384_Update(context: *mut c_void, data: *const u8, len: u32) -> i32;
    fn wc_Sha3_384_Final(context: *mut c_void, digest: *mut u8) -> i32;
    fn wc_InitSha3_512(context: *mut c_void, heap: *mut c_void, device: i32) -> i32;
    fn wc_Sha3_512_Update(context: *mut c_void, data: *const u8, len: u32) -> i32;
    fn wc_Sha3_512_Final(context: *mut c_void, digest: *mut u8) -> i32;
}

fn sha2(
    init: Init,
    update: WolfsslUpdate,
    finish: WolfsslFinal,
    message: &[u8],
    digest: &mut [u8; 64],
) {
    let mut context = WolfsslContext([0; 2048]);
    let context = context.0.as_mut_ptr().cast();
    // SAFETY: the context is large enough.
    unsafe { init(context) };
    // SAFETY: pointer and length are those of the message.
    unsafe { update(context, message.as_ptr(), message.len() as u32) };
    // SAFETY: no digest is longer than 64 bytes.
    unsafe { finish(context, digest.as_mut_ptr()) };
}

fn sha3(
    init: InitSha3,
    update: WolfsslUpdate,
    finish: WolfsslFinal,
    message: &[u8],
    digest: &mut [u8; 64],
) {
    let mut context = WolfsslContext([0; 2048]);
    let context = context.0.as_mut_ptr().cast();
    // SAFETY: the context is large enough.
    unsafe { init(context, core::ptr::null_mut(), NO_DEVICE) };
    // SAFETY: pointer and length are those of the message.
    unsafe { update(context, message.as_ptr(), message.len() as u32) };
    // SAFETY: no digest is longer than 64 bytes.
    unsafe { finish(context, digest.as_mut_ptr()) };
}
