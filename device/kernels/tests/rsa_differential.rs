//! These tests make RSA signatures from chosen encoded messages: valid ones, and invalid ones of every kind that no
//! correct signer makes.

use hartlock_kernels::rsa::pkcs1::{self, Identified};
use hartlock_kernels::rsa::{KernelHasher, RsaPublicKey, pss};
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::signature::Rejection;
use hartlock_kernels::{Hash, Kernels};
use num_bigint::BigUint;
use proptest::prelude::*;
use sha2::Digest;
use std::sync::LazyLock;

const KERNELS: &Kernels = &Kernels::PORTABLE;

/// A private key that signs any encoded message.
struct Signer {
    n: BigUint,
    /// Primes p and q, each with the private exponent modulo p - 1 or q - 1.
    primes: [[BigUint; 2]; 2],
    /// Inverse of q modulo p.
    q_inverse: BigUint,
    modulus: Vec<u8>,
}

impl Signer {
    fn new(primes: [&str; 2]) -> Self {
        let [p, q] = primes.map(|hex| BigUint::parse_bytes(hex.as_bytes(), 16).unwrap());
        let n = &p * &q;
        let q_inverse = q.modinv(&p).unwrap();
        let primes = [p, q].map(|prime| {
            let exponent = BigUint::from(65537u32).modinv(&(&prime - 1u8)).unwrap();
            [prime, exponent]
        });
        Self { primes, q_inverse, modulus: n.to_bytes_be(), n }
    }

    fn key(&self) -> RsaPublicKey<'_> {
        RsaPublicKey::new(&self.modulus, &[1, 0, 1]).unwrap()
    }

    fn fixed(&self, number: &BigUint) -> Vec<u8> {
        let bytes = number.to_bytes_be();
        [vec![0; self.modulus.len() - bytes.len()], bytes].concat()
    }

    /// Computes the signature of an encoded message.
    fn sign(&self, encoded: &[u8]) -> Vec<u8> {
        let encoded = BigUint::from_bytes_be(encoded);
        assert!(encoded < self.n);
        // This is RFC 8017 §5.2.1 with the Chinese remainder theorem, which takes a quarter of the time.
        let [[p, dp], [q, dq]] = &self.primes;
        let (s1, s2) = (encoded.modpow(dp, p), encoded.modpow(dq, q));
        let h = (s1 + p - &s2 % p) * &self.q_inverse % p;
        self.fixed(&(s2 + h * q))
    }
}

/// Signers with keys of each length.
static SIGNERS: LazyLock<[Signer; 3]> = LazyLock::new(|| PRIMES.map(Signer::new));

/// Encodes any DigestInfo with EMSA-PKCS1-v1_5 (RFC 8017 §9.2).
fn pkcs1_block(len: usize, info: &[u8]) -> Vec<u8> {
    [&[0, 1], &vec![0xff; len - info.len() - 3][..], &[0], info].concat()
}

/// Returns the DigestInfo of a message with SHA-256, computed by another crate.
fn sha256_info(message: &[u8]) -> Vec<u8> {
    let prefix = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";
    [&prefix[..], &sha2::Sha256::digest(message)].concat()
}

fn judge_pkcs1(signer: &Signer, message: &[u8], signature: &[u8]) -> Result<(), Rejection> {
    pkcs1::verify::<Sha256>(KERNELS, &signer.key(), message, signature)
}

#[test]
fn pkcs1_blocks_are_accepted_at_every_size() {
    for signer in SIGNERS.iter() {
        let signature = signer.sign(&pkcs1_block(signer.modulus.len(), &sha256_info(b"message")));
        assert_eq!(judge_pkcs1(signer, b"message", &signature), Ok(()));
        assert_eq!(judge_pkcs1(signer, b"massage", &signature), Err(Rejection::Mismatch));
        for hash in [Sha384::DIGEST_INFO, Sha512::DIGEST_INFO] {
            let digest = sha2::Sha256::digest(b"message");
            let verdict = pkcs1::compare(&signer.key(), hash, &digest, &signature);
            assert_eq!(verdict.err(), Some(Rejection::Mismatch));
        }
    }
}

