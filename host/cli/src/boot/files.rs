//! The files that `hartlock boot` reads and writes, apart from bundles.

use std::path::{Path, PathBuf};

use hartlock_files::{FileError, NewFile, check_output, read_small};
use hartlock_timeline::Timeline;
use hartlock_timeline::report::{QuotedNumbers, Report as Page, Run};

use super::args::{BaselineFile, BootArgs};
use crate::failure::Failure;

/// Maximum length in bytes of a stored timeline. A log with the maximum of 511 entries needs a quarter of it.
const MAX_STORED_SIZE: usize = 1 << 20;
/// Maximum number of columns in the tables of the page.
const MAX_COMPARED: usize = 8;

/// The output files of a boot, and the earlier timelines that are compared with it. No file appears if the
/// boot cannot start.
pub(super) struct Files {
    timeline: Option<NewFile>,
    report: Option<NewFile>,
    console: Option<NewFile>,
    label: String,
    baselines: Vec<Run>,
    quoted: Option<QuotedNumbers>,
    is_forced: bool,
}

impl Files {
    /// Reads the earlier timelines and creates the output files.
    pub(super) fn begin<'a>(args: &'a BootArgs) -> Result<Self, Failure> {
        let label = args.label.clone().unwrap_or_else(|| "this boot".to_owned());
        let baselines = read_baselines(args, &label)?;
        // An output must not be an input or another output.
        let mut taken = args.inputs();
        let mut begin = |path: &'a Option<PathBuf>| -> Result<_, FileError> {
            let Some(path) = path.as_deref() else { return Ok(None) };
            check_output(path, taken.iter().copied(), args.force)?;
            taken.push(path);
            NewFile::public(path).map(Some)
        };
        Ok(Self {
            timeline: begin(&args.timeline_json)?,
            report: begin(&args.report)?,
            console: begin(&args.console)?,
            label,
            baselines,
            quoted: args.quote.as_deref().map(read_quoted).transpose()?,
            is_forced: args.force,
        })
    }

    pub(super) fn finish(self, timeline: &Timeline, transcript: &str) -> Result<(), Failure> {
        let write = |file: Option<NewFile>, text: &dyn Fn() -> String| -> Result<(), FileError> {
            let Some(mut file) = file else { return Ok(()) };
            file.write(text().as_bytes())?;
            file.finish(self.is_forced)
        };
        let json = serde_json::to_string_pretty(timeline).map_err(|error| {
            Failure::undecided(format!("cannot write the timeline: {error}"), "report this")
        })?;
        write(self.timeline, &|| format!("{json}\n"))?;
        let page = Page {
            title: "Boot timeline".to_owned(),
            subject: Run { label: self.label, timeline: timeline.clone() },
            baselines: self.baselines,
            quoted: self.quoted,
        };
        write(self.report, &|| page.to_html())?;
        write(self.console, &|| transcript.to_owned())?;
        Ok(())
    }
}

fn read_quoted(path: &Path) -> Result<QuotedNumbers, Failure> {
    let unusable = |why: String| {
        Failure::undecided(
            format!("cannot quote {}: {why}", path.display()),
            "give a JSON object with `title`, `unit`, `rows` and `notes`, or omit `--quote`",
        )
    };
    let bytes = read_small(path, MAX_STORED_SIZE)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| unusable(error.to_string()))?;
    QuotedNumbers::read(text).map_err(|error| unusable(error.to_string()))
}

fn read_baselines(args: &BootArgs, own_label: &str) -> Result<Vec<Run>, Failure> {
    if args.compare.len() > MAX_COMPARED {
        return Err(Failure::undecided(
            format!("{} timelines to compare are given", args.compare.len()),
            format!("give `--compare` at most {MAX_COMPARED} times"),
        ));
    }
    let mut labels = vec![own_label];
    let mut baselines = Vec::new();
    for BaselineFile { label, path } in &args.compare {
        if labels.contains(&label.as_str()) {
            return Err(Failure::undecided(
                format!("two boots on the page have the label `{label}`"),
                "give each `--compare` a different label, and this boot another one with `--label`",
            ));
        }
        labels.push(label);
        let unusable = |why: String| {
            Failure::undecided(
                format!("cannot show {}: {why}", path.display()),
                "give a file that `hartlock boot --timeline-json` of this version wrote",
            )
        };
        let bytes = read_small(path, MAX_STORED_SIZE)?;
        let text = std::str::from_utf8(&bytes).map_err(|error| unusable(error.to_string()))?;
        let timeline =
            hartlock_timeline::read(text).map_err(|error| unusable(error.to_string()))?;
        baselines.push(Run { label: label.clone(), timeline });
    }
    Ok(baselines)
}
