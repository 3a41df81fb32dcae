//! The bundles that must be refused: genuine bundles on a device that must not accept them, and modified
//! ones.

use anyhow::{Context, Result};
use hartlock_emulator::Stage;
use hartlock_emulator::images::Provisioning;
use hartlock_image::{Lifecycle, PayloadType, Policy};
use hartlock_maps::qemu_virt;

use crate::boots::board::{Setup, TestBoard, fake_device};
use hartlock_testkit::bundle::{Block, Draft, Edit, trust};
use hartlock_testkit::keys::{A, B, C};

/// A device and a bundle that it must refuse.
pub struct BoardTarget {
    pub stage: Stage,
    pub name: &'static str,
    pub make: fn(&TestBoard) -> Result<Setup>,
}

impl BoardTarget {
    const fn rom(name: &'static str, make: fn(&TestBoard) -> Result<Setup>) -> Self {
        Self { stage: Stage::Rom, name, make }
    }

    const fn loader(name: &'static str, make: fn(&TestBoard) -> Result<Setup>) -> Self {
        Self { stage: Stage::Loader, name, make }
    }
}

/// Entry point of the kernel in every system bundle: the lowest permitted address.
pub const SYSTEM_ENTRY: u64 = qemu_virt::SYSTEM.start;

pub const TARGETS: &[BoardTarget] = &[
    BoardTarget::rom("rom/below-the-floor", |bench| {
        provisioned(bench, |state| Provisioning { boot_floor: 9, ..state })
    }),
    BoardTarget::rom("rom/another-board", |bench| {
        boot(bench, Edit::Draft(Draft::use_unknown_board))
    }),
    BoardTarget::rom("rom/another-lifecycle", |bench| {
        provisioned(bench, |state| Provisioning { lifecycle: Lifecycle::Returned, ..state })
    }),
    BoardTarget::rom("rom/untrusted-key", |bench| {
        boot(bench, Edit::Draft(|draft| draft.blocks = vec![Block::By(B)]))
    }),
    BoardTarget::rom("rom/revoked-key", |bench| {
        provisioned(bench, |state| Provisioning { revoked_keys: 1, ..state })
    }),
    BoardTarget::rom("rom/second-signer-missing", |bench| {
        let mut setup = small(bench)?;
        let keys = trust(Policy::All, [A.record(), C.record()]);
        setup.root = fake_device(keys).context("two keys")?;
        Ok(setup)
    }),
    BoardTarget::rom("rom/stripped-signature", |bench| {
        boot(bench, Edit::Draft(|draft| draft.listed = Some(vec![A.record(), C.record()])))
    }),
    // The changed byte is part of the security version and increases it.
    BoardTarget::rom("rom/altered-manifest", |bench| {
        boot(bench, Edit::File(|file| file[33] ^= 0x10))
    }),
    BoardTarget::rom("rom/altered-payload", |bench| {
        // More bytes are changed than one skip in a copy loop can repair. With a single changed bit, a
        // skipped load would repeat the byte before it, which could equal the signed one.
        boot(
            bench,
            Edit::File(|file| file[4096 + 64..4096 + 128].iter_mut().for_each(|it| *it ^= 0x10)),
        )
    }),
    BoardTarget::rom("rom/another-type", |bench| {
        let mut setup = small(bench)?;
        setup.boot = setup.system.clone().context("there is a disk")?;
        Ok(setup)
    }),
    BoardTarget::rom("rom/payload-over-the-hand-off-block", |bench| {
        let over = |draft: &mut Draft| {
            draft.payloads[2].memory_size = 8192;
            draft.payloads[2].load_at(qemu_virt::HANDOFF.start);
        };
        boot(bench, Edit::Draft(over))
    }),
    // This bundle is accepted. The values that the ROM hands over must be those that were signed and
    // provisioned.
    BoardTarget::rom("rom/accepted", |bench| {
        provisioned(bench, |state| Provisioning {
            system_floor: 5,
            lifecycle: Lifecycle::Production,
            ..state
        })
    }),
    BoardTarget::loader("loader/below-the-floor", |bench| {
        let mut setup = system(bench, Edit::Draft(|_| ()))?;
        setup.state = Provisioning { system_floor: 9, ..setup.state };
        Ok(setup)
    }),
    BoardTarget::loader("loader/another-board", |bench| {
        system(bench, Edit::Draft(Draft::use_unknown_board))
    }),
    BoardTarget::loader("loader/untrusted-key", |bench| {
        system(bench, Edit::Draft(|draft| draft.blocks = vec![Block::By(B)]))
    }),
    BoardTarget::loader("loader/altered-payload", |bench| {
        system(bench, Edit::File(|file| file[4096 + 1000] ^= 1))
    }),
];

/// Makes a device whose boot bundle is small, so that a boot is fast; the payloads are never executed.
fn small(bench: &TestBoard) -> Result<Setup> {
    boot(bench, Edit::Draft(|_| ()))
}

fn boot(bench: &TestBoard, edit: Edit) -> Result<Setup> {
    let shorten = |draft: &mut Draft| {
        const SIZE: usize = 3000;
        for payload in &mut draft.payloads {
            payload.data.truncate(SIZE);
            if payload.kind == PayloadType::BootFdt {
                // The ROM compares the size in the header of the tree with that of the payload.
                payload.data[4..8].copy_from_slice(&(SIZE as u32).to_be_bytes());
            }
        }
    };
    bench.setup(&[Edit::Draft(shorten), edit], &[])
}

/// Makes a device whose system bundle is small and whose memory ends early; the payloads are never executed.
fn system(bench: &TestBoard, edit: Edit) -> Result<Setup> {
    let shorten = |draft: &mut Draft| {
        let places = [SYSTEM_ENTRY, SYSTEM_ENTRY + (1 << 20), SYSTEM_ENTRY + (2 << 20)];
        for (payload, place) in draft.payloads.iter_mut().zip(places) {
            payload.data.truncate(1500);
            payload.memory_size = 8192;
            payload.load_at(place);
        }
    };
    bench.setup(&[], &[Edit::Draft(shorten), edit])
}

fn provisioned(bench: &TestBoard, change: fn(Provisioning) -> Provisioning) -> Result<Setup> {
    let mut setup = small(bench)?;
    setup.state = change(setup.state);
    Ok(setup)
}
