//! Searches memory and registers for secrets that a stage has left: after a boot, after a refusal, and after a trap at
//! the moment when the stage uses them.
//!
//! The next stage is a program of one instruction, a jump to itself, so that memory and registers are as the stage left
//! them. All of RAM is searched, for the secrets and for everything that they can be computed from
//! ([`Leaks`]). ROM and loader zero their whole stack before they enter the next stage. Their secrets must be gone
//! before, so these stores are removed from the stages that are tested.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hartlock_emulator::images::Device;
use hartlock_emulator::machine::{Outcome, Stop};
use hartlock_fsbl::{HANDOVER_SIZE, Handover};
use hartlock_handoff::{DeviceSecret, RootOfTrust};
use hartlock_kernels::Hash;
use hartlock_kernels::sha3::Sha3_512;
use hartlock_maps::qemu_virt;
use hartlock_testkit::bundle::Edit;
use hartlock_testkit::leaks::Leaks;
use hartlock_verify::board::Region;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use xtask::firmware;

use super::board::{Setup, TestBoard};
use super::case::Case;
use super::port;
use super::tee::{HIDDEN, Tee, expected_for, loader, tee_with};

/// Offset in the next stage at which it ends up: far behind the code with which the first-stage loader begins, which is
/// loaded to the same address before.
const SPIN_AT: usize = 0x200;
/// Page of the record for the monitor, which holds the monitor's key.
const RECORD: Region = Region { start: qemu_virt::LOG.end - 4096, end: qemu_virt::LOG.end };
/// Maximum time for a boot to reach the next stage on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// `nop`
const NOP: [u8; 4] = 0x0000_0013_u32.to_le_bytes();
/// `ret`, twice
const RETURN: [u8; 4] = 0x8082_8082_u32.to_le_bytes();

/// The function that wipes variables, and the one that wipes the stack below a function that used a secret.
const WIPE: &[&str] = &["hartlock_kernels", "secret", "wipe"];
const WIPE_BELOW: &[&str] = &["hartlock_kernels", "secret", "overwrite"];

pub fn cases() -> Vec<Case> {
    let clean = |name: &str, stage: Stage, end: StageEnd| {
        Case::new(format!("wiped/{name}"), move |bench: &TestBoard| {
            let found = left(bench, stage, end, &[])?;
            ensure!(found.is_empty(), "{found:?}");
            Ok(())
        })
    };
    // Without the function, something has to be found: the search sees what the function is for.
    let caught = |name: &str, stage: Stage, end: StageEnd, function: &'static [&'static str]| {
        Case::new(format!("wiped/{name}"), move |bench: &TestBoard| {
            let found = left(bench, stage, end, function)?;
            ensure!(!found.is_empty(), "nothing is found");
            Ok(())
        })
    };
    vec![
        clean("the-rom-leaves-no-secret-to-the-next-stage", Stage::Rom, StageEnd::NextStage),
        clean("a-rom-that-refuses-leaves-no-secret", Stage::Rom, StageEnd::Refusal),
        clean("a-rom-that-refuses-early-leaves-no-secret", Stage::Rom, StageEnd::EarlyRefusal),
        clean("a-rom-that-traps-leaves-no-secret", Stage::Rom, StageEnd::Trap),
        clean("the-first-stage-leaves-no-secret-to-the-monitor", Stage::Fsbl, StageEnd::NextStage),
        clean("a-first-stage-that-refuses-leaves-no-secret", Stage::Fsbl, StageEnd::Refusal),
        clean(
            "a-first-stage-that-refuses-early-leaves-no-secret",
            Stage::Fsbl,
            StageEnd::EarlyRefusal,
        ),
        clean("a-first-stage-that-traps-leaves-no-secret", Stage::Fsbl, StageEnd::Trap),
        clean(
            "a-first-stage-that-traps-while-it-signs-leaves-no-secret",
            Stage::Fsbl,
            StageEnd::LateTrap,
        ),
        caught(
            "a-rom-that-wipes-no-stack-is-caught",
            Stage::Rom,
            StageEnd::EarlyRefusal,
            WIPE_BELOW,
        ),
        // The variables of the ROM are on the stack that is overwritten, so that their wipe alone shows nothing.
        caught(
            "a-first-stage-that-wipes-no-stack-is-caught",
            Stage::Fsbl,
            StageEnd::EarlyRefusal,
            WIPE_BELOW,
        ),
        caught(
            "a-first-stage-that-leaves-its-stack-late-is-caught",
            Stage::Fsbl,
            StageEnd::Refusal,
            WIPE_BELOW,
        ),
        caught(
            "a-first-stage-that-wipes-no-variable-is-caught",
            Stage::Fsbl,
            StageEnd::NextStage,
            WIPE,
        ),
    ]
}

