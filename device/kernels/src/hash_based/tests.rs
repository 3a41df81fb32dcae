//! These tests use simulated engines that are right, wrong, silent or partial. The portable verifiers compute their
//! roots.

use std::boxed::Box;
use std::cell::Cell;
use std::vec::Vec;
use std::{thread_local, vec};

use super::*;
use crate::signature::{Comparison, Rejection};
use crate::{lms, slh_dsa, xmss};
use hartlock_algorithm::SlhDsaSet;

thread_local! {
    /// Number of requests that the engine of this thread received.
    static REQUESTS: Cell<u32> = const { Cell::new(0) };
    /// Root of the last request.
    static STARTED: Cell<Option<[u8; ROOT_LEN]>> = const { Cell::new(None) };
}

/// Computes the root in software and counts the request.
fn right(request: &RootRequest<'_>) -> Option<[u8; ROOT_LEN]> {
    REQUESTS.set(REQUESTS.get() + 1);
    software(request).ok()?.computed.first_chunk().copied()
}

/// An engine of a function, whose result is kept until it is asked for.
struct Rooted {
    root: fn(&RootRequest<'_>) -> Option<[u8; ROOT_LEN]>,
    /// Two flags: the engine starts, and the engine finishes.
    responds: fn() -> [bool; 2],
}

impl Engines for Rooted {
    fn start_root(&self, request: &RootRequest<'_>) -> Option<()> {
        let root = if (self.responds)()[0] { (self.root)(request)? } else { return None };
        STARTED.set(Some(root));
        Some(())
    }

