//! Known-answer tests that a kernel of AES must pass before it is used.
//!
//! Each test uses keys of all three lengths, because a kernel has code of its own for each of them, and a text that
//! takes every loop of every kernel, up to vector registers of [`MAX_VLEN`] bits.

#[cfg(any(feature = "aes", test))]
use super::gcm;
use super::{AesKey, BLOCK_SIZE, Block};
use crate::Kernels;
use crate::pattern::fill_with_pattern;

/// Longest vector register in bits for which the text fills every loop. The probes refuse longer ones
/// (`aes_probes.S`).
const MAX_VLEN: usize = 1024;
/// Bytes of the largest group of blocks that a kernel computes at once.
const MAX_GROUP: usize = 4 * MAX_VLEN / 8;
/// Three groups, of which two may be computed together, two blocks, and a part of one.
const TEXT_LEN: usize = 3 * MAX_GROUP + 2 * BLOCK_SIZE + 5;
/// Longest key in bytes.
const MAX_KEY: usize = 32;
/// The counter wraps within the second group of four blocks, and within larger ones.
const FIRST: Block = [7, 0xff, 3, 4, 5, 6, 7, 8, 9, 10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfa];

/// The examples of FIPS 197, appendix C: the number of bytes of a key that counts up, and the cipher text.
const EXAMPLES: [(usize, u128); 3] = [
    (16, 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a),
    (24, 0xdda9_7ca4_864c_dfe0_6eaf_70a0_ec0d_7191),
    (32, 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089),
];
/// Their plain text.
const EXAMPLE_TEXT: u128 = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff;

/// Cases 2, 8 and 14 of McGrew and Viega (*The Galois/Counter Mode of Operation*, appendix B): bytes of a key of
/// zeros, cipher text and tag of a block of zeros under an initialization vector of zeros.
#[cfg(any(feature = "aes", test))]
const CASES_OF_GCM: [(usize, u128, u128); 3] = [
    (16, 0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78, 0xab6e_47d4_2cec_13bd_f53a_67b2_1257_bddf),
    (24, 0x98e7_247c_07f0_fe41_1c26_7e43_84b0_f600, 0x2ff5_8d80_0339_27ab_8ef4_d458_7514_f0fb),
    (32, 0xcea7_403d_4d60_6b6e_074e_c5d3_baf3_9d18, 0xd0d1_c8a7_9999_6bf0_265b_98b5_d48a_b919),
];

/// Returns true if the kernel of counter mode computes the published cipher texts, and the key stream of the portable
/// implementation, with its own key schedule.
#[inline(never)]
pub(crate) fn answers_ctr(kernels: &Kernels) -> bool {
    EXAMPLES.into_iter().all(|(size, published)| {
        let mut bytes = [0; MAX_KEY];
        for (byte, value) in bytes.iter_mut().zip(0..) {
            *byte = value;
        }
        with_keys(kernels, &bytes, size, |key, portable| {
            let cipher = key.encrypt_one(&core::hint::black_box(EXAMPLE_TEXT).to_be_bytes());
            let (mut ours, mut wanted) = ([0; TEXT_LEN], [0; TEXT_LEN]);
            fill_with_pattern(&mut ours, 11);
            fill_with_pattern(&mut wanted, 11);
            (key.kernels.ctr.run)(key, &FIRST, &mut ours);
            super::ctr::portable_stream(portable, &FIRST, &mut wanted);
            cipher == published.to_be_bytes() && ours == wanted
        })
    })
}

/// Returns true if the kernels of GCM accept the published tags and no other, and compute hash and text of the
/// portable implementation.
#[inline(never)]
#[cfg(any(feature = "aes", test))]
pub(crate) fn answers_gcm(kernels: &Kernels) -> bool {
    CASES_OF_GCM.into_iter().all(|(size, cipher, tag)| {
        let is_published = with_keys(kernels, &[0; MAX_KEY], size, |key, _| {
            let mut text = core::hint::black_box(cipher).to_be_bytes();
            let is_right = gcm::decrypt(key, &[0; 12], &[], &mut text, &tag.to_be_bytes()).is_ok();
            let other = (tag ^ 1).to_be_bytes();
            is_right
                && text == [0; BLOCK_SIZE]
                && gcm::decrypt(key, &[0; 12], &[], &mut text, &other).is_err()
        });
        let mut bytes = [0; MAX_KEY];
        fill_with_pattern(&mut bytes, 23);
        is_published && with_keys(kernels, &bytes, size, agrees)
    })
}

