//! Asks before something is downloaded or built on the user's machine.

use std::env;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::Command;

use anyhow::{Result, bail};

/// States whether the user has to be asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The user typed `fetch`.
    Given,
    /// The user has seen the list and agreed to it.
    Agreed,
    Ask,
}

/// Obtains the consent of the user to everything in `needs`. If nothing is needed, nothing is printed.
///
/// A user who is root or sets `YES=1` has agreed. Any other is asked on the terminal. Without a
/// terminal nobody can answer, so this is an error with the command to run.
pub fn obtain(consent: Consent, needs: &[String]) -> Result<()> {
    if needs.is_empty() || consent == Consent::Agreed {
        return Ok(());
    }
    for need in needs {
        eprintln!("needed: {need}");
    }
    if consent == Consent::Given {
        return Ok(());
    }
    let agreed = match decide(is_root(), says_yes(), io::stdin().is_terminal()) {
        ConsentDecision::Agreed => true,
        ConsentDecision::Ask => {
            eprint!("download now? [y/N] ");
            io::stderr().flush()?;
            let mut answer = String::new();
            io::stdin().lock().read_line(&mut answer)?;
            is_yes(&answer)
        }
        ConsentDecision::Refuse => false,
    };
    if !agreed {
        bail!("nothing was downloaded, because you did not agree; run `make fetch`, or set YES=1");
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum ConsentDecision {
    Agreed,
    Ask,
    Refuse,
}

fn decide(root: bool, yes: bool, terminal: bool) -> ConsentDecision {
    match (root || yes, terminal) {
        (true, _) => ConsentDecision::Agreed,
        (false, true) => ConsentDecision::Ask,
        (false, false) => ConsentDecision::Refuse,
    }
}

fn says_yes() -> bool {
    env::var_os("YES").is_some_and(|value| value == "1")
}

/// Returns true if the user is root. It runs `id`, because a system call would need unsafe code. If
/// `id` fails, the answer is false and the user is asked.
fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_or_yes_goes_ahead_unasked() {
        assert_eq!(decide(true, false, false), ConsentDecision::Agreed);
        assert_eq!(decide(false, true, false), ConsentDecision::Agreed);
        assert_eq!(decide(false, false, true), ConsentDecision::Ask);
        assert_eq!(decide(false, false, false), ConsentDecision::Refuse);
    }

    #[test]
    fn silence_is_no() {
        assert!(is_yes("y\n") && is_yes("Yes\n"));
        assert!(!is_yes("\n") && !is_yes("") && !is_yes("no\n") && !is_yes("yesterday\n"));
    }
}
