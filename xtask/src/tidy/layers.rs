//! Dependencies point one way: `cli → sign → verify → {image, kernels}`.
//!
//! Read from the manifests themselves, because firmware is built apart from the workspace and
//! `cargo metadata` would not show it. Development dependencies may point anywhere in `crates/`:
//! they are never linked into what ships.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{Source, Tree};

/// What each layer may be built on. A new crate in `crates/` needs a line here: where it stands
/// is a decision.
const LAYERS: &[(&str, &[&str])] = &[
    ("crates/image", &[]),
    ("crates/kernels", &[]),
    ("crates/handoff", &["crates/image", "crates/kernels"]),
    ("crates/verify", &["crates/image", "crates/kernels", "crates/handoff"]),
    ("crates/sign", &["crates/image", "crates/kernels", "crates/verify", "crates/handoff"]),
    ("crates/regs", &[]),
    ("crates/emulator", &["crates/image", "crates/kernels", "crates/handoff", "crates/verify"]),
    ("crates/drivers", &["crates/image", "crates/kernels", "crates/regs", "crates/verify"]),
    ("crates/verify-capi", &["crates/image", "crates/kernels", "crates/handoff", "crates/verify"]),
    ("firmware/virt", &["crates/image", "crates/handoff", "crates/kernels", "crates/verify"]),
];

/// Host crates that firmware must not be built on.
const HOST_ONLY: [&str; 3] = ["crates/sign", "crates/cli", "crates/emulator"];

/// Nothing is built on these: they drive the project and are no part of it.
const TOP: [&str; 2] = ["xtask", "lab"];

/// Dependencies against the direction, and crates without a layer.
pub fn wrong_dependencies(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    let packages = Packages::read(tree, &mut findings);
    for package in &packages.all {
        for (dependency, ships) in package.dependencies(&packages) {
            if let Err(reason) = judge(&package.folder, &dependency, ships) {
                findings.push(package.source.finding(
                    1,
                    &format!("{} must not depend on {dependency}: {reason}", package.folder),
                ));
            }
        }
        if package.folder.starts_with("crates/") && layer(&package.folder).is_none() {
            findings.push(
                package
                    .source
                    .finding(1, "no layer for this crate; add it to xtask/src/tidy/layers.rs"),
            );
        }
    }
    findings
}

/// The folders that a crate in `crates/` may be built on; `None` for an unknown crate.
fn layer(folder: &str) -> Option<&'static [&'static str]> {
    let known = LAYERS.iter().find(|(name, _)| *name == folder).map(|(_, below)| *below);
    // The command stands above every library.
    known.or((folder == "crates/cli").then_some(&[]))
}

fn judge(from: &str, to: &str, ships: bool) -> Result<(), &'static str> {
    let is_under = |folder: &str, top: &str| {
        folder.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let in_same_top = |top: &str| is_under(from, top) && is_under(to, top);
    if TOP.iter().any(|top| is_under(to, top) && !in_same_top(top)) {
        return Err("nothing is built on the tools of the project");
    }
    if !ships {
        return Ok(());
    }
    if from == "crates/cli" {
        return if to.starts_with("crates/") { Ok(()) } else { Err("the command runs on a host") };
    }
    if let Some(below) = layer(from) {
        return if below.contains(&to) { Ok(()) } else { Err("it is not a layer below") };
    }
    if from.starts_with("firmware/") {
        if HOST_ONLY.contains(&to) {
            return Err("it is for the host only");
        }
        if to.starts_with("firmware/") && to != "firmware/virt" {
            return Err("boot stages share firmware/virt and nothing else");
        }
    }
    Ok(())
}

/// All packages of the tree, to translate a dependency's name into its folder.
struct Packages<'a> {
    all: Vec<Package<'a>>,
    folders: BTreeMap<String, String>,
    /// `[workspace.dependencies]`: the real package behind a name that members inherit.
    inherited: BTreeMap<String, String>,
}

struct Package<'a> {
    source: &'a Source,
    folder: String,
    manifest: Table,
}

