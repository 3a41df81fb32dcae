//! These tests compare LMS, HSS, XMSS and XMSS^MT with second implementations for every parameter set. These
//! implement the algorithms of the standards as literally as possible, with hash functions of RustCrypto. The crate
//! hbs-lms is also used; it makes signatures, too.
//!
//! Any bytes of the right length are a signature for some key. The root that the standard computes from them is the
//! root of that key, so it is not necessary to build trees.

#![cfg(all(feature = "lms", feature = "xmss"))]

use hartlock_kernels::Kernels;
use hartlock_kernels::lms::{self, hss};
use hartlock_kernels::signature::Rejection;
use hartlock_kernels::xmss::{self, Scheme, Sets, XmssParameterSet};
use hbs_lms::{HssParameter, LmotsAlgorithm, LmsAlgorithm, Seed, Sha256_256};
use proptest::test_runner::{RngAlgorithm, TestRng};
use sha2::Digest;

const KERNELS: &Kernels = &Kernels::PORTABLE;

/// A generator of reproducible random bytes.
struct Random(TestRng);

impl Random {
    fn new() -> Self {
        Self(TestRng::deterministic_rng(RngAlgorithm::ChaCha))
    }

    fn number(&mut self) -> u64 {
        use proptest::prelude::Rng;
        self.0.next_u64()
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.number() as u8).collect()
    }
}

fn sha256(message: &[u8]) -> Vec<u8> {
    sha2::Sha256::digest(message).to_vec()
}

fn sha512(message: &[u8]) -> Vec<u8> {
    sha2::Sha512::digest(message).to_vec()
}

fn shake<const RATE_BITS: usize>(message: &[u8]) -> Vec<u8> {
    use tiny_keccak::{Hasher, Shake};
    let mut output = vec![0; 64];
    let mut hash = if RATE_BITS == 128 { Shake::v128() } else { Shake::v256() };
    hash.update(message);
    hash.finalize(&mut output);
    output
}

/// Computes toByte (RFC 8391 §2.4).
fn to_byte(value: u64, len: usize) -> Vec<u8> {
    (0..len).rev().map(|i| if i < 8 { (value >> (8 * i)) as u8 } else { 0 }).collect()
}

// ---- RFC 8391 -----------------------------------------------------------------------------------

/// A parameter set. The names in this part are those of RFC 8391.
#[derive(Clone, Copy)]
struct Xmss {
    hash: fn(&[u8]) -> Vec<u8>,
    n: usize,
    prefix_len: usize,
    is_approved: bool,
}

type Adrs = [u32; 8];

/// The parameter sets in the order of their numbers in both standards.
const FAMILIES: [Xmss; 7] = [
    Xmss { hash: sha256, n: 32, prefix_len: 32, is_approved: true },
    Xmss { hash: sha512, n: 64, prefix_len: 64, is_approved: false },
    Xmss { hash: shake::<128>, n: 32, prefix_len: 32, is_approved: false },
    Xmss { hash: shake::<256>, n: 64, prefix_len: 64, is_approved: false },
    Xmss { hash: sha256, n: 24, prefix_len: 4, is_approved: true },
    Xmss { hash: shake::<256>, n: 32, prefix_len: 32, is_approved: true },
    Xmss { hash: shake::<256>, n: 24, prefix_len: 4, is_approved: true },
];

impl Xmss {
    /// Computes the hash that all keyed functions use (§5.1).
    fn keyed(&self, number: u64, key: &[u8], message: &[u8]) -> Vec<u8> {
        let input = [&to_byte(number, self.prefix_len), key, message].concat();
        (self.hash)(&input)[..self.n].to_vec()
    }

    fn prf(&self, seed: &[u8], adrs: Adrs) -> Vec<u8> {
        let bytes: Vec<u8> = adrs.iter().flat_map(|word| word.to_be_bytes()).collect();
        self.keyed(3, seed, &bytes)
    }

    /// Computes base_w (algorithm 1) for w = 16.
    fn base_w(x: &[u8], out_len: usize) -> Vec<u32> {
        let (mut consumed, mut total, mut bits) = (0, 0, 0);
        let mut basew = Vec::new();
        for _ in 0..out_len {
            if bits == 0 {
                total = x[consumed];
                consumed += 1;
                bits += 8;
            }
            bits -= 4;
            basew.push(u32::from((total >> bits) & 15));
        }
        basew
    }

