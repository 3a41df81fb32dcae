//! Tests of help, usage errors and results in a terminal of 40 columns, and in a file with `COLUMNS` set to
//! 40: no line is longer, and no line is broken within a word.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

use crate::common::Bench;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

const COLUMNS: u16 = 40;

/// Returns true if a word is never broken, and may be longer than a line: a digest, a key id, a JSON case, a
/// path, or bytes of a field.
fn is_one_piece(word: &str) -> bool {
    let word = word.trim_end_matches([',', ')', '.', ';', ':']).trim_start_matches('(');
    let is_digest = word.len() >= 32 && word.chars().all(|c| c.is_ascii_hexdigit());
    let is_case = word.starts_with("{\"id\":");
    is_digest || is_case || word.contains("\\x") || word.contains('/') || word.contains("hlk")
}

/// Returns the lines of the output that are too long for the terminal.
fn faults(text: &str) -> Vec<String> {
    let plain = anstream::adapter::strip_str(text).to_string();
    let is_long = |line: &&str| {
        // Lines that are quoted from a device or a file are not broken.
        let is_quoted = line.starts_with("| ");
        let one_piece =
            line.split_whitespace().any(|it| it.chars().count() > 24 && is_one_piece(it));
        line.chars().count() > usize::from(COLUMNS) && !is_quoted && !one_piece
    };
    plain.lines().map(|line| line.trim_end_matches('\r')).filter(is_long).map(Into::into).collect()
}

/// Returns the words of a text, without the characters that breaking a line adds or removes: spaces, comment
/// signs and backslashes.
fn words(text: &str) -> Vec<String> {
    let plain = anstream::adapter::strip_str(text).to_string();
    let is_word = |word: &&str| !matches!(*word, "\\" | "#");
    plain.split_whitespace().filter(is_word).map(Into::into).collect()
}

/// Returns the output of a command, including the standard error, in a terminal of this width.
fn in_terminal(mut command: Command, columns: u16) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let end = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let stdio = || Stdio::from(end.try_clone().unwrap());
    command.env_remove("COLUMNS").env("TERM", "xterm");
    command.stdin(Stdio::null()).stdout(stdio()).stderr(stdio());
    let mut child = command.spawn().unwrap();
    // Only the child process has the other end open, so reading fails after the child has ended.
    drop((command, end));
    let mut bytes = Vec::new();
    let _ = File::from(terminal).read_to_end(&mut bytes);
    child.wait().unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Returns the output of a command to a pipe, followed by its standard error.
