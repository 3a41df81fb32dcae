//! wolfCrypt, configured by `lab/peers/wolfssl/user_settings.h`, through the functions that its users call.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::{null, null_mut};

use hartlock_footprint::pack::Case;

use crate::der::{self, MAX_SIGNATURE_LEN};

enum WolfsslAlgorithm {
    Ed25519,
    P256,
    P384,
    Rsa,
    Lms,
    Xmss,
    /// ML-DSA with the number of the parameter set.
    MlDsa(u8),
    SlhDsa,
}

/// The algorithm of this program.
const ALGORITHM: WolfsslAlgorithm = if cfg!(feature = "wolfssl-ed25519") {
    WolfsslAlgorithm::Ed25519
} else if cfg!(feature = "wolfssl-p256") {
    WolfsslAlgorithm::P256
} else if cfg!(feature = "wolfssl-p384") {
    WolfsslAlgorithm::P384
} else if cfg!(feature = "wolfssl-rsa") {
    WolfsslAlgorithm::Rsa
} else if cfg!(feature = "wolfssl-lms") {
    WolfsslAlgorithm::Lms
} else if cfg!(feature = "wolfssl-xmss") {
    WolfsslAlgorithm::Xmss
} else if cfg!(feature = "wolfssl-ml-dsa-44") {
    WolfsslAlgorithm::MlDsa(2)
} else if cfg!(feature = "wolfssl-ml-dsa-65") {
    WolfsslAlgorithm::MlDsa(3)
} else if cfg!(feature = "wolfssl-ml-dsa-87") {
    WolfsslAlgorithm::MlDsa(5)
} else {
    WolfsslAlgorithm::SlhDsa
};

/// Size in bytes of the C structure of a key: `ed25519_key`, `ecc_key`, `RsaKey` and so on.
/// `lab/peers/wolfssl/sizes.c` compiles only if the sizes are correct.
const KEY_SIZE: usize = match ALGORITHM {
    WolfsslAlgorithm::Ed25519 => 112,
    WolfsslAlgorithm::P256 | WolfsslAlgorithm::P384 => 3176,
    WolfsslAlgorithm::Rsa => 1600,
    WolfsslAlgorithm::Lms => 80,
    WolfsslAlgorithm::Xmss => 160,
    WolfsslAlgorithm::MlDsa(_) => 3032,
    WolfsslAlgorithm::SlhDsa => 1192,
};

/// wolfCrypt's `INVALID_DEVID`, with which no callback computes the result.
const NO_DEVICE: c_int = -2;
const SLHDSA_SHA2_128S: c_int = 6;
const WC_LMS_PARM_L1_H10_W4: c_int = 6;
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
    fn wc_LmsKey_Init(key: *mut c_void, heap: *mut c_void, device: c_int) -> c_int;
    fn wc_LmsKey_SetLmsParm(key: *mut c_void, parameters: c_int) -> c_int;
    fn wc_LmsKey_ImportPubRaw(key: *mut c_void, bytes: *const u8, len: u32) -> c_int;
    fn wc_LmsKey_Verify(
        key: *mut c_void,
        signature: *const u8,
        signature_len: u32,
        message: *const u8,
        message_len: c_int,
    ) -> c_int;
    fn wc_LmsKey_Free(key: *mut c_void);
    fn wc_XmssKey_Init(key: *mut c_void, heap: *mut c_void, device: c_int) -> c_int;
    fn wc_XmssKey_SetParamStr(key: *mut c_void, name: *const c_char) -> c_int;
    fn wc_XmssKey_ImportPubRaw(key: *mut c_void, bytes: *const u8, len: u32) -> c_int;
    fn wc_XmssKey_Verify(
        key: *mut c_void,
        signature: *const u8,
        signature_len: u32,
        message: *const u8,
        message_len: c_int,
    ) -> c_int;
    fn wc_XmssKey_Free(key: *mut c_void);
    fn wc_MlDsaKey_Init(key: *mut c_void, heap: *mut c_void, device: c_int) -> c_int;
    fn wc_MlDsaKey_SetParams(key: *mut c_void, level: u8) -> c_int;
    fn wc_MlDsaKey_ImportPubRaw(key: *mut c_void, bytes: *const u8, len: u32) -> c_int;
    fn wc_MlDsaKey_VerifyCtx(
        key: *mut c_void,
        signature: *const u8,
        signature_len: u32,
        context: *const u8,
        context_len: u8,
        message: *const u8,
        message_len: u32,
        answer: *mut c_int,
    ) -> c_int;
    fn wc_MlDsaKey_Free(key: *mut c_void);
    fn wc_SlhDsaKey_Init(
        key: *mut c_void,
        parameters: c_int,
        heap: *mut c_void,
        device: c_int,
    ) -> c_int;
    fn wc_SlhDsaKey_ImportPublic(key: *mut c_void, bytes: *const u8, len: u32) -> c_int;
    fn wc_SlhDsaKey_Verify(
        key: *mut c_void,
        context: *const u8,
        context_len: u8,
        message: *const u8,
        message_len: u32,
        signature: *const u8,
        signature_len: u32,
    ) -> c_int;
    fn wc_SlhDsaKey_Free(key: *mut c_void);
    fn wc_Sha256Hash(message: *const u8, len: u32, digest: *mut u8) -> c_int;
    fn wc_Sha384Hash(message: *const u8, len: u32, digest: *mut u8) -> c_int;
}

