//! Boots with one fault each. Every case checks stage, reason, hint and log of the refusal, and
//! that no code of the bundle runs.

use std::num::NonZeroU64;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::{Device, Provisioning, STATE_AT};
use hartlock_handoff::cpus::CpuFault;
use hartlock_handoff::fdt::Rule;
use hartlock_handoff::memory::MemoryFault;
use hartlock_handoff::payload::{LinuxFault, OpensbiFault};
use hartlock_handoff::{DeviceSecret, RootOfTrust, SECRET_SIZE, STATE_SIZE, StateRecord};
use hartlock_image::{Lifecycle, Manifest, PayloadType, Policy, Reason, SignatureBlocks};
use hartlock_maps::qemu_virt;

use super::board::{
    STUB_RUNS, TestBoard, bundle_type, expect_boot, expect_harts_outside, expect_refusal,
    fake_root, vector,
};
use super::case::Case;
use hartlock_testkit::bundle::{Block, Draft, Edit};
use hartlock_testkit::keys::{A, B};
use xtask::firmware;

/// Sets a bit of the padding after the last payload.
const SET_LAST_BIT: Edit = Edit::File(|file| *file.last_mut().expect("a bundle has bytes") |= 1);

/// Changes a name or text of equal length, once, in the device tree for Linux.
fn rename(draft: &mut Draft, from: &[u8], to: &[u8]) {
    let data = &mut draft.payloads[2].data;
    let at = data.windows(from.len()).position(|bytes| bytes == from);
    let at = at.expect("the tree has the name");
    data[at..at + from.len()].copy_from_slice(to);
}

/// Gives the kernel a header of Linux with these fields.
fn head_linux(draft: &mut Draft, image_size: u64, flags: u64) {
    let data = &mut draft.payloads[0].data;
    data[16..24].copy_from_slice(&image_size.to_le_bytes());
    data[24..32].copy_from_slice(&flags.to_le_bytes());
    data[0x38..0x3c].copy_from_slice(b"RSC\x05");
}

/// Checks that a stage refuses a payload, and that the line before says why.
fn expect_named(
    bench: &TestBoard,
    (boot, system): (&[Edit], &[Edit]),
    (stage, reason): (Stage, Reason),
    says: &str,
) -> Result<()> {
    let run = bench.run(&bench.setup(boot, system)?)?;
    expect_refusal(&run, stage, reason)?;
    let line = format!("hartlock: {says}");
    ensure!(run.transcript.contains(&line), "the console does not say {line}");
    Ok(())
}

/// Boots with a device tree that the loader refuses, and checks that the console names the rule.
fn expect_tree_refused(bench: &TestBoard, system: &[Edit], rule: &str) -> Result<()> {
    let refused = (Stage::Loader, Reason::DeviceTreeUnusable);
    expect_named(bench, (&[], system), refused, &format!("device tree: {rule}"))
}

/// Boots with a kernel or an initramfs that Linux could not use.
fn expect_unusable(bench: &TestBoard, system: &[Edit], fault: LinuxFault) -> Result<()> {
    let refused = (Stage::Loader, Reason::PayloadUnusable);
    expect_named(bench, (&[], system), refused, fault.text())
}

/// The region of a bundle in which a byte is changed.
#[derive(Clone, Copy)]
enum BundleRegion {
    Manifest,
    Signature,
    Payload(usize),
}

pub fn cases() -> Vec<Case> {
    let mut cases = vec![Case::new("refusal/without-a-fault-it-boots", |bench| {
        let run = bench.run(&bench.setup(&[], &[])?)?;
        ensure!(run.transcript.contains(STUB_RUNS), "the kernel did not run");
        expect_boot(&run)
    })];
    cases.extend(tampered_cases());
    cases.extend(signed_fault_cases());
    cases.extend(vector_cases());
    cases.extend(device_cases());
    cases.push(Case::new("refusal/rollback-across-two-boots", rollback));
    cases.push(Case::new("refusal/firmware-for-measurements", measurement_firmware));
    cases
}