    fn finish_root(&self, root: &mut Root) -> Option<()> {
        let bytes = STARTED.take().filter(|_| (self.responds)()[1])?;
        let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        root.iter_mut().zip(words).for_each(|(to, word)| *to = word);
        Some(())
    }
}

/// An engine that responds.
fn engine(root: fn(&RootRequest<'_>) -> Option<[u8; ROOT_LEN]>) -> Rooted {
    Rooted { root, responds: || [true; 2] }
}

fn software(request: &RootRequest<'_>) -> Result<Comparison, Rejection> {
    let RootRequest { scheme, public_key, message, signature } = *request;
    let kernels = &Kernels::PORTABLE;
    match scheme {
        RootScheme::Xmss | RootScheme::XmssMt => {
            let kind = [xmss::Scheme::Xmss, xmss::Scheme::XmssMt]
                [usize::from(scheme == RootScheme::XmssMt)];
            xmss::compare(kernels, kind, xmss::Sets::Approved, public_key, message, signature)
        }
        RootScheme::Lms => lms::compare(kernels, public_key, message, signature),
        RootScheme::SlhDsaSha2_128s => {
            let message = message.concat();
            let message = slh_dsa::SlhDsaMessage::Internal(&message);
            slh_dsa::compare(kernels, SlhDsaSet::Sha2_128s, public_key, message, signature)
        }
    }
}

fn with(engine: Rooted) -> Result<Kernels, KernelFault> {
    with_room(engine, &mut [0; SCRATCH_LEN])
}

fn with_room(engine: Rooted, scratch: &mut [u8]) -> Result<Kernels, KernelFault> {
    let mut kernels = joined(engine);
    kernels.use_hash_based_engine(scratch)?;
    Ok(kernels)
}

fn joined(engine: Rooted) -> Kernels {
    Kernels::PORTABLE.join(Box::leak(Box::new(engine)))
}

/// Returns true if an engine is used for these signatures.
fn has(kernels: &Kernels, scheme: RootScheme) -> bool {
    kernels.engines_for(EngineUse::of_scheme(scheme)).is_some()
}

const ALL: [RootScheme; 4] =
    [RootScheme::Xmss, RootScheme::XmssMt, RootScheme::Lms, RootScheme::SlhDsaSha2_128s];

/// Returns true if a verifier sends a request to the engine of this thread, and returns the root that it computes.
fn asked(verifier: impl FnOnce() -> Result<Comparison, Rejection>) -> (bool, [u8; ROOT_LEN]) {
    let before = REQUESTS.get();
    let computed = verifier().unwrap().computed;
    (REQUESTS.get() != before, *computed.first_chunk().unwrap())
}

#[test]
fn known_roots_are_those_of_software() {
    let kernels = with(engine(right)).unwrap();
    assert!(ALL.iter().all(|scheme| has(&kernels, *scheme)));
    assert!(!ALL.iter().any(|scheme| has(&Kernels::PORTABLE, *scheme)));
}

#[test]
fn an_engine_is_asked_by_every_verifier_and_gives_what_they_compare() {
    let kernels = with(engine(right)).unwrap();
    let bytes = |len: usize, seed: u8| {
        let mut bytes = vec![0; len];
        fill_with_pattern(&mut bytes, seed);
        bytes
    };
    let numbered = |mut bytes: Vec<u8>, words: &[(usize, u32)]| {
        for (at, word) in words {
            bytes[*at..*at + 4].copy_from_slice(&word.to_be_bytes());
        }
        bytes
    };
    // The sets are XMSS-SHA2_16_256, XMSS-SHA2_10_192 and XMSSMT-SHA2_20/2_256.
    let sets = [(xmss::Scheme::Xmss, 2), (xmss::Scheme::Xmss, 0xd), (xmss::Scheme::XmssMt, 1)];
    for (scheme, oid) in sets {
        let set = xmss::XmssParameterSet::of(scheme, oid).unwrap();
        let key = numbered(bytes(set.public_key_len(), 3), &[(0, oid)]);
        let mut signature = bytes(set.signature_len(), 4);
        signature[..4].fill(0);
        let computed = |kernels: &Kernels| {
            let sets = xmss::Sets::Approved;
            asked(|| xmss::compare(kernels, scheme, sets, &key, &[b"m"], &signature))
        };
        let by_software = computed(&Kernels::PORTABLE).1;
        assert_eq!(computed(&kernels), (true, by_software), "{scheme:?} {oid}");
    }
    // The tree has height 5, and the digits have 8 bits.
    let (key_words, path_at) = ([(0, 5), (4, 4)], 8 + 35 * 32);
    let key = numbered(bytes(56, 5), &key_words);
    let words = [(0, 7), (4, 4), (path_at, 5)];
    let signature = numbered(bytes(path_at + 4 + 5 * 32, 6), &words);
    let computed = |kernels: &Kernels| asked(|| lms::compare(kernels, &key, &[b"m"], &signature));
    assert_eq!(computed(&kernels), (true, computed(&Kernels::PORTABLE).1));
    let (key, signature) = (bytes(32, 7), bytes(SCRATCH_LEN, 8));
    let message = slh_dsa::SlhDsaMessage::Pure { context: b"c", message: b"m" };
    let computed = |kernels: &Kernels| {
        asked(|| slh_dsa::compare(kernels, SlhDsaSet::Sha2_128s, &key, message, &signature))
    };
    assert_eq!(computed(&kernels), (true, computed(&Kernels::PORTABLE).1));
    // The engine supports only one set of SLH-DSA.
    let set = SlhDsaSet::Shake128s;
    assert!(!asked(|| slh_dsa::compare(&kernels, set, &key, message, &signature)).0);
}

#[test]
fn one_wrong_root_and_nothing_of_the_engine_counts() {
    fn stuck(request: &RootRequest<'_>) -> Option<[u8; ROOT_LEN]> {
        let mut root = right(request)?;
        root[15] |= 1;
        Some(root)
    }
    // This engine always returns the root of the first message.
    fn repeats(request: &RootRequest<'_>) -> Option<[u8; ROOT_LEN]> {
        let message: &[&[u8]] = &[&[], b"abc"];
        right(&RootRequest { message, ..*request })
    }
    fn without_slh_dsa(request: &RootRequest<'_>) -> Option<[u8; ROOT_LEN]> {
        match request.scheme {
            RootScheme::SlhDsaSha2_128s => Some([0; ROOT_LEN]),
            _ => right(request),
        }
    }
    for engine in [engine(stuck), engine(repeats), engine(without_slh_dsa)] {
        assert_eq!(with(engine).err(), Some(KernelFault::WrongAnswer));
    }
}

#[test]
fn an_engine_without_an_answer_is_refused() {
    let silent = Rooted { root: right, responds: || [true, false] };
    let absent = engine(|_| None);
    for engine in [silent, absent] {
        assert_eq!(with(engine).err(), Some(KernelFault::WrongAnswer));
    }
    // Likewise if there is no room to ask for one.
    let kernels = with_room(engine(right), &mut []);
    assert_eq!(kernels.err(), Some(KernelFault::WrongAnswer));
}

#[test]
fn software_computes_what_an_engine_does_not_have() {
    fn lms_alone(request: &RootRequest<'_>) -> Option<[u8; ROOT_LEN]> {
        if request.scheme == RootScheme::Lms { right(request) } else { None }
    }
    let kernels = with(engine(lms_alone)).unwrap();
    let used = ALL.map(|scheme| has(&kernels, scheme));
    assert_eq!(used, [false, false, true, false]);
    assert!(xmss::self_test(&kernels) && lms::self_test(&kernels));
    // Without room for the signature of a known answer there is no known answer.
    let kernels = with_room(engine(right), &mut [0; 4096]).unwrap();
    let used = ALL.map(|scheme| has(&kernels, scheme));
    assert_eq!(used, [true, true, true, false]);
}

#[test]
fn an_engine_that_falls_silent_later_leaves_the_work_to_software() {
    thread_local! {
        static IS_SILENT: Cell<[bool; 2]> = const { Cell::new([false; 2]) };
    }
    let engine = Rooted { root: right, responds: || IS_SILENT.get().map(|it| !it) };
    let kernels = with(engine).unwrap();
    assert!(has(&kernels, RootScheme::Xmss));
    for silent in [[true, false], [false, true]] {
        IS_SILENT.set(silent);
        assert!(xmss::self_test(&kernels) && lms::self_test(&kernels), "{silent:?}");
    }
}

#[test]
fn a_root_that_is_wrong_later_is_a_refusal() {
    thread_local! {
        static IS_WRONG: Cell<bool> = const { Cell::new(false) };
    }
    fn wrong(request: &RootRequest<'_>) -> Option<[u8; ROOT_LEN]> {
        right(request).map(|root| if IS_WRONG.get() { [0x55; ROOT_LEN] } else { root })
    }
    let kernels = with(engine(wrong)).unwrap();
    IS_WRONG.set(true);
    assert!(!xmss::self_test(&kernels) && !lms::self_test(&kernels));
}