#[test]
fn every_byte_of_a_pkcs1_block_counts() {
    let signer = &SIGNERS[0];
    let block = pkcs1_block(256, &sha256_info(b"message"));
    for at in 1..block.len() {
        let mut block = block.clone();
        block[at] ^= 1 << (at % 8);
        let verdict = judge_pkcs1(signer, b"message", &signer.sign(&block));
        assert_eq!(verdict, Err(Rejection::Mismatch), "byte {at}");
    }
}

#[test]
fn other_pkcs1_blocks_are_refused() {
    let signer = &SIGNERS[0];
    let info = sha256_info(b"message");
    let digest = &info[19..];
    // The cases are a missing NULL, a length in the long form, only the digest, and trailing bytes after the digest.
    let without_null =
        [b"\x30\x2f\x30\x0b\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x04\x20", digest].concat();
    let long = [b"\x30\x81\x31", &info[2..]].concat();
    let trailing = [&info[..], &[0; 8]].concat();
    let mut blocks =
        [&without_null, &long, digest, &trailing].map(|info| pkcs1_block(256, info)).to_vec();
    // This block has short padding and trailing bytes, as in the attack on small exponents.
    blocks.push([&[0, 1], &[0xff; 8][..], &[0], &info, &[0xaa; 194]].concat());
    // The cases are no padding, the padding of encryption, wrong leading bytes, only zeros, and only padding.
    blocks.push([&[0; 204][..], &[0], &info].concat());
    blocks.push([&[0, 2], &[0xff; 202][..], &[0], &info].concat());
    blocks.push([&[0, 0], &[0xff; 202][..], &[0], &info].concat());
    blocks.push(vec![0; 256]);
    blocks.push([vec![0], vec![0xff; 255]].concat());
    for block in blocks {
        let verdict = judge_pkcs1(signer, b"message", &signer.sign(&block));
        assert_eq!(verdict, Err(Rejection::Mismatch), "{block:02x?}");
    }
    // Here the prefix or digest of the caller leaves no room for the padding.
    let signature = signer.sign(&pkcs1_block(256, &info));
    for (prefix, digest) in [(0, 0), (0, 65), (245, 1), (256, 1), (300, 64)] {
        let (prefix, digest) = (vec![0xff; prefix], vec![0; digest]);
        let verdict = pkcs1::compare(&signer.key(), &prefix, &digest, &signature);
        assert_eq!(verdict.err(), Some(Rejection::Mismatch));
    }
}

#[test]
fn pkcs1_padding_has_eight_bytes_at_least() {
    // This is possible only with a prefix that is longer than that of any hash.
    let signer = &SIGNERS[0];
    let digest = [9; 32];
    for (padding_len, expected) in [(8, Ok(())), (7, Err(Rejection::Mismatch))] {
        let prefix = vec![0xee; 256 - 3 - padding_len - digest.len()];
        let signature = signer.sign(&pkcs1_block(256, &[&prefix[..], &digest].concat()));
        let verdict = pkcs1::compare(&signer.key(), &prefix, &digest, &signature);
        assert_eq!(verdict.and_then(|comparison| comparison.check()), expected);
    }
}

#[test]
fn signatures_have_one_length_and_one_value() {
    for signer in SIGNERS.iter() {
        let len = signer.modulus.len();
        let signature = signer.sign(&pkcs1_block(len, &sha256_info(b"message")));
        let longer = [&signature[..], &[0]].concat();
        for len in (0..len).step_by(37).chain([len - 1, len + 1]) {
            let verdict = judge_pkcs1(signer, b"message", &longer[..len]);
            assert_eq!(verdict, Err(Rejection::SignatureLength));
        }
        let number = BigUint::from_bytes_be(&signature);
        for (value, expected) in [
            (signer.n.clone(), Rejection::NonCanonicalSignature),
            (&signer.n + 1u8, Rejection::NonCanonicalSignature),
            ((BigUint::from(1u8) << (8 * len)) - 1u8, Rejection::NonCanonicalSignature),
            (&signer.n - 1u8, Rejection::Mismatch),
            (BigUint::ZERO, Rejection::Mismatch),
            (BigUint::from(1u8), Rejection::Mismatch),
            (&signer.n - &number, Rejection::Mismatch),
        ] {
            let verdict = judge_pkcs1(signer, b"message", &signer.fixed(&value));
            assert_eq!(verdict, Err(expected));
        }
        // The signature plus n is congruent to the signature, and is tried if it fits.
        let again = number + &signer.n;
        if again.bits() <= 8 * len as u64 {
            let verdict = judge_pkcs1(signer, b"message", &signer.fixed(&again));
            assert_eq!(verdict, Err(Rejection::NonCanonicalSignature));
        }
    }
}

