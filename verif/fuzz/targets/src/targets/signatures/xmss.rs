//! Compares XMSS and XMSS^MT with the crate `xmss`, for every parameter set of RFC 8391 and SP 800-208.
//!
//! Rules: both accept the same signatures, and only the genuine signature of a key. Genuine signatures are made by a
//! signer that computes one leaf per tree and chooses the nodes next to the authentication path: a verifier cannot
//! distinguish such trees from completely computed ones, and they cost no more than a verification, at every height.
//! The signer is written after RFC 8391 and uses hashes of other crates.
//!
//! One difference is known: the other crate also accepts an index beyond the last leaf if the signer used it.

use hartlock_kernels::signature::Rejection;
use hartlock_kernels::xmss::{self as ours, Scheme, Sets, XmssParameterSet};
use xmss::*;

use super::{KERNELS, MESSAGES, digits, pieces, sha256, sha512, shake128, shake256};
use crate::choices::Choices;
use crate::signed::{Pool, Signed, agree, count};

/// A family of parameter sets with the same hash. The names in this module are those of RFC 8391.
#[derive(Clone, Copy)]
struct Family {
    hash: fn(&[u8]) -> Vec<u8>,
    n: usize,
    prefix_len: usize,
    is_approved: bool,
}

/// The families in the order in which both standards number them.
const FAMILIES: [Family; 7] = [
    Family { hash: sha256, n: 32, prefix_len: 32, is_approved: true },
    Family { hash: sha512, n: 64, prefix_len: 64, is_approved: false },
    Family { hash: shake128, n: 32, prefix_len: 32, is_approved: false },
    Family { hash: shake256, n: 64, prefix_len: 64, is_approved: false },
    Family { hash: sha256, n: 24, prefix_len: 4, is_approved: true },
    Family { hash: shake256, n: 32, prefix_len: 32, is_approved: true },
    Family { hash: shake256, n: 24, prefix_len: 4, is_approved: true },
];

/// Height h and number of layers d, in the same order.
const SHAPES: [&[(u32, u32)]; 2] = [
    &[(10, 1), (16, 1), (20, 1)],
    &[(20, 2), (20, 4), (40, 2), (40, 4), (40, 8), (60, 3), (60, 6), (60, 12)],
];

#[derive(Clone, Copy)]
struct XmssSet {
    scheme: Scheme,
    oid: u32,
    family: Family,
    h: u32,
    d: u32,
}

impl XmssSet {
    fn of(scheme: Scheme, oid: u32) -> Option<Self> {
        let shapes = SHAPES[usize::from(scheme == Scheme::XmssMt)];
        let number = (oid as usize).checked_sub(1)?;
        let family = *FAMILIES.get(number / shapes.len())?;
        let (h, d) = shapes[number % shapes.len()];
        Some(Self { scheme, oid, family, h, d })
    }

    fn index_len(&self) -> usize {
        if self.scheme == Scheme::Xmss { 4 } else { self.h.div_ceil(8) as usize }
    }
}

pub fn run(data: &[u8]) {
    static POOL: Pool<(u8, u32, usize, u8)> = Pool::new();
    let mut choices = Choices::new(data);
    let scheme = choices.of(&[Scheme::Xmss, Scheme::XmssMt]);
    // Sets with one and two layers are chosen most often, because the time grows with the number of layers.
    let shape = match scheme {
        Scheme::Xmss => choices.below(3),
        Scheme::XmssMt => choices.of(&[0, 2, 0, 2, 0, 1, 3, 5, 4, 6, 7]),
    };
    let family = choices.of(&[0, 4, 5, 6, 2, 1, 3]);
    let oid = 1 + (family * SHAPES[usize::from(scheme == Scheme::XmssMt)].len() + shape) as u32;
    let set = XmssSet::of(scheme, oid).expect("a set");
    let (message, number) = (choices.below(MESSAGES.len()), choices.below(5) as u8);
    let what = (scheme as u8, oid, message, number);
    let genuine = POOL.get(what, |_| sign(&set, MESSAGES[message], number));
    let values: [&[u8]; 4] = [&[0, 0, 0, 1], &[0, 0, 0, 0x0d], &[0, 0, 0, 0x10], &[0, 0, 4, 0]];
    let signed = genuine.changed(&mut choices, &values);
    let asks_twice = choices.rarely(4);
    judge(scheme, &signed, &genuine, asks_twice);
}

