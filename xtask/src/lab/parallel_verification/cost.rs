//! What a byte, a block and a leaf cost, from the payloads that were measured, and what payloads of the
//! paper's size would take.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use hartlock_image::HashId;

use super::boots::{Measured, Sample, Subject};
use super::schedule::{self, Costs, Storage, Work};

const KIB: u32 = 1 << 10;
/// Bytes of the largest request (firmware/loader/src/device).
const MAX_REQUEST: u64 = 128 << 10;

/// A payload of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Payload {
    pub name: &'static str,
    pub size: u64,
}

impl Payload {
    pub const INITRAMFS: Self = Self { name: "initramfs", size: 97 << 20 };
    pub const KERNEL: Self = Self { name: "kernel", size: 29 << 20 };
    pub const ALL: [Self; 2] = [Self::INITRAMFS, Self::KERNEL];
}

/// The costs of one hash.
#[derive(Debug)]
pub struct HashCosts {
    /// Cycles of a byte in one long message, and of a message beside that.
    byte: f64,
    message: f64,
    /// Cycles of a leaf that the boot hart adds to the root.
    pub leaf: f64,
    /// Cycles of a block, and of a payload beside its blocks and leaves, by harts and block size.
    blocks: BTreeMap<(usize, u32), (f64, f64)>,
}

impl HashCosts {
    /// From payloads of so many bytes in mode flat, and one of so many blocks of 1 KiB on one hart.
    pub fn new(measured: &Measured, hash: HashId, flat: [usize; 2], leaves: usize) -> Result<Self> {
        let [small, large] = flat.map(|size| measured.in_memory(1, Subject::flat(hash, size)));
        let (small, large) = (small?.hash as f64, large?.hash as f64);
        let byte = (large - small) / (flat[1] - flat[0]) as f64;
        let message = large - byte * flat[1] as f64;

        // What is not a block is the same for two blocks and for many, but for the leaves.
        let many = measured.in_memory(1, Subject::blocks(hash, KIB, leaves))?;
        let few = measured.samples.iter().filter(|it| it.is_in_memory() && it.harts == 1);
        let is_two = |it: &&Sample| {
            let two = it.subject.block_size.map(|size| Subject::blocks(hash, size, 2));
            two == Some(it.subject)
        };
        let few = few.filter(is_two).min_by_key(|it| it.subject.size).context("two blocks")?;
        let leaf = (beside(many) - beside(few)) / (leaves - 2) as f64;
        ensure!(leaf > 0.0 && byte > 0.0, "{}: a leaf or a byte costs nothing", hash.name());

        let mut blocks = BTreeMap::new();
        for sample in measured.samples.iter().filter(|sample| sample.subject.hash == hash) {
            let Some(block_size) = sample.subject.block_size else { continue };
            let count = sample.subject.size / block_size as usize;
            if !sample.is_in_memory() || count != 2 * sample.harts {
                continue;
            }
            let block = sample.busy as f64 / count as f64;
            let costs = Costs { harts: sample.harts, block, leaf, fixed: 0.0 };
            let work = work(block_size, sample.subject.size as u64);
            let fixed = sample.hash as f64 - schedule::cycles(&costs, &work);
            blocks.insert((sample.harts, block_size), (block, fixed));
        }
        Ok(Self { byte, message, leaf, blocks })
    }

    /// Cycles of one hash over so many bytes.
    pub fn flat(&self, size: u64) -> f64 {
        self.message + self.byte * size as f64
    }

    /// Cycles of a block on one of so many busy harts.
    pub fn block(&self, harts: usize, block_size: u32) -> Result<f64> {
        Ok(self.of(harts, block_size)?.0)
    }

    /// Cycles of a payload beside its blocks and leaves.
    pub fn fixed(&self, harts: usize, block_size: u32) -> Result<f64> {
        Ok(self.of(harts, block_size)?.1)
    }

    /// Cycles of a payload in memory.
    pub fn blocks(&self, harts: usize, block_size: u32, size: u64) -> Result<f64> {
        let (block, fixed) = self.of(harts, block_size)?;
        let costs = Costs { harts, block, leaf: self.leaf, fixed };
        Ok(schedule::cycles(&costs, &work(block_size, size)))
    }

    /// Cycles of a payload from a storage that delivers so many bytes a cycle, on four harts.
    pub fn overlapped(&self, block_size: u32, size: u64, rate: f64) -> Result<f64> {
        let (block, fixed) = self.of(4, block_size)?;
        let costs = Costs { harts: 4, block, leaf: self.leaf, fixed };
        let request_size = (2 * u64::from(block_size)).next_multiple_of(4096).min(MAX_REQUEST);
        let storage = Some(Storage { rate, request_size });
        Ok(schedule::cycles(&costs, &Work { storage, ..work(block_size, size) }))
    }

    fn of(&self, harts: usize, block_size: u32) -> Result<(f64, f64)> {
        let found = self.blocks.get(&(harts, block_size)).copied();
        found.with_context(|| format!("no cost of {block_size} bytes on {harts} harts"))
    }
}

fn work(block_size: u32, size: u64) -> Work {
    Work { size, block_size: block_size.into(), storage: None }
}

/// Cycles beside the blocks, on one hart.
fn beside(sample: &Sample) -> f64 {
    sample.hash as f64 - sample.busy as f64
}
