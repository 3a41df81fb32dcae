//! Runs the bench with a first stage: its hash and the verification of its signatures.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hartlock_emulator::bare;
use hartlock_jobs::first_stage::{FirstStagePlan, FirstStageSigner};
use hartlock_jobs::pack::{Header, JOB_FIRST_STAGE};
use xtask::firmware;

use super::options;
use crate::bench;

/// Cost of a part of the work.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstStageCount {
    /// True for the kernels that were chosen for the hart, false for the portable ones.
    pub is_chosen: bool,
    /// `flat` or `tree`.
    pub form: String,
    /// `hash`, `share`, `root`, `together` or `verify`.
    pub part: String,
    /// Number of the hart that has the share, or name of the signature algorithm.
    pub who: String,
    /// Number of harts that share the blocks.
    pub harts: u64,
    /// Number of blocks of a share.
    pub blocks: u64,
    pub instructions: u64,
    /// Number of cycles, if the cycle-accurate machine counted them.
    pub cycles: Option<u64>,
}

/// Kernels with which a part was counted, as the bench prints them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstStageKernels {
    pub is_chosen: bool,
    /// Tier of SHA-256 of one message, and of several.
    pub sha256: [String; 2],
    /// Number of messages that are hashed at once.
    pub lanes: u64,
    /// Tier of E-multiplication.
    pub walnut: String,
}

/// The bench image and its pack.
pub struct FirstStageBench {
    stage: firmware::StageFiles,
    pack: tempfile::NamedTempFile,
}

impl FirstStageBench {
    /// Builds the bench with these features, which may lack all kernels, and writes its pack.
    pub fn prepare(
        features: &[&str],
        has_kernels: bool,
        plan: &FirstStagePlan,
        signers: &[FirstStageSigner<'_>],
    ) -> Result<Self> {
        let mut body = plan.encode().to_vec();
        for signer in signers {
            let mut bytes = [0; 16 << 10];
            let len = signer.encode(&mut bytes).context("a signer that does not fit")?;
            body.extend(&bytes[..len]);
        }
        let count = u32::try_from(signers.len())?;
        let header = Header { job: JOB_FIRST_STAGE, count, body_size: body.len() as u64 };
        let pack = tempfile::NamedTempFile::new()?;
        fs::write(pack.path(), [&header.encode()[..], &body].concat())?;
        let stage = match has_kernels {
            true => firmware::stage("jobs", features)?,
            false => firmware::stage_without_defaults("jobs", features)?,
        };
        Ok(Self { stage, pack })
    }

    /// Runs the bench on a hart with this name, and returns the console output.
    pub fn console(&self, name: &str) -> Result<String> {
        let hart = bare::Hart::find(name).context("there is no such hart")?;
        let options = options(hart);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        bench::emulate(&self.stage.bin, self.pack.path(), &options).context(name.to_owned())
    }

    /// Returns the linked bench image, and the same as a flat binary.
    pub fn program(&self) -> &firmware::StageFiles {
        &self.stage
    }

    /// Returns the path of the pack.
    pub fn pack(&self) -> &Path {
        self.pack.path()
    }
}

/// Returns kernels and counts in the console output.
///
/// # Errors
/// Fails if the bench reports anything wrong, or does not finish what it began.
pub fn read(console: &str) -> Result<(Vec<FirstStageKernels>, Vec<FirstStageCount>)> {
    let (mut kernels, mut counts, mut done) = (Vec::new(), Vec::new(), Vec::new());
    let is_chosen = |way: &str| match way {
        "portable" => Ok(false),
        "chosen" => Ok(true),
        _ => anyhow::bail!("there is no way `{way}`"),
    };
    for line in console.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let mut count = |way: &str, form: &str, part: &str, who: &str, numbers: &[&str]| {
            let numbers = numbers.iter().map(|number| Ok(number.parse()?));
            let numbers = numbers.collect::<Result<Vec<u64>>>()?;
            let [harts, blocks, instructions, cycles @ ..] = &numbers[..] else {
                anyhow::bail!("an incomplete line")
            };
            counts.push(FirstStageCount {
                is_chosen: is_chosen(way)?,
                form: form.to_owned(),
                part: part.to_owned(),
                who: who.to_owned(),
                harts: *harts,
                blocks: *blocks,
                instructions: *instructions,
                cycles: cycles.first().copied(),
            });
            Ok(())
        };
        match words[..] {
            ["way", way, one, many, lanes, walnut] => kernels.push(FirstStageKernels {
                is_chosen: is_chosen(way)?,
                sha256: [one.to_owned(), many.to_owned()],
                lanes: lanes.parse()?,
                walnut: walnut.to_owned(),
            }),
            ["hash", way, "flat", _, ref taken @ ..] => {
                count(way, "flat", "hash", "", &[&["1", "0"], taken].concat())?;
            }
            ["share", way, hart, harts, blocks, ref taken @ ..] => {
                count(way, "tree", "share", hart, &[&[harts, blocks], taken].concat())?;
            }
            [part @ ("root" | "together"), way, harts, ref taken @ ..] => {
                count(way, "tree", part, "", &[&[harts, "0"], taken].concat())?;
            }
            ["verify", way, form, algorithm, ref taken @ ..] => {
                count(way, form, "verify", algorithm, &[&["1", "0"], taken].concat())?;
            }
            ["done", way] => done.push(is_chosen(way)?),
            ["bench:", "done"] | [""] => {}
            // Anything else is a fault, such as a wrong digest or an accepted change.
            _ => anyhow::bail!("{line}"),
        }
    }
    let begun: Vec<bool> = kernels.iter().map(|it: &FirstStageKernels| it.is_chosen).collect();
    let is_whole = done == begun && !done.is_empty() && console.ends_with("bench: done\n");
    ensure!(is_whole, "the bench did not end\n{console}");
    Ok((kernels, counts))
}

