//! `hartlock completions`

use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Report;

/// The generated function offers options where a file may be meant: then files are offered, and options after a dash.
const BASH_FILES: &str = r#"
_hartlock_or_files() {
    _hartlock "$@"
    local word
    for word in "${COMPREPLY[@]}"; do
        [[ "${word}" == [-\<\[]* ]] || return 0
    done
    if [[ "$2" != -* ]]; then
        COMPREPLY=()
        compopt -o filenames 2> /dev/null
        while IFS= read -r word; do COMPREPLY+=("${word}"); done < <(compgen -f -- "$2")
    fi
}
complete -F _hartlock_or_files -o bashdefault -o default hartlock
"#;

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
    let mut script = String::from_utf8_lossy(&bytes).into_owned();
    if args.shell == Shell::Bash {
        script += BASH_FILES;
    }
    Ok(Script { shell: args.shell.to_string(), script })
}
