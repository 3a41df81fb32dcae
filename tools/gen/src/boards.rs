//! Everything that depends on a board, from `device/boards/<name>/board.toml`: the map of the verifier, the
//! constants and linker memory of firmware, nodes of device trees, defaults of `hartlock sign`, and the
//! tables of the specification.

mod firmware;
mod output;
mod rust;
mod spec;
#[cfg(test)]
mod tests;
mod tree;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use hartlock_boards::model::{Board, find};
use output::output;
pub use output::{NOTICE, Output};
use xtask::{Outcome, Verdict, project, run, tools};

/// Where the boards are.
const BOARDS: &str = "device/boards";
/// The text that has a table of each board between markers.
const SPECIFICATION: &str = "spec/boot-flow.md";

#[derive(clap::Args)]
pub struct BoardsArgs {
    /// Write nothing; list generated files that are out of date
    #[arg(long)]
    check: bool,
}

/// Writes the generated files that differ; with `--check`, prints their names instead.
pub fn main(args: &BoardsArgs) -> Result<Verdict> {
    let root = project::root();
    let stale = stale(&root)?;
    for Output { path, content } in &stale {
        if args.check {
            println!("{} is out of date: `cargo xtask boards` writes it", path.display());
            continue;
        }
        let file = root.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        fs::write(&file, content).with_context(|| file.display().to_string())?;
        println!("{} written", path.display());
    }
    Ok(if args.check && !stale.is_empty() { Verdict::No } else { Verdict::Yes })
}

/// Runs the step `boards` of `cargo xtask test`: fails if a generated file is out of date, or if the device trees of a
/// copy of a board with another number of harts are not those of so many harts.
pub fn step(root: &Path) -> Result<Outcome> {
    let dtc = tools::locate()?.dtc;
    for (name, harts) in [("qemu-virt", 1), ("qemu-virt", 8), ("qemu-virt-iommu", 2)] {
        copied_with(root, name, harts, &dtc)
            .with_context(|| format!("a copy of {name} with {harts} harts"))?;
    }
    let stale: Vec<String> =
        stale(root)?.iter().map(|output| output.path.display().to_string()).collect();
    Ok(if stale.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("{}: `cargo xtask boards` writes them", stale.join(", ")))
    })
}

/// Copies the folder of a board as the port guide does, changes its number of harts, and compiles both device trees with
/// what is generated then. The trees of the board may include those of `qemu-virt`.
fn copied_with(root: &Path, name: &str, harts: u64, dtc: &Path) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    for (from, to) in [("qemu-virt", "qemu-virt"), (name, "copy")] {
        let (from, to) = (root.join(BOARDS).join(from), scratch.path().join(to));
        fs::create_dir_all(to.join("generated"))?;
        for folder in ["", "generated"] {
            for entry in fs::read_dir(from.join(folder))? {
                let path = entry?.path();
                let extension = path.extension().and_then(|it| it.to_str());
                if let (Some("dts" | "dtsi"), Some(file)) = (extension, path.file_name()) {
                    fs::copy(&path, to.join(folder).join(file))?;
                }
            }
        }
    }
    let read = |name: &str| fs::read_to_string(root.join(BOARDS).join(name).join("board.toml"));
    // The first statement of a key in a description is at its top.
    let stated = read(name)?;
    let others = stated.lines().filter(|line| !line.starts_with("harts = ")).collect::<Vec<_>>();
    let text = format!("harts = {harts}\n{}", others.join("\n"));
    let board = hartlock_boards::read(&text, &|base| read(base).ok())?;
    let copy = scratch.path().join("copy");
    for (name, content) in tree::fragments(&board)? {
        fs::write(copy.join("generated").join(name), content)?;
    }
    for (name, domains) in [("boot.dts", harts), ("system.dts", 0)] {
        let mut compile = Command::new(dtc);
        compile.args(["-q", "-I", "dts", "-O", "dts", "-i"]).arg(copy.join("generated"));
        let tree = run::quietly(compile.arg(copy.join(name))).with_context(|| name.to_owned())?;
        let count = |mark: &str| tree.matches(mark).count() as u64;
        let found = (count("cpu@"), count("opensbi-domain ="));
        ensure!(found == (harts, domains), "{name}: {found:?} nodes of harts and of their domains");
    }
    Ok(())
}

/// Returns the generated files that differ from the output of the descriptions.
fn stale(root: &Path) -> Result<Vec<Output>> {
    let mut outputs = outputs(root)?;
    outputs.retain(|output| {
        fs::read_to_string(root.join(&output.path)).ok().as_ref() != Some(&output.content)
    });
    Ok(outputs)
}

/// Returns all generated files.
pub fn outputs(root: &Path) -> Result<Vec<Output>> {
    let boards = read(root)?;
    let text = fs::read_to_string(root.join(SPECIFICATION)).context(SPECIFICATION)?;
    let mut outputs = vec![output(SPECIFICATION, spec::with_tables(&text, &boards)?)];
    for board in &boards {
        let stages = match &board.stages_of {
            None => board,
            Some(name) => find(&boards, name)
                .with_context(|| format!("{}: no board {name} (stages_of)", board.name))?,
        };
        let folder = Path::new(BOARDS).join(&board.name).join("generated");
        let mut add = |name: &str, content| outputs.push(output(folder.join(name), content));
        add("map.rs", rust::map(board)?);
        add("board.rs", firmware::constants(board, stages)?);
        add("memory.ld", firmware::linker_memory(board, stages)?);
        add("forms", firmware::forms(board));
        if !board.root_of_trust.is_empty() {
            add("root-of-trust.rs", firmware::root_of_trust(board)?);
            add("root-of-trust.ld", firmware::root_of_trust_memory(board)?);
        }
        for (name, content) in tree::fragments(board)? {
            add(name, content);
        }
    }
    Ok(outputs)
}

/// Reads the descriptions of all boards, by name.
fn read(root: &Path) -> Result<Vec<Board>> {
    let folder = root.join(BOARDS);
    let mut boards = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let file = entry?.path().join("board.toml");
        if !file.exists() {
            continue;
        }
        // A board may extend another one, whose description is in the folder of that name.
        let base = |name: &str| fs::read_to_string(folder.join(name).join("board.toml")).ok();
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let board = hartlock_boards::read(&text, &base);
        let board = board.with_context(|| file.display().to_string())?;
        let is_named_alike = file.parent().is_some_and(|folder| folder.ends_with(&board.name));
        ensure!(is_named_alike, "{}: the folder is not named {}", file.display(), board.name);
        boards.push(board);
    }
    boards.sort_by(|a, b| a.name.cmp(&b.name));
    let defaults = boards.iter().filter(|board| board.is_default()).count();
    ensure!(defaults == 1, "{defaults} boards are the default of `hartlock sign`; one has to be");
    Ok(boards)
}
