//! The first-stage loader of a TEE (`device/fsbl`) on the emulated board: the ROM verifies it, it verifies and endorses the
//! monitor. For the same secret and the same monitor, the keys are those of `tee-1`, bit by bit.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::{BANK_SIZE, BOOT_SLOT_SIZE, Device};
use hartlock_emulator::machine::{Outcome, Run};
use hartlock_fsbl::{HANDOVER_SIZE, Handover};
use hartlock_hw::machines::tee_boot::{self, SECRET, TEST_SIZE};
use hartlock_image::{HashId, PayloadType, Reason};
use hartlock_testkit::bundle::{Draft, Edit, Payload, build};
use hartlock_verify::board::{Region, qemu_virt};
use xtask::firmware::{self, StageFiles};

use super::board::{Bench, Setup, expect_refusal, last_lines, starts_with};
use super::case::Case;
use super::harts::rom_with_phantom;

/// What the monitor prints last (verif/programs/tee-monitor).
const DONE: &str = "monitor: done";
/// Where the loader finds them in flash bank 1 (device/fsbl/src/program/virt/machine.rs).
const MONITOR_AT: usize = BOOT_SLOT_SIZE;
const SECRET_AT: usize = BANK_SIZE - (1 << 20);
/// Of the loader, in front of the place where it moves to.
const LOADER_MEMORY: u64 = 0x8_0000;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("tee/the-keys-are-those-of-tee-1", same_keys),
        Case::new("tee/secrets-are-in-the-record-alone", secrets_of_a_boot),
        Case::new("tee/on-one-hart-and-on-five", every_number_of_harts),
        Case::new("tee/another-monitor-has-other-keys", other_monitor),
        Case::new("tee/another-secret-gives-other-keys", other_secret),
        Case::new("tee/a-changed-loader-is-refused-by-the-rom", changed_loader),
        Case::new("tee/bad-input-is-refused", bad_input),
        Case::new("tee/a-secret-that-stays-open-is-refused", open_secret),
        Case::new("tee/a-trap-is-refused-and-leaves-no-secret", trap),
        Case::new("tee/a-hart-in-the-place-of-the-monitor-is-refused", phantom_hart),
        Case::new("tee/the-loader-cannot-reach-a-panic", no_panic),
    ]
}

/// Another secret, none of whose bytes are of a text: memory is searched for it.
const HIDDEN: [u8; 64] = {
    let mut secret = SECRET;
    let mut at = 0;
    while at < secret.len() {
        secret[at] ^= 0x80 | at as u8;
        at += 1;
    }
    secret
};
/// Memory that the loader and a monitor write to: the log with the record in its last page, the loader and its stack.
const WRITTEN: [Region; 2] = [qemu_virt::LOG, Region { start: 0x8800_0000, end: 0x8810_0000 }];

/// A device whose monitor is this bundle, and whose secret is this.
struct Tee {
    setup: Setup,
    monitor: Vec<u8>,
    secret: [u8; 64],
}

fn loader() -> Result<StageFiles> {
    firmware::stage("fsbl", &["virt"])
}

/// The boot bundle of the monitor, signed by the key that signs that of the ROM.
fn monitor(size: usize, edits: &[Edit]) -> Result<Vec<u8>> {
    let mut draft = Draft::boot();
    let mut others = [
        Payload::new(PayloadType::Loader, 1024, qemu_virt::LOADER.start),
        Payload::new(PayloadType::BootFdt, 1024, qemu_virt::BOOT_FDT.start),
    ];
    others.iter_mut().for_each(|other| other.hash = HashId::Sha3_512);
    draft.payloads = [tee_boot::monitor(size)?].into_iter().chain(others).collect();
    Ok(build(draft, edits).0)
}

fn tee(bench: &Bench) -> Result<Tee> {
    tee_with(bench, fs::read(loader()?.bin)?)
}

fn tee_with(bench: &Bench, loader: Vec<u8>) -> Result<Tee> {
    let mut draft = bench.boot_draft(&bench.firmware.loader)?;
    let first = draft.payloads.first_mut().context("there are three payloads")?;
    first.data = loader;
    first.memory_size = LOADER_MEMORY;
    let mut setup = bench.setup(&[], &[])?;
    setup.boot = build(draft, &[]).0;
    setup.system = None;
    setup.until = Some(DONE);
    Ok(Tee { setup, monitor: monitor(TEST_SIZE, &[])?, secret: SECRET })
}

impl Tee {
    fn run(&self, bench: &Bench) -> Result<Run> {
        Ok(self.run_and_look(bench)?.0)
    }

    /// Runs it, and reads what is left in memory.
    fn run_and_look(&self, bench: &Bench) -> Result<(Run, Vec<u8>)> {
        self.run_after(bench, &[])
    }

