//! Cases of a device with a signature verification unit. It has to boot the good ones and to refuse the others: with
//! the host in reset for the whole run, and with the reason of the specification.

use std::path::Path;

use anyhow::{Context, Result};
use hartlock_image::first_stage::{CODE_ALIGNMENT, FirstStageHeader, NextKey};
use hartlock_testkit::bundle::name;
use hartlock_testkit::first_stage::{self, FirstStageDraft, FirstStageEdit, build};
use hartlock_testkit::signers;

use super::End;
use super::python::{self, PackageSet};
use super::svu::{self, SVUS, Svu};
use super::svu_boot::{
    BOARD, CODE_AT, Cells, Device, HEADER_AT, PADDING_AT, SECOND_AT, SIGNATURE_AT, SOC, Signed,
    Signer, SvuBootResult, VERSION, code_of,
};
use xtask::{Outcome, Verdict, firmware};

/// Upsets the unit once its host runs: its state becomes `code`, which is a legal state but not that of a release.
pub fn upset_after_the_release(device: Device) -> Device {
    device.with(&["--upset-unit", "0x47@50000"])
}

/// Returns a device with images that a fake key signed, with these changes to the first one. The signing tool does not
/// make such images, because a good signature covers the faults.
///
/// # Errors
/// If a stage cannot be built.
pub fn of_fake_key(edits: &[FirstStageEdit]) -> Result<Device> {
    let digest = first_stage::digest(&signers::XMSS);
    let draft = |mut code: Vec<u8>, next_key| {
        code.resize(code.len().next_multiple_of(CODE_ALIGNMENT), 0);
        let usual = FirstStageDraft::of(&signers::XMSS);
        let header = FirstStageHeader {
            security_version: VERSION,
            board: *name(BOARD).field(),
            soc: *name(SOC).field(),
            next_key,
            ..usual.header
        };
        FirstStageDraft { header, code, ..usual }
    };
    let next = NextKey { algorithm: draft(Vec::new(), None).algorithm(), digest };
    let first = draft(firmware::svu_stage("first-stage")?, Some(next));
    let second = draft(firmware::svu_stage("second-stage")?, None);
    let [first, second] = [(first, edits), (second, &[])].map(|(it, edits)| build(it, edits).0);
    Ok(Device::new(&Cells::new(&digest), &first, &second))
}

/// The expected result of a boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Both stages run, and the second one ends the run.
    Boots,
    /// The first stage runs, and starts no second one because it names no key.
    Ends,
    /// The host stays in reset for this reason.
    Refused(u32),
    /// The host stays in reset, because nothing is decided or the unit was upset.
    Held(&'static str),
    /// The first stage runs and refuses the second one.
    RefusedByFirst(u32),
    /// The first stage runs, and the host is put back into reset before the second one runs.
    TakenBack,
}

impl Expected {
    fn is_met(&self, booted: &SvuBootResult) -> bool {
        let says = |text: &str| booted.console.contains(text);
        let runs = booted.status == "released" && says("first stage: runs, security version 3,");
        match self {
            Expected::Boots => {
                runs && booted.end == Some(End::Success)
                    && says("first stage: verified what comes next")
                    && says("second stage: runs")
            }
            Expected::Ends => {
                runs && booted.end == Some(End::Success)
                    && says("names no key")
                    && !says("second stage")
            }
            Expected::Refused(reason) => booted.is_held("refused", *reason),
            Expected::Held(status) => booted.is_held(status, 0),
            Expected::TakenBack => {
                booted.status == "error" && booted.host_cycles > 0 && !says("second stage")
            }
            Expected::RefusedByFirst(reason) => {
                runs && booted.end == Some(End::Failure)
                    && says(&format!("refuses what comes next, E{reason:04}"))
                    && !says("second stage: runs")
            }
        }
    }
}

/// A boot and its expected result.
pub struct SvuCase {
    pub name: String,
    pub device: Device,
    pub expected: Expected,
}

/// The images of a device, made by one signer.
pub struct Images {
    signer: Signer,
    first_code: Vec<u8>,
    second_code: Vec<u8>,
    pub cells: Cells,
    pub first: Vec<u8>,
    pub second: Vec<u8>,
}