#[cfg(test)]
mod tests {
    use hartlock_jobs::first_stage::{FirstStageScheme, IN_TURN};

    use super::*;

    #[test]
    fn a_wrong_answer_and_an_early_end_are_faults() {
        let console = "way portable portable portable 1 portable\nhash portable flat 100 4900 5000\n\
                       share portable 1 4 2 200\nroot portable 4 30\n\
                       verify portable flat ed25519 500\ndone portable\n\
                       way chosen rv64 rv64 1 rv64\ndone chosen\nbench: done\n";
        let (kernels, counts) = read(console).unwrap();
        assert_eq!((kernels.len(), counts.len()), (2, 4));
        assert_eq!((counts[0].instructions, counts[0].cycles), (4900, Some(5000)));
        assert_eq!((counts[1].harts, counts[1].blocks, counts[1].instructions), (4, 2, 200));
        for wrong in
            ["wrong portable flat image ed25519", "hash portable flat 100", "done portable"]
        {
            assert!(read(&console.replace("root portable 4 30", wrong)).is_err(), "{wrong}");
        }
        assert!(read(&console.replace("done chosen\n", "")).is_err());
    }

    fn plan() -> FirstStagePlan {
        FirstStagePlan {
            image_len: 31 * 512 - 100,
            block_len: 512,
            harts: 4,
            parts: IN_TURN,
            digest: [1; 32],
            root: [2; 32],
        }
    }

    #[test]
    fn a_plan_and_a_signer_are_read_as_they_were_written() {
        let bytes = plan().encode();
        assert_eq!(FirstStagePlan::parse(&bytes), Some((plan(), &[][..])));
        assert_eq!(FirstStagePlan::parse(&bytes[1..]), None);
        for wrong in [0, 5] {
            let bytes = FirstStagePlan { harts: wrong, ..plan() }.encode();
            assert_eq!(FirstStagePlan::parse(&bytes), None);
        }
        let scheme = FirstStageScheme::Lms;
        let signer =
            FirstStageSigner { scheme, key: b"key", of_digest: b"one", of_root: b"12345678" };
        let mut bytes = [0; 48];
        let len = signer.encode(&mut bytes).unwrap();
        assert_eq!(FirstStageSigner::parse(&bytes[..len]), Some((signer, &[][..])));
        assert!((0..len).all(|len| FirstStageSigner::parse(&bytes[..len]).is_none()));
    }

    #[test]
    fn harts_share_all_blocks_and_the_first_has_the_most() {
        for harts in 1..=4 {
            let shares: Vec<_> = (0..harts).map(|hart| plan().share(hart, harts)).collect();
            let mut next = 0;
            for (first, count) in &shares {
                assert_eq!(*first, next);
                assert!(*count <= shares[0].1);
                next += count;
            }
            assert_eq!(next, 31);
        }
    }
}