/// XORs `data` with MGF1 (RFC 8017 appendix B.2.1) of `seed`.
fn add_mask<D: Digest>(seed: &[u8], data: &mut [u8]) {
    let mask: Vec<u8> = (0u32..)
        .flat_map(|counter| D::digest([seed, &counter.to_be_bytes()].concat()).to_vec())
        .take(data.len())
        .collect();
    data.iter_mut().zip(mask).for_each(|(data, mask)| *data ^= mask);
}

/// Encodes a message with EMSA-PSS (RFC 8017 §9.1.1). Functions can change DB and the encoded message.
fn pss_block<D: Digest, M: Digest>(
    len: usize,
    message: &[u8],
    salt: &[u8],
    spoil_db: impl Fn(&mut [u8]),
    spoil: impl Fn(&mut [u8]),
) -> Vec<u8> {
    let hash = D::digest([&[0; 8], &D::digest(message)[..], salt].concat());
    let mut db = vec![0; len - hash.len() - 1];
    let at = db.len() - salt.len();
    db[at - 1] = 1;
    db[at..].copy_from_slice(salt);
    spoil_db(&mut db);
    add_mask::<M>(&hash, &mut db);
    db[0] &= 0x7f;
    let mut block = [&db[..], &hash, &[0xbc]].concat();
    spoil(&mut block);
    block
}

fn judge_pss<H: Hash, M: Hash>(
    signer: &Signer,
    message: &[u8],
    salt_len: usize,
    signature: &[u8],
) -> Result<(), Rejection> {
    pss::verify::<H, M>(KERNELS, &signer.key(), message, salt_len, signature)
}

#[test]
fn pss_blocks_are_accepted_at_every_size_with_every_salt() {
    for signer in SIGNERS.iter() {
        let len = signer.modulus.len();
        for salt_len in [0, 1, 20, 32, 48, 64, len - 66 - 1, len - 66] {
            let salt = vec![0x5a; salt_len];
            let block =
                pss_block::<sha2::Sha512, sha2::Sha256>(len, b"message", &salt, |_| (), |_| ());
            let signature = signer.sign(&block);
            let judge =
                |salt_len| judge_pss::<Sha512, Sha256>(signer, b"message", salt_len, &signature);
            assert_eq!(judge(salt_len), Ok(()), "{salt_len}");
            for other in [salt_len + 1, salt_len.wrapping_sub(1), len, usize::MAX] {
                assert_eq!(judge(other), Err(Rejection::Mismatch), "{salt_len}, not {other}");
            }
            let swapped = judge_pss::<Sha256, Sha512>(signer, b"message", salt_len, &signature);
            assert_eq!(swapped, Err(Rejection::Mismatch));
        }
    }
}

#[test]
fn every_bit_of_a_pss_block_counts() {
    let signer = &SIGNERS[0];
    let judge =
        |block: &[u8]| judge_pss::<Sha384, Sha384>(signer, b"message", 48, &signer.sign(block));
    for at in 0..256 {
        let block = pss_block::<sha2::Sha384, sha2::Sha384>(
            256,
            b"message",
            &[7; 48],
            |_| (),
            |block| block[at] ^= if at == 0 { 1 } else { 1 << (at % 8) },
        );
        assert_eq!(judge(&block), Err(Rejection::Mismatch), "byte {at}");
    }
    for at in 0..207 {
        let block = pss_block::<sha2::Sha384, sha2::Sha384>(
            256,
            b"message",
            &[7; 48],
            |db| db[at] ^= if at == 0 { 1 } else { 1 << (at % 8) },
            |_| (),
        );
        // The salt is hashed, so another salt gives another H'.
        assert_eq!(judge(&block), Err(Rejection::Mismatch), "byte {at} of DB");
    }
}

