//! RSA of BearSSL, with each of its big-number implementations (`bearssl_rsa.h`).

use crate::operands::{EXPONENT, Key};

/// The C structure `br_rsa_public_key`.
#[repr(C)]
struct Public {
    n: *const u8,
    n_len: usize,
    e: *const u8,
    e_len: usize,
}

/// The C structure `br_rsa_private_key`.
#[repr(C)]
struct Private {
    n_bits: u32,
    p: *const u8,
    p_len: usize,
    q: *const u8,
    q_len: usize,
    dp: *const u8,
    dp_len: usize,
    dq: *const u8,
    dq_len: usize,
    iq: *const u8,
    iq_len: usize,
}

type Encrypt = unsafe extern "C" fn(*mut u8, usize, *const Public) -> u32;
type Decrypt = unsafe extern "C" fn(*mut u8, *const Private) -> u32;

/// An implementation of RSA.
pub struct RsaVariant {
    pub name: &'static str,
    public: Encrypt,
    private: Decrypt,
}

unsafe extern "C" {
    fn br_rsa_i15_public(x: *mut u8, len: usize, key: *const Public) -> u32;
    fn br_rsa_i15_private(x: *mut u8, key: *const Private) -> u32;
    fn br_rsa_i31_public(x: *mut u8, len: usize, key: *const Public) -> u32;
    fn br_rsa_i31_private(x: *mut u8, key: *const Private) -> u32;
    fn br_rsa_i32_public(x: *mut u8, len: usize, key: *const Public) -> u32;
    fn br_rsa_i32_private(x: *mut u8, key: *const Private) -> u32;
    fn br_rsa_i62_public(x: *mut u8, len: usize, key: *const Public) -> u32;
    fn br_rsa_i62_private(x: *mut u8, key: *const Private) -> u32;
}

/// All implementations, the fastest first. Those with the longest words are the fastest if a multiplication has a
/// 128-bit result.
pub const VARIANTS: [RsaVariant; 4] = [
    RsaVariant { name: "bearssl-i62", public: br_rsa_i62_public, private: br_rsa_i62_private },
    RsaVariant { name: "bearssl-i31", public: br_rsa_i31_public, private: br_rsa_i31_private },
    RsaVariant { name: "bearssl-i32", public: br_rsa_i32_public, private: br_rsa_i32_private },
    RsaVariant { name: "bearssl-i15", public: br_rsa_i15_public, private: br_rsa_i15_private },
];

impl RsaVariant {
    /// Computes RSAEP (RFC 8017 §5.1.1) in place. Returns false if the library refuses.
    pub fn encrypt<const WHOLE: usize, const HALF: usize>(
        &self,
        key: &Key<WHOLE, HALF>,
        text: &mut [u8; WHOLE],
    ) -> bool {
        let public =
            Public { n: key.n.as_ptr(), n_len: WHOLE, e: EXPONENT.as_ptr(), e_len: EXPONENT.len() };
        // SAFETY: pointers and lengths are those of the text and of arrays that the library only reads.
        unsafe { (self.public)(text.as_mut_ptr(), WHOLE, &raw const public) == 1 }
    }

    /// Computes RSADP (RFC 8017 §5.1.2) with both primes, in place. Returns false if the library refuses.
    pub fn decrypt<const WHOLE: usize, const HALF: usize>(
        &self,
        key: &Key<WHOLE, HALF>,
        text: &mut [u8; WHOLE],
    ) -> bool {
        let private = Private {
            // The highest bit of each modulus here is one.
            n_bits: 8 * WHOLE as u32,
            p: key.p.as_ptr(),
            p_len: HALF,
            q: key.q.as_ptr(),
            q_len: HALF,
            dp: key.dp.as_ptr(),
            dp_len: HALF,
            dq: key.dq.as_ptr(),
            dq_len: HALF,
            iq: key.iq.as_ptr(),
            iq_len: HALF,
        };
        // SAFETY: pointers and lengths are those of arrays that the library only reads; the text is as long as the
        // modulus.
        unsafe { (self.private)(text.as_mut_ptr(), &raw const private) == 1 }
    }
}
