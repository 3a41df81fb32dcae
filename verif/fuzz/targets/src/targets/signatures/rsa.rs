//! Compares RSA with PKCS #1 v1.5 and PSS with the crate `rsa`.
//!
//! Rules: both accept the same signatures. Some signatures are over an encoded message that was changed
//! before signing, so that padding, separators, DigestInfo and salt are wrong in ways that no signer
//! produces. A key is accepted exactly if the other crate reads it and writes the same bytes again, and if it
//! is of the kind that Hartlock supports: 2048, 3072 or 4096 bits and the exponent 65537.

use std::sync::LazyLock;

use hartlock_kernels::rsa::{RsaPublicKey, pkcs1, pss};
use hartlock_kernels::sha2 as ours;
use hartlock_kernels::signature::Rejection;
use rsa::pkcs1::{DecodeRsaPublicKey, EncodeRsaPublicKey};
use rsa::pkcs8::{DecodePublicKey, EncodePublicKey};
use rsa::signature::Verifier;
use rsa::traits::PublicKeyParts;
use rsa::{BoxedUint, RsaPrivateKey, RsaPublicKey as PeerPublicKey};
use sha2::Digest;

use super::{KERNELS, MESSAGES};
use crate::choices::Choices;
use crate::signed::{Pool, Signed, agree, change};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    const ALL: [Hash; 3] = [Hash::Sha256, Hash::Sha384, Hash::Sha512];

    fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        let message = parts.concat();
        match self {
            Hash::Sha256 => sha2::Sha256::digest(message).to_vec(),
            Hash::Sha384 => sha2::Sha384::digest(message).to_vec(),
            Hash::Sha512 => sha2::Sha512::digest(message).to_vec(),
        }
    }

    /// Returns DigestInfo without the digest (RFC 8017 §9.2).
    fn info(self) -> Vec<u8> {
        let (number, len) = [(1, 32), (2, 48), (3, 64)][self as usize];
        [
            &[0x30, 17 + len, 0x30, 13][..],
            &[0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, number, 5, 0, 4, len],
        ]
        .concat()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Scheme {
    Pkcs1(Hash),
    /// PSS with this length of the salt in bytes.
    Pss(Hash, usize),
}

static KEYS: LazyLock<[RsaPrivateKey; 3]> = LazyLock::new(|| {
    PRIMES.map(|primes| {
        let [p, q] = primes.map(|hex| {
            let bytes: Vec<u8> = (0..hex.len() / 2)
                .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("a digit"))
                .collect();
            BoxedUint::from_be_slice(&bytes, 8 * bytes.len() as u32).expect("as many bits")
        });
        RsaPrivateKey::from_p_q(p, q, BoxedUint::from(65537_u64)).expect("two primes")
    })
});

pub fn run(data: &[u8]) {
    static POOL: Pool<(usize, Vec<u8>)> = Pool::new();
    let mut choices = Choices::new(data);
    // The smallest key is chosen most often, because signing is slow.
    let size = choices.of(&[0, 0, 1, 0, 2]);
    let key = &KEYS[size];
    let hash = choices.of(&Hash::ALL);
    let scheme = match choices.below(2) {
        0 => Scheme::Pkcs1(hash),
        _ => {
            let longest = key.size() - hash.digest(&[]).len() - 2;
            Scheme::Pss(hash, choices.of(&[32, 48, 64, 0, 1, longest, 20]))
        }
    };
    let message = choices.of(&MESSAGES);
    let right = encode(scheme, message, key.size(), &mut Choices::new(&[]));
    let block = match choices.below(3) {
        0 => right.clone(),
        _ => encode(scheme, message, key.size(), &mut choices),
    };
    let modulus = key.n().to_be_bytes();
    let genuine = POOL.get((size, block.clone()), |(_, block)| Signed {
        key: modulus.to_vec(),
        message: message.to_vec(),
        signature: raw_sign(key, block),
    });
    // The cache is indexed by the encoded message, so the message itself is set here.
    let genuine = Signed { message: message.to_vec(), ..genuine };
    let limits = [&modulus[..]];
    let mut signed = genuine.changed(&mut choices, &limits);
    if choices.rarely(16) {
        // The verifier requires another salt length.
        let other = Scheme::Pss(hash, choices.number() as usize % 600);
        judge(other, &signed);
    }
    let is_accepted = judge(scheme, &signed);
    if signed == genuine && block == right {
        assert!(is_accepted, "a genuine signature is refused");
    }
    if choices.rarely(4) {
        // The modulus is added to the signature, which is then out of range.
        super::add(&mut signed.signature, &modulus);
        judge(scheme, &signed);
    }
    keys(&mut choices, key);
}