    /// Computes chain (algorithm 2).
    fn chain(&self, x: &[u8], i: u32, s: u32, seed: &[u8], mut adrs: Adrs) -> Vec<u8> {
        let mut tmp = x.to_vec();
        for k in i..i + s {
            adrs[6] = k;
            adrs[7] = 0;
            let key = self.prf(seed, adrs);
            adrs[7] = 1;
            let bm = self.prf(seed, adrs);
            let masked: Vec<u8> = tmp.iter().zip(bm).map(|(a, b)| a ^ b).collect();
            tmp = self.keyed(0, &key, &masked);
        }
        tmp
    }

    /// Computes WOTS_pkFromSig (algorithm 6).
    fn wots_pk_from_sig(
        &self,
        m: &[u8],
        sig: &[Vec<u8>],
        mut adrs: Adrs,
        seed: &[u8],
    ) -> Vec<Vec<u8>> {
        let (len_1, len_2) = (2 * self.n, 3);
        let mut csum: u32 = 0;
        let mut msg = Self::base_w(m, len_1);
        for digit in &msg {
            csum += 15 - digit;
        }
        csum <<= 8 - ((len_2 * 4) % 8);
        let len_2_bytes = (len_2 * 4_usize).div_ceil(8);
        msg.extend(Self::base_w(&to_byte(csum.into(), len_2_bytes), len_2));
        let mut tmp_pk = Vec::new();
        for (i, digit) in msg.into_iter().enumerate() {
            adrs[5] = i as u32;
            tmp_pk.push(self.chain(&sig[i], digit, 15 - digit, seed, adrs));
        }
        tmp_pk
    }

    /// Computes RAND_HASH (algorithm 7).
    fn rand_hash(&self, left: &[u8], right: &[u8], seed: &[u8], mut adrs: Adrs) -> Vec<u8> {
        adrs[7] = 0;
        let key = self.prf(seed, adrs);
        adrs[7] = 1;
        let bm_0 = self.prf(seed, adrs);
        adrs[7] = 2;
        let bm_1 = self.prf(seed, adrs);
        let children = [left, right].concat();
        let masks = [bm_0, bm_1].concat();
        let masked: Vec<u8> = children.iter().zip(masks).map(|(a, b)| a ^ b).collect();
        self.keyed(1, &key, &masked)
    }

    /// Computes ltree (algorithm 8).
    fn l_tree(&self, mut pk: Vec<Vec<u8>>, mut adrs: Adrs, seed: &[u8]) -> Vec<u8> {
        let mut len = pk.len();
        adrs[5] = 0;
        while len > 1 {
            for i in 0..len / 2 {
                adrs[6] = i as u32;
                pk[i] = self.rand_hash(&pk[2 * i], &pk[2 * i + 1], seed, adrs);
            }
            if len % 2 == 1 {
                pk[len / 2] = pk[len - 1].clone();
            }
            len = len.div_ceil(2);
            adrs[5] += 1;
        }
        pk[0].clone()
    }

    /// Computes XMSS_rootFromSig (algorithm 13).
    fn root_from_sig(
        &self,
        (idx_sig, height): (u32, u32),
        sig_ots: &[Vec<u8>],
        auth: &[Vec<u8>],
        m: &[u8],
        seed: &[u8],
        mut adrs: Adrs,
    ) -> Vec<u8> {
        adrs[3] = 0;
        adrs[4] = idx_sig;
        let pk_ots = self.wots_pk_from_sig(m, sig_ots, adrs, seed);
        adrs[3] = 1;
        adrs[4] = idx_sig;
        adrs[5..8].fill(0);
        let mut node = self.l_tree(pk_ots, adrs, seed);
        adrs[3] = 2;
        adrs[4] = 0;
        adrs[6] = idx_sig;
        for k in 0..height {
            adrs[5] = k;
            let sibling = &auth[k as usize];
            if (idx_sig >> k) % 2 == 0 {
                adrs[6] /= 2;
                node = self.rand_hash(&node, sibling, seed, adrs);
            } else {
                adrs[6] = (adrs[6] - 1) / 2;
                node = self.rand_hash(sibling, &node, seed, adrs);
            }
        }
        node
    }

