//! The payloads of all cores, and their correct results.

use num_bigint::BigUint;
use sha2::{Digest, Sha256};

use hartlock_hw::machines::{ciphertexts, digests};

#[cfg_attr(not(test), expect(dead_code, reason = "results follow from the public parts of keys"))]
#[path = "../../../verif/programs/accelerator/src/operands.rs"]
mod operands;

pub use operands::SIZES;
use operands::{AES_BLOCK_LEN, AES_KEY_LEN, EXPONENT, GCM_IV_LEN, HEADER, RSA_512, RSA_1024};

/// Unit of all costs.
pub const CYCLES_PER_BYTE: &str = "cycles/byte";

/// Returns the correct result in hexadecimal; `None` for an unknown function or payload size.
pub fn result(what: &str, bytes: usize) -> Option<String> {
    match what {
        "aes-256-cbc" => aes_256_cbc(bytes),
        "aes-256-ctr" => {
            let iv: [u8; AES_BLOCK_LEN] = std::array::from_fn(operands::iv_byte);
            Some(hex(&Sha256::digest(ciphertexts::ctr(&key(), &iv, &payload(bytes)))))
        }
        // The result is a digest of ciphertext and tag.
        "aes-256-gcm" => {
            let iv: [u8; GCM_IV_LEN] = std::array::from_fn(operands::iv_byte);
            Some(hex(&Sha256::digest(ciphertexts::seal(&key(), &iv, HEADER, &payload(bytes)))))
        }
        "rsa-512-public" => power(&RSA_512.n, bytes),
        "rsa-1024-public" => power(&RSA_1024.n, bytes),
        // The input of a decryption is the result of the encryption, which is compared, too.
        "rsa-512-private" if bytes == RSA_512.n.len() => Some(hex(&payload(bytes))),
        "rsa-1024-private" if bytes == RSA_1024.n.len() => Some(hex(&payload(bytes))),
        _ => digests::digest(what, &digests::message(0, bytes)),
    }
}

fn key() -> [u8; AES_KEY_LEN] {
    std::array::from_fn(operands::key_byte)
}

fn payload(bytes: usize) -> Vec<u8> {
    (0..bytes).map(operands::payload_byte).collect()
}

/// Returns a digest of the ciphertext.
fn aes_256_cbc(bytes: usize) -> Option<String> {
    let iv: [u8; AES_BLOCK_LEN] = std::array::from_fn(operands::iv_byte);
    if !bytes.is_multiple_of(AES_BLOCK_LEN) {
        return None;
    }
    Some(hex(&Sha256::digest(ciphertexts::cbc(&key(), &iv, &payload(bytes)))))
}

/// Returns the payload to the power of the public exponent.
fn power(modulus: &[u8], bytes: usize) -> Option<String> {
    if bytes != modulus.len() {
        return None;
    }
    let number = |bytes: &[u8]| BigUint::from_bytes_be(bytes);
    let power = number(&payload(bytes)).modpow(&number(&EXPONENT), &number(modulus)).to_bytes_be();
    let zeros = vec![0; bytes - power.len()];
    Some(hex(&[zeros, power].concat()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SP 800-38A, F.2.5, uses another key, so the mode is checked with the block cipher of FIPS 197.
    #[test]
    fn the_first_block_is_that_of_the_cipher_alone() {
        use aes::Aes256;
        use aes::cipher::{BlockCipherEncrypt, KeyInit};
        let mut block: [u8; AES_BLOCK_LEN] =
            std::array::from_fn(|at| operands::payload_byte(at) ^ operands::iv_byte(at));
        Aes256::new(&key().into()).encrypt_block((&mut block).into());
        assert_eq!(result("aes-256-cbc", AES_BLOCK_LEN).unwrap(), hex(&Sha256::digest(block)));
        assert_eq!(result("aes-256-cbc", 63), None);
    }

    /// Checks the relations of RFC 8017 §3.2, and that blinding and unblinding cancel each other.
    #[test]
    fn keys_are_keys() {
        fn check<const WHOLE: usize, const HALF: usize>(key: &operands::Key<WHOLE, HALF>) {
            let number = |bytes: &[u8]| BigUint::from_bytes_be(bytes);
            let one = BigUint::from(1_u8);
            let (n, p, q) = (number(&key.n), number(&key.p), number(&key.q));
            let exponent = number(&EXPONENT);
            assert_eq!(n, &p * &q);
            assert_eq!(n.bits(), 8 * WHOLE as u64);
            assert_eq!(number(&key.dp) * &exponent % (&p - &one), one);
            assert_eq!(number(&key.dq) * &exponent % (&q - &one), one);
            assert_eq!(number(&key.iq) * &q % &p, one);
            let inverse = number(&key.unblinding).modpow(&exponent, &n);
            assert_eq!(inverse * number(&key.blinding) % &n, one);
        }
        check(&RSA_512);
        check(&RSA_1024);
    }

    #[test]
    fn a_result_has_the_length_of_its_modulus() {
        assert_eq!(result("rsa-512-public", 64).unwrap().len(), 128);
        assert_eq!(result("rsa-1024-private", 128), Some(hex(&payload(128))));
        assert_eq!(result("rsa-512-public", 128), None);
        assert_eq!(result("rsa-1024-private", 64), None);
    }
}
