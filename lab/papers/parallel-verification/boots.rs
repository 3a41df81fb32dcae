//! Boots the loader on the cycle-accurate machine, with two payloads per boot, and records the
//! cycles.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use hartlock_handoff::{Entry, Step};
use hartlock_image::{HashId, PayloadType, TreeMode};

use crate::machine::cores;
use hartlock_hw::machines::loader;
use hartlock_hw::machines::loader::{Loader, LoaderBoot, LoaderForm, LoaderResult, cycles};
use hartlock_hw::machines::model::Core;
use xtask::firmware;

/// The kernel in boots in which only the initramfs is measured.
pub const FILLER: Subject = Subject { hash: HashId::Sha384, block_size: None, size: 4096 };
/// A storage rate that exceeds the bandwidth of the machine's memory port, so that storage does not
/// delay the boot.
const FAST: u64 = 4000;

/// Hash, block size and size of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    pub hash: HashId,
    /// Block size in bytes; `None` is mode `flat`.
    pub block_size: Option<u32>,
    pub size: usize,
}

/// A boot to be simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootPlan {
    pub form: LoaderForm,
    pub harts: usize,
    pub subjects: [Subject; 2],
    /// Storage rate in bytes per 1000 cycles.
    pub storage_rate: u64,
}

/// Cycles that the machine needed for a payload.
#[derive(Clone, Debug)]
pub struct BootSample {
    pub form: LoaderForm,
    pub harts: usize,
    pub subject: Subject,
    pub storage_rate: u64,
    /// Cycles from the first request to the last byte.
    pub read: u64,
    /// Cycles from the first byte that can be hashed to the digest.
    pub hash: u64,
    /// Cycles from the first request to the end of reading and hashing.
    pub total: u64,
    /// Instructions that the boot hart retired while it hashed.
    pub instructions: u64,
    /// Sum over all harts of the cycles spent on blocks only.
    pub busy: u64,
}

/// Cost of a step of a boot without a payload, or with a payload that is not measured.
#[derive(Clone, Debug)]
pub struct StepCost {
    pub harts: usize,
    pub step: Step,
    pub cycles: u64,
    pub instructions: u64,
}

/// The results of all boots.
#[derive(Debug, Default)]
pub struct BootResults {
    pub samples: Vec<BootSample>,
    pub steps: Vec<StepCost>,
}

impl Subject {
    /// Makes a payload of `count` blocks of this size.
    pub fn blocks(hash: HashId, block_size: u32, count: usize) -> Self {
        Self { hash, block_size: Some(block_size), size: block_size as usize * count }
    }

    /// Makes a payload with one hash over all bytes.
    pub fn flat(hash: HashId, size: usize) -> Self {
        Self { hash, block_size: None, size }
    }

    fn mode(&self) -> TreeMode {
        self.block_size.map_or(TreeMode::Flat, |block_size| TreeMode::Blocks { block_size })
    }
}

impl BootSample {
    /// Returns true if the whole payload was in memory before it was hashed.
    pub fn is_in_memory(&self) -> bool {
        self.form == LoaderForm::LoadFirst
    }
}

impl BootPlan {
    /// Plans a boot that only hashes: both payloads are loaded before.
    pub fn in_memory(harts: usize, subjects: [Subject; 2]) -> Self {
        Self { form: LoaderForm::LoadFirst, harts, subjects, storage_rate: FAST }
    }

    /// Plans a boot with one payload from a storage of this rate.
    pub fn from_storage(
        form: LoaderForm,
        harts: usize,
        subject: Subject,
        storage_rate: u64,
    ) -> Self {
        Self { form, harts, subjects: [FILLER, subject], storage_rate }
    }

    /// Estimates the length of the boot, so that the longest boots start first.
    fn weight(&self) -> usize {
        let size: usize = self.subjects.iter().map(|subject| subject.size).sum();
        size / self.harts
    }

