//! These tests check refusals, lanes and the known-answer test. `tests/hash_based_differential.rs`
//! compares the results of the algorithms with a second implementation.

use std::vec::Vec;

use super::*;
use crate::short::{LANES, fake};

fn scheme_sets() -> impl Iterator<Item = (Scheme, u32)> {
    (1..=0x15).map(|oid| (Scheme::Xmss, oid)).chain((1..=0x38).map(|oid| (Scheme::XmssMt, oid)))
}

/// Returns a key, and random bytes as a signature with an index in range.
fn case(scheme: Scheme, oid: u32) -> (Vec<u8>, Vec<u8>) {
    let mut random = fake::random(u64::from(oid) << 1 | u64::from(scheme == Scheme::XmssMt));
    let set = XmssParameterSet::of(scheme, oid).unwrap();
    let mut bytes = |len| (0..len).map(|_| random() as u8).collect::<Vec<_>>();
    let (mut key, mut signature) = (bytes(set.public_key_len()), bytes(set.signature_len()));
    key[..4].copy_from_slice(&oid.to_be_bytes());
    let index_len = set.index_len;
    let index = u64::from_be_bytes(*signature.last_chunk().unwrap()) >> (64 - set.h);
    signature[..index_len].copy_from_slice(&index.to_be_bytes()[8 - index_len..]);
    (key, signature)
}

#[test]
fn lanes_compute_the_same_as_one_by_one() {
    for (scheme, oid) in scheme_sets() {
        // The largest sets take the longest time and only have more layers, so they are skipped.
        if scheme == Scheme::XmssMt && oid % 8 >= 5 {
            continue;
        }
        let (key, signature) = case(scheme, oid);
        let root = |kernels: &Kernels| {
            let every = Sets::Every;
            compare(kernels, scheme, every, &key, &[b"message"], &signature).unwrap().computed
        };
        let expected = root(&Kernels::PORTABLE);
        for lanes in [2, 3, 4, 8, LANES, 16] {
            assert_eq!(root(&fake::kernels(lanes)), expected, "{scheme:?} {oid:#x} {lanes} lanes");
        }
    }
}

#[test]
fn self_test_passes_and_notices_a_kernel_that_computes_nonsense() {
    assert!(self_test(&Kernels::PORTABLE));
    assert!(self_test(&fake::kernels(4)));
    assert!(!self_test(&fake::broken()));
}

#[test]
fn every_length_but_one_is_refused() {
    for (scheme, oid) in [(Scheme::Xmss, 0x0d), (Scheme::Xmss, 1), (Scheme::XmssMt, 0x22)] {
        let (key, signature) = case(scheme, oid);
        let check = |key: &[u8], signature: &[u8]| {
            verify(&Kernels::PORTABLE, scheme, Sets::Approved, key, &[b""], signature)
        };
        let longer = |bytes: &[u8]| [bytes, &[0; 70]].concat();
        let long_key = longer(&key);
        for len in (0..long_key.len()).filter(|len| *len != key.len()) {
            assert_eq!(check(&long_key[..len], &signature), Err(Rejection::InvalidKey), "{len}");
        }
        let long_signature = longer(&signature);
        for len in (0..long_signature.len()).filter(|len| *len != signature.len()) {
            let result = check(&key, &long_signature[..len]);
            assert_eq!(result, Err(Rejection::SignatureLength), "{len}");
        }
    }
}

#[test]
fn an_index_beyond_the_tree_is_refused() {
    for (scheme, oid) in scheme_sets() {
        let set = XmssParameterSet::of(scheme, oid).unwrap();
        let (key, mut signature) = case(scheme, oid);
        let bits = 8 * set.index_len as u32;
        for index in (set.h..bits).map(|bit| 1_u64 << bit).chain([u64::MAX >> (64 - bits)]) {
            if index >> set.h == 0 {
                // The index field has no bits above a height that is a multiple of 8.
                continue;
            }
            let bytes = &index.to_be_bytes()[8 - set.index_len..];
            signature[..set.index_len].copy_from_slice(bytes);
            let result = verify(&Kernels::PORTABLE, scheme, Sets::Every, &key, &[b""], &signature);
            assert_eq!(result, Err(Rejection::IndexOutOfRange), "{scheme:?} {oid:#x} {index:#x}");
        }
    }
}

