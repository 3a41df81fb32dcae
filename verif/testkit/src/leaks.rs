//! Finds secrets in memory that a stage has left: the secret itself, and every value from which it can be computed.
//!
//! A value counts as a secret if it gives the secret without a search: expanded keys, scalars before and after reduction,
//! nonces, states of a hash that has absorbed a secret, its message schedules. They are computed here from the inputs of
//! the stage, so that a copy is found that no variable of the source holds.

use std::collections::HashMap;

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use hartlock_kernels::Hash;
use hartlock_kernels::sha2::H384;
use hartlock_kernels::sha3::Sha3_512;
use sha2::block_api::compress512;

/// Rate of SHA3-512 in words.
const RATE: usize = 9;
/// The order of the base point of edwards25519, as words (RFC 8032 §5.1).
const L: [u64; 4] = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 1 << 60];
/// The number of digits into which a signer splits a scalar.
const DIGITS: usize = 260;

/// Values that must not be in memory, each with a name for a message.
#[derive(Clone, Debug, Default)]
pub struct Leaks(Vec<(String, Vec<u8>)>);

impl Leaks {
    /// Adds a value.
    pub fn add(&mut self, name: &str, value: &[u8]) {
        self.0.push((name.to_owned(), value.to_vec()));
    }

    fn add_words(&mut self, name: &str, words: &[u64]) {
        self.add(name, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
    }

    /// Adds everything that is computed of a key of HMAC-SHA-384: the padded key, the hash value after it, and the
    /// message schedule of its compression, of which any sixteen consecutive words give the block (FIPS 180-4 §6.4.2).
    pub fn add_hmac_key(&mut self, name: &str, key: &[u8]) {
        self.add(name, key);
        for (which, pad) in [("inner", 0x36), ("outer", 0x5c)] {
            let mut block = [pad; 128];
            block.iter_mut().zip(key).for_each(|(to, from)| *to ^= from);
            self.add(&format!("{name}, {which} block"), block.get(..key.len()).unwrap_or(&block));
            let mut state = H384;
            compress512(&mut state, &[block]);
            self.add_words(&format!("{name}, {which} hash value"), &state);
            self.add_words(&format!("{name}, {which} schedule"), &schedule(&block)[16..]);
        }
    }

    /// Adds the states of SHA3-512 over a message with a secret in it, after each permutation. A whole state can be
    /// computed backwards. Returns the digest.
    pub fn add_sha3(&mut self, name: &str, message: &[u8]) -> [u8; 64] {
        let mut padded = message.to_vec();
        padded.push(0x06);
        padded.resize(padded.len().next_multiple_of(8 * RATE), 0);
        *padded.last_mut().expect("a block") |= 0x80;
        let mut state = [0; 25];
        for block in padded.chunks(8 * RATE) {
            for (lane, bytes) in state.iter_mut().zip(block.as_chunks().0) {
                *lane ^= u64::from_le_bytes(*bytes);
            }
            keccak::f1600(&mut state);
            self.add_words(name, &state);
        }
        let mut hash = Sha3_512::new();
        hash.update(message);
        hash.finalize()
    }

    /// Adds an expanded key of Ed25519 and everything that its scalar is turned into.
    pub fn add_expanded(&mut self, name: &str, expanded: &[u8; 64]) {
        self.add(name, expanded);
        let (scalar, _) = expanded.split_first_chunk().expect("64 bytes");
        let clamped = curve25519_dalek::scalar::clamp_integer(*scalar);
        self.add(&format!("{name}, clamped scalar"), &clamped);
        self.add_scalar(&format!("{name}, scalar"), &Scalar::from_bytes_mod_order(clamped));
    }

    /// Adds a scalar and the signed digits of a multiplication by it: the scalar, made odd by adding L, shifted right.
    fn add_scalar(&mut self, name: &str, scalar: &Scalar) {
        let words = words(&scalar.to_bytes());
        self.add_words(name, &words);
        let mut odd = [0; 5];
        let mut carry = 0_u128;
        for ((to, word), l) in odd.iter_mut().zip(words).zip(L) {
            carry += u128::from(word) + if words[0] & 1 == 0 { u128::from(l) } else { 0 };
            *to = carry as u64;
            carry >>= 64;
        }
        self.add_words(&format!("{name}, made odd"), &odd);
        let mut signs = [0; 5];
        for at in 0..5 {
            signs[at] = odd[at] >> 1 | odd.get(at + 1).unwrap_or(&0) << 63;
        }
        signs[4] |= 1 << ((DIGITS - 1) % 64);
        self.add_words(&format!("{name}, signs"), &signs);
    }

    /// Adds the nonce of a signature with SHA3-512, the states of its computation, and the sum that the signature is
    /// reduced from. One nonce gives the scalar of the key (RFC 8032 §5.1.6).
    pub fn add_signature(
        &mut self,
        name: &str,
        expanded: &[u8; 64],
        public: &[u8],
        message: &[u8],
    ) {
        let (scalar, prefix) = expanded.split_first_chunk().expect("64 bytes");
        let nonce =
            self.add_sha3(&format!("{name}, hash of the nonce"), &[prefix, message].concat());
        self.add(&format!("{name}, nonce"), &nonce);
        let r = Scalar::from_bytes_mod_order_wide(&nonce);
        self.add_scalar(&format!("{name}, reduced nonce"), &r);
        let mut hash = Sha3_512::new();
        let point = EdwardsPoint::mul_base(&r).compress();
        [point.as_bytes(), public, message].into_iter().for_each(|part| hash.update(part));
        let k = Scalar::from_bytes_mod_order_wide(&hash.finalize());
        let s = Scalar::from_bytes_mod_order(curve25519_dalek::scalar::clamp_integer(*scalar));
        let [k, s, r] = [k, s, r].map(|number| words(&number.to_bytes()));
        let mut sum = [0_u64; 8];
        sum[..4].copy_from_slice(&r);
        for (i, k) in k.into_iter().enumerate() {
            let mut carry = 0;
            for (j, s) in s.into_iter().enumerate() {
                carry += u128::from(k) * u128::from(s) + u128::from(sum[i + j]);
                sum[i + j] = carry as u64;
                carry >>= 64;
            }
            sum[i + 4] = carry as u64;
        }
        self.add_words(&format!("{name}, sum before its reduction"), &sum);
    }

    /// Adds the endorsement of a monitor by a device (`device/fsbl`): the device's expanded key, the seed and the
    /// expanded key of the monitor, and the signature.
    pub fn add_endorsement(
        &mut self,
        device: &[u8; 64],
        measurement: &[u8; 64],
        keys: [&[u8; 32]; 2],
    ) {
        let [device_public, monitor_public] = keys;
        self.add_expanded("device key", device);
        let derived = self.add_sha3("hash of the seed", &[&device[..], measurement].concat());
        self.add("seed", &derived);
        let expanded = self.add_sha3("hash of the monitor's key", &derived[..32]);
        self.add_expanded("monitor's key", &expanded);
        let message = [&measurement[..], monitor_public].concat();
        self.add_signature("endorsement", device, device_public, &message);
    }

    /// Adds the secret of a root-of-trust block and the key of state records that is derived from it.
    pub fn add_state_key(&mut self, secret: &[u8; 32], key: &[u8; 48]) {
        self.add_hmac_key("device secret", secret);
        self.add_hmac_key("state key", key);
    }

    /// Returns the name of each value of which memory contains eight bytes, with the place of the first of them.
    ///
    /// The eight bytes begin at a multiple of four of the value, and are found at any place in memory: as they are, in
    /// reverse, and with their halves exchanged. Words in reverse order are found in the same way. Eight equal bytes
    /// are no sign of a secret.
    #[must_use]
    pub fn found_in(&self, memory: &[u8]) -> Vec<(String, usize)> {
        let mut parts = HashMap::new();
        for (name, value) in &self.0 {
            for part in value.windows(8).step_by(4) {
                let word = u64::from_le_bytes(part.try_into().expect("eight bytes"));
                if part.iter().any(|byte| *byte != part[0]) && word.count_ones() > 8 {
                    for form in [word, word.swap_bytes(), word.rotate_left(32)] {
                        parts.entry(form).or_insert(name);
                    }
                }
            }
        }
        let mut found: Vec<(String, usize)> = Vec::new();
        // Most of a memory was never written, and a page of zeros has no part of any value.
        const PAGE: usize = 4096;
        static ZEROS: [u8; PAGE + 7] = [0; PAGE + 7];
        for start in (0..memory.len()).step_by(PAGE) {
            let page = &memory[start..memory.len().min(start + PAGE + 7)];
            if *page == ZEROS[..page.len()] {
                continue;
            }
            for (at, window) in page.windows(8).enumerate() {
                let word = u64::from_le_bytes(window.try_into().expect("eight bytes"));
                if let Some(name) = parts.get(&word)
                    && !found.iter().any(|(it, _)| it == *name)
                {
                    found.push(((*name).clone(), start + at));
                }
            }
        }
        found
    }
}

fn words(bytes: &[u8; 32]) -> [u64; 4] {
    let mut words = bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    std::array::from_fn(|_| words.next().expect("four words"))
}

/// Returns the message schedule of a block of SHA-384 (FIPS 180-4 §6.4.2).
fn schedule(block: &[u8; 128]) -> Vec<u64> {
    let mut w: Vec<u64> = block.as_chunks().0.iter().map(|it| u64::from_be_bytes(*it)).collect();
    for t in 16..80 {
        let small = |x: u64, a, b, c: u32| x.rotate_right(a) ^ x.rotate_right(b) ^ (x >> c);
        let (s0, s1): (u64, u64) = (small(w[t - 15], 1, 8, 7), small(w[t - 2], 19, 61, 6));
        w.push(s1.wrapping_add(w[t - 7]).wrapping_add(s0).wrapping_add(w[t - 16]));
    }
    w
}

#[cfg(test)]
mod tests {
    use hartlock_kernels::sha2::Sha384;

