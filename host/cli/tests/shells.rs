//! Tests of completions in bash, zsh and fish. Each shell runs in a pseudo-terminal and reads the script of
//! `hartlock completions` from the place where it searches for scripts.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Bench, skipped};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Prompt of the shell.
const PROMPT: &str = "READY>";
/// Time limit that only ends a test that hangs.
const HANG: Duration = Duration::from_secs(60);
/// The command that the shells run. It prints its arguments, which are the completed words.
const COMMAND: &str = "#!/bin/sh\nprintf '<<'; printf '[%s]' \"$@\"; printf '>>\\n'\n";

/// A shell, its arguments, and the file that it reads first.
struct Shell {
    name: &'static str,
    args: &'static [&'static str],
    /// Path at which the shell searches for the completion script, and further settings that it needs.
    script: &'static str,
    settings: (&'static str, &'static str),
}

const SHELLS: [Shell; 3] = [
    Shell {
        name: "bash",
        args: &["--noprofile", "--rcfile", "bashrc", "-i"],
        script: "hartlock.bash",
        settings: (
            "bashrc",
            "PS1='READY>'\nbind 'set enable-bracketed-paste off'\n. ./hartlock.bash\n",
        ),
    },
    Shell {
        name: "zsh",
        args: &["-d", "-i"],
        script: "functions/_hartlock",
        settings: (
            ".zshrc",
            "PS1='READY>'\nunsetopt zle_bracketed_paste prompt_sp beep\nfpath=($PWD/functions $fpath)\n\
             autoload -U compinit\ncompinit -u -D\n",
        ),
    },
    Shell {
        name: "fish",
        args: &["--private", "-i"],
        script: "config/fish/completions/hartlock.fish",
        settings: (
            "config/fish/config.fish",
            "set -g fish_greeting\nset -g fish_autosuggestion_enabled 0\nfunction fish_prompt; printf 'READY>'; end\n",
        ),
    },
];

/// Text that is typed before Tab, and the arguments that the command then has.
const TYPED: [(&str, &str); 12] = [
    ("ins", "[inspect]"),
    ("inspect --hex", "[inspect][--hexdump]"),
    ("inspect lin", "[inspect][linux]"),
    ("verify lin", "[verify][linux]"),
    ("verify --key vi", "[verify][--key][virt.dtb]"),
    ("verify --lifecycle prod", "[verify][--lifecycle][production]"),
    ("explain E0603", "[explain][E0603]"),
    ("keygen --algorithm ecdsa-p2", "[keygen][--algorithm][ecdsa-p256]"),
    ("verify --board hartlock-s", "[verify][--board][hartlock-soc]"),
    ("verify --board mi", "[verify][--board][mine.toml]"),
    ("boot --board mi", "[boot][--board][mine.toml]"),
    ("key sh", "[key][show]"),
];

/// A shell that runs in a terminal.
struct Session {
    child: Child,
    terminal: File,
    output: Receiver<Vec<u8>>,
    seen: String,
}

impl Session {
    /// Starts the shell. Returns `None` if it is not installed.
    fn start(bench: &Bench, shell: &Shell) -> Option<Self> {
        let terminal =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let end = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let stdio = || Stdio::from(end.try_clone().unwrap());
        Command::new(shell.name).arg("--version").stdout(Stdio::null()).status().ok()?;
        let path = std::env::var("PATH").unwrap_or_default();
        let folder = bench.folder().display();
        // `setsid` makes the terminal the controlling terminal of the shell, as for a user.
        let child = Command::new("setsid")
            .args(["--ctty", shell.name])
            .args(shell.args)
            .current_dir(bench.folder())
            .env_clear()
            .env("PATH", format!("{folder}/bin:{path}"))
            .env("HOME", bench.folder())
            .env("ZDOTDIR", bench.folder())
            .env("XDG_CONFIG_HOME", bench.path("config"))
            .env("XDG_DATA_HOME", bench.path("data"))
            .env("TERM", "xterm")
            .env("LC_ALL", "C.UTF-8")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .ok()?;
        let terminal = File::from(terminal);
        let mut reader = terminal.try_clone().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Some(Self { child, terminal, output, seen: String::new() })
    }

    /// Waits for a text, and returns the output before it. The text and the output before it are discarded.
    fn wait_for(&mut self, text: &str) -> String {
        self.wait_until(|seen| seen.contains(text));
        let at = self.seen.find(text).unwrap();
        let rest = self.seen.split_off(at + text.len());
        std::mem::replace(&mut self.seen, rest)
    }

    fn wait_until(&mut self, is_there: impl Fn(&str) -> bool) {
        let end = Instant::now() + HANG;
        loop {
            if is_there(&self.seen) {
                return;
            }
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("what was waited for is not in {:?}", self.seen)
                }
            }
        }
    }

    fn type_text(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).unwrap();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the output without the sequences that move the cursor or change colours.
fn plain(seen: &str) -> String {
    let mut parts = seen.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let end = match part.chars().next() {
            Some('[') => part[1..].find(|c: char| c.is_ascii_alphabetic()).map(|at| at + 2),
            Some('(' | ')') => Some(2),
            _ => Some(1),
        };
        text + part.get(end.unwrap_or(part.len())..).unwrap_or_default()
    })
}

fn bench(shell: &Shell) -> Bench {
    let bench = Bench::new();
    bench.write("mine.toml", b"");
    // The command is in a folder that only `PATH` names. A shell writes it, because a program cannot be
    // started while this process has it open for writing.
    let write =
        ["-c", "mkdir bin && printf %s \"$0\" >bin/hartlock && chmod +x bin/hartlock", COMMAND];
    bench.tool("sh", &write).unwrap().expect(0);
    let script = bench.run(&["completions", shell.name]).expect(0).stdout;
    let (settings, text) = shell.settings;
    for (file, text) in [(shell.script, script.as_str()), (settings, text)] {
        let path = bench.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    bench
}

#[test]
fn a_shell_completes_what_is_typed() {
    for shell in &SHELLS {
        let bench = bench(shell);
        let Some(mut session) = Session::start(&bench, shell) else {
            skipped(format_args!("`{}` cannot be run: its completions were not tried", shell.name));
            continue;
        };
        for (typed, expected) in TYPED {
            session.wait_for(PROMPT);
            session.type_text(&format!("hartlock {typed}\t\r"));
            session.wait_for("<<");
            let words = session.wait_for(">>");
            let words = words.trim_end_matches(">>");
            assert_eq!(words, expected, "{}: {typed}", shell.name);
        }
        // If several words are possible, they are listed.
        session.wait_for(PROMPT);
        session.type_text("hartlock keygen --algorithm ml-dsa-\t\t");
        let names = ["ml-dsa-44", "ml-dsa-65", "ml-dsa-87"];
        session.wait_until(|seen| names.iter().all(|name| plain(seen).contains(name)));
    }
}