    fn name(&self) -> String {
        let subject = |subject: &Subject| {
            let mode = match subject.block_size {
                Some(block_size) => {
                    format!("{} × {block_size}", subject.size / block_size as usize)
                }
                None => format!("one of {}", subject.size),
            };
            format!("{} {mode} bytes", subject.hash.name())
        };
        let subjects = self.subjects.iter().filter(|it| **it != FILLER).map(subject);
        let form = match self.form {
            LoaderForm::Release => ", hashed while loaded",
            LoaderForm::LoadFirst => "",
        };
        let harts = if self.harts == 1 { "1 hart" } else { &format!("{} harts", self.harts) };
        format!("{harts}: {}{form}", subjects.collect::<Vec<_>>().join(", "))
    }
}

/// Simulates boots, as many at a time as there are processor cores, and prints the progress.
pub struct Boots {
    shows_progress: bool,
    /// Folder with the results of boots that were already simulated.
    kept: PathBuf,
    loaders: Vec<(LoaderForm, Loader)>,
    system_fdt: Vec<u8>,
}

impl Boots {
    /// Builds machine and loaders. Results of boots are stored in a folder of `kept` with the name
    /// of the core.
    pub fn prepare(core: Core, kept: &Path, shows_progress: bool) -> Result<Self> {
        let forms = [LoaderForm::Release, LoaderForm::LoadFirst];
        let loaders = forms.into_iter().map(|form| Ok((form, Loader::new(core, form)?)));
        Ok(Self {
            shows_progress,
            kept: kept.join(core.name),
            loaders: loaders.collect::<Result<_>>()?,
            system_fdt: std::fs::read(firmware::build()?.system_fdt)?,
        })
    }

