//! Changes trusted code in one place at a time, by `cargo-mutants`, and checks that a test fails.
//!
//! A change that no test notices is a survivor. Each must be explained in `verif/mutants.toml`, except for a small share;
//! in the files that fold differences into the verdict there is no exception. A whole run, or one with all changes of some
//! files, stores its counts in `verif/runs/mutants.toml`, by file, with the content of the file that was changed. The step
//! `mutants` changes the functions that were edited since.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use xtask::{Outcome, Verdict, project, run, tools};

use crate::test::today;

/// The crates whose code is changed, by their folders in `device/`.
const CRATES: [&str; 5] = ["image", "verify", "handoff", "keystore", "drivers"];
/// The files that fold differences into the verdict, and the one that reads signed bytes for them.
const FOLDS: [&str; 4] = [
    "device/verify/src/flow.rs",
    "device/verify/src/harden.rs",
    "device/verify/src/recheck.rs",
    "device/image/src/bytes.rs",
];
/// Maximum share of changes that survive without an explanation, in per cent.
const SHARE: usize = 3;
/// Number of changes that the step tries. With the builds of five crates they take less than six minutes of processor
/// time.
const SAMPLE: usize = 100;

const EXPLAINED: &str = "verif/mutants.toml";
const STORED: &str = "verif/runs/mutants.toml";

#[derive(clap::Args)]
pub struct MutantsArgs {
    /// Make every change, and not only those of functions that were edited since; store the counts
    #[arg(long)]
    all: bool,
    /// Change only code of these crates
    #[arg(value_name = "CRATE", requires = "all")]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(CRATES))]
    crates: Vec<String>,
    /// Change only these files of the crates; store their counts
    #[arg(long = "file", value_name = "FILE", requires = "crates")]
    files: Vec<String>,
}

pub fn main(args: &MutantsArgs) -> Result<Verdict> {
    let root = project::root();
    if !args.all {
        return Ok(match step(&root)? {
            Outcome::Failed(why) => {
                println!("{why}");
                Verdict::No
            }
            _ => Verdict::Yes,
        });
    }
    Explained::load(&root)?;
    let mut verdict = Verdict::Yes;
    for name in CRATES {
        if !args.crates.is_empty() && !args.crates.iter().any(|it| it == name) {
            continue;
        }
        let scope = Scope::new(name, &args.files)?;
        let tried = try_changes(&root, &[name], &scope.files, &[])?;
        // After the run, so that survivors can be explained as they appear.
        let explained = Explained::load(&root)?;
        let judged = Judged::new(&tried, &explained);
        println!("{name}: {judged}");
        let stale = explained.stale(&judged, &scope);
        for change in &stale {
            println!("  {EXPLAINED} explains what does not survive: {change}");
        }
        if let Some(fault) = judged.fault() {
            println!("  {fault}");
        }
        if !stale.is_empty() || judged.fault().is_some() {
            verdict = Verdict::No;
        }
        // After each crate, because all of them take hours.
        let mut stored = StoredCounts::load(&root)?;
        stored.replace(&root, &scope, &judged)?;
        stored.save(&root)?;
    }
    Ok(verdict)
}

/// Test step: changes the functions that differ from those of the last whole run, or an even sample of these changes.
pub fn step(root: &Path) -> Result<Outcome> {
    let stored = StoredCounts::load(root)?;
    let is_stored = |name: &str| {
        let folder = format!("device/{name}/");
        stored.file.keys().any(|file| file.starts_with(&folder))
    };
    let (crates, others): (Vec<&str>, Vec<&str>) = CRATES.iter().partition(|name| is_stored(name));
    for name in others {
        println!("{name}: not tried, because no whole run is stored");
    }
    if crates.is_empty() {
        return Ok(Outcome::Passed);
    }
    let listed = run::quietly(mutants(root, &crates)?.args(["--list", "--json"]))?;
    let all: Vec<Change> = serde_json::from_str(&listed).context("the list of changes")?;
    let mut edited = BTreeMap::new();
    for file in all.iter().map(|change| &change.file).collect::<BTreeSet<_>>() {
        edited.insert(file, Edited::since(root, file, stored.file.get(file))?);
    }
    let is_edited = |change: &&Change| edited.get(&change.file).is_some_and(|it| it.meets(change));
    let wanted: Vec<&Change> = all.iter().filter(is_edited).collect();
    let unknown = edited.values().filter(|it| matches!(it, Edited::All)).count();
    if unknown > 0 {
        println!(
            "{unknown} files count as edited, because their content at the last whole run is unknown"
        );
    }
    let every = wanted.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&Change> = wanted.iter().step_by(every).copied().collect();
    println!("{} of {} changes of functions that were edited", sample.len(), wanted.len());
    if sample.is_empty() {
        return Ok(Outcome::Passed);
    }
    let mut tried = try_changes(root, &crates, &[], &sample)?;
    // The tool makes each deletion of a field, whatever it was asked for.
    tried.retain(|(change, _)| sample.iter().any(|wanted| wanted.name == change.name));
    ensure!(tried.len() == sample.len(), "{} changes were made", tried.len());
    let judged = Judged::new(&tried, &Explained::load(root)?);
    println!("{judged}");
    Ok(judged.fault().map_or(Outcome::Passed, Outcome::Failed))
}