/// Returns cases with a changed byte in every region that a device reads.
fn tampered_cases() -> Vec<Case> {
    use Reason::{PayloadDigestMismatch, SignatureMismatch};
    [
        ("boot-manifest", Stage::Rom, BundleRegion::Manifest, SignatureMismatch),
        ("boot-signature", Stage::Rom, BundleRegion::Signature, SignatureMismatch),
        ("opensbi", Stage::Rom, BundleRegion::Payload(0), PayloadDigestMismatch),
        ("loader", Stage::Rom, BundleRegion::Payload(1), PayloadDigestMismatch),
        ("boot-fdt", Stage::Rom, BundleRegion::Payload(2), PayloadDigestMismatch),
        ("system-manifest", Stage::Loader, BundleRegion::Manifest, SignatureMismatch),
        ("system-signature", Stage::Loader, BundleRegion::Signature, SignatureMismatch),
        ("kernel", Stage::Loader, BundleRegion::Payload(0), PayloadDigestMismatch),
        ("initramfs", Stage::Loader, BundleRegion::Payload(1), PayloadDigestMismatch),
        ("system-fdt", Stage::Loader, BundleRegion::Payload(2), PayloadDigestMismatch),
    ]
    .into_iter()
    .map(|(name, stage, place, reason)| {
        Case::new(format!("refusal/tampered-{name}"), move |bench: &TestBoard| {
            let mut setup = bench.setup(&[], &[])?;
            let bytes = match stage {
                Stage::Rom => &mut setup.boot,
                Stage::Loader => setup.system.as_mut().context("there is a disk")?,
            };
            let at = offset_of(bytes, place)?;
            let byte = bytes.get_mut(at).context("inside the bundle")?;
            *byte ^= 0x10;
            let run = bench.run(&setup)?;
            expect_refusal(&run, stage, reason)?;
            expect_harts_outside(&run, qemu_virt::SYSTEM)
        })
    })
    .collect()
}

/// Returns the offset of a byte in the middle of a region.
fn offset_of(bytes: &[u8], place: BundleRegion) -> Result<usize> {
    let word = |at: usize| -> Result<usize> {
        let field = bytes.get(at..at + 4).context("a bundle")?;
        Ok(u32::from_le_bytes(field.try_into()?) as usize)
    };
    let (signed_size, signatures_size) = (word(16)?, word(20)?);
    Ok(match place {
        // Offset of the security version, which an attacker would like to increase.
        BundleRegion::Manifest => 33,
        // Offset of the middle of R, the first half of the Ed25519 signature.
        BundleRegion::Signature => signed_size + 16 + 32 + 16,
        BundleRegion::Payload(index) => {
            let area =
                bytes.get(signed_size..signed_size + signatures_size).context("signatures")?;
            let blocks = SignatureBlocks::parse(area).ok().context("signature blocks")?;
            let keys = blocks
                .iter()
                .map(|block| hartlock_testkit::keys::record(block.algorithm, 0, block.public_key))
                .collect();
            let signed = bytes.get(..signed_size).context("a signed region")?;
            let manifest = Manifest::parse(signed, &keys).ok().context("a manifest")?;
            let payload = manifest.payloads.get(index).context("a payload")?;
            (payload.offset + payload.size / 2) as usize
        }
    })
}