/// Returns the encoded message of a scheme, with at most one fault that the verifier must find, and with
/// other changes in its parts. It is correct at the end of the fuzzer's bytes.
fn encode(scheme: Scheme, message: &[u8], len: usize, choices: &mut Choices<'_>) -> Vec<u8> {
    let fault = choices.below(8);
    let mut block = match scheme {
        Scheme::Pkcs1(hash) => {
            // EMSA-PKCS1-v1_5 (RFC 8017 §9.2).
            let mut info = [hash.info(), hash.digest(&[message])].concat();
            if fault == 1 {
                // The parameters field is missing where NULL is required.
                info.drain(15..17);
                info[1] -= 2;
                info[3] -= 2;
            }
            spoil(choices, &mut info);
            let padding_len = len.saturating_sub(info.len() + 3);
            let mut block = [&[0, 1], &vec![0xff; padding_len][..], &[0], &info].concat();
            match fault {
                2 => block[choices.below(2)] = choices.byte(),
                3 => block[2 + choices.below(padding_len.max(1))] = choices.byte(),
                4 => block[2 + padding_len] = choices.byte(),
                5 => {
                    // The padding is shorter, and bytes follow the digest.
                    let kept = choices.of(&[0, 8, 1]).min(padding_len);
                    block.drain(2 + kept..2 + padding_len);
                    block.resize(len, choices.byte());
                }
                _ => {}
            }
            block
        }
        Scheme::Pss(hash, salt_len) => {
            // EMSA-PSS (RFC 8017 §9.1.1) with MGF1 of the same hash.
            let salt = vec![0xa5; salt_len];
            let mut digest = hash.digest(&[&[0; 8], &hash.digest(&[message]), &salt]);
            let db_len = len - digest.len() - 1;
            let separator = db_len - salt_len - 1;
            let mut db = vec![0; separator];
            db.push(1);
            db.extend(&salt);
            match fault {
                1 => db[separator] = choices.byte(),
                2 => db[choices.below(separator.max(1))] = choices.byte(),
                3 => db[separator.saturating_sub(1)] = 1,
                _ => {}
            }
            spoil(choices, &mut db);
            db.resize(db_len, 0);
            let blocks = (0_u32..).take(db_len.div_ceil(digest.len()));
            let mask = blocks.flat_map(|at| hash.digest(&[&digest, &at.to_be_bytes()]));
            db.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
            db[0] &= 0x7f;
            if fault == 4 {
                db[0] |= 0x80;
            }
            digest.push(if fault == 5 { choices.byte() } else { 0xbc });
            spoil(choices, &mut digest);
            [db, digest].concat()
        }
    };
    spoil(choices, &mut block);
    block.resize(len, 0);
    block
}

fn spoil(choices: &mut Choices<'_>, bytes: &mut Vec<u8>) {
    for _ in 0..choices.of(&[0, 0, 0, 1, 0, 2]) {
        change(choices, bytes, &[]);
    }
}

/// Returns the signature of this encoded message, whose top bit is cleared first if the message is not below the
/// modulus.
fn raw_sign(key: &RsaPrivateKey, block: &[u8]) -> Vec<u8> {
    let mut block = block.to_vec();
    let modulus = key.n().to_be_bytes();
    if block[..] >= modulus[..] {
        block[0] &= 0x7f;
    }
    let number = BoxedUint::from_be_slice(&block, 8 * key.size() as u32).expect("as many bits");
    let unblinded = None::<&mut dyn rsa::rand_core::CryptoRng>;
    let signature = rsa::hazmat::rsa_decrypt(unblinded, key, &number).expect("a number below n");
    signature.to_be_bytes().to_vec()
}

fn judge(scheme: Scheme, signed: &Signed) -> bool {
    let Signed { key: modulus, message, signature } = signed;
    let ours = RsaPublicKey::new(modulus, &[1, 0, 1])
        .and_then(|key| verify(scheme, &key, message, signature));
    let bits = 8 * modulus.len() as u32;
    let theirs = || {
        let n = BoxedUint::from_be_slice(modulus, bits).ok()?;
        let key = PeerPublicKey::new(n, BoxedUint::from(65537_u64)).ok()?;
        // Hartlock supports only keys of this kind.
        let is_ours = modulus[0] >= 0x80 && [256, 384, 512].contains(&modulus.len());
        is_ours.then(|| peer_accepts(scheme, key, message, signature))
    };
    agree("rsa", &format!("{scheme:?}"), ours, theirs().unwrap_or(false))
}

