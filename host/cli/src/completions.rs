//! `hartlock completions`

use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Report;

/// Addition to the generated bash function, which completes options even where a file is expected: it
/// completes files there, and options only after a dash.
const BASH_FILES: &str = r#"
_hartlock_or_files() {
    _hartlock "$@"
    local word
    if [[ "$3" == --board && "${COMP_WORDS[1]}" != kat ]]; then
        compopt -o filenames 2> /dev/null
        while IFS= read -r word; do
            [[ " ${COMPREPLY[*]} " == *" ${word} "* ]] || COMPREPLY+=("${word}")
        done < <(compgen -f -X '!*.toml' -- "$2"; compgen -d -- "$2")
        return 0
    fi
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

/// Addition to the generated zsh script: it completes the names of boards, which are its arguments, and
/// descriptions.
const ZSH_BOARDS: &str = r#"
_hartlock_or_descriptions() {
    _alternative "boards:board:($*)" 'files:description:_files -g "*.toml"'
}

"#;

/// Changes the generated zsh script so that descriptions are completed wherever names of boards are.
fn with_zsh_descriptions(script: &str) -> String {
    const NAMES: &str = ":BOARD:(";
    let line = |line: &str| {
        let parts = line.split_once(NAMES);
        let parts = parts.and_then(|(start, rest)| Some((start, rest.split_once(')')?)));
        match parts {
            Some((start, (names, rest))) => {
                format!("{start}:BOARD: _hartlock_or_descriptions {names}{rest}\n")
            }
            // The added function is defined before this line, which calls the functions that are defined so
            // far.
            None if line.starts_with("if [ \"$funcstack[1]\"") => format!("{ZSH_BOARDS}{line}\n"),
            None => format!("{line}\n"),
        }
    };
    script.lines().map(line).collect()
}

/// Changes the generated fish script in the same way. There the names begin a list with one line for each
/// name.
fn with_fish_descriptions(script: &str) -> String {
    const NAMES: &str = " -r -f -a \"";
    let line = |line: &str| match line.split_once(NAMES).filter(|_| line.contains(" -l board ")) {
        Some((start, names)) => {
            format!("{start}{NAMES}(__fish_complete_suffix .toml)\n{names}\n")
        }
        None => format!("{line}\n"),
    };
    script.lines().map(line).collect()
}

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Shell to complete in
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// The completion script of a shell.
#[derive(Debug, Serialize)]
pub struct Script {
    shell: String,
    script: String,
}

impl Report for Script {
    fn text(&self) -> String {
        self.script.clone()
    }

    fn is_for_programs(&self) -> bool {
        true
    }
}

/// Generates the script.
pub fn run<Cli: CommandFactory>(args: &CompletionsArgs) -> Result<Script, Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hartlock", &mut bytes);
    let mut script = String::from_utf8_lossy(&bytes).into_owned();
    match args.shell {
        Shell::Bash => script += BASH_FILES,
        Shell::Zsh => script = with_zsh_descriptions(&script),
        Shell::Fish => script = with_fish_descriptions(&script),
        _ => {}
    }
    Ok(Script { shell: args.shell.to_string(), script })
}
