//! Signatures of every algorithm with one fault in a bit, the length, a field, the key, or the stated algorithm.

use hartlock_image::Reason::{
    PublicKeyInvalid, PublicKeyUnsupported, SignatureBlockSizes, SignatureIndexOutOfRange,
    SignatureMismatch, SignatureNotCanonical, SignatureParametersDiffer,
};

use super::row::{Row, bad};
use crate::bundle::Edit::Draft as Fields;
use crate::bundle::{Block, Changes, Draft};
use crate::signers;

const SYSTEM: fn() -> Draft = Draft::system;

/// The offset of the second public key in a signature by `signers::HSS`. A signature has 4 bytes with the number of
/// signed keys; then the signature of the top tree (index, type, C and 26 chains of 24 bytes, type, path of 5 nodes)
/// and the signed key of 48 bytes.
const HSS_SECOND_KEY: usize = 4 + 4 + 4 + 27 * 24 + 4 + 5 * 24;
const HSS_SECOND_SIGNATURE: usize = HSS_SECOND_KEY + 48;

/// A bundle that one key has signed, with a change to its signature block.
macro_rules! changed {
    ($name:literal, $reason:expr, $signer:ident, $why:literal, $field:ident: $change:expr) => {
        bad(
            $name,
            $reason,
            SYSTEM,
            $why,
            &[Fields(|draft| {
                let changes = Changes { $field: $change, ..Changes::NONE };
                draft.blocks = vec![Block::Edited(&signers::$signer, changes)];
            })],
        )
    };
}

macro_rules! flipped {
    ($name:literal, $signer:ident) => {
        changed!(
            $name,
            SignatureMismatch,
            $signer,
            "A bit in the middle of the signature was flipped.",
            signature: |signature| {
                let middle = signature.len() / 2;
                signature[middle] ^= 0x10;
            }
        )
    };
}

macro_rules! shortened {
    ($name:literal, $signer:ident) => {
        changed!(
            $name,
            SignatureBlockSizes,
            $signer,
            "The signature lacks its last byte, and its size says so.",
            signature: |signature| signature.truncate(signature.len() - 1)
        )
    };
}

macro_rules! lengthened {
    ($name:literal, $signer:ident) => {
        changed!(
            $name,
            SignatureBlockSizes,
            $signer,
            "A byte follows the signature, and its size says so.",
            signature: |signature| signature.push(0)
        )
    };
}

macro_rules! filled {
    ($name:literal, $reason:expr, $signer:ident, $byte:literal) => {
        changed!(
            $name,
            $reason,
            $signer,
            "All bytes of the signature are the same: no bit is set, or every one.",
            signature: |signature| signature.fill($byte)
        )
    };
}

