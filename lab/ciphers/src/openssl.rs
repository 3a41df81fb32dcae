//! OpenSSL, with the functions that its provider calls for GCM (`cipher_aes_gcm_hw.c`), and with its assembly for the
//! extensions of the hart.
//!
//! On a hart with Zvkned and without Zvkg, the provider of 4.0.3 encrypts the counters one block at a time. Here its own
//! kernel of counter mode is used there too, which is faster.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

use hartlock_kernels::CipherTier;

use crate::{Peer, Prepared};

pub const PEER: Peer = Peer { name: "openssl", with_key };

type Encrypt = unsafe extern "C" fn(*const u8, *mut u8, *const c_void);
type Stream = unsafe extern "C" fn(*const u8, *mut u8, usize, *const c_void, *const u8);
type Expand = unsafe extern "C" fn(*const u8, c_int, *mut c_void) -> c_int;

unsafe extern "C" {
    fn AES_set_encrypt_key(key: *const u8, bits: c_int, keys: *mut c_void) -> c_int;
    fn AES_encrypt(from: *const u8, to: *mut u8, keys: *const c_void);
    fn rv64i_zkne_set_encrypt_key(key: *const u8, bits: c_int, keys: *mut c_void) -> c_int;
    fn rv64i_zkne_encrypt(from: *const u8, to: *mut u8, keys: *const c_void);
    fn rv64i_zvkned_set_encrypt_key(key: *const u8, bits: c_int, keys: *mut c_void) -> c_int;
    fn rv64i_zvkned_encrypt(from: *const u8, to: *mut u8, keys: *const c_void);
    fn rv64i_zvkb_zvkned_ctr32_encrypt_blocks(
        from: *const u8,
        to: *mut u8,
        blocks: usize,
        keys: *const c_void,
        counter: *const u8,
    );
    fn rv64i_zvkb_zvkg_zvkned_aes_gcm_decrypt(
        from: *const u8,
        to: *mut u8,
        len: usize,
        keys: *const c_void,
        counter: *mut u8,
        hash: *mut u64,
    ) -> usize;
    fn CRYPTO_gcm128_init(context: *mut c_void, keys: *const c_void, encrypt: Encrypt);
    fn CRYPTO_gcm128_setiv(context: *mut c_void, iv: *const u8, len: usize);
    fn CRYPTO_gcm128_aad(context: *mut c_void, aad: *const u8, len: usize) -> c_int;
    fn CRYPTO_gcm128_decrypt(
        context: *mut c_void,
        from: *const u8,
        to: *mut u8,
        len: usize,
    ) -> c_int;
    fn CRYPTO_gcm128_decrypt_ctr32(
        context: *mut c_void,
        from: *const u8,
        to: *mut u8,
        len: usize,
        stream: Stream,
    ) -> c_int;
    fn CRYPTO_gcm128_finish(context: *mut c_void, tag: *const u8, len: usize) -> c_int;
    fn CRYPTO_gcm128_tag(context: *mut c_void, tag: *mut u8, len: usize);
    fn CRYPTO_ctr128_encrypt(
        from: *const u8,
        to: *mut u8,
        len: usize,
        keys: *const c_void,
        counter: *mut u8,
        unused_stream: *mut u8,
        used: *mut u32,
        encrypt: Encrypt,
    );
}

/// Extensions of the hart in the order of OpenSSL's `riscv_arch.def`.
#[unsafe(no_mangle)]
static mut OPENSSL_riscvcap_P: [u32; 6] = [0; 6];
const ZBKB: u32 = 1 << 4;
/// OpenSSL asks for Zbc, of which it uses the two instructions that Zbkc has.
const ZBC: u32 = 1 << 2;
const ZKND: u32 = 1 << 7;
const ZKNE: u32 = 1 << 8;
const V: u32 = 1 << 14;
const ZVBC: u32 = 1 << 16;
const ZVKB: u32 = 1 << 17;
const ZVKG: u32 = 1 << 18;
const ZVKNED: u32 = 1 << 19;

/// Tells OpenSSL the extensions of a tier.
fn tell(tier: CipherTier) {
    let extensions = match tier {
        CipherTier::Portable => 0,
        CipherTier::Zkne => ZBKB | ZBC | ZKND | ZKNE,
        CipherTier::Zvkned => V | ZVKB | ZVKNED | ZVBC,
        CipherTier::Zvkg => V | ZVKB | ZVKNED | ZVKG,
    };
    // SAFETY: there is one hart, and no reference to the variable exists.
    unsafe { OPENSSL_riscvcap_P[0] = extensions };
}

#[unsafe(no_mangle)]
extern "C" fn riscv_vlen() -> usize {
    let bytes: usize;
    // SAFETY: the instruction reads a register, which the hart has: OpenSSL asks only if it was told of vectors.
    unsafe { core::arch::asm!("csrr {}, 0xc22", out(reg) bytes, options(nomem, nostack)) };
    bytes * 8
}

/// A buffer that is larger than a context of GCM, whose first members are five blocks: counter, its encryption, the first
/// encryption, the lengths, and the hash.
#[repr(align(16))]
struct GcmContext([u64; 128]);
const LENGTH: usize = 7;
const HASH: usize = 8;

#[repr(align(16))]
struct AlignedKeys([u8; 256]);

/// An expanded key, in a buffer that is larger than `AES_KEY`.
#[repr(align(16))]
struct ExpandedKeys {
    keys: [u8; 256],
    tier: CipherTier,
}

fn with_key(tier: CipherTier, key: &[u8; 32], work: &mut dyn FnMut(&dyn Prepared)) {
    work(&ExpandedKeys { keys: expanded(tier, key), tier });
}