/// Type of both hash functions.
type Hash = unsafe extern "C" fn(*const u8, u32, *mut u8) -> c_int;

/// A key structure, which is all zeros until a key is read. C functions change it through a shared reference, which is
/// sound because there is one hart.
#[repr(align(16))]
pub struct WolfsslKey(UnsafeCell<[u8; KEY_SIZE]>);

impl WolfsslKey {
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; KEY_SIZE]))
    }

    fn ptr(&self) -> *mut c_void {
        self.0.get().cast()
    }

    /// Reads a key from its bytes. The function is called once.
    pub fn read(&self, bytes: &[u8]) -> bool {
        let (from, len) = (bytes.as_ptr(), bytes.len() as u32);
        match ALGORITHM {
            WolfsslAlgorithm::Ed25519 => {
                // SAFETY: the structure is as large as a key of this kind.
                unsafe { wc_ed25519_init(self.ptr()) };
                // SAFETY: the key is initialised, and the bytes are passed with their length.
                unsafe { wc_ed25519_import_public(from, len, self.ptr()) == 0 }
            }
            WolfsslAlgorithm::P256 | WolfsslAlgorithm::P384 => {
                let is_small = matches!(ALGORITHM, WolfsslAlgorithm::P256);
                let curve = if is_small { ECC_SECP256R1 } else { ECC_SECP384R1 };
                // SAFETY: the structure is as large as a key of this kind.
                unsafe { wc_ecc_init(self.ptr()) };
                // SAFETY: the key is initialised, and the bytes are passed with their length.
                unsafe { wc_ecc_import_x963_ex(from, len, self.ptr(), curve) == 0 }
            }
            WolfsslAlgorithm::Rsa => {
                let mut at = 0;
                // SAFETY: the structure is as large as a key of this kind.
                unsafe { wc_InitRsaKey(self.ptr(), null_mut()) };
                // SAFETY: the key is initialised, and the bytes are passed with their length.
                unsafe { wc_RsaPublicKeyDecode(from, &raw mut at, self.ptr(), len) == 0 }
            }
            WolfsslAlgorithm::Lms => {
                // SAFETY: the structure is as large as a key of this kind.
                unsafe { wc_LmsKey_Init(self.ptr(), null_mut(), NO_DEVICE) };
                // SAFETY: the key is initialised.
                unsafe { wc_LmsKey_SetLmsParm(self.ptr(), WC_LMS_PARM_L1_H10_W4) };
                // SAFETY: the key is initialised, and the bytes are passed with their length.
                unsafe { wc_LmsKey_ImportPubRaw(self.ptr(), from, len) == 0 }
            }
            WolfsslAlgorithm::Xmss => {
                // SAFETY: the structure is as large as a key of this kind.
                unsafe { wc_XmssKey_Init(self.ptr(), null_mut(), NO_DEVICE) };
                // SAFETY: the key is initialised, and the name is a C string.
                unsafe { wc_XmssKey_SetParamStr(self.ptr(), c"XMSS-SHA2_10_256".as_ptr()) };
                // SAFETY: the key is initialised, and the bytes are passed with their length.
                unsafe { wc_XmssKey_ImportPubRaw(self.ptr(), from, len) == 0 }
            }
            WolfsslAlgorithm::MlDsa(level) => {
                // SAFETY: the structure is as large as a key of this kind.
                unsafe { wc_MlDsaKey_Init(self.ptr(), null_mut(), NO_DEVICE) };
                // SAFETY: the key is initialised.
                unsafe { wc_MlDsaKey_SetParams(self.ptr(), level) };
                // SAFETY: the key is initialised, and the bytes are passed with their length.
                unsafe { wc_MlDsaKey_ImportPubRaw(self.ptr(), from, len) == 0 }
            }
            WolfsslAlgorithm::SlhDsa => {
                // SAFETY: the structure is as large as a key of this kind.
                unsafe { wc_SlhDsaKey_Init(self.ptr(), SLHDSA_SHA2_128S, null_mut(), NO_DEVICE) };
                // SAFETY: the key is initialised, and the bytes are passed with their length.
                unsafe { wc_SlhDsaKey_ImportPublic(self.ptr(), from, len) == 0 }
            }
        }
    }

    /// Returns true if the signature is genuine.
    pub fn verify(&self, case: &Case<'_>) -> bool {
        let (signature, message) = (case.signature, case.message);
        let mut answer = 0;
        let result = match ALGORITHM {
            // SAFETY: signature and message are passed with their lengths, and the key is initialised.
            WolfsslAlgorithm::Ed25519 => unsafe {
                wc_ed25519_verify_msg(
                    signature.as_ptr(),
                    signature.len() as u32,
                    message.as_ptr(),
                    message.len() as u32,
                    &raw mut answer,
                    self.ptr(),
                )
            },
            WolfsslAlgorithm::P256 => {
                self.verify_point(digest::<32>(wc_Sha256Hash, message), signature, &mut answer)
            }
            WolfsslAlgorithm::P384 => {
                self.verify_point(digest::<48>(wc_Sha384Hash, message), signature, &mut answer)
            }
            WolfsslAlgorithm::Rsa => {
                let digest = digest::<48>(wc_Sha384Hash, message);
                let mut block = [0; 384];
                // SAFETY: all buffers are passed with their lengths, and the key is initialised.
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
            WolfsslAlgorithm::Lms | WolfsslAlgorithm::Xmss => {
                let verify = if matches!(ALGORITHM, WolfsslAlgorithm::Lms) {
                    wc_LmsKey_Verify
                } else {
                    wc_XmssKey_Verify
                };
                answer = 1;
                // SAFETY: signature and message are passed with their lengths, and the key is initialised.
                unsafe {
                    verify(
                        self.ptr(),
                        signature.as_ptr(),
                        signature.len() as u32,
                        message.as_ptr(),
                        message.len() as c_int,
                    )
                }
            }
            // SAFETY: signature and message are passed with their lengths, the context is empty, and the key is
            // initialised.
            WolfsslAlgorithm::MlDsa(_) => unsafe {
                wc_MlDsaKey_VerifyCtx(
                    self.ptr(),
                    signature.as_ptr(),
                    signature.len() as u32,
                    null(),
                    0,
                    message.as_ptr(),
                    message.len() as u32,
                    &raw mut answer,
                )
            },
            WolfsslAlgorithm::SlhDsa => {
                answer = 1;
                // SAFETY: signature and message are passed with their lengths, the context is empty, and the key is
                // initialised.
                unsafe {
                    wc_SlhDsaKey_Verify(
                        self.ptr(),
                        null(),
                        0,
                        message.as_ptr(),
                        message.len() as u32,
                        signature.as_ptr(),
                        signature.len() as u32,
                    )
                }
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
        // SAFETY: signature and digest are passed with their lengths, and the key is initialised.
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
    // SAFETY: the message is passed with its length, and the caller chooses N as the digest size of this hash.
    unsafe { hash(message.as_ptr(), message.len() as u32, digest.as_mut_ptr()) };
    digest
}

impl Drop for WolfsslKey {
    fn drop(&mut self) {
        match ALGORITHM {
            // SAFETY: the key is not used any more; all zeros are a key without allocated parts.
            WolfsslAlgorithm::Ed25519 => unsafe { wc_ed25519_free(self.ptr()) },
            // SAFETY: see the first case.
            WolfsslAlgorithm::P256 | WolfsslAlgorithm::P384 => {
                _ = unsafe { wc_ecc_free(self.ptr()) }
            }
            // SAFETY: see the first case.
            WolfsslAlgorithm::Rsa => _ = unsafe { wc_FreeRsaKey(self.ptr()) },
            // SAFETY: see the first case.
            WolfsslAlgorithm::Lms => unsafe { wc_LmsKey_Free(self.ptr()) },
            // SAFETY: see the first case.
            WolfsslAlgorithm::Xmss => unsafe { wc_XmssKey_Free(self.ptr()) },
            // SAFETY: see the first case.
            WolfsslAlgorithm::MlDsa(_) => unsafe { wc_MlDsaKey_Free(self.ptr()) },
            // SAFETY: see the first case.
            WolfsslAlgorithm::SlhDsa => unsafe { wc_SlhDsaKey_Free(self.ptr()) },
        }
    }
}