pub const ROWS: &[Row] = &[
    flipped!("rsa_pss_2048_flipped", RSA_PSS_2048),
    flipped!("rsa_pss_3072_flipped", RSA_PSS_3072),
    flipped!("rsa_pss_4096_flipped", RSA_PSS_4096),
    flipped!("rsa_pkcs1_2048_flipped", RSA_PKCS1_2048),
    flipped!("rsa_pkcs1_3072_flipped", RSA_PKCS1_3072),
    flipped!("ecdsa_p256_flipped", ECDSA_P256),
    flipped!("ecdsa_p384_flipped", ECDSA_P384),
    flipped!("lms_flipped", LMS),
    flipped!("lms_192_flipped", LMS_192),
    flipped!("hss_flipped", HSS),
    flipped!("xmss_flipped", XMSS),
    flipped!("xmss_shake_flipped", XMSS_SHAKE),
    flipped!("xmss_mt_flipped", XMSS_MT),
    flipped!("ml_dsa_44_flipped", ML_DSA_44),
    flipped!("ml_dsa_65_flipped", ML_DSA_65),
    flipped!("ml_dsa_87_flipped", ML_DSA_87),
    flipped!("slh_dsa_128s_flipped", SLH_DSA_128S),
    flipped!("slh_dsa_192s_flipped", SLH_DSA_192S),
    flipped!("slh_dsa_shake_128f_flipped", SLH_DSA_SHAKE_128F),
    shortened!("rsa_pss_2048_one_byte_less", RSA_PSS_2048),
    lengthened!("rsa_pss_2048_one_byte_more", RSA_PSS_2048),
    filled!("rsa_pss_2048_zeros", SignatureMismatch, RSA_PSS_2048, 0),
    filled!("rsa_pss_2048_ones", SignatureNotCanonical, RSA_PSS_2048, 0xff),
    shortened!("ecdsa_p256_one_byte_less", ECDSA_P256),
    lengthened!("ecdsa_p256_one_byte_more", ECDSA_P256),
    filled!("ecdsa_p256_zeros", SignatureNotCanonical, ECDSA_P256, 0),
    filled!("ecdsa_p256_ones", SignatureNotCanonical, ECDSA_P256, 0xff),
    shortened!("lms_one_byte_less", LMS),
    lengthened!("lms_one_byte_more", LMS),
    filled!("lms_zeros", SignatureParametersDiffer, LMS, 0),
    filled!("lms_ones", SignatureParametersDiffer, LMS, 0xff),
    shortened!("xmss_one_byte_less", XMSS),
    lengthened!("xmss_one_byte_more", XMSS),
    filled!("xmss_zeros", SignatureMismatch, XMSS, 0),
    filled!("xmss_ones", SignatureIndexOutOfRange, XMSS, 0xff),
    shortened!("xmss_mt_one_byte_less", XMSS_MT),
    lengthened!("xmss_mt_one_byte_more", XMSS_MT),
    filled!("xmss_mt_zeros", SignatureMismatch, XMSS_MT, 0),
    filled!("xmss_mt_ones", SignatureIndexOutOfRange, XMSS_MT, 0xff),
    shortened!("ml_dsa_44_one_byte_less", ML_DSA_44),
    lengthened!("ml_dsa_44_one_byte_more", ML_DSA_44),
    filled!("ml_dsa_44_zeros", SignatureNotCanonical, ML_DSA_44, 0),
    filled!("ml_dsa_44_ones", SignatureNotCanonical, ML_DSA_44, 0xff),
    shortened!("slh_dsa_128s_one_byte_less", SLH_DSA_128S),
    lengthened!("slh_dsa_128s_one_byte_more", SLH_DSA_128S),
    filled!("slh_dsa_128s_zeros", SignatureMismatch, SLH_DSA_128S, 0),
    filled!("slh_dsa_128s_ones", SignatureMismatch, SLH_DSA_128S, 0xff),
    changed!(
        "lms_one_level_more",
        SignatureParametersDiffer,
        LMS,
        "The signature announces a signed key before it, and its key has one level.",
        signature: |signature| signature[3] = 1
    ),
    changed!(
        "lms_index_behind_last",
        SignatureIndexOutOfRange,
        LMS,
        "The index is 2^5, the first that the tree does not have.",
        signature: |signature| signature[4..8].copy_from_slice(&32_u32.to_be_bytes())
    ),
    changed!(
        "lms_index_huge",
        SignatureIndexOutOfRange,
        LMS,
        "The index is 2^32 - 1.",
        signature: |signature| signature[4..8].fill(0xff)
    ),
    changed!(
        "lms_ots_type_differs",
        SignatureParametersDiffer,
        LMS,
        "The signature is of W8, the key of W4.",
        signature: |signature| signature[11] = 4
    ),
    changed!(
        "lms_tree_type_differs",
        SignatureParametersDiffer,
        LMS,
        "The signature is of height 10, the key of height 5.",
        signature: |signature| signature[8 + 4 + 32 + 67 * 32 + 3] = 6
    ),
    changed!(
        "lms_key_of_other_type",
        PublicKeyInvalid,
        LMS,
        "The key's own type is of height 10, its record says height 5.",
        public_key: |key| key[7] = 6
    ),
    changed!(
        "lms_key_of_two_levels",
        PublicKeyInvalid,
        LMS,
        "The key itself says two levels, its record one.",
        public_key: |key| key[3] = 2
    ),
    shortened!("hss_one_byte_less", HSS),
    lengthened!("hss_one_byte_more", HSS),
    changed!(
        "hss_count_of_levels_differs",
        SignatureParametersDiffer,
        HSS,
        "The signature announces six signed keys, and its key has eight levels.",
        signature: |signature| signature[3] = 6
    ),
    changed!(
        "hss_lower_type_not_listed",
        PublicKeyUnsupported,
        HSS,
        "The tree below the top is of LMS type 15, which is not in the list.",
        signature: |signature| signature[HSS_SECOND_KEY + 3] = 15
    ),
    changed!(
        "hss_lower_ots_type_not_listed",
        PublicKeyUnsupported,
        HSS,
        "The tree below the top is of LM-OTS type 9, which is not in the list.",
        signature: |signature| signature[HSS_SECOND_KEY + 7] = 9
    ),
    changed!(
        "hss_lower_type_of_other_hash",
        SignatureParametersDiffer,
        HSS,
        "The tree below the top is of LMS type 5 with SHA-256, the one at the top has SHA-256/192.",
        signature: |signature| signature[HSS_SECOND_KEY + 3] = 5
    ),
    changed!(
        "hss_lower_ots_type_of_other_hash",
        SignatureParametersDiffer,
        HSS,
        "The tree below the top is of LM-OTS type 4 with SHA-256, the one at the top has SHA-256/192.",
        signature: |signature| signature[HSS_SECOND_KEY + 7] = 4
    ),
    changed!(
        "hss_lower_signature_of_other_type",
        SignatureParametersDiffer,
        HSS,
        "The second signature is of another LM-OTS type than the key that it is checked with.",
        signature: |signature| signature[HSS_SECOND_SIGNATURE + 7] = 7
    ),
    changed!(
        "hss_lower_index_behind_last",
        SignatureIndexOutOfRange,
        HSS,
        "The index of the second signature is 2^5, the first that its tree does not have.",
        signature: |signature| {
            let index = &mut signature[HSS_SECOND_SIGNATURE..HSS_SECOND_SIGNATURE + 4];
            index.copy_from_slice(&32_u32.to_be_bytes());
        }
    ),
    changed!(
        "xmss_index_behind_last",
        SignatureIndexOutOfRange,
        XMSS,
        "The index is 2^10, the first that the tree does not have.",
        signature: |signature| signature[..4].copy_from_slice(&1024_u32.to_be_bytes())
    ),
    changed!(
        "xmss_index_huge",
        SignatureIndexOutOfRange,
        XMSS,
        "The index is 2^32 - 1.",
        signature: |signature| signature[..4].fill(0xff)
    ),
    changed!(
        "xmss_index_of_neighbour",
        SignatureMismatch,
        XMSS,
        "The index is that of the next leaf.",
        signature: |signature| signature[3] ^= 1
    ),
    changed!(
        "xmss_mt_index_behind_last",
        SignatureIndexOutOfRange,
        XMSS_MT,
        "The index is 2^20, the first that the trees do not have.",
        signature: |signature| signature[..3].copy_from_slice(&[0x10, 0, 0])
    ),
    changed!(
        "xmss_key_of_other_set",
        PublicKeyInvalid,
        XMSS,
        "The key's own OID is of height 16, its record says height 10.",
        public_key: |key| key[3] = 2
    ),
    changed!(
        "xmss_under_xmss_mt",
        SignatureBlockSizes,
        XMSS,
        "A key and a signature of XMSS under the number of XMSS^MT.",
        algorithm: Some("xmssmt-sha2-20-2-256")
    ),
    changed!(
        "rsa_exponent_65539",
        PublicKeyUnsupported,
        RSA_PSS_2048,
        "The key's exponent is 65,539; all but 65,537 are unsupported.",
        public_key: |key| *key.last_mut().expect("a key") = 3
    ),
    changed!(
        "rsa_key_not_der",
        PublicKeyInvalid,
        RSA_PSS_2048,
        "The key is an OCTET STRING where a SEQUENCE should be.",
        public_key: |key| key[0] = 4
    ),
    changed!(
        "rsa_modulus_negative",
        PublicKeyInvalid,
        RSA_PSS_2048,
        "The first byte of the modulus, which is its sign, is 0xFF.",
        public_key: |key| key[8] = 0xff
    ),
    changed!(
        "rsa_key_longer_than_its_sequence",
        PublicKeyInvalid,
        RSA_PSS_2048,
        "The SEQUENCE of the key ends before the last byte of the exponent.",
        public_key: |key| key[3] -= 1
    ),
    changed!(
        "rsa_length_with_leading_zero",
        PublicKeyInvalid,
        RSA_PSS_2048,
        "The length of the modulus has three bytes where two are enough; the exponent is 257.",
        public_key: |key| {
            let modulus = key[9..265].to_vec();
            key.truncate(4);
            key.extend([2, 0x83, 0, 1, 1, 0]);
            key.extend(modulus);
            key.extend([2, 2, 1, 1]);
        }
    ),
    changed!(
        "rsa_modulus_of_2047_bits",
        PublicKeyUnsupported,
        RSA_PSS_2048,
        "The modulus has a bit less than its record says; a longer exponent makes up for its sign.",
        public_key: |key| {
            let mut modulus = key[9..265].to_vec();
            modulus[0] &= 0x7f;
            modulus[0] |= 0x40;
            key.truncate(4);
            key.extend([2, 0x82, 1, 0]);
            key.extend(modulus);
            key.extend([2, 4, 1, 0, 0, 1]);
        }
    ),
    changed!(
        "rsa_modulus_even",
        PublicKeyInvalid,
        RSA_PSS_2048,
        "The modulus of the key is even.",
        public_key: |key| { let last = key.len() - 6; key[last] &= 0xfe }
    ),
    changed!(
        "rsa_value_not_below_modulus",
        SignatureNotCanonical,
        RSA_PKCS1_2048,
        "The signature as a number is not below the modulus.",
        signature: |signature| signature[..8].fill(0xff)
    ),
    changed!(
        "rsa_pss_of_another_message",
        SignatureMismatch,
        RSA_PSS_2048,
        "The padding is right, and the digest in it is that of another message.",
        sign: |signer, _| signer.sign(b"another message")
    ),
    changed!(
        "rsa_pss_salt_one_byte_less",
        SignatureMismatch,
        RSA_PSS_2048,
        "A right signature with a salt of 31 bytes.",
        sign: |signer, message| signer.sign_with_salt(message, 31)
    ),
    changed!(
        "rsa_pss_salt_one_byte_more",
        SignatureMismatch,
        RSA_PSS_2048,
        "A right signature with a salt of 33 bytes.",
        sign: |signer, message| signer.sign_with_salt(message, 33)
    ),
    changed!(
        "rsa_pss_without_salt",
        SignatureMismatch,
        RSA_PSS_2048,
        "A right signature without a salt.",
        sign: |signer, message| signer.sign_with_salt(message, 0)
    ),
    changed!(
        "rsa_pss_under_pkcs1",
        SignatureMismatch,
        RSA_PSS_2048,
        "A signature with PSS under the number of PKCS#1 v1.5.",
        algorithm: Some("rsa-pkcs1-2048-sha256")
    ),
    changed!(
        "rsa_pss_under_other_hash",
        SignatureMismatch,
        RSA_PSS_2048,
        "A signature with SHA-256 under the number of SHA-512.",
        algorithm: Some("rsa-pss-2048-sha512")
    ),
    changed!(
        "rsa_2048_under_3072",
        SignatureBlockSizes,
        RSA_PSS_2048,
        "A key of 2,048 bits under the number of 3,072.",
        algorithm: Some("rsa-pss-3072-sha256")
    ),
    changed!(
        "ecdsa_r_zero",
        SignatureNotCanonical,
        ECDSA_P256,
        "r is zero, which no signature has.",
        signature: |signature| signature[..32].fill(0)
    ),
    changed!(
        "ecdsa_s_zero",
        SignatureNotCanonical,
        ECDSA_P256,
        "s is zero, which no signature has.",
        signature: |signature| signature[32..].fill(0)
    ),
    changed!(
        "ecdsa_s_huge",
        SignatureNotCanonical,
        ECDSA_P384,
        "s is not below the order of the group.",
        signature: |signature| signature[48..].fill(0xff)
    ),
    changed!(
        "ecdsa_key_off_curve",
        PublicKeyInvalid,
        ECDSA_P256,
        "The key is no point of the curve.",
        public_key: |key| key[64] ^= 1
    ),
    changed!(
        "ecdsa_key_hybrid_form",
        PublicKeyInvalid,
        ECDSA_P384,
        "The key begins with 06, the hybrid form of a point.",
        public_key: |key| key[0] = 6
    ),
    changed!(
        "ecdsa_p256_under_p384",
        SignatureBlockSizes,
        ECDSA_P256,
        "A key and a signature of P-256 under the number of P-384.",
        algorithm: Some("ecdsa-p384")
    ),
    changed!(
        "ml_dsa_hint_count_too_large",
        SignatureNotCanonical,
        ML_DSA_44,
        "The hint counts more ones than there may be.",
        signature: |signature| *signature.last_mut().expect("a signature") = 0xff
    ),
    changed!(
        "ml_dsa_hint_out_of_order",
        SignatureNotCanonical,
        ML_DSA_87,
        "The first polynomial of the hint has two ones in descending order.",
        signature: |signature| {
            let at = signature.len() - 83;
            signature[at..at + 2].copy_from_slice(&[9, 8]);
            signature[at + 75..].fill(2)
        }
    ),
    changed!(
        "ml_dsa_44_under_65",
        SignatureBlockSizes,
        ML_DSA_44,
        "A key and a signature of ML-DSA-44 under the number of ML-DSA-65.",
        algorithm: Some("ml-dsa-65")
    ),
    changed!(
        "slh_dsa_sha2_under_shake",
        SignatureMismatch,
        SLH_DSA_128S,
        "A signature with SHA-256 under the number of SHAKE256.",
        algorithm: Some("slh-dsa-shake-128s")
    ),
    changed!(
        "slh_dsa_small_under_fast",
        SignatureBlockSizes,
        SLH_DSA_128S,
        "A small signature under the number of a fast one.",
        algorithm: Some("slh-dsa-sha2-128f")
    ),
];
