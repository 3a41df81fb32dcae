//! Power cuts and failing storage at every step of spending an index, on a disk that forgets what was not
//! made durable. No index may sign twice, whatever happens.
//!
//! The judge must not be blind: orders of steps that are known to be wrong have to be caught.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use hartlock_image::Algorithm;
use zeroize::Zeroizing;

use super::storage::Storage;
use super::tree::Trees;
use super::{StatefulKey, storage};
use crate::Error;
use hartlock_files::FileError;

/// What happens in the middle of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The power fails before the step, or after it.
    CutBefore,
    CutAfter,
    /// The storage reports an error, and continues to work.
    Error,
}

/// What a disk does with writes that were not made durable.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// New content reached the disk by itself.
    keeps_content: bool,
    /// The rename did.
    keeps_rename: bool,
}

/// A folder with one key file, as the system sees it and as the disk has it.
struct Disk {
    visible: Vec<u8>,
    durable: Vec<u8>,
    /// The new file: content, and whether that is durable.
    new: Option<(Vec<u8>, bool)>,
    /// The content whose rename is not durable, and whether its content was when it got the name.
    renamed: Option<(Vec<u8>, bool)>,
    memory: Memory,
    fault: Option<(usize, Fault)>,
    step: usize,
    is_off: bool,
}

impl Disk {
    fn new(content: &[u8], memory: Memory) -> Self {
        Self {
            visible: content.to_vec(),
            durable: content.to_vec(),
            new: None,
            renamed: None,
            memory,
            fault: None,
            step: 0,
            is_off: false,
        }
    }

    /// One step, in which the fault may happen.
    fn step<T>(&mut self, effect: impl FnOnce(&mut Self) -> T) -> Result<T, Error> {
        let fault = self.fault.filter(|(at, _)| *at == self.step).map(|(_, fault)| fault);
        self.step += 1;
        if self.is_off || matches!(fault, Some(Fault::CutBefore | Fault::Error)) {
            self.is_off |= fault == Some(Fault::CutBefore);
            return Err(failure());
        }
        let result = effect(self);
        if fault == Some(Fault::CutAfter) {
            self.is_off = true;
            return Err(failure());
        }
        Ok(result)
    }

    /// After a power cut every reader sees what is on the disk.
    fn restart(&mut self) {
        self.fault = None;
        if !self.is_off {
            return;
        }
        if let Some((content, is_durable)) = self.renamed.take()
            && self.memory.keeps_rename
        {
            // A name without its content: an empty file.
            let is_there = is_durable || self.memory.keeps_content;
            self.durable = if is_there { content } else { Vec::new() };
        }
        self.visible.clone_from(&self.durable);
        self.new = None;
        self.is_off = false;
    }
}

fn failure() -> Error {
    FileError::new("write", Path::new("key"), io::Error::other("power cut")).into()
}

impl Storage for Disk {
    fn read(&mut self) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.step(|disk| Zeroizing::new(disk.visible.clone()))
    }

    fn write_new(&mut self, content: &[u8]) -> Result<(), Error> {
        self.step(|disk| disk.new = Some((content.to_vec(), false)))
    }

    fn sync_new(&mut self) -> Result<(), Error> {
        self.step(|disk| {
            if let Some((_, is_durable)) = &mut disk.new {
                *is_durable = true;
            }
        })
    }

    fn rename(&mut self) -> Result<(), Error> {
        self.step(|disk| {
            if let Some((content, is_durable)) = disk.new.take() {
                disk.visible.clone_from(&content);
                disk.renamed = Some((content, is_durable));
            }
        })
    }

    fn sync_folder(&mut self) -> Result<(), Error> {
        self.step(|disk| {
            if let Some((content, is_durable)) = disk.renamed.take() {
                let is_there = is_durable || disk.memory.keeps_content;
                disk.durable = if is_there { content } else { Vec::new() };
            }
        })
    }
}

/// Signatures that left the command: which message each index signed.
#[derive(Default)]
struct Ledger {
    signed: BTreeMap<u64, u32>,
    twice: Option<u64>,
}

impl Ledger {
    fn sign(&mut self, index: u64, message: u32) {
        if self.signed.insert(index, message).is_some_and(|earlier| earlier != message) {
            self.twice = Some(index);
        }
    }
}

/// An order of steps by which a message gets signed.
type Procedure = fn(&StatefulKey, &mut Disk, u32, &mut Ledger) -> Result<(), Error>;

