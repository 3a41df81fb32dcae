//! Checks that the matrix of primitives in ARCHITECTURE.md matches the tree exactly.

use serde_json::Value;

use super::tree::{Source, Tree};

const PAGE: &str = "ARCHITECTURE.md";

/// The words of a cell.
const YES: &str = "yes";
const NO: &str = "–";

/// What the first column is called; the others are in `COLUMNS`.
const NAME: &str = "primitive";

/// The name of the kernels' crate in sources. In two parts, or this file would count as a user of it.
const KERNELS: &str = concat!("hartlock_", "kernels");

/// Names that kernels have instead of the primitive's own (style: *algorithm, width, extension*,
/// `sha256_rv64_zknh.S`). The module is named after the standard, a kernel after what it computes.
const KERNEL_NAMES: &[(&str, &[&str])] = &[("sha2", &["sha256", "sha512"]), ("sha3", &["keccak"])];

/// How runs of the lab name primitives, in small letters and without dashes; a primitive that is not
/// listed begins with its own name without underscores (`ecdsap256`, `mldsa44`).
const LAB_NAMES: &[(&str, &[&str])] = &[
    ("sha2", &["sha256", "sha384", "sha512"]),
    ("sha3", &["sha3256", "sha3384", "sha3512"]),
    ("xof", &["shake", "cshake"]),
];

/// Modules that primitives share, and that are none themselves.
const SHARED: [&str; 3] = ["hash_based", "numbers", "signature"];

/// A column, and what is a `yes` in it.
struct Column {
    name: &'static str,
    /// For the finding; `{}` is the primitive.
    place: &'static str,
    holds: fn(&Source, &str) -> bool,
}

const COLUMNS: [Column; 7] = [
    Column {
        name: "vectors",
        place: "test with known answers in crates/kernels/tests",
        holds: has_known_answers,
    },
    Column {
        name: "portable",
        place: "crates/kernels/src/{}.rs",
        holds: |source, name| is_module_of("crates/kernels/src/", source, name),
    },
    Column {
        name: "scalar",
        place: "kernel for rv64 without vectors in crates/kernels/src",
        holds: |source, name| is_kernel_of(source, name, Width::Scalar),
    },
    Column {
        name: "vector",
        place: "kernel for rv64 with vectors in crates/kernels/src",
        holds: |source, name| is_kernel_of(source, name, Width::Vector),
    },
    Column {
        name: "driver",
        place: "crates/drivers/src/{}.rs",
        holds: |source, name| is_module_of("crates/drivers/src/", source, name),
    },
    Column {
        name: "RTL",
        place: "hw/ip/{}/rtl",
        holds: |source, name| source.path.starts_with(&format!("hw/ip/{name}/rtl/")),
    },
    Column { name: "lab", place: "figure for {} in a stored run of lab", holds: has_lab_series },
];

/// Cells that contradict the tree, and primitives and kernels without a row.
pub fn wrong_matrix(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.get(PAGE) else { return vec![format!("{PAGE}: is missing")] };
    let mut table = page
        .lines()
        .map(|(number, line)| (number, cells(line)))
        .skip_while(|(_, cells)| cells.first() != Some(&NAME))
        .take_while(|(_, cells)| !cells.is_empty());
    let Some((number, head)) = table.next() else {
        return vec![page.finding(1, &format!("no table whose first column is `{NAME}`"))];
    };
    if !head.iter().skip(1).eq(COLUMNS.iter().map(|column| &column.name)) {
        return vec![page.finding(number, "not the columns of tools/tidy/src/matrix.rs")];
    }
    let mut findings = Vec::new();
    let mut known = Vec::new();
    // The line below the head is its rule.
    for (number, row) in table.skip(1) {
        let [name, row @ ..] = row.as_slice() else { continue };
        if row.len() != COLUMNS.len() {
            findings.push(page.finding(number, "a row has as many cells as the head"));
        }
        if known.contains(name) {
            findings.push(page.finding(number, &format!("{name} has two rows")));
        }
        known.push(*name);
        for (column, cell) in COLUMNS.iter().zip(row) {
            let wrong = wrong_cell(tree, name, column, cell);
            findings.extend(wrong.map(|what| page.finding(number, &what)));
        }
    }
    findings.extend(without_row(tree, &known));
    findings
}

