//! Dependencies point one way: `cli → sign → verify → {image, kernels}`.
//!
//! Read from the manifests themselves: `fuzz` and the programs of `lab` are workspaces of their own, so
//! one `cargo metadata` would not show them, and a finding names the line of a manifest. Development
//! dependencies may point anywhere in `crates/`: they are never linked into what ships.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::safety::code_of;
use super::text::has_word;
use super::tree::{Source, Tree};

/// What each layer may be built on. A new crate in `crates/` needs a line here: its place
/// is a decision.
const LAYERS: &[(&str, &[&str])] = &[
    ("crates/algorithm", &[]),
    ("crates/image", &["crates/algorithm"]),
    ("crates/kernels", &["crates/algorithm"]),
    ("crates/handoff", &["crates/image", "crates/kernels"]),
    ("crates/verify", &["crates/image", "crates/kernels", "crates/handoff"]),
    ("crates/files", &[]),
    ("crates/keys", &["crates/files", "crates/image", "crates/verify"]),
    (
        "crates/bundle",
        &["crates/files", "crates/image", "crates/kernels", "crates/keys", "crates/verify"],
    ),
    ("crates/regs", &[]),
    ("crates/timeline", &["crates/handoff", "crates/image"]),
    (
        "crates/emulator",
        &["crates/image", "crates/kernels", "crates/handoff", "crates/timeline", "crates/verify"],
    ),
    (
        "crates/kat",
        &["crates/image", "crates/kernels", "crates/verify", "crates/bundle", "crates/emulator"],
    ),
    ("crates/drivers", &["crates/image", "crates/kernels", "crates/regs", "crates/verify"]),
    ("crates/verify-capi", &["crates/image", "crates/kernels", "crates/handoff", "crates/verify"]),
    (
        "firmware/virt",
        &[
            "crates/drivers",
            "crates/handoff",
            "crates/image",
            "crates/kernels",
            "crates/verify",
            "firmware/stage",
        ],
    ),
    ("firmware/stage", &["crates/handoff", "crates/image", "crates/kernels", "crates/verify"]),
    ("firmware/rot", &[]),
    (
        "firmware/tests/footprint",
        &["crates/image", "crates/kernels", "crates/verify", "firmware/virt"],
    ),
];

/// Host crates that firmware must not be built on.
const HOST_ONLY: [&str; 6] = [
    "crates/files",
    "crates/keys",
    "crates/bundle",
    "crates/cli",
    "crates/emulator",
    "crates/timeline",
];

/// What programs share: what the stages have in common, and the support of their board, the host's or the
/// root of trust's.
const SHARED: [&str; 3] = ["firmware/stage", "firmware/virt", "firmware/rot"];

/// These drive the project and are no part of it. They may be built on each other, nothing else on them.
const WORKSHOP: [&str; 8] =
    ["xtask", "crates/testkit", "docs/builder", "fuzz", "hw/run", "lab", "tests/device", "tools"];

/// What tests may use of the workshop.
const TEST_KIT: &str = "crates/testkit";

/// Fetches and builds, and knows nothing of what the product is made of.
const DRIVER: &str = "xtask";

/// Dependencies against the direction, and crates without a layer.
pub fn wrong_dependencies(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    let packages = Packages::read(tree, &mut findings);
    for package in &packages.all {
        for dependency in package.dependencies(&packages) {
            let Some(to) = dependency.folder else { continue };
            let ships = dependency.kind != Kind::Test;
            if let Err(reason) = judge(&package.folder, &to, ships) {
                let what = format!("{} must not depend on {to}: {reason}", package.folder);
                findings.push(package.source.finding(1, &what));
            }
        }
        let is_workshop = package.folder == TEST_KIT;
        if package.folder.starts_with("crates/") && !is_workshop && layer(&package.folder).is_none()
        {
            findings.push(
                package
                    .source
                    .finding(1, "no layer for this crate; add it to tools/tidy/src/layers.rs"),
            );
        }
    }
    findings
}

/// Dependencies, of ours or not, that no source of the crate names.
pub fn unused_dependencies(tree: &Tree) -> Vec<String> {
    // What cannot be read is a finding of the check above.
    let packages = Packages::read(tree, &mut Vec::new());
    let mut findings = Vec::new();
    for package in &packages.all {
        for Dependency { key, kind, .. } in package.dependencies(&packages) {
            let identifier = key.replace('-', "_");
            let mut sources = tree.files.iter().filter(|source| package.compiles(source, kind));
            if !sources.any(|source| names(source, &identifier)) {
                let line = package.source.lines().find(|(_, line)| line.starts_with(&key));
                let what = format!("{} does not use {key} {}", package.folder, kind.place());
                findings.push(package.source.finding(line.map_or(1, |(number, _)| number), &what));
            }
        }
    }
    findings
}