/// A stage that has secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Rom,
    Fsbl,
}

/// How a stage ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StageEnd {
    NextStage,
    /// Of a bundle with a changed payload.
    Refusal,
    /// Of a bundle with a changed tag, so that little code runs after the secrets were used.
    EarlyRefusal,
    /// In a function that runs while the secret is in use.
    Trap,
    /// In the first-stage loader, while it checks the signature that it made.
    LateTrap,
}

/// Runs a stage to this end and returns the secrets that it left, with their addresses. The function `removed` of the
/// stage returns at once.
fn left(
    bench: &TestBoard,
    stage: Stage,
    end: StageEnd,
    removed: &[&str],
) -> Result<Vec<(String, String)>> {
    let root =
        RootOfTrust { secret: secret()?, ..super::board::fake_root(hartlock_image::Policy::Any)? };
    let mut leaks = Leaks::default();
    leaks.add_state_key(root.secret.bytes(), &root.state_key());
    let mut code = changed(bench, stage, end, removed)?;
    let edits: &[Edit] = match end {
        StageEnd::Refusal => &[Edit::File(|file| file[3 << 12] ^= 1)],
        StageEnd::EarlyRefusal => &[Edit::File(|file| file[0] ^= 1)],
        _ => &[],
    };
    let device = Device::temporary()?;
    let (setup, tee) = match stage {
        Stage::Rom => {
            let mut setup = bench.setup(&[], &[])?;
            let mut draft = bench.boot_draft(&bench.firmware.loader)?;
            draft.payloads.first_mut().context("a payload")?.data = next_stage();
            setup.boot = hartlock_testkit::bundle::build(draft, edits).0;
            (setup.rom, setup.system) = (std::mem::take(&mut code), None);
            (setup, None)
        }
        Stage::Fsbl => {
            let mut tee = tee_with(bench, std::mem::take(&mut code))?;
            tee.monitor = super::tee::monitor_of(next_stage(), edits)?;
            tee.secret = HIDDEN;
            leaks_of_tee(&mut leaks)?;
            (tee.setup, Some((tee.monitor, tee.secret)))
        }
    };
    let setup = Setup { root, ..setup };
    bench.install(&device, &setup)?;
    if let Some((monitor, secret)) = tee {
        let tee = Tee { setup: bench.setup(&[], &[])?, monitor, secret };
        tee.program(&device.bundle_flash())?;
    }
    search(bench, &device, &setup, stage, end, &leaks)
}

/// Adds the secrets of the first-stage loader.
fn leaks_of_tee(leaks: &mut Leaks) -> Result<()> {
    let endorsement = expected_for(&next_stage(), &HIDDEN)?;
    let mut hash = Sha3_512::new();
    hash.update(&next_stage());
    let keys = [&endorsement.device_public_key, &endorsement.public_key];
    leaks.add_endorsement(&HIDDEN, &hash.finalize(), keys);
    Ok(())
}

/// A device secret without two equal words.
fn secret() -> Result<DeviceSecret> {
    DeviceSecret::new(std::array::from_fn(|at| 0x93 ^ (at as u8).wrapping_mul(37)))
        .context("a secret")
}

/// Returns the program that stays where it is entered, after some instructions that do nothing.
fn next_stage() -> Vec<u8> {
    // `j .`
    [NOP.repeat(SPIN_AT / 4), 0x0000_006f_u32.to_le_bytes().to_vec(), vec![0; 512]].concat()
}