impl Images {
    /// Signs a first stage with `size` bytes of code, or with only its program, and a second stage.
    pub fn new(folder: &Path, size: Option<usize>) -> Result<Images> {
        let signer = Signer::new(folder)?;
        let first_code = size.map_or_else(|| firmware::svu_stage("first-stage"), code_of)?;
        let second_code = firmware::svu_stage("second-stage")?;
        Ok(Images {
            cells: Cells::new(&signer.digest("first")?),
            first: signer.sign(&first_code, Signed::FIRST)?,
            second: signer.sign(&second_code, Signed::SECOND)?,
            signer,
            first_code,
            second_code,
        })
    }

    /// Returns the device with both stages as they were signed.
    pub fn device(&self) -> Device {
        Device::new(&self.cells, &self.first, &self.second)
    }

    /// Returns a device with a different first stage.
    fn with_first(&self, signed: Signed<'_>) -> Result<Device> {
        let first = self.signer.sign(&self.first_code, signed)?;
        Ok(Device::new(&self.cells, &first, &self.second))
    }

    /// Returns a device with a different second stage.
    fn with_second(&self, signed: Signed<'_>) -> Result<Device> {
        let second = self.signer.sign(&self.second_code, signed)?;
        Ok(Device::new(&self.cells, &self.first, &second))
    }

    /// Returns a device with a bit of its medium flipped.
    pub fn flipped(&self, byte: usize, bit: u8) -> Device {
        let mut device = self.device();
        device.medium[byte] ^= 1 << bit;
        device
    }

    /// Returns a device with other cells.
    fn burned(&self, burn: impl FnOnce(&mut Cells)) -> Device {
        let mut device = self.device();
        burn(&mut device.cells);
        device
    }
}

/// Returns all cases of a device.
///
/// # Errors
/// If an image cannot be signed.
pub fn all(images: &Images) -> Result<Vec<SvuCase>> {
    let mut cases = Vec::new();
    let mut add = |name: &str, device: Device, expected: Expected| {
        cases.push(SvuCase { name: name.to_owned(), device, expected });
    };
    add("both stages as they were signed", images.device(), Expected::Boots);
    of_images(images, &mut add)?;
    of_storage(images, &mut add)?;
    of_media(images, &mut add);
    of_second_stages(images, &mut add)?;
    of_headers(&mut add)?;
    Ok(cases)
}

