use super::*;

const ROOT_HELP: &str = "\
Builds, fetches and tests

Usage: cargo xtask <COMMAND>

Commands:
  hw    Build the machine
  lab   Measure
  test  Run every check

Options:
  -h, --help  Print help
";

const TEST_HELP: &str = "\
Run every check

Usage: cargo xtask test [OPTIONS]

Options:
      --only <NAME>  Run only this step; may be
                     given several times
      --list         Print the names
  -h, --help         Print help
";

const HW_HELP: &str = "\
Usage: cargo xtask hw [OPTIONS] [MACHINE]... [-- <OPTION>...]

Arguments:
  [MACHINE]...  Machines
  [OPTION]...   Options of the machine

Options:
      --list     Print the names
  -v, --verbose  Show more
  -h, --help     Print help
";

const LAB_HELP: &str = "\
Usage: cargo xtask lab [OPTIONS] [KEY]

Arguments:
  [KEY]  What to measure [possible values: host-speed,
         vector-crypto]

Options:
      --run <WHERE>  Where [possible values: host, target]
  -h, --help         Print help
";

const KEYGEN_HELP: &str = "\
Arguments:
  [FILE]  File
Options:
  -a, --algorithm <NAME>  [possible values: ed25519, ml-dsa-87]
  -h, --help  Print help
";

/// A checkout with a package `a`, whose programs answer as above.
fn judge(dir: &Path) -> Judge {
    for (file, text) in [
        ("a/src/lib.rs", "fn splits_the_pool() {}"),
        ("spec/try.py", "parser.add_argument(\"--all\")"),
    ] {
        fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
        fs::write(dir.join(file), text).unwrap();
    }
    let ask = |words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let text = match words[..] {
            ["cargo", "xtask", "-h"] => ROOT_HELP,
            ["cargo", "xtask", "test", "-h"] => TEST_HELP,
            ["cargo", "xtask", "test", "--list"] => "unit  unit tests\ndocs  the site\n",
            ["cargo", "xtask", "hw", "-h"] => HW_HELP,
            ["cargo", "xtask", "hw", "--list"] => "rocket-4-full\nrot\n",
            ["cargo", "xtask", "lab", "-h"] => LAB_HELP,
            ["hartlock", "-h"] => "Commands:\n  keygen  Make\n\nOptions:\n  -h, --help  Print\n",
            ["hartlock", "keygen", "-h"] => KEYGEN_HELP,
            _ => return Ok(None),
        };
        Ok(Some(text.to_owned()))
    };
    let metadata = format!(
        r#"{{"packages": [{{"name": "a", "manifest_path": "{}/a/Cargo.toml",
            "targets": [{{"name": "keys", "kind": ["test"]}}, {{"name": "a", "kind": ["lib"]}}]}}]}}"#,
        dir.display()
    );
    let metadata: Metadata = serde_json::from_str(&metadata).unwrap();
    Judge {
        root: dir.to_owned(),
        makefile:
            ".PHONY: demo nothing\nfetch demo lab: setup\n\t@cargo xtask $(PAPER) $(ALGORITHM)\n"
                .into(),
        setup: "[ \"${YES:-}\" = 1 ]".into(),
        packages: metadata.packages,
        ask: Box::new(ask),
        answers: BTreeMap::new(),
    }
}

#[test]
fn accepts_commands_that_exist() {
    let dir = tempfile::tempdir().unwrap();
    let mut judge = judge(dir.path());
    for command in [
        "cargo xtask",
        "cargo xtask --help",
        "cargo xtask test --only unit --only docs",
        "cargo xtask test --only NAME",
        "cargo xtask hw rocket-4 -v -- --memory-latency 100",
        "cargo xtask hw … --verbose",
        "cargo xtask lab host-speed --run=host",
        "hartlock keygen -a ed25519 my.pem",
        "cargo test -p a --test keys",
        "cargo test -p a pool -- --ignored",
        concat!("cargo test --package a --all-", "features pool"),
        "make",
        "make demo ALGORITHM='ed25519 ml-dsa-87' YES=1",
        "make lab PAPER=vector-crypto",
        "make lab PAPER=<key>",
        "python3 spec/try.py --all",
    ] {
        assert_eq!(judge.listed(command).unwrap(), Ok(()), "{command}");
    }
}

#[test]
fn finds_what_does_not_exist() {
    let dir = tempfile::tempdir().unwrap();
    let mut judge = judge(dir.path());
    for (command, what) in [
        ("cargo xtask tests", "cargo xtask has no subcommand tests"),
        ("cargo xtask test --once", "there is no --once"),
        ("cargo xtask test --only doc", "--list does not name doc"),
        ("cargo xtask test unit", "unit is one too many"),
        ("cargo xtask hw rocket-9", "--list does not name rocket-9"),
        ("cargo xtask lab speed", "speed is none of host-speed, vector-crypto"),
        ("cargo xtask lab --run both", "both is none of host, target"),
        ("hartlock sign", "hartlock has no subcommand sign"),
        ("hartlock keygen --algorithm rsa", "rsa is none of ed25519, ml-dsa-87"),
        ("cargo test -p b", "there is no package b"),
        ("cargo test -p a --test a", "there is no test a"),
        ("cargo test -p a pond", "no source of the package has pond in it"),
        ("cargo test -p a tests::pond", "no source of the package has tests::pond in it"),
        ("cargo test -p a --fast", "--fast is not an option that this check knows"),
        ("cargo test -p a -- --fast", "the test harness has no --fast"),
        ("make nothing", "the Makefile has no target nothing"),
        ("make demo KEY=1", "neither Makefile nor tools/setup uses KEY"),
        ("make lab PAPER=speed", "speed is none of host-speed, vector-crypto"),
        ("make demo ALGORITHM='ed25519 rsa'", "rsa is none of ed25519, ml-dsa-87"),
        ("python3 spec/gone.py", "there is no spec/gone.py"),
        ("python3 spec/try.py --one", "spec/try.py has no --one"),
        ("gcc", "of a program that this check does not know"),
        ("", "of a program that this check does not know"),
    ] {
        assert_eq!(judge.listed(command).unwrap(), Err(what.to_owned()), "{command}");
    }
}

#[test]
fn help_in_another_form_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut judge = judge(dir.path());
    judge.ask = Box::new(|_| Ok(Some("usage: something else\n".into())));
    assert!(judge.listed("cargo xtask test").is_err());
}

#[test]
fn finds_commands_in_spans_and_consoles() {
    let page = "Run `make\ntest`, or ``hartlock sign``; `makes` and make demo are none.\n\n\
                | `cargo xtask a` | `cargo xtask b` |\n\
                ```console\n$ YES=1 make demo   # installs `make x`\nmake: done\n\
                $ hartlock verify \\\n    --key 'a b' && python3 x.py\n\
                $ printf x |\n    hartlock kat -\n```\n`cargo build` `cargo test`\n";
    let found: Vec<String> = text::commands(page).iter().map(|it| it.join("_")).collect();
    let expected = [
        "make_test",
        "hartlock_sign",
        "cargo_xtask_a",
        "cargo_xtask_b",
        "make_demo",
        "hartlock_verify_--key_a b",
        "python3_x.py",
        "hartlock_kat_-",
        "cargo_test",
    ];
    assert_eq!(found, expected);
}