/// Returns the code of a stage without its later wipe of the stack, and with the changes that the end needs.
fn changed(bench: &TestBoard, stage: Stage, end: StageEnd, removed: &[&str]) -> Result<Vec<u8>> {
    let elf = match stage {
        Stage::Rom => bench.firmware.rom.elf.clone(),
        Stage::Fsbl => loader()?.elf,
    };
    let mut elf = fs::read(elf)?;
    let late: &[&str] = match (stage, end) {
        (Stage::Rom, _) => &["rom_handover"],
        // After a trap nothing but the stage's own end can wipe.
        (Stage::Fsbl, StageEnd::Trap | StageEnd::LateTrap) => &["fsbl_leave", "fsbl_wipe_unused"],
        (Stage::Fsbl, _) => &["fsbl_leave", "fsbl_wipe_unused", "fsbl_refuse"],
    };
    for function in late {
        remove_stores(&mut elf, function)?;
    }
    let trap: &[&str] = match (stage, end) {
        (Stage::Rom, StageEnd::Trap) => &["hartlock_handoff", "StateRecord", "fields"],
        (Stage::Fsbl, StageEnd::Trap) => &["hartlock_fsbl", "verified"],
        (Stage::Fsbl, StageEnd::LateTrap) => &["hartlock_fsbl", "sign_in_software"],
        _ => &[],
    };
    if !trap.is_empty() {
        let at = firmware::function_in_file(&elf, trap)?;
        elf.get_mut(at..at + 4).context("inside of the file")?.fill(0);
    }
    if !removed.is_empty() {
        remove(&mut elf, removed)?;
    }
    firmware::flat_binary_of(&elf)
}

/// Makes every function return at once whose mangled name contains all of `parts`: a generic function has several.
pub fn remove(elf: &mut [u8], parts: &[&str]) -> Result<()> {
    let file = object::File::parse(&*elf)?;
    let has_all = |name: &str| parts.iter().all(|part| name.contains(part));
    let found = file.symbols().filter(|symbol| symbol.name().is_ok_and(has_all));
    let places: Vec<u64> = found.map(|symbol| symbol.address()).collect();
    let segments = file.segments().map(|segment| (segment.address(), segment.file_range()));
    let segments: Vec<_> = segments.collect();
    ensure!(!places.is_empty(), "no function {parts:?}");
    for place in places {
        let inside =
            |(start, (_, size)): &&(u64, (u64, u64))| (*start..start + size).contains(&place);
        let (start, (offset, _)) = segments.iter().find(inside).context("in a segment")?;
        let at = usize::try_from(place - start + offset)?;
        elf.get_mut(at..at + 4).context("inside of the file")?.copy_from_slice(&RETURN);
    }
    Ok(())
}

/// Replaces the stores of zero of a function, `sd zero, offset(t0)`, by instructions that do nothing.
fn remove_stores(elf: &mut [u8], name: &str) -> Result<()> {
    let file = object::File::parse(&*elf)?;
    let symbol =
        file.symbols().find(|symbol| symbol.name() == Ok(name)).context("no such function")?;
    let index = symbol.section_index().context("a function in no section")?;
    let section = file.section_by_index(index)?;
    let start = symbol.address();
    // Labels of the assembler and marks of the instruction set are inside of functions.
    let is_inside = |name: &str| name.starts_with(['.', '$']);
    let next = file
        .symbols()
        .filter(|it| it.section_index() == Some(index) && !it.name().is_ok_and(is_inside));
    let after = next.map(|it| it.address()).filter(|it| *it > start).min();
    let end = after.unwrap_or(section.address() + section.size());
    let (offset, _) = section.file_range().context("a section that is not in the file")?;
    let from = usize::try_from(offset + (start - section.address()))?;
    let code = elf.get_mut(from..from + usize::try_from(end - start)?).context("in the file")?;
    let mut removed = 0;
    let mut at = 0;
    while at + 4 <= code.len() {
        let word = u32::from_le_bytes(code[at..at + 4].try_into()?);
        // Everything but the immediate value is fixed (Unprivileged Architecture §2.6).
        if word & 0x01ff_f07f == 0x0002_b023 {
            code[at..at + 4].copy_from_slice(&NOP);
            removed += 1;
        }
        at += if word & 3 == 3 { 4 } else { 2 };
    }
    ensure!(removed > 0, "{name} has no stores of zero");
    Ok(())
}