#[test]
fn the_bit_above_a_pss_block_is_zero() {
    // The modulus must be larger than the changed block, which holds for at least one of these keys.
    let mut tried = 0;
    for signer in SIGNERS.iter() {
        let len = signer.modulus.len();
        for salt in 0..32u8 {
            let block = pss_block::<sha2::Sha256, sha2::Sha256>(
                len,
                b"message",
                &[salt; 32],
                |_| (),
                |block| block[0] |= 0x80,
            );
            if BigUint::from_bytes_be(&block) < signer.n {
                let verdict =
                    judge_pss::<Sha256, Sha256>(signer, b"message", 32, &signer.sign(&block));
                assert_eq!(verdict, Err(Rejection::Mismatch));
                tried += 1;
            }
        }
    }
    assert!(tried > 0);
}

#[test]
fn a_digest_of_another_length_is_refused() {
    let signer = &SIGNERS[0];
    let block = pss_block::<sha2::Sha256, sha2::Sha256>(256, b"message", &[1; 32], |_| (), |_| ());
    let signature = signer.sign(&block);
    let hash = KernelHasher::<Sha256>::new(KERNELS);
    let judge = |digest: &[u8]| {
        let mask = pss::Mgf1(&hash);
        pss::compare(&signer.key(), &hash, &mask, digest, 32, &signature)?.check()
    };
    let digest = sha2::Sha256::digest(b"message");
    assert_eq!(judge(&digest), Ok(()));
    for digest in [&digest[..31], &[&digest[..], &[0]].concat(), &[]] {
        assert_eq!(judge(digest), Err(Rejection::Mismatch));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn one_flipped_bit_is_refused(size in 0..3usize, place: prop::sample::Index, message: [u8; 9]) {
        let signer = &SIGNERS[size];
        let len = signer.modulus.len();
        let pkcs1 = signer.sign(&pkcs1_block(len, &sha256_info(&message)));
        let pss = pss_block::<sha2::Sha256, sha2::Sha256>(len, &message, &[1; 32], |_| (), |_| ());
        let pss = signer.sign(&pss);
        prop_assert_eq!(judge_pkcs1(signer, &message, &pkcs1), Ok(()));
        prop_assert_eq!(judge_pss::<Sha256, Sha256>(signer, &message, 32, &pss), Ok(()));
        for signature in [&pkcs1, &pss] {
            let bit = place.index(8 * len);
            let mut signature = signature.clone();
            signature[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(judge_pkcs1(signer, &message, &signature).is_err());
            prop_assert!(judge_pss::<Sha256, Sha256>(signer, &message, 32, &signature).is_err());
        }
        // A signature of one scheme is not valid for the other.
        prop_assert!(judge_pkcs1(signer, &message, &pss).is_err());
        prop_assert!(judge_pss::<Sha256, Sha256>(signer, &message, 32, &pkcs1).is_err());
    }
}

fn wrap(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len();
    let header = match len {
        0..0x80 => vec![tag, len as u8],
        0x80..0x100 => vec![tag, 0x81, len as u8],
        _ => vec![tag, 0x82, (len >> 8) as u8, len as u8],
    };
    [header, content.to_vec()].concat()
}

fn integer(number: &[u8]) -> Vec<u8> {
    let sign: &[u8] = if number[0] >= 0x80 { &[0] } else { &[] };
    wrap(2, &[sign, number].concat())
}

const RSA: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
const RSA_PSS: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a";

fn spki(algorithm: &[u8], parameters: &[u8], key: &[u8]) -> Vec<u8> {
    let algorithm = wrap(0x30, &[algorithm, parameters].concat());
    wrap(0x30, &[algorithm, wrap(3, &[&[0], key].concat())].concat())
}

#[test]
fn keys_are_read_from_the_one_encoding() {
    for signer in SIGNERS.iter() {
        let n = &signer.modulus;
        let pkcs1 = wrap(0x30, &[integer(n), integer(&[1, 0, 1])].concat());
        let spki_of = |algorithm, parameters| spki(algorithm, parameters, &pkcs1);
        let good = spki_of(RSA, &[5, 0]);
        assert_eq!(RsaPublicKey::from_pkcs1_der(&pkcs1).unwrap().modulus(), n);
        assert_eq!(RsaPublicKey::from_spki_der(&good).unwrap().modulus(), n);

        let verdict = |der: &[u8]| RsaPublicKey::from_spki_der(der).err();
        assert_eq!(verdict(&spki_of(RSA_PSS, &[])), Some(Rejection::UnsupportedKey));
        assert_eq!(verdict(&spki_of(RSA_PSS, &[0x30, 0])), Some(Rejection::UnsupportedKey));
        for parameters in [&[][..], &[0x30, 0], &[5, 0, 5, 0], &[5, 0x81, 0], &[5, 1, 0]] {
            assert_eq!(verdict(&spki_of(RSA, parameters)), Some(Rejection::InvalidKey));
        }
        // The verifier does not try the other structure.
        assert_eq!(verdict(&pkcs1), Some(Rejection::InvalidKey));
        for len in (0..good.len()).step_by(7).chain([good.len() - 1]) {
            assert_eq!(verdict(&good[..len]), Some(Rejection::InvalidKey));
        }
        assert_eq!(verdict(&[&good[..], &[0]].concat()), Some(Rejection::InvalidKey));
        let front = good.len() - pkcs1.len();
        for at in 0..front + 9 {
            let mut changed = good.clone();
            changed[at] ^= 1;
            assert!(verdict(&changed).is_some(), "byte {at}");
        }

        let key = |parts: &[Vec<u8>]| {
            let der = wrap(0x30, &parts.concat());
            RsaPublicKey::from_pkcs1_der(&der).err()
        };
        let e = integer(&[1, 0, 1]);
        for parts in [
            // The cases are an additional or missing sign byte, no byte, a third number, only one number, and another
            // tag.
            vec![wrap(2, &[&[0, 0], &n[..]].concat()), e.clone()],
            vec![wrap(2, n), e.clone()],
            vec![integer(n), wrap(2, &[0, 1, 0, 1])],
            vec![integer(n), wrap(2, &[])],
            vec![integer(n), e.clone(), integer(&[1])],
            vec![integer(n)],
            vec![integer(n), wrap(3, &[1, 0, 1])],
        ] {
            assert_eq!(key(&parts), Some(Rejection::InvalidKey));
        }
    }
}

#[test]
fn numbers_that_are_no_key_are_told_from_unsupported_ones() {
    let n = &SIGNERS[0].modulus[..];
    let verdict = |n: &[u8], e: &[u8]| RsaPublicKey::new(n, e).err();
    assert_eq!(verdict(n, &[1, 0, 1]), None);
    let even = [&n[..255], &[n[255] ^ 1]].concat();
    let padded = [&[0], n].concat();
    let above = [&[0xff], &n[1..]].concat();
    for (n, e) in [
        (&even[..], &[1, 0, 1][..]),
        (&padded, &[1, 0, 1]),
        (&[], &[1, 0, 1]),
        (&[0], &[1, 0, 1]),
        (n, &[]),
        (n, &[0]),
        (n, &[1]),
        (n, &[2]),
        (n, &[1, 0, 0]),
        (n, &[0, 1, 0, 1]),
        (n, n),
        (n, &above),
        (n, &padded),
    ] {
        assert_eq!(verdict(n, e), Some(Rejection::InvalidKey), "{n:02x?} {e:02x?}");
    }
    let short = [&[0x7f], &n[1..]].concat();
    for (n, e) in [
        (n, &[3][..]),
        (n, &[1, 0, 3]),
        (n, &[1, 0, 0, 0, 1]),
        (&short, &[1, 0, 1]),
        (&n[..255], &[3]),
        (&[&[1], n].concat(), &[1, 0, 1]),
        (&[&[0x81; 8], n].concat(), &[1, 0, 1]),
        (&[n, n, n].concat(), &[1, 0, 1]),
    ] {
        let odd = [&n[..n.len() - 1], &[n[n.len() - 1] | 1]].concat();
        assert_eq!(verdict(&odd, e), Some(Rejection::UnsupportedKey), "{} {e:02x?}", n.len());
    }
}

#[test]
fn the_self_tests_pass() {
    assert!(pkcs1::self_test());
    assert!(pss::self_test());
}

/// Primes of keys with 2048, 3072 and 4096 bits, which were made for these tests with OpenSSL.
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
