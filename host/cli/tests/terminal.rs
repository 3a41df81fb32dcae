//! Tests that untrusted text cannot control the terminal. Names of files, fields of bundles and descriptions,
//! labels of keys, the console of a device and the arguments are escaped by every verb, and `--json` gives
//! valid JSON. A line feed or a carriage return in such a text could otherwise print a forged verdict.

use std::process::Command;

use crate::common::Bench;

/// Text with characters that control, hide or reorder: a carriage return, a sequence that erases the line, a
/// right-to-left override, the one-character form of ESC `[`, a backspace, and a forged line.
const EVIL: &str = "a\r\u{1b}[2K\u{202e}b\u{9b}2Kc\u{8}\u{2066}\u{200b}\nverified    fake";

/// A program that pretends to be QEMU, prints given texts as console and as error message, and ends.
const QEMU: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then printf 'QEMU emulator version 10.0.0%s\n' "$(head -1 complaint)"; exit; fi
cat console
cat complaint >&2
exit 1
"#;

/// Returns the first character or sequence in `text` that must not reach a terminal. Colours are allowed.
fn obeyed(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let colour = rest.strip_prefix('[').filter(|_| c == '\u{1b}').and_then(|after| {
            let end = after.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            after[end..].strip_prefix('m')
        });
        match (c, colour) {
            (_, Some(after)) => rest = after,
            ('\n', _) if rest.starts_with("verified    fake") => return Some("a line".to_owned()),
            ('\n' | '\t', _) => {}
            ('\u{202e}' | '\u{2066}' | '\u{200b}', _) => return Some(format!("{c:?}")),
            _ if c.is_control() => return Some(format!("{c:?}")),
            _ => {}
        }
    }
    None
}

/// Makes a folder that has every kind of file with control characters in its name and its content.
fn bench() -> Bench {
    let bench = Bench::with_bundle();
    let label = "-----BEGIN a\r\u{1b}[2K\u{202e}\u{9b}-----\nAAAA\n-----END a\r\u{1b}[2K\u{202e}\u{9b}-----\n";
    bench.write(&named("pem"), label.as_bytes());
    bench.write(&named("toml"), format!("{EVIL} = \"{EVIL}\"\n").as_bytes());
    bench.write("key.toml", "\"a\u{202e}\u{9b}\\r\\u001b[2K\\nverified    fake\" = 1\n".as_bytes());
    let value = r"a\r\u001b[2K\u202e\u009b\nverified    fake";
    bench.write(
        "values.toml",
        format!(
            "type = \"system\"\nlabel = \"{value}\"\nboard = \"{value}\"\nhash = \"{value}\"\n"
        )
        .as_bytes(),
    );
    bench.write("board.toml", format!("type = \"system\"\nlabel = \"{value}\"\nboard = \"{value}\"\nsoc = \"{value}\"\nbootargs = \"{value}\"\nsecurity-version = 1\n[[payload]]\ntype = \"kernel\"\nfile = \"linux\"\n").as_bytes());
    bench.write("bootargs.toml", format!("type = \"system\"\nsecurity_version = 1\nbootargs = \"{value}\"\npayload = [{{ type = \"kernel\", file = \"linux\" }}]\n").as_bytes());
    let record = |id: &str, op: &str, alg: &str| {
        format!("{{\"id\":\"{id}\",\"op\":\"{op}\",\"alg\":\"{alg}\",\"message\":\"\"}}\n")
    };
    let strange = r"a\r\u001b[2K\u202e\u009b\nb";
    let cases = [
        record(strange, "digest", "sha256"),
        record(strange, strange, "sha256"),
        record(strange, "digest", strange),
        record("plain \u{202e}\u{9b}", "digest\u{202e}\u{9b}", "sha256"),
        record("", "mac", &format!("hmac-{strange}")),
        format!("{EVIL}\n"),
    ];
    bench.write(&named("jsonl"), cases.concat().as_bytes());
    bench.write(&named("json"), EVIL.as_bytes());
    for copy in [named("hlk"), named("refused.hlk")] {
        bench.write(&copy, &bench.read("system.hlk"));
    }
    // The changed fields are board, SoC and label in the header (image format §4.1), and the kernel command
    // line.
    bench.damaged("system.hlk", "header.hlk", |bytes| {
        for (at, len) in [(64, 32), (96, 32), (128, 64)] {
            let text = &EVIL.as_bytes()[..len.min(EVIL.len())];
            bytes[at..at + text.len()].copy_from_slice(text);
        }
        let at = bytes.windows(13).position(|part| part == b"console=ttyS0").unwrap();
        bytes[at..at + 13].copy_from_slice(b"c\r\x1b[2K\xc2\x9b\ncdef");
    });
    bench.damaged("system.hlk", "label.hlk", |bytes| {
        bytes[128..139].copy_from_slice(b"l\r\x1b[2K\xc2\x9b\ncd")
    });
    bench.write("rom.bin", &[0x13; 64]);
    bench.write(
        "console",
        format!("hartlock: loader: {EVIL}\n{EVIL}\nhalf a line{}", &EVIL[..19]).as_bytes(),
    );
    bench.write("complaint", EVIL.as_bytes());
    let write = ["-c", "printf %s \"$0\" >qemu && chmod +x qemu", QEMU];
    bench.tool("sh", &write).unwrap().expect(0);
    bench
}