fn judge(scheme: Scheme, signed: &Signed, genuine: &Signed, asks_twice: bool) {
    let Signed { key, message, signature } = signed;
    let verdict = ours::verify(KERNELS, scheme, Sets::Every, key, &pieces(message), signature);
    let oid = key.first_chunk().map_or(0, |oid| u32::from_be_bytes(*oid));
    let set = XmssSet::of(scheme, oid);
    let approved =
        || ours::verify(KERNELS, scheme, Sets::Approved, key, &pieces(message), signature);
    match set {
        // A second verification takes as long as the first, so it is made only sometimes.
        Some(set) if set.family.is_approved && !asks_twice => {}
        Some(set) if set.family.is_approved => assert_eq!(approved(), verdict, "an approved set"),
        _ => assert!(approved().is_err(), "a set that SP 800-208 does not approve of"),
    }
    assert_eq!(XmssParameterSet::of(scheme, oid).is_some(), set.is_some(), "number {oid:#x}");
    if let Some(set) = set
        && signature.len() >= 8
        && from_bytes(&signature[..set.index_len()]) >> set.h != 0
    {
        // Length and key are checked before the index; the signature must not be accepted for any of these reasons.
        count(false);
        let is_other = verdict.is_err_and(|reason| reason != Rejection::Mismatch);
        assert!(is_other, "index beyond the trees: {verdict:?}");
        return;
    }
    let theirs = set.is_some_and(|set| accepts(&set, key, message, signature));
    let is_accepted = agree("xmss", "XMSS", verdict, theirs);
    assert_eq!(is_accepted, signed == genuine, "only the genuine signature is one: {verdict:?}");
}

fn accepts(set: &XmssSet, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    fn judge<P: XmssParameter>(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let Ok(key) = VerifyingKey::<P>::try_from(key) else { return false };
        let Ok(signature) = DetachedSignature::<P>::try_from(signature) else { return false };
        key.verify_detached(&signature, message).is_ok()
    }
    macro_rules! judges {
        ($($set:ident,)*) => { &[$(judge::<$set>,)*] };
    }
    type Judge = fn(&[u8], &[u8], &[u8]) -> bool;
    const XMSS: &[Judge] = judges![
        XmssSha2_10_256,
        XmssSha2_16_256,
        XmssSha2_20_256,
        XmssSha2_10_512,
        XmssSha2_16_512,
        XmssSha2_20_512,
        XmssShake_10_256,
        XmssShake_16_256,
        XmssShake_20_256,
        XmssShake_10_512,
        XmssShake_16_512,
        XmssShake_20_512,
        XmssSha2_10_192,
        XmssSha2_16_192,
        XmssSha2_20_192,
        XmssShake256_10_256,
        XmssShake256_16_256,
        XmssShake256_20_256,
        XmssShake256_10_192,
        XmssShake256_16_192,
        XmssShake256_20_192,
    ];
    const XMSS_MT: &[Judge] = judges![
        XmssMtSha2_20_2_256,
        XmssMtSha2_20_4_256,
        XmssMtSha2_40_2_256,
        XmssMtSha2_40_4_256,
        XmssMtSha2_40_8_256,
        XmssMtSha2_60_3_256,
        XmssMtSha2_60_6_256,
        XmssMtSha2_60_12_256,
        XmssMtSha2_20_2_512,
        XmssMtSha2_20_4_512,
        XmssMtSha2_40_2_512,
        XmssMtSha2_40_4_512,
        XmssMtSha2_40_8_512,
        XmssMtSha2_60_3_512,
        XmssMtSha2_60_6_512,
        XmssMtSha2_60_12_512,
        XmssMtShake_20_2_256,
        XmssMtShake_20_4_256,
        XmssMtShake_40_2_256,
        XmssMtShake_40_4_256,
        XmssMtShake_40_8_256,
        XmssMtShake_60_3_256,
        XmssMtShake_60_6_256,
        XmssMtShake_60_12_256,
        XmssMtShake_20_2_512,
        XmssMtShake_20_4_512,
        XmssMtShake_40_2_512,
        XmssMtShake_40_4_512,
        XmssMtShake_40_8_512,
        XmssMtShake_60_3_512,
        XmssMtShake_60_6_512,
        XmssMtShake_60_12_512,
        XmssMtSha2_20_2_192,
        XmssMtSha2_20_4_192,
        XmssMtSha2_40_2_192,
        XmssMtSha2_40_4_192,
        XmssMtSha2_40_8_192,
        XmssMtSha2_60_3_192,
        XmssMtSha2_60_6_192,
        XmssMtSha2_60_12_192,
        XmssMtShake256_20_2_256,
        XmssMtShake256_20_4_256,
        XmssMtShake256_40_2_256,
        XmssMtShake256_40_4_256,
        XmssMtShake256_40_8_256,
        XmssMtShake256_60_3_256,
        XmssMtShake256_60_6_256,
        XmssMtShake256_60_12_256,
        XmssMtShake256_20_2_192,
        XmssMtShake256_20_4_192,
        XmssMtShake256_40_2_192,
        XmssMtShake256_40_4_192,
        XmssMtShake256_40_8_192,
        XmssMtShake256_60_3_192,
        XmssMtShake256_60_6_192,
        XmssMtShake256_60_12_192,
    ];
    let number = set.oid as usize - 1;
    match set.scheme {
        Scheme::Xmss => XMSS[number](key, message, signature),
        Scheme::XmssMt => {
            // In files, both schemes number their sets from one. The other crate distinguishes the schemes by a bit,
            // and reads a number without it as one of XMSS if it can.
            let mut key = key.to_vec();
            key[1] |= 1;
            XMSS_MT[number](&key, message, signature)
        }
    }
}

