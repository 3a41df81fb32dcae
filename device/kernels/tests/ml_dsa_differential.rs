//! These tests compare ML-DSA with two other implementations, for valid signatures, for damaged ones, and for hints
//! with small faults.

use fips204::traits::{SerDes, Signer, Verifier};
use hartlock_kernels::Kernels;
use hartlock_kernels::ml_dsa::{MlDsaMessage, MlDsaSet, compare, verify};
use hartlock_kernels::signature::Rejection;
use ml_dsa::{Keypair, SigningKey};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

/// DER encoding of the object identifier of SHA-256.
const SHA256: [u8; 11] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];

/// The functions of two other crates for one parameter set.
#[expect(clippy::type_complexity, reason = "byte strings in, byte strings and verdicts out")]
struct Judges {
    set: MlDsaSet,
    /// Returns the public key of a seed.
    public_key: fn(&[u8; 32]) -> Vec<u8>,
    /// Signs a message. The arguments are seed, context and message.
    sign: fn(&[u8; 32], &[u8], &[u8]) -> Vec<u8>,
    /// Signs an internal message. The arguments are seed and M'.
    sign_internal: fn(&[u8; 32], &[u8]) -> Vec<u8>,
    /// Signs a message representative. The arguments are seed and μ.
    sign_mu: fn(&[u8; 32], &[u8; 64]) -> Vec<u8>,
    /// Signs a pre-hashed message. The arguments are seed, context and SHA-256 digest.
    sign_hash: fn(&[u8; 32], &[u8], &[u8]) -> Vec<u8>,
    /// Returns the verdicts of both crates. The arguments are key, context, message and signature.
    verify: fn(&[u8], &[u8], &[u8], &[u8]) -> [bool; 2],
    verify_internal: fn(&[u8], &[u8], &[u8]) -> bool,
    verify_mu: fn(&[u8], &[u8; 64], &[u8]) -> bool,
    verify_hash: fn(&[u8], &[u8], &[u8], &[u8]) -> bool,
}

macro_rules! judges {
    ($set:ident, $one:ident, $other:ident) => {{
        use fips204::$other as other;
        use ml_dsa::$one as One;
        fn key(bytes: &[u8]) -> Option<ml_dsa::VerifyingKey<One>> {
            Some(ml_dsa::VerifyingKey::decode(bytes.try_into().ok()?))
        }
        fn signature(bytes: &[u8]) -> Option<ml_dsa::Signature<One>> {
            bytes.try_into().ok()
        }
        fn signing_key(seed: &[u8; 32]) -> SigningKey<One> {
            SigningKey::from_seed(&(*seed).into())
        }
        fn other_key(bytes: &[u8]) -> Option<other::PublicKey> {
            other::PublicKey::try_from_bytes(bytes.try_into().ok()?).ok()
        }
        Judges {
            set: MlDsaSet::$set,
            public_key: |seed| signing_key(seed).verifying_key().encode().to_vec(),
            sign: |seed, context, message| {
                let key = signing_key(seed);
                let signature = key.expanded_key().sign_deterministic(message, context);
                signature.unwrap().encode().to_vec()
            },
            sign_internal: |seed, message| {
                let key = signing_key(seed);
                key.expanded_key().sign_internal(&[message], &[7; 32].into()).encode().to_vec()
            },
            sign_mu: |seed, mu| {
                let key = signing_key(seed);
                key.expanded_key().sign_mu_deterministic(&(*mu).into()).encode().to_vec()
            },
            sign_hash: |seed, context, digest| {
                use fips204::traits::KeyGen;
                let (_, key) = other::KG::keygen_from_seed(seed);
                key.try_hash_sign_with_seed(&[9; 32], digest, context, &SHA256).unwrap().to_vec()
            },
            verify: |key_bytes, context, message, signature_bytes| {
                let one = || {
                    let signature = signature(signature_bytes)?;
                    Some(key(key_bytes)?.verify_with_context(message, context, &signature))
                };
                let other = || {
                    let signature = signature_bytes.try_into().ok()?;
                    Some(other_key(key_bytes)?.verify(message, &signature, context))
                };
                [one().unwrap_or(false), other().unwrap_or(false)]
            },
            verify_internal: |key_bytes, message, signature_bytes| {
                let verify = || {
                    let signature = signature(signature_bytes)?;
                    Some(key(key_bytes)?.verify_internal(message, &signature))
                };
                verify().unwrap_or(false)
            },
            verify_mu: |key_bytes, mu, signature_bytes| {
                let verify = || {
                    let signature = signature(signature_bytes)?;
                    Some(key(key_bytes)?.verify_mu(&(*mu).into(), &signature))
                };
                verify().unwrap_or(false)
            },
            verify_hash: |key_bytes, context, digest, signature_bytes| {
                let verify = || {
                    let signature = signature_bytes.try_into().ok()?;
                    Some(other_key(key_bytes)?.hash_verify(digest, &signature, context, &SHA256))
                };
                verify().unwrap_or(false)
            },
        }
    }};
}

