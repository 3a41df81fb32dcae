//! Compares ML-DSA with the crates `ml-dsa` and `fips204`.
//!
//! Rules: all accept the same signatures through the same interface, and accept only the signature that the
//! signer made: no changed signature is valid. Some changes aim at the hint, whose encoding can be wrong in
//! many ways (FIPS 204 algorithm 21). `ml-dsa` verifies all interfaces except the pre-hashed one, `fips204`
//! those with a context.

use fips204::traits::{KeyGen, SerDes, Signer, Verifier};
use hartlock_kernels::ml_dsa::{MlDsaMessage, MlDsaSet, verify};
use ml_dsa::SigningKey;
use ml_dsa::signature::Keypair;

use super::{KERNELS, MESSAGES, pieces};
use crate::choices::Choices;
use crate::signed::{Pool, Signed, agree};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Interface {
    Pure,
    PreHash,
    Internal,
    ExternalMu,
}

const INTERFACES: [Interface; 4] =
    [Interface::Pure, Interface::PreHash, Interface::Internal, Interface::ExternalMu];

const CONTEXTS: [&[u8]; 4] = [b"", b"context", &[7; 255], &[7; 256]];

/// Object identifiers of SHA-256, SHA-512 and SHAKE128 in DER.
const OIDS: [&[u8]; 3] = [
    b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01",
    b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03",
    b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x0b",
];

/// An interface and its parameters. `context` and `oid` are used by the interfaces that have them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MlDsaMode {
    interface: Interface,
    context: &'static [u8],
    oid: &'static [u8],
}

impl MlDsaMode {
    fn new(choices: &mut Choices<'_>, contexts: &[&'static [u8]]) -> Self {
        let interface = choices.of(&INTERFACES);
        let has_context = matches!(interface, Interface::Pure | Interface::PreHash);
        Self {
            interface,
            context: if has_context { choices.of(contexts) } else { b"" },
            oid: if interface == Interface::PreHash { choices.of(&OIDS) } else { b"" },
        }
    }
}

/// Returns M' (FIPS 204 §5.4, §5.3). The interfaces differ only in M', except for the one that takes mu. Returns `None`
/// for that interface and for a context that is too long, because neither is signed.
fn encode(mode: MlDsaMode, message: &[u8]) -> Option<Vec<u8>> {
    let len = u8::try_from(mode.context.len()).ok()?;
    Some(match mode.interface {
        Interface::Pure => [&[0, len], mode.context, message].concat(),
        Interface::PreHash => [&[1, len], mode.context, mode.oid, message].concat(),
        Interface::Internal => message.to_vec(),
        Interface::ExternalMu => return None,
    })
}

/// A parameter set in the implementations of two crates.
struct MlDsaPeer {
    set: MlDsaSet,
    omega: usize,
    sign: fn(u8, MlDsaMode, &[u8]) -> Signed,
    /// Returns the verdicts of `ml-dsa` and `fips204`; `None` from a crate without the interface.
    accepts: fn(MlDsaMode, &Signed) -> [Option<bool>; 2],
}

macro_rules! peer {
    ($set:ident, $other:ident, $omega:literal) => {{
        use fips204::$other as other;
        use ml_dsa::$set as One;
        fn one(mode: MlDsaMode, signed: &Signed) -> Option<bool> {
            let Signed { key, message, signature } = signed;
            let key = ml_dsa::VerifyingKey::<One>::decode(key[..].try_into().ok()?);
            let signature = ml_dsa::Signature::<One>::try_from(&signature[..]).ok()?;
            Some(match mode.interface {
                Interface::Pure => key.verify_with_context(message, mode.context, &signature),
                Interface::PreHash => return None,
                Interface::Internal => key.verify_internal(message, &signature),
                Interface::ExternalMu => {
                    let mu: &[u8; 64] = message[..].try_into().ok()?;
                    key.verify_mu(&(*mu).into(), &signature)
                }
            })
        }
        fn other(mode: MlDsaMode, signed: &Signed) -> Option<bool> {
            let Signed { key, message, signature } = signed;
            let key = other::PublicKey::try_from_bytes(key[..].try_into().ok()?).ok()?;
            let signature = signature[..].try_into().ok()?;
            Some(match mode.interface {
                Interface::Pure => key.verify(message, &signature, mode.context),
                _ => key.hash_verify(message, &signature, mode.context, mode.oid),
            })
        }
        MlDsaPeer {
            set: MlDsaSet::$set,
            omega: $omega,
            sign: |number, mode, message| {
                let seed = [number; 32];
                let key = SigningKey::<One>::from_seed(&seed.into());
                let expanded = key.expanded_key();
                let signature = match mode.interface {
                    Interface::Pure => {
                        let signed = expanded.sign_deterministic(message, mode.context);
                        signed.expect("a short context").encode().to_vec()
                    }
                    Interface::PreHash => {
                        let (_, key) = other::KG::keygen_from_seed(&seed);
                        let signed =
                            key.try_hash_sign_with_seed(&[9; 32], message, mode.context, mode.oid);
                        signed.expect("a short context").to_vec()
                    }
                    Interface::Internal => {
                        expanded.sign_internal(&[message], &[7; 32].into()).encode().to_vec()
                    }
                    Interface::ExternalMu => {
                        let mu: [u8; 64] = message.try_into().expect("64 bytes");
                        expanded.sign_mu_deterministic(&mu.into()).encode().to_vec()
                    }
                };
                let key = key.verifying_key().encode().to_vec();
                Signed { key, message: message.to_vec(), signature }
            },
            accepts: |mode, signed| {
                let has_one = mode.interface != Interface::PreHash;
                let has_other = matches!(mode.interface, Interface::Pure | Interface::PreHash);
                [
                    has_one.then(|| one(mode, signed).unwrap_or(false)),
                    has_other.then(|| other(mode, signed).unwrap_or(false)),
                ]
            },
        }
    }};
}

