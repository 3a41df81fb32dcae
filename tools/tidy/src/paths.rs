//! Checks that no file contains a path of one machine, and that each file of tests is compiled.

use super::tree::{Source, Tree};

/// The first folders of paths that exist on one machine only. Each is written in two parts, so that this file is not a
/// finding itself.
const MACHINE_PATHS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Finds absolute paths of one machine.
pub fn machine_paths(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for source in &tree.files {
        for (number, line) in source.lines() {
            let start = MACHINE_PATHS.iter().find(|start| has_path(line, start));
            let what = start.map(|start| format!("path of one machine ({start}…)"));
            findings.extend(what.map(|what| source.finding(number, &what)));
        }
    }
    findings
}

/// Returns true if the line contains `start` where a path begins, not as a part of a longer path: after `$HOME`, the
/// host of a URL or the name of a folder it is only a part.
fn has_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let begins = !before.is_some_and(|c| c.is_alphanumeric() || "._-~*})>]".contains(c));
        let name = line[at + start.len()..].chars().next();
        begins && name.is_some_and(|c| c.is_ascii_alphanumeric() || "._".contains(c))
    })
}

/// Finds files of tests that the program of their folder does not declare. Such a file is not compiled, so its tests
/// would seem to pass.
pub fn forgotten_tests(tree: &Tree) -> Vec<String> {
    let is_forgotten = |source: &&Source| {
        let Some((folder, name)) = source.path.rsplit_once('/') else { return false };
        let Some(module) = name.strip_suffix(".rs").filter(|name| *name != "main") else {
            return false;
        };
        let program = tree.get(&format!("{folder}/main.rs"));
        folder.ends_with("/tests")
            && program.is_some_and(|it| !it.text.contains(&format!("mod {module};")))
    };
    let forgotten = tree.files.iter().filter(is_forgotten);
    forgotten.map(|source| source.finding(1, "main.rs beside it does not name this file")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_tests_that_no_program_names() {
        let tree = Tree::of_texts([
            ("host/a/tests/main.rs", "mod one;\n"),
            ("host/a/tests/one.rs", ""),
            ("host/a/tests/two.rs", ""),
            ("host/b/tests/alone.rs", ""),
        ]);
        assert_eq!(
            forgotten_tests(&tree),
            ["host/a/tests/two.rs:1: main.rs beside it does not name this file"]
        );
    }

    #[test]
    fn finds_paths_of_a_machine() {
        let [work, root, home] = MACHINE_PATHS;
        let text = format!("a\nopen(\"{work}x\")\n cd {root}.cache\nfile://{home}ann/x\n");
        let found = machine_paths(&Tree::of_texts([("tools/a.py", &text)]));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("tools/a.py:2: "), "{found:?}");
    }

    #[test]
    fn parts_of_longer_paths_are_no_machine_paths() {
        let [work, root, home] = MACHINE_PATHS;
        let text = format!("$HOME{work}x\n{{dir}}{root}x\nhttps://host{home}x\n{home}<name>\n");
        assert_eq!(machine_paths(&Tree::of_texts([("a", &text)])), [""; 0]);
    }
}