/// As it is.
fn spend_then_sign(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut Ledger,
) -> Result<(), Error> {
    let (index, _) = key.spend(disk, |_| Ok(Trees::default()))?;
    ledger.sign(index, message);
    Ok(())
}

fn index_of(key: &StatefulKey, disk: &mut Disk) -> Result<u64, Error> {
    let file = disk.read()?;
    key.current(&file).map(|it| it.next).map_err(|kind| key.refuse(kind))
}

/// Wrong: a cut between the signature and the new index brings the old index back.
fn sign_then_spend(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut Ledger,
) -> Result<(), Error> {
    let index = index_of(key, disk)?;
    ledger.sign(index, message);
    storage::replace(disk, key.pem_at(index + 1, &[]).as_bytes())
}

/// Wrong: a rename that is not durable yet.
fn forget_the_folder(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut Ledger,
) -> Result<(), Error> {
    let index = index_of(key, disk)?;
    disk.write_new(key.pem_at(index + 1, &[]).as_bytes())?;
    disk.sync_new()?;
    disk.rename()?;
    ledger.sign(index, message);
    disk.sync_folder()
}

/// Wrong: continues after the storage reported a failure.
fn ignore_failures(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut Ledger,
) -> Result<(), Error> {
    let index = index_of(key, disk)?;
    let result = storage::replace(disk, key.pem_at(index + 1, &[]).as_bytes());
    if !disk.is_off {
        ledger.sign(index, message);
    }
    result
}

/// Wrong: content that is not durable when it gets the name. No index comes back, but the key is lost.
fn forget_the_content(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut Ledger,
) -> Result<(), Error> {
    let index = index_of(key, disk)?;
    disk.write_new(key.pem_at(index + 1, &[]).as_bytes())?;
    disk.rename()?;
    disk.sync_folder()?;
    ledger.sign(index, message);
    Ok(())
}

/// What a campaign found.
#[derive(Debug, Default)]
struct Findings {
    runs: usize,
    /// Runs in which an index signed two messages.
    twice: usize,
    /// Runs after which the key could not sign any more.
    lost_key: usize,
    /// Indexes that signed nothing.
    lost_indexes: u64,
}

/// Signs messages with one fault, restarts, and signs more.
fn campaign(procedure: Procedure) -> Findings {
    let algorithm = Algorithm::from_name("lms-sha256-192-h5-w1").unwrap();
    let key = StatefulKey::generate(algorithm, &mut |_, _| ()).unwrap();
    let first = key.to_pem();
    let mut findings = Findings::default();
    for number in 0..4 {
        let memory = Memory { keeps_content: number & 1 != 0, keeps_rename: number & 2 != 0 };
        for fault in [Fault::CutBefore, Fault::CutAfter, Fault::Error] {
            // More steps than three signatures take.
            for at in 0..28 {
                let mut disk = Disk::new(first.as_bytes(), memory);
                disk.fault = Some((at, fault));
                let mut ledger = Ledger::default();
                let mut message = 0;
                let mut last = Ok(());
                for _ in 0..3 {
                    message += 1;
                    let _ = procedure(&key, &mut disk, message, &mut ledger);
                }
                disk.restart();
                for _ in 0..3 {
                    message += 1;
                    last = procedure(&key, &mut disk, message, &mut ledger);
                }
                let next = key.current(&disk.visible).map_or(0, |it| it.next);
                findings.runs += 1;
                findings.twice += usize::from(ledger.twice.is_some());
                findings.lost_key += usize::from(last.is_err());
                findings.lost_indexes += next.saturating_sub(ledger.signed.len() as u64);
            }
        }
    }
    findings
}

#[test]
fn no_fault_makes_an_index_sign_twice() {
    let findings = campaign(spend_then_sign);
    assert_eq!((findings.twice, findings.lost_key), (0, 0), "{findings:?}");
    assert_eq!(findings.runs, 4 * 3 * 28);
    // A cut after the rename loses an index: that is the price.
    assert!(findings.lost_indexes > 0, "{findings:?}");
}

#[test]
fn wrong_orders_are_caught() {
    for (name, procedure) in [
        ("signs first", sign_then_spend as Procedure),
        ("forgets the folder", forget_the_folder),
        ("ignores failures", ignore_failures),
    ] {
        let findings = campaign(procedure);
        assert!(findings.twice > 0, "{name}: {findings:?}");
    }
    let findings = campaign(forget_the_content);
    assert!(findings.lost_key > 0, "{findings:?}");
}