fn peers() -> [MlDsaPeer; 3] {
    [peer!(MlDsa44, ml_dsa_44, 80), peer!(MlDsa65, ml_dsa_65, 55), peer!(MlDsa87, ml_dsa_87, 75)]
}

pub fn run(data: &[u8]) {
    static POOL: Pool<(usize, u8, MlDsaMode, Vec<u8>)> = Pool::new();
    let mut choices = Choices::new(data);
    let index = choices.below(3);
    let peer = &peers()[index];
    let mode = MlDsaMode::new(&mut choices, &CONTEXTS[..3]);
    let message = message(&mut choices, mode);
    let number = choices.below(3) as u8;
    let genuine =
        POOL.get((index, number, mode, message.clone()), |_| (peer.sign)(number, mode, &message));
    let mut signed = genuine.clone();
    for _ in 0..choices.of(&[0, 1, 0, 2]) {
        change_hint(&mut choices, peer, &mut signed.signature);
    }
    let signed = signed.changed(&mut choices, &[&[0xff; 20], &[0; 20]]);
    // Sometimes another interface or context is verified than was signed.
    let judged = match choices.rarely(6) {
        true => MlDsaMode::new(&mut choices, &CONTEXTS),
        false => mode,
    };
    let is_accepted = judge(peer, judged, &signed);
    let is_same = (signed == genuine && judged == mode)
        || ((&signed.key, &signed.signature) == (&genuine.key, &genuine.signature)
            && encode(mode, &message)
                .is_some_and(|it| encode(judged, &signed.message) == Some(it)));
    // The interface with mu does not hash the key, so a changed bit of t1 can remain undetected: its
    // contribution is mostly removed with the low-order bits.
    let is_bound = judged.interface != Interface::ExternalMu || signed.key == genuine.key;
    assert!(is_accepted == is_same || !is_bound, "only the genuine signature is one");
}

fn message(choices: &mut Choices<'_>, mode: MlDsaMode) -> Vec<u8> {
    match mode.interface {
        Interface::ExternalMu => vec![choices.below(3) as u8; 64],
        // These bytes serve as a digest of this hash.
        Interface::PreHash if mode.oid == OIDS[1] => vec![3; 64],
        Interface::PreHash => vec![3; 32],
        _ => choices.of(&MESSAGES).to_vec(),
    }
}

fn judge(peer: &MlDsaPeer, mode: MlDsaMode, signed: &Signed) -> bool {
    let Signed { key, message, signature } = signed;
    let pieces = pieces(message);
    let MlDsaMode { interface, context, oid } = mode;
    let message = match interface {
        Interface::Pure => MlDsaMessage::Pure { context, message: &pieces },
        Interface::PreHash => MlDsaMessage::PreHash { context, oid, digest: message },
        Interface::Internal => MlDsaMessage::Internal(&pieces),
        Interface::ExternalMu => match message[..].try_into() {
            Ok(mu) => MlDsaMessage::ExternalMu(mu),
            // The type of mu has a fixed length, so other lengths are refused.
            Err(_) => return false,
        },
    };
    let ours = verify(KERNELS, peer.set, key, message, signature);
    let mut is_accepted = false;
    for (by, theirs) in ["ml-dsa", "fips204"].into_iter().zip((peer.accepts)(mode, signed)) {
        if let Some(theirs) = theirs {
            let what = format!("{:?}, {interface:?}", peer.set);
            is_accepted = agree(by, &what, ours, theirs);
        }
    }
    is_accepted
}

/// Changes the hint at the end of a signature in ways that resemble another valid hint. In a valid hint, the
/// positions of a row are in ascending order without repetition, the counts do not decrease, and unused bytes
/// are zero.
fn change_hint(choices: &mut Choices<'_>, peer: &MlDsaPeer, signature: &mut [u8]) {
    let rows = (peer.set.public_key_len() - 32) / 320;
    let at = signature.len() - peer.omega - rows;
    let (positions, counts) = signature[at..].split_at_mut(peer.omega);
    let used = usize::from(counts[rows - 1]).min(peer.omega);
    let one = choices.below(used.max(1));
    match choices.below(6) {
        0 => positions.swap(one, (one + 1) % peer.omega),
        1 => positions[(one + 1) % peer.omega] = positions[one],
        2 => positions[one] = positions[one].wrapping_add(choices.of(&[1, 0xff])),
        3 => {
            // A position is removed from a valid hint or added to it.
            let is_more = choices.rarely(2);
            if is_more && used < peer.omega {
                positions[used] = choices.of(&[0xff, 0, 0xfe]);
                counts[rows - 1] += 1;
            } else if let Some(last) = used.checked_sub(1) {
                positions[last] = 0;
                counts.iter_mut().for_each(|count| *count = (*count).min(last as u8));
            }
        }
        4 => {
            // A position moves to an adjacent row.
            let row = choices.below(rows);
            counts[row] = counts[row].wrapping_add(choices.of(&[1, 0xff]));
        }
        _ => {
            // Unused bytes are changed.
            let unused = positions.len() - used;
            if unused > 0 {
                positions[used + choices.below(unused)] = choices.of(&[1, 0xff]);
            }
        }
    }
}
