//! Checks on the pages that a newcomer reads first: README, code map, decisions.

use super::text::has_word;
use super::tree::{Source, Tree};

const README: &str = "README.md";
const MAP: &str = "ARCHITECTURE.md";
const RULES: &str = "CONTRIBUTING.md";
const FORBID: &str = "#![forbid(unsafe_code)]";
const DECISIONS: &str = "docs/decisions/";
const DECISION_LIST: &str = "docs/decisions/README.md";

/// Words that a reader has to interpret, with the terms of the literature (CONTRIBUTING.md).
const IDIOMS: [(&str, &str); 8] = [
    ("behind", "after, or past the end of"),
    ("stands", "is, or is located at"),
    ("stand", "are, or are located at"),
    ("nobody", "the one who cannot: an attacker, a reader"),
    ("somebody", "the one who can: an attacker, a user"),
    ("anybody", "the one who can: a reader, a user"),
    ("whoever", "the one who does: the signer, the caller"),
    ("second look", "redundant check"),
];

/// Limits of README.md: lines, characters of a line, rows of a table.
const README_LINES: usize = 120;
const README_WIDTH: usize = 160;
const README_ROWS: usize = 14;

/// Lines of the page of a decision.
const DECISION_LINES: usize = 40;

/// A front page that is too long to be read in a minute.
pub fn long_readme(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.get(README) else { return vec![format!("{README}: is missing")] };
    let mut findings = Vec::new();
    let count = page.lines().count();
    if count > README_LINES {
        findings.push(page.finding(count, &format!("more than {README_LINES} lines")));
    }
    let mut rows: usize = 0;
    for (number, line) in page.lines() {
        if line.chars().count() > README_WIDTH {
            let what = format!("more than {README_WIDTH} characters in a line");
            findings.push(page.finding(number, &what));
        }
        rows = if line.starts_with('|') { rows + 1 } else { 0 };
        // The first two are the header and its rule.
        if rows == README_ROWS + 3 {
            let what = format!("more than {README_ROWS} rows in a table");
            findings.push(page.finding(number, &what));
        }
    }
    findings
}

/// Idioms in pages, comments, messages and names. Quoted output is left out, and this file.
pub fn idioms(tree: &Tree) -> Vec<String> {
    let is_page = |source: &&Source| {
        let is_text = matches!(
            source.extension(),
            "md" | "rs" | "py" | "sv" | "S" | "toml" | "js" | "cpp" | "h" | "html"
        );
        is_text && source.path != "tools/tidy/src/pages.rs"
    };
    let mut findings = Vec::new();
    for source in tree.files.iter().filter(is_page) {
        let mut is_quoted = false;
        for (number, line) in source.lines() {
            is_quoted ^= line.starts_with("```");
            let lower = line.to_lowercase();
            for (idiom, word) in IDIOMS.iter().filter(|_| !is_quoted) {
                if has_word(&lower, idiom) {
                    findings.push(source.finding(number, &format!("`{idiom}`: write {word}")));
                }
            }
        }
    }
    findings
}

/// Folders of packages that the code map leaves out, and rows of it without a folder.
pub fn wrong_code_map(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.get(MAP) else { return vec![format!("{MAP}: is missing")] };
    let inside = page.lines().skip_while(|(_, line)| *line != "## Code map").skip(1);
    let rows: Vec<(usize, &str)> = inside
        .take_while(|(_, line)| !line.starts_with("## "))
        .filter_map(|(number, line)| Some((number, line.strip_prefix('|')?.split('|').next()?)))
        .collect();
    // Code spans are every second piece between marks.
    let named: Vec<(usize, &str)> = rows
        .iter()
        .flat_map(|(number, cell)| cell.split('`').skip(1).step_by(2).map(|it| (*number, it)))
        .collect();
    if named.is_empty() {
        return vec![page.finding(1, "no table below the heading `## Code map`")];
    }
    // A name that ends with `/` is that of a folder with all that is in it.
    let is_below = |path: &str, name: &str| match name.strip_suffix('/') {
        Some(_) => path.starts_with(name),
        None => path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')),
    };
    let mut findings = Vec::new();
    for source in &tree.files {
        let Some(folder) = source.path.strip_suffix("/Cargo.toml") else { continue };
        let is_named = |(_, name): &(usize, &str)| {
            folder == *name || (name.ends_with('/') && is_below(&source.path, name))
        };
        if !named.iter().any(is_named) {
            findings.push(source.finding(1, &format!("{folder} is not in the code map of {MAP}")));
        }
    }
    for (number, name) in named {
        if !tree.files.iter().any(|source| is_below(&source.path, name)) {
            findings.push(page.finding(number, &format!("there is no folder {name}")));
        }
    }
    findings
}

