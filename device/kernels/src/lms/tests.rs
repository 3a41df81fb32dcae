//! These tests check refusals, lanes and the known-answer test. `tests/hash_based_differential.rs` compares the
//! results of the algorithms with second implementations.

use std::vec::Vec;

use super::*;
use crate::short::fake;

const KERNELS: &Kernels = &Kernels::PORTABLE;

/// Returns a key with a wrong root, and random bytes as a signature.
fn case(lms_type: u32, ots_type: u32) -> (Vec<u8>, Vec<u8>) {
    let mut random = fake::random(u64::from(lms_type) << 8 | u64::from(ots_type));
    let mut bytes = |len| (0..len).map(|_| random() as u8).collect::<Vec<_>>();
    let ((h, n), ots) = (tree_of(lms_type).unwrap(), Ots::of(ots_type).unwrap());
    let types = [lms_type, ots_type].map(u32::to_be_bytes).concat();
    let key = [types, bytes(16 + n)].concat();
    let q = (bytes(1)[0] & 31).into();
    let [q, lms_type, ots_type] = [q, lms_type, ots_type].map(u32::to_be_bytes);
    let one_time = bytes(ots.signature_len());
    let path = bytes(n * h as usize);
    (key, [&q[..], &ots_type, &one_time, &lms_type, &path].concat())
}

/// Returns a key with the root that the signature gives, and the signature.
fn valid_case(lms_type: u32, ots_type: u32, message: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut key, signature) = case(lms_type, ots_type);
    let root = compare(KERNELS, &key, &[message], &signature).unwrap().computed;
    let root_len = key.len() - 24;
    key[24..].copy_from_slice(&root[..root_len]);
    (key, signature)
}

#[test]
fn lanes_compute_the_same_as_one_by_one() {
    for ots_type in 1..=8 {
        let lms_type = if ots_type <= 4 { 5 } else { 0x0a };
        let (key, signature) = case(lms_type, ots_type);
        let root =
            |kernels: &Kernels| compare(kernels, &key, &[b"message"], &signature).unwrap().computed;
        for lanes in [2, 3, 4, 8, 9, 16] {
            assert_eq!(root(&fake::kernels(lanes)), root(KERNELS), "{ots_type} {lanes} lanes");
        }
    }
}

#[test]
fn self_test_passes_and_notices_a_kernel_that_computes_nonsense() {
    assert!(self_test(KERNELS));
    assert!(self_test(&fake::kernels(4)));
    assert!(!self_test(&fake::broken()));
}

#[test]
fn every_length_but_one_is_refused() {
    for (lms_type, ots_type) in [(5, 4), (0x0a, 8), (6, 3)] {
        let (key, signature) = valid_case(lms_type, ots_type, b"");
        assert_eq!(verify(KERNELS, &key, &[b""], &signature), Ok(()));
        let longer = |bytes: &[u8]| [bytes, &[0; 70]].concat();
        let long_key = longer(&key);
        for len in (0..long_key.len()).filter(|len| *len != key.len()) {
            let result = verify(KERNELS, &long_key[..len], &[b""], &signature);
            assert_eq!(result, Err(Rejection::InvalidKey), "{len}");
        }
        let long_signature = longer(&signature);
        for len in (0..long_signature.len()).filter(|len| *len != signature.len()) {
            let result = verify(KERNELS, &key, &[b""], &long_signature[..len]);
            assert_eq!(result, Err(Rejection::SignatureLength), "{len}");
        }
    }
}

/// Returns `bytes` with `value` at offset `at`.
fn with(bytes: &[u8], at: usize, value: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
    bytes
}