fn verify(
    scheme: Scheme,
    key: &RsaPublicKey<'_>,
    message: &[u8],
    signature: &[u8],
) -> Result<(), Rejection> {
    match scheme {
        Scheme::Pkcs1(Hash::Sha256) => {
            pkcs1::verify::<ours::Sha256>(KERNELS, key, message, signature)
        }
        Scheme::Pkcs1(Hash::Sha384) => {
            pkcs1::verify::<ours::Sha384>(KERNELS, key, message, signature)
        }
        Scheme::Pkcs1(Hash::Sha512) => {
            pkcs1::verify::<ours::Sha512>(KERNELS, key, message, signature)
        }
        Scheme::Pss(Hash::Sha256, salt_len) => {
            pss::verify::<ours::Sha256, ours::Sha256>(KERNELS, key, message, salt_len, signature)
        }
        Scheme::Pss(Hash::Sha384, salt_len) => {
            pss::verify::<ours::Sha384, ours::Sha384>(KERNELS, key, message, salt_len, signature)
        }
        Scheme::Pss(Hash::Sha512, salt_len) => {
            pss::verify::<ours::Sha512, ours::Sha512>(KERNELS, key, message, salt_len, signature)
        }
    }
}

fn peer_accepts(scheme: Scheme, key: PeerPublicKey, message: &[u8], signature: &[u8]) -> bool {
    fn judge<S>(key: &impl Verifier<S>, message: &[u8], signature: &[u8]) -> bool
    where
        S: for<'s> TryFrom<&'s [u8]>,
    {
        S::try_from(signature).is_ok_and(|signature| key.verify(message, &signature).is_ok())
    }
    use rsa::pkcs1v15::VerifyingKey as Pkcs1;
    use rsa::pss::VerifyingKey as Pss;
    let pss = |salt_len| (key.clone(), salt_len);
    match scheme {
        Scheme::Pkcs1(Hash::Sha256) => judge(&Pkcs1::<sha2::Sha256>::new(key), message, signature),
        Scheme::Pkcs1(Hash::Sha384) => judge(&Pkcs1::<sha2::Sha384>::new(key), message, signature),
        Scheme::Pkcs1(Hash::Sha512) => judge(&Pkcs1::<sha2::Sha512>::new(key), message, signature),
        Scheme::Pss(Hash::Sha256, salt_len) => {
            let (key, salt_len) = pss(salt_len);
            judge(&Pss::<sha2::Sha256>::new_with_salt_len(key, salt_len), message, signature)
        }
        Scheme::Pss(Hash::Sha384, salt_len) => {
            let (key, salt_len) = pss(salt_len);
            judge(&Pss::<sha2::Sha384>::new_with_salt_len(key, salt_len), message, signature)
        }
        Scheme::Pss(Hash::Sha512, salt_len) => {
            let (key, salt_len) = pss(salt_len);
            judge(&Pss::<sha2::Sha512>::new_with_salt_len(key, salt_len), message, signature)
        }
    }
}

/// Compares the parsers of both public key formats, with changed or arbitrary bytes.
fn keys(choices: &mut Choices<'_>, key: &RsaPrivateKey) {
    let key = key.to_public_key();
    let mut spki = key.to_public_key_der().expect("short enough").into_vec();
    let mut bare = key.to_pkcs1_der().expect("short enough").as_bytes().to_vec();
    for der in [&mut spki, &mut bare] {
        for _ in 0..choices.of(&[0, 1, 2]) {
            change(choices, der, &[&[1, 0, 1], &[0x02, 0x03, 0x01, 0x00, 0x01]]);
        }
        if choices.rarely(16) {
            *der = choices.bytes(120).to_vec();
        }
    }
    let is_ours = |key: &PeerPublicKey| {
        *key.e() == BoxedUint::from(65537_u64) && [2048, 3072, 4096].contains(&key.n().bits())
    };
    let theirs = PeerPublicKey::from_public_key_der(&spki).ok().filter(|key| {
        key.to_public_key_der().is_ok_and(|again| again.as_bytes() == spki) && is_ours(key)
    });
    compare_keys(&spki, RsaPublicKey::from_spki_der(&spki), theirs);
    let theirs = PeerPublicKey::from_pkcs1_der(&bare).ok().filter(|key| {
        key.to_pkcs1_der().is_ok_and(|again| again.as_bytes() == bare) && is_ours(key)
    });
    compare_keys(&bare, RsaPublicKey::from_pkcs1_der(&bare), theirs);
}

