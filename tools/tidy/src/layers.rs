//! Dependencies point one way: `cli → bundle → keys → verify → {image, kernels}`.
//!
//! Development dependencies may point anywhere in `crates/`: they are never linked into what ships.

use super::packages::{Dependency, Kind, Package};
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
    ("crates/boards", &["crates/files", "crates/image", "crates/verify"]),
    ("crates/files", &[]),
    ("crates/terminal", &[]),
    ("crates/keys", &["crates/files", "crates/image", "crates/verify"]),
    (
        "crates/bundle",
        &[
            "crates/boards",
            "crates/files",
            "crates/image",
            "crates/kernels",
            "crates/keys",
            "crates/verify",
        ],
    ),
    ("crates/regs", &[]),
    ("crates/timeline", &["crates/handoff", "crates/image"]),
    (
        "crates/emulator",
        &[
            "crates/boards",
            "crates/files",
            "crates/handoff",
            "crates/image",
            "crates/kernels",
            "crates/terminal",
            "crates/timeline",
            "crates/verify",
        ],
    ),
    (
        "crates/kat",
        &[
            "crates/image",
            "crates/kernels",
            "crates/verify",
            "crates/bundle",
            "crates/emulator",
            "crates/terminal",
        ],
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
    ("firmware/rot", &["crates/drivers", "crates/image", "crates/regs"]),
    ("firmware/svu", &[]),
    (
        "firmware/tests/footprint",
        &["crates/image", "crates/kernels", "crates/verify", "firmware/virt"],
    ),
];

/// Host crates that firmware must not be built on.
const HOST_ONLY: [&str; 8] = [
    "crates/boards",
    "crates/files",
    "crates/terminal",
    "crates/keys",
    "crates/bundle",
    "crates/cli",
    "crates/emulator",
    "crates/timeline",
];

/// What programs share: what the stages have in common, and the support of their board, the host's or the
/// root of trust's, or of the host beside a verification unit.
const SHARED: [&str; 4] = ["firmware/stage", "firmware/virt", "firmware/rot", "firmware/svu"];

/// A program, and one whose library it shares: what the first-stage loader decides, a root of trust decides as well.
const LIBRARIES: [(&str, &str); 1] = [("firmware/rot-rom", "firmware/fsbl")];

/// These drive the project and are no part of it. They may be built on each other, nothing else on them.
const WORKSHOP: [&str; 9] = [
    "xtask",
    "crates/testkit",
    "docs/builder",
    "fuzz",
    "hw/run",
    "lab",
    "tests/device",
    "tests/fault",
    "tools",
];

/// What tests may use of the workshop.
const TEST_KIT: &str = "crates/testkit";

/// Fetches and builds, and knows nothing of what the product is made of.
const DRIVER: &str = "xtask";

/// Dependencies against the direction, and crates without a layer.
pub fn wrong_dependencies(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        for Dependency { key, folder, kind } in &package.dependencies {
            let Some(to) = folder else { continue };
            if let Err(reason) = judge(&package.folder, to, *kind != Kind::Test) {
                let what = format!("{} must not depend on {to}: {reason}", package.folder);
                findings.push(finding(tree, package, key, &what));
            }
        }
        let is_workshop = package.folder == TEST_KIT;
        if package.folder.starts_with("crates/") && !is_workshop && layer(&package.folder).is_none()
        {
            let what = "no layer for this crate; add it to tools/tidy/src/layers.rs";
            findings.push(finding(tree, package, "[package]", what));
        }
    }
    findings
}

/// Dependencies, of ours or not, that no source of the crate names.
pub fn unused_dependencies(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        for Dependency { key, kind, .. } in &package.dependencies {
            let identifier = key.replace('-', "_");
            let mut sources = tree.files.iter().filter(|source| compiles(package, source, *kind));
            if !sources.any(|source| names(source, &identifier)) {
                let what = format!("{} does not use {key} {}", package.folder, place(*kind));
                findings.push(finding(tree, package, key, &what));
            }
        }
    }
    findings
}

/// A finding at the line of a manifest that begins with `start`.
fn finding(tree: &Tree, package: &Package, start: &str, what: &str) -> String {
    let path = format!("{}/Cargo.toml", package.folder);
    let manifest = tree.get(&path);
    let line = manifest.and_then(|it| it.lines().find(|(_, line)| line.starts_with(start)));
    format!("{path}:{}: {what}", line.map_or(1, |(number, _)| number))
}

/// Where a dependency has to be used.
const fn place(kind: Kind) -> &'static str {
    match kind {
        Kind::Normal => "in src",
        Kind::Build => "in build.rs",
        Kind::Test => "in any test",
    }
}