    /// Computes XMSSMT_verify (algorithm 17), or XMSS_verify (algorithm 14) for d = 1, up to the comparison. The root
    /// of the key is an argument, because H_msg needs it.
    fn root(
        &self,
        (h, d): (u32, u32),
        index_len: usize,
        (root, seed): (&[u8], &[u8]),
        message: &[u8],
        signature: &[u8],
    ) -> Vec<u8> {
        let (index, rest) = signature.split_at(index_len);
        let idx_sig = index.iter().fold(0_u64, |idx, byte| idx << 8 | u64::from(*byte));
        let values: Vec<Vec<u8>> = rest.chunks(self.n).map(<[u8]>::to_vec).collect();
        let (r, mut values) = values.split_first().unwrap();
        let key = [r, root, &to_byte(idx_sig, self.n)].concat();
        let mut node = self.keyed(2, &key, message);
        let (len, height) = (2 * self.n + 3, h / d);
        let mut idx_tree = idx_sig;
        for layer in 0..d {
            let idx_leaf = (idx_tree % (1 << height)) as u32;
            idx_tree >>= height;
            let mut adrs = [0; 8];
            adrs[0] = layer;
            adrs[1] = (idx_tree >> 32) as u32;
            adrs[2] = idx_tree as u32;
            let (sig_ots, later) = values.split_at(len);
            let (auth, later) = later.split_at(height as usize);
            values = later;
            node = self.root_from_sig((idx_leaf, height), sig_ots, auth, &node, seed, adrs);
        }
        assert!(values.is_empty());
        node
    }
}

/// Returns number, family, h and d of every set.
fn sets(scheme: Scheme) -> Vec<(u32, Xmss, u32, u32)> {
    let shapes: &[(u32, u32)] = match scheme {
        Scheme::Xmss => &[(10, 1), (16, 1), (20, 1)],
        Scheme::XmssMt => {
            &[(20, 2), (20, 4), (40, 2), (40, 4), (40, 8), (60, 3), (60, 6), (60, 12)]
        }
    };
    let sets = FAMILIES.iter().flat_map(|family| shapes.iter().map(move |shape| (family, shape)));
    (1..).zip(sets).map(|(oid, (family, (h, d)))| (oid, *family, *h, *d)).collect()
}

#[test]
fn xmss_computes_what_rfc_8391_says_for_every_set() {
    let mut random = Random::new();
    for scheme in [Scheme::Xmss, Scheme::XmssMt] {
        let sets = sets(scheme);
        assert_eq!(XmssParameterSet::of(scheme, 0), None);
        assert_eq!(XmssParameterSet::of(scheme, sets.len() as u32 + 1), None);
        for (oid, family, h, d) in sets {
            let n = family.n;
            let index_len = if scheme == Scheme::Xmss { 4 } else { h.div_ceil(8) as usize };
            let index = match random.number() % 4 {
                0 => 0,
                1 => u64::MAX >> (64 - h),
                _ => random.number() >> (64 - h),
            };
            let len = n * (1 + d as usize * (2 * n + 3) + h as usize);
            let signature = [to_byte(index, index_len), random.bytes(len)].concat();
            let (root, seed) = (random.bytes(n), random.bytes(n));
            let message_len = random.number() % 300;
            let message = random.bytes(message_len as usize);
            let expected = family.root((h, d), index_len, (&root, &seed), &message, &signature);
            let key = [&oid.to_be_bytes()[..], &root, &seed].concat();

            let set = XmssParameterSet::of(scheme, oid).unwrap();
            assert_eq!(set.is_approved(), family.is_approved);
            assert_eq!(set.public_key_len(), key.len());
            assert_eq!(set.signature_len(), signature.len());
            let pieces: Vec<&[u8]> = message.chunks(37).collect();
            let compare = |sets| xmss::compare(KERNELS, scheme, sets, &key, &pieces, &signature);
            let comparison = compare(Sets::Every).unwrap();
            assert_eq!(comparison.computed[..n], expected, "{scheme:?} {oid:#x}");
            assert_eq!(comparison.computed[n..], [0; 64][n..]);
            assert_eq!(comparison.claimed[..n], root);
            assert_eq!(comparison.check(), Err(Rejection::Mismatch));
            let refusal = compare(Sets::Approved).err();
            let expected = (!family.is_approved).then_some(Rejection::UnsupportedKey);
            assert_eq!(refusal, expected);
        }
    }
}

// ---- RFC 8554 -----------------------------------------------------------------------------------

/// Parameters n, w, p and ls of the types of one-time signatures (RFC 8554 §4.1; SP 800-208 tables 2 and 4). The
/// names in this part are those of RFC 8554.
const LM_OTS: [(usize, u32, usize, u32); 8] = [
    (32, 1, 265, 7),
    (32, 2, 133, 6),
    (32, 4, 67, 4),
    (32, 8, 34, 0),
    (24, 1, 200, 8),
    (24, 2, 101, 6),
    (24, 4, 51, 4),
    (24, 8, 26, 0),
];

