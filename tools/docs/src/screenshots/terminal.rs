//! Runs a command in a terminal of a given width, and shows that terminal as a page.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

use anstyle_svg::{Term, WIN10_CONSOLE};
use anyhow::{Context, Result};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The number of lines of the terminal.
const ROWS: u16 = 50;

/// Runs a command in a terminal of `columns` columns, and returns its output. The exit code is ignored.
pub fn run(command: &mut Command, columns: u16) -> Result<String> {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&terminal)?;
    unlockpt(&terminal)?;
    tcsetwinsize(&terminal, Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
    let name = ptsname(&terminal, Vec::new())?;
    let end = OpenOptions::new().read(true).write(true).open(name.to_str()?)?;
    command.stdin(Stdio::null()).stdout(end.try_clone()?).stderr(end);
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    let mut child = command
        .env("TERM", "xterm-256color")
        .env("LC_ALL", "C.UTF-8")
        .spawn()
        .map_err(|error| xtask::run::not_started(command, &error))?;
    // Now only the child has the other end, so that reading ends with an error when the child exits.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut bytes = Vec::new();
    let _ = File::from(terminal).read_to_end(&mut bytes);
    child.wait()?;
    String::from_utf8(bytes).context("a command that does not print UTF-8")
}

/// Returns a page that shows a terminal. As in a terminal, a line that is too long is broken at the right edge, also in
/// the middle of a word.
pub fn page(typed: &str, printed: &str, columns: u16) -> String {
    let ansi = format!("\u{1b}[1m$ {typed}\u{1b}[0m\n{}", printed.replace('\r', ""));
    let shown = Term::new().palette(WIN10_CONSOLE).render_html_fragments(&ansi);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<style>\n{}\n\
         body {{ margin: 0; padding: 12px; background: #16191d; color: #e6edf3; width: fit-content; }}\n\
         body * {{ font: 15px/1.3 'DejaVu Sans Mono', 'Liberation Mono', monospace !important; }}\n\
         body .bold {{ font-weight: bold !important; }}\n\
         .container {{ width: calc({columns}ch + 3px); }}\n\
         .container span {{ white-space: pre-wrap; word-break: break-all; }}\n\
         .container .dimmed {{ opacity: 0.7; }}\n\
         </style></head><body>\n{}\n</body></html>\n",
        shown.style(),
        shown.body()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_sees_the_terminal_of_the_width_that_was_asked_for() {
        for columns in [40, 80] {
            let mut shell = Command::new("sh");
            shell.args(["-c", "test -t 1 && test -t 2 && stty size <&1; echo on error >&2"]);
            let printed = run(&mut shell, columns).unwrap();
            assert_eq!(printed, format!("{ROWS} {columns}\r\non error\r\n"));
        }
        assert!(run(&mut Command::new("no-such-program"), 80).is_err());
    }

    #[test]
    fn a_page_has_the_words_and_their_colours() {
        let page = page("sign <a>", "\u{1b}[31merror:\u{1b}[0m a & b\r\n", 40);
        for part in ["sign &lt;a&gt;", "a &amp; b", "calc(40ch", "<span class=\"fg-"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains('\r') && !page.contains('\u{1b}'));
    }
}