    /// The same of a device whose first hart has executed a program before, if there is one.
    fn run_after(&self, bench: &Bench, program: &[u32]) -> Result<(Run, Vec<u8>)> {
        let device = Device::temporary()?;
        bench.install(&device, &self.setup)?;
        self.program(&device.bundle_flash())?;
        let options = if program.is_empty() {
            Vec::new()
        } else {
            starts_with(&device, 0, program)?.to_vec()
        };
        let mut machine = bench.start_on(&device, &self.setup, &options)?;
        let stop = bench.wait(&mut machine, self.setup.until);
        let mut memory = Vec::new();
        for region in WRITTEN {
            memory.extend(machine.read_memory(&region)?);
        }
        Ok((machine.finish(stop, &mut |_| ()), memory))
    }

    /// Puts the bundle of the monitor and the secret into flash bank 1.
    fn program(&self, flash: &Path) -> Result<()> {
        let mut bank = fs::read(flash)?;
        let place = bank.get_mut(MONITOR_AT..SECRET_AT).context("the bank is smaller")?;
        let place = place.get_mut(..self.monitor.len()).context("the bundle is larger")?;
        place.copy_from_slice(&self.monitor);
        let place = bank.get_mut(SECRET_AT..).and_then(|rest| rest.first_chunk_mut());
        *place.context("the bank is smaller")? = self.secret;
        Ok(fs::write(flash, bank)?)
    }

    /// The record that the monitor got.
    fn record(&self, bench: &Bench) -> Result<[u8; HANDOVER_SIZE]> {
        let run = self.run(bench)?;
        ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(&run));
        for engine in ["sha3-512", "ed25519"] {
            let line = format!("fsbl: {engine} in software, there is no engine");
            ensure!(run.transcript.contains(&line), "it does not say so\n{}", last_lines(&run));
        }
        tee_boot::check_stack(&run.transcript, false).map_err(anyhow::Error::msg)?;
        tee_boot::record(&run.transcript).context("the monitor printed no record")
    }
}

/// The record that the boot of `tee-1` gives (`cargo xtask hw tee-1`), and that a program on this machine computes.
fn expected() -> Result<[u8; HANDOVER_SIZE]> {
    let mut wanted = [0; HANDOVER_SIZE];
    Handover::encode(&tee_boot::expected(TEST_SIZE)?, &mut wanted);
    Ok(wanted)
}

fn same_keys(bench: &Bench) -> Result<()> {
    ensure!(tee(bench)?.record(bench)? == expected()?, "the record is another one");
    Ok(())
}

fn every_number_of_harts(bench: &Bench) -> Result<()> {
    for harts in [1, 5] {
        let mut tee = tee(bench)?;
        tee.setup.harts = harts;
        ensure!(tee.record(bench)? == expected()?, "the record is another one on {harts}");
    }
    Ok(())
}

/// Fields of a record that must differ, and the one that must not.
fn differ(bench: &Bench, tee: &Tee) -> Result<[bool; 4]> {
    let parse = |record| Handover::parse(record).context("it is no record");
    let (found, wanted) = (tee.record(bench)?, expected()?);
    let (found, wanted) = (parse(&found)?, parse(&wanted)?);
    Ok([
        found.measurement != wanted.measurement,
        found.public_key != wanted.public_key,
        found.signature != wanted.signature,
        found.device_public_key != wanted.device_public_key,
    ])
}

fn other_monitor(bench: &Bench) -> Result<()> {
    let mut tee = tee(bench)?;
    tee.monitor = monitor(TEST_SIZE + 1, &[])?;
    let differ = differ(bench, &tee)?;
    ensure!(differ == [true, true, true, false], "what differs is {differ:?}");
    Ok(())
}

fn other_secret(bench: &Bench) -> Result<()> {
    let mut tee = tee(bench)?;
    tee.secret[63] ^= 1;
    let differ = differ(bench, &tee)?;
    ensure!(differ[..2] == [false, true], "what differs is {differ:?}");
    Ok(())
}

fn changed_loader(bench: &Bench) -> Result<()> {
    let mut tee = tee(bench)?;
    // The first payload is in the third page.
    *tee.setup.boot.get_mut(3 << 12).context("it is smaller")? ^= 1;
    expect_refusal(&tee.run(bench)?, Stage::Rom, Reason::PayloadDigestMismatch)
}

/// Whether memory has eight bytes of a secret, at any place.
fn has_any_of(memory: &[u8], secret: &[u8; 64]) -> bool {
    let parts: Vec<&[u8]> = secret.chunks_exact(8).collect();
    memory.windows(8).any(|window| window != [0; 8] && parts.contains(&window))
}