/// Computes coef (§3.1.3).
fn coef(s: &[u8], i: usize, w: u32) -> u32 {
    let byte = u32::from(s[i * w as usize / 8]);
    ((1 << w) - 1) & (byte >> (8 - (w * (i as u32 % (8 / w)) + w)))
}

/// Computes Tc (algorithm 6a), with Kc (algorithm 4b).
fn lms_root(h: u32, ots_type: usize, i: &[u8], message: &[u8], signature: &[u8]) -> Vec<u8> {
    let (n, w, p, ls) = LM_OTS[ots_type - 1];
    let hash = |parts: &[&[u8]]| sha256(&parts.concat())[..n].to_vec();
    let q = &signature[..4];
    let c = &signature[8..8 + n];
    let y = |k: usize| &signature[8 + n * (k + 1)..8 + n * (k + 2)];
    let path = |k: usize| &signature[12 + n * (p + 1 + k)..12 + n * (p + 2 + k)];

    let digest = hash(&[i, q, &[0x81, 0x81], c, message]);
    let sum: u32 = (0..n * 8 / w as usize).map(|k| (1 << w) - 1 - coef(&digest, k, w)).sum();
    let s = [&digest[..], &((sum << ls) as u16).to_be_bytes()].concat();
    let mut z = Vec::new();
    for k in 0..p {
        let mut tmp = y(k).to_vec();
        for j in coef(&s, k, w)..(1 << w) - 1 {
            tmp = hash(&[i, q, &(k as u16).to_be_bytes(), &[j as u8], &tmp]);
        }
        z.extend(tmp);
    }
    let kc = hash(&[i, q, &[0x80, 0x80], &z]);

    let mut node_num = (1 << h) + u32::from_be_bytes(q.try_into().unwrap());
    let mut tmp = hash(&[i, &node_num.to_be_bytes(), &[0x82, 0x82], &kc]);
    let mut k = 0;
    while node_num > 1 {
        let parent = &(node_num / 2).to_be_bytes();
        tmp = if node_num % 2 == 1 {
            hash(&[i, parent, &[0x83, 0x83], path(k), &tmp])
        } else {
            hash(&[i, parent, &[0x83, 0x83], &tmp, path(k)])
        };
        node_num /= 2;
        k += 1;
    }
    tmp
}

/// Returns the types of all sets: tree, height and one-time signature.
fn lms_types() -> Vec<(u32, u32, u32)> {
    let heights = [5, 10, 15, 20, 25];
    let trees = (5_u32..).zip([heights, heights].concat());
    let ots = |tree: u32| if tree < 0x0a { 1..5 } else { 5..9_u32 };
    trees.flat_map(|(tree, h)| ots(tree).map(move |ots| (tree, h, ots))).collect()
}

/// Returns a key, and random bytes that are a valid signature of `message` for it.
fn lms_case(
    random: &mut Random,
    (tree, h, ots): (u32, u32, u32),
    message: &[u8],
) -> (Vec<u8>, Vec<u8>) {
    let (n, _, p, _) = LM_OTS[ots as usize - 1];
    let q = match random.number() % 4 {
        0 => 0,
        1 => (1 << h) - 1,
        _ => random.number() as u32 % (1 << h),
    };
    let [q, tree, ots_bytes] = [q, tree, ots].map(u32::to_be_bytes);
    let values = random.bytes(n * (p + 1));
    let path = random.bytes(n * h as usize);
    let signature = [&q[..], &ots_bytes, &values, &tree, &path].concat();
    let i = random.bytes(16);
    let root = lms_root(h, ots as usize, &i, message, &signature);
    ([&tree[..], &ots_bytes, &i, &root].concat(), signature)
}

#[test]
fn lms_computes_what_rfc_8554_says_for_every_set() {
    let mut random = Random::new();
    for types in lms_types() {
        let message_len = random.number() % 300;
        let message = random.bytes(message_len as usize);
        let (key, signature) = lms_case(&mut random, types, &message);
        let pieces: Vec<&[u8]> = message.chunks(41).collect();
        assert_eq!(lms::verify(KERNELS, &key, &pieces, &signature), Ok(()), "{types:?}");
        let refused = lms::verify(KERNELS, &key, &[&message, b"x"], &signature);
        assert_eq!(refused, Err(Rejection::Mismatch), "{types:?}");
    }
}

