//! These tests use simulated engines that are right, wrong, silent or partial. The portable verifiers compute their
//! roots.

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
fn right(request: &Request<'_>) -> Option<[u8; ROOT_LEN]> {
    REQUESTS.set(REQUESTS.get() + 1);
    software(request).ok()?.computed.first_chunk().copied()
}

/// Defines an engine that computes the root with a function, and stores it until `finish` is called.
macro_rules! engine {
    ($root:expr) => {
        Engine {
            start: |request| {
                let root: fn(&Request<'_>) -> Option<[u8; ROOT_LEN]> = $root;
                STARTED.set(Some(root(request)?));
                Some(())
            },
            finish: |root| {
                let bytes = STARTED.take()?;
                let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
                root.iter_mut().zip(words).for_each(|(to, word)| *to = word);
                Some(())
            },
        }
    };
}

fn software(request: &Request<'_>) -> Result<Comparison, Rejection> {
    let Request { scheme, public_key, message, signature } = *request;
    let kernels = &Kernels::PORTABLE;
    match scheme {
        Scheme::Xmss | Scheme::XmssMt => {
            let kind =
                [xmss::Scheme::Xmss, xmss::Scheme::XmssMt][usize::from(scheme == Scheme::XmssMt)];
            xmss::compare(kernels, kind, xmss::Sets::Approved, public_key, message, signature)
        }
        Scheme::Lms => lms::compare(kernels, public_key, message, signature),
        Scheme::SlhDsaSha2_128s => {
            let message = message.concat();
            let message = slh_dsa::Message::Internal(&message);
            slh_dsa::compare(kernels, SlhDsaSet::Sha2_128s, public_key, message, signature)
        }
    }
}

fn with(engine: Engine) -> Result<Kernels, KernelFault> {
    Kernels::PORTABLE.with_hash_based_engine(engine, &mut [0; SCRATCH_LEN])
}

const ALL: [Scheme; 4] = [Scheme::Xmss, Scheme::XmssMt, Scheme::Lms, Scheme::SlhDsaSha2_128s];

/// Returns true if a verifier sends a request to the engine of this thread, and returns the root that it computes.
fn asked(verifier: impl FnOnce() -> Result<Comparison, Rejection>) -> (bool, [u8; ROOT_LEN]) {
    let before = REQUESTS.get();
    let computed = verifier().unwrap().computed;
    (REQUESTS.get() != before, *computed.first_chunk().unwrap())
}

#[test]
fn known_roots_are_those_of_software() {
    let kernels = with(engine!(right)).unwrap();
    assert!(ALL.iter().all(|scheme| kernels.has_hash_based_engine(*scheme)));
    assert!(!ALL.iter().any(|scheme| Kernels::PORTABLE.has_hash_based_engine(*scheme)));
}

#[test]
fn an_engine_is_asked_by_every_verifier_and_gives_what_they_compare() {
    let kernels = with(engine!(right)).unwrap();
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
        let set = xmss::ParameterSet::of(scheme, oid).unwrap();
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
    let message = slh_dsa::Message::Pure { context: b"c", message: b"m" };
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
    fn stuck(request: &Request<'_>) -> Option<[u8; ROOT_LEN]> {
        let mut root = right(request)?;
        root[15] |= 1;
        Some(root)
    }
    // This engine always returns the root of the first message.
    fn repeats(request: &Request<'_>) -> Option<[u8; ROOT_LEN]> {
        let message: &[&[u8]] = &[&[], b"abc"];
        right(&Request { message, ..*request })
    }
    fn without_slh_dsa(request: &Request<'_>) -> Option<[u8; ROOT_LEN]> {
        match request.scheme {
            Scheme::SlhDsaSha2_128s => Some([0; ROOT_LEN]),
            _ => right(request),
        }
    }
    for engine in [engine!(stuck), engine!(repeats), engine!(without_slh_dsa)] {
        assert_eq!(with(engine).err(), Some(KernelFault::WrongAnswer));
    }
}

#[test]
fn an_engine_without_an_answer_is_refused() {
    let silent = Engine { start: |_| Some(()), finish: |_| None };
    let absent = Engine { start: |_| None, finish: |_| None };
    for engine in [silent, absent] {
        assert_eq!(with(engine).err(), Some(KernelFault::WrongAnswer));
    }
    // The result is the same if there is no room for the signature of a known answer.
    let kernels = Kernels::PORTABLE.with_hash_based_engine(engine!(right), &mut []);
    assert_eq!(kernels.err(), Some(KernelFault::WrongAnswer));
}

#[test]
fn software_computes_what_an_engine_does_not_have() {
    fn lms_alone(request: &Request<'_>) -> Option<[u8; ROOT_LEN]> {
        if request.scheme == Scheme::Lms { right(request) } else { None }
    }
    let kernels = with(engine!(lms_alone)).unwrap();
    let has = ALL.map(|scheme| kernels.has_hash_based_engine(scheme));
    assert_eq!(has, [false, false, true, false]);
    assert!(xmss::self_test(&kernels) && lms::self_test(&kernels));
    // A scheme is not used if there is no room for the signature of its known answer.
    let kernels = Kernels::PORTABLE.with_hash_based_engine(engine!(right), &mut [0; 4096]).unwrap();
    let has = ALL.map(|scheme| kernels.has_hash_based_engine(scheme));
    assert_eq!(has, [true, true, true, false]);
}

#[test]
fn an_engine_that_falls_silent_later_leaves_the_work_to_software() {
    thread_local! {
        static IS_SILENT: Cell<[bool; 2]> = const { Cell::new([false; 2]) };
    }
    const RIGHT: Engine = engine!(right);
    let engine = Engine {
        start: |request| if IS_SILENT.get()[0] { None } else { (RIGHT.start)(request) },
        finish: |root| if IS_SILENT.get()[1] { None } else { (RIGHT.finish)(root) },
    };
    let kernels = with(engine).unwrap();
    assert!(kernels.has_hash_based_engine(Scheme::Xmss));
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
    fn wrong(request: &Request<'_>) -> Option<[u8; ROOT_LEN]> {
        right(request).map(|root| if IS_WRONG.get() { [0x55; ROOT_LEN] } else { root })
    }
    let kernels = with(engine!(wrong)).unwrap();
    IS_WRONG.set(true);
    assert!(!xmss::self_test(&kernels) && !lms::self_test(&kernels));
}
