//! Boots with root keys of algorithms other than Ed25519. Most are combined with an Ed25519 key under
//! the policy that requires both. Both stages accept the bundles as they were signed, and refuse the
//! modifications of an attacker who has no private key.

use std::fs;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_image::{Algorithm, Policy, Reason};

use super::board::{STUB_RUNS, Setup, TestBoard, expect_boot, expect_refusal, fake_device};
use super::case::Case;
use crate::stages;
use hartlock_testkit::bundle::{Block, Draft, build, trust};
use hartlock_testkit::keys::A;
use hartlock_testkit::signers;
use hartlock_testkit::signers::Signer;
use xtask::firmware;

/// Signers that are combined with an Ed25519 signer.
static SIGNERS: [&Signer; 7] = [
    &signers::ML_DSA_87,
    &signers::LMS,
    &signers::HSS,
    &signers::XMSS,
    &signers::XMSS_MT,
    &signers::SLH_DSA_128S,
    &signers::SLH_DSA_SHAKE_128F,
];

/// Signers whose bundles are attacked: one of each algorithm family.
static REFUSED: [&Signer; 4] =
    [&signers::ML_DSA_87, &signers::LMS, &signers::XMSS, &signers::SLH_DSA_128S];

/// Classical signers, which are the only root key of their device.
static ALONE: [&Signer; 3] =
    [&signers::RSA_PSS_3072, &signers::RSA_PKCS1_2048, &signers::ECDSA_P384];

/// An algorithm number that the image format does not assign.
const NO_ALGORITHM: u32 = 9;

/// Offset of the second signature block in the signature area: the size of an Ed25519 block (header,
/// key and signature).
const SECOND: usize = 16 + 32 + 64;

/// Name of an attack, the expected reason of the refusal, and the function that modifies the bundle.
/// The second argument of the function is a bundle with other contents that the same keys signed.
type BundleAttack = (&'static str, Reason, fn(&mut Vec<u8>, &[u8]));

const ATTACKS: [BundleAttack; 6] = [
    ("erased", Reason::SignatureAlgorithmZero, |bundle, _| area(bundle)[SECOND..].fill(0)),
    // The size of the signature area is part of the signed header, so a smaller area invalidates the
    // first signature.
    ("stripped", Reason::SignatureMismatch, |bundle, _| {
        area(bundle)[SECOND..].fill(0);
        bundle[20..24].copy_from_slice(&(SECOND as u32).to_le_bytes());
    }),
    ("reordered", Reason::SignerMismatch, |bundle, _| area(bundle).rotate_left(SECOND)),
    // The Ed25519 block appears twice. A block with an unassigned algorithm number fills the rest of
    // the area.
    ("doubled", Reason::PolicyHybridNotMet, |bundle, _| {
        let (first, rest) = area(bundle).split_at_mut(SECOND);
        let (second, filler) = rest.split_at_mut(SECOND);
        second.copy_from_slice(first);
        let signature_size = filler.len() as u32 - 24;
        let head = [NO_ALGORITHM, 0, 8, signature_size].map(u32::to_le_bytes);
        filler[..16].copy_from_slice(head.as_flattened());
    }),
    ("swapped-for-that-of-another-bundle", Reason::SignatureMismatch, |bundle, other| {
        let mut other = other.to_vec();
        area(bundle)[SECOND..].copy_from_slice(&area(&mut other)[SECOND..]);
    }),
    // A block whose key is not trusted is ignored, whatever it contains, so the policy is not met.
    ("with-another-key", Reason::PolicyHybridNotMet, |bundle, _| {
        let inside_key = SECOND + 16 + 20;
        area(bundle)[inside_key] ^= 1;
    }),
];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for signer in SIGNERS {
        let name = format!("algorithms/ed25519-and-{}", signer.algorithm());
        cases.push(Case::new(name, |bench: &TestBoard| {
            boots_well(bench, &hybrid_setup(bench, signer)?)
        }));
    }
    for signer in ALONE {
        let name = format!("algorithms/{}", signer.algorithm());
        cases.push(Case::new(name, |bench: &TestBoard| {
            let algorithms = [signer.algorithm()];
            let setup = setup(bench, &algorithms, Policy::Any, &[Block::BySigner(signer)], 1)?;
            boots_well(bench, &setup)
        }));
    }
    for signer in REFUSED {
        // Both stages share this code. One signer is tested with both stages, the others only with the
        // ROM.
        let is_first = signer.algorithm() == REFUSED[0].algorithm();
        let stages: &[Stage] = if is_first { &[Stage::Rom, Stage::Loader] } else { &[Stage::Rom] };
        for &stage in stages {
            for (what, reason, attack) in ATTACKS {
                let name =
                    format!("algorithms/{}-{what}-for-the-{}", signer.algorithm(), stage.name());
                cases.push(Case::new(name, move |bench: &TestBoard| {
                    let mut setup = hybrid_setup(bench, signer)?;
                    let other =
                        self::setup(bench, &hybrid(signer), Policy::Hybrid, &pair(signer), 8)?;
                    match stage {
                        Stage::Rom => attack(&mut setup.boot, &other.boot),
                        Stage::Loader => attack(
                            setup.system.as_mut().context("there is a disk")?,
                            &other.system.context("there is a disk")?,
                        ),
                    }
                    expect_refusal(&bench.run(&setup)?, stage, reason)
                }));
            }
        }
    }
    cases.push(Case::new("algorithms/no-rom-can-reach-a-panic", |_| {
        let hybrids = SIGNERS.map(|signer| hybrid(signer).to_vec());
        let alone = ALONE.map(|signer| vec![signer.algorithm()]);
        for algorithms in hybrids.into_iter().chain(alone) {
            let rom = stages::rom_for(&algorithms)?;
            ensure!(!firmware::has_panic_path(&rom.elf)?, "the ROM for {algorithms:?} can");
        }
        Ok(())
    }));
    cases.push(Case::new("algorithms/a-rom-without-the-algorithm", |bench| {
        let mut setup = hybrid_setup(bench, &signers::LMS)?;
        setup.rom = fs::read(&bench.firmware.rom.bin)?;
        expect_refusal(&bench.run(&setup)?, Stage::Rom, Reason::TrustedAlgorithmMissing)
    }));
    cases
}