/// A change, as `cargo-mutants` lists it.
#[derive(Clone, Debug, Deserialize)]
struct Change {
    file: String,
    /// File, line, column and what is changed.
    name: String,
    /// `None` for the value of a constant.
    function: Option<Function>,
    span: Span,
}

#[derive(Clone, Debug, Deserialize)]
struct Function {
    span: Span,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Span {
    start: Place,
    end: Place,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Place {
    line: usize,
}

impl Change {
    /// Returns its name without line and column: `device/verify/src/flow.rs: replace | with ^ in bits_of`.
    fn place(&self) -> String {
        let mut parts = self.name.splitn(4, ':');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(file), Some(_), Some(_), Some(change)) => format!("{file}:{change}"),
            _ => self.name.clone(),
        }
    }
}

/// The result of one change.
#[derive(Debug, Deserialize)]
struct Tried {
    scenario: Scenario,
    summary: Summary,
}

#[derive(Debug, Deserialize)]
enum Scenario {
    Baseline,
    Mutant(Change),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Summary {
    /// Of the code without a change.
    Success,
    CaughtMutant,
    Timeout,
    MissedMutant,
    /// The code does not compile.
    Unviable,
    Failure,
}

/// Returns `cargo-mutants` over these crates.
fn mutants(root: &Path, crates: &[&str]) -> Result<Command> {
    let mut command = Command::new(tools::cargo_tool("cargo-mutants")?);
    command.args(["mutants", "--colors", "never"]).current_dir(root);
    for name in crates {
        command.args(["--package", &format!("hartlock-{name}")]);
    }
    // It builds its copy of the tree once for each change, which is short only if cargo may keep what did not change.
    command.env_remove("CARGO_INCREMENTAL").env_remove("CARGO_TARGET_DIR");
    Ok(command)
}

/// Makes these changes, or every one of the files or crates if there are none, and tests each.
fn try_changes(
    root: &Path,
    crates: &[&str],
    files: &[String],
    only: &[&Change],
) -> Result<Vec<(Change, Summary)>> {
    let folder = project::work_dir("mutants");
    fs::create_dir_all(&folder)?;
    let mut command = mutants(root, crates)?;
    command.args(["--jobs", "1", "--no-shuffle", "--output"]).arg(&folder);
    for file in files {
        command.arg("--file").arg(file);
    }
    for change in only {
        command.arg("--re").arg(format!("^{}$", escaped(&change.name)));
    }
    // The exit code says whether there are survivors, and the results say it, too.
    let output = run::capture(&mut command)?;
    ensure!(matches!(output.status.code(), Some(0 | 2 | 3)), "{}", run::tail(&output, 40));
    #[derive(Deserialize)]
    struct Outcomes {
        outcomes: Vec<Tried>,
        end_time: Option<String>,
    }
    let text = fs::read_to_string(folder.join("mutants.out/outcomes.json"))?;
    let outcomes: Outcomes = serde_json::from_str(&text).context("outcomes.json")?;
    ensure!(outcomes.end_time.is_some(), "the run has not ended\n{}", run::tail(&output, 40));
    let of_change = |tried: Tried| match tried.scenario {
        Scenario::Mutant(change) => Some((change, tried.summary)),
        Scenario::Baseline => None,
    };
    Ok(outcomes.outcomes.into_iter().filter_map(of_change).collect())
}

/// Returns a regular expression for this text.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars() {
        // Not every sign: `\<` is the start of a word.
        if r"\.+*?()|[]{}^$".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// The lines of a file that differ from those of the last whole run.
#[derive(Debug, PartialEq, Eq)]
enum Edited {
    Lines(Vec<RangeInclusive<usize>>),
    /// The file is new, or the repository does not have its content at that time.
    All,
}

impl Edited {
    fn since(root: &Path, file: &str, stored: Option<&Counts>) -> Result<Self> {
        let Some(stored) = stored else { return Ok(Edited::All) };
        if content(root, file)? == stored.content {
            return Ok(Edited::Lines(Vec::new()));
        }
        let mut git = Command::new("git");
        git.args(["diff", "--no-color", "--no-ext-diff", "--unified=0", &stored.content, file]);
        let output = run::capture(git.current_dir(root))?;
        if !output.status.success() {
            return Ok(Edited::All);
        }
        Ok(Edited::Lines(edited_lines(&String::from_utf8_lossy(&output.stdout))))
    }