/// Returns cases with bundles that have valid signatures and must still be refused.
fn signed_fault_cases() -> Vec<Case> {
    let wrong_key: fn(Stage) -> Edit = |_| Edit::Draft(|draft| draft.blocks = vec![Block::By(B)]);
    let other_board: fn(Stage) -> Edit = |_| Edit::Draft(|draft| draft.use_unknown_board());
    let other_lifecycle: fn(Stage) -> Edit =
        |_| Edit::Draft(|draft| draft.lifecycle_mask = Lifecycle::Production.bit());
    let overlap: fn(Stage) -> Edit = |_| {
        Edit::Draft(|draft| {
            let first = draft.payloads[0].load_address;
            let last = draft.payloads.len() - 1;
            draft.payloads[last].load_at(first);
        })
    };
    let live: fn(Stage) -> Edit = |_| {
        Edit::Draft(|draft| {
            let last = draft.payloads.len() - 1;
            draft.payloads[last].memory_size = 8192;
            draft.payloads[last].load_at(qemu_virt::HANDOFF.start);
        })
    };
    let faults = [
        ("wrong-key", wrong_key, Reason::NoTrustedSigner),
        ("another-board", other_board, Reason::WrongBoard),
        ("another-lifecycle", other_lifecycle, Reason::LifecycleNotAllowed),
        ("overlapping-payloads", overlap, Reason::LoadRangesOverlap),
        ("payload-over-the-hand-off-block", live, Reason::OverlapsLiveRegion),
    ];
    let mut cases = Vec::new();
    for (name, edit, reason) in faults {
        for stage in [Stage::Rom, Stage::Loader] {
            let name = format!("refusal/{name}-for-the-{}", stage.name());
            cases.push(Case::new(name, move |bench: &TestBoard| {
                let edits = [edit(stage)];
                let setup = match stage {
                    Stage::Rom => bench.setup(&edits, &[])?,
                    Stage::Loader => bench.setup(&[], &edits)?,
                };
                expect_refusal(&bench.run(&setup)?, stage, reason)
            }));
        }
    }
    cases
}

/// Returns cases that boot unchanged bundles of `spec/vectors` on the device.
fn vector_cases() -> Vec<Case> {
    [
        ("signature_block_erased", Reason::SignatureAlgorithmZero),
        ("signature_block_doubled", Reason::SignerMismatch),
        ("block_without_signer", Reason::SignatureBlockExtra),
        ("signer_without_block", Reason::SignatureBlockMissing),
        ("signature_blocks_swapped", Reason::SignerMismatch),
        ("tag_of_other_type_signed", Reason::WrongBundleType),
    ]
    .into_iter()
    .map(|(name, reason)| {
        Case::new(format!("refusal/vector-{name}"), move |bench: &TestBoard| {
            let mut setup = bench.setup(&[], &[])?;
            let bytes = vector(name)?;
            let _ = bundle_type(&bytes)?;
            setup.system = Some(bytes);
            expect_refusal(&bench.run(&setup)?, Stage::Loader, reason)
        })
    })
    .collect()
}

