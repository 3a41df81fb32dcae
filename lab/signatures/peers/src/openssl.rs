//! OpenSSL's libcrypto, through the functions that its users call: a key object from the bytes of a key, and
//! `EVP_DigestVerify`. The default provider is part of the library.

use core::cell::Cell;
use core::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use core::ptr::{null, null_mut};

use hartlock_footprint::pack::Case;

use crate::der::{self, MAX_SIGNATURE_LEN};

/// The way in which an object is made from the bytes of a key.
enum Encoding {
    /// The bytes of a raw key of this type.
    Raw(&'static CStr),
    /// A point of this curve.
    Point(&'static CStr),
    /// RSAPublicKey (RFC 8017 §A.1.1), for PSS with a salt as long as the digest.
    Rsa,
}

/// The algorithm of this program, and its hash if OpenSSL must be told one.
const ALGORITHM: (Encoding, Option<&CStr>) = if cfg!(feature = "openssl-ed25519") {
    (Encoding::Raw(c"ED25519"), None)
} else if cfg!(feature = "openssl-p256") {
    (Encoding::Point(c"P-256"), Some(c"SHA256"))
} else if cfg!(feature = "openssl-p384") {
    (Encoding::Point(c"P-384"), Some(c"SHA384"))
} else if cfg!(feature = "openssl-rsa") {
    (Encoding::Rsa, Some(c"SHA384"))
} else if cfg!(feature = "openssl-ml-dsa-44") {
    (Encoding::Raw(c"ML-DSA-44"), None)
} else if cfg!(feature = "openssl-ml-dsa-65") {
    (Encoding::Raw(c"ML-DSA-65"), None)
} else if cfg!(feature = "openssl-ml-dsa-87") {
    (Encoding::Raw(c"ML-DSA-87"), None)
} else if cfg!(feature = "openssl-lms") {
    (Encoding::Raw(c"LMS"), None)
} else {
    (Encoding::Raw(c"SLH-DSA-SHA2-128s"), None)
};

/// Number of bytes before key and signature that are removed. OpenSSL verifies only LMS, so the number of HSS
/// levels, which is one, is left out (RFC 8554 §6).
const LEVELS_LEN: usize = if cfg!(feature = "openssl-lms") { 4 } else { 0 };

/// The C structure `OSSL_PARAM`.
#[repr(C)]
struct Parameter {
    key: *const c_char,
    data_type: c_uint,
    data: *const c_void,
    data_size: usize,
    return_size: usize,
}

const OSSL_PARAM_UTF8_STRING: c_uint = 4;
const OSSL_PARAM_OCTET_STRING: c_uint = 5;
const OSSL_PARAM_UNMODIFIED: usize = usize::MAX;
const EVP_PKEY_RSA: c_int = 6;
const EVP_PKEY_PUBLIC_KEY: c_int = 0x86;
const RSA_PKCS1_PSS_PADDING: c_int = 6;
const RSA_PSS_SALTLEN_DIGEST: c_int = -1;

unsafe extern "C" {
    fn EVP_PKEY_new_raw_public_key_ex(
        library: *mut c_void,
        key_type: *const c_char,
        properties: *const c_char,
        key: *const u8,
        len: usize,
    ) -> *mut c_void;
    fn EVP_PKEY_CTX_new_from_name(
        library: *mut c_void,
        name: *const c_char,
        properties: *const c_char,
    ) -> *mut c_void;
    fn EVP_PKEY_CTX_free(context: *mut c_void);
    fn EVP_PKEY_fromdata_init(context: *mut c_void) -> c_int;
    fn EVP_PKEY_fromdata(
        context: *mut c_void,
        key: *mut *mut c_void,
        selection: c_int,
        parameters: *const Parameter,
    ) -> c_int;
    fn d2i_PublicKey(
        key_type: c_int,
        to: *mut *mut c_void,
        der: *mut *const u8,
        len: c_long,
    ) -> *mut c_void;
    fn ERR_clear_error();
    fn EVP_PKEY_free(key: *mut c_void);
    fn EVP_MD_CTX_new() -> *mut c_void;
    fn EVP_MD_CTX_free(context: *mut c_void);
    fn EVP_DigestVerifyInit_ex(
        context: *mut c_void,
        key_context: *mut *mut c_void,
        digest: *const c_char,
        library: *mut c_void,
        properties: *const c_char,
        key: *mut c_void,
        parameters: *const Parameter,
    ) -> c_int;
    fn EVP_PKEY_CTX_set_rsa_padding(context: *mut c_void, padding: c_int) -> c_int;
    fn EVP_PKEY_CTX_set_rsa_pss_saltlen(context: *mut c_void, len: c_int) -> c_int;
    fn EVP_DigestVerify(
        context: *mut c_void,
        signature: *const u8,
        signature_len: usize,
        message: *const u8,
        message_len: usize,
    ) -> c_int;
}

/// A key object, which is null until a key is read.
pub struct OpensslKey(Cell<*mut c_void>);

impl OpensslKey {
    pub const fn new() -> Self {
        Self(Cell::new(null_mut()))
    }

    /// Makes the object from the bytes of a key. The function is called once.
    pub fn read(&self, key: &[u8]) -> bool {
        let Some(key) = key.get(LEVELS_LEN..) else { return false };
        let object = match ALGORITHM.0 {
            Encoding::Raw(name) => raw(name, key),
            Encoding::Point(curve) => point(curve, key),
            Encoding::Rsa => {
                let mut der = key.as_ptr();
                // SAFETY: pointer and length are those of the key; the function makes a new object.
                unsafe {
                    d2i_PublicKey(EVP_PKEY_RSA, null_mut(), &raw mut der, key.len() as c_long)
                }
            }
        };
        self.0.set(object);
        !object.is_null()
    }

    /// Returns true if the signature is genuine.
    pub fn verify(&self, case: &Case<'_>) -> bool {
        let mut encoded = [0; MAX_SIGNATURE_LEN];
        let signature = match ALGORITHM.0 {
            Encoding::Point(_) => match der::signature(case.signature, &mut encoded) {
                Some(signature) => signature,
                None => return false,
            },
            _ => match case.signature.get(LEVELS_LEN..) {
                Some(signature) => signature,
                None => return false,
            },
        };
        // SAFETY: the function makes a new object.
        let context = unsafe { EVP_MD_CTX_new() };
        let answer = self.start(context)
            // SAFETY: signature and message are passed with their lengths.
            && unsafe {
                EVP_DigestVerify(
                    context,
                    signature.as_ptr(),
                    signature.len(),
                    case.message.as_ptr(),
                    case.message.len(),
                )
            } == 1;
        // SAFETY: the context is not used any more.
        unsafe { EVP_MD_CTX_free(context) };
        if !answer {
            // SAFETY: the function only clears the error queue, as a caller does after it has handled an error.
            unsafe { ERR_clear_error() };
        }
        answer
    }

    fn start(&self, context: *mut c_void) -> bool {
        let mut key_context = null_mut();
        let digest = ALGORITHM.1.map_or(null(), CStr::as_ptr);
        // SAFETY: context and key are valid objects, and the digest is a name or null.
        let is_ready = unsafe {
            EVP_DigestVerifyInit_ex(
                context,
                &raw mut key_context,
                digest,
                null_mut(),
                null(),
                self.0.get(),
                null(),
            )
        } == 1;
        match ALGORITHM.0 {
            Encoding::Rsa => {
                is_ready
                    // SAFETY: the call above has set the context.
                    && unsafe { EVP_PKEY_CTX_set_rsa_padding(key_context, RSA_PKCS1_PSS_PADDING) } == 1
                    // SAFETY: the call above has set the context.
                    && unsafe { EVP_PKEY_CTX_set_rsa_pss_saltlen(key_context, RSA_PSS_SALTLEN_DIGEST) } == 1
            }
            _ => is_ready,
        }
    }
}

impl Drop for OpensslKey {
    fn drop(&mut self) {
        // SAFETY: the pointer is to the key's own object, or null.
        unsafe { EVP_PKEY_free(self.0.get()) };
    }
}

fn raw(name: &CStr, key: &[u8]) -> *mut c_void {
    // SAFETY: the name is a C string, and the key is passed with its length.
    unsafe {
        EVP_PKEY_new_raw_public_key_ex(null_mut(), name.as_ptr(), null(), key.as_ptr(), key.len())
    }
}

fn point(curve: &CStr, key: &[u8]) -> *mut c_void {
    let parameter = |name: &'static CStr, data_type, data, data_size| Parameter {
        key: name.as_ptr(),
        data_type,
        data,
        data_size,
        return_size: OSSL_PARAM_UNMODIFIED,
    };
    let parameters = [
        parameter(c"group", OSSL_PARAM_UTF8_STRING, curve.as_ptr().cast(), curve.count_bytes()),
        parameter(c"pub", OSSL_PARAM_OCTET_STRING, key.as_ptr().cast(), key.len()),
        Parameter { key: null(), data_type: 0, data: null(), data_size: 0, return_size: 0 },
    ];
    let mut object = null_mut();
    // SAFETY: the name is a C string.
    let context = unsafe { EVP_PKEY_CTX_new_from_name(null_mut(), c"EC".as_ptr(), null()) };
    // SAFETY: the context is an object or null, which the function refuses.
    if unsafe { EVP_PKEY_fromdata_init(context) } == 1 {
        // SAFETY: the last parameter has no name, which ends the list; the object stays null if the function
        // refuses the parameters.
        unsafe {
            EVP_PKEY_fromdata(context, &raw mut object, EVP_PKEY_PUBLIC_KEY, parameters.as_ptr())
        };
    }
    // SAFETY: the context is not used any more.
    unsafe { EVP_PKEY_CTX_free(context) };
    object
}