/// Returns `AES_KEY`, whose first 240 bytes are the subkeys.
pub fn expanded(tier: CipherTier, key: &[u8; 32]) -> [u8; 256] {
    tell(tier);
    let mut keys = AlignedKeys([0; 256]);
    let expand: Expand = match tier {
        CipherTier::Portable => AES_set_encrypt_key,
        CipherTier::Zkne => rv64i_zkne_set_encrypt_key,
        CipherTier::Zvkned | CipherTier::Zvkg => rv64i_zvkned_set_encrypt_key,
    };
    // SAFETY: the key has 256 bits, and the buffer is large enough.
    unsafe { expand(key.as_ptr(), 256, keys.0.as_mut_ptr().cast()) };
    keys.0
}

impl ExpandedKeys {
    fn ptr(&self) -> *const c_void {
        self.keys.as_ptr().cast()
    }

    fn encrypt(&self) -> Encrypt {
        match self.tier {
            CipherTier::Portable => AES_encrypt,
            CipherTier::Zkne => rv64i_zkne_encrypt,
            CipherTier::Zvkned | CipherTier::Zvkg => rv64i_zvkned_encrypt,
        }
    }

    fn has_stream(&self) -> bool {
        matches!(self.tier, CipherTier::Zvkned | CipherTier::Zvkg)
    }

    fn start(&self, context: &mut GcmContext, iv: &[u8; 12]) {
        let context = context.0.as_mut_ptr().cast();
        // SAFETY: the buffer is large enough, and the keys outlive it.
        unsafe { CRYPTO_gcm128_init(context, self.ptr(), self.encrypt()) };
        // SAFETY: pointer and length are those of the vector.
        unsafe { CRYPTO_gcm128_setiv(context, iv.as_ptr(), iv.len()) };
    }
}

impl Prepared for ExpandedKeys {
    fn gcm(&self, iv: &[u8; 12], text: &mut [u8], tag: &[u8; 16]) -> bool {
        let mut context = GcmContext([0; 128]);
        self.start(&mut context, iv);
        let mut done = 0;
        if self.tier == CipherTier::Zvkg {
            let counter = context.0.as_mut_ptr().cast();
            // SAFETY: the counter is the first member of the context, and the hash is where the program says.
            done = unsafe {
                rv64i_zvkb_zvkg_zvkned_aes_gcm_decrypt(
                    text.as_ptr(),
                    text.as_mut_ptr(),
                    text.len(),
                    self.ptr(),
                    counter,
                    context.0.as_mut_ptr().add(HASH),
                )
            };
            context.0[LENGTH] += done as u64;
        }
        let rest = &mut text[done..];
        let context: *mut c_void = context.0.as_mut_ptr().cast();
        let (from, to) = (rest.as_ptr(), rest.as_mut_ptr());
        // SAFETY: pointers and length are those of the rest of the text; a tag has 16 bytes.
        unsafe {
            let failed = if self.has_stream() {
                let stream = rv64i_zvkb_zvkned_ctr32_encrypt_blocks;
                CRYPTO_gcm128_decrypt_ctr32(context, from, to, rest.len(), stream)
            } else {
                CRYPTO_gcm128_decrypt(context, from, to, rest.len())
            };
            failed == 0 && CRYPTO_gcm128_finish(context, tag.as_ptr(), tag.len()) == 0
        }
    }

    fn ctr(&self, counter: &[u8; 16], text: &mut [u8]) -> bool {
        let (from, to) = (text.as_ptr(), text.as_mut_ptr());
        if self.has_stream() {
            let blocks = text.len() / 16;
            // SAFETY: pointers and number of blocks are those of the text, and a counter has 16 bytes.
            unsafe {
                rv64i_zvkb_zvkned_ctr32_encrypt_blocks(
                    from,
                    to,
                    blocks,
                    self.ptr(),
                    counter.as_ptr(),
                );
            }
        } else {
            let (mut counter, mut unused, mut used) = (*counter, [0; 16], 0);
            // SAFETY: pointers and length are those of the text, the other buffers have 16 bytes each.
            unsafe {
                CRYPTO_ctr128_encrypt(
                    from,
                    to,
                    text.len(),
                    self.ptr(),
                    counter.as_mut_ptr(),
                    unused.as_mut_ptr(),
                    &mut used,
                    self.encrypt(),
                );
            }
        }
        true
    }

    fn ghash(&self, iv: &[u8; 12], data: &[u8]) -> Option<[u8; 16]> {
        let mut context = GcmContext([0; 128]);
        self.start(&mut context, iv);
        let context = context.0.as_mut_ptr().cast();
        let mut tag = [0; 16];
        // SAFETY: pointer and length are those of the data.
        let failed = unsafe { CRYPTO_gcm128_aad(context, data.as_ptr(), data.len()) };
        // SAFETY: the tag has 16 bytes.
        unsafe { CRYPTO_gcm128_tag(context, tag.as_mut_ptr(), tag.len()) };
        (failed == 0).then_some(tag)
    }
}

#[unsafe(no_mangle)]
extern "C" fn CRYPTO_memcmp(one: *const u8, other: *const u8, len: usize) -> c_int {
    // SAFETY: the caller compares a tag of the context with one of ours.
    let of = |start| unsafe { core::slice::from_raw_parts(start, len) };
    of(one).iter().zip(of(other)).fold(0, |sum, (one, other)| sum | c_int::from(one ^ other))
}

#[unsafe(no_mangle)]
extern "C" fn OPENSSL_cleanse(_: *mut c_void, _: usize) {}

#[unsafe(no_mangle)]
extern "C" fn CRYPTO_malloc(_: usize, _: *const u8, _: c_int) -> *mut c_void {
    null_mut()
}

#[unsafe(no_mangle)]
extern "C" fn CRYPTO_clear_free(_: *mut c_void, _: usize, _: *const u8, _: c_int) {}