/// Whether a source has a path that begins with the crate, or imports it. Its name alone, in a
/// string for one, is no use.
fn names(source: &Source, identifier: &str) -> bool {
    let path = format!("{identifier}::");
    let import = format!("use {identifier}");
    source.lines().map(|(_, line)| code_of(line)).any(|code| {
        [&path, &import].iter().any(|wanted| code.contains(*wanted)) && has_word(code, identifier)
    })
}

/// The folders that a crate in `crates/` may be built on; `None` for an unknown crate.
fn layer(folder: &str) -> Option<&'static [&'static str]> {
    let known = LAYERS.iter().find(|(name, _)| *name == folder).map(|(_, below)| *below);
    // The command is above every library.
    known.or((folder == "crates/cli").then_some(&[]))
}

fn judge(from: &str, to: &str, ships: bool) -> Result<(), &'static str> {
    let is_under = |folder: &str, top: &str| {
        folder.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let in_workshop = |folder: &str| WORKSHOP.iter().any(|top| is_under(folder, top));
    if from == DRIVER {
        return Err("it fetches, builds and dispatches, and knows no other crate");
    }
    if in_workshop(to) && !in_workshop(from) && (ships || to != TEST_KIT) {
        return Err("nothing is built on the tools of the project");
    }
    if !ships || in_workshop(from) {
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
        if to.starts_with("firmware/") && !SHARED.contains(&to) {
            return Err(
                "programs share firmware/stage and the support of their board, and nothing else",
            );
        }
    }
    Ok(())
}

/// All packages of the tree, to translate a dependency's name into its folder.
struct Packages<'a> {
    all: Vec<Package<'a>>,
    folders: BTreeMap<String, String>,
    /// `[workspace.dependencies]`: the real package of a name that members inherit.
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

/// What a dependency is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What is built, and is linked into what ships.
    Normal,
    /// The build script.
    Build,
    /// Tests, and nothing that ships.
    Test,
}

impl Kind {
    /// Where it has to be used.
    const fn place(self) -> &'static str {
        match self {
            Self::Normal => "in src",
            Self::Build => "in build.rs",
            Self::Test => "in any test",
        }
    }
}

struct Dependency {
    /// Its name in the manifest, from which the name in the sources is made.
    key: String,
    /// Its folder, if it is one of ours.
    folder: Option<String>,
    kind: Kind,
}