/// Adds cases of the first image: flipped bits in each of its parts, and good signatures for another device.
fn of_images(images: &Images, add: &mut impl FnMut(&str, Device, Expected)) -> Result<()> {
    let refused = Expected::Refused;
    let end = images.first.len();
    let flips = [
        ("tag of the lead", 3, 0, 102),
        ("algorithm", 16, 1, 206),
        ("parameters", 20, 1, 206),
        ("reserved byte of the lead", 63, 7, 203),
        ("root of the key", 64, 0, 304),
        ("seed of the key", 127, 7, 304),
        // The format has eight bytes for the index, but the tree has only 1,024 leaves.
        ("upper half of the index", SIGNATURE_AT, 7, 308),
        ("an index past the last leaf", SIGNATURE_AT + 6, 2, 308),
        ("randomness of the signature", SIGNATURE_AT + 8, 0, 301),
        ("first chain", SIGNATURE_AT + 40, 0, 301),
        ("last chain", SIGNATURE_AT + 40 + 32 * 67 - 1, 7, 301),
        ("last node of the path", PADDING_AT - 1, 7, 301),
        ("padding of the signature", PADDING_AT, 0, 203),
        ("last byte of the padding", HEADER_AT - 1, 7, 203),
        // The signature covers the header, and is verified before it.
        ("tag of the header", HEADER_AT, 0, 301),
        ("algorithm in the header", HEADER_AT + 16, 0, 301),
        ("size that is no multiple of 64", HEADER_AT + 24, 0, 106),
        ("size past the memory", HEADER_AT + 27, 7, 106),
        ("size of 64 bytes less", HEADER_AT + 24, 6, 301),
        ("security version", HEADER_AT + 32, 2, 301),
        ("lifecycle mask", HEADER_AT + 40, 2, 301),
        ("board in the header", HEADER_AT + 64, 0, 301),
        ("soc in the header", HEADER_AT + 96, 0, 301),
        ("key of the next stage", HEADER_AT + 160, 0, 301),
        ("reserved byte of the header", CODE_AT - 1, 0, 301),
        ("first byte of code", CODE_AT, 0, 301),
        ("code in the middle", (CODE_AT + end) / 2, 4, 301),
        ("last byte of code", end - 1, 7, 301),
    ];
    for (part, byte, bit, reason) in flips {
        let name = format!("a flipped bit: {part}");
        add(&name, images.flipped(byte, bit), refused(reason));
    }

    let first = Signed::FIRST;
    add(
        "signed by another key",
        images.with_first(Signed { key: "other", ..first })?,
        refused(304),
    );
    let mut swapped = images.with_first(Signed { key: "other", ..first })?;
    // The image has lead and key of the trusted signer, with signature and code of another one.
    swapped.medium[..SIGNATURE_AT].copy_from_slice(&images.first[..SIGNATURE_AT]);
    add("another key's signature after the trusted key", swapped, refused(301));
    for (name, signed, reason) in [
        ("for another board", Signed { board: "svu-boarx", ..first }, 601),
        ("for another SoC", Signed { soc: "svu-2", ..first }, 602),
        ("below the floor", Signed { version: VERSION - 1, ..first }, 603),
        ("for devices in development", Signed { lifecycle: "development", ..first }, 604),
    ] {
        add(name, images.with_first(signed)?, refused(reason));
    }
    // Each byte was signed, but not together with the others.
    let mut mixed = images.with_first(Signed { version: VERSION + 1, ..first })?;
    mixed.medium[HEADER_AT..CODE_AT].copy_from_slice(&images.first[HEADER_AT..CODE_AT]);
    add("the header of another image of the same signer", mixed, refused(301));
    add(
        "that names no next key",
        images.with_first(Signed { next: None, ..first })?,
        Expected::Ends,
    );
    Ok(())
}

/// Adds cases of headers that break a rule and have a good signature.
fn of_headers(add: &mut impl FnMut(&str, Device, Expected)) -> Result<()> {
    add("images of a fake key", of_fake_key(&[])?, Expected::Boots);
    let mut signed = |name: &str, edit: fn(&mut Vec<u8>), reason| -> Result<()> {
        let device = of_fake_key(&[FirstStageEdit::Signed(edit)])?;
        add(&format!("a signed header with {name}"), device, Expected::Refused(reason));
        Ok(())
    };
    signed("another tag", |it| it[0] ^= 1, 103)?;
    signed("another algorithm than the lead", |it| it[16] = 18, 412)?;
    signed("other parameters than the lead", |it| it[20] = 2, 412)?;
    signed("a reserved byte", |it| it[255] = 1, 401)?;
    signed("no lifecycle", |it| it[40] = 0, 408)?;
    signed("a lifecycle that does not exist", |it| it[43] = 0x80, 408)?;
    signed("a next key of no algorithm", |it| it[128] = 0, 425)
}

/// Adds cases of one-time-programmable storage.
fn of_storage(images: &Images, add: &mut impl FnMut(&str, Device, Expected)) -> Result<()> {
    let refused = Expected::Refused;
    let digest = Cells::DIGEST;
    add(
        "a fault of a cell that is corrected",
        images.burned(|it| it.0[digest] ^= 1),
        Expected::Boots,
    );
    add("nothing was provisioned", images.burned(|it| it.0 = [0; 128]), refused(904));
    add("no lifecycle", images.burned(|it| it.0[Cells::LIFECYCLE] = 0), refused(904));
    let half = images.burned(|it| it.0[digest + 3] &= !Cells::MARK);
    add("a word that was not completed", half, refused(904));
    add("a word with two faults", images.burned(|it| it.0[digest + 5] ^= 0b101), refused(904));
    add("a blank word of the digest", images.burned(|it| it.0[digest + 7] = 0), refused(904));
    add("no board", images.burned(|it| it.0[Cells::BOARD..][..8].fill(0)), refused(904));
    add(
        "scrapped",
        images.burned(|it| it.0[Cells::LIFECYCLE] = Cells::flags(0b1_0111)),
        refused(904),
    );
    let of_others = images.signer.digest("other")?;
    let revoked = images.burned(|it| {
        it.0[Cells::REVOCATION] = Cells::flags(1);
        it.put_key(1, &of_others);
    });
    add("a revoked key, beside one that is not of this slot", revoked, refused(304));
    let test = images.burned(|it| it.0[Cells::LIFECYCLE] = Cells::flags(1));
    add("a device in test", test, refused(604));
    let other = images.burned(|it| it.put_key(0, &of_others));
    add("a device with another key", other, refused(304));
    let name = *b"another-board\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    add("another device", images.burned(|it| it.put(Cells::BOARD, &name)), refused(601));
    Ok(())
}