/// Returns true if the kernels of a key agree with the portable implementation on a long text.
#[cfg(any(feature = "aes", test))]
fn agrees(key: &AesKey, portable: &AesKey) -> bool {
    let (mut ours, mut wanted) = ([0; TEXT_LEN], [0; TEXT_LEN]);
    fill_with_pattern(&mut ours, 5);
    fill_with_pattern(&mut wanted, 5);
    let (mut hash_key, mut hash) = ([0; BLOCK_SIZE], [0; BLOCK_SIZE]);
    fill_with_pattern(&mut hash_key, 1);
    fill_with_pattern(&mut hash, 2);
    let [mut opened, mut added] = [hash; 2];
    let kernel = &key.kernels.gcm;
    (kernel.hash)(&hash_key, &mut added, &ours);
    (kernel.open)(key, &FIRST, &hash_key, &mut opened, &mut ours);
    gcm::portable_open(portable, &FIRST, &hash_key, &mut hash, &mut wanted);
    let is_equal = ours == wanted && [opened, added] == [hash; 2];
    // A text may be empty.
    (kernel.open)(key, &FIRST, &hash_key, &mut opened, &mut []);
    is_equal && opened == hash
}

/// Expands a key of `size` bytes for these kernels, and for the portable implementation.
fn with_keys(
    kernels: &Kernels,
    bytes: &[u8; MAX_KEY],
    size: usize,
    test: impl FnOnce(&AesKey, &AesKey) -> bool,
) -> bool {
    let (mut key, mut portable) = (AesKey::with(kernels), AesKey::EMPTY);
    let is_expanded = bytes
        .get(..size)
        .is_some_and(|bytes| key.expand(bytes).is_ok() && portable.expand(bytes).is_ok());
    is_expanded && test(&key, &portable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aes::kernels::{AddToHash, Open, Schedule, StreamFunction};
    use crate::aes::{Columns, ctr, ghash};

    /// Flips a bit of the last byte if there is one.
    fn flip(bytes: &mut [u8]) {
        if let Some(byte) = bytes.last_mut() {
            *byte ^= 1;
        }
    }

    #[test]
    fn the_portable_implementation_answers_right() {
        assert!(answers_ctr(&Kernels::PORTABLE));
        assert!(answers_gcm(&Kernels::PORTABLE));
    }

    /// Each function computes something else for some keys, lengths or counters alone.
    #[test]
    fn a_key_stream_that_is_wrong_for_some_keys_or_lengths_is_seen() {
        let faults: [StreamFunction; 8] = [
            |key, first, data| {
                ctr::portable_stream(key, first, data);
                if key.rounds == 14 {
                    flip(data);
                }
            },
            |key, first, data| {
                ctr::portable_stream(key, first, data);
                if key.rounds == 12 {
                    flip(data);
                }
            },
            |key, first, data| {
                ctr::portable_stream(key, first, data);
                if key.rounds == 10 {
                    flip(data);
                }
            },
            // More than one block in a register group, which is a vl above 4.
            |key, first, data| {
                ctr::portable_stream(key, first, data);
                if data.len() > BLOCK_SIZE {
                    flip(&mut data[..2 * BLOCK_SIZE]);
                }
            },
            // Only the first group of a pair, or only a pair of the largest ones.
            |key, first, data| {
                ctr::portable_stream(key, first, data);
                if data.len() >= 2 * MAX_GROUP {
                    flip(&mut data[..2 * MAX_GROUP]);
                }
            },
            // A part of a block.
            |key, first, data| {
                ctr::portable_stream(key, first, data);
                if !data.len().is_multiple_of(BLOCK_SIZE) {
                    flip(data);
                }
            },
            // The carry goes on into the other bytes of the counter.
            |key, first, data| {
                let mut portable = AesKey::EMPTY;
                (portable.planes, portable.rounds) = (key.planes, key.rounds);
                ctr::apply_wide(&portable, first, data);
            },
            |_, _, _| {},
        ];
        for (number, run) in faults.into_iter().enumerate() {
            let mut kernels = Kernels::PORTABLE;
            kernels.aes.ctr.run = run;
            assert!(!answers_ctr(&kernels), "fault {number}");
        }
    }

    #[test]
    fn a_key_schedule_that_is_wrong_for_one_length_is_seen() {
        let faults: [Schedule; 4] = [
            |columns, rounds| {
                columns.expand(rounds);
                columns.0[10][3] ^= if rounds == 10 { 1 } else { 0 };
            },
            |columns, rounds| {
                columns.expand(rounds);
                columns.0[12][0] ^= if rounds == 12 { 1 } else { 0 };
            },
            |columns, rounds| {
                columns.expand(rounds);
                columns.0[14][3] ^= if rounds == 14 { 1 << 31 } else { 0 };
            },
            |_, _| {},
        ];
        let mut kernels = Kernels::PORTABLE;
        kernels.aes.schedule = Some(Columns::expand);
        assert!(answers_ctr(&kernels) && answers_gcm(&kernels));
        for (number, schedule) in faults.into_iter().enumerate() {
            kernels.aes.schedule = Some(schedule);
            assert!(!answers_ctr(&kernels), "fault {number}");
            assert!(!answers_gcm(&kernels), "fault {number}");
        }
    }

    #[test]
    fn a_hash_that_is_wrong_for_some_lengths_is_seen() {
        let faults: [AddToHash; 4] = [
            |key, hash, data| {
                ghash::add(key, hash, data);
                if data.len() > MAX_GROUP {
                    flip(hash);
                }
            },
            |key, hash, data| {
                ghash::add(key, hash, data);
                if data.len() <= BLOCK_SIZE {
                    flip(hash);
                }
            },
            // The old hash is lost.
            |key, hash, data| {
                *hash = [0; BLOCK_SIZE];
                ghash::add(key, hash, data);
            },
            |key, hash, data| ghash::add(key, hash, &data[..data.len() / BLOCK_SIZE * BLOCK_SIZE]),
        ];
        for (number, hash) in faults.into_iter().enumerate() {
            let mut kernels = Kernels::PORTABLE;
            kernels.aes.gcm.hash = hash;
            assert!(!answers_gcm(&kernels), "fault {number}");
        }
    }

    #[test]
    fn a_decryption_that_is_wrong_for_some_keys_or_lengths_is_seen() {
        let faults: [Open; 6] = [
            |key, first, hash_key, hash, text| {
                gcm::portable_open(key, first, hash_key, hash, text);
                if key.rounds == 14 && text.len() > BLOCK_SIZE {
                    flip(text);
                }
            },
            |key, first, hash_key, hash, text| {
                gcm::portable_open(key, first, hash_key, hash, text);
                if key.rounds == 12 {
                    flip(hash);
                }
            },
            |key, first, hash_key, hash, text| {
                gcm::portable_open(key, first, hash_key, hash, text);
                if text.len() > 2 * MAX_GROUP {
                    flip(hash);
                }
            },
            // The plain text is hashed.
            |key, first, hash_key, hash, text| {
                ctr::portable_stream(key, first, text);
                ghash::add(hash_key, hash, text);
            },
            |_, _, hash_key, hash, text| ghash::add(hash_key, hash, text),
            // An empty text counts as a block.
            |key, first, hash_key, hash, text| {
                gcm::portable_open(key, first, hash_key, hash, text);
                if text.is_empty() {
                    ghash::add(hash_key, hash, &[0]);
                }
            },
        ];
        for (number, open) in faults.into_iter().enumerate() {
            let mut kernels = Kernels::PORTABLE;
            kernels.aes.gcm.open = open;
            assert!(!answers_gcm(&kernels), "fault {number}");
        }
    }
}