/// Implements toByte (§2.4).
fn to_byte(value: u64, len: usize) -> Vec<u8> {
    (0..len).rev().map(|i| if i < 8 { (value >> (8 * i)) as u8 } else { 0 }).collect()
}

fn from_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

type XmssAdrs = [u32; 8];

impl Family {
    /// Computes the hash on which all keyed functions are based (§5.1).
    fn keyed(&self, number: u64, key: &[u8], message: &[u8]) -> Vec<u8> {
        let mut hash = (self.hash)(&[&to_byte(number, self.prefix_len), key, message].concat());
        hash.truncate(self.n);
        hash
    }

    fn prf(&self, seed: &[u8], adrs: XmssAdrs) -> Vec<u8> {
        self.keyed(3, seed, &adrs.map(u32::to_be_bytes).concat())
    }

    /// Implements `chain` (algorithm 2): steps `i` to `end`.
    fn chain(&self, x: Vec<u8>, i: u32, end: u32, seed: &[u8], mut adrs: XmssAdrs) -> Vec<u8> {
        (i..end).fold(x, |tmp, k| {
            (adrs[6], adrs[7]) = (k, 0);
            let key = self.prf(seed, adrs);
            adrs[7] = 1;
            self.keyed(0, &key, &xor(&tmp, &self.prf(seed, adrs)))
        })
    }

    /// Implements RAND_HASH (algorithm 7).
    fn rand_hash(&self, left: &[u8], right: &[u8], seed: &[u8], mut adrs: XmssAdrs) -> Vec<u8> {
        let [key, bm_0, bm_1] = [0, 1, 2].map(|which| {
            adrs[7] = which;
            self.prf(seed, adrs)
        });
        self.keyed(1, &key, &xor(&[left, right].concat(), &[bm_0, bm_1].concat()))
    }