#[test]
fn types_have_to_be_known_and_to_agree() {
    let (key, signature) = valid_case(5, 4, b"");
    let tree_type_at = 8 + 35 * 32;
    for lms_type in [0, 4, 0x0f, 0x18, 0x0500_0000, u32::MAX] {
        let result = verify(KERNELS, &with(&key, 0, lms_type), &[b""], &signature);
        assert_eq!(result, Err(Rejection::UnsupportedKey), "{lms_type:#x}");
    }
    for ots_type in [0, 9, 0x10, 0x0400_0000, u32::MAX] {
        let result = verify(KERNELS, &with(&key, 4, ots_type), &[b""], &signature);
        assert_eq!(result, Err(Rejection::UnsupportedKey), "{ots_type:#x}");
    }
    // The hash values have 32 bytes in the tree and 24 in the one-time signature, or the opposite.
    for mixed in [with(&key, 4, 8), with(&key, 0, 0x0a)] {
        let result = verify(KERNELS, &mixed, &[b""], &signature);
        assert_eq!(result, Err(Rejection::InvalidKey));
    }
    for ots_type in [0, 3, 8, u32::MAX] {
        let result = verify(KERNELS, &key, &[b""], &with(&signature, 4, ots_type));
        assert_eq!(result, Err(Rejection::OtherParameters), "{ots_type:#x}");
    }
    for lms_type in [0, 6, 0x0a, u32::MAX] {
        let result = verify(KERNELS, &key, &[b""], &with(&signature, tree_type_at, lms_type));
        assert_eq!(result, Err(Rejection::OtherParameters), "{lms_type:#x}");
    }
    // This is a complete signature of another parameter set.
    let (_, other) = valid_case(6, 3, b"");
    assert_eq!(verify(KERNELS, &key, &[b""], &other), Err(Rejection::OtherParameters));
}

#[test]
fn a_one_time_key_beyond_the_tree_is_refused() {
    for (lms_type, ots_type) in [(5, 4), (7, 4), (9, 4), (0x0e, 8)] {
        let (h, _) = tree_of(lms_type).unwrap();
        let (key, signature) = case(lms_type, ots_type);
        for q in (h..32).map(|bit| 1 << bit).chain([u32::MAX]) {
            let result = verify(KERNELS, &key, &[b""], &with(&signature, 0, q));
            assert_eq!(result, Err(Rejection::IndexOutOfRange), "{q:#x}");
        }
        let last = (1 << h) - 1;
        let result = verify(KERNELS, &key, &[b""], &with(&signature, 0, last));
        assert_eq!(result, Err(Rejection::Mismatch));
    }
}

#[test]
fn every_byte_of_key_signature_and_message_counts() {
    let mut random = fake::random(3);
    for (lms_type, ots_type) in [(5, 3), (0x0a, 7)] {
        let (key, signature) = valid_case(lms_type, ots_type, b"message");
        let mut flip = |bytes: &[u8], at: usize| {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= 1 << (random() % 8);
            bytes
        };
        for at in 0..key.len() {
            assert!(verify(KERNELS, &flip(&key, at), &[b"message"], &signature).is_err(), "{at}");
        }
        for at in 0..signature.len() {
            let changed = flip(&signature, at);
            assert!(verify(KERNELS, &key, &[b"message"], &changed).is_err(), "{at}");
        }
        for message in [b"messagf".as_slice(), b"messag", b"message\0", b""] {
            let result = verify(KERNELS, &key, &[message], &signature);
            assert_eq!(result, Err(Rejection::Mismatch));
        }
        let pieces: [&[u8]; 4] = [b"", b"mes", b"", b"sage"];
        assert_eq!(verify(KERNELS, &key, &pieces, &signature), Ok(()));
    }
}

#[test]
fn zeros_and_ones_are_refused() {
    for byte in [0, 0xff] {
        for len in [0, 4, 24, 48, 56, 60] {
            let key = std::vec![byte; len];
            let signature = std::vec![byte; 2508];
            assert!(verify(KERNELS, &key, &[b""], &signature).is_err());
            assert!(hss::verify(KERNELS, &key, &[b""], &signature).is_err());
        }
        let (key, signature) = case(5, 3);
        let (key, signature) = (
            [&key[..8], &std::vec![byte; key.len() - 8]].concat(),
            [
                &[0; 4][..],
                &signature[4..8],
                &std::vec![byte; 68 * 32],
                &signature[8 + 68 * 32..][..4],
                &std::vec![byte; 5 * 32],
            ]
            .concat(),
        );
        assert_eq!(verify(KERNELS, &key, &[b""], &signature), Err(Rejection::Mismatch));
    }
}