    /// Returns true if the change is in a function, or in an expression outside of one, of which a line was edited.
    fn meets(&self, change: &Change) -> bool {
        let Edited::Lines(lines) = self else { return true };
        let span = change.function.as_ref().map_or(change.span, |function| function.span);
        lines.iter().any(|it| *it.start() <= span.end.line && span.start.line <= *it.end())
    }
}

/// Returns the lines of the new file that a difference adds, and those on both sides of what it deletes.
fn edited_lines(diff: &str) -> Vec<RangeInclusive<usize>> {
    let hunk = |line: &str| {
        let added = line.strip_prefix("@@ -")?.split_once(" +")?.1.split_once(" @@")?.0;
        let (start, count) = added.split_once(',').unwrap_or((added, "1"));
        let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
        Some(start..=if count == 0 { start + 1 } else { start + count - 1 })
    };
    diff.lines().filter_map(hunk).collect()
}

/// Returns the id under which git stores the content of this file.
fn content(root: &Path, file: &str) -> Result<String> {
    let id = run::quietly(Command::new("git").args(["hash-object", file]).current_dir(root))?;
    Ok(id.trim().to_owned())
}

/// The files that a run changes.
struct Scope {
    /// The folder of a crate.
    folder: String,
    /// Files in this folder, or none for all of them.
    files: Vec<String>,
}

impl Scope {
    fn new(name: &str, files: &[String]) -> Result<Self> {
        let scope = Scope { folder: format!("device/{name}/"), files: files.to_vec() };
        let other = files.iter().find(|file| !file.starts_with(&scope.folder));
        ensure!(other.is_none(), "{} is not in {}", other.map_or("", |it| it), scope.folder);
        Ok(scope)
    }

    fn has(&self, file: &str) -> bool {
        let is_wanted = self.files.is_empty() || self.files.iter().any(|it| it == file);
        file.starts_with(&self.folder) && is_wanted
    }
}

/// The survivors that may be, by the name of the change without its line, and in how many places each.
#[derive(Default)]
struct Explained(BTreeMap<String, usize>);

impl Explained {
    fn load(root: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct File {
            #[serde(default)]
            survivor: Vec<Survivor>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Survivor {
            change: String,
            /// Number of places in the function with this change that survive.
            #[serde(default = "once")]
            count: usize,
            why: String,
        }
        let text = fs::read_to_string(root.join(EXPLAINED)).context(EXPLAINED)?;
        let file: File = toml::from_str(&text).context(EXPLAINED)?;
        let mut all = BTreeMap::new();
        for Survivor { change, count, why } in file.survivor {
            ensure!(!why.is_empty() && count > 0, "{EXPLAINED} does not explain {change}");
            ensure!(all.insert(change.clone(), count).is_none(), "{EXPLAINED} has {change} twice");
        }
        Ok(Explained(all))
    }

    /// Returns the explanations for these files that no survivor has. Only a whole run can say that.
    fn stale(&self, judged: &Judged, scope: &Scope) -> Vec<&str> {
        let seen = |change: &str| judged.explained.iter().filter(|it| *it == change).count();
        let of_scope = |change: &str| change.split_once(": ").is_some_and(|it| scope.has(it.0));
        let within = self.0.iter().filter(|(change, _)| of_scope(change));
        within.filter(|(change, count)| seen(change) < **count).map(|(it, _)| it.as_str()).collect()
    }
}

const fn once() -> usize {
    1
}

/// What became of changes.
#[derive(Default)]
struct Judged {
    by_file: BTreeMap<String, Counts>,
    explained: Vec<String>,
    unexplained: Vec<String>,
}

impl Judged {
    fn new(tried: &[(Change, Summary)], explained: &Explained) -> Self {
        let mut left = explained.0.clone();
        let mut judged = Judged::default();
        for (change, summary) in tried {
            let counts = judged.by_file.entry(change.file.clone()).or_default();
            match summary {
                Summary::CaughtMutant | Summary::Timeout => counts.caught += 1,
                Summary::Unviable => counts.unviable += 1,
                Summary::MissedMutant | Summary::Success | Summary::Failure => {
                    let place = change.place();
                    match left.get_mut(&place) {
                        Some(count) if *count > 0 => {
                            *count -= 1;
                            counts.explained += 1;
                            judged.explained.push(place);
                        }
                        _ => {
                            counts.unexplained += 1;
                            judged.unexplained.push(change.name.clone());
                        }
                    }
                }
            }
        }
        judged
    }