impl<'a> Packages<'a> {
    fn read(tree: &'a Tree, findings: &mut Vec<String>) -> Packages<'a> {
        let mut packages =
            Packages { all: Vec::new(), folders: BTreeMap::new(), inherited: BTreeMap::new() };
        for source in &tree.files {
            let Some(folder) = source.path.strip_suffix("Cargo.toml") else { continue };
            let manifest: Table = match source.text.parse() {
                Ok(manifest) => manifest,
                Err(error) => {
                    findings.push(source.finding(1, &format!("not a manifest: {error}")));
                    continue;
                }
            };
            let shared = table(&manifest, "workspace").and_then(|it| table(it, "dependencies"));
            for (name, value) in shared.into_iter().flatten() {
                packages.inherited.insert(name.clone(), real_name(name, value));
            }
            let name = table(&manifest, "package").and_then(|it| it.get("name"));
            if let Some(name) = name.and_then(Value::as_str) {
                let folder = folder.trim_end_matches('/').to_owned();
                packages.folders.insert(name.to_owned(), folder.clone());
                packages.all.push(Package { source, folder, manifest });
            }
        }
        packages
    }
}

impl Package<'_> {
    /// Folders of the project that this package names, and whether they are linked into it.
    fn dependencies(&self, packages: &Packages) -> Vec<(String, bool)> {
        let for_targets = table(&self.manifest, "target").into_iter().flatten();
        let tables = for_targets.filter_map(|(_, value)| value.as_table());
        let mut found = Vec::new();
        for place in std::iter::once(&self.manifest).chain(tables) {
            for (kind, ships) in
                [("dependencies", true), ("build-dependencies", true), ("dev-dependencies", false)]
            {
                for (name, value) in table(place, kind).into_iter().flatten() {
                    let inherits = value.get("workspace").is_some();
                    let name = match packages.inherited.get(name) {
                        Some(real) if inherits => real.clone(),
                        _ => real_name(name, value),
                    };
                    found.extend(packages.folders.get(&name).map(|to| (to.clone(), ships)));
                }
            }
        }
        found
    }
}

fn table<'a>(parent: &'a Table, key: &str) -> Option<&'a Table> {
    parent.get(key)?.as_table()
}

/// A dependency may be renamed: `name = { package = "real-name", … }`.
fn real_name(name: &str, value: &Value) -> String {
    value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: (&str, &str) = ("crates/image/Cargo.toml", "package.name = \"hartlock-image\"");
    const SIGN: (&str, &str) = ("crates/sign/Cargo.toml", "package.name = \"hartlock-sign\"");

    fn with(path: &str, text: &str) -> Vec<String> {
        let workspace =
            "[workspace.dependencies]\nkeys = { package = \"hartlock-sign\", path = \"x\" }";
        wrong_dependencies(&Tree::of_texts([
            ("Cargo.toml", workspace),
            IMAGE,
            SIGN,
            ("xtask/Cargo.toml", "package.name = \"xtask\""),
            (path, text),
        ]))
    }

    #[test]
    fn finds_a_dependency_against_the_direction() {
        let verify = "package.name = \"hartlock-verify\"\n";
        for wrong in [
            "[dependencies]\nhartlock-sign.path = \"../sign\"",
            "[build-dependencies]\nhartlock-sign.path = \"../sign\"",
            "[target.'cfg(unix)'.dependencies]\nhartlock-sign.path = \"../sign\"",
            "[dependencies]\nkeys.workspace = true",
            "[dependencies]\nk = { package = \"hartlock-sign\", path = \"../sign\" }",
        ] {
            let found = with("crates/verify/Cargo.toml", &format!("{verify}{wrong}"));
            assert_eq!(found.len(), 1, "{wrong}: {found:?}");
            assert!(found[0].contains("must not depend on crates/sign"), "{found:?}");
        }
    }

    #[test]
    fn accepts_the_layers_below_and_tests_that_reach_up() {
        let text = "package.name = \"hartlock-verify\"\n\
                    [dependencies]\nhartlock-image.path = \"../image\"\nsha2 = \"0.11\"\n\
                    [dev-dependencies]\nhartlock-sign.path = \"../sign\"";
        assert_eq!(with("crates/verify/Cargo.toml", text), [""; 0]);
    }

    #[test]
    fn firmware_is_never_built_on_host_crates() {
        let rom = "package.name = \"rom\"\n[dependencies]\nhartlock-sign.path = \"x\"";
        assert_eq!(with("firmware/rom/Cargo.toml", rom).len(), 1);
        let rom = "package.name = \"rom\"\n[dependencies]\nhartlock-image.path = \"x\"";
        assert_eq!(with("firmware/rom/Cargo.toml", rom), [""; 0]);
    }

    #[test]
    fn nothing_is_built_on_xtask_not_even_a_test() {
        let text = "package.name = \"rom\"\n[dev-dependencies]\nxtask.path = \"x\"";
        assert_eq!(with("firmware/rom/Cargo.toml", text).len(), 1);
    }

    #[test]
    fn a_new_crate_needs_a_layer() {
        let found = with("crates/novel/Cargo.toml", "package.name = \"hartlock-novel\"");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("no layer"), "{found:?}");
    }
}
