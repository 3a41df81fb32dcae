//! The ROM of the root of trust (`device/rot-rom`) in the form in which it ships, and bundles
//! that it must refuse.

use anyhow::{Context, Result, ensure};
use hartlock_fault::rot::{ROM_SIZE, RotStorage};
use hartlock_handoff::{ROOT_OF_TRUST_SIZE, RootOfTrust, StateRecord};
use hartlock_hw::machines::rot_boot::{self, SHIPPED, SignedBy};
use hartlock_image::{Lifecycle, Policy};
use hartlock_maps::hartlock_soc;
use hartlock_testkit::bundle::{Block, Draft, Edit, name, trust};
use hartlock_testkit::keys::{A, B};
use hartlock_testkit::signers::LMS;
use object::elf::PT_LOAD;
use object::read::elf::{ElfFile32, ProgramHeader};
use object::{Endianness, Object, ObjectSection};

use super::interpreted::RecordedBoot;
use super::symbols::Symbols;

/// Size argument of a bundle whose three payloads are as small as possible.
const SIZE: usize = 0;
/// Cycle limit that is enough for a boot that verifies LMS in software.
const LMS_CYCLES: &str = "6000000";
/// Cycle limit for a boot with Ed25519, whose verification takes most of the cycles.
const ED25519_CYCLES: &str = "20000000";
/// Offset of the second payload in the file.
const SECOND_PAYLOAD: usize = 3 << 12;

/// Machine code of `li a0, 0`, `li a1, 0` and `ret`, which reports no defect, whatever the
/// arguments.
const NO_DEFECT: [u8; 6] = [0x01, 0x45, 0x81, 0x45, 0x82, 0x80];

/// A device and a bundle that it must refuse.
pub struct RotTarget {
    pub name: &'static str,
    make: fn() -> Result<Device>,
}

/// A ROM that contains the identity of a device, as an ELF file, and a bundle in the host's memory.
pub struct Device {
    pub rom: Vec<u8>,
    pub bundle: Vec<u8>,
    /// Cycle limit of the RTL simulation, which is more than the boot takes.
    pub cycles: &'static str,
}

const fn target(name: &'static str, make: fn() -> Result<Device>) -> RotTarget {
    RotTarget { name, make }
}

pub const TARGETS: &[RotTarget] = &[
    target("rot/below-the-floor", || signed(Edit::Draft(|draft| draft.security_version = 2))),
    target("rot/another-board", || {
        signed(Edit::Draft(|draft| draft.identity.board = name("qemu-virt")))
    }),
    target("rot/another-lifecycle", || {
        provisioned(|_, state| state.lifecycle = Lifecycle::Returned)
    }),
    target("rot/untrusted-key", || signed(Edit::Draft(|draft| draft.blocks = vec![Block::By(B)]))),
    target("rot/revoked-key", || provisioned(|_, state| state.revoked_keys = 0b11)),
    target("rot/second-signer-missing", || {
        provisioned(|root, _| root.trust = trust(Policy::All, [A.record(), LMS.record()]))
    }),
    target("rot/stripped-signature", || {
        let listed = |draft: &mut Draft| draft.listed = Some(vec![A.record(), LMS.record()]);
        signed(Edit::Draft(listed))
    }),
    // The changed byte is part of the security version and increases it. The second target has the
    // same change under another signature algorithm.
    target("rot/altered-manifest", || signed(Edit::File(|file| file[33] ^= 0x10))),
    target("rot/altered-manifest-by-ed25519", || {
        let altered = Edit::File(|file| file[33] ^= 0x10);
        let bundle = rot_boot::bundle(SIZE, SignedBy::Ed25519, None, &[altered]);
        Ok(Device { rom: rom()?, bundle, cycles: ED25519_CYCLES })
    }),
    target("rot/altered-payload", || {
        signed(Edit::File(|file| {
            file[SECOND_PAYLOAD + 64..SECOND_PAYLOAD + 128].iter_mut().for_each(|it| *it ^= 0x10);
        }))
    }),
    target("rot/another-type", || {
        signed(Edit::Draft(|draft| {
            let Draft { identity, blocks, .. } = draft.clone();
            *draft = Draft { identity, blocks, ..Draft::system() };
        }))
    }),
    target("rot/payload-over-the-bundle", || {
        signed(Edit::Draft(|draft| draft.payloads[1].load_at(hartlock_soc::BUNDLE.start)))
    }),
];

