//! The hashes of OpenSSL's libcrypto, called without its providers through the functions that these call.

use core::ffi::c_void;

use crate::hash::Hash;

pub const HASHES: &[(&str, Hash)] = &[
    ("sha256", sha256),
    ("sha384", sha384),
    ("sha512", sha512),
    ("sha3-256", |message, digest| sha3(message, digest, 136, 32)),
    ("sha3-384", |message, digest| sha3(message, digest, 104, 48)),
    ("sha3-512", |message, digest| sha3(message, digest, 72, 64)),
];

/// A buffer that is larger than any context of OpenSSL's hashes.
#[repr(align(16))]
struct OpensslContext([u8; 512]);

impl OpensslContext {
    fn new() -> Self {
        Self([0; 512])
    }

    fn ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

type OpensslUpdate = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> i32;
type OpensslFinal = unsafe extern "C" fn(*mut u8, *mut c_void) -> i32;

unsafe extern "C" {
    fn SHA256_Init(context: *mut c_void) -> i32;
    fn SHA256_Update(context: *mut c_void, data: *const u8, len: usize) -> i32;
    fn SHA256_Final(digest: *mut u8, context: *mut c_void) -> i32;
    fn SHA384_Init(context: *mut c_void) -> i32;
    fn SHA384_Update(context: *mut c_void, data: *const u8, len: usize) -> i32;
    fn SHA384_Final(digest: *mut u8, context: *mut c_void) -> i32;
    fn SHA512_Init(context: *mut c_void) -> i32;
    fn SHA512_Update(context: *mut c_void, data: *const u8, len: usize) -> i32;
    fn SHA512_Final(digest: *mut u8, context: *mut c_void) -> i32;
    fn SHA3_absorb(state: *mut u64, data: *const u8, len: usize, rate: usize) -> usize;
    fn SHA3_squeeze(state: *mut u64, out: *mut u8, len: usize, rate: usize, next: i32);
}

fn sha2(
    init: unsafe extern "C" fn(*mut c_void) -> i32,
    (update, finish): (OpensslUpdate, OpensslFinal),
    message: &[u8],
    digest: &mut [u8; 64],
) {
    let mut context = OpensslContext::new();
    // SAFETY: the context is large enough.
    unsafe { init(context.ptr()) };
    // SAFETY: pointer and length are those of the message.
    unsafe { update(context.ptr(), message.as_ptr(), message.len()) };
    // SAFETY: no digest is longer than 64 bytes.
    unsafe { finish(digest.as_mut_ptr(), context.ptr()) };
}

fn sha256(message: &[u8], digest: &mut [u8; 64]) {
    sha2(SHA256_Init, (SHA256_Update, SHA256_Final), message, digest);
}

fn sha384(message: &[u8], digest: &mut [u8; 64]) {
    sha2(SHA384_Init, (SHA384_Update, SHA384_Final), message, digest);
}

fn sha512(message: &[u8], digest: &mut [u8; 64]) {
    sha2(SHA512_Init, (SHA512_Update, SHA512_Final), message, digest);
}

fn sha3(message: &[u8], digest: &mut [u8; 64], rate: usize, len: usize) {
    let mut state = [0_u64; 25];
    // SAFETY: pointers and lengths are those of state and message. The function returns the number of
    // unprocessed bytes.
    let rest = unsafe { SHA3_absorb(state.as_mut_ptr(), message.as_ptr(), message.len(), rate) };
    let mut last = [0; 168];
    last[..rest].copy_from_slice(&message[message.len() - rest..]);
    last[rest] ^= 6;
    last[rate - 1] ^= 0x80;
    // SAFETY: the pointer is to one block.
    unsafe { SHA3_absorb(state.as_mut_ptr(), last.as_ptr(), rate, rate) };
    // SAFETY: no digest is longer than 64 bytes.
    unsafe { SHA3_squeeze(state.as_mut_ptr(), digest.as_mut_ptr(), len, rate, 0) };
}

/// Extensions of the hart in the order of OpenSSL's `riscv_arch.def`: those for which this program is built.
#[unsafe(no_mangle)]
static OPENSSL_riscvcap_P: [u32; 6] = [EXTENSIONS, 0, 0, 0, 0, 0];
const EXTENSIONS: u32 = if cfg!(feature = "zvknh") {
    V | ZVKB | ZVKNHA | ZVKNHB
} else if cfg!(feature = "zvbb") {
    V | ZVBB | ZVKB
} else if cfg!(target_feature = "zbb") {
    ZBB
} else {
    0
};
const ZBB: u32 = 1 << 1;
const V: u32 = 1 << 14;
const ZVBB: u32 = 1 << 15;
const ZVKB: u32 = 1 << 17;
const ZVKNHA: u32 = 1 << 20;
const ZVKNHB: u32 = 1 << 21;

#[unsafe(no_mangle)]
pub extern "C" fn riscv_vlen() -> usize {
    let bytes: usize;
    // SAFETY: the instruction reads a register, which the hart has: OpenSSL asks only if it was told of vectors.
    unsafe { core::arch::asm!("csrr {}, 0xc22", out(reg) bytes, options(nomem, nostack)) };
    bytes * 8
}

#[unsafe(no_mangle)]
extern "C" fn OPENSSL_cleanse(_: *mut c_void, _: usize) {}
