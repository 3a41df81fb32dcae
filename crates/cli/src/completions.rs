//! `hartlock completions`

use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Report;

/// Print what completes verbs, options and codes in a shell
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// A script for a shell.
#[derive(Debug, Serialize)]
pub struct Script {
    shell: String,
    script: String,
}

impl Report for Script {
    fn text(&self) -> String {
        self.script.clone()
    }
}

/// Makes the script.
pub fn run<Cli: CommandFactory>(args: &Args) -> Result<Script, Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hartlock", &mut bytes);
    let script = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Script { shell: args.shell.to_string(), script })
}