impl Package<'_> {
    fn dependencies(&self, packages: &Packages) -> Vec<Dependency> {
        let for_targets = table(&self.manifest, "target").into_iter().flatten();
        let tables = for_targets.filter_map(|(_, value)| value.as_table());
        let mut found = Vec::new();
        for place in std::iter::once(&self.manifest).chain(tables) {
            for (section, kind) in [
                ("dependencies", Kind::Normal),
                ("build-dependencies", Kind::Build),
                ("dev-dependencies", Kind::Test),
            ] {
                for (key, value) in table(place, section).into_iter().flatten() {
                    let inherits = value.get("workspace").is_some();
                    let name = match packages.inherited.get(key) {
                        Some(real) if inherits => real.clone(),
                        _ => real_name(key, value),
                    };
                    let folder = packages.folders.get(&name).cloned();
                    found.push(Dependency { key: key.clone(), folder, kind });
                }
            }
        }
        found
    }

    /// Whether a dependency of this kind can be used in a source.
    fn compiles(&self, source: &Source, kind: Kind) -> bool {
        let inside = source.path.strip_prefix(&self.folder).and_then(|it| it.strip_prefix('/'));
        let Some(file) = inside.filter(|file| file.ends_with(".rs")) else { return false };
        match kind {
            // What a manifest of the lab measures has its code beside it.
            Kind::Normal => file.starts_with("src/") || file.starts_with("papers/"),
            Kind::Build => file == "build.rs" || file.starts_with("build/"),
            Kind::Test => true,
        }
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
    const BUNDLE: (&str, &str) = ("crates/bundle/Cargo.toml", "package.name = \"hartlock-bundle\"");

    fn with(path: &str, text: &str) -> Vec<String> {
        let workspace =
            "[workspace.dependencies]\nbundle = { package = \"hartlock-bundle\", path = \"x\" }";
        wrong_dependencies(&Tree::of_texts([
            ("Cargo.toml", workspace),
            IMAGE,
            BUNDLE,
            ("xtask/Cargo.toml", "package.name = \"xtask\""),
            (path, text),
        ]))
    }

    #[test]
    fn finds_a_dependency_against_the_direction() {
        let verify = "package.name = \"hartlock-verify\"\n";
        for wrong in [
            "[dependencies]\nhartlock-bundle.path = \"../bundle\"",
            "[build-dependencies]\nhartlock-bundle.path = \"../bundle\"",
            "[target.'cfg(unix)'.dependencies]\nhartlock-bundle.path = \"../bundle\"",
            "[dependencies]\nbundle.workspace = true",
            "[dependencies]\nk = { package = \"hartlock-bundle\", path = \"../bundle\" }",
        ] {
            let found = with("crates/verify/Cargo.toml", &format!("{verify}{wrong}"));
            assert_eq!(found.len(), 1, "{wrong}: {found:?}");
            assert!(found[0].contains("must not depend on crates/bundle"), "{found:?}");
        }
    }

    #[test]
    fn accepts_the_layers_below_and_tests_that_reach_up() {
        let text = "package.name = \"hartlock-verify\"\n\
                    [dependencies]\nhartlock-image.path = \"../image\"\nsha2 = \"0.11\"\n\
                    [dev-dependencies]\nhartlock-bundle.path = \"../bundle\"";
        assert_eq!(with("crates/verify/Cargo.toml", text), [""; 0]);
    }

    #[test]
    fn firmware_is_never_built_on_host_crates() {
        let rom = "package.name = \"rom\"\n[dependencies]\nhartlock-bundle.path = \"x\"";
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
    fn xtask_knows_no_other_crate_and_tests_may_use_the_testkit() {
        let text = "package.name = \"xtask\"\n[dependencies]\nhartlock-bundle.path = \"x\"";
        let found = with("xtask/Cargo.toml", text);
        assert!(found.iter().any(|found| found.contains("knows no other crate")), "{found:?}");
        let kit = ("crates/testkit/Cargo.toml", "package.name = \"hartlock-testkit\"");
        let using = |section: &str| {
            let text = format!(
                "package.name = \"hartlock-verify\"\n[{section}]\nhartlock-testkit.path = \"x\""
            );
            let verify = ("crates/verify/Cargo.toml", &*text);
            wrong_dependencies(&Tree::of_texts([kit, verify])).len()
        };
        assert_eq!(using("dependencies"), 1);
        assert_eq!(using("dev-dependencies"), 0);
    }

    /// Findings in a crate whose `lib.rs` and test have these texts.
    fn unused(dependencies: &str, lib: &str, test: &str) -> Vec<String> {
        let manifest = format!("package.name = \"hartlock-verify\"\n{dependencies}");
        unused_dependencies(&Tree::of_texts([
            IMAGE,
            ("crates/verify/Cargo.toml", &manifest),
            ("crates/verify/src/lib.rs", lib),
            ("crates/verify/tests/all.rs", test),
            ("crates/verify/build.rs", "use toml::Table;\n"),
            ("crates/other/src/lib.rs", "use hartlock_image::Reason;\nuse spin as _;\n"),
        ]))
    }

    const ON_IMAGE: &str = "[dependencies]\nhartlock-image.path = \"../image\"\n";

    #[test]
    fn finds_dependencies_that_no_source_names() {
        for (dependencies, lib, expected) in [
            (ON_IMAGE, "", "hartlock-image in src"),
            (ON_IMAGE, "// hartlock_image is not used\n", "hartlock-image in src"),
            (ON_IMAGE, "use hartlock_images::A;\n", "hartlock-image in src"),
            (ON_IMAGE, "let name = \"hartlock_image\";\n", "hartlock-image in src"),
            ("[target.'cfg(unix)'.dependencies]\nspin = \"1\"", "", "spin in src"),
            (
                "[dependencies]\ni = { package = \"hartlock-image\" }",
                "use hartlock_image::A;",
                "i in",
            ),
            ("[build-dependencies]\nspin = \"1\"", "use spin::Lock;\n", "spin in build.rs"),
            ("[dev-dependencies]\nspin = \"1\"", "", "spin in any test"),
        ] {
            let found = unused(dependencies, lib, "");
            assert_eq!(found.len(), 1, "{dependencies}: {found:?}");
            assert!(found[0].contains(expected), "{found:?}");
        }
        // Used by tests alone, it would be linked for nothing.
        let found = unused(ON_IMAGE, "", "use hartlock_image::Reason;\n");
        assert_eq!(
            found,
            ["crates/verify/Cargo.toml:3: crates/verify does not use hartlock-image in src"]
        );
    }

    #[test]
    fn accepts_dependencies_where_they_are_used() {
        for (dependencies, lib, test) in [
            (ON_IMAGE, "use hartlock_image::Reason;\n", ""),
            (ON_IMAGE, "let a = hartlock_image::Reason::A; // why\n", ""),
            ("[dependencies]\ni = { package = \"hartlock-image\" }", "use i::Reason;\n", ""),
            ("[build-dependencies]\ntoml = \"1\"", "", ""),
            ("[dependencies]\nspin = \"1\"", "use spin as _;\n", ""),
            ("[dev-dependencies]\nspin = \"1\"", "", "use spin::Lock;\n"),
            ("[dev-dependencies]\nspin = \"1\"", "use spin::Lock;\n", ""),
        ] {
            assert_eq!(unused(dependencies, lib, test), [""; 0], "{dependencies}");
        }
    }

    #[test]
    fn a_new_crate_needs_a_layer() {
        let found = with("crates/novel/Cargo.toml", "package.name = \"hartlock-novel\"");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("no layer"), "{found:?}");
    }
}
