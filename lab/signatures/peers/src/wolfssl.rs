//! wolfCrypt as the distribution built it for riscv64, through the functions that its users call.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

use hartlock_footprint::pack::Case;

use crate::der::{self, MAX_SIGNATURE_LEN};

enum Algorithm {
    Ed25519,
    P256,
    P384,
    Rsa,
}

/// The algorithm of this program.
const ALGORITHM: Algorithm = if cfg!(feature = "wolfssl-ed25519") {
    Algorithm::Ed25519
} else if cfg!(feature = "wolfssl-p256") {
    Algorithm::P256
} else if cfg!(feature = "wolfssl-p384") {
    Algorithm::P384
} else {
    Algorithm::Rsa
};

/// As large as the key of the algorithm is in the headers of the package: `ed25519_key`, `ecc_key`, `RsaKey`.
const KEY_SIZE: usize = match ALGORITHM {
    Algorithm::Ed25519 => 384,
    Algorithm::P256 | Algorithm::P384 => 4440,
    Algorithm::Rsa => 8704,
};

const ECC_SECP256R1: c_int = 7;
const ECC_SECP384R1: c_int = 15;
const WC_HASH_TYPE_SHA384: c_int = 7;
const WC_MGF1SHA384: c_int = 2;

unsafe extern "C" {
    fn wc_ed25519_init(key: *mut c_void) -> c_int;
    fn wc_ed25519_import_public(bytes: *const u8, len: u32, key: *mut c_void) -> c_int;
    fn wc_ed25519_verify_msg(
        signature: *const u8,
        signature_len: u32,
        message: *const u8,
        message_len: u32,
        answer: *mut c_int,
        key: *mut c_void,
    ) -> c_int;
    fn wc_ed25519_free(key: *mut c_void);
    fn wc_ecc_init(key: *mut c_void) -> c_int;
    fn wc_ecc_import_x963_ex(bytes: *const u8, len: u32, key: *mut c_void, curve: c_int) -> c_int;
    fn wc_ecc_verify_hash(
        signature: *const u8,
        signature_len: u32,
        digest: *const u8,
        digest_len: u32,
        answer: *mut c_int,
        key: *mut c_void,
    ) -> c_int;
    fn wc_ecc_free(key: *mut c_void) -> c_int;
    fn wc_ecc_fp_free();
    fn wc_InitRsaKey(key: *mut c_void, heap: *mut c_void) -> c_int;
    fn wc_RsaPublicKeyDecode(bytes: *const u8, at: *mut u32, key: *mut c_void, len: u32) -> c_int;
    fn wc_RsaPSS_VerifyCheck(
        signature: *const u8,
        signature_len: u32,
        out: *mut u8,
        out_len: u32,
        digest: *const u8,
        digest_len: u32,
        hash: c_int,
        mask: c_int,
        key: *mut c_void,
    ) -> c_int;
    fn wc_FreeRsaKey(key: *mut c_void) -> c_int;
    fn wc_Sha256Hash(message: *const u8, len: u32, digest: *mut u8) -> c_int;
    fn wc_Sha384Hash(message: *const u8, len: u32, digest: *mut u8) -> c_int;
}

/// Digests of both hashes.
type Hash = unsafe extern "C" fn(*const u8, u32, *mut u8) -> c_int;

/// A key, zero until it is read. Functions of C change it through a shared reference: one hart.
#[repr(align(16))]
pub struct Key(UnsafeCell<[u8; KEY_SIZE]>);