fn compare_keys(
    der: &[u8],
    ours: Result<RsaPublicKey<'_>, Rejection>,
    theirs: Option<PeerPublicKey>,
) {
    let modulus = theirs.map(|key| key.n().to_be_bytes().to_vec());
    let reason = ours.as_ref().err();
    let ours = ours.as_ref().ok().map(|key| key.modulus());
    assert_eq!(ours, modulus.as_deref(), "{reason:?}: the key {der:02x?}");
}

/// Published primes of 1024, 1536 and 2048 bits, which the tests of the kernels also use.
const PRIMES: [[&str; 2]; 3] = [
    [
        "\
     e8af83eb76de5f081aeae498dc11d9c939a661e1595319f77668d234f2e36c5fddb66745650bd12ae034f6fb7ac7\
     10ea7f83a6d854669a9f9879cae045ef5cee4293eaab3cf2018ac34ccefa6705f335241d8c021a166a7e4fd7d635\
     7d65505de28aa12697be3310a2aa3a6cfb5c56dd171e7cf3e4c2ee84e371588efca33653",
        "\
     e57560898089365fb06a8915e60242b6ec86e5eb5da1b7e52775ad9bff7d69ef558f5178d33cb86b70f5bd764a95\
     e7e50f75758d7676ffc1c650d5a8fb41d81f9fb6e9ecc32ad756e20bc5f32abbfa9dcf42c26d49336e2f286a243e\
     2f947157f51a61f18d48bf1a5962ef392dccd27b3f4bab56719795c11a4dcd930ed11ae1",
    ],
    [
        "\
     ef49804067c2945339c1c4603fa3b19e9eb91256124b2a71a62a7afe7d450d88ce3a63c87cb77ac57901011ecfce\
     296fceaab458a3603665aa1308fd55f3205e3cbc087a0e76c9a1780bb0d99f8936aed466e75877511f912041a113\
     63b9f0a3ffe775f91b7d22cdb43117b307174744b54619da381941f746de0c4dfaadc0caccdf8afd4ff692b43659\
     9af6462feb9e902f0fbd1ff01bb7d85ab8f4e8cc5b8444c041405728b8c541a9010b2e26dd09be595d10780bb71a\
     ebca2a53597e0397",
        "\
     dea2879f031c2c56eecd0d377139532f106c314f44bc384bbb1670b899a3f51caa84fad8baa8022633cea39ee128\
     5fc29faf3b1faf93a9e2696cfed9af53961c5e1051c03d2f50180996e06c88c24efd5ab1093e9f2247b657c4e4da\
     f0500579a804f428eaf5cc44d00ee9b25ba509061da3988921c7fabcdcc4e3d95ce88c6618d64bf34b8608a07c6d\
     a39c6fea3f26d34fc227fa332feab410af6d88158bd12969997ed3af3a89ce28e75b8301878d28ea50f91d3d019a\
     c7d134d78690f951",
    ],
    [
        "\
     e6f5b58bfd3685d657af0430cf23117d33e757b8ecf9ef2504c33bf37f146e7b41d9f2203c49dc6bd1343d0fd366\
     54251a47cb94b7a7ea094cd436d9adce17513c434bc00cb20d4499bee41fc697a4c6aa9f342826bd06f89f16852b\
     84f32b24d0a95750571d4c1caa15a1feca1df7c2c3d82c25cad662e515dddbf6f142330521280faca86c1587e92e\
     c8287d5fe7725b85b0af994e03305c823a6811c8c2cb2fc60db99db30da360c4d6e62bc4c5f3b6ea5735a5b0f9fe\
     2d6e562b9693dd71ca05f17d91f46ffb1ca155943c46a191e20871e98a5e0a0e3906775045aa18cec17edc59eae3\
     cfb8a82a40d61c2a67099c5b8729eb49cfdcc13389646ad9b07b",
        "\
     c449761de3ee02683f830ab69fd4d8d0e9e213269a5d8841ce5a3d1b442c51ad4047fd07c381e4ba9c960beb2311\
     5f782f4c511cb009e501d06b8b1a118e345ce7169996defd1945a178493d4f4655fc42a7ceac3b1b03577f453860\
     0a488f86b7c7ba62aa7adf15619a31fc77e6e2db856eea2749f1ebb4da1e87f488d6a2fd37a8ae6a9cd798fb117a\
     0ec64a255c189e21f0907f212f3371644548542a59e653d10b554578a5e8e13d7413488a23da2d92821e2e4fb5c3\
     75ad1fb2c9bb065cd0d221d3142dca3d4521172f6b657bce97725b08a1167fd44f13c4901c006372acf5ffb227f9\
     a0b55764bf5a575abdd496b5f8631a88efbd8de157aefbe3e603",
    ],
];
