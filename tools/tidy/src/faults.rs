//! Checks that faults of tests are never built into firmware for users.
//!
//! A stage declares each fault as a feature of its own. Cargo enables every requested feature, so
//! only tests may request one: no default, no other crate, no build of a release or of the demo.

use super::tree::{Source, Tree};

/// The prefix of such a feature. In two parts, here and in the tests below, or this file would be the
/// first finding.
const PREFIX: &str = concat!("inj", "ect-");

/// Requests all features, these included.
const EVERY_FEATURE: &str = concat!("--all-", "features");

/// Reads manifests with every feature for cargo-deny, and builds nothing.
const WITHOUT_BUILD: &str = "xtask/src/deny.rs";

/// Names commands for readers.
const STATUS: &str = "docs/status.toml";

/// Tests that boot stages with faults: a folder or file, and the function if not all of it may.
const TESTS: [(&str, Option<&str>); 3] = [
    ("tests/device/src/boots/", None),
    // A trap beside an engine that has a key, which no board of the emulator has.
    ("hw/run/src/machines/tee_boot.rs", Some("fn with_trap")),
    // Tests the check for panics on a stage that can panic.
    ("xtask/src/firmware.rs", Some("fn gates")),
];

/// The cost of verification is measured against firmware without it: a function each builds these, and
/// no other fault.
const MEASUREMENTS: [(&str, &str, &[&str]); 2] = [
    (
        "tests/device/src/demo/measure.rs",
        "fn variants",
        &[concat!("inj", "ect-unverified"), concat!("inj", "ect-one-hart")],
    ),
    ("hw/run/src/machines/loader.rs", "fn features", &[concat!("inj", "ect-load-first")]),
];

/// Faults that are named where code other than a test could request them.
pub fn misplaced_faults(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    // Pages do not build anything, and that file is made into one.
    let is_page = |source: &&Source| source.extension() == "md" || source.path == STATUS;
    for source in tree.files.iter().filter(|source| !is_page(source)) {
        for (number, line) in source.lines() {
            for fault in faults(line) {
                let is_allowed = is_own(tree, source, line, fault)
                    || is_test(source, number)
                    || is_measurement(source, number, fault);
                if !is_allowed {
                    let what =
                        format!("{fault} is a fault for tests; only {} asks for it", TESTS[0].0);
                    findings.push(source.finding(number, &what));
                }
            }
            if line.contains(EVERY_FEATURE) && source.path != WITHOUT_BUILD {
                let what = format!("{EVERY_FEATURE} asks for every fault of the tests");
                findings.push(source.finding(number, &what));
            }
        }
    }
    findings
}

/// The features that a line names, and beginnings of names that it puts together.
fn faults(line: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    line.match_indices(PREFIX).map(move |(at, _)| {
        let rest = &line[at..];
        &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
    })
}

/// Whether a firmware crate declares its own fault, or its sources contain it.
fn is_own(tree: &Tree, source: &Source, line: &str, fault: &str) -> bool {
    let mut parts = source.path.splitn(3, '/');
    let (Some("firmware"), Some(name), Some(file)) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    if file == "Cargo.toml" {
        return declared(line).is_some();
    }
    let manifest = tree.get(&format!("firmware/{name}/Cargo.toml"));
    // Not the build script: it can switch features on.
    file.starts_with("src/")
        && manifest.is_some_and(|it| it.lines().any(|(_, line)| declared(line) == Some(fault)))
}

/// The fault that a line of a manifest declares: `fault = […]`. What it brings in is a fault too.
fn declared(line: &str) -> Option<&str> {
    let name = line.split('=').next()?.trim();
    (line.contains('=') && name.starts_with(PREFIX)).then_some(name)
}

fn is_test(source: &Source, number: usize) -> bool {
    TESTS.iter().any(|(place, function)| match function {
        None => source.path.starts_with(place),
        Some(function) => source.path == *place && is_in_function(source, number, function),
    })
}

fn is_measurement(source: &Source, number: usize, fault: &str) -> bool {
    MEASUREMENTS.iter().any(|(path, function, faults)| {
        faults.contains(&fault) && source.path == *path && is_in_function(source, number, function)
    })
}

