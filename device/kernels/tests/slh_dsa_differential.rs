//! These tests compare SLH-DSA with the crate `fips205`, which also makes signatures, for all sets, valid signatures
//! and damaged ones.

use fips205::traits::{KeyGen, SerDes, Signer, Verifier};
use hartlock_kernels::Kernels;
use hartlock_kernels::signature::Rejection;
use hartlock_kernels::slh_dsa::{MAX_CONTEXT_LEN, SlhDsaMessage, SlhDsaSet, verify};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::ops::Range;

/// The object identifier of SHA-256. `DIGEST` need not be the digest of a message.
const OID: &[u8] = b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01";
const DIGEST: &[u8] = b"thirty-two bytes, no matter which";
const CONTEXT: &[u8] = b"boot";
const MESSAGE: &[u8] = b"the message of this test";

/// A key with two signatures, and a function that returns the verdict of the second implementation.
struct Peer {
    set: SlhDsaSet,
    key: Vec<u8>,
    /// Signature of `MESSAGE` with `CONTEXT`.
    pure: Vec<u8>,
    /// Signature of `DIGEST` with `CONTEXT`.
    pre_hashed: Vec<u8>,
    accepts: fn(&[u8], SlhDsaMessage, &[u8]) -> bool,
}

macro_rules! tests {
    ($($(#[$attribute:meta])? $name:ident: $set:ident, $n:literal, $h_prime:literal $d:literal $a:literal $k:literal;)*) => {$(
        #[test]
        $(#[$attribute])?
        fn $name() {
            use fips205::$name::{KG, PublicKey, SIG_LEN};
            fn accepts(key: &[u8], message: SlhDsaMessage, signature: &[u8]) -> bool {
                // The second implementation cannot take a key or signature of the wrong length.
                let Ok(key) = key.try_into() else { return false };
                let key = PublicKey::try_from_bytes(key).unwrap();
                let Ok(signature) = <&[u8; SIG_LEN]>::try_from(signature) else { return false };
                match message {
                    SlhDsaMessage::Pure { context, message } => key.verify(message, signature, context),
                    SlhDsaMessage::PreHashed { context, oid, digest } => {
                        key.hash_verify(digest, signature, context, oid)
                    }
                    SlhDsaMessage::Internal(_) => unreachable!("the peer does not offer it"),
                }
            }
            let [a, b, c] = [1, 2, 3].map(|number: u8| [number; $n]);
            let (public, private) = KG::keygen_from_seed(&a, &b, &c);
            check(&Peer {
                set: SlhDsaSet::$set,
                key: public.into_bytes().to_vec(),
                pure: private.try_sign(MESSAGE, CONTEXT, false).unwrap().to_vec(),
                pre_hashed: private
                    .try_hash_sign(&DIGEST[..32], CONTEXT, OID, false)
                    .unwrap()
                    .to_vec(),
                accepts,
            }, &parts($n, $h_prime, $d, $a, $k));
        }
    )*};
}

// The numbers are n, h', d, a and k from FIPS 205 §11, table 2.
tests! {
    slh_dsa_sha2_128s: Sha2_128s, 16, 9 7 12 14;
    slh_dsa_sha2_128f: Sha2_128f, 16, 3 22 6 33;
    slh_dsa_sha2_192f: Sha2_192f, 24, 3 22 8 33;
    slh_dsa_sha2_256f: Sha2_256f, 32, 4 17 9 35;
    slh_dsa_shake_128f: Shake128f, 16, 3 22 6 33;
    slh_dsa_shake_192f: Shake192f, 24, 3 22 8 33;
    slh_dsa_shake_256f: Shake256f, 32, 4 17 9 35;
}

/// Sets whose signatures take seconds of processor time. Only their parameters differ from the sets above.
mod exhaustive {
    use super::*;

    tests! {
        #[ignore = "exhaustive: TIER=full"]
        slh_dsa_sha2_192s: Sha2_192s, 24, 9 7 14 17;
        #[ignore = "exhaustive: TIER=full"]
        slh_dsa_sha2_256s: Sha2_256s, 32, 8 8 14 22;
        #[ignore = "exhaustive: TIER=full"]
        slh_dsa_shake_128s: Shake128s, 16, 9 7 12 14;
        #[ignore = "exhaustive: TIER=full"]
        slh_dsa_shake_192s: Shake192s, 24, 9 7 14 17;
        #[ignore = "exhaustive: TIER=full"]
        slh_dsa_shake_256s: Shake256s, 32, 8 8 14 22;
    }
}

/// Returns the ranges of the parts of a signature: R, the secret value and path of each FORS tree, and the WOTS+
/// signature and path of each layer (§9.2, figure 17).
fn parts(n: usize, h_prime: usize, d: usize, a: usize, k: usize) -> Vec<Range<usize>> {
    let lens = [n]
        .into_iter()
        .chain((0..k).flat_map(|_| [n, a * n]))
        .chain((0..d).flat_map(|_| [(2 * n + 3) * n, h_prime * n]));
    let mut end = 0;
    lens.map(|len| {
        end += len;
        end - len..end
    })
    .collect()
}

impl Peer {
    /// Returns our verdict, after a check that the second implementation has the same verdict.
    fn verdict(
        &self,
        key: &[u8],
        message: SlhDsaMessage,
        signature: &[u8],
    ) -> Result<(), Rejection> {
        let ours = verify(&Kernels::PORTABLE, self.set, key, message, signature);
        assert_eq!(ours.is_ok(), (self.accepts)(key, message, signature), "{ours:?}");
        ours
    }
}

fn check(peer: &Peer, parts: &[Range<usize>]) {
    let (key, signature) = (&peer.key[..], &peer.pure[..]);
    let pure = |context, message| SlhDsaMessage::Pure { context, message };
    let good = pure(CONTEXT, MESSAGE);
    assert_eq!((key.len(), signature.len()), (peer.set.public_key_len(), peer.set.signature_len()));
    assert_eq!(parts.last().unwrap().end, signature.len());
    assert_eq!(peer.verdict(key, good, signature), Ok(()));

    // An interface does not accept the signature of another one.
    let digest = &DIGEST[..32];
    let pre_hashed = SlhDsaMessage::PreHashed { context: CONTEXT, oid: OID, digest };
    assert_eq!(peer.verdict(key, pre_hashed, &peer.pre_hashed), Ok(()));
    assert_eq!(peer.verdict(key, pre_hashed, signature), Err(Rejection::Mismatch));
    assert_eq!(peer.verdict(key, good, &peer.pre_hashed), Err(Rejection::Mismatch));
    let joined = [OID, digest].concat();
    assert!(peer.verdict(key, pure(CONTEXT, &joined), &peer.pre_hashed).is_err());
    for other in
        [SlhDsaMessage::Internal(MESSAGE), SlhDsaMessage::Internal(&[&[0, 4], CONTEXT].concat())]
    {
        let verdict = verify(&Kernels::PORTABLE, peer.set, key, other, signature);
        assert_eq!(verdict, Err(Rejection::Mismatch));
    }
    // The two other interfaces use the internal interface.
    let encoded = [&[0, 4], CONTEXT, MESSAGE].concat();
    let internal = SlhDsaMessage::Internal(&encoded);
    assert_eq!(verify(&Kernels::PORTABLE, peer.set, key, internal, signature), Ok(()));

    let mut runner = TestRunner::deterministic();
    let mut flip = |bytes: &[u8], range: Range<usize>| {
        let bit = (8 * range.start..8 * range.end).new_tree(&mut runner).unwrap().current();
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        damaged
    };
    for part in parts {
        let damaged = flip(signature, part.clone());
        assert_eq!(peer.verdict(key, good, &damaged), Err(Rejection::Mismatch), "{part:?}");
    }
    for half in [0..key.len() / 2, key.len() / 2..key.len()] {
        let other = flip(key, half);
        assert_eq!(peer.verdict(&other, good, signature), Err(Rejection::Mismatch));
    }
    let (message, context) = (flip(MESSAGE, 0..MESSAGE.len()), flip(CONTEXT, 0..CONTEXT.len()));
    for other in [
        pure(CONTEXT, &message),
        pure(CONTEXT, b""),
        pure(&context, MESSAGE),
        pure(b"", MESSAGE),
        pure(b"boo", b"tthe message of this test"),
        pure(&[0; MAX_CONTEXT_LEN], MESSAGE),
    ] {
        assert_eq!(peer.verdict(key, other, signature), Err(Rejection::Mismatch));
    }
    for other in [pure(&[0; 256], MESSAGE), pure(&[0; 260], MESSAGE)] {
        assert_eq!(peer.verdict(key, other, signature), Err(Rejection::ContextLength));
    }
    let long_context = SlhDsaMessage::PreHashed { context: &[0; 256], oid: OID, digest };
    assert_eq!(peer.verdict(key, long_context, signature), Err(Rejection::ContextLength));
    for byte in [0, 0xff] {
        let verdict = peer.verdict(key, good, &vec![byte; signature.len()]);
        assert_eq!(verdict, Err(Rejection::Mismatch));
        assert_eq!(peer.verdict(&vec![byte; key.len()], good, signature), Err(Rejection::Mismatch));
    }

    check_lengths(peer, good, parts);
}

/// Checks keys and signatures that are too short or too long, by one byte, by a part, or by everything.
fn check_lengths(peer: &Peer, good: SlhDsaMessage, parts: &[Range<usize>]) {
    let (key, signature) = (&peer.key[..], &peer.pure[..]);
    let ends = parts.iter().flat_map(|part| [part.start, part.start + 1]);
    for len in ends.chain([signature.len() - 1]) {
        assert_eq!(peer.verdict(key, good, &signature[..len]), Err(Rejection::SignatureLength));
    }
    for more in [1, 8, signature.len()] {
        let longer = [signature, &vec![0; more]].concat();
        assert_eq!(peer.verdict(key, good, &longer), Err(Rejection::SignatureLength));
    }
    for len in 0..key.len() {
        assert_eq!(peer.verdict(&key[..len], good, signature), Err(Rejection::InvalidKey));
    }
    let longer = [key, &[0]].concat();
    assert_eq!(peer.verdict(&longer, good, signature), Err(Rejection::InvalidKey));
    // The signature is checked with all other sets. The sets of the other hash family have the same lengths.
    for other in SlhDsaSet::ALL.into_iter().filter(|other| *other != peer.set) {
        let expected = match (other.public_key_len() == key.len(), other.signature_len()) {
            (false, _) => Rejection::InvalidKey,
            (true, len) if len != signature.len() => Rejection::SignatureLength,
            _ => Rejection::Mismatch,
        };
        let verdict = verify(&Kernels::PORTABLE, other, key, good, signature);
        assert_eq!(verdict, Err(expected), "{:?} as {other:?}", peer.set);
    }
}