impl RotTarget {
    pub fn make(&self) -> Result<Device> {
        (self.make)().with_context(|| self.name.to_owned())
    }
}

impl Device {
    /// Records the boot on the interpreter.
    pub fn recorded_boot(&self) -> Result<RecordedBoot> {
        RecordedBoot::of_rot(self.storage()?, Symbols::parse(&self.rom)?)
    }

    /// Returns ROM and bundle in the form of the interpreter.
    pub fn storage(&self) -> Result<RotStorage> {
        let (image, code_len) = image(&self.rom)?;
        Ok(RotStorage::new(image, code_len, self.bundle.clone()))
    }

    /// Replaces redundant checks by code that never finds a defect.
    pub fn blind(&mut self, checks: &[&str]) -> Result<()> {
        let symbols = Symbols::parse(&self.rom)?;
        let (text_address, text_offset) = text(&self.rom)?;
        for function in checks {
            let offset = symbols.address(&["recheck", function])? - text_address;
            let at = text_offset + usize::try_from(offset)?;
            let code = self.rom.get_mut(at..at + NO_DEFECT.len()).context("inside the ROM")?;
            code.copy_from_slice(&NO_DEFECT);
        }
        Ok(())
    }
}

/// Builds the ROM with the algorithms in software, because the interpreter has no engine for them.
fn rom() -> Result<Vec<u8>> {
    rot_boot::rom_for(SignedBy::Lms, SHIPPED)
}

/// Makes a device that accepts its bundle.
pub fn accepted() -> Result<Device> {
    Ok(Device { rom: rom()?, bundle: bundle(&[]), cycles: LMS_CYCLES })
}

/// Makes a device with a bundle that this edit changes.
fn signed(edit: Edit) -> Result<Device> {
    Ok(Device { rom: rom()?, bundle: bundle(&[edit]), cycles: LMS_CYCLES })
}

fn bundle(edits: &[Edit]) -> Vec<u8> {
    rot_boot::bundle(SIZE, SignedBy::Lms, None, edits)
}

/// Makes a device with a changed root of trust or state, and with a correct bundle.
fn provisioned(change: fn(&mut RootOfTrust, &mut StateRecord)) -> Result<Device> {
    let mut rom = rom()?;
    let (at, size) = rot_boot::place(&rom)?;
    let identity = rom.get_mut(at..at + size).context("the identity is in the file")?;
    let (root, state) = identity.split_at(ROOT_OF_TRUST_SIZE);
    let mut root = RootOfTrust::parse(root).ok().context("a root of trust")?;
    let mut state = StateRecord::parse(state, &root.state_key()).context("a state record")?;
    change(&mut root, &mut state);
    let changed = [&root.encode()[..], &state.encode(&root.state_key())].concat();
    identity.copy_from_slice(&changed);
    Ok(Device { rom, bundle: bundle(&[]), cycles: LMS_CYCLES })
}

/// Returns the address of the code and its offset in the file.
fn text(elf: &[u8]) -> Result<(u64, usize)> {
    let file = ElfFile32::<Endianness>::parse(elf)?;
    let text = file.section_by_name(".text").context("the ROM has no code")?;
    let (offset, _) = text.file_range().context("the code is not in the file")?;
    Ok((text.address(), usize::try_from(offset)?))
}

/// Returns the contents of the boot ROM, and the number of bytes that are code.
fn image(elf: &[u8]) -> Result<(Vec<u8>, usize)> {
    let file = ElfFile32::<Endianness>::parse(elf)?;
    let endian = file.endian();
    let mut image = vec![0; ROM_SIZE];
    for header in file.elf_program_headers() {
        if header.p_type(endian) == PT_LOAD && header.p_filesz(endian) > 0 {
            let data = header.data(endian, elf).ok().context("a segment is outside of the file")?;
            let at = header.p_paddr(endian) as usize;
            let place = image.get_mut(at..at + data.len());
            place.context("a segment is outside of the ROM")?.copy_from_slice(data);
        }
    }
    let text = file.section_by_name(".text").context("the ROM has no code")?;
    ensure!(text.address() == 0, "the ROM does not start with its code");
    Ok((image, usize::try_from(text.size())?))
}
