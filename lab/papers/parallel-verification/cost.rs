//! Computes the costs of a byte, a block and a leaf from measured payloads, and with them the time for
//! payloads of the paper's sizes.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use hartlock_image::HashId;

use super::boots::{BootResults, BootSample, Subject};
use super::schedule::{self, Costs, Storage, Work};
use hartlock_results::paper::Paper;

const KIB: u32 = 1 << 10;
/// Size in bytes of the largest request (device/loader/src/device).
const MAX_REQUEST: u64 = 128 << 10;

/// A payload of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Payload {
    pub name: &'static str,
    pub size: u64,
}

/// Payloads and clock of the paper's numbers.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub initramfs: Payload,
    pub kernel: Payload,
    /// Clock of the paper's board; the machine here has none.
    pub cycles_per_millisecond: f64,
}

impl Setting {
    pub fn of(paper: &Paper) -> Result<Self> {
        let payload = |name, constant| {
            let mebibytes = paper.constant(constant)?;
            Ok::<_, anyhow::Error>(Payload { name, size: (mebibytes * f64::from(1 << 20)) as u64 })
        };
        Ok(Self {
            initramfs: payload("initramfs", "initramfs_mib")?,
            kernel: payload("kernel", "kernel_mib")?,
            cycles_per_millisecond: paper.constant("clock_mhz")? * 1000.0,
        })
    }

    pub fn payloads(&self) -> [Payload; 2] {
        [self.initramfs, self.kernel]
    }

    pub fn milliseconds(&self, cycles: f64) -> f64 {
        cycles / self.cycles_per_millisecond
    }

    pub fn cycles(&self, milliseconds: f64) -> f64 {
        milliseconds * self.cycles_per_millisecond
    }
}

/// The costs of one hash.
#[derive(Debug)]
pub struct HashCosts {
    /// Cycles per byte of a long message, and additional cycles per message.
    byte: f64,
    message: f64,
    /// Cycles in which the boot hart adds a leaf to the root.
    pub leaf: f64,
    /// Cycles of a block, and cycles of a payload in addition to its blocks and leaves, by number of harts
    /// and block size.
    blocks: BTreeMap<(usize, u32), (f64, f64)>,
}

impl HashCosts {
    /// Computes the costs from payloads of these two sizes in mode flat, and from one with this number of 1
    /// KiB blocks on one hart.
    pub fn new(
        measured: &BootResults,
        hash: HashId,
        flat: [usize; 2],
        leaves: usize,
    ) -> Result<Self> {
        let [small, large] = flat.map(|size| measured.in_memory(1, Subject::flat(hash, size)));
        let (small, large) = (small?.hash as f64, large?.hash as f64);
        let byte = (large - small) / (flat[1] - flat[0]) as f64;
        let message = large - byte * flat[1] as f64;

        // Except for the leaves, the cycles outside the blocks are equal for two blocks and for many.
        let many = measured.in_memory(1, Subject::blocks(hash, KIB, leaves))?;
        let few = measured.samples.iter().filter(|it| it.is_in_memory() && it.harts == 1);
        let is_two = |it: &&BootSample| {
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
            // This fixed cost is not scaled with the payload size, so it must not contain time in which
            // harts did not share the work.
            ensure!(
                fixed.abs() < block,
                "{count} blocks of {block_size} bytes on {} harts took {} cycles, with {block:.0} a block",
                sample.harts,
                sample.hash
            );
            blocks.insert((sample.harts, block_size), (block, fixed));
        }
        Ok(Self { byte, message, leaf, blocks })
    }

    /// Returns the cycles of one hash over this number of bytes.
    pub fn flat(&self, size: u64) -> f64 {
        self.message + self.byte * size as f64
    }

    /// Returns the cycles of a block if this number of harts is busy.
    pub fn block(&self, harts: usize, block_size: u32) -> Result<f64> {
        Ok(self.of(harts, block_size)?.0)
    }

    /// Returns the cycles of a payload in addition to its blocks and leaves.
    pub fn fixed(&self, harts: usize, block_size: u32) -> Result<f64> {
        Ok(self.of(harts, block_size)?.1)
    }

    /// Returns the cycles of a payload in memory.
    pub fn blocks(&self, harts: usize, block_size: u32, size: u64) -> Result<f64> {
        let (block, fixed) = self.of(harts, block_size)?;
        let costs = Costs { harts, block, leaf: self.leaf, fixed };
        Ok(schedule::cycles(&costs, &work(block_size, size)))
    }

    /// Returns the cycles of a payload on four harts, from a storage with this rate in bytes per cycle.
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

/// Returns the cycles outside the blocks, on one hart.
fn beside(sample: &BootSample) -> f64 {
    sample.hash as f64 - sample.busy as f64
}

#[cfg(test)]
mod tests {
    use hartlock_image::HashId;

    use super::*;
    use hartlock_hw::machines::loader::LoaderForm;

    const HASH: HashId = HashId::Sha3_384;

    fn sample(harts: usize, subject: Subject, hash: u64, busy: u64) -> BootSample {
        BootSample {
            form: LoaderForm::LoadFirst,
            harts,
            subject,
            storage_rate: 1,
            read: 0,
            hash,
            total: hash,
            instructions: 0,
            busy,
        }
    }

    /// Returns samples with 50 cycles per byte, 100 per message, 2000 per leaf and 500 per payload; a block
    /// costs as much as a message.
    fn measured(on_four: u64) -> BootResults {
        let block = 50 * 1024 + 100;
        let samples = vec![
            sample(1, Subject::flat(HASH, 4096), 50 * 4096 + 100, 0),
            sample(1, Subject::flat(HASH, 8192), 50 * 8192 + 100, 0),
            sample(1, Subject::blocks(HASH, KIB, 2), 2 * (block + 2000) + 500, 2 * block),
            sample(1, Subject::blocks(HASH, KIB, 12), 12 * (block + 2000) + 500, 12 * block),
            sample(4, Subject::blocks(HASH, KIB, 8), on_four, 8 * block),
        ];
        BootResults { samples, steps: Vec::new() }
    }

    #[test]
    fn costs_come_out_as_they_went_in() {
        let costs = HashCosts::new(&measured(2 * 51_300 + 9_000), HASH, [4096, 8192], 12).unwrap();
        assert_eq!(costs.flat(97 << 20), 50.0 * f64::from(97 << 20) + 100.0);
        assert!((costs.leaf - 2000.0).abs() < 1e-6, "{}", costs.leaf);
        assert!((costs.fixed(1, KIB).unwrap() - 500.0).abs() < 1e-6);
        assert_eq!(costs.block(4, KIB).unwrap(), 51_300.0);
        // With many blocks on four harts, a free hart takes the next block, so the work on the root is
        // shared, too.
        let quarter = (51_300.0 + 2000.0) * 25_600.0 / 4.0;
        let ratio = costs.blocks(4, KIB, 25 << 20).unwrap() / quarter;
        assert!((1.0..1.001).contains(&ratio), "{ratio}");
        assert!(costs.block(4, 2 * KIB).is_err(), "that size was not measured");
    }

    #[test]
    fn harts_that_sleep_are_no_fixed_cost() {
        // Four harts take as long as one hart takes for all blocks.
        let slow = HashCosts::new(&measured(8 * 53_300), HASH, [4096, 8192], 12);
        assert!(slow.unwrap_err().to_string().contains("8 blocks of 1024 bytes on 4 harts"));
    }
}