/// Adds cases of the medium, and of upsets of the unit.
fn of_media(images: &Images, add: &mut impl FnMut(&str, Device, Expected)) {
    let refused = Expected::Refused;
    let device = || images.device();
    let end = images.first.len();
    for (name, at) in [
        ("an error of the bus in the lead", 0),
        ("an error of the bus in the key", 127),
        ("an error of the bus in the signature", SIGNATURE_AT + 1000),
        ("an error of the bus in the header", HEADER_AT + 200),
        ("an error of the bus in the last word", end - 1),
    ] {
        add(name, device().with(&["--medium-error", &at.to_string()]), refused(901));
    }
    add("no medium", device().with(&["--no-medium"]), refused(901));
    let mut short = device();
    short.medium.truncate(end - 64);
    add("a medium that ends before the code", short, refused(901));
    let silent = ["--silent-medium", "--max-cycles", "200000"];
    add("a medium that never answers", device().with(&silent), Expected::Held("held"));
    // A host that runs is put back into reset.
    let changed = upset_after_the_release(device());
    add("the unit's state is another one once the host runs", changed, Expected::TakenBack);
    let illegal = device().with(&["--upset-unit", "0@50000"]);
    add("the unit's state is none once the host runs", illegal, Expected::TakenBack);
    // This is the code of the state `released`, once while the unit reads and once while the engine computes.
    for cycle in ["3000", "25000"] {
        let upset = format!("0x61@{cycle}");
        let name = format!("the unit's state is released in cycle {cycle}");
        add(&name, device().with(&["--upset-unit", &upset]), Expected::Held("error"));
    }
}

/// Adds cases of the second stage, which software verifies with the same engine.
fn of_second_stages(images: &Images, add: &mut impl FnMut(&str, Device, Expected)) -> Result<()> {
    let refused = Expected::RefusedByFirst;
    let end = images.second.len();
    for (part, byte, bit, reason) in [
        ("tag of the lead", 3, 0, 102),
        ("key", 64, 0, 304),
        ("index past the last leaf", SIGNATURE_AT + 6, 2, 308),
        ("signature", SIGNATURE_AT + 40, 0, 301),
        ("padding", PADDING_AT, 0, 203),
        ("header", HEADER_AT + 32, 0, 301),
        ("first byte of code", CODE_AT, 0, 301),
        ("last byte of code", end - 1, 7, 301),
    ] {
        let name = format!("second stage, a flipped bit: {part}");
        add(&name, images.flipped(SECOND_AT + byte, bit), refused(reason));
    }
    let second = Signed::SECOND;
    for (name, signed, reason) in [
        ("second stage, signed by the first key", Signed { key: "first", ..second }, 304),
        ("second stage, signed by another key", Signed { key: "other", ..second }, 304),
        ("second stage, for another board", Signed { board: "svu-boarx", ..second }, 601),
        ("second stage, below the floor", Signed { version: VERSION - 1, ..second }, 603),
    ] {
        add(name, images.with_second(signed)?, refused(reason));
    }
    // The first image in place of the second is signed by another key.
    let twice = Device::new(&images.cells, &images.first, &images.first);
    add("the first image in place of the second", twice, refused(304));
    Ok(())
}

/// The set of cases to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// A boot and two refusals: of a changed first image, and of a changed second one.
    Daily,
    All,
}