/// Crates that the rules call free of unsafe code and that are not, and the other way round.
pub fn wrong_safe_crates(tree: &Tree) -> Vec<String> {
    let Some(page) = tree.get(RULES) else { return vec![format!("{RULES}: is missing")] };
    let Some((number, line)) = page.lines().find(|(_, line)| line.contains(FORBID)) else {
        return vec![page.finding(1, &format!("no line names the crates with `{FORBID}`"))];
    };
    let listed: Vec<&str> =
        line.split('`').skip(1).step_by(2).filter(|name| *name != FORBID).collect();
    let mut safe = Vec::new();
    for source in &tree.files {
        let root = source.path.strip_prefix("crates/").and_then(|path| {
            path.strip_suffix("/src/lib.rs").or(path.strip_suffix("/src/main.rs"))
        });
        if let Some(name) = root.filter(|_| source.text.lines().any(|line| line == FORBID)) {
            safe.push(name);
        }
    }
    let mut findings = Vec::new();
    for name in listed.iter().filter(|name| !safe.contains(name)) {
        findings.push(page.finding(number, &format!("crates/{name} has no {FORBID}")));
    }
    for name in safe.iter().filter(|name| !listed.contains(name)) {
        findings.push(page.finding(number, &format!("crates/{name} has {FORBID}, too; name it")));
    }
    findings
}