fn wrong_cell(tree: &Tree, name: &str, column: &Column, cell: &str) -> Option<String> {
    let found = tree.files.iter().find(|source| (column.holds)(source, name));
    match (cell, found) {
        (YES, Some(_)) | (NO, None) => None,
        (YES, None) => {
            let place = column.place.replace("{}", name);
            Some(format!("{name}: {} is `{YES}`, but there is no {place}", column.name))
        }
        (NO, Some(source)) => {
            Some(format!("{name}: {} is `{NO}`, but there is {}", column.name, source.path))
        }
        _ => Some(format!("{name}: {} is `{cell}`; a cell is `{YES}` or `{NO}`", column.name)),
    }
}

/// Shared parts of kernels, and the check whether they can run: no kernels themselves.
fn is_shared(file: &str) -> bool {
    ["_macros.S", "_constants.S", "/probes.S"].iter().any(|end| file.ends_with(end))
}

/// Modules that `crates/kernels` offers and kernels by their file names, if no row is theirs.
fn without_row(tree: &Tree, known: &[&str]) -> Vec<String> {
    let mut findings = Vec::new();
    if let Some(root) = tree.get("crates/kernels/src/lib.rs") {
        for (number, line) in root.lines() {
            let module =
                line.strip_prefix("pub mod ").and_then(|rest| rest.split([';', ' ']).next());
            let is_unknown = |name: &&str| !known.contains(name) && !SHARED.contains(name);
            if let Some(name) = module.filter(is_unknown) {
                findings.push(root.finding(number, &format!("{name} has no row in {PAGE}")));
            }
        }
    }
    for source in &tree.files {
        let Some(file) = source.path.strip_prefix("crates/kernels/src/") else { continue };
        match kernel(source) {
            Some((stem, _)) if !known.iter().any(|name| kernel_names(name).contains(&stem)) => {
                let what = format!("{stem} belongs to no row in {PAGE}; see KERNEL_NAMES in tidy");
                findings.push(source.finding(1, &what));
            }
            None if file.ends_with(".S") && !is_shared(file) => findings.push(
                source.finding(1, "a kernel is named algorithm, width, extension: x_rv64_zknh.S"),
            ),
            _ => {}
        }
    }
    findings
}

/// The cells of a line of a table; none if it is another line.
fn cells(line: &str) -> Vec<&str> {
    let inner = line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    inner.map_or_else(Vec::new, |inner| inner.split('|').map(str::trim).collect())
}

fn is_module_of(folder: &str, source: &Source, name: &str) -> bool {
    let inside = source.path.strip_prefix(folder).and_then(|rest| rest.strip_prefix(name));
    matches!(inside, Some(".rs" | "/mod.rs"))
}

/// A test that names the module. Comparing with a second implementation is no known answer.
fn has_known_answers(source: &Source, name: &str) -> bool {
    let file = source.path.strip_prefix("crates/kernels/tests/");
    let is_test = file.is_some_and(|it| it.ends_with(".rs") && !it.ends_with("_differential.rs"));
    let path = format!("{KERNELS}::{name}::");
    is_test && source.lines().any(|(_, line)| line.contains(&path))
}

/// A stored run with a figure of ours for the primitive, or the record of what a verification costs.
/// What a paper alone has a number for is not measured.
fn has_lab_series(source: &Source, name: &str) -> bool {
    let Some(inside) = source.path.strip_prefix("lab/") else { return false };
    let is_run = inside.starts_with("runs/latest/") && inside.ends_with(".json");
    let is_record = inside.ends_with("/ours.toml");
    let rows: Vec<Value> = if is_run {
        let run: Value = serde_json::from_str(&source.text).unwrap_or_default();
        let rows = run.get("rows").and_then(Value::as_array).cloned().unwrap_or_default();
        rows.into_iter().filter(|row| row.get("ours").is_some_and(Value::is_number)).collect()
    } else if is_record {
        let record: Value = toml::from_str(&source.text).unwrap_or_default();
        let tables = record.as_object().into_iter().flat_map(|it| it.values());
        tables.filter_map(Value::as_array).flatten().cloned().collect()
    } else {
        return false;
    };
    let fields = ["metric", "config", "feature", "algorithm"];
    rows.iter().any(|row| {
        let texts = fields.iter().filter_map(|field| row.get(field).and_then(Value::as_str));
        texts.into_iter().any(|text| names_in_lab(text, name))
    })
}