/// Whether a line is in this function: the last that begins above it at the margin.
fn is_in_function(source: &Source, number: usize, function: &str) -> bool {
    let begins = |line: &&str| line.starts_with("fn ") || line.starts_with("pub fn ");
    let above = source.lines().take_while(|(at, _)| *at < number).map(|(_, line)| line);
    let last = above.filter(begins).last();
    last.is_some_and(|line| line.trim_start_matches("pub ").starts_with(&format!("{function}(")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAP: &str = concat!("inj", "ect-trap");
    const OTHER: &str = concat!("inj", "ect-other");

    /// Findings in a file beside a loader that declares one fault.
    fn findings(path: &str, text: &str) -> Vec<String> {
        let loader = format!("[package]\nname = \"hartlock-loader\"\n\n[features]\n{TRAP} = []\n");
        let code = format!("//! See {TRAP}.\n#[cfg(feature = \"{TRAP}\")]\nfn trap() {{}}\n");
        misplaced_faults(&Tree::of_texts([
            ("firmware/loader/Cargo.toml", &loader),
            ("firmware/loader/src/fault.rs", &code),
            (path, text),
        ]))
    }

    #[test]
    fn tests_name_faults() {
        let stage = format!("fn case() {{\n    stage(\"loader\", &[\"{TRAP}\"]);\n}}\n");
        assert_eq!(findings("tests/device/src/boots/harts.rs", &stage), [""; 0]);
        let gates = format!("fn a() {{\n}}\n\npub fn gates(_: &Path) {{\n    f(\"{TRAP}\");\n}}\n");
        assert_eq!(findings("xtask/src/firmware.rs", &gates), [""; 0]);
        let page = format!("The feature `{TRAP}` is for tests.\n");
        assert_eq!(findings("CONTRIBUTING.md", &page), [""; 0]);
        let brings_in = format!("[features]\n{TRAP} = [\"hartlock-virt/{OTHER}\"]\n");
        assert_eq!(findings("firmware/rom/Cargo.toml", &brings_in), [""; 0]);
    }

    #[test]
    fn measurements_build_their_variants_and_nothing_else() {
        let build = |function: &str, fault: &str| {
            format!("fn {function}() -> Result<()> {{\n    stage(\"rom\", &[\"{fault}\"])\n}}\n")
        };
        for (path, function, faults) in MEASUREMENTS {
            let function = function.trim_start_matches("fn ");
            for fault in faults {
                assert_eq!(findings(path, &build(function, fault)), [""; 0]);
                assert_eq!(findings(path, &build("run", fault)).len(), 1, "{fault}");
                assert_eq!(findings("tests/device/src/demo.rs", &build(function, fault)).len(), 1);
                assert_eq!(
                    findings("tests/device/src/demo/other.rs", &build(function, fault)).len(),
                    1
                );
                assert_eq!(findings("xtask/src/firmware.rs", &build("build", fault)).len(), 1);
            }
            assert_eq!(findings(path, &build(function, TRAP)).len(), 1);
        }
        let (path, function, _) = MEASUREMENTS[1];
        let other = build(function.trim_start_matches("fn "), MEASUREMENTS[0].2[1]);
        assert_eq!(findings(path, &other).len(), 1, "what another measurement needs");
    }

    #[test]
    fn finds_builds_that_ask_for_a_fault() {
        for (path, text) in [
            ("tests/device/src/demo.rs", format!("stage(\"loader\", &[\"{TRAP}\"])")),
            ("xtask/src/firmware.rs", format!("pub fn build() {{\n    stage(\"{TRAP}\")\n}}\n")),
            ("Makefile", format!("\tcargo build --features hartlock-loader/{TRAP}")),
            (".ci/run", format!("cargo build --features={TRAP}")),
            (".cargo/config.toml", format!("rustflags = ['--cfg=feature=\"{TRAP}\"']")),
            ("tests/device/src/demo.rs", format!("format!(\"{PREFIX}{{kind}}\")")),
            ("firmware/loader/build.rs", format!("println!(\"cargo:rustc-cfg={TRAP}\")")),
            ("crates/cli/src/boot.rs", format!("#[cfg(feature = \"{TRAP}\")]")),
            ("Makefile", format!("\tcargo build {EVERY_FEATURE}")),
        ] {
            let found = findings(path, &text);
            assert_eq!(found.len(), 1, "{path}: {text}: {found:?}");
            assert!(found[0].starts_with(path), "{found:?}");
        }
    }

    #[test]
    fn finds_manifests_that_ask_for_a_fault() {
        for (path, text) in [
            ("firmware/rom/Cargo.toml", format!("[features]\ndefault = [\"{TRAP}\"]")),
            ("firmware/rom/Cargo.toml", format!("[features]\ndefault = [\n    \"{TRAP}\",\n]")),
            ("firmware/rom/Cargo.toml", format!("loader = {{ features = [\"{TRAP}\"] }}")),
            ("crates/cli/Cargo.toml", format!("loader = {{ features = [\"{TRAP}\"] }}")),
            // A library is shipped unchanged: every stage could enable its faults by one feature.
            ("crates/verify/Cargo.toml", format!("[features]\n{TRAP} = []")),
        ] {
            assert_eq!(findings(path, &text).len(), 1, "{path}: {text}");
        }
    }

    #[test]
    fn finds_a_fault_of_another_crate_in_sources() {
        let text = format!("#[cfg(feature = \"{OTHER}\")]\n");
        assert_eq!(findings("firmware/loader/src/main.rs", &text).len(), 1);
        assert_eq!(findings("firmware/rom/src/main.rs", &text.replace(OTHER, TRAP)).len(), 1);
    }
}