fn judges() -> [Judges; 3] {
    [
        judges!(MlDsa44, MlDsa44, ml_dsa_44),
        judges!(MlDsa65, MlDsa65, ml_dsa_65),
        judges!(MlDsa87, MlDsa87, ml_dsa_87),
    ]
}

impl Judges {
    fn ours(&self, key: &[u8], message: MlDsaMessage, signature: &[u8]) -> Result<(), Rejection> {
        verify(&Kernels::PORTABLE, self.set, key, message, signature)
    }

    /// Returns our verdict, after a check that both crates have the same verdict.
    fn verdict(
        &self,
        key: &[u8],
        context: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Rejection> {
        let pieces = [&message[..message.len() / 3], &message[message.len() / 3..]];
        let ours = self.ours(key, MlDsaMessage::Pure { context, message: &pieces }, signature);
        let theirs = (self.verify)(key, context, message, signature);
        assert_eq!([ours.is_ok(); 2], theirs, "{ours:?}");
        ours
    }
}

/// A change of the hint at the end of a signature, which has positions followed by counts.
#[derive(Clone, Debug)]
enum HintChange {
    Swap(prop::sample::Index, prop::sample::Index),
    Copy(prop::sample::Index, prop::sample::Index),
    Set(prop::sample::Index, u8),
    Count(prop::sample::Index, i8),
    /// Removes the last position and decrements the counts.
    DropLast,
    /// Adds a position to the last row.
    Append(u8),
    /// Removes the positions of all rows except for this one.
    Only(prop::sample::Index),
}

fn hint_change() -> impl Strategy<Value = HintChange> {
    use HintChange::*;
    prop_oneof![
        any::<(prop::sample::Index, prop::sample::Index)>().prop_map(|(a, b)| Swap(a, b)),
        any::<(prop::sample::Index, prop::sample::Index)>().prop_map(|(a, b)| Copy(a, b)),
        any::<(prop::sample::Index, u8)>().prop_map(|(a, b)| Set(a, b)),
        (any::<prop::sample::Index>(), -3..4_i8).prop_map(|(a, b)| Count(a, b)),
        Just(DropLast),
        any::<u8>().prop_map(Append),
        any::<prop::sample::Index>().prop_map(Only),
    ]
}

fn change_hint(positions: &mut [u8], counts: &mut [u8], change: &HintChange) {
    let last = counts.len() - 1;
    let used = usize::from(counts[last]);
    match change {
        HintChange::Swap(a, b) => positions.swap(a.index(used.max(1)), b.index(used.max(1))),
        HintChange::Copy(a, b) => {
            positions[b.index(positions.len())] = positions[a.index(used.max(1))];
        }
        HintChange::Set(at, value) => positions[at.index(positions.len())] = *value,
        HintChange::Count(at, by) => {
            let count = &mut counts[at.index(last + 1)];
            *count = count.wrapping_add_signed(*by);
        }
        HintChange::DropLast => {
            if let Some(at) = used.checked_sub(1) {
                positions[at] = 0;
                counts.iter_mut().for_each(|count| *count = (*count).min(at as u8));
            }
        }
        HintChange::Append(value) => {
            if used < positions.len() {
                positions[used] = *value;
                counts[last] += 1;
            }
        }
        HintChange::Only(row) => {
            let row = row.index(last + 1);
            let start = if row == 0 { 0 } else { usize::from(counts[row - 1]) };
            let kept = positions[start..usize::from(counts[row])].to_vec();
            positions.fill(0);
            positions[..kept.len()].copy_from_slice(&kept);
            counts[..row].fill(0);
            counts[row..].fill(kept.len() as u8);
        }
    }
}

fn omega(set: MlDsaSet) -> usize {
    match set {
        MlDsaSet::MlDsa44 => 80,
        MlDsaSet::MlDsa65 => 55,
        MlDsaSet::MlDsa87 => 75,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn good_signatures_are_accepted(
        number in 0..3_usize,
        seed: [u8; 32],
        context in prop::collection::vec(any::<u8>(), 0..256),
        message in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let judges = &judges()[number];
        let key = (judges.public_key)(&seed);
        let signature = (judges.sign)(&seed, &context, &message);
        prop_assert_eq!(judges.verdict(&key, &context, &message, &signature), Ok(()));
        // The comparison has the two values that must be equal, followed by zeros.
        let pure = MlDsaMessage::Pure { context: &context, message: &[&message] };
        let comparison =
            compare(&Kernels::PORTABLE, judges.set, &key, pure, &signature).unwrap();
        let len = [32, 48, 64][number];
        prop_assert_eq!(&comparison.claimed[..len], &signature[..len]);
        prop_assert_eq!(&comparison.computed[..len], &signature[..len]);
        prop_assert!(comparison.computed[len..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn all_interfaces_are_those_of_others(
        number in 0..3_usize,
        seed: [u8; 32],
        context in prop::collection::vec(any::<u8>(), 0..256),
        message in prop::collection::vec(any::<u8>(), 0..600),
        mu: [[u8; 32]; 2],
    ) {
        let judges = &judges()[number];
        let key = (judges.public_key)(&seed);
        let mu: [u8; 64] = mu.concat().try_into().unwrap();
        let digest = Sha256::digest(&message).to_vec();
        let pieces: [&[u8]; 1] = [&message];
        let cases = [
            (
                MlDsaMessage::Pure { context: &context, message: &pieces },
                (judges.sign)(&seed, &context, &message),
            ),
            (
                MlDsaMessage::PreHash { context: &context, oid: &SHA256, digest: &digest },
                (judges.sign_hash)(&seed, &context, &digest),
            ),
            (MlDsaMessage::Internal(&pieces), (judges.sign_internal)(&seed, &message)),
            (MlDsaMessage::ExternalMu(&mu), (judges.sign_mu)(&seed, &mu)),
        ];
        for (made_for, (_, signature)) in cases.iter().enumerate() {
            for (read_as, (message_as, _)) in cases.iter().enumerate() {
                let ours = judges.ours(&key, *message_as, signature);
                let theirs = match read_as {
                    0 => (judges.verify)(&key, &context, &message, signature)[0],
                    1 => (judges.verify_hash)(&key, &context, &digest, signature),
                    2 => (judges.verify_internal)(&key, &message, signature),
                    _ => (judges.verify_mu)(&key, &mu, signature),
                };
                prop_assert_eq!(ours.is_ok(), theirs);
                let expected =
                    if made_for == read_as { Ok(()) } else { Err(Rejection::Mismatch) };
                prop_assert_eq!(ours, expected, "{} read as {}", made_for, read_as);
            }
        }
    }

    #[test]
    fn flipped_bits_are_refused(
        number in 0..3_usize,
        seed: [u8; 32],
        context in prop::collection::vec(any::<u8>(), 1..256),
        message in prop::collection::vec(any::<u8>(), 1..100),
        places in prop::collection::vec(any::<prop::sample::Index>(), 8),
    ) {
        let judges = &judges()[number];
        let signature = (judges.sign)(&seed, &context, &message);
        let parts = [(judges.public_key)(&seed), context, message, signature];
        for place in places {
            for part in 0..parts.len() {
                let mut parts = parts.clone();
                let bit = place.index(8 * parts[part].len());
                parts[part][bit / 8] ^= 1 << (bit % 8);
                let [key, context, message, signature] = &parts;
                prop_assert!(judges.verdict(key, context, message, signature).is_err());
            }
        }
    }

    #[test]
    fn changed_hints_are_judged_alike(
        number in 0..3_usize,
        seed: [u8; 32],
        message: [u8; 16],
        changes in prop::collection::vec(prop::collection::vec(hint_change(), 1..3), 12),
    ) {
        let judges = &judges()[number];
        let key = (judges.public_key)(&seed);
        let signature = (judges.sign)(&seed, b"", &message);
        let omega = omega(judges.set);
        let rows = (key.len() - 32) / 320;
        for changes in changes {
            let mut changed = signature.clone();
            let at = changed.len() - omega - rows;
            let (positions, counts) = changed[at..].split_at_mut(omega);
            for change in &changes {
                change_hint(positions, counts, change);
                // If the counts exceed the number of positions, the next change is not possible.
                if usize::from(*counts.iter().max().unwrap()) > omega || !counts.is_sorted() {
                    break;
                }
            }
            let verdict = judges.verdict(&key, b"", &message, &changed);
            prop_assert_eq!(verdict.is_ok(), changed == signature, "{:?}", changes);
        }
    }

    #[test]
    fn lengths_and_other_sets_are_refused(
        number in 0..3_usize,
        seed: [u8; 32],
        cut: prop::sample::Index,
    ) {
        let judges = &judges()[number];
        let key = (judges.public_key)(&seed);
        let signature = (judges.sign)(&seed, b"", b"message");
        let as_set = |set, key: &[u8], signature: &[u8]| {
            let message = MlDsaMessage::Pure { context: b"", message: &[b"message"] };
            verify(&Kernels::PORTABLE, set, key, message, signature)
        };
        let set = judges.set;
        for len in [0, 1, 31, 32, 33, key.len() - 320, key.len() - 1, cut.index(key.len())] {
            prop_assert_eq!(as_set(set, &key[..len], &signature), Err(Rejection::InvalidKey));
        }
        prop_assert_eq!(
            as_set(set, &[&key[..], &[0]].concat(), &signature),
            Err(Rejection::InvalidKey)
        );
        let len = signature.len();
        // The signature ends before its last count, before the hint, within z, within c̃, or is empty.
        for len in [len - 1, len - omega(set), len - 100, len / 2, 64, 32, 31, 1, 0, cut.index(len)] {
            prop_assert_eq!(
                as_set(set, &key, &signature[..len]),
                Err(Rejection::SignatureLength)
            );
        }
        prop_assert_eq!(
            as_set(set, &key, &[&signature[..], &[0]].concat()),
            Err(Rejection::SignatureLength)
        );
        for other in MlDsaSet::ALL.into_iter().filter(|other| *other != set) {
            prop_assert_eq!(as_set(other, &key, &signature), Err(Rejection::InvalidKey));
        }
    }
}

#[test]
fn contexts_over_255_bytes_are_refused() {
    let seed = [3; 32];
    for judges in judges() {
        let key = (judges.public_key)(&seed);
        let longest = [7; 255];
        let signature = (judges.sign)(&seed, &longest, b"message");
        assert_eq!(judges.verdict(&key, &longest, b"message", &signature), Ok(()));
        for context in [[7; 256].as_slice(), &[7; 511], &[7; 512], &[7; 70_000]] {
            let pure = MlDsaMessage::Pure { context, message: &[b"message"] };
            assert_eq!(judges.ours(&key, pure, &signature), Err(Rejection::ContextLength));
            let pre_hash = MlDsaMessage::PreHash { context, oid: &SHA256, digest: &[1; 32] };
            assert_eq!(judges.ours(&key, pre_hash, &signature), Err(Rejection::ContextLength));
        }
        // A context length of 256 must not be treated as 0.
        let signature = (judges.sign)(&seed, b"", &[&[7; 256], b"message".as_slice()].concat());
        let pure = MlDsaMessage::Pure { context: &[7; 256], message: &[b"message"] };
        assert_eq!(judges.ours(&key, pure, &signature), Err(Rejection::ContextLength));
    }
}

#[test]
fn equal_bytes_are_judged_alike() {
    for judges in judges() {
        for (key_byte, signature_byte) in [(0, 0), (0, 255), (255, 0), (255, 255), (1, 1)] {
            let key = vec![key_byte; judges.set.public_key_len()];
            let signature = vec![signature_byte; judges.set.signature_len()];
            let verdict = judges.verdict(&key, b"", b"", &signature);
            assert_eq!(verdict, Err(Rejection::NonCanonicalSignature));
        }
        // A key of equal bytes is valid. With an empty hint and small z, only the hash can differ.
        for key_byte in [0, 255] {
            let key = vec![key_byte; judges.set.public_key_len()];
            let mut signature = (judges.sign)(&[1; 32], b"", b"");
            let hint = signature.len() - omega(judges.set) - (key.len() - 32) / 320;
            signature[hint..].fill(0);
            let verdict = judges.verdict(&key, b"", b"", &signature);
            assert_eq!(verdict, Err(Rejection::Mismatch));
        }
    }
}
