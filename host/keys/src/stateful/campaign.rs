//! Tests of power cuts and storage errors at every step of spending an index, on a simulated disk that
//! loses what was not made durable. No index may ever sign two messages.
//!
//! The test itself is tested too: procedures with a known wrong order of steps must be detected.

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

/// A fault at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The power fails before the step, or after it.
    CutBefore,
    CutAfter,
    /// The storage reports an error and continues to work.
    Error,
}

/// The behaviour of a disk at a power cut, for writes that were not made durable.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// True if new content reached the disk although it was not synchronized.
    keeps_content: bool,
    /// True if the rename reached the disk although the folder was not synchronized.
    keeps_rename: bool,
}

/// A folder with one key file, as readers see it and as the disk holds it.
struct Disk {
    visible: Vec<u8>,
    durable: Vec<u8>,
    /// The new file: its content, and true if that is durable.
    new: Option<(Vec<u8>, bool)>,
    /// The content whose rename is not durable, and true if that content was durable when it was renamed.
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

    /// Performs one step, at which the fault may happen.
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

    /// Restarts after a power cut: every reader then sees the content of the disk.
    fn restart(&mut self) {
        self.fault = None;
        if !self.is_off {
            return;
        }
        if let Some((content, is_durable)) = self.renamed.take()
            && self.memory.keeps_rename
        {
            // If only the rename reached the disk, the file is empty.
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

/// The signatures that were given out: the message that each index signed.
#[derive(Default)]
struct IndexLedger {
    signed: BTreeMap<u64, u32>,
    twice: Option<u64>,
}

impl IndexLedger {
    fn sign(&mut self, index: u64, message: u32) {
        if self.signed.insert(index, message).is_some_and(|earlier| earlier != message) {
            self.twice = Some(index);
        }
    }
}

/// A procedure that signs a message, with its order of steps.
type SpendProcedure = fn(&StatefulKey, &mut Disk, u32, &mut IndexLedger) -> Result<(), Error>;

/// The procedure of this crate.
fn spend_then_sign(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut IndexLedger,
) -> Result<(), Error> {
    let (index, _) = key.spend(disk, |_| Ok(Trees::default()))?;
    ledger.sign(index, message);
    Ok(())
}

fn index_of(key: &StatefulKey, disk: &mut Disk) -> Result<u64, Error> {
    let file = disk.read()?;
    key.current(&file).map(|it| it.next).map_err(|kind| key.refuse(kind))
}

/// A wrong procedure: a power cut between the signature and the new index brings the old index back.
fn sign_then_spend(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut IndexLedger,
) -> Result<(), Error> {
    let index = index_of(key, disk)?;
    ledger.sign(index, message);
    storage::replace(disk, key.pem_at(index + 1, &[]).as_bytes())
}

/// A wrong procedure: it signs before the rename is durable.
fn forget_the_folder(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut IndexLedger,
) -> Result<(), Error> {
    let index = index_of(key, disk)?;
    disk.write_new(key.pem_at(index + 1, &[]).as_bytes())?;
    disk.sync_new()?;
    disk.rename()?;
    ledger.sign(index, message);
    disk.sync_folder()
}

/// A wrong procedure: it continues after the storage reported an error.
fn ignore_failures(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut IndexLedger,
) -> Result<(), Error> {
    let index = index_of(key, disk)?;
    let result = storage::replace(disk, key.pem_at(index + 1, &[]).as_bytes());
    if !disk.is_off {
        ledger.sign(index, message);
    }
    result
}

/// A wrong procedure: it renames content that is not durable. No index is used twice, but the key can be
/// lost.
fn forget_the_content(
    key: &StatefulKey,
    disk: &mut Disk,
    message: u32,
    ledger: &mut IndexLedger,
) -> Result<(), Error> {
    let index = index_of(key, disk)?;
    disk.write_new(key.pem_at(index + 1, &[]).as_bytes())?;
    disk.rename()?;
    disk.sync_folder()?;
    ledger.sign(index, message);
    Ok(())
}

/// The results of a campaign.
#[derive(Debug, Default)]
struct PowerCutFindings {
    runs: usize,
    /// Number of runs in which an index signed two messages.
    twice: usize,
    /// Number of runs after which the key could not sign.
    lost_key: usize,
    /// Number of indexes that signed nothing.
    lost_indexes: u64,
}

/// Signs messages with one fault, restarts, and signs more. The campaign has one run for each fault at
/// each step.
fn campaign(procedure: SpendProcedure) -> PowerCutFindings {
    let algorithm = Algorithm::from_name("lms-sha256-192-h5-w1").unwrap();
    let key = StatefulKey::generate(algorithm, &mut |_, _| ()).unwrap();
    let first = key.to_pem();
    let mut findings = PowerCutFindings::default();
    for number in 0..4 {
        let memory = Memory { keeps_content: number & 1 != 0, keeps_rename: number & 2 != 0 };
        for fault in [Fault::CutBefore, Fault::CutAfter, Fault::Error] {
            // Three signatures take fewer steps than that.
            for at in 0..28 {
                let mut disk = Disk::new(first.as_bytes(), memory);
                disk.fault = Some((at, fault));
                let mut ledger = IndexLedger::default();
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
    // A power cut after the rename loses an index, which is accepted.
    assert!(findings.lost_indexes > 0, "{findings:?}");
}

#[test]
fn wrong_orders_are_caught() {
    for (name, procedure) in [
        ("signs first", sign_then_spend as SpendProcedure),
        ("forgets the folder", forget_the_folder),
        ("ignores failures", ignore_failures),
    ] {
        let findings = campaign(procedure);
        assert!(findings.twice > 0, "{name}: {findings:?}");
    }
    let findings = campaign(forget_the_content);
    assert!(findings.lost_key > 0, "{findings:?}");
}