/// The loader refuses for exactly this reason, with its title and its hint. The monitor does not run, and of secrets nothing is
/// left in memory.
fn expect(bench: &Bench, what: &str, tee: &Tee, reason: Reason) -> Result<()> {
    expect_after(bench, what, tee, &[], reason)
}

fn expect_after(
    bench: &Bench,
    what: &str,
    tee: &Tee,
    program: &[u32],
    reason: Reason,
) -> Result<()> {
    let (run, memory) = tee.run_after(bench, program)?;
    let is_said = tee_boot::says_refusal(&run.transcript, reason);
    ensure!(is_said, "{what}: not {reason:?}\n{}", last_lines(&run));
    let has_run = run.transcript.contains("monitor:");
    let has_signed = run.transcript.contains("fsbl: endorsed");
    ensure!(!has_run && !has_signed, "{what}: it went on\n{}", last_lines(&run));
    if tee.secret == HIDDEN {
        let is_left = [HIDDEN, monitor_secret()?].iter().any(|it| has_any_of(&memory, it));
        ensure!(!is_left, "{what}: a secret is left in memory");
    }
    Ok(())
}

/// The key that the monitor gets from a device with the hidden secret.
fn monitor_secret() -> Result<[u8; 64]> {
    Ok(tee_boot::expected_with(TEST_SIZE, &HIDDEN)?.secret_key)
}

fn hidden(tee: Tee) -> Tee {
    Tee { secret: HIDDEN, ..tee }
}

/// The monitor's key is in its record alone, where the search that finds nothing after a refusal finds it.
fn secrets_of_a_boot(bench: &Bench) -> Result<()> {
    let (run, memory) = hidden(tee(bench)?).run_and_look(bench)?;
    ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(&run));
    let (log, loader) = memory.split_at(WRITTEN[0].size() as usize);
    let key = monitor_secret()?;
    let found = [has_any_of(log, &key), has_any_of(loader, &key), has_any_of(&memory, &HIDDEN)];
    ensure!(found == [true, false, false], "record, loader, the device's anywhere: {found:?}");
    Ok(())
}

/// Entry 0 of PMP, which closes the secret, was locked before, matching nothing.
fn open_secret(bench: &Bench) -> Result<()> {
    let program = [
        // `li t0, 0x80`, `csrw pmpcfg0, t0`.
        0x0800_0293,
        0x3a02_9073,
        // Where harts start otherwise: `lui t0, 1`, `jr t0`.
        0x0000_12b7,
        0x0002_8067,
    ];
    expect_after(bench, "open", &hidden(tee(bench)?), &program, Reason::NotEndorsed)
}

/// While the secret of the device is in variables of the loader.
fn trap(bench: &Bench) -> Result<()> {
    let mut elf = fs::read(loader()?.elf)?;
    tee_boot::trap_with_key(&mut elf)?;
    let loader = firmware::flat_binary_of(&elf)?;
    expect(bench, "trap", &hidden(tee_with(bench, loader)?), Reason::UnexpectedTrap)
}

/// A hart that the ROM counts and that never says that it has left.
fn phantom_hart(bench: &Bench) -> Result<()> {
    let mut tee = hidden(tee(bench)?);
    tee.setup.rom = rom_with_phantom(bench)?;
    tee.setup.harts = 4;
    expect(bench, "phantom", &tee, Reason::HartNotStopped)
}

fn bad_input(bench: &Bench) -> Result<()> {
    let with_secret = |secret| Ok::<_, anyhow::Error>(Tee { secret, ..tee(bench)? });
    expect(bench, "zeros", &with_secret([0; 64])?, Reason::DeviceSecretInvalid)?;
    expect(bench, "ones", &with_secret([0xff; 64])?, Reason::DeviceSecretInvalid)?;
    let with_monitor = |monitor| Ok::<_, anyhow::Error>(hidden(Tee { monitor, ..tee(bench)? }));
    expect(bench, "empty", &with_monitor(Vec::new())?, Reason::UnknownTag)?;
    let flip = Edit::File(|file| file[3 << 12] ^= 1);
    let flipped = with_monitor(monitor(TEST_SIZE, &[flip])?)?;
    expect(bench, "changed", &flipped, Reason::PayloadDigestMismatch)?;
    // Erased flash follows.
    let cut = Edit::File(|file| file.truncate(file.len() - (1 << 12)));
    let cut = with_monitor(monitor(TEST_SIZE, &[cut])?)?;
    expect(bench, "cut", &cut, Reason::PayloadDigestMismatch)
}

fn no_panic(_: &Bench) -> Result<()> {
    ensure!(!firmware::has_panic_path(&loader()?.elf)?, "it can");
    Ok(())
}
