//! `hartlock-gen`: makes the committed files that follow from a description. `--check` compares them.
//!
//! Exit codes follow the `hartlock` command: 0 yes, 1 no (a file is out of date), 2 could not decide.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

mod boards;

#[derive(Parser)]
#[command(name = "hartlock-gen", about, disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make what depends on a board from boards/*/board.toml
    Boards(Args),
}

#[derive(clap::Args)]
struct Args {
    /// Write nothing; say whether the generated files are up to date
    #[arg(long)]
    check: bool,
}

/// A generated file.
pub struct Output {
    /// Below the root.
    pub path: PathBuf,
    /// What is in it.
    pub content: String,
}

fn main() -> ExitCode {
    let Command::Boards(args) = Cli::parse().command;
    match boards::outputs(root()).and_then(|outputs| update(root(), &outputs, args.check)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The root of the workspace, two folders above this crate.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Writes what differs, or names it. Whether every file is up to date in the end.
fn update(root: &Path, outputs: &[Output], is_check: bool) -> Result<bool> {
    let mut is_right = true;
    for Output { path, content } in outputs {
        let file = root.join(path);
        if std::fs::read_to_string(&file).ok().as_deref() == Some(content) {
            continue;
        }
        if is_check {
            println!(
                "{} is out of date: run `cargo run -p hartlock-gen -- boards`",
                path.display()
            );
            is_right = false;
            continue;
        }
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        std::fs::write(&file, content).with_context(|| file.display().to_string())?;
        println!("{} written", path.display());
    }
    Ok(is_right)
}