/// Decisions that are too long, wrongly numbered, or not in their list.
pub fn wrong_decisions(tree: &Tree) -> Vec<String> {
    let in_folder = |source: &&Source| {
        source.path.starts_with(DECISIONS)
            && source.extension() == "md"
            && source.path != DECISION_LIST
    };
    let mut pages: Vec<&Source> = tree.files.iter().filter(in_folder).collect();
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    let list = tree.get(DECISION_LIST);
    let mut findings = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let number = index + 1;
        let lines = page.lines().count();
        if lines > DECISION_LINES {
            findings.push(page.finding(lines, &format!("more than {DECISION_LINES} lines")));
        }
        let file = page.path.trim_start_matches(DECISIONS);
        let title = page.text.lines().next().unwrap_or_default();
        let Some(title) = title
            .strip_prefix(&format!("# {number}. "))
            .filter(|_| file.starts_with(&format!("{number:04}-")))
        else {
            let what = format!("name and title do not begin with {number:04} and `# {number}. `");
            findings.push(page.finding(1, &what));
            continue;
        };
        for part in ["**Context.**", "**Decision.**", "**Reason.**", "**Consequences.**"] {
            if !page.text.lines().any(|line| line.starts_with(part)) {
                findings.push(page.finding(1, &format!("no paragraph begins with {part}")));
            }
        }
        let row = format!("{number}. [{title}]({file})");
        if !list.is_some_and(|list| list.text.lines().any(|line| line == row)) {
            findings.push(page.finding(1, &format!("{DECISION_LIST} has no line `{row}`")));
        }
    }
    let listed = list.map_or(0, |list| {
        list.text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count()
    });
    if listed > pages.len() {
        findings.push(format!("{DECISION_LIST}: {listed} lines, {} pages", pages.len()));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_is_short_and_narrow() {
        let fits = format!("{}\n", "é".repeat(README_WIDTH)).repeat(README_LINES);
        assert_eq!(long_readme(&Tree::of_texts([(README, &fits)])), [""; 0]);
        let found = long_readme(&Tree::of_texts([(README, &format!("{fits}x\n"))]));
        assert_eq!(found, ["README.md:121: more than 120 lines"]);
        let found = long_readme(&Tree::of_texts([(README, &"x".repeat(README_WIDTH + 1))]));
        assert_eq!(found, ["README.md:1: more than 160 characters in a line"]);
        let table = format!("|a|\n|-|\n{}", "|x|\n".repeat(README_ROWS));
        let twice = format!("{table}\n{table}");
        assert_eq!(long_readme(&Tree::of_texts([(README, &twice)])), [""; 0]);
        let found = long_readme(&Tree::of_texts([(README, &format!("{table}|x|\n"))]));
        assert_eq!(found, ["README.md:17: more than 14 rows in a table"]);
        assert_eq!(long_readme(&Tree::of_texts([])), ["README.md: is missing"]);
    }

    #[test]
    fn idioms_are_found_outside_of_quotes() {
        let text = "It stands here.\n```text\nnobody\n```\nBehind it, standing: whoever.\n";
        let found = idioms(&Tree::of_texts([
            ("docs/src/a.md", text),
            ("crates/a/b.rs", text),
            ("lab/runs/a.csv", text),
        ]));
        let lines: Vec<_> = found.iter().filter_map(|it| it.split('`').next()).collect();
        let expected = ["docs/src/a.md", "crates/a/b.rs"]
            .map(|path| [1, 5, 5].map(|line| format!("{path}:{line}: ")))
            .concat();
        assert_eq!(lines, expected);
    }

    const MAP_TEXT: &str = "# A\n## Code map\n\n| folder | what |\n|---|---|\n\
                            | `crates/a`, `crates/b` | both |\n| `lab/` | all |\n## End\n| `x` |\n";

    #[test]
    fn every_package_is_in_the_code_map() {
        let files = [
            (MAP, MAP_TEXT),
            ("Cargo.toml", ""),
            ("crates/a/Cargo.toml", ""),
            ("crates/b/Cargo.toml", ""),
            ("lab/peers/Cargo.toml", ""),
        ];
        assert_eq!(wrong_code_map(&Tree::of_texts(files)), [""; 0]);
        let mut more = files;
        more[2].0 = "crates/a/inner/Cargo.toml";
        let found = wrong_code_map(&Tree::of_texts(more));
        let what = "is not in the code map of ARCHITECTURE.md";
        assert_eq!(found, [format!("crates/a/inner/Cargo.toml:1: crates/a/inner {what}")]);
        more[2].0 = "crates/ab/Cargo.toml";
        let found = wrong_code_map(&Tree::of_texts(more));
        assert_eq!(
            found,
            [
                format!("crates/ab/Cargo.toml:1: crates/ab {what}"),
                "ARCHITECTURE.md:6: there is no folder crates/a".to_owned(),
            ]
        );
        assert_eq!(wrong_code_map(&Tree::of_texts([(MAP, "# A\n")])).len(), 1);
    }

    #[test]
    fn the_rules_name_the_crates_without_unsafe_code() {
        let findings = |line: &str| {
            wrong_safe_crates(&Tree::of_texts([
                (RULES, line),
                ("crates/a/src/lib.rs", "//! A\n#![forbid(unsafe_code)]\n"),
                ("crates/b/src/main.rs", "#![forbid(unsafe_code)]\n"),
                ("crates/c/src/lib.rs", "#![deny(unsafe_code)]\n"),
            ]))
        };
        assert_eq!(findings("* `a` and `b` have `#![forbid(unsafe_code)]`.\n"), [""; 0]);
        for wrong in
            ["* `a`: `#![forbid(unsafe_code)]`", "`a` `b` `c` `#![forbid(unsafe_code)]`", "x"]
        {
            assert_eq!(findings(wrong).len(), 1, "{wrong}");
        }
    }

    const DECISION: &str =
        "# 1. A\n\n**Context.** x\n\n**Decision.** x\n\n**Reason.** x\n\n**Consequences.** x\n";

    #[test]
    fn a_decision_is_short_numbered_complete_and_listed() {
        let list = "# Decisions\n\n1. [A](0001-a.md)\n";
        let findings = |path: &str, text: &str, list: &str| {
            wrong_decisions(&Tree::of_texts([(DECISION_LIST, list), (path, text)]))
        };
        let path = "docs/decisions/0001-a.md";
        assert_eq!(findings(path, DECISION, list), [""; 0]);
        for (path, text, list) in [
            (path, format!("{DECISION}{}", "x\n".repeat(DECISION_LINES)), list),
            (path, DECISION.replace("# 1. ", "# 2. "), list),
            ("docs/decisions/0002-a.md", DECISION.to_owned(), list),
            (path, DECISION.replace("**Reason.**", "Reason."), list),
            (path, DECISION.to_owned(), "1. [B](0001-a.md)\n"),
            (path, DECISION.to_owned(), "1. [A](0001-a.md)\n2. [B](0002-b.md)\n"),
        ] {
            assert_eq!(findings(path, &text, list).len(), 1, "{path} {text} {list}");
        }
    }
}