    fn sum(&self, of: impl Fn(&Counts) -> usize) -> usize {
        self.by_file.values().map(of).sum()
    }

    /// Returns why the tests are not good enough.
    fn fault(&self) -> Option<String> {
        let folds = |name: &&String| FOLDS.iter().any(|file| name.starts_with(&format!("{file}:")));
        if let Some(name) = self.unexplained.iter().find(folds) {
            return Some(format!("a change survives in what folds a difference: {name}"));
        }
        let viable = self.sum(|it| it.caught + it.explained + it.unexplained);
        (self.unexplained.len() * 100 >= SHARE * viable.max(1)).then(|| {
            format!("{} of {viable} changes survive without an explanation", self.unexplained.len())
        })
    }
}

impl std::fmt::Display for Judged {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (caught, unviable) = (self.sum(|it| it.caught), self.sum(|it| it.unviable));
        let (explained, others) = (self.explained.len(), self.unexplained.len());
        write!(
            to,
            "{caught} changes are caught, {explained} survive for a reason, {others} survive, "
        )?;
        write!(to, "{unviable} do not compile")?;
        self.unexplained.iter().try_for_each(|name| write!(to, "\n  survives: {name}"))
    }
}

/// The counts of the last whole run, by file.
#[derive(Default, Deserialize)]
struct StoredCounts {
    #[serde(default)]
    file: BTreeMap<String, Counts>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Counts {
    /// The day of the run.
    date: String,
    /// The id under which git stores the file that was changed.
    content: String,
    /// A test failed, or did not end.
    caught: usize,
    /// No test failed, and it is explained why, or not.
    explained: usize,
    unexplained: usize,
    /// The code does not compile.
    unviable: usize,
}

impl StoredCounts {
    fn load(root: &Path) -> Result<Self> {
        match fs::read_to_string(root.join(STORED)) {
            Ok(text) => Ok(toml::from_str(&text).context(STORED)?),
            Err(_) => Ok(Self::default()),
        }
    }

    /// Replaces the counts of a crate, or of files, by those of a run with all of their changes.
    fn replace(&mut self, root: &Path, scope: &Scope, judged: &Judged) -> Result<()> {
        self.file.retain(|file, _| !scope.has(file));
        let date = today()?;
        for (file, counts) in &judged.by_file {
            let content = content(root, file)?;
            self.file
                .insert(file.clone(), Counts { date: date.clone(), content, ..counts.clone() });
        }
        Ok(())
    }

