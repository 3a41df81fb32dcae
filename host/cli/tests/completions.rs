//! Tests that shell completions, manual pages and `--help` have every verb and every option.

use std::collections::BTreeSet;

use crate::common::Bench;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Returns the verbs of the command, as its help lists them.
fn verbs(bench: &Bench) -> Vec<String> {
    let help = bench.run(&["-h"]).expect(0).stdout;
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs = lines.take_while(|line| line.starts_with("  "));
    let verbs = verbs.map(|line| line.split_whitespace().next().unwrap().to_owned());
    let verbs: Vec<_> = verbs.filter(|verb| verb != "help").collect();
    assert!(verbs.len() >= 8 && verbs.contains(&"inspect".to_owned()), "{verbs:?}");
    verbs
}

/// Returns the long options of a verb, without dashes.
fn options(bench: &Bench, verb: &str) -> BTreeSet<String> {
    let help = bench.run(&[verb, "-h"]).expect(0).stdout;
    let words = help.lines().flat_map(|line| line.split([' ', ',']).take(9));
    let options = words.filter_map(|word| word.strip_prefix("--"));
    let options: BTreeSet<_> = options.map(str::to_owned).filter(|it| !it.is_empty()).collect();
    assert!(options.contains("json") && options.contains("help"), "{verb}: {options:?}");
    options
}

#[test]
fn completions_know_every_verb_and_option() {
    let bench = Bench::new();
    for shell in SHELLS {
        let script = bench.run(&["completions", shell]).expect(0).stdout;
        for verb in verbs(&bench) {
            assert!(script.contains(&verb), "{shell}: {verb}");
            for option in options(&bench, &verb) {
                // The script for fish has options without their dashes.
                assert!(script.contains(&option), "{shell}: {verb} --{option}");
            }
        }
        // The scripts for the other shells complete no arguments except values of options.
        assert!(script.contains("E0603") || !["bash", "zsh"].contains(&shell), "{shell}");
        let json = bench.run(&["completions", shell, "--json"]).expect(0).json();
        assert_eq!(json["schema"], "hartlock/completions-v1");
        assert_eq!((&json["shell"], &json["script"]), (&shell.into(), &script.into()));
    }
    let run = bench.run(&["completions", "cmd"]).expect(2);
    assert!(run.stderr.contains("bash") && run.stdout.is_empty(), "{run:?}");
}

#[test]
fn bash_completes_what_is_typed() {
    let bench = Bench::new();
    bench.write("script", bench.run(&["completions", "bash"]).stdout.as_bytes());
    let complete = |words: &[&str]| {
        let program = "source ./script; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                       _hartlock_or_files hartlock \"${@: -1}\" \"${@: -2:1}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
        let args = [&["--norc", "-c", program, "bash"], words].concat();
        bench.tool("bash", &args).map(|run| run.expect(0).stdout)
    };
    let Some(verbs) = complete(&["hartlock", "ins"]) else { return };
    assert_eq!(verbs, "inspect\n");
    assert_eq!(complete(&["hartlock", "inspect", "--hex"]).unwrap(), "--hexdump\n");
    let codes = "E0601\nE0602\nE0603\nE0604\nE0605\nE0606\n";
    assert_eq!(complete(&["hartlock", "explain", "E060"]).unwrap(), codes);
    assert_eq!(complete(&["hartlock", "verify", "--lifecycle", "prod"]).unwrap(), "production\n");
    // File names are completed where a file is expected.
    assert_eq!(complete(&["hartlock", "verify", ""]).unwrap().matches("linux\n").count(), 1);
    assert_eq!(complete(&["hartlock", "inspect", "lin"]).unwrap(), "linux\n");
    assert_eq!(complete(&["hartlock", "verify", "--key", "vi"]).unwrap(), "virt.dtb\n");
    assert_eq!(complete(&["hartlock", "extract", "linux", "--prof"]).unwrap(), "\n");
    assert!(complete(&["hartlock", "verify", "--"]).unwrap().contains("--floor\n"));
    let algorithms = complete(&["hartlock", "keygen", "--algorithm", "ml-dsa"]).unwrap();
    assert_eq!(algorithms, "ml-dsa-44\nml-dsa-65\nml-dsa-87\n");
    let boards = complete(&["hartlock", "verify", "--board", "qemu-virt-"]).unwrap();
    assert_eq!(boards, "qemu-virt-iommu\n");
    bench.write("mine.toml", b"");
    let descriptions = complete(&["hartlock", "sign", "--board", "m"]).unwrap();
    assert_eq!(descriptions, "mine.toml\n");
    let both = complete(&["hartlock", "verify", "--board", ""]).unwrap();
    assert!(both.contains("qemu-virt\n") && both.contains("mine.toml\n"), "{both}");
    assert!(!both.contains("linux"), "{both}");
}

#[test]
fn manual_pages_know_every_verb_and_option() {
    let bench = Bench::new();
    let run = bench.run(&["man", "-o", "share/man1", "--json"]).expect(0);
    let json = run.json();
    assert_eq!(json["schema"], "hartlock/man-v1");
    let page = |name: &str| String::from_utf8(bench.read(&format!("share/man1/{name}.1"))).unwrap();
    let top = page("hartlock");
    for verb in verbs(&bench) {
        let name = format!("hartlock-{verb}");
        let file = format!("share/man1/{name}.1");
        assert!(json["files"].as_array().unwrap().contains(&file.into()), "{json}");
        assert!(top.contains(&name.replace('-', "\\-")), "{name}");
        // In roff a dash that can be copied has a backslash in front.
        let page = page(&name);
        for option in options(&bench, &verb) {
            let option = format!("--{option}").replace('-', "\\-");
            assert!(page.contains(&option), "{name} {option}: {page}");
        }
        for section in [".SH EXAMPLES", ".SH \"EXIT STATUS\"", "hartlock \\- "] {
            let is_there = page.contains(section) || section.starts_with("hartlock");
            assert!(is_there, "{name} {section}: {page}");
        }
    }
    // Pages that are written again into the same folder do not change.
    bench.run(&["man", "-o", "share/man1"]).expect(0);
    assert_eq!(page("hartlock"), top);
    // The command fails if the pages cannot be written.
    bench.run(&["man", "-o", "linux"]).expect(2);
    bench.run(&["man"]).expect(2);
}

#[test]
fn manual_pages_can_be_set() {
    let bench = Bench::new();
    bench.run(&["man", "-o", "man1"]).expect(0);
    for name in ["hartlock.1", "hartlock-sign.1", "hartlock-boot.1"] {
        let args = ["-man", "-Tutf8", "-ww", &format!("man1/{name}")];
        let Some(run) = bench.tool("groff", &args) else { return };
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{name}");
    }
}

#[test]
fn every_help_has_examples_and_fits_80_columns() {
    let bench = Bench::new();
    let mut all = vec![vec!["--help"]];
    let verbs = verbs(&bench);
    all.extend(verbs.iter().map(|verb| vec![verb.as_str(), "--help"]));
    for args in all {
        let mut command = bench.command();
        let output = command.env("COLUMNS", "80").args(&args).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(help.contains("\nExamples:\n  hartlock "), "{args:?}: {help}");
        // The line with the usage is not broken.
        let lines = help.lines().filter(|line| !line.starts_with("Usage: "));
        for line in lines {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
    }
}
