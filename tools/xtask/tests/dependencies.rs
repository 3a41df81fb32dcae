//! Tests that dependencies between the packages of this repository, including those of tests, point one way.

use std::fs;
use std::path::Path;
use std::process::Command;

use cargo_metadata::{Dependency, DependencyKind, MetadataCommand, Package};
use xtask::{project, run};

/// The dependencies of the root of the trusted code: none.
const NOTHING: &[&str] = &[];

/// Folders, and what the packages below them may depend on. Of several rows the one with the longest folder counts.
const RULES: &[(&[&str], &[&str])] = &[
    (&["device/algorithm", "device/regs", "device/svu"], NOTHING),
    (&["device/image", "device/kernels"], &["device/algorithm"]),
    (&["device/handoff"], &["device/image", "device/kernels"]),
    (&["device/verify"], &["device/handoff", "device/image", "device/kernels"]),
    (&["device/drivers"], &["device/image", "device/kernels", "device/regs", "device/verify"]),
    (&["device/boards"], &["device/image", "device/verify"]),
    (&["device/keystore"], &["device/drivers", "device/kernels", "device/regs"]),
    (&["device"], &["device"]),
    (&["host/first-stage"], &["device/image", "device/kernels", "device/verify"]),
    (&["host/files", "host/terminal", "tools/xtask"], NOTHING),
    (&["host"], &["device", "host"]),
    (&["tools"], &["device", "host", "tools"]),
    (&["verif"], &["device", "host", "tools", "verif"]),
    (&["lab"], &["device", "host", "tools", "verif", "lab"]),
];

/// Returns the packages of all workspaces, each with its folder.
fn packages() -> Vec<(String, Package)> {
    let root = project::root();
    let mut git = Command::new("git");
    git.arg("-c").arg(format!("safe.directory={}", root.display())).current_dir(&root);
    let files = run::quietly(git.args(["ls-files", "*Cargo.toml"])).unwrap();
    let mut packages = Vec::new();
    for file in files.lines().map(|file| root.join(file)).filter(|file| file.is_file()) {
        if fs::read_to_string(&file).unwrap().lines().any(|line| line == "[workspace]") {
            let metadata = MetadataCommand::new().manifest_path(&file).no_deps().exec().unwrap();
            packages.extend(metadata.packages);
        }
    }
    let folder =
        |package: &Package| folder_of(package.manifest_path.parent().unwrap().as_std_path());
    packages.into_iter().map(|package| (folder(&package), package)).collect()
}

/// Returns a folder in the form of the rules, relative to the root.
fn folder_of(path: &Path) -> String {
    path.strip_prefix(project::root()).unwrap().to_str().unwrap().to_owned()
}

/// Returns the folder of a dependency if it is a package of this repository.
fn target(dependency: &Dependency) -> Option<String> {
    dependency.path.as_ref().map(|path| folder_of(path.as_std_path()))
}

fn is_below(folder: &str, top: &str) -> bool {
    folder.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns true if the rules allow the dependency, or `None` for a folder without a rule.
fn may_depend(from: &str, to: &str) -> Option<bool> {
    let row = |top: &&str| is_below(from, top).then_some(top.len());
    let rank = |(tops, _): &(&[&str], _)| tops.iter().filter_map(row).max();
    let rules = RULES.iter().filter_map(|rule| Some((rank(rule)?, rule.1)));
    let (_, allowed) = rules.max_by_key(|(rank, _)| *rank)?;
    Some(from == to || allowed.iter().any(|top| is_below(to, top)))
}

#[test]
fn dependencies_point_one_way() {
    let mut wrong = Vec::new();
    for (folder, package) in packages() {
        for to in package.dependencies.iter().filter_map(target) {
            if may_depend(&folder, &to) != Some(true) {
                wrong.push(format!("{folder} must not depend on {to}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn rules_forbid_what_they_are_for() {
    for (from, to) in [
        ("device/verify", "host/bundle"),
        ("device/image", "device/kernels"),
        ("device/rom", "host/files"),
        ("device/rom", "verif/programs/probe"),
        ("device/rom", "tools/xtask"),
        ("host/cli", "verif/testkit"),
        ("host/cli", "tools/gen"),
        ("tools/gen", "verif/testkit"),
        ("verif/machines/run", "lab"),
        ("tools/xtask", "device/image"),
    ] {
        assert_eq!(may_depend(from, to), Some(false), "{from} {to}");
    }
    assert_eq!(may_depend("host/cli", "device/verify"), Some(true));
    assert_eq!(may_depend("verif/programs/probe", "device/virt"), Some(true));
    assert_eq!(may_depend("crates/novel", "device/image"), None);
}

#[test]
fn nothing_of_others_is_linked_into_a_device() {
    for (folder, package) in packages() {
        for dependency in &package.dependencies {
            let is_linked = dependency.kind != DependencyKind::Development;
            let is_of_device = is_below(&folder, "device");
            assert!(
                !(is_linked && is_of_device && dependency.path.is_none()),
                "{folder} depends on {}",
                dependency.name
            );
        }
    }
}

/// A signature scheme that is broken has the feature `research`. Known answers, the bench and the lab select it, and nothing of a
/// device: `virt` passes it on to the kernels.
#[test]
fn no_stage_selects_a_broken_scheme() {
    let mut selecting = Vec::new();
    for (folder, package) in packages() {
        let mut names = package.dependencies.iter().flat_map(|it| &it.features);
        let mut passed_on = package.features.iter().filter(|(name, _)| *name != "research");
        if names.any(|name| name == "research")
            || passed_on.any(|(_, what)| what.iter().any(|it| it.ends_with("research")))
        {
            selecting.push(folder);
        }
    }
    selecting.sort();
    assert_eq!(selecting, ["host/kat", "lab", "verif/programs/bench"]);
}

#[test]
fn every_dependency_is_used() {
    for (folder, package) in packages() {
        let sources = sources(&project::root().join(&folder));
        for dependency in &package.dependencies {
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name).replace('-', "_");
            let uses = [format!("{name}::"), format!("use {name} "), format!("use {name};")];
            let mut lines = sources.lines().filter(|line| !line.trim_start().starts_with("//"));
            let is_used = lines.any(|line| uses.iter().any(|it| line.contains(it.as_str())));
            assert!(is_used, "{folder} does not use {}", dependency.name);
        }
    }
}

/// Returns the text of all Rust sources below a folder.
fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            text += &sources(&path);
        } else if path.extension().is_some_and(|it| it == "rs") {
            text += &fs::read_to_string(&path).unwrap();
        }
    }
    text
}
