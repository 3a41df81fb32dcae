//! AWS-LC's libcrypto, through the functions that its users call. All of them have a prefix.

use core::cell::Cell;
use core::ffi::{c_int, c_long, c_void};
use core::ptr::null_mut;

use hartlock_footprint::pack::Case;

use crate::der::{self, MAX_SIGNATURE_LEN};

enum AwsLcAlgorithm {
    Ed25519,
    /// Number of the curve, hash function, and digest length.
    Ecdsa(c_int, OneShot, usize),
    /// RSA with a key in the form RSAPublicKey (RFC 8017 §A.1.1), for PSS with SHA-384 and a salt as long
    /// as the digest.
    Rsa,
    /// Number of the parameter set.
    MlDsa(c_int),
}

const NID_X9_62_PRIME256V1: c_int = 415;
const NID_SECP384R1: c_int = 715;
const NID_MLDSA44: c_int = 994;
const NID_MLDSA65: c_int = 995;
const NID_MLDSA87: c_int = 996;
const RSA_PSS_SALTLEN_DIGEST: c_int = -1;
const SHA384_LEN: usize = 48;

/// The algorithm of this program.
const ALGORITHM: AwsLcAlgorithm = if cfg!(feature = "aws-lc-ed25519") {
    AwsLcAlgorithm::Ed25519
} else if cfg!(feature = "aws-lc-p256") {
    AwsLcAlgorithm::Ecdsa(NID_X9_62_PRIME256V1, aws_lc_SHA256, 32)
} else if cfg!(feature = "aws-lc-p384") {
    AwsLcAlgorithm::Ecdsa(NID_SECP384R1, aws_lc_SHA384, SHA384_LEN)
} else if cfg!(feature = "aws-lc-rsa") {
    AwsLcAlgorithm::Rsa
} else if cfg!(feature = "aws-lc-ml-dsa-44") {
    AwsLcAlgorithm::MlDsa(NID_MLDSA44)
} else if cfg!(feature = "aws-lc-ml-dsa-65") {
    AwsLcAlgorithm::MlDsa(NID_MLDSA65)
} else {
    AwsLcAlgorithm::MlDsa(NID_MLDSA87)
};

type OneShot = unsafe extern "C" fn(*const u8, usize, *mut u8) -> *mut u8;

unsafe extern "C" {
    fn aws_lc_SHA256(data: *const u8, len: usize, digest: *mut u8) -> *mut u8;
    fn aws_lc_SHA384(data: *const u8, len: usize, digest: *mut u8) -> *mut u8;
    fn aws_lc_ED25519_verify(
        message: *const u8,
        message_len: usize,
        signature: *const u8,
        key: *const u8,
    ) -> c_int;
    fn aws_lc_EC_KEY_new_by_curve_name(curve: c_int) -> *mut c_void;
    fn aws_lc_o2i_ECPublicKey(
        key: *mut *mut c_void,
        point: *mut *const u8,
        len: c_long,
    ) -> *mut c_void;
    fn aws_lc_EC_KEY_free(key: *mut c_void);
    fn aws_lc_ECDSA_verify(
        unused: c_int,
        digest: *const u8,
        digest_len: usize,
        signature: *const u8,
        signature_len: usize,
        key: *const c_void,
    ) -> c_int;
    fn aws_lc_RSA_public_key_from_bytes(der: *const u8, len: usize) -> *mut c_void;
    fn aws_lc_RSA_free(key: *mut c_void);
    fn aws_lc_EVP_sha384() -> *const c_void;
    fn aws_lc_RSA_verify_pss_mgf1(
        key: *mut c_void,
        digest: *const u8,
        digest_len: usize,
        hash: *const c_void,
        mask_hash: *const c_void,
        salt_len: c_int,
        signature: *const u8,
        signature_len: usize,
    ) -> c_int;
    fn aws_lc_EVP_PKEY_pqdsa_new_raw_public_key(
        set: c_int,
        key: *const u8,
        len: usize,
    ) -> *mut c_void;
    fn aws_lc_EVP_PKEY_free(key: *mut c_void);
    fn aws_lc_EVP_MD_CTX_new() -> *mut c_void;
    fn aws_lc_EVP_MD_CTX_free(context: *mut c_void);
    fn aws_lc_EVP_DigestVerifyInit(
        context: *mut c_void,
        key_context: *mut *mut c_void,
        hash: *const c_void,
        engine: *mut c_void,
        key: *mut c_void,
    ) -> c_int;
    fn aws_lc_EVP_DigestVerify(
        context: *mut c_void,
        signature: *const u8,
        signature_len: usize,
        message: *const u8,
        message_len: usize,
    ) -> c_int;
    fn aws_lc_ERR_clear_error();
}

/// A key object, which is null until a key is read. For Ed25519 the pointer is to the 32 bytes of the
/// key, which must outlive it.
pub struct AwsLcKey(Cell<*mut c_void>);

impl AwsLcKey {
    pub const fn new() -> Self {
        Self(Cell::new(null_mut()))
    }

