//! These tests check properties that the public interface does not show: the numbers that a digest contains, and the
//! use of lanes with simulated kernels.

use super::*;
use crate::Tier;
use crate::dispatch::{Compress, MAX_LANES, Many};
use proptest::prelude::*;
use std::cell::RefCell;
use std::vec::Vec;

std::thread_local! {
    /// Number of messages in each kernel call of this thread.
    static CALLS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn note(states: usize, messages: &[&[u8]]) {
    assert_eq!(states, messages.len());
    assert!(messages.iter().all(|message| message.len() == messages[0].len()));
    CALLS.with_borrow_mut(|calls| calls.push(states));
}

fn calls_of(work: impl FnOnce()) -> Vec<usize> {
    CALLS.with_borrow_mut(Vec::clear);
    work();
    CALLS.with_borrow_mut(core::mem::take)
}

/// Returns kernels that count calls. They use the portable implementations with the given number of lanes, or without
/// lanes for `None`.
fn kernels(lanes: Option<usize>) -> Kernels {
    let mut kernels = Kernels::PORTABLE;
    kernels.sha256.one.run = Compress::Software(|state, blocks| {
        note(1, &[blocks.as_flattened()]);
        Kernels::PORTABLE.sha256.one.run.add(state, blocks);
    });
    kernels.sha512.one.run = Compress::Software(|state, blocks| {
        note(1, &[blocks.as_flattened()]);
        Kernels::PORTABLE.sha512.one.run.add(state, blocks);
    });
    kernels.keccak.one.run = |state, blocks, rate, rounds| {
        note(1, &[blocks]);
        (Kernels::PORTABLE.keccak.one.run)(state, blocks, rate, rounds);
    };
    let tier = Tier::Zvbb;
    let Some(lanes) = lanes else { return kernels };
    kernels.sha256.many = Some(Many {
        tier,
        lanes,
        run: |states, messages| {
            note(states.len(), messages);
            for (state, message) in states.iter_mut().zip(messages) {
                Kernels::PORTABLE.sha256.one.run.add(state, message.as_chunks().0);
            }
        },
    });
    kernels.sha512.many = Some(Many {
        tier,
        lanes,
        run: |states, messages| {
            note(states.len(), messages);
            for (state, message) in states.iter_mut().zip(messages) {
                Kernels::PORTABLE.sha512.one.run.add(state, message.as_chunks().0);
            }
        },
    });
    kernels.keccak.many = Some(Many {
        tier,
        lanes,
        run: |states, messages, rate, rounds| {
            note(states.len(), messages);
            for (state, message) in states.iter_mut().zip(messages) {
                (Kernels::PORTABLE.keccak.one.run)(state, message, rate, rounds);
            }
        },
    });
    kernels
}

/// Returns pseudorandom bytes as a signature. Every string of the right length leads to a root.
fn noise(len: usize, mut seed: u64) -> Vec<u8> {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn computed(kernels: &Kernels, set: SlhDsaSet, seed: u64) -> [u8; 64] {
    let key = noise(set.public_key_len(), seed);
    let signature = noise(set.signature_len(), !seed);
    let message = SlhDsaMessage::Pure { context: b"", message: b"message" };
    compare(kernels, set, &key, message, &signature).unwrap().computed
}

#[test]
fn lanes_change_nothing() {
    for set in SlhDsaSet::ALL {
        let alone = computed(&Kernels::PORTABLE, set, 1);
        assert_ne!(alone, computed(&Kernels::PORTABLE, set, 2));
        for lanes in [1, 2, 3, 4, 7, 8, 15, MAX_LANES] {
            assert_eq!(computed(&kernels(Some(lanes)), set, 1), alone, "{set:?}, {lanes} lanes");
        }
    }
}

#[test]
fn a_verification_takes_as_many_blocks_as_it_must() {
    // FORS has k leaves and k a nodes. A layer has len chains with 7.5 steps on average, and h' nodes. In addition
    // there is one call for each long message and for the hash of the message.
    for set in SlhDsaSet::ALL {
        let SlhDsaParameters { n, h_prime, d, a, k } = SlhDsaParameters::of(set);
        let calls = calls_of(|| _ = computed(&kernels(None), set, 3)).len() as f64;
        let chains = (2 * n + 3) as f64 * 7.5;
        let expected = (k * (a + 1)) as f64 + d as f64 * (chains + h_prime as f64 + 1.0);
        assert!((calls / expected - 1.0).abs() < 0.12, "{set:?}: {calls} instead of {expected}");
    }
}

#[test]
fn lanes_stay_full() {
    for set in SlhDsaSet::ALL {
        let alone = calls_of(|| _ = computed(&kernels(None), set, 4)).len();
        for lanes in [2, 4, 8, MAX_LANES] {
            let calls = calls_of(|| _ = computed(&kernels(Some(lanes)), set, 4));
            assert!(
                calls.iter().all(|count| *count == 1 || (*count > lanes / 2 && *count <= lanes))
            );
            // The paths through the XMSS trees and the long messages cannot be processed in parallel.
            let SlhDsaParameters { h_prime, d, .. } = SlhDsaParameters::of(set);
            let serial = d * (h_prime + 1);
            let ideal = serial + (alone - serial) / lanes;
            // Chains have up to 15 steps, and the last group of FORS trees may fill less than half of the lanes.
            let most = ideal + ideal / 2 + SlhDsaParameters::of(set).a * lanes;
            assert!(calls.len() < most, "{set:?}, {lanes} lanes: {} of {ideal}", calls.len());
        }
    }
}

#[test]
fn lengths_are_checked_first() {
    for set in SlhDsaSet::ALL {
        let (key_len, signature_len) = (set.public_key_len(), set.signature_len());
        let (key, signature) = (noise(2 * key_len, 5), noise(2 * signature_len, 6));
        let verdict = |key_len: usize, signature_len: usize, context: &[u8]| {
            let message = SlhDsaMessage::Pure { context, message: b"" };
            let (key, signature) = (&key[..key_len], &signature[..signature_len]);
            verify(&Kernels::PORTABLE, set, key, message, signature)
        };
        assert_eq!(verdict(key_len, signature_len, &[0; 255]), Err(Rejection::Mismatch));
        assert_eq!(verdict(key_len, signature_len, &[0; 256]), Err(Rejection::ContextLength));
        for len in [0, 1, key_len / 2, key_len - 1, key_len + 1, 2 * key_len] {
            assert_eq!(verdict(len, signature_len, b""), Err(Rejection::InvalidKey));
        }
        for len in [0, 1, signature_len - 1, signature_len + 1, 2 * signature_len] {
            assert_eq!(verdict(key_len, len, b""), Err(Rejection::SignatureLength));
        }
    }
}

/// Returns bit `number` of a string. The most significant bit of a byte is the first.
fn bit(bytes: &[u8], number: usize) -> u64 {
    u64::from(bytes[number / 8] >> (7 - number % 8) & 1)
}

proptest! {
    #[test]
    fn numbers_are_cut_out_of_digests(digest: [u8; MAX_DIGEST_LEN], set in 0..12_usize) {
        let parameters = SlhDsaParameters::of(SlhDsaSet::ALL[set]);
        let SlhDsaParameters { h_prime, a, k, .. } = parameters;
        let value = |bits: core::ops::Range<usize>| {
            bits.fold(0, |value, number| value << 1 | bit(&digest, number))
        };
        for index in 0..k {
            let expected = value(index * a..(index + 1) * a);
            prop_assert_eq!(u64::from(fors_index(&digest, a, index)), expected);
        }
        let place = Place::of(&parameters, &digest[..parameters.digest_len()]);
        let tree_end = (k * a).div_ceil(8) * 8 + parameters.tree_bits().div_ceil(8) * 8;
        let leaf_end = tree_end + h_prime.div_ceil(8) * 8;
        prop_assert_eq!(place.tree, value(tree_end - parameters.tree_bits()..tree_end));
        prop_assert_eq!(u64::from(place.leaf), value(leaf_end - h_prime..leaf_end));
        prop_assert_eq!(leaf_end, 8 * parameters.digest_len());
    }

    #[test]
    fn chains_wait_with_the_longest_first(digits in prop::collection::vec(0..16_u8, MAX_CHAINS)) {
        let order = lanes::order_for_test(&digits);
        prop_assert!(order.is_sorted_by_key(|(_, step)| *step));
        let mut chains: Vec<u8> = order.iter().map(|(chain, _)| *chain).collect();
        chains.sort_unstable();
        let expected = (0..).zip(&digits).filter(|(_, digit)| **digit < 15);
        prop_assert_eq!(chains, expected.map(|(chain, _)| chain).collect::<Vec<_>>());
        for (chain, step) in order {
            prop_assert_eq!(digits[usize::from(chain)], step);
        }
    }
}

#[test]
fn digits_have_a_checksum() {
    // The digits are the smallest, the largest, and some between. 16 bytes have 32 digits.
    assert_eq!(digits(&[0; 16])[32..35], [1, 14, 0]); // 32 * 15 = 480
    assert_eq!(digits(&[0xff; 16])[32..35], [0, 0, 0]);
    assert_eq!(digits(&[0x70; 16])[32..35], [1, 7, 0]); // 16 * (8 + 15) = 0x170
    assert_eq!(digits(&[0x12; 32])[..4], [1, 2, 1, 2]);
    assert_eq!(digits(&[0; 32])[64..67], [3, 12, 0]); // 64 * 15 = 960
}

#[test]
fn sizes_are_those_of_the_standard() {
    // The columns are m, the length of a public key, and the length of a signature in bytes (FIPS 205 §11, table 2).
    let sizes = [
        (30, 32, 7856),
        (34, 32, 17_088),
        (39, 48, 16_224),
        (42, 48, 35_664),
        (47, 64, 29_792),
        (49, 64, 49_856),
    ];
    // Each row applies to SHA-2 and to SHAKE.
    let sizes = sizes.into_iter().flat_map(|sizes| [sizes; 2]);
    for (set, (m, key, signature)) in SlhDsaSet::ALL.into_iter().zip(sizes) {
        assert_eq!(SlhDsaParameters::of(set).digest_len(), m, "{set:?}");
        assert_eq!((set.public_key_len(), set.signature_len()), (key, signature), "{set:?}");
        let parameters = SlhDsaParameters::of(set);
        let parts = [parameters.n, parameters.fors_len(), parameters.d * parameters.layer_len()];
        assert_eq!(parts.iter().sum::<usize>(), signature, "{set:?}");
        assert!(parameters.chains() <= MAX_CHAINS && parameters.k <= MAX_CHAINS);
    }
}
