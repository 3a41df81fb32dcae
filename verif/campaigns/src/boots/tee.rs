//! Boots the first-stage loader of a TEE (`device/fsbl`) on the emulated board: the ROM verifies the loader, which
//! verifies and endorses the monitor. For the same secret and the same monitor, the derived keys equal those of
//! `tee-1`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::{BANK_SIZE, BOOT_SLOT_SIZE, Device};
use hartlock_emulator::machine::{Outcome, Run};
use hartlock_fsbl::{Endorsement, HANDOVER_SIZE, Handover};
use hartlock_hw::machines::tee_boot::{self, SECRET, TEST_SIZE};
use hartlock_image::{HashId, PayloadType, Reason};
use hartlock_maps::qemu_virt;
use hartlock_testkit::bundle::{Draft, Edit, Payload, build};
use hartlock_verify::board::Region;
use xtask::firmware::{self, StageFiles};

use super::board::{Setup, TestBoard, expect_refusal, last_lines, starts_with};
use super::case::Case;
use super::harts::rom_with_phantom;

/// Last line that the monitor prints (`verif/programs/tee-monitor`).
const DONE: &str = "monitor: done";
/// Offsets in flash bank 1 at which the loader reads monitor and secret (`device/fsbl/src/program/virt/machine.rs`).
const MONITOR_AT: usize = BOOT_SLOT_SIZE;
const SECRET_AT: usize = BANK_SIZE - (1 << 20);
/// Memory size of the loader's payload in bytes; it ends before the address to which the loader relocates itself.
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

/// Another device secret. No byte of it is ASCII, so that a search of memory for it does not find text.
pub(super) const HIDDEN: [u8; 64] = {
    let mut secret = SECRET;
    let mut at = 0;
    while at < secret.len() {
        secret[at] ^= 0x80 | at as u8;
        at += 1;
    }
    secret
};
/// Memory that the loader and the monitor write: the log, with the handover record in its last page, and the loader
/// with its stack.
const WRITTEN: [Region; 2] = [qemu_virt::LOG, Region { start: 0x8800_0000, end: 0x8810_0000 }];

/// A device with a monitor bundle and a device secret in flash.
pub(super) struct Tee {
    pub(super) setup: Setup,
    pub(super) monitor: Vec<u8>,
    pub(super) secret: [u8; 64],
}

pub(super) fn loader() -> Result<StageFiles> {
    firmware::stage("fsbl", &["virt"])
}

/// Makes the boot bundle with the monitor, signed by the same key as the bundle that the ROM verifies.
fn monitor(size: usize, edits: &[Edit]) -> Result<Vec<u8>> {
    Ok(bundle_of(tee_boot::monitor(size)?, edits))
}

/// Same as [`monitor`], with this program in place of the monitor.
pub(super) fn monitor_of(program: Vec<u8>, edits: &[Edit]) -> Result<Vec<u8>> {
    let mut monitor = tee_boot::monitor(TEST_SIZE)?;
    monitor.data = program;
    Ok(bundle_of(monitor, edits))
}

/// Returns the endorsement that this program gets on a device with this secret.
pub(super) fn expected_for(program: &[u8], secret: &[u8; 64]) -> Result<Endorsement> {
    tee_boot::endorsement(program, secret)
}

fn bundle_of(monitor: Payload, edits: &[Edit]) -> Vec<u8> {
    let mut draft = Draft::boot();
    let mut others = [
        Payload::new(PayloadType::Loader, 1024, qemu_virt::LOADER.start),
        Payload::new(PayloadType::BootFdt, 1024, qemu_virt::BOOT_FDT.start),
    ];
    others.iter_mut().for_each(|other| other.hash = HashId::Sha3_512);
    draft.payloads = [monitor].into_iter().chain(others).collect();
    build(draft, edits).0
}

fn tee(bench: &TestBoard) -> Result<Tee> {
    tee_with(bench, fs::read(loader()?.bin)?)
}