/// Returns the daily cases, which need no additional signatures.
fn of_every_day(images: &Images) -> Vec<SvuCase> {
    let code = images.flipped(images.first.len() - 1, 0);
    let second = images.flipped(SECOND_AT + images.second.len() - 1, 0);
    let cases = [
        ("both stages as they were signed", images.device(), Expected::Boots),
        ("a flipped bit in the code", code, Expected::Refused(301)),
        ("a flipped bit in the code of the second stage", second, Expected::RefusedByFirst(301)),
    ];
    let case = |(name, device, expected)| SvuCase { name: str::to_owned(name), device, expected };
    cases.map(case).into()
}

/// Runs cases, and returns the first that did not end as expected.
///
/// # Errors
/// If an image cannot be signed, or a machine cannot be run.
pub fn fault(svu: Svu, which: Which) -> Result<Option<String>> {
    let folder = svu::folder(svu);
    let images = Images::new(&folder.join("signer"), None)?;
    let cases = match which {
        Which::Daily => of_every_day(&images),
        Which::All => all(&images)?,
    };
    eprintln!("booting {} devices on {}", cases.len(), svu.name);
    for case in cases {
        let booted = case.device.boot(svu, &folder.join("case"))?;
        if !case.expected.is_met(&booted) {
            let outcome = booted.outcome();
            return Ok(Some(format!("{}: {:?} is expected: {outcome}", case.name, case.expected)));
        }
    }
    // The same boot must take the same cycles.
    let boot = || images.device().boot(svu, &folder.join("case"));
    Ok((boot()? != boot()?).then(|| "the same boot took other cycles the second time".into()))
}

/// Runs the daily cases on these machines.
///
/// # Errors
/// Same as [`fault`].
pub fn tried(svus: &[Svu]) -> Result<Verdict> {
    for svu in svus {
        if let Some(why) = fault(*svu, Which::Daily)? {
            println!("{}: {why}", svu.name);
            return Ok(Verdict::No);
        }
        println!(
            "{}: boots what was signed, and holds its host in reset for what was changed",
            svu.name
        );
    }
    Ok(Verdict::Yes)
}

/// Runs the step `svu` of `cargo xtask test`: hardware boots images of `hartlock sign`, and refuses changed ones. It is
/// a step of its own because it depends on the command.
///
/// # Errors
/// Same as [`fault`].
pub fn step(_: &Path) -> Result<Outcome> {
    for set in [PackageSet::Machine, PackageSet::Soc] {
        if let Some(skipped) = python::without_packages(set)? {
            return Ok(skipped);
        }
    }
    for svu in SVUS.into_iter().filter(|svu| svu.is_daily) {
        if let Some(why) = fault(svu, Which::Daily)? {
            return Ok(Outcome::Failed(format!("{}: {why}", svu.name)));
        }
    }
    Ok(Outcome::Passed)
}

/// Runs the step `hw-release-first` of `cargo xtask test` for every change: hardware releases a first stage, and keeps
/// its host in reset if a bit is flipped. A fake key signs it, so that this does not depend on the command.
///
/// # Errors
/// If a stage cannot be built, or the machine cannot be run.
pub fn release_step(_: &Path) -> Result<Outcome> {
    for set in [PackageSet::Machine, PackageSet::Soc] {
        if let Some(skipped) = python::without_packages(set)? {
            return Ok(skipped);
        }
    }
    let svu = SVUS.into_iter().find(|svu| svu.is_daily).context("no unit of every day")?;
    let good = of_fake_key(&[])?;
    let mut changed = good.clone();
    changed.medium[CODE_AT] ^= 1;
    for (what, device, expected) in [
        ("what was signed", good, Expected::Boots),
        ("a flipped bit in the code", changed, Expected::Refused(301)),
    ] {
        let booted = device.boot(svu, &svu::folder(svu).join("first"))?;
        if !expected.is_met(&booted) {
            let outcome = booted.outcome();
            let why = format!("{}: {what}: {expected:?} is expected: {outcome}", svu.name);
            return Ok(Outcome::Failed(why));
        }
    }
    Ok(Outcome::Passed)
}