/// Returns cases in which the bundles are correct and the device is not.
fn device_cases() -> Vec<Case> {
    vec![
        Case::new("refusal/truncated-disk", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            let system = setup.system.as_mut().context("there is a disk")?;
            system.truncate(system.len() - 4096);
            expect_refusal(&bench.run(&setup)?, Stage::Loader, Reason::Truncated)
        }),
        Case::new("refusal/empty-disk", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.system = Some(vec![0; 1 << 20]);
            expect_refusal(&bench.run(&setup)?, Stage::Loader, Reason::UnknownTag)
        }),
        Case::new("refusal/device-tree-that-is-none", |bench| {
            let system = [Edit::Draft(|draft| draft.payloads[2].data.fill(1))];
            expect_tree_refused(bench, &system, Rule::Form.text())
        }),
        Case::new("refusal/device-tree-with-a-seed", |bench| {
            let system = [Edit::Draft(|draft| rename(draft, b"stdout-path", b"kaslr-seed\0"))];
            expect_tree_refused(bench, &system, Rule::OfOneBoot.text())
        }),
        Case::new("refusal/device-tree-without-the-boot-hart", |bench| {
            // Linux knows a CPU by its name or its kind.
            let system = [Edit::Draft(|draft| {
                rename(draft, b"cpu@0", b"cpx@0");
                rename(draft, b"device_type", b"device_typx");
            })];
            expect_tree_refused(bench, &system, Rule::BootHart.text())
        }),
        Case::new("refusal/device-tree-without-chosen-boots", |bench| {
            let system = [Edit::Draft(|draft| {
                rename(draft, b"chosen", b"chosem");
                rename(draft, b"reserved-memory", b"reserved-memorx");
            })];
            let setup = bench.setup(&[], &system)?;
            expect_boot(&bench.run(&setup)?)
        }),
        Case::new("refusal/device-tree-without-the-memory-of-the-kernel", |bench| {
            // The address of the memory, and the upper half of its size.
            let system = [Edit::Draft(|draft| {
                let at = |high| [0, 0, 0, 0, high, 0, 0, 0, 0, 0, 0, 0];
                rename(draft, &at(0x80), &at(0x83));
            })];
            let fault = MemoryFault::NoMemory { index: 0, address: 0 };
            expect_tree_refused(bench, &system, fault.text())
        }),
        Case::new("refusal/device-tree-without-the-memory-of-the-initramfs", |bench| {
            // Address and size of the memory, which ends before the initramfs.
            let system = [Edit::Draft(|draft| {
                let with_size = |high| [0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, high, 0, 0, 0];
                rename(draft, &with_size(0x40), &with_size(0x04));
            })];
            let fault = MemoryFault::NoMemory { index: 1, address: 0 };
            expect_tree_refused(bench, &system, fault.text())
        }),
        Case::new("refusal/boot-bundle-too-old-for-the-system", |bench| {
            // The boot bundle has version 7.
            let booted = [Edit::Draft(|draft| draft.boot_version = NonZeroU64::new(7))];
            expect_boot(&bench.run(&bench.setup(&[], &booted)?)?)?;
            let newer = [Edit::Draft(|draft| draft.boot_version = NonZeroU64::new(8))];
            let run = bench.run(&bench.setup(&[], &newer)?)?;
            expect_refusal(&run, Stage::Loader, Reason::BootVersionTooOld)
        }),
        Case::new("refusal/padding-for-the-rom", |bench| {
            let padding = [SET_LAST_BIT];
            let run = bench.run(&bench.setup(&padding, &[])?)?;
            expect_refusal(&run, Stage::Rom, Reason::PaddingNotZero)
        }),
        Case::new("refusal/padding-for-the-loader", |bench| {
            let padding = [SET_LAST_BIT];
            let run = bench.run(&bench.setup(&[], &padding)?)?;
            expect_refusal(&run, Stage::Loader, Reason::PaddingNotZero)
        }),
        Case::new("refusal/device-tree-without-a-clock", |bench| {
            let system = [Edit::Draft(|draft| {
                rename(draft, b"timebase-frequency", b"timebase-frequence");
            })];
            expect_tree_refused(bench, &system, CpuFault::Timebase(None).text())
        }),
        Case::new("refusal/kernel-of-the-other-byte-order", |bench| {
            let system = [Edit::Draft(|draft| head_linux(draft, 60_000, 1))];
            expect_unusable(bench, &system, LinuxFault::BigEndian)
        }),
        Case::new("refusal/kernel-of-less-memory-than-its-file", |bench| {
            let system = [Edit::Draft(|draft| head_linux(draft, 59_999, 0))];
            expect_unusable(bench, &system, LinuxFault::ImageSize)
        }),
        Case::new("refusal/kernel-with-less-memory-than-it-needs", |bench| {
            let system = [Edit::Draft(|draft| {
                let memory_size = draft.payloads[0].memory_size;
                head_linux(draft, memory_size + 1, 0);
            })];
            expect_unusable(bench, &system, LinuxFault::MemorySize)
        }),
        Case::new("refusal/initramfs-that-linux-does-not-unpack", |bench| {
            let system = [Edit::Draft(|draft| head_linux(draft, 60_000, 0))];
            expect_unusable(bench, &system, LinuxFault::Initramfs)
        }),
        Case::new("refusal/initramfs-that-is-cut", |bench| {
            let system = [Edit::Draft(|draft| {
                head_linux(draft, 60_000, 0);
                let mut payloads = draft.payloads.iter_mut();
                let initramfs = payloads.find(|it| it.kind == PayloadType::Initramfs);
                let data = &mut initramfs.expect("a system bundle has an initramfs").data;
                // An entry of 4 GiB.
                data[..110].fill(b'0');
                data[..6].copy_from_slice(b"070701");
                data[54..62].fill(b'f');
            })];
            expect_unusable(bench, &system, LinuxFault::InitramfsCut)
        }),
        Case::new("refusal/command-line-with-another-initramfs", |bench| {
            let system = [Edit::Draft(|draft| {
                head_linux(draft, 60_000, 0);
                draft.bootargs = "console=ttyS0 initrd=0x90000000,4096".into();
            })];
            expect_unusable(bench, &system, LinuxFault::OtherInitramfs)
        }),
        Case::new("refusal/command-line-that-cuts-off-the-kernel", |bench| {
            let system = [Edit::Draft(|draft| draft.bootargs = "mem=1M".into())];
            let fault = MemoryFault::Limited { index: 0, needed: 0 };
            expect_tree_refused(bench, &system, fault.text())
        }),
        Case::new("refusal/boot-device-tree-that-is-cut", |bench| {
            let boot = [Edit::Draft(|draft| {
                let tree = draft.payloads.iter_mut().find(|it| it.kind == PayloadType::BootFdt);
                tree.expect("a boot bundle has a tree").data.truncate(1000);
            })];
            let run = bench.run(&bench.setup(&boot, &[])?)?;
            expect_refusal(&run, Stage::Rom, Reason::DeviceTreeUnusable)
        }),
        Case::new("refusal/opensbi-with-a-fixed-next-stage", |bench| {
            // The `lui` of the magic number that OpenSBI compares with.
            let change = |draft: &mut Draft| {
                let code = &mut draft.payloads[0].data;
                let upper = code.windows(2).step_by(2).position(|half| half == [0x42, 0x49]);
                let at = 2 * upper.expect("OpenSBI compares with the number");
                code[at] ^= 1;
            };
            let refused = (Stage::Rom, Reason::PayloadUnusable);
            let says = format!("OpenSBI: {}", OpensbiFault::FixedNextStage.text());
            expect_named(bench, (&[Edit::Draft(change)], &[]), refused, &says)
        }),
        Case::new("refusal/no-disk", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.system = None;
            expect_refusal(&bench.run(&setup)?, Stage::Loader, Reason::MediumMissing)
        }),
        Case::new("refusal/erased-flash", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.boot = vec![0xff; 4096];
            expect_refusal(&bench.run(&setup)?, Stage::Rom, Reason::UnknownTag)
        }),
        Case::new("refusal/bundles-swapped", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.boot = setup.system.clone().context("there is a disk")?;
            expect_refusal(&bench.run(&setup)?, Stage::Rom, Reason::WrongBundleType)
        }),
        Case::new("refusal/root-of-trust-erased", |bench| {
            let setup = bench.setup(&[], &[])?;
            let device = Device::temporary()?;
            bench.install(&device, &setup)?;
            let mut flash = std::fs::read(device.rom_flash())?;
            let at = hartlock_emulator::images::ROOT_OF_TRUST_AT;
            flash[at..at + 0x1000].fill(0xff);
            std::fs::write(device.rom_flash(), flash)?;
            let run = bench.finish(bench.start_on(&device, &setup, &[])?, None);
            expect_refusal(&run, Stage::Rom, Reason::RootOfTrustInvalid)
        }),
        Case::new("refusal/state-store-erased", |bench| {
            let setup = bench.setup(&[], &[])?;
            let device = Device::temporary()?;
            bench.install(&device, &setup)?;
            let mut flash = std::fs::read(device.bundle_flash())?;
            flash[0x1f8_0000..].fill(0xff);
            std::fs::write(device.bundle_flash(), flash)?;
            let run = bench.finish(bench.start_on(&device, &setup, &[])?, None);
            expect_refusal(&run, Stage::Rom, Reason::CounterStoreInvalid)
        }),
        Case::new("refusal/forged-state-record", |bench| {
            // Every field of the record is correct, but its authentication tag is that of another
            // device.
            let setup = bench.setup(&[], &[])?;
            let device = Device::temporary()?;
            bench.install(&device, &setup)?;
            let other = DeviceSecret::new([0x5f; SECRET_SIZE]).context("a secret")?;
            let key = RootOfTrust { secret: other, ..setup.root }.state_key();
            let mut flash = std::fs::read(device.bundle_flash())?;
            for at in STATE_AT {
                flash[at..at + STATE_SIZE].copy_from_slice(&forged().encode(&key));
            }
            std::fs::write(device.bundle_flash(), &flash)?;
            let run = bench.finish(bench.start_on(&device, &setup, &[])?, None);
            expect_refusal(&run, Stage::Rom, Reason::CounterStoreInvalid)?;
            // The same record with the tag of this device is accepted.
            let key = setup.root.state_key();
            flash[STATE_AT[0]..][..STATE_SIZE].copy_from_slice(&forged().encode(&key));
            std::fs::write(device.bundle_flash(), flash)?;
            expect_boot(&bench.finish(bench.start_on(&device, &setup, &[])?, None))
        }),
        Case::new("refusal/root-key-revoked", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.state = Provisioning { revoked_keys: 1, ..setup.state };
            expect_refusal(&bench.run(&setup)?, Stage::Rom, Reason::NoTrustedSigner)
        }),
        Case::new("refusal/policy-hybrid-without-a-post-quantum-key", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.root = fake_root(Policy::Hybrid)?;
            expect_refusal(&bench.run(&setup)?, Stage::Rom, Reason::PolicyHybridNotMet)
        }),
        Case::new("refusal/second-signer-is-needed", |bench| {
            let mut setup = bench.setup(&[], &[])?;
            setup.root = crate::boots::board::fake_device(hartlock_testkit::bundle::trust(
                Policy::All,
                [A.record(), B.record()],
            ))
            .context("two keys")?;
            expect_refusal(&bench.run(&setup)?, Stage::Rom, Reason::PolicyAllNotMet)
        }),
    ]
}