    /// Implements ltree (algorithm 8).
    fn l_tree(&self, mut pk: Vec<Vec<u8>>, mut adrs: XmssAdrs, seed: &[u8]) -> Vec<u8> {
        for height in 0.. {
            let [node] = &pk[..] else {
                adrs[5] = height;
                let pairs = (0..).zip(pk.chunks(2));
                pk = pairs
                    .map(|(i, pair)| match pair {
                        [left, right] => {
                            adrs[6] = i;
                            self.rand_hash(left, right, seed, adrs)
                        }
                        alone => alone[0].clone(),
                    })
                    .collect();
                continue;
            };
            return node.clone();
        }
        unreachable!("halved until one is left")
    }
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// A tree of which one leaf is known.
struct XmssTree {
    adrs: XmssAdrs,
    secrets: Vec<Vec<u8>>,
    auth: Vec<Vec<u8>>,
    root: Vec<u8>,
}

impl XmssTree {
    fn new(
        set: &XmssSet,
        layer: u32,
        index: u64,
        seed: &[u8],
        mut bytes: impl FnMut() -> Vec<u8>,
    ) -> Self {
        let (family, height) = (set.family, set.h / set.d);
        let index = index.checked_shr(layer * height).unwrap_or(0);
        let tree = index.checked_shr(height).unwrap_or(0);
        let idx_leaf = (index & ((1 << height) - 1)) as u32;
        // This is the address of a one-time signature (§2.5).
        let adrs = [layer, (tree >> 32) as u32, tree as u32, 0, idx_leaf, 0, 0, 0];
        let secrets: Vec<_> = (0..2 * family.n + 3).map(|_| bytes()).collect();
        let pk = (0..).zip(&secrets).map(|(i, secret)| {
            let adrs = [adrs[0], adrs[1], adrs[2], 0, idx_leaf, i, 0, 0];
            family.chain(secret.clone(), 0, 15, seed, adrs)
        });
        let l_tree = [layer, adrs[1], adrs[2], 1, idx_leaf, 0, 0, 0];
        let leaf = family.l_tree(pk.collect(), l_tree, seed);
        let auth: Vec<_> = (0..height).map(|_| bytes()).collect();
        let root = (0..).zip(&auth).fold(leaf, |node, (k, sibling)| {
            let adrs = [layer, adrs[1], adrs[2], 2, 0, k, idx_leaf >> (k + 1), 0];
            match idx_leaf >> k & 1 {
                0 => family.rand_hash(&node, sibling, seed, adrs),
                _ => family.rand_hash(sibling, &node, seed, adrs),
            }
        });
        Self { adrs, secrets, auth, root }
    }

    /// Returns the one-time signature and the authentication path.
    fn sign(&self, family: &Family, message: &[u8], seed: &[u8]) -> Vec<u8> {
        let digits = digits(message);
        let values = (0..).zip(self.secrets.iter().zip(digits)).map(|(i, (secret, digit))| {
            let mut adrs = self.adrs;
            adrs[5] = i;
            family.chain(secret.clone(), 0, digit, seed, adrs)
        });
        values.chain(self.auth.iter().cloned()).flatten().collect()
    }
}

/// Makes a key and its signature, with an index that depends on `number`. For 4, the index is beyond the last leaf
/// if its field has room for that.
fn sign(set: &XmssSet, message: &[u8], number: u8) -> Signed {
    let XmssSet { family, h, d, .. } = *set;
    let mut counter = 0;
    let mut bytes = || {
        counter += 1;
        let block = [&[number][..], &u64::to_be_bytes(counter)].concat();
        sha512(&block)[..family.n].to_vec()
    };
    let last = u64::MAX >> (64 - h);
    let room = 8 * set.index_len() as u32 > h;
    let index = match number {
        0 => 0,
        1 => last,
        4 if room => last + 1 + (0x1234 & last),
        _ => 0x0123_4567_89ab_cdef_u64.rotate_left(number.into()) & last,
    };
    let (seed, r) = (bytes(), bytes());
    let trees: Vec<XmssTree> =
        (0..d).map(|layer| XmssTree::new(set, layer, index, &seed, &mut bytes)).collect();
    let root = &trees.last().expect("a layer").root;
    // H_msg (§4.1.9) is signed by the lowest tree, and the root of each tree by the one above.
    let key = [&r, root, &to_byte(index, family.n)[..]].concat();
    let mut node = family.keyed(2, &key, message);
    let mut signature = [&to_byte(index, set.index_len()), &r[..]].concat();
    for tree in &trees {
        signature.extend(tree.sign(&family, &node, &seed));
        node.clone_from(&tree.root);
    }
    let key = [&set.oid.to_be_bytes()[..], root, &seed].concat();
    Signed { key, message: message.to_vec(), signature }
}