    /// Makes the object from the bytes of a key. The function is called once.
    pub fn read(&self, key: &[u8]) -> bool {
        let object = match ALGORITHM {
            AwsLcAlgorithm::Ed25519 if key.len() == 32 => key.as_ptr().cast_mut().cast(),
            AwsLcAlgorithm::Ed25519 => null_mut(),
            AwsLcAlgorithm::Ecdsa(curve, ..) => point(curve, key),
            // SAFETY: pointer and length are those of the key.
            AwsLcAlgorithm::Rsa => unsafe {
                aws_lc_RSA_public_key_from_bytes(key.as_ptr(), key.len())
            },
            // SAFETY: pointer and length are those of the key.
            AwsLcAlgorithm::MlDsa(set) => unsafe {
                aws_lc_EVP_PKEY_pqdsa_new_raw_public_key(set, key.as_ptr(), key.len())
            },
        };
        self.0.set(object);
        !object.is_null()
    }

    /// Returns true if the signature is genuine.
    pub fn verify(&self, case: &Case<'_>) -> bool {
        let is_genuine = match ALGORITHM {
            AwsLcAlgorithm::Ed25519 => self.ed25519(case),
            AwsLcAlgorithm::Ecdsa(_, hash, len) => self.ecdsa(case, hash, len),
            AwsLcAlgorithm::Rsa => self.rsa(case),
            AwsLcAlgorithm::MlDsa(_) => self.ml_dsa(case),
        };
        if !is_genuine {
            // SAFETY: the function only clears the error queue, as a caller does after it has handled an
            // error.
            unsafe { aws_lc_ERR_clear_error() };
        }
        is_genuine
    }

    fn ed25519(&self, case: &Case<'_>) -> bool {
        let (message, signature) = (case.message, case.signature);
        signature.len() == 64
            // SAFETY: the pointers are to the message, to 64 bytes of signature, and to the 32 bytes of
            // this case's key.
            && unsafe {
                aws_lc_ED25519_verify(
                    message.as_ptr(),
                    message.len(),
                    signature.as_ptr(),
                    self.0.get().cast(),
                )
            } == 1
    }

    fn ecdsa(&self, case: &Case<'_>, hash: OneShot, len: usize) -> bool {
        let digest = digest(hash, case.message);
        let mut encoded = [0; MAX_SIGNATURE_LEN];
        let Some(signature) = der::signature(case.signature, &mut encoded) else { return false };
        // SAFETY: digest and signature are passed with their lengths, and the key was read.
        let answer = unsafe {
            aws_lc_ECDSA_verify(
                0,
                digest.as_ptr(),
                len,
                signature.as_ptr(),
                signature.len(),
                self.0.get(),
            )
        };
        answer == 1
    }

    fn rsa(&self, case: &Case<'_>) -> bool {
        let digest = digest(aws_lc_SHA384, case.message);
        // SAFETY: the function returns a constant of the library.
        let hash = unsafe { aws_lc_EVP_sha384() };
        // SAFETY: digest and signature are passed with their lengths, and the key was read.
        let answer = unsafe {
            aws_lc_RSA_verify_pss_mgf1(
                self.0.get(),
                digest.as_ptr(),
                SHA384_LEN,
                hash,
                hash,
                RSA_PSS_SALTLEN_DIGEST,
                case.signature.as_ptr(),
                case.signature.len(),
            )
        };
        answer == 1
    }

    fn ml_dsa(&self, case: &Case<'_>) -> bool {
        // SAFETY: the function makes a new object.
        let context = unsafe { aws_lc_EVP_MD_CTX_new() };
        let (key, none) = (self.0.get(), null_mut());
        // SAFETY: context and key are valid objects; there is no digest, because the algorithm has its
        // own.
        let is_ready =
            unsafe { aws_lc_EVP_DigestVerifyInit(context, null_mut(), none, none, key) } == 1;
        let (message, signature) = (case.message, case.signature);
        let is_genuine = is_ready
            // SAFETY: signature and message are passed with their lengths.
            && unsafe {
                aws_lc_EVP_DigestVerify(
                    context,
                    signature.as_ptr(),
                    signature.len(),
                    message.as_ptr(),
                    message.len(),
                )
            } == 1;
        // SAFETY: the context is not used any more.
        unsafe { aws_lc_EVP_MD_CTX_free(context) };
        is_genuine
    }
}

impl Drop for AwsLcKey {
    fn drop(&mut self) {
        let free = match ALGORITHM {
            AwsLcAlgorithm::Ed25519 => return,
            AwsLcAlgorithm::Ecdsa(..) => aws_lc_EC_KEY_free,
            AwsLcAlgorithm::Rsa => aws_lc_RSA_free,
            AwsLcAlgorithm::MlDsa(_) => aws_lc_EVP_PKEY_free,
        };
        // SAFETY: the pointer is to the key's own object, or null.
        unsafe { free(self.0.get()) };
    }
}

fn digest(hash: OneShot, message: &[u8]) -> [u8; SHA384_LEN] {
    let mut digest = [0; SHA384_LEN];
    // SAFETY: pointer and length are those of the message, and no digest here is longer.
    unsafe { hash(message.as_ptr(), message.len(), digest.as_mut_ptr()) };
    digest
}

fn point(curve: c_int, bytes: &[u8]) -> *mut c_void {
    // SAFETY: the function makes a new object.
    let mut key = unsafe { aws_lc_EC_KEY_new_by_curve_name(curve) };
    let mut next = bytes.as_ptr();
    let len = bytes.len() as c_long;
    // SAFETY: the key is an object or null, which the function refuses; the bytes are passed with their
    // length.
    if !unsafe { aws_lc_o2i_ECPublicKey(&raw mut key, &raw mut next, len) }.is_null() {
        return key;
    }
    // SAFETY: the key is not used any more.
    unsafe { aws_lc_EC_KEY_free(key) };
    null_mut()
}