fn boots_well(bench: &TestBoard, setup: &Setup) -> Result<()> {
    let run = bench.run(setup)?;
    expect_boot(&run)?;
    ensure!(run.transcript.contains(STUB_RUNS), "the kernel did not run");
    Ok(())
}

fn pair(signer: &'static Signer) -> [Block; 2] {
    [Block::By(A), Block::BySigner(signer)]
}

fn hybrid(signer: &Signer) -> [Algorithm; 2] {
    [Algorithm::Ed25519, signer.algorithm()]
}

fn hybrid_setup(bench: &TestBoard, signer: &'static Signer) -> Result<Setup> {
    setup(bench, &hybrid(signer), Policy::Hybrid, &pair(signer), 7)
}

/// Makes a device whose ROM supports these algorithms, and whose bundles are signed by these keys. The
/// device trusts no other keys.
fn setup(
    bench: &TestBoard,
    algorithms: &[Algorithm],
    policy: Policy,
    blocks: &[Block],
    security_version: u64,
) -> Result<Setup> {
    let keys: Vec<_> = blocks.iter().filter_map(Block::record).collect();
    let trusted = trust(policy, keys);
    let signed = |draft: Draft| {
        let draft = Draft { blocks: blocks.to_vec(), trust: trusted, security_version, ..draft };
        build(draft, &[]).0
    };
    Ok(Setup {
        rom: fs::read(stages::rom_for(algorithms)?.bin)?,
        root: fake_device(trusted).context("one or two keys")?,
        boot: signed(bench.boot_draft(&bench.firmware.loader)?),
        system: Some(signed(bench.system_draft()?)),
        ..bench.setup(&[], &[])?
    })
}

/// Returns the signature area of a bundle, whose offset and size are in the header.
fn area(bundle: &mut [u8]) -> &mut [u8] {
    let [start, size] = [16, 20].map(|at| {
        let field = [0, 1, 2, 3].map(|index| bundle[at + index]);
        u32::from_le_bytes(field) as usize
    });
    &mut bundle[start..start + size]
}