pub(super) fn tee_with(bench: &TestBoard, loader: Vec<u8>) -> Result<Tee> {
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
    fn run(&self, bench: &TestBoard) -> Result<Run> {
        Ok(self.run_and_read_memory(bench)?.0)
    }

    /// Boots the device, and returns the run and the memory regions [`WRITTEN`] afterwards.
    fn run_and_read_memory(&self, bench: &TestBoard) -> Result<(Run, Vec<u8>)> {
        self.run_after(bench, &[])
    }

    /// Same as `run_and_read_memory`, except that the first hart executes `program` before the ROM if it is not empty.
    fn run_after(&self, bench: &TestBoard, program: &[u32]) -> Result<(Run, Vec<u8>)> {
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

    /// Writes the monitor's bundle and the secret to flash bank 1.
    pub(super) fn program(&self, flash: &Path) -> Result<()> {
        let mut bank = fs::read(flash)?;
        let place = bank.get_mut(MONITOR_AT..SECRET_AT).context("the bank is smaller")?;
        let place = place.get_mut(..self.monitor.len()).context("the bundle is larger")?;
        place.copy_from_slice(&self.monitor);
        let place = bank.get_mut(SECRET_AT..).and_then(|rest| rest.first_chunk_mut());
        *place.context("the bank is smaller")? = self.secret;
        Ok(fs::write(flash, bank)?)
    }

    /// Boots the device and returns the handover record that the monitor received.
    fn record(&self, bench: &TestBoard) -> Result<[u8; HANDOVER_SIZE]> {
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

/// Returns the record that a boot of `tee-1` gives (`cargo xtask hw tee-1`), computed on this machine.
fn expected() -> Result<[u8; HANDOVER_SIZE]> {
    let mut wanted = [0; HANDOVER_SIZE];
    Handover::encode(&tee_boot::expected(TEST_SIZE)?, &mut wanted);
    Ok(wanted)
}

fn same_keys(bench: &TestBoard) -> Result<()> {
    ensure!(tee(bench)?.record(bench)? == expected()?, "the record is another one");
    Ok(())
}

fn every_number_of_harts(bench: &TestBoard) -> Result<()> {
    for harts in [1, 5] {
        let mut tee = tee(bench)?;
        tee.setup.harts = harts;
        ensure!(tee.record(bench)? == expected()?, "the record is another one on {harts}");
    }
    Ok(())
}

/// Returns for each of four fields if it differs from the expected record: measurement, public key, signature, and
/// public key of the device.
fn differ(bench: &TestBoard, tee: &Tee) -> Result<[bool; 4]> {
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

fn other_monitor(bench: &TestBoard) -> Result<()> {
    let mut tee = tee(bench)?;
    tee.monitor = monitor(TEST_SIZE + 1, &[])?;
    let differ = differ(bench, &tee)?;
    ensure!(differ == [true, true, true, false], "what differs is {differ:?}");
    Ok(())
}

fn other_secret(bench: &TestBoard) -> Result<()> {
    let mut tee = tee(bench)?;
    tee.secret[63] ^= 1;
    let differ = differ(bench, &tee)?;
    ensure!(differ[..2] == [false, true], "what differs is {differ:?}");
    Ok(())
}

fn changed_loader(bench: &TestBoard) -> Result<()> {
    let mut tee = tee(bench)?;
    // The first payload begins at the fourth page.
    *tee.setup.boot.get_mut(3 << 12).context("it is smaller")? ^= 1;
    expect_refusal(&tee.run(bench)?, Stage::Rom, Reason::PayloadDigestMismatch)
}

/// Returns true if `memory` contains any aligned part of eight bytes of the secret.
fn has_any_of(memory: &[u8], secret: &[u8; 64]) -> bool {
    let parts: Vec<&[u8]> = secret.chunks_exact(8).collect();
    memory.windows(8).any(|window| window != [0; 8] && parts.contains(&window))
}

/// Checks that the loader refuses for this reason, with its title and hint, that the monitor does not run, and that no
/// secret is left in memory.
fn expect(bench: &TestBoard, what: &str, tee: &Tee, reason: Reason) -> Result<()> {
    expect_after(bench, what, tee, &[], reason)
}

fn expect_after(
    bench: &TestBoard,
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

/// Returns the secret key that the monitor gets on a device with the secret [`HIDDEN`].
fn monitor_secret() -> Result<[u8; 64]> {
    Ok(tee_boot::expected_with(TEST_SIZE, &HIDDEN)?.secret_key)
}

fn hidden(tee: Tee) -> Tee {
    Tee { secret: HIDDEN, ..tee }
}

/// Checks that the monitor's secret key is only in its record. This shows that the search, which finds nothing after a
/// refusal, can find a key.
fn secrets_of_a_boot(bench: &TestBoard) -> Result<()> {
    let (run, memory) = hidden(tee(bench)?).run_and_read_memory(bench)?;
    ensure!(run.outcome == Outcome::Booted, "{:?}\n{}", run.outcome, last_lines(&run));
    let (log, loader) = memory.split_at(WRITTEN[0].size() as usize);
    let key = monitor_secret()?;
    let found = [has_any_of(log, &key), has_any_of(loader, &key), has_any_of(&memory, &HIDDEN)];
    ensure!(found == [true, false, false], "record, loader, the device's anywhere: {found:?}");
    Ok(())
}

/// PMP entry 0 must protect the secret. Here it was locked before the boot and matches no address.
fn open_secret(bench: &TestBoard) -> Result<()> {
    let program = [
        // `li t0, 0x80`, `csrw pmpcfg0, t0`
        0x0800_0293,
        0x3a02_9073,
        // Jumps to the default reset vector: `lui t0, 1`, `jr t0`.
        0x0000_12b7,
        0x0002_8067,
    ];
    expect_after(bench, "open", &hidden(tee(bench)?), &program, Reason::NotEndorsed)
}

/// Tests a trap that occurs while the loader's variables hold the secret of the device.
fn trap(bench: &TestBoard) -> Result<()> {
    let mut elf = fs::read(loader()?.elf)?;
    tee_boot::trap_with_key(&mut elf)?;
    let loader = firmware::flat_binary_of(&elf)?;
    expect(bench, "trap", &hidden(tee_with(bench, loader)?), Reason::UnexpectedTrap)
}

/// Tests a hart that the ROM counts and that never reports that it left.
fn phantom_hart(bench: &TestBoard) -> Result<()> {
    let mut tee = hidden(tee(bench)?);
    tee.setup.rom = rom_with_phantom(bench)?;
    tee.setup.harts = 4;
    expect(bench, "phantom", &tee, Reason::HartNotStopped)
}

fn bad_input(bench: &TestBoard) -> Result<()> {
    let with_secret = |secret| Ok::<_, anyhow::Error>(Tee { secret, ..tee(bench)? });
    expect(bench, "zeros", &with_secret([0; 64])?, Reason::DeviceSecretInvalid)?;
    expect(bench, "ones", &with_secret([0xff; 64])?, Reason::DeviceSecretInvalid)?;
    let with_monitor = |monitor| Ok::<_, anyhow::Error>(hidden(Tee { monitor, ..tee(bench)? }));
    expect(bench, "empty", &with_monitor(Vec::new())?, Reason::UnknownTag)?;
    let flip = Edit::File(|file| file[3 << 12] ^= 1);
    let flipped = with_monitor(monitor(TEST_SIZE, &[flip])?)?;
    expect(bench, "changed", &flipped, Reason::PayloadDigestMismatch)?;
    // Erased flash follows the shortened bundle.
    let cut = Edit::File(|file| file.truncate(file.len() - (1 << 12)));
    let cut = with_monitor(monitor(TEST_SIZE, &[cut])?)?;
    expect(bench, "cut", &cut, Reason::PayloadDigestMismatch)
}

fn no_panic(_: &TestBoard) -> Result<()> {
    ensure!(!firmware::has_panic_path(&loader()?.elf)?, "it can");
    Ok(())
}