/// Whether a dependency of this kind can be used in a source.
fn compiles(package: &Package, source: &Source, kind: Kind) -> bool {
    let inside = source.path.strip_prefix(&package.folder).and_then(|it| it.strip_prefix('/'));
    let Some(file) = inside.filter(|file| file.ends_with(".rs")) else { return false };
    match kind {
        // What a manifest of the lab measures has its code beside it.
        Kind::Normal => file.starts_with("src/") || file.starts_with("papers/"),
        Kind::Build => file == "build.rs" || file.starts_with("build/"),
        Kind::Test => true,
    }
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
        let is_library = LIBRARIES.contains(&(from, to));
        if to.starts_with("firmware/") && !SHARED.contains(&to) && !is_library {
            return Err(
                "programs share firmware/stage and the support of their board, and nothing else",
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependency(key: &str, folder: Option<&str>, kind: Kind) -> Dependency {
        Dependency { key: key.into(), folder: folder.map(str::to_owned), kind }
    }

    /// Findings if the package of a folder depends on that of another.
    fn with(folder: &str, to: &str, kind: Kind) -> Vec<String> {
        let key = to.rsplit('/').next().unwrap();
        let dependencies = vec![dependency(key, Some(to), kind)];
        let mut tree = Tree::of_texts([]);
        tree.packages = vec![Package { folder: folder.into(), roots: vec![], dependencies }];
        wrong_dependencies(&tree)
    }

    #[test]
    fn finds_a_dependency_against_the_direction() {
        for kind in [Kind::Normal, Kind::Build] {
            let found = with("crates/verify", "crates/bundle", kind);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains("must not depend on crates/bundle"), "{found:?}");
        }
    }

    #[test]
    fn accepts_the_layers_below_and_tests_that_reach_up() {
        assert_eq!(with("crates/verify", "crates/image", Kind::Normal), [""; 0]);
        assert_eq!(with("crates/verify", "crates/bundle", Kind::Test), [""; 0]);
    }

    #[test]
    fn firmware_is_never_built_on_host_crates() {
        assert_eq!(with("firmware/rom", "crates/bundle", Kind::Normal).len(), 1);
        assert_eq!(with("firmware/rom", "crates/image", Kind::Normal), [""; 0]);
    }

    #[test]
    fn one_program_shares_the_library_of_another() {
        assert_eq!(with("firmware/rot-rom", "firmware/fsbl", Kind::Normal), [""; 0]);
        assert_eq!(with("firmware/rom", "firmware/fsbl", Kind::Normal).len(), 1);
        assert_eq!(with("firmware/fsbl", "firmware/rot-rom", Kind::Normal).len(), 1);
    }

    #[test]
    fn nothing_is_built_on_xtask_not_even_a_test() {
        assert_eq!(with("firmware/rom", "xtask", Kind::Test).len(), 1);
    }

    #[test]
    fn xtask_knows_no_other_crate_and_tests_may_use_the_testkit() {
        let found = with("xtask", "crates/bundle", Kind::Normal);
        assert!(found[0].contains("knows no other crate"), "{found:?}");
        assert_eq!(with("crates/verify", "crates/testkit", Kind::Normal).len(), 1);
        assert_eq!(with("crates/verify", "crates/testkit", Kind::Test).len(), 0);
    }

    const IMAGE: &str = "hartlock-image";

    /// Findings in a crate with this dependency, whose `lib.rs` and test have these texts.
    fn unused(key: &str, kind: Kind, lib: &str, test: &str) -> Vec<String> {
        let manifest = format!("[package]\n[dependencies]\n{key}.path = \"x\"\n");
        let mut tree = Tree::of_texts([
            ("crates/verify/Cargo.toml", &manifest),
            ("crates/verify/src/lib.rs", lib),
            ("crates/verify/tests/all.rs", test),
            ("crates/verify/build.rs", "use toml::Table;\n"),
            ("crates/other/src/lib.rs", "use hartlock_image::Reason;\nuse spin as _;\n"),
        ]);
        let dependencies = vec![dependency(key, None, kind)];
        tree.packages =
            vec![Package { folder: "crates/verify".into(), roots: vec![], dependencies }];
        unused_dependencies(&tree)
    }

    #[test]
    fn finds_dependencies_that_no_source_names() {
        for (key, kind, lib, expected) in [
            (IMAGE, Kind::Normal, "", "hartlock-image in src"),
            (IMAGE, Kind::Normal, "// hartlock_image is not used\n", "hartlock-image in src"),
            (IMAGE, Kind::Normal, "use hartlock_images::A;\n", "hartlock-image in src"),
            (IMAGE, Kind::Normal, "let name = \"hartlock_image\";\n", "hartlock-image in src"),
            ("i", Kind::Normal, "use hartlock_image::A;", "i in"),
            ("spin", Kind::Build, "use spin::Lock;\n", "spin in build.rs"),
            ("spin", Kind::Test, "", "spin in any test"),
        ] {
            let found = unused(key, kind, lib, "");
            assert_eq!(found.len(), 1, "{key}: {found:?}");
            assert!(found[0].contains(expected), "{found:?}");
        }
        // Used by tests alone, it would be linked for nothing.
        let found = unused(IMAGE, Kind::Normal, "", "use hartlock_image::Reason;\n");
        assert_eq!(
            found,
            ["crates/verify/Cargo.toml:3: crates/verify does not use hartlock-image in src"]
        );
    }

    #[test]
    fn accepts_dependencies_where_they_are_used() {
        for (key, kind, lib, test) in [
            (IMAGE, Kind::Normal, "use hartlock_image::Reason;\n", ""),
            (IMAGE, Kind::Normal, "let a = hartlock_image::Reason::A; // why\n", ""),
            ("i", Kind::Normal, "use i::Reason;\n", ""),
            ("toml", Kind::Build, "", ""),
            ("spin", Kind::Normal, "use spin as _;\n", ""),
            ("spin", Kind::Test, "", "use spin::Lock;\n"),
            ("spin", Kind::Test, "use spin::Lock;\n", ""),
        ] {
            assert_eq!(unused(key, kind, lib, test), [""; 0], "{key}");
        }
    }

    #[test]
    fn a_new_crate_needs_a_layer() {
        let found = with("crates/novel", "crates/image", Kind::Test);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("no layer"), "{found:?}");
    }
}
