//! Tests of `integrations/ci`: the commands of the action and of the job, in a repository like that of a
//! user.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Bench, Run};
use yaml_rust2::{Yaml, YamlLoader};

const DESCRIPTION: &str = r#"type = "system"
board = "qemu-virt"
soc = "virt"
security_version = 4
bootargs = "console=ttyS0"
payload = [
    { type = "kernel", file = "linux" },
    { type = "initramfs", file = "initrd" },
    { type = "system-fdt", file = "virt.dtb" },
]
"#;

fn ci() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/ci").canonicalize().unwrap()
}

fn parsed(file: &str) -> Yaml {
    YamlLoader::load_from_str(&fs::read_to_string(ci().join(file)).unwrap()).unwrap().remove(0)
}

/// A repository with payloads, a description and a public key. The private key is not in the repository.
struct Repository {
    bench: Bench,
    key: String,
}

impl Repository {
    fn new() -> Self {
        let bench = Bench::new();
        bench.run(&["keygen", "-o", "release.pem"]).expect(0);
        let key = String::from_utf8(bench.read("release.pem")).unwrap();
        fs::remove_file(bench.path("release.pem")).unwrap();
        bench.write("system.toml", DESCRIPTION.as_bytes());
        let repository = Self { bench, key };
        for command in [
            "git init --quiet",
            "git add .",
            "git -c user.name=a -c user.email=a@b commit --quiet --message first",
        ] {
            assert_eq!(repository.shell(command, &[]).code, 0, "{command}");
        }
        repository
    }

    /// Runs a command as a pipeline does, with these environment variables.
    fn shell(&self, command: &str, variables: &[(&str, &str)]) -> Run {
        let tool = Path::new(env!("CARGO_BIN_EXE_hartlock")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{}:{path}", ci().display(), tool.display());
        let mut shell = Command::new("sh");
        shell.arg("-ec").arg(command).current_dir(self.bench.folder());
        shell.env_remove("SOURCE_DATE_EPOCH").env("PATH", path);
        Run::of(shell.envs(variables.iter().copied()).output().unwrap())
    }

    /// Runs the steps of the action with these inputs.
    fn action(&self, inputs: &[(&str, &str)], key: &str) -> Run {
        let action = parsed("github/action.yml");
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        for (name, input) in action["inputs"].as_hash().unwrap() {
            let name = name.as_str().unwrap();
            let given = inputs.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
            let value = given.or_else(|| input["default"].as_str());
            values.insert(format!("inputs.{name}"), value.expect("an input is given").to_owned());
        }
        values.insert("github.action_path".to_owned(), ci().display().to_string());
        let [step] = &action["runs"]["steps"].as_vec().unwrap()[..] else { panic!("one step") };
        let command = step["run"].as_str().unwrap();
        assert!(!command.contains("${{"), "text of a user is part of a command: {command}");
        let expanded = |text: &str| {
            let name = text.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}"));
            values[name.expect("an expression alone")].clone()
        };
        let variables: Vec<(&str, String)> = step["env"]
            .as_hash()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.as_str().unwrap(), expanded(value.as_str().unwrap())))
            .collect();
        let mut variables: Vec<_> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        variables.push(("HARTLOCK_KEY", key));
        self.shell(command, &variables)
    }

    /// Returns the names of the files that the pipeline added to those of the repository.
    fn new_files(&self) -> Vec<String> {
        let status = self.shell("git status --porcelain", &[]).stdout;
        status.lines().map(|line| line[3..].to_owned()).collect()
    }
}

const INPUTS: [(&str, &str); 3] =
    [("description", "system.toml"), ("output", "gateway.hlk"), ("public-key", "release.pub.pem")];

#[test]
fn the_action_signs_and_verifies_and_leaves_no_key() {
    let repository = Repository::new();
    let run = repository.action(&INPUTS, &repository.key);
    assert_eq!(run.code, 0, "{run:#?}");
    assert_eq!(repository.new_files(), ["gateway.hlk", "gateway.hlk.json"]);
    let shown = fs::read_to_string(repository.bench.path("gateway.hlk.json")).unwrap();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["manifest"]["security_version"], 4, "{shown}");
    // The date is that of the commit, so a second run gives the same bytes.
    let first = repository.bench.read("gateway.hlk");
    let run = repository.action(&INPUTS, &repository.key);
    assert_eq!(run.code, 0, "{run:#?}");
    assert_eq!(repository.bench.read("gateway.hlk"), first);
    assert_eq!(repository.new_files(), ["gateway.hlk", "gateway.hlk.json"]);
}

