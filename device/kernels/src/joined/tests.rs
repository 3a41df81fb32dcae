//! Engines for SHA-256 and SHA-3 that are right, wrong or partial.

use std::boxed::Box;

use super::*;
use crate::engines::{Attached, Attachment, EngineFault, NO_HASH_VALUE, NoEngines, Wipe};
use crate::{Hash, HashFamily};

/// An engine of two functions.
struct Hashing {
    compress: fn(&mut [u32; 8], &[[u8; 64]]),
    sha3: fn(HashId, &[&[u8]], &mut Sha3Digest) -> Option<()>,
}

impl Engines for Hashing {
    fn compress_sha256(&self, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
        (self.compress)(state, blocks);
    }

    fn sha3(&self, hash: HashId, parts: &[&[u8]], digest: &mut Sha3Digest) -> Option<()> {
        (self.sha3)(hash, parts, digest)
    }
}

const RIGHT: Hashing = Hashing {
    compress: |state, blocks| Kernels::PORTABLE.sha256.one.run.add(state, blocks),
    sha3: |hash, parts, digest| {
        fn put<H: Hash>(parts: &[&[u8]], digest: &mut Sha3Digest) -> Option<()> {
            let mut hash = H::new();
            parts.iter().for_each(|part| hash.update(part));
            let bytes = hash.finalize();
            digest.0[..H::OUTPUT_LEN].copy_from_slice(bytes.as_ref());
            Some(())
        }
        match hash {
            HashId::Sha3_256 => put::<Sha3_256>(parts, digest),
            HashId::Sha3_384 => put::<Sha3_384>(parts, digest),
            HashId::Sha3_512 => put::<Sha3_512>(parts, digest),
            _ => None,
        }
    },
};

fn joined(engine: Hashing) -> Kernels {
    Kernels::PORTABLE.join(Box::leak(Box::new(engine)))
}

/// Kernels that use the engine, if it gives known answers.
fn using(
    engine: Hashing,
    use_it: fn(&mut Kernels) -> Result<(), KernelFault>,
) -> Result<Kernels, KernelFault> {
    let mut kernels = joined(engine);
    use_it(&mut kernels)?;
    Ok(kernels)
}

fn sha256_of_abc(kernels: &Kernels) -> [u8; 32] {
    let mut hash = Sha256::with(kernels);
    hash.update(b"abc");
    hash.finalize()
}

#[test]
fn an_engine_for_sha256_is_used_if_its_answers_are_right() {
    let kernels = using(RIGHT, Kernels::use_sha256_engine).unwrap();
    assert_eq!(kernels.tier(HashFamily::Sha256), Tier::Engine);
    assert_eq!(kernels.tier(HashFamily::Sha512), Tier::Portable);
    assert_eq!(sha256_of_abc(&kernels), Sha256::KAT);
}

#[test]
fn an_engine_for_sha256_that_does_nothing_or_forgets_a_block_is_refused() {
    let nothing = Hashing { compress: |_, _| (), ..RIGHT };
    let first_alone = Hashing {
        compress: |state, blocks| (RIGHT.compress)(state, blocks.get(..1).unwrap_or_default()),
        ..RIGHT
    };
    for engine in [nothing, first_alone] {
        let refused = using(engine, Kernels::use_sha256_engine);
        assert_eq!(refused.err(), Some(KernelFault::WrongAnswer));
    }
}

#[test]
fn what_has_no_engine_for_sha256_gives_no_digest() {
    let mut state = [0; 8];
    NoEngines.compress_sha256(&mut state, &[[0; 64]]);
    assert_eq!(state, NO_HASH_VALUE);
    let mut kernels = Kernels::PORTABLE.join(&NoEngines);
    assert_eq!(kernels.use_sha256_engine(), Err(KernelFault::WrongAnswer));
    assert_eq!(sha256_of_abc(&kernels), Sha256::KAT);
}