/// Runs the device to this end and searches memory, and after a boot registers.
fn search(
    bench: &TestBoard,
    device: &Device,
    setup: &Setup,
    stage: Stage,
    end: StageEnd,
    leaks: &Leaks,
) -> Result<Vec<(String, String)>> {
    let memory = GuestMemory::of(device)?;
    let mut machine = bench.start_on(device, setup, &memory.options())?;
    let mut registers = Vec::new();
    let stop = if end == StageEnd::NextStage {
        let until = Instant::now() + PATIENCE;
        let spin = qemu_virt::OPENSBI.start + SPIN_AT as u64;
        while !machine.harts().iter().any(|hart| hart.hart == 0 && hart.pc == spin) {
            if Instant::now() > until {
                let run = machine.finish(Stop::TimedOut, &mut |_| ());
                bail!("the next stage is not reached\n{}", run.transcript);
            }
            thread::sleep(Duration::from_millis(20));
        }
        registers = machine.registers(0)?.into_iter().flat_map(u64::to_le_bytes).collect();
        ensure!(registers.len() > 8 * 32, "registers are missing");
        Stop::Found
    } else {
        bench.wait(&mut machine, None)
    };
    let run = machine.finish(stop, &mut |_| ());
    let mut bytes = memory.read()?;
    match end {
        StageEnd::NextStage => ensure!(run.outcome == Outcome::Booted, "{:?}", run.outcome),
        _ => ensure!(
            matches!(run.outcome, Outcome::Refused { .. } | Outcome::GuestStopped { .. }),
            "{:?}",
            run.outcome
        ),
    }
    if matches!(end, StageEnd::Trap | StageEnd::LateTrap) {
        ensure!(run.transcript.contains("trap: mcause"), "no trap\n{}", run.transcript);
    }
    if stage == Stage::Fsbl && end == StageEnd::NextStage {
        take_record(&mut bytes)?;
    }
    let mut found = memory.places(leaks, &bytes);
    let in_registers = leaks.found_in(&registers).into_iter();
    found.extend(in_registers.map(|(name, at)| (name, format!("register {}", at / 8))));
    Ok(found)
}

/// The memory of a guest, in a file of which only what the guest has written takes space.
pub struct GuestMemory {
    ram: Region,
    file: PathBuf,
}

impl GuestMemory {
    pub fn of(device: &Device) -> Result<Self> {
        let ram = Region::new(qemu_virt::RAM.start, port::emulated()?.memory_mib << 20);
        Ok(Self { ram, file: device.folder().join("memory") })
    }

    /// Returns the options of QEMU.
    pub fn options(&self) -> Vec<String> {
        let (size, file) = (self.ram.size(), self.file.display());
        let backend = format!("memory-backend-file,id=memory,share=on,size={size},mem-path={file}");
        ["-object", &backend, "-machine", "memory-backend=memory"].map(str::to_owned).into()
    }

    /// Returns the content after the guest has ended.
    pub fn read(&self) -> Result<Vec<u8>> {
        let bytes = fs::read(&self.file)?;
        ensure!(bytes.len() as u64 == self.ram.size(), "the memory has another size");
        Ok(bytes)
    }

    /// Returns the secrets in memory, with their addresses.
    pub fn places(&self, leaks: &Leaks, bytes: &[u8]) -> Vec<(String, String)> {
        let place =
            |(name, at): (String, usize)| (name, format!("{:#x}", self.ram.start + at as u64));
        leaks.found_in(bytes).into_iter().map(place).collect()
    }
}

/// Removes the monitor's record, which holds the monitor's key, and checks that its page has nothing else.
fn take_record(memory: &mut [u8]) -> Result<()> {
    let start = usize::try_from(RECORD.start - qemu_virt::RAM.start)?;
    let page = memory.get_mut(start..start + 4096).context("the page of the record")?;
    let mut record = [0; HANDOVER_SIZE];
    Handover::encode(&expected_for(&next_stage(), &HIDDEN)?, &mut record);
    let (found, rest) = page.split_at_mut(HANDOVER_SIZE);
    ensure!(found == record, "the record is another one");
    ensure!(rest.iter().all(|byte| *byte == 0), "there is something behind the record");
    found.fill(0);
    Ok(())
}
