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
    fs::remove_file(repository.bench.path("gateway.hlk")).unwrap();
    fs::remove_file(repository.bench.path("gateway.hlk.json")).unwrap();
    assert_eq!(repository.action(&INPUTS, &repository.key).code, 0);
    assert_eq!(repository.bench.read("gateway.hlk"), first);
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