#[test]
fn unknown_sets_are_unsupported() {
    let (key, signature) = case(Scheme::Xmss, 1);
    for (scheme, oids) in [
        (Scheme::Xmss, [0, 0x16, 0x38, 0x0100_0000, u32::MAX]),
        (Scheme::XmssMt, [0, 0x39, 0x100, 0x0100_0000, u32::MAX]),
    ] {
        for oid in oids {
            let mut key = key.clone();
            key[..4].copy_from_slice(&oid.to_be_bytes());
            let result = verify(&Kernels::PORTABLE, scheme, Sets::Every, &key, &[b""], &signature);
            assert_eq!(result, Err(Rejection::UnsupportedKey), "{scheme:?} {oid:#x}");
        }
    }
}

#[test]
fn sets_are_refused_by_default_unless_approved() {
    for (scheme, oid) in scheme_sets() {
        let (key, signature) = case(scheme, oid);
        // The sets of RFC 8391 have the lowest numbers. SP 800-208 approves only those of them with
        // SHA-256 and 32 bytes.
        let (of_sha256, of_rfc) = if scheme == Scheme::Xmss { (3, 12) } else { (8, 32) };
        let is_approved = oid <= of_sha256 || oid > of_rfc;
        assert_eq!(XmssParameterSet::of(scheme, oid).unwrap().is_approved(), is_approved);
        if !is_approved {
            let sets = Sets::default();
            let result = verify(&Kernels::PORTABLE, scheme, sets, &key, &[b""], &signature);
            assert_eq!(result, Err(Rejection::UnsupportedKey), "{scheme:?} {oid:#x}");
        }
    }
}

#[test]
fn every_byte_of_key_signature_and_message_counts() {
    let (key, signature) = case(Scheme::Xmss, 0x0d);
    let root = |key: &[u8], message: &[u8], signature: &[u8]| {
        compare(&Kernels::PORTABLE, Scheme::Xmss, Sets::Approved, key, &[message], signature)
            .map(|comparison| comparison.computed)
    };
    let expected = root(&key, b"message", &signature);
    assert!(expected.is_ok());
    let mut random = fake::random(7);
    let flipped = |bytes: &[u8], at: usize, bit: u64| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1 << (bit % 8);
        bytes
    };
    for at in 0..key.len() {
        assert_ne!(root(&flipped(&key, at, random()), b"message", &signature), expected, "{at}");
    }
    for at in 0..signature.len() {
        let changed = flipped(&signature, at, random());
        assert_ne!(root(&key, b"message", &changed), expected, "{at}");
    }
    for message in [b"messagf".as_slice(), b"messag", b"message\0", b""] {
        assert_ne!(root(&key, message, &signature), expected);
    }
}

#[test]
fn zeros_and_ones_are_refused() {
    for (scheme, oid) in [(Scheme::Xmss, 1), (Scheme::Xmss, 0x0d), (Scheme::XmssMt, 1)] {
        let set = XmssParameterSet::of(scheme, oid).unwrap();
        for byte in [0, 0xff] {
            let mut key = std::vec![byte; set.public_key_len()];
            key[..4].copy_from_slice(&oid.to_be_bytes());
            let mut signature = std::vec![byte; set.signature_len()];
            let check = |signature: &[u8]| {
                verify(&Kernels::PORTABLE, scheme, Sets::Approved, &key, &[b""], signature)
            };
            if byte == 0xff {
                assert_eq!(check(&signature), Err(Rejection::IndexOutOfRange));
                signature[..set.index_len].fill(0);
            }
            assert_eq!(check(&signature), Err(Rejection::Mismatch));
        }
    }
}
