//! Compares SLH-DSA with the crate `fips205`, for every parameter set.
//!
//! Rules: both accept the same signatures through the same interface, and only the signature that the
//! signer made. The signer is `slh_dsa_signer.rs`, because signers that compute whole trees need a second
//! for one signature of a small set. `fips205` has no internal interface; its result is compared with that
//! of the other interfaces.

use fips205::traits::{SerDes, Verifier};
use hartlock_kernels::slh_dsa::{SlhDsaMessage, SlhDsaSet, verify};

use super::slh_dsa_signer::{Parameters, sign};
use super::{KERNELS, MESSAGES};
use crate::choices::Choices;
use crate::signed::{Pool, Signed, agree, count};

const CONTEXTS: [&[u8]; 4] = [b"", b"context", &[7; 255], &[7; 256]];

/// Object identifiers of SHA-256 and SHA-512 in DER.
const OIDS: [&[u8]; 2] = [
    b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01",
    b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03",
];

/// An interface and its parameters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum SlhDsaMode {
    Pure(&'static [u8]),
    /// Pre-hashed interface with a context and the object identifier of a hash; the message is a digest.
    PreHashed(&'static [u8], &'static [u8]),
    Internal,
}

impl SlhDsaMode {
    fn new(choices: &mut Choices<'_>, contexts: &[&'static [u8]]) -> Self {
        match choices.below(5) {
            0..=2 => Self::Pure(choices.of(contexts)),
            3 => Self::PreHashed(choices.of(contexts), choices.of(&OIDS)),
            _ => Self::Internal,
        }
    }

    /// Returns M' (FIPS 205 §10.2); `None` if the context is too long.
    fn encode(self, message: &[u8]) -> Option<Vec<u8>> {
        let len = |context: &[u8]| u8::try_from(context.len()).ok();
        Some(match self {
            Self::Pure(context) => [&[0, len(context)?], context, message].concat(),
            Self::PreHashed(context, oid) => [&[1, len(context)?], context, oid, message].concat(),
            Self::Internal => message.to_vec(),
        })
    }

    fn message(self, message: &[u8]) -> SlhDsaMessage<'_> {
        match self {
            Self::Pure(context) => SlhDsaMessage::Pure { context, message },
            Self::PreHashed(context, oid) => {
                SlhDsaMessage::PreHashed { context, oid, digest: message }
            }
            Self::Internal => SlhDsaMessage::Internal(message),
        }
    }
}

struct SlhDsaPeer {
    set: SlhDsaSet,
    parameters: Parameters,
    /// Returns the verdict of `fips205`; `None` for an interface that it does not have.
    accepts: fn(SlhDsaMode, &Signed) -> Option<bool>,
}

macro_rules! peer {
    ($set:ident, $name:ident, $is_shake:literal, $n:literal $h_prime:literal $d:literal $a:literal $k:literal) => {{
        use fips205::$name::PublicKey;
        fn accepts(mode: SlhDsaMode, signed: &Signed) -> Option<bool> {
            let key = PublicKey::try_from_bytes(signed.key[..].try_into().ok()?).ok()?;
            let signature = signed.signature[..].try_into().ok()?;
            Some(match mode {
                SlhDsaMode::Pure(context) => key.verify(&signed.message, signature, context),
                SlhDsaMode::PreHashed(context, oid) => {
                    key.hash_verify(&signed.message, signature, context, oid)
                }
                SlhDsaMode::Internal => return None,
            })
        }
        SlhDsaPeer {
            set: SlhDsaSet::$set,
            parameters: Parameters {
                is_shake: $is_shake,
                n: $n,
                h_prime: $h_prime,
                d: $d,
                a: $a,
                k: $k,
            },
            accepts: |mode, signed| {
                (mode != SlhDsaMode::Internal).then(|| accepts(mode, signed).unwrap_or(false))
            },
        }
    }};
}

/// Returns the parameter sets with n, h', d, a, k of FIPS 205 §11, table 2. Sets that verify fast come
/// first.
fn peers() -> [SlhDsaPeer; 12] {
    [
        peer!(Sha2_128s, slh_dsa_sha2_128s, false, 16 9 7 12 14),
        peer!(Shake128s, slh_dsa_shake_128s, true, 16 9 7 12 14),
        peer!(Sha2_192s, slh_dsa_sha2_192s, false, 24 9 7 14 17),
        peer!(Shake192s, slh_dsa_shake_192s, true, 24 9 7 14 17),
        peer!(Sha2_256s, slh_dsa_sha2_256s, false, 32 8 8 14 22),
        peer!(Shake256s, slh_dsa_shake_256s, true, 32 8 8 14 22),
        peer!(Sha2_128f, slh_dsa_sha2_128f, false, 16 3 22 6 33),
        peer!(Shake128f, slh_dsa_shake_128f, true, 16 3 22 6 33),
        peer!(Sha2_192f, slh_dsa_sha2_192f, false, 24 3 22 8 33),
        peer!(Shake192f, slh_dsa_shake_192f, true, 24 3 22 8 33),
        peer!(Sha2_256f, slh_dsa_sha2_256f, false, 32 4 17 9 35),
        peer!(Shake256f, slh_dsa_shake_256f, true, 32 4 17 9 35),
    ]
}

pub fn run(data: &[u8]) {
    static POOL: Pool<(usize, SlhDsaMode, &[u8], u8)> = Pool::new();
    let mut choices = Choices::new(data);
    let index = choices.below(12);
    let peer = &peers()[index];
    let mode = SlhDsaMode::new(&mut choices, &CONTEXTS[..3]);
    let message: &[u8] = match mode {
        SlhDsaMode::PreHashed(_, oid) if oid == OIDS[0] => &[5; 32],
        SlhDsaMode::PreHashed(..) => &[5; 64],
        _ => choices.of(&MESSAGES),
    };
    let seed = choices.below(3) as u8;
    let encoded = mode.encode(message).expect("a short context");
    let genuine =
        POOL.get((index, mode, message, seed), |_| sign(peer.parameters, seed, &encoded, message));
    let signed = genuine.changed(&mut choices, &[&[0xff; 16], &[0; 16]]);
    // Sometimes another interface or context is verified than was signed.
    let judged = match choices.rarely(6) {
        true => SlhDsaMode::new(&mut choices, &CONTEXTS),
        false => mode,
    };
    let Signed { key, message, signature } = &signed;
    let name = format!("{:?}", peer.set);
    let ours = verify(KERNELS, peer.set, key, judged.message(message), signature);
    let is_accepted = ours.is_ok();
    match (peer.accepts)(judged, &signed) {
        Some(theirs) => {
            agree("fips205", &name, ours, theirs);
        }
        None => count(is_accepted),
    }
    // The interfaces differ only in M'.
    let is_same = (key, signature) == (&genuine.key, &genuine.signature)
        && judged.encode(message).is_some_and(|it| it == encoded);
    assert_eq!(is_accepted, is_same, "{name}: only the genuine signature is one");
    if is_accepted {
        let internal = verify(KERNELS, peer.set, key, SlhDsaMessage::Internal(&encoded), signature);
        assert_eq!(internal, Ok(()), "{name} through the internal interface");
    }
}
