//! Tests a disk that returns different bytes for the same sector at different reads.
//!
//! The loader reads each byte of a bundle once, and verifies, keeps and executes the bytes that it read. A disk
//! that returns other bytes at the first read is therefore refused, and a disk that returns them later is not
//! read again. The other bytes come from a genuine bundle with the same layout that is older than the device
//! accepts: each part is well formed, and the whole bundle has a valid signature. Its kernel prints a line of
//! its own.

use std::ops::Range;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::Stage;
use hartlock_emulator::images::{Device, Provisioning};
use hartlock_emulator::machine::{Outcome, Run};
use hartlock_image::{
    HEADER_SIZE, KEY_RECORD_SIZE, PAGE_SIZE, PAYLOAD_RECORD_SIZE, PayloadType, Reason, align_up,
    u32_at, u64_at,
};
use hartlock_testkit::bundle::{Edit, Payload, build};

use super::board::{STUB_RUNS, TestBoard, expect_boot, expect_refusal, last_lines};
use super::case::Case;
use crate::nbd::{Contents, Server};
use xtask::firmware::{self, StageFiles};

/// Text that the kernel of the other bundle prints, of the same length as that of the stub.
const OTHER_RUNS: &str = "stub: an older kernel";
/// Security versions: the minimum that the device accepts, and that of the other bundle.
const FLOOR: u64 = 6;
const OLDER: u64 = FLOOR - 1;

const SECTOR: usize = 512;

/// The reads that the disk answers with the other bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lies {
    First,
    Later,
}

/// The part of a bundle for which the disk returns other bytes.
#[derive(Clone, Copy)]
enum BundlePart {
    Header,
    /// The signed region without the header.
    Manifest,
    Signatures,
    Kernel,
    Initramfs,
    SystemFdt,
    All,
}

/// The expected result of a boot.
#[derive(Clone, Copy)]
enum Expected {
    Boot,
    Refusal(Reason),
}

pub fn cases() -> Vec<Case> {
    use Expected::{Boot, Refusal};
    use Reason::{PayloadDigestMismatch, RollbackBelowFloor, SignatureMismatch};
    let table = [
        ("header", BundlePart::Header, Refusal(SignatureMismatch), Boot),
        // The rest of the manifest's first sector comes from a second read of that sector.
        ("manifest", BundlePart::Manifest, Refusal(SignatureMismatch), Refusal(SignatureMismatch)),
        ("signatures", BundlePart::Signatures, Refusal(SignatureMismatch), Boot),
        ("kernel", BundlePart::Kernel, Refusal(PayloadDigestMismatch), Boot),
        ("initramfs", BundlePart::Initramfs, Refusal(PayloadDigestMismatch), Boot),
        ("device-tree", BundlePart::SystemFdt, Refusal(PayloadDigestMismatch), Boot),
        ("bundle", BundlePart::All, Refusal(SignatureMismatch), Refusal(SignatureMismatch)),
    ];
    let mut cases = Vec::new();
    for (name, part, first, later) in table {
        for (when, lies, expected) in [("first", Lies::First, first), ("later", Lies::Later, later)]
        {
            let name = format!("refusal/disk-that-gives-another-{name}-{when}");
            cases.push(Case::new(name, move |bench: &TestBoard| {
                let (run, disk) = boot(bench, &bench.firmware.loader, part, lies)?;
                judge(&run)?;
                disk.check_reads()?;
                match expected {
                    Boot => expect_boot(&run),
                    Refusal(reason) => expect_refusal(&run, Stage::Loader, reason),
                }
            }));
        }
    }
    cases.push(Case::new("refusal/disk-with-the-older-bundle", |bench| {
        let (run, _) = boot_from(bench, &bench.firmware.loader, |_, other| Disk::honest(other))?;
        expect_refusal(&run, Stage::Loader, RollbackBelowFloor)
    }));
    cases.push(Case::new("refusal/a-loader-that-reads-twice-is-caught", |bench| {
        let loader = firmware::stage("loader-variants", &["reads-twice"])?;
        let (run, disk) = boot(bench, &loader, BundlePart::Kernel, Lies::Later)?;
        ensure!(run.transcript.contains(OTHER_RUNS), "it did not run\n{}", last_lines(&run));
        ensure!(judge(&run).is_err(), "a kernel that was not verified passed");
        ensure!(disk.check_reads().is_err(), "a second read was not noticed");
        Ok(())
    }));
    cases
}

/// Checks that the correct bundle runs or none does, whatever the disk returns.
fn judge(run: &Run) -> Result<()> {
    let text = &run.transcript;
    ensure!(!text.contains(OTHER_RUNS), "the other kernel ran\n{}", last_lines(run));
    let is_boot = text.contains(STUB_RUNS) && run.outcome == Outcome::Booted;
    let is_refusal = matches!(run.outcome, Outcome::Refused { stage: Stage::Loader, .. });
    ensure!(is_boot || is_refusal, "{:?}\n{}", run.outcome, last_lines(run));
    Ok(())
}

fn boot(
    bench: &TestBoard,
    loader: &StageFiles,
    part: BundlePart,
    lies: Lies,
) -> Result<(Run, Disk)> {
    boot_from(bench, loader, |good, other| {
        let range = part.range(&good);
        Disk::new(good, other, range, lies)
    })
}