/// Returns an HSS key of two levels, a signature, and the offset of the signed key in it.
fn two_levels(message: &[u8]) -> (Vec<u8>, Vec<u8>, usize) {
    let (low_key, low) = valid_case(6, 4, message);
    let (high_key, high) = valid_case(5, 3, &low_key);
    let at = 4 + high.len();
    (
        [&2_u32.to_be_bytes()[..], &high_key].concat(),
        [&1_u32.to_be_bytes()[..], &high, &low_key, &low].concat(),
        at,
    )
}

#[test]
fn hss_refuses_counts_and_keys_that_are_none() {
    let (key, signature, at) = two_levels(b"");
    let check = |key: &[u8], signature: &[u8]| hss::verify(KERNELS, key, &[b""], signature);
    assert_eq!(check(&key, &signature), Ok(()));
    for levels in [0, 9, 0x0200_0000, u32::MAX] {
        assert_eq!(check(&with(&key, 0, levels), &signature), Err(Rejection::InvalidKey));
    }
    for levels in [1, 3, 8] {
        assert_eq!(check(&with(&key, 0, levels), &signature), Err(Rejection::OtherParameters));
    }
    for signed_keys in [0, 2, 7, 8, u32::MAX] {
        let changed = with(&signature, 0, signed_keys);
        assert_eq!(check(&key, &changed), Err(Rejection::OtherParameters), "{signed_keys}");
    }
    // The types of the key in the signature are unknown, or have a hash length that differs from the key above.
    for (offset, value) in [(0, 0), (0, 0x14), (4, 0), (4, 9)] {
        let changed = with(&signature, at + offset, value);
        assert_eq!(check(&key, &changed), Err(Rejection::UnsupportedKey), "{offset} {value}");
    }
    for (offset, value) in [(4, 8), (0, 0x0a)] {
        let changed = with(&signature, at + offset, value);
        assert_eq!(check(&key, &changed), Err(Rejection::OtherParameters), "{offset} {value}");
    }
    // The type is known, but the signature below has another type.
    let changed = with(&signature, at + 4, 3);
    assert_eq!(check(&key, &changed), Err(Rejection::OtherParameters));
    // Only the upper signature is wrong, in its one-time signature or in its path. In the third case a root was
    // changed that is signed.
    for place in [200, at - 1, at + 30] {
        let mut changed = signature.clone();
        changed[place] ^= 1;
        assert_eq!(check(&key, &changed), Err(Rejection::Mismatch), "{place}");
    }
    // LMS and HSS do not accept the encodings of each other.
    assert!(verify(KERNELS, &key, &[b""], &signature).is_err());
    assert!(check(&key[4..], &signature[4..]).is_err());
}

#[test]
fn hss_refuses_every_length_but_one() {
    let (key, signature, _) = two_levels(b"");
    let longer = |bytes: &[u8]| [bytes, &[0; 70]].concat();
    let long_key = longer(&key);
    for len in (0..long_key.len()).filter(|len| *len != key.len()) {
        let result = hss::verify(KERNELS, &long_key[..len], &[b""], &signature);
        assert_eq!(result, Err(Rejection::InvalidKey), "{len}");
    }
    let long_signature = longer(&signature);
    for len in (0..long_signature.len()).filter(|len| *len != signature.len()) {
        let result = hss::verify(KERNELS, &key, &[b""], &long_signature[..len]);
        assert_eq!(result, Err(Rejection::SignatureLength), "{len}");
    }
}

#[test]
fn hss_of_one_level_is_lms() {
    let (key, signature) = valid_case(5, 4, b"message");
    let (hss_key, hss_signature) =
        ([&1_u32.to_be_bytes()[..], &key].concat(), [&[0; 4][..], &signature].concat());
    assert_eq!(hss::verify(KERNELS, &hss_key, &[b"message"], &hss_signature), Ok(()));
    let result = hss::verify(KERNELS, &hss_key, &[b"messagf"], &hss_signature);
    assert_eq!(result, Err(Rejection::Mismatch));
}