impl Key {
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; KEY_SIZE]))
    }

    fn ptr(&self) -> *mut c_void {
        self.0.get().cast()
    }

    /// Reads a key from its bytes, once.
    pub fn read(&self, bytes: &[u8]) -> bool {
        let (from, len) = (bytes.as_ptr(), bytes.len() as u32);
        match ALGORITHM {
            Algorithm::Ed25519 => {
                // SAFETY: as large as a key of this kind.
                unsafe { wc_ed25519_init(self.ptr()) };
                // SAFETY: a key, and bytes with their length.
                unsafe { wc_ed25519_import_public(from, len, self.ptr()) == 0 }
            }
            Algorithm::P256 | Algorithm::P384 => {
                let is_small = matches!(ALGORITHM, Algorithm::P256);
                let curve = if is_small { ECC_SECP256R1 } else { ECC_SECP384R1 };
                // SAFETY: as large as a key of this kind.
                unsafe { wc_ecc_init(self.ptr()) };
                // SAFETY: a key, and bytes with their length.
                unsafe { wc_ecc_import_x963_ex(from, len, self.ptr(), curve) == 0 }
            }
            Algorithm::Rsa => {
                let mut at = 0;
                // SAFETY: as large as a key of this kind.
                unsafe { wc_InitRsaKey(self.ptr(), null_mut()) };
                // SAFETY: a key, and bytes with their length.
                unsafe { wc_RsaPublicKeyDecode(from, &raw mut at, self.ptr(), len) == 0 }
            }
        }
    }

    /// Whether the signature is genuine.
    pub fn verify(&self, case: &Case<'_>) -> bool {
        let (signature, message) = (case.signature, case.message);
        let mut answer = 0;
        let result = match ALGORITHM {
            // SAFETY: signature and message with their lengths, and a key.
            Algorithm::Ed25519 => unsafe {
                wc_ed25519_verify_msg(
                    signature.as_ptr(),
                    signature.len() as u32,
                    message.as_ptr(),
                    message.len() as u32,
                    &raw mut answer,
                    self.ptr(),
                )
            },
            Algorithm::P256 => {
                self.verify_point(digest::<32>(wc_Sha256Hash, message), signature, &mut answer)
            }
            Algorithm::P384 => {
                self.verify_point(digest::<48>(wc_Sha384Hash, message), signature, &mut answer)
            }
            Algorithm::Rsa => {
                let digest = digest::<48>(wc_Sha384Hash, message);
                let mut block = [0; 384];
                // SAFETY: everything with its length, and a key.
                let len = unsafe {
                    wc_RsaPSS_VerifyCheck(
                        signature.as_ptr(),
                        signature.len() as u32,
                        block.as_mut_ptr(),
                        block.len() as u32,
                        digest.as_ptr(),
                        digest.len() as u32,
                        WC_HASH_TYPE_SHA384,
                        WC_MGF1SHA384,
                        self.ptr(),
                    )
                };
                answer = (len > 0).into();
                0
            }
        };
        result == 0 && answer == 1
    }

    fn verify_point<const N: usize>(
        &self,
        digest: [u8; N],
        signature: &[u8],
        answer: &mut c_int,
    ) -> c_int {
        let mut encoded = [0; MAX_SIGNATURE_LEN];
        let Some(signature) = der::signature(signature, &mut encoded) else { return -1 };
        // SAFETY: signature and digest with their lengths, and a key.
        unsafe {
            wc_ecc_verify_hash(
                signature.as_ptr(),
                signature.len() as u32,
                digest.as_ptr(),
                N as u32,
                answer,
                self.ptr(),
            )
        }
    }
}

fn digest<const N: usize>(hash: Hash, message: &[u8]) -> [u8; N] {
    let mut digest = [0; N];
    // SAFETY: the message with its length, and the caller's word that the digest has this size.
    unsafe { hash(message.as_ptr(), message.len() as u32, digest.as_mut_ptr()) };
    digest
}

impl Drop for Key {
    fn drop(&mut self) {
        match ALGORITHM {
            // SAFETY: it is not used any more; all zeros are a key without parts.
            Algorithm::Ed25519 => unsafe { wc_ed25519_free(self.ptr()) },
            Algorithm::P256 | Algorithm::P384 => {
                // SAFETY: the same.
                unsafe { wc_ecc_free(self.ptr()) };
                // SAFETY: forgets the multiples of the key's point and of the curve's, tables that it makes
                // when it meets a point.
                unsafe { wc_ecc_fp_free() };
            }
            // SAFETY: it is not used any more.
            Algorithm::Rsa => _ = unsafe { wc_FreeRsaKey(self.ptr()) },
        }
    }
}