    /// Simulates the boots in any order, and adds the samples in the order of the plans.
    pub fn run(&self, plans: &[BootPlan], measured: &mut BootResults) -> Result<()> {
        let mut order: Vec<usize> = (0..plans.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(plans[*index].weight()));
        let queue = Mutex::new(VecDeque::from(order));
        let done = Mutex::new(Vec::new());
        let work = || -> Result<()> {
            loop {
                let next = queue.lock().ok().and_then(|mut queue| queue.pop_front());
                let Some(index) = next else { return Ok(()) };
                let (plan, start) = (&plans[index], Instant::now());
                let booted = self.boot(plan, &[]).inspect_err(|_| {
                    // After a failure, the other threads do not start further boots.
                    let _ = queue.lock().map(|mut queue| queue.clear());
                })?;
                let mut done = done.lock().map_err(|_| anyhow::anyhow!("another boot failed"))?;
                done.push((index, booted));
                if self.shows_progress {
                    let seconds = start.elapsed().as_secs_f64();
                    eprintln!("[{}/{}] {} ({seconds:.0} s)", done.len(), plans.len(), plan.name());
                }
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> =
                (0..cores().min(plans.len())).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        let mut done = done.into_inner().map_err(|_| anyhow::anyhow!("a boot failed"))?;
        done.sort_by_key(|(index, _)| *index);
        for (index, booted) in done {
            measured.add(&plans[index], &booted)?;
        }
        Ok(())
    }

    /// Simulates one boot, on a machine with further options.
    pub fn boot(&self, plan: &BootPlan, further: &[&str]) -> Result<LoaderResult> {
        let [kernel, initramfs] = plan.subjects;
        let payload = |kind, subject: Subject| {
            loader::payload(kind, subject.size, (subject.hash, subject.mode()))
        };
        let bundle = loader::bundle(
            payload(PayloadType::Kernel, kernel),
            payload(PayloadType::Initramfs, initramfs),
            &self.system_fdt,
        );
        let (_, loader) =
            self.loaders.iter().find(|(form, _)| *form == plan.form).context("a loader")?;
        let mut options = vec!["--storage-rate".to_owned(), plan.storage_rate.to_string()];
        options.extend(further.iter().map(|option| (*option).to_owned()));
        let boot = LoaderBoot { bundle: &bundle, harts: (1 << plan.harts) - 1, options: &options };
        loader.boot_once(&boot, &self.kept).with_context(|| plan.name())
    }
}

impl BootResults {
    fn add(&mut self, plan: &BootPlan, booted: &LoaderResult) -> Result<()> {
        for (kind, subject) in
            [PayloadType::Kernel, PayloadType::Initramfs].into_iter().zip(plan.subjects)
        {
            if subject == FILLER {
                continue;
            }
            let read = booted.entry(Step::Read, Some(kind))?;
            let is_part =
                |entry: &&Entry| entry.step == Step::HashPart && entry.payload == Some(kind);
            let parts: Vec<&Entry> = booted.entries.iter().filter(is_part).collect();
            let hash = booted.entry(Step::Hash, Some(kind))?;
            if subject.block_size.is_some() {
                let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
                ensure!(bytes == subject.size as u64, "{bytes} bytes were hashed: {}", plan.name());
            }
            self.samples.push(BootSample {
                form: plan.form,
                harts: plan.harts,
                subject,
                storage_rate: plan.storage_rate,
                read: cycles(read),
                hash: cycles(hash),
                total: hash.time.1.max(read.time.1).saturating_sub(read.time.0),
                instructions: hash.instret.1.saturating_sub(hash.instret.0),
                busy: parts.iter().map(|part| part.value).sum(),
            });
        }
        let is_step = |entry: &&Entry| {
            !matches!(entry.step, Step::HashPart | Step::Kernel | Step::Hash | Step::Read)
        };
        self.steps.extend(booted.entries.iter().filter(is_step).map(|entry| StepCost {
            harts: plan.harts,
            step: entry.step,
            cycles: cycles(entry),
            instructions: entry.instret.1.saturating_sub(entry.instret.0),
        }));
        Ok(())
    }

    /// Returns the sample of a payload that was in memory before.
    pub fn in_memory(&self, harts: usize, subject: Subject) -> Result<&BootSample> {
        let wanted = (harts, subject);
        let is_it = |it: &&BootSample| it.is_in_memory() && (it.harts, it.subject) == wanted;
        self.samples.iter().find(is_it).with_context(|| format!("{wanted:?} was not measured"))
    }

    /// Returns the sample of a payload from a storage of this rate.
    pub fn find(
        &self,
        form: LoaderForm,
        harts: usize,
        subject: Subject,
        storage_rate: u64,
    ) -> Result<&BootSample> {
        let wanted = (form, harts, subject, storage_rate);
        let is_it = |it: &&BootSample| (it.form, it.harts, it.subject, it.storage_rate) == wanted;
        self.samples.iter().find(is_it).with_context(|| format!("{wanted:?} was not measured"))
    }

    /// Formats the steps without a payload, and those with a payload that is not measured, as CSV.
    pub fn steps_csv(&self) -> String {
        let mut text = "harts,step,cycles,instructions\n".to_owned();
        for StepCost { harts, step, cycles, instructions } in &self.steps {
            text += &format!("{harts},{step:?},{cycles},{instructions}\n");
        }
        text
    }

    pub fn csv(&self) -> String {
        let mut text =
            "loader,harts,hash,block_size,size,storage_bytes_per_1000_cycles,read_cycles,\
            hash_cycles,total_cycles,boot_hart_instructions,busy_cycles\n"
                .to_owned();
        for it in &self.samples {
            text += &format!(
                "{:?},{},{},{},{},{},{},{},{},{},{}\n",
                it.form,
                it.harts,
                it.subject.hash.name(),
                it.subject.block_size.unwrap_or(0),
                it.subject.size,
                it.storage_rate,
                it.read,
                it.hash,
                it.total,
                it.instructions,
                it.busy
            );
        }
        text
    }
}