    fn save(&self, root: &Path) -> Result<()> {
        let mut text = "# Counts of `cargo xtask mutants --all`, by file. `content` is git's id of the file that was changed.\n\
                        \n[file]\n"
            .to_owned();
        for (file, counts) in &self.file {
            let Counts { date, content, caught, explained, unexplained, unviable } = counts;
            writeln!(
                text,
                "\"{file}\" = {{ date = \"{date}\", caught = {caught}, explained = {explained}, \
                 unexplained = {unexplained}, unviable = {unviable}, content = \"{content}\" }}"
            )?;
        }
        Ok(fs::write(root.join(STORED), text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(name: &str) -> Change {
        let span = |start, end| Span { start: Place { line: start }, end: Place { line: end } };
        let file = name.split(':').next().unwrap().to_owned();
        let function = Some(Function { span: span(10, 20) });
        Change { file, name: name.to_owned(), function, span: span(12, 12) }
    }

    fn judged(caught: usize, missed: &[&str], explained: &Explained) -> Judged {
        let mut tried =
            vec![(change("device/image/src/label.rs:1:1: a"), Summary::CaughtMutant); caught];
        tried.extend(missed.iter().map(|name| (change(name), Summary::MissedMutant)));
        Judged::new(&tried, explained)
    }

    #[test]
    fn a_change_is_named_without_its_line() {
        let name = "device/verify/src/board.rs:103:52: replace == with != in Board<'_>::check";
        let wanted = "device/verify/src/board.rs: replace == with != in Board<'_>::check";
        assert_eq!(change(name).place(), wanted);
        assert_eq!(escaped("a.rs:1: replace | in B<'_>"), r"a\.rs:1: replace \| in B<'_>");
    }

    #[test]
    fn a_few_survivors_are_allowed_and_none_where_a_difference_is_folded() {
        let nothing = Explained::default();
        let other = "device/image/src/label.rs:7:7: replace < with >";
        assert_eq!(judged(98, &[other, other], &nothing).fault(), None);
        assert!(judged(97, &[other, other, other], &nothing).fault().is_some());
        let fold = "device/verify/src/harden.rs:7:7: replace & with |";
        assert!(judged(1000, &[fold], &nothing).fault().is_some());
    }

    #[test]
    fn an_explanation_counts_for_its_places_and_is_stale_without_them() {
        let fold = "device/verify/src/harden.rs:7:7: replace & with |";
        let explained = Explained([(change(fold).place(), 1)].into());
        assert_eq!(judged(0, &[fold], &explained).fault(), None);
        let scope = |name, files: &[&str]| {
            let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
            Scope::new(name, &files).unwrap()
        };
        let verify = scope("verify", &[]);
        assert!(explained.stale(&judged(0, &[fold], &explained), &verify).is_empty());
        assert!(judged(1000, &[fold, fold], &explained).fault().is_some());
        let without = judged(1, &[], &explained);
        assert_eq!(explained.stale(&without, &verify).len(), 1);
        assert!(explained.stale(&without, &scope("image", &[])).is_empty());
        // A run with other files of the crate does not say it.
        let file = |file| explained.stale(&without, &scope("verify", &[file])).len();
        assert_eq!(file("device/verify/src/flow.rs"), 0);
        assert_eq!(file("device/verify/src/harden.rs"), 1);
    }

    #[test]
    fn a_function_is_edited_if_one_of_its_lines_is() {
        let diff =
            "--- a/f.rs\n+++ b/f.rs\n@@ -3,0 +4,2 @@ fn before()\n+a\n+b\n@@ -9 +11 @@\n-x\n+y\n";
        assert_eq!(edited_lines(diff), [4..=5, 11..=11]);
        assert_eq!(edited_lines("@@ -5,2 +4,0 @@\n-a\n-b\n"), [4..=5]);
        let meets = |first, last| {
            Edited::Lines(vec![first..=last]).meets(&change("f.rs:12:1: replace + with -"))
        };
        assert!(meets(10, 10) && meets(20, 30) && meets(1, 100) && Edited::All.meets(&change("f")));
        assert!(!meets(1, 9) && !meets(21, 30));
    }

    #[test]
    fn counts_and_explanations_of_the_tree_are_read() {
        let root = project::root();
        let explained = Explained::load(&root).unwrap();
        let stored = StoredCounts::load(&root).unwrap();
        for change in explained.0.keys() {
            let (file, _) = change.split_once(": ").unwrap();
            assert!(root.join(file).is_file(), "{change}");
            let crate_of = CRATES.iter().any(|name| file.starts_with(&format!("device/{name}/")));
            assert!(crate_of, "{change}");
        }
        for (file, counts) in &stored.file {
            assert!(!FOLDS.contains(&file.as_str()) || counts.unexplained == 0, "{file}");
        }
    }
}