fn named(extension: &str) -> String {
    format!("{EVIL}.{extension}")
}

#[test]
fn no_text_from_outside_reaches_a_terminal_as_it_is() {
    let bench = bench();
    let of = named;
    let sign = "sign --type system --kernel linux --initramfs initrd --system-fdt virt.dtb --security-version 4";
    let boot = "boot --qemu ./qemu --rom rom.bin --system system.hlk";
    let no_terminal = "key show --passphrase-env HARTLOCK_NO_SUCH_VARIABLE";
    // Each row has a verb with harmless arguments, the arguments with control characters, and the exit code.
    let table: Vec<(&str, Vec<String>, i32)> = vec![
        ("keygen", vec!["-o".into(), of("new.pem")], 0),
        ("keygen", vec!["-o".into(), of("new.pem")], 2),
        ("keygen", vec!["-o".into(), format!("{EVIL}/{EVIL}")], 2),
        ("keygen", vec!["-o".into(), of("x.pem"), "--algorithm".into(), EVIL.into()], 2),
        ("keygen --algorithm lms-sha256-192-h5-w8", vec!["-o".into(), of("lms.pem")], 0),
        ("keygen --encrypt -o e.pem --passphrase-file", vec![of("missing")], 2),
        ("keygen --encrypt -o e.pem --passphrase-env", vec![EVIL.into()], 2),
        ("key show", vec![of("new.pem")], 0),
        ("key show", vec![of("lms.pem")], 0),
        ("key show", vec![of("pem")], 2),
        ("key show", vec![of("missing")], 2),
        ("key show", vec![of("hlk")], 2),
        ("key convert", vec![of("new.pem"), "-o".into(), of("converted.pem")], 0),
        ("key convert", vec![of("new.pem"), "-o".into(), of("new.pem")], 2),
        ("key convert --encrypt", vec![of("new.pub.pem"), "-o".into(), of("y.pem")], 2),
        (
            "key convert",
            vec![of("new.pem"), "-o".into(), of("z.pem"), "--format".into(), EVIL.into()],
            2,
        ),
        (no_terminal, vec![of("new.pem")], 0),
        ("digest -o r.json --signer", vec![of("missing")], 2),
        ("digest --type system --signer", vec![of("new.pub.pem"), "-o".into(), of("r.json")], 1),
        ("attach -o x.hlk --signature", vec![of("missing"), of("pem")], 2),
        (sign, vec!["-k".into(), of("new.pem"), "-o".into(), of("new.hlk")], 0),
        (sign, vec!["-k".into(), of("lms.pem"), "-o".into(), of("lms.hlk")], 0),
        (sign, vec!["-k".into(), of("lms.pem"), "-o".into(), of("new.pem")], 2),
        (sign, vec!["-k".into(), of("missing"), "-o".into(), of("x.hlk")], 2),
        (sign, vec!["-k".into(), "root.pem".into(), "-o".into(), format!("{EVIL}/{EVIL}")], 2),
        (
            sign,
            vec![
                "-k".into(),
                "root.pem".into(),
                "-o".into(),
                of("x.hlk"),
                "--label".into(),
                EVIL.into(),
            ],
            1,
        ),
        (
            sign,
            vec![
                "-k".into(),
                "root.pem".into(),
                "-o".into(),
                of("x.hlk"),
                "--board".into(),
                EVIL.into(),
            ],
            1,
        ),
        (
            sign,
            vec![
                "-k".into(),
                "root.pem".into(),
                "-o".into(),
                of("x.hlk"),
                "--bootargs".into(),
                EVIL.into(),
            ],
            1,
        ),
        (
            sign,
            vec![
                "-k".into(),
                "root.pem".into(),
                "-o".into(),
                of("x.hlk"),
                "--also-for".into(),
                EVIL.into(),
            ],
            2,
        ),
        (
            sign,
            vec![
                "-k".into(),
                "root.pem".into(),
                "-o".into(),
                of("x.hlk"),
                "--hash".into(),
                EVIL.into(),
            ],
            2,
        ),
        (
            "sign --type system -k root.pem -o x.hlk --security-version 1 --kernel",
            vec![of("missing")],
            2,
        ),
        ("sign --type boot -k root.pem -o x.hlk --security-version 1 --trust", vec![of("pem")], 1),
        ("sign -k root.pem -o x.hlk", vec![of("toml")], 2),
        ("sign -k root.pem -o x.hlk", vec![of("missing.toml")], 2),
        ("sign -k root.pem -o x.hlk key.toml", vec![], 2),
        ("sign -k root.pem -o x.hlk values.toml", vec![], 2),
        ("sign -k root.pem -o x.hlk board.toml", vec![], 2),
        ("sign -k root.pem -o x.hlk bootargs.toml", vec![], 1),
        ("verify", vec![of("new.hlk"), "-k".into(), of("new.pub.pem")], 0),
        ("verify", vec![of("new.hlk"), "-k".into(), "root.pub.pem".into()], 1),
        ("verify", vec![of("new.hlk"), "-k".into(), of("pem")], 2),
        ("verify", vec![of("missing"), "-k".into(), "root.pub.pem".into()], 2),
        (
            "verify",
            vec![of("new.hlk"), "-k".into(), of("new.pub.pem"), "--board".into(), EVIL.into()],
            2,
        ),
        ("verify system.hlk -k root.pub.pem --algorithm", vec![EVIL.into()], 2),
        ("verify header.hlk -k root.pub.pem", vec![], 1),
        ("inspect", vec![of("new.hlk")], 0),
        ("inspect --fields -v", vec![of("new.hlk")], 0),
        ("inspect --hexdump", vec![of("new.hlk")], 0),
        ("inspect", vec![of("pem")], 1),
        ("inspect", vec![of("missing")], 2),
        ("inspect header.hlk", vec![], 1),
        ("inspect header.hlk -v", vec![], 1),
        ("inspect header.hlk --fields", vec![], 1),
        ("inspect header.hlk --hexdump", vec![], 1),
        ("inspect label.hlk", vec![], 1),
        ("inspect label.hlk --fields", vec![], 1),
        ("verify --digests", vec![of("new.hlk"), "-k".into(), of("new.pub.pem")], 0),
        ("inspect --digests", vec![of("new.hlk")], 0),
        ("inspect --digests label.hlk", vec![], 1),
        ("extract --unverified", vec![of("new.hlk"), "-o".into(), of("parts")], 0),
        ("extract --unverified -o x", vec![of("missing")], 2),
        ("extract system.hlk --unverified -o x", vec![EVIL.into()], 2),
        ("diff system.hlk", vec![of("new.hlk")], 1),
        ("diff", vec![of("new.hlk"), of("new.hlk")], 0),
        ("diff system.hlk label.hlk", vec![], 2),
        ("diff system.hlk", vec![of("missing")], 2),
        ("resign --unverified -k root.pem", vec![of("new.hlk"), "-o".into(), of("again.hlk")], 0),
        ("resign -k root.pem -o x.hlk", vec![of("new.hlk"), "--verify-key".into(), of("pem")], 2),
        ("replace -k root.pem -o x.hlk --unverified", vec![of("new.hlk")], 2),
        (
            "replace -k root.pem -o x.hlk --unverified",
            vec![of("new.hlk"), "--kernel".into(), of("pem")],
            1,
        ),
        ("init --force", vec![of("project")], 0),
        ("init", vec![of("project")], 2),
        ("explain", vec![EVIL.into()], 2),
        (
            boot,
            vec!["--boot-bundle".into(), of("new.hlk"), "--root-key".into(), of("new.pub.pem")],
            2,
        ),
        (
            boot,
            vec![
                "--boot-bundle".into(),
                of("new.hlk"),
                "--root-key".into(),
                of("new.pub.pem"),
                "--quiet".into(),
                "--state".into(),
                of("state"),
            ],
            2,
        ),
        (
            boot,
            vec!["--boot-bundle".into(), of("missing"), "--root-key".into(), of("new.pub.pem")],
            2,
        ),
        (boot, vec!["--boot-bundle".into(), of("new.hlk"), "--root-key".into(), of("pem")], 2),
        (
            boot,
            vec![
                "--boot-bundle=system.hlk".into(),
                "--root-key=root.pub.pem".into(),
                "--label".into(),
                EVIL.into(),
                "--cpu".into(),
                EVIL.into(),
            ],
            2,
        ),
        (
            boot,
            vec![
                "--boot-bundle=system.hlk".into(),
                "--root-key=root.pub.pem".into(),
                "--compare".into(),
                format!("{EVIL}={}", of("json")),
            ],
            2,
        ),
        (
            boot,
            vec![
                "--boot-bundle=system.hlk".into(),
                "--root-key=root.pub.pem".into(),
                "--report".into(),
                format!("{EVIL}/x"),
            ],
            2,
        ),
        (
            "boot --rom rom.bin --boot-bundle system.hlk --system system.hlk --root-key root.pub.pem --qemu",
            vec![of("missing")],
            2,
        ),
        ("kat", vec![of("jsonl")], 0),
        ("kat", vec![of("missing")], 2),
        ("kat -", vec!["--kernel".into(), EVIL.into()], 2),
        ("kat -", vec!["--target".into(), EVIL.into()], 2),
        ("completions", vec![EVIL.into()], 2),
        ("man", vec!["-o".into(), of("man")], 0),
        ("man", vec!["-o".into(), of("hlk")], 2),
        ("help", vec![EVIL.into()], 2),
        ("", vec![EVIL.into()], 2),
        ("verify", vec![format!("--{EVIL}")], 2),
        ("boot", vec![format!("-{EVIL}")], 2),
    ];
    let help = bench.run(&["--help"]).expect(0).stdout;
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in verbs.take_while(|line| !line.is_empty()) {
        let verb = line.split_whitespace().next().unwrap_or_default();
        let is_tried = |(plain, ..): &(&str, _, _)| plain.split(' ').next() == Some(verb);
        assert!(table.iter().any(is_tried), "nothing is tried with `{verb}`");
    }
    let mut faults = Vec::new();
    for (plain, steering, code) in &table {
        for json in [false, true] {
            let mut command: Command = bench.command();
            // Colours are forced, because otherwise all sequences are removed from output to a pipe.
            command.env("CLICOLOR_FORCE", "1").args(plain.split_whitespace()).args(steering);
            let is_new = ["keygen", "key convert"].iter().any(|verb| plain.starts_with(verb));
            if json && is_new && *code == 0 {
                // A private key is never replaced, so this command cannot run a second time.
                continue;
            }
            if json {
                command.arg("--json");
            }
            let output = command.output().unwrap();
            let what = format!("{plain} {steering:?}{}", if json { " --json" } else { "" });
            if output.status.code() != Some(*code) {
                faults.push(format!("{what}: {output:?}"));
            }
            for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
                let text = String::from_utf8(bytes.clone()).expect(&what);
                if let Some(found) = obeyed(&text) {
                    faults.push(format!("{what}: {found} in {stream}: {text:?}"));
                }
            }
            let stdout = String::from_utf8_lossy(&output.stdout);
            if json && !stdout.is_empty() {
                let values = serde_json::Deserializer::from_str(&stdout);
                let values = values.into_iter::<serde_json::Value>().collect::<Result<Vec<_>, _>>();
                if values.is_err() {
                    faults.push(format!("{what}: no JSON: {stdout}"));
                }
            }
        }
    }
    let count = faults.len();
    assert!(faults.is_empty(), "{count} of {} runs:\n{}", 2 * table.len(), faults.join("\n"));
}

#[test]
fn what_steers_a_terminal_is_found() {
    for bad in [
        "\r",
        "\u{1b}",
        "\u{1b}[2K",
        "\u{1b}[1;",
        "\u{9b}",
        "\u{202e}",
        "\u{7f}",
        "x\nverified    fake",
    ] {
        assert!(obeyed(bad).is_some(), "{bad:?}");
    }
    for good in
        ["", "plain ü\n\tline\n", "\u{1b}[1mbold\u{1b}[0m", "\u{1b}[1;31mred", r"\r\u{202e}"]
    {
        assert!(obeyed(good).is_none(), "{good:?}");
    }
}