    use super::*;

    const KEY: [u8; 48] = {
        let mut key = [0; 48];
        let mut at = 0;
        while at < 48 {
            key[at] = 0x91 ^ (37 * at) as u8;
            at += 1;
        }
        key
    };

    #[test]
    fn a_part_is_found_at_any_place_in_any_order() {
        let mut leaks = Leaks::default();
        leaks.add("a key", &KEY);
        for place in [0, 13, 4090, 4095, 8184] {
            for part in [0, 4, 40] {
                let bytes: [u8; 8] = KEY[part..part + 8].try_into().unwrap();
                let [a, b, c, d, e, f, g, h] = bytes;
                for form in [bytes, [h, g, f, e, d, c, b, a], [e, f, g, h, a, b, c, d]] {
                    let mut memory = vec![0; 8192];
                    memory[place..place + 8].copy_from_slice(&form);
                    assert_eq!(leaks.found_in(&memory), [("a key".to_owned(), place)]);
                    memory[place + 3] ^= 1;
                    assert_eq!(leaks.found_in(&memory), []);
                }
            }
        }
    }

    #[test]
    fn hash_values_and_schedules_are_those_of_the_standard() {
        // HMAC of an empty message, continued from the values that are searched for.
        let mut leaks = Leaks::default();
        leaks.add_hmac_key("key", &KEY);
        let value = |name: &str| &leaks.0.iter().find(|it| it.0 == name).unwrap().1;
        let resume = |name: &str, message: &[u8]| {
            let mut state = [0; 8];
            for (word, bytes) in state.iter_mut().zip(value(name).as_chunks().0) {
                *word = u64::from_le_bytes(*bytes);
            }
            let mut block = [0; 128];
            block[..message.len()].copy_from_slice(message);
            block[message.len()] = 0x80;
            block[120..].copy_from_slice(&(8 * (128 + message.len() as u64)).to_be_bytes());
            compress512(&mut state, &[block]);
            state[..6].iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>()
        };
        let mut hashes = [0x36_u8, 0x5c].map(|pad| {
            let mut hash = Sha384::new();
            hash.update(&std::array::from_fn::<u8, 128, _>(|at| {
                KEY.get(at).copied().unwrap_or(0) ^ pad
            }));
            hash
        });
        let inner = hashes[0].clone().finalize();
        assert_eq!(resume("key, inner hash value", &[]), inner);
        hashes[1].update(&inner);
        assert_eq!(resume("key, outer hash value", &inner), hashes[1].clone().finalize());
        // The schedule of the example in FIPS 180-4 would be two pages; its recurrence is checked from the other end.
        let block = [0x5a; 128];
        let w = schedule(&block);
        assert_eq!((w.len(), w[15]), (80, 0x5a5a_5a5a_5a5a_5a5a));
    }

    #[test]
    fn the_state_of_a_hash_begins_with_its_digest() {
        for len in [0, 71, 72, 128] {
            let mut leaks = Leaks::default();
            let digest = leaks.add_sha3("hash", &KEY.repeat(3)[..len]);
            assert_eq!(leaks.0.last().unwrap().1[..64], digest);
            assert_eq!(leaks.0.len(), len / 72 + 1);
        }
    }
}