/// Returns a state record with which a device boots.
fn forged() -> StateRecord {
    StateRecord {
        sequence: 1,
        boot_floor: 0,
        system_floor: 0,
        lifecycle: Lifecycle::Development,
        revoked_keys: 0,
    }
}

/// A device boots version 7 of both bundles. Then its floors are raised: the stage whose floor is
/// above the bundle refuses it, and newer bundles boot.
fn rollback(bench: &TestBoard) -> Result<()> {
    let setup = bench.setup(&[], &[])?;
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    let boot =
        |setup| -> Result<_> { Ok(bench.finish(bench.start_on(&device, setup, &[])?, None)) };
    expect_boot(&boot(&setup)?)?;

    device.provision(&Provisioning { boot_floor: 7, system_floor: 8, ..setup.state })?;
    expect_refusal(&boot(&setup)?, Stage::Loader, Reason::RollbackBelowFloor)?;
    device.provision(&Provisioning { boot_floor: 8, system_floor: 7, ..setup.state })?;
    expect_refusal(&boot(&setup)?, Stage::Rom, Reason::RollbackBelowFloor)?;

    let newer = [Edit::Draft(|draft| draft.security_version = 8)];
    let mut newer = bench.setup(&newer, &newer)?;
    newer.state = Provisioning { boot_floor: 8, system_floor: 8, ..setup.state };
    bench.install(&device, &newer)?;
    expect_boot(&boot(&newer)?)
}

/// Firmware that verifies nothing exists only to measure the cost of verification. Its boot bundle
/// is signed with a key that no device trusts, so the ROM of a release refuses it. The ROM that
/// belongs to it boots the bundle, which shows that the bundle is complete.
fn measurement_firmware(bench: &TestBoard) -> Result<()> {
    const SAYS_SO: &str = "UNVERIFIED loader";
    let loader = firmware::stage("loader-variants", &["unverified"])?;
    let other_key = [Edit::Draft(|draft| draft.blocks = vec![Block::By(B)])];
    let mut setup = bench.setup_with(&loader, &other_key, &[])?;
    let run = bench.run(&setup)?;
    expect_refusal(&run, Stage::Rom, Reason::NoTrustedSigner)?;
    ensure!(!run.transcript.contains(SAYS_SO), "it ran");

    setup.rom = std::fs::read(firmware::stage("rom-variants", &["unverified"])?.bin)?;
    let run = bench.run(&setup)?;
    ensure!(run.transcript.contains(SAYS_SO), "not even the ROM that verifies nothing runs it");
    Ok(())
}