/// Runs the script with these variables beside the output, the public key and the private key.
fn release(repository: &Repository, output: &str, variables: &[(&str, &str)]) -> Run {
    let mut all =
        vec![("HARTLOCK_KEY", repository.key.as_str()), ("HARTLOCK_PUBLIC_KEY", "release.pub.pem")];
    all.extend(variables);
    repository.shell(&format!("hartlock-release system.toml {output}"), &all)
}

#[test]
fn the_script_takes_a_key_as_text_in_base64_and_as_a_file() {
    let repository = Repository::new();
    repository.bench.write("variable", repository.key.as_bytes());
    repository.bench.write("damaged", b"-----BEGIN PRIVATE KEY-----\n");
    let base64 = repository.shell("base64 -w 0 variable", &[]).stdout;
    for value in [base64.as_str(), "variable"] {
        let run = release(&repository, "a.hlk", &[("HARTLOCK_KEY", value)]);
        assert_eq!(run.code, 0, "{run:#?}");
    }
    for (value, says) in [
        ("no key, and no file", "HARTLOCK_KEY is neither the text of a key"),
        ("bm8ga2V5", "HARTLOCK_KEY is neither the text of a key"),
        ("nope", "HARTLOCK_KEY is neither the text of a key"),
        ("damaged", "HARTLOCK_KEY is no private key"),
        ("release.pub.pem", "HARTLOCK_KEY is a public key"),
    ] {
        let run = release(&repository, "b.hlk", &[("HARTLOCK_KEY", value)]);
        assert!(run.code == 2 && run.stderr.contains(says), "{value}: {run:#?}");
        assert!(!repository.bench.path("b.hlk").exists());
    }
}

#[test]
fn the_script_takes_several_signers_and_a_passphrase() {
    let repository = Repository::new();
    let secret = [("PASS", "two words")];
    let keygen = "hartlock keygen --algorithm ml-dsa-44 --passphrase-env PASS -o second.pem";
    assert_eq!(repository.shell(keygen, &secret).code, 0);
    let second = String::from_utf8(repository.bench.read("second.pem")).unwrap();
    fs::remove_file(repository.bench.path("second.pem")).unwrap();
    let mut variables = vec![
        ("HARTLOCK_PUBLIC_KEY", "release.pub.pem:second.pub.pem"),
        ("HARTLOCK_KEY_2", second.as_str()),
        ("HARTLOCK_PASSPHRASE", "two words"),
    ];
    let run = release(&repository, "a.hlk", &variables);
    assert_eq!(run.code, 0, "{run:#?}");
    let text = fs::read_to_string(repository.bench.path("a.hlk.json")).unwrap();
    let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(shown["signatures"].as_array().unwrap().len(), 2, "{text}");
    // Whoever has one of the two public keys alone refuses the bundle, and it does not get its name.
    let before = repository.bench.read("a.hlk");
    let only = [("HARTLOCK_PUBLIC_KEY", "second.pub.pem"), ("HARTLOCK_FLOOR", "5")];
    let run = release(&repository, "a.hlk", &[&variables[1..], &only].concat());
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(repository.bench.read("a.hlk") == before);
    variables.pop();
    let run = release(&repository, "a.hlk", &variables);
    assert!(run.code != 0 && !run.stderr.contains("BEGIN"), "{run:#?}");
    let mut left = repository.new_files();
    left.sort();
    assert_eq!(left, ["a.hlk", "a.hlk.json", "second.pub.pem"]);
}