/// Boots a device whose disk is made from the correct bundle and the other one.
fn boot_from(
    bench: &TestBoard,
    loader: &StageFiles,
    disk: impl FnOnce(Vec<u8>, Vec<u8>) -> Disk,
) -> Result<(Run, Disk)> {
    let mut setup =
        bench.setup_with(loader, &[], &[Edit::Draft(|draft| draft.security_version = FLOOR)])?;
    setup.state = Provisioning { system_floor: FLOOR, ..setup.state };
    let good = setup.system.take().context("a system bundle")?;
    let other = other_bundle(bench)?;
    ensure!(good.len() == other.len(), "the bundles have other layouts");
    let device = Device::temporary()?;
    bench.install(&device, &setup)?;
    let socket = device.folder().join("nbd");
    let server = Server::start(&socket, disk(good, other))?;
    let drive = format!(
        "if=none,id=d1,format=raw,readonly=on,file.driver=nbd,file.server.type=unix,file.server.path={}",
        socket.display()
    );
    // With an explicit geometry, QEMU does not read the first sector itself.
    let block = "virtio-blk-device,drive=d1,cyls=16,heads=16,secs=63";
    let extra = ["-drive", &drive, "-device", block].map(str::to_owned);
    let run = bench.finish(bench.start_on(&device, &setup, &extra)?, None);
    let disk = server.finish()?;
    ensure!(
        disk.reads.iter().any(|count| *count > 0),
        "the disk was not read\n{}",
        last_lines(&run)
    );
    Ok((run, disk))
}

/// Makes a genuine bundle whose security version is below the floor of the device.
fn other_bundle(bench: &TestBoard) -> Result<Vec<u8>> {
    let mut draft = bench.system_draft()?;
    draft.security_version = OLDER;
    for payload in &mut draft.payloads {
        alter(payload)?;
    }
    Ok(build(draft, &[]).0)
}

fn alter(payload: &mut Payload) -> Result<()> {
    match payload.kind {
        PayloadType::Kernel => {
            let text = STUB_RUNS.as_bytes();
            let at = payload.data.windows(text.len()).position(|part| part == text);
            let at = at.context("the kernel has no text")?;
            payload.data[at..at + text.len()].copy_from_slice(OTHER_RUNS.as_bytes());
        }
        // Changes the last byte: in the last block of an initramfs, or after the structure block of a device
        // tree.
        _ => *payload.data.last_mut().context("an empty payload")? ^= 1,
    }
    Ok(())
}

impl BundlePart {
    fn range(self, bundle: &[u8]) -> Range<u64> {
        let signed = u64::from(u32_at(bundle, 16).unwrap_or(0));
        let signatures = u64::from(u32_at(bundle, 20).unwrap_or(0));
        let header = HEADER_SIZE as u64;
        let payload = |index| {
            let ranges = payloads(bundle);
            ranges.get(index).cloned().unwrap_or_default()
        };
        match self {
            BundlePart::Header => 0..header,
            BundlePart::Manifest => header..signed,
            BundlePart::Signatures => signed..signed + signatures,
            BundlePart::Kernel => payload(0),
            BundlePart::Initramfs => payload(1),
            BundlePart::SystemFdt => payload(2),
            BundlePart::All => 0..bundle.len() as u64,
        }
    }
}

/// Returns the byte range of each payload with the padding after it.
fn payloads(bundle: &[u8]) -> Vec<Range<u64>> {
    let count = u32_at(bundle, 56).unwrap_or(0) as usize;
    let record = |index| HEADER_SIZE + KEY_RECORD_SIZE + index * PAYLOAD_RECORD_SIZE;
    let range = |index| {
        let (offset, size) =
            (u64_at(bundle, record(index) + 16)?, u64_at(bundle, record(index) + 24)?);
        Some(offset..offset + align_up(size, PAGE_SIZE)?)
    };
    (0..count).filter_map(range).collect()
}

/// A disk with two contents.
struct Disk {
    good: Vec<u8>,
    other: Vec<u8>,
    /// Byte range for which the disk returns the other contents.
    range: Range<u64>,
    lies: Lies,
    /// Number of reads of each sector.
    reads: Vec<u32>,
}

impl Disk {
    fn honest(contents: Vec<u8>) -> Self {
        Self::new(contents.clone(), contents, 0..0, Lies::First)
    }

    fn new(good: Vec<u8>, other: Vec<u8>, range: Range<u64>, lies: Lies) -> Self {
        let reads = vec![0; good.len().div_ceil(SECTOR)];
        Self { good, other, range, lies, reads }
    }

    /// Checks that no sector of a payload was read twice. Sectors of the metadata may be read more than once:
    /// the loader copies parts of them, each byte once.
    fn check_reads(&self) -> Result<()> {
        for payload in payloads(&self.good) {
            let sectors = payload.start as usize / SECTOR..payload.end as usize / SECTOR;
            for sector in sectors {
                let count = self.reads[sector];
                ensure!(count <= 1, "sector {sector} of a payload was read {count} times");
            }
        }
        Ok(())
    }
}

impl Contents for Disk {
    fn size(&self) -> u64 {
        self.good.len() as u64
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) {
        let first = offset as usize / SECTOR;
        let sectors = first..(offset as usize + into.len()).div_ceil(SECTOR);
        for (at, byte) in (offset..).zip(into.iter_mut()) {
            let is_first = self.reads[at as usize / SECTOR] == 0;
            let is_lie = self.range.contains(&at) && is_first == (self.lies == Lies::First);
            *byte = if is_lie { self.other[at as usize] } else { self.good[at as usize] };
        }
        for count in &mut self.reads[sectors] {
            *count += 1;
        }
    }
}