/// Whether a word of a text is one of the lab's names for a primitive.
fn names_in_lab(text: &str, primitive: &str) -> bool {
    let listed = LAB_NAMES.iter().find(|(name, _)| *name == primitive);
    let own = primitive.replace('_', "");
    let names = listed.map_or_else(|| vec![own.as_str()], |(_, names)| names.to_vec());
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    text.split(is_end).any(|word| {
        let word = word.to_lowercase().replace('-', "");
        names.iter().any(|name| word.starts_with(name))
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Scalar,
    Vector,
}

fn is_kernel_of(source: &Source, name: &str, width: Width) -> bool {
    kernel(source).is_some_and(|(stem, it)| it == width && kernel_names(name).contains(&stem))
}

fn kernel_names(primitive: &str) -> Vec<&str> {
    let named = KERNEL_NAMES.iter().find(|(name, _)| *name == primitive);
    named.map_or_else(|| vec![primitive], |(_, stems)| stems.to_vec())
}

/// Algorithm and width of a kernel for rv64, by the name of its file. Vector extensions are V
/// itself and those whose names begin with Zv.
fn kernel(source: &Source) -> Option<(&str, Width)> {
    let inside = source.path.strip_prefix("crates/kernels/src/")?;
    let file = inside.rsplit('/').next()?;
    let (stem, extensions) =
        file.strip_suffix(".S").or(file.strip_suffix(".rs"))?.split_once("_rv64")?;
    let is_vector = |extension: &str| extension == "v" || extension.starts_with("zv");
    let has_vectors = extensions.split('_').any(is_vector);
    Some((stem, if has_vectors { Width::Vector } else { Width::Scalar }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# Architecture\n\n\
         | primitive | vectors | portable | scalar | vector | driver | RTL | lab |\n\
         |---|---|---|---|---|---|---|---|\n";

    /// Findings for a matrix of these rows, in a tree of these files (without their texts) and
    /// one portable primitive with its tests.
    fn findings(rows: &str, files: &[&str]) -> Vec<String> {
        findings_in(rows, &files.iter().map(|path| (*path, "")).collect::<Vec<_>>())
    }

    /// The same with texts.
    fn findings_in(rows: &str, files: &[(&str, &str)]) -> Vec<String> {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
        let mut all = vec![
            source(PAGE, &format!("{HEAD}{rows}\n\n| other | table |\n|---|---|\n| sha9 | no |\n")),
            source("crates/kernels/src/lib.rs", "mod block;\npub mod sha2;\n"),
            source("crates/kernels/src/block.rs", ""),
            source("crates/kernels/src/sha2.rs", ""),
            source("crates/kernels/tests/known.rs", &format!("use {KERNELS}::sha2::Sha256;\n")),
        ];
        all.extend(files.iter().map(|(path, text)| source(path, text)));
        wrong_matrix(&Tree { files: all, packages: Vec::new() })
    }

    const SHA2: &str = "| sha2 | yes | yes | – | – | – | – | – |";

    #[test]
    fn accepts_a_matrix_that_says_what_is_there() {
        assert_eq!(findings(SHA2, &[]), [""; 0]);
        let full = "| sha2 | yes | yes | yes | yes | yes | yes | yes |";
        let files = [
            "crates/kernels/src/sha2/sha256_rv64_zbb_zknh.S",
            "crates/kernels/src/sha512_rv64_zvknhb.S",
            "crates/drivers/src/sha2/mod.rs",
            "hw/ip/sha2/rtl/sha2.sv",
        ];
        let run = r#"{"rows": [{"metric": "SHA-384", "ours": 1.5}]}"#;
        let lab = ("lab/runs/latest/vector-crypto.json", run);
        let mut files = files.map(|path| (path, "")).to_vec();
        files.push(lab);
        assert_eq!(findings_in(full, &files), [""; 0]);
    }

    #[test]
    fn finds_a_yes_without_its_file() {
        for column in 2..7 {
            let mut row = ["yes", "yes", "–", "–", "–", "–", "–"];
            row[column] = "yes";
            let found = findings(&format!("| sha2 | {} |", row.join(" | ")), &[]);
            assert_eq!(found.len(), 1, "{found:?}");
            let expected = format!("{PAGE}:5: sha2: {} is `yes`, but", COLUMNS[column].name);
            assert!(found[0].starts_with(&expected), "{found:?}");
        }
        let rows = format!("{SHA2}\n| sha3 | yes | yes | – | – | – | – | – |");
        let found = findings(&rows, &["crates/kernels/tests/sha3_differential.rs"]);
        assert_eq!(
            found,
            [
                "ARCHITECTURE.md:6: sha3: vectors is `yes`, but there is no test with known \
                 answers in crates/kernels/tests",
                "ARCHITECTURE.md:6: sha3: portable is `yes`, but there is no \
                 crates/kernels/src/sha3.rs",
            ]
        );
    }

    #[test]
    fn finds_a_file_whose_cell_is_empty() {
        for (file, column) in [
            ("crates/kernels/src/sha256_rv64_zknh.S", "scalar"),
            ("crates/kernels/src/sha256_rv64.rs", "scalar"),
            ("crates/kernels/src/sha512_rv64_v.S", "vector"),
            ("crates/kernels/src/sha512_rv64_zbb_zvknhb.S", "vector"),
            ("crates/drivers/src/sha2.rs", "driver"),
            ("hw/ip/sha2/rtl/sha2_core.sv", "RTL"),
        ] {
            let found = findings(SHA2, &[file]);
            assert_eq!(found, [format!("{PAGE}:5: sha2: {column} is `–`, but there is {file}")]);
        }
        let none = "| sha2 | – | – | – | – | – | – | – |";
        assert_eq!(findings(none, &[]).len(), 2);
    }

    #[test]
    fn names_that_only_begin_alike_are_other_things() {
        let files =
            ["lab/sha256.toml", "hw/ip/sha2_dma/rtl/a.sv", "crates/drivers/src/sha2_queue.rs"];
        assert_eq!(findings(SHA2, &files), [""; 0]);
    }

    #[test]
    fn the_lab_has_what_it_measured_and_not_what_a_paper_says() {
        for (path, text, is_series) in [
            (
                "lab/runs/latest/a.json",
                r#"{"rows": [{"config": "sha384 blocks", "ours": 2}]}"#,
                true,
            ),
            ("lab/runs/latest/a.json", r#"{"rows": [{"metric": "SHA3-384", "ours": 2}]}"#, false),
            ("lab/runs/latest/a.json", r#"{"rows": [{"metric": "SHA-384", "ours": null}]}"#, false),
            ("lab/runs/a.json", r#"{"rows": [{"metric": "SHA-384", "ours": 2}]}"#, false),
            ("lab/costs/ours.toml", "[[run]]\nalgorithm = \"sha256-x\"\n", true),
            ("lab/costs/peers.toml", "[[run]]\nalgorithm = \"sha256-x\"\n", false),
        ] {
            let found = findings_in(SHA2, &[(path, text)]);
            let expected = format!("{PAGE}:5: sha2: lab is `–`, but there is {path}");
            let expected: Vec<_> = is_series.then_some(expected).into_iter().collect();
            assert_eq!(found, expected, "{path} {text}");
        }
        for (text, name) in [("SHA3-256", "sha3"), ("ml-dsa-87", "ml_dsa"), ("KT128", "kt128")] {
            assert!(names_in_lab(text, name), "{text}");
        }
        assert!(!names_in_lab("sha384", "sha3"));
    }

    #[test]
    fn finds_primitives_and_kernels_without_a_row() {
        let found = findings("| sha3 | – | – | – | – | – | – | – |", &[]);
        assert_eq!(found, ["crates/kernels/src/lib.rs:2: sha2 has no row in ARCHITECTURE.md"]);
        let found = findings(SHA2, &["crates/kernels/src/keccak_rv64_v.S"]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("keccak belongs to no row"), "{found:?}");
        let found = findings(SHA2, &["crates/kernels/src/fast.S"]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("algorithm, width, extension"), "{found:?}");
    }

    #[test]
    fn finds_a_matrix_that_cannot_be_read() {
        for (rows, expected) in [
            ("| sha2 | yes | yes | – | – | – | – |", "as many cells"),
            ("| sha2 | yes | yes | ? | – | – | – | – |", "scalar is `?`"),
            (&format!("{SHA2}\n{SHA2}"), "two rows"),
        ] {
            let found = findings(rows, &[]);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(expected), "{found:?}");
        }
        let found = wrong_matrix(&Tree::of_texts([(PAGE, "| primitive | RTL |\n")]));
        assert!(found[0].contains("not the columns"), "{found:?}");
        assert!(wrong_matrix(&Tree::of_texts([(PAGE, "")]))[0].contains("no table"));
        assert!(wrong_matrix(&Tree::of_texts([]))[0].contains("is missing"));
    }
}