#[test]
fn the_script_replaces_a_bundle_and_nothing_else() {
    let repository = Repository::new();
    repository.bench.write("notes", b"of the release");
    repository.bench.write("c.hlk.json", b"{}");
    repository.shell("mkdir folder", &[]);
    for output in ["release.pub.pem", "system.toml", "linux", "notes", "c.hlk", "folder"] {
        let before = fs::read(repository.bench.path(output)).ok();
        let run = release(&repository, output, &[]);
        assert!(run.code == 2 && run.stderr.contains(output), "{output}: {run:#?}");
        assert!(fs::read(repository.bench.path(output)).ok() == before, "{output}");
        assert!(!repository.bench.path(&format!("{output}.json.json")).exists());
    }
}

#[test]
fn the_script_signs_with_no_key_that_counts_its_signatures() {
    let repository = Repository::new();
    let keygen = "hartlock keygen --algorithm lms-sha256-h5-w8 -o lms.pem";
    assert_eq!(repository.shell(keygen, &[]).code, 0);
    let key = repository.bench.read("lms.pem");
    let run = release(&repository, "a.hlk", &[("HARTLOCK_KEY", "lms.pem")]);
    assert!(run.code == 2 && run.stderr.contains("counts its signatures"), "{run:#?}");
    assert!(repository.bench.read("lms.pem") == key && !repository.bench.path("a.hlk").exists());
}

#[test]
fn the_script_prints_no_key_where_commands_are_printed() {
    let repository = Repository::new();
    let secret = repository.key.lines().nth(1).unwrap();
    let command = "sh -x $(command -v hartlock-release) system.toml a.hlk";
    let variables =
        [("HARTLOCK_KEY", repository.key.as_str()), ("HARTLOCK_PUBLIC_KEY", "release.pub.pem")];
    let run = repository.shell(command, &variables);
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(!run.stdout.contains(secret) && !run.stderr.contains(secret), "the key is printed");
}

#[test]
fn the_action_ends_where_something_is_missing_or_refused() {
    let repository = Repository::new();
    let run = repository.action(&INPUTS, "");
    assert!(run.code == 2 && run.stderr.contains("HARTLOCK_KEY is empty"), "{run:#?}");
    let with = |name, value| {
        let mut inputs: Vec<_> = INPUTS.into_iter().filter(|input| input.0 != name).collect();
        inputs.push((name, value));
        repository.action(&inputs, &repository.key)
    };
    assert_eq!(with("public-key", "none.pem").code, 2);
    let run = with("floor", "5");
    assert!(run.code == 1 && run.stderr.contains("E0603"), "{run:#?}");
    // An input that contains a command is not executed.
    let run = with("description", "x\"; touch pwned; \"");
    assert!(run.code != 0 && !repository.bench.path("pwned").exists(), "{run:#?}");
}

#[test]
fn the_job_signs_and_verifies() {
    let repository = Repository::new();
    let job = &parsed("gitlab/hartlock.yml")[".hartlock"];
    let mut variables: Vec<(&str, &str)> = job["variables"]
        .as_hash()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.as_str().unwrap(), value.as_str().unwrap()))
        .collect();
    variables.extend([
        ("DESCRIPTION", "system.toml"),
        ("OUTPUT", "gateway.hlk"),
        ("HARTLOCK_PUBLIC_KEY", "release.pub.pem"),
        ("HARTLOCK_KEY", repository.key.as_str()),
    ]);
    for line in job["script"].as_vec().unwrap() {
        let run = repository.shell(line.as_str().unwrap(), &variables);
        assert_eq!(run.code, 0, "{run:#?}");
    }
    for artifact in job["artifacts"]["paths"].as_vec().unwrap() {
        let name = artifact.as_str().unwrap().replace("$OUTPUT", "gateway.hlk");
        assert!(repository.bench.path(&name).exists(), "{name}");
    }
}

#[test]
fn the_container_takes_the_archive_of_this_version() {
    let text = fs::read_to_string(ci().join("Containerfile")).unwrap();
    let name = format!("hartlock-{}-x86_64-linux", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&format!("ADD target/dist/{name}.tar.gz /opt/\n")), "{text}");
    assert!(text.contains(&format!("ENV PATH=/opt/{name}/bin:$PATH\n")), "{text}");
    let copied = text.lines().find_map(|line| line.strip_prefix("COPY ")).unwrap();
    let source = copied.split(' ').next().unwrap();
    assert!(ci().join("../..").join(source).is_file(), "{source}");
}