#[test]
fn hss_takes_one_to_eight_levels_of_any_sets_of_one_length() {
    let mut random = Random::new();
    for levels in 1..=8_u32 {
        // All levels have the same hash length (image format §2.2).
        let is_24 = random.number().is_multiple_of(2);
        let mut types = lms_types();
        types.retain(|(tree, _, _)| (*tree >= 0x0a) == is_24);
        // The loop starts at the lowest level, because a key is the message of the level above it.
        let mut message = b"message".to_vec();
        let mut parts = Vec::new();
        for _ in 0..levels {
            let choice = random.number() as usize % types.len();
            let (key, signature) = lms_case(&mut random, types[choice], &message);
            parts.push((signature, key.clone()));
            message = key;
        }
        let key = [&levels.to_be_bytes()[..], &message].concat();
        let mut signature = (levels - 1).to_be_bytes().to_vec();
        for (index, (part, _)) in parts.iter().enumerate().rev() {
            signature.extend(part);
            if index > 0 {
                signature.extend(&parts[index - 1].1);
            }
        }
        let verify =
            |key: &[u8], signature: &[u8]| hss::verify(KERNELS, key, &[b"mess", b"age"], signature);
        assert_eq!(verify(&key, &signature), Ok(()), "{levels} levels");

        // A changed bit is detected at any position and on any level.
        for _ in 0..24 {
            let mut changed = signature.clone();
            let bit = random.number() as usize % (8 * changed.len());
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(verify(&key, &changed).is_err(), "{levels} levels, bit {bit}");
        }
        let mut longer = signature.clone();
        longer.push(0);
        assert_eq!(verify(&key, &longer), Err(Rejection::SignatureLength));
        let shorter = &signature[..signature.len() - 1];
        assert_eq!(verify(&key, shorter), Err(Rejection::SignatureLength));
        // The number of levels is changed by one.
        for other in [levels - 1, levels + 1] {
            let mut key = key.clone();
            key[..4].copy_from_slice(&other.to_be_bytes());
            let expected = if (1..=8).contains(&other) {
                Rejection::OtherParameters
            } else {
                Rejection::InvalidKey
            };
            assert_eq!(verify(&key, &signature), Err(expected));
            let mut signature = signature.clone();
            signature[..4].copy_from_slice(&other.wrapping_sub(1).to_be_bytes());
            let verdict = verify(&key, &signature);
            assert!(verdict.is_err(), "{levels} levels as {other}: {verdict:?}");
        }
    }
}

#[test]
fn hss_agrees_with_hbs_lms() {
    use LmotsAlgorithm::{LmotsW1, LmotsW2, LmotsW4, LmotsW8};
    let mut random = Random::new();
    let h5 = |ots| HssParameter::<Sha256_256>::new(ots, LmsAlgorithm::LmsH5);
    for levels in [
        vec![h5(LmotsW1)],
        vec![h5(LmotsW2)],
        vec![h5(LmotsW4)],
        vec![h5(LmotsW8)],
        vec![h5(LmotsW4), h5(LmotsW8)],
        vec![h5(LmotsW2), h5(LmotsW4), h5(LmotsW4)],
    ] {
        let mut seed = Seed::<Sha256_256>::default();
        seed.as_mut_slice().copy_from_slice(&random.bytes(32));
        let (mut signing, verifying) = hbs_lms::keygen(&levels, &seed, None).unwrap();
        let key = verifying.as_slice();
        for len in [0, 200] {
            let message = random.bytes(len);
            let signature = signing.try_sign_with_aux(&message, None).unwrap();
            let signature: &[u8] = signature.as_ref();
            assert_eq!(hss::verify(KERNELS, key, &[&message], signature), Ok(()));
            for _ in 0..8 {
                let (mut key, mut signature) = (key.to_vec(), signature.to_vec());
                let target =
                    if random.number().is_multiple_of(4) { &mut key } else { &mut signature };
                let bit = random.number() as usize % (8 * target.len());
                target[bit / 8] ^= 1 << (bit % 8);
                let theirs = hbs_lms::verify::<Sha256_256>(&message, &signature, &key);
                let ours = hss::verify(KERNELS, &key, &[&message], &signature);
                assert_eq!(ours.is_ok(), theirs.is_ok(), "bit {bit}: {ours:?}");
                assert!(ours.is_err());
            }
        }
    }
}