#[test]
fn an_engine_for_sha3_is_used_for_what_it_has() {
    let uses = |kernels: &Kernels| {
        [EngineUse::Sha3_256, EngineUse::Sha3_384, EngineUse::Sha3_512]
            .map(|purpose| kernels.engines_for(purpose).is_some())
    };
    assert_eq!(uses(&using(RIGHT, Kernels::use_sha3_engine).unwrap()), [true; 3]);
    let partial = Hashing {
        sha3: |hash, parts, digest| {
            if hash == HashId::Sha3_512 { (RIGHT.sha3)(hash, parts, digest) } else { None }
        },
        ..RIGHT
    };
    assert_eq!(uses(&using(partial, Kernels::use_sha3_engine).unwrap()), [false, false, true]);
    let absent = Hashing { sha3: |_, _, _| None, ..RIGHT };
    // One wrong digest is enough.
    let wrong = Hashing {
        sha3: |hash, parts, digest| {
            (RIGHT.sha3)(hash, parts, digest)?;
            digest.0[40] ^= 1;
            Some(())
        },
        ..RIGHT
    };
    for engine in [absent, wrong] {
        assert_eq!(using(engine, Kernels::use_sha3_engine).err(), Some(KernelFault::WrongAnswer));
    }
}

#[test]
fn kernels_without_engines_use_none() {
    let none = Kernels::PORTABLE;
    assert!(none.engines().is_none());
    assert_eq!({ none }.use_sha256_engine().err(), Some(KernelFault::WrongAnswer));
    assert_eq!({ none }.use_sha3_engine().err(), Some(KernelFault::WrongAnswer));
    assert_eq!({ none }.use_ed25519_engine().err(), Some(KernelFault::WrongAnswer));
    // Joined engines are not used before they gave known answers.
    assert!(joined(RIGHT).engines_for(EngineUse::Sha3_512).is_none());
    assert_eq!(joined(RIGHT).tier(HashFamily::Sha256), Tier::Portable);
}

/// An engine that gives this number of answers, and confirms or does not confirm that its data is cleared.
struct Limited(u32, bool);

impl Wipe for Limited {
    fn wipe(&mut self) -> Option<()> {
        self.1.then_some(())
    }
}

#[test]
fn an_attached_engine_is_used_until_it_fails() {
    let ask = |engine: &mut Limited| {
        engine.0 = engine.0.checked_sub(1)?;
        Some(())
    };
    for (can_forget, fault) in [(true, EngineFault::Failed), (false, EngineFault::Stuck)] {
        let engine = Attached::new(Some(Limited(2, can_forget)));
        assert_eq!([engine.ask(ask), engine.ask(ask)], [Some(()); 2]);
        assert_eq!(engine.fault(), None);
        assert_eq!((engine.ask(ask), engine.fault()), (None, Some(fault)));
        // It would answer again, and is not asked.
        assert!(engine.ask(|_| Some(())).is_none() && engine.with(|_| ()).is_none());
    }
    let stuck = Attached::new(Some(Limited(1, false)));
    stuck.wipe(None);
    assert_eq!(stuck.fault(), Some(EngineFault::Stuck));
    let wrong = Attached::new(Some(Limited(1, true)));
    wrong.wipe(Some(EngineFault::WrongAnswer));
    assert_eq!((wrong.fault(), wrong.ask(ask)), (Some(EngineFault::WrongAnswer), None));
    let missing = Attached::<Limited>::new(None);
    missing.wipe(Some(EngineFault::WrongAnswer));
    assert_eq!((missing.fault(), missing.ask(ask)), (Some(EngineFault::Missing), None));
    let taken = Attached::new(Some(Limited(1, true)));
    assert!(taken.take().is_some() && taken.take().is_none());
    assert_eq!(taken.fault(), Some(EngineFault::Missing));
}

#[test]
fn an_engine_that_is_in_use_is_not_used_by_others() {
    let engine = Attached::new(Some(Limited(1, true)));
    let inner = engine.ask(|_| Some((engine.with(|_| ()), engine.take().is_some())));
    assert_eq!(inner, Some((None, false)));
}