fn in_pipe(mut command: Command, columns: u16) -> String {
    let output = command.env("COLUMNS", columns.to_string()).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// Returns every verb, and the verbs below those that have some.
fn verbs(bench: &Bench) -> Vec<Vec<String>> {
    let listed = |verb: &[String]| -> Vec<String> {
        let help = bench.command().args(verb).arg("-h").output().unwrap().stdout;
        let help = String::from_utf8(help).unwrap();
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
        let lines = lines.take_while(|line| !line.is_empty()).filter(is_name);
        lines.filter_map(|line| line.split_whitespace().next().map(Into::into)).collect()
    };
    let mut verbs = vec![Vec::new()];
    for verb in listed(&[]).into_iter().filter(|verb| verb != "help") {
        let inner = listed(std::slice::from_ref(&verb));
        verbs.push(vec![verb.clone()]);
        verbs.extend(inner.into_iter().map(|it| vec![verb.clone(), it]));
    }
    assert!(verbs.len() > 15, "{verbs:?}");
    verbs
}

/// Compares the output for both widths, and returns the faults: the narrow text must differ only in breaks
/// between words.
fn judge(bench: &Bench, args: &[&str], is_text_equal: bool) -> Vec<String> {
    let command = || {
        let mut command = bench.command();
        command.args(args);
        command
    };
    let mut found = Vec::new();
    for (what, text) in
        [("pipe", in_pipe(command(), COLUMNS)), ("terminal", in_terminal(command(), COLUMNS))]
    {
        let what = format!("{args:?} in a {what}");
        found.extend(faults(&text).into_iter().map(|line| format!("{what}: {line}")));
        let wide = in_pipe(command(), 80);
        if text.is_empty() || (is_text_equal && words(&text) != words(&wide)) {
            found.push(format!("{what} has other words:\n{text}\n{wide}"));
        }
    }
    found
}

#[test]
fn help_of_every_verb_fits() {
    let bench = Bench::new();
    let mut found = Vec::new();
    for verb in verbs(&bench) {
        for option in ["-h", "--help"] {
            let args: Vec<_> = verb.iter().map(String::as_str).chain([option]).collect();
            found.extend(judge(&bench, &args, true));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn usage_errors_of_every_verb_fit() {
    let bench = Bench::new();
    let mut found = Vec::new();
    for verb in verbs(&bench) {
        let wrong = ["--no-such-option", "--algorithm=rot-13-of-a-cipher", "--algorithm"];
        for args in wrong.map(Some).into_iter().chain([None]) {
            let args: Vec<_> = verb.iter().map(String::as_str).chain(args).collect();
            // Some verbs have an effect without arguments, and `hartlock init` would write files.
            if args != ["init"] {
                found.extend(judge(&bench, &args, true));
            }
        }
    }
    for args in [
        &["sign", "--type", "neither", "-k", "a.pem", "-o", "x.hlk"][..],
        &["sign", "--security-version", "many", "-k", "a.pem", "-o", "x.hlk"],
        &["verify", "-", "--key", "root.pub.pem"],
        &["completions", "rc"],
        &["keygen", "-o", "a.pem", "--algorithm", "mldsa"],
        &["verfy"],
    ] {
        found.extend(judge(&bench, args, true));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn results_and_errors_of_every_verb_fit() {
    let bench = Bench::with_bundle();
    bench.damaged("system.hlk", "bad.hlk", |bytes| bytes[5000] ^= 1);
    bench.write(
        "wrong.toml",
        b"type = \"system\"\nsecurity_version = 1\npayload = [{ type = \"kernel\", file = \"linux\", hash = \"md5\" }]\n",
    );
    let sign = "sign --type system --kernel linux --initramfs initrd --system-fdt virt.dtb --security-version 4";
    let sign = format!("{sign} --key root.pem --force -o new.hlk");
    // The first run would write the file, and the second one find it.
    std::fs::create_dir(bench.path("project")).unwrap();
    bench.write("project/.gitignore", b"");
    let table = [
        "init --force project",
        "keygen -o root.pem",
        "key show root.pem",
        "key show linux",
        "key convert root.pub.pem --format der -o linux",
        &sign,
        "sign wrong.toml --key root.pem -o x.hlk",
        "sign --type system --kernel initrd --security-version 4 --key root.pem -o x.hlk",
        "digest --type system --kernel linux --security-version 4 --signer root.pub.pem -o request.json",
        "digest wrong.toml --signer root.pub.pem -o x.json",
        "attach request.json --signature linux -o x.hlk",
        "attach linux --signature linux -o x.hlk",
        "resign system.hlk --unverified --key root.pem --dry-run",
        "replace system.hlk --unverified --key root.pem --kernel initrd --dry-run",
        "verify system.hlk --key root.pub.pem",
        "verify system.hlk bad.hlk --key root.pub.pem",
        "verify system.hlk --key root.pub.pem --digests",
        "verify bad.hlk --key root.pub.pem",
        "verify system.hlk",
        "inspect system.hlk",
        "inspect system.hlk -v",
        "inspect system.hlk --fields",
        "inspect system.hlk --hexdump",
        "inspect linux",
        "diff system.hlk system.hlk",
        "diff system.hlk bad.hlk",
        "extract system.hlk --unverified --force -o parts",
        "extract bad.hlk --verify-key root.pub.pem -o parts",
        "explain",
        "explain E0603",
        "explain E9999",
        "explain E0511",
        "boot --rom linux --boot-bundle system.hlk --system system.hlk --root-key root.pub.pem --qemu missing",
        "kat missing",
        "man --force -o manual",
        "completions tcsh",
    ];
    let mut found = Vec::new();
    for args in table {
        let args: Vec<_> = args.split(' ').collect();
        // A line of a narrow dump has fewer bytes, and a quoted line is cut.
        let is_cut = args.iter().any(|it| matches!(*it, "--hexdump" | "wrong.toml"));
        found.extend(judge(&bench, &args, !is_cut));
    }
    for verb in verbs(&bench).into_iter().filter_map(|verb| verb.into_iter().next()) {
        let is_tried = |line: &&str| line.split(' ').next() == Some(verb.as_str());
        assert!(table.iter().any(is_tried), "nothing is tried with `{verb}`");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn text_for_programs_stays_as_it_is() {
    let bench = Bench::with_bundle();
    for args in [
        &["completions", "bash"][..],
        &["completions", "zsh"],
        &["completions", "fish"],
        &["inspect", "system.hlk", "--json"],
        &["verify", "system.hlk", "--key", "root.pub.pem", "--json"],
    ] {
        let text = |columns| {
            let mut command = bench.command();
            command.args(args);
            in_pipe(command, columns)
        };
        assert_eq!(text(COLUMNS), text(120), "{args:?}");
    }
}
