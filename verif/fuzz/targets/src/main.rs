//! Runs one fuzz target on files, without a fuzzing engine: `fuzz-replay TARGET FOLDER...`, for `cargo xtask fuzz
//! --replay`.
//!
//! The name of each file is printed before it is used, so that the last name belongs to the input that ended the
//! program.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs, io};

use hartlock_fuzz_targets::targets;

fn main() -> io::Result<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some((_, run)) = targets::ALL.iter().find(|(known, _)| name == *known) else {
        eprintln!("there is no target {}", name.display());
        return Ok(ExitCode::from(2));
    };
    for folder in arguments {
        let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        let mut inputs = entries.collect::<io::Result<Vec<PathBuf>>>()?;
        inputs.sort();
        for input in inputs {
            println!("{}", input.display());
            run(&fs::read(input)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}
