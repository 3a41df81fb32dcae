//! Checks on unsafe code.
//!
//! Clippy has a lint for the comments, but it checks one target at a time: firmware start-up code
//! and the kernels of other instruction sets are invisible to a run on the host.

use super::text::has_word;
use super::tree::{Source, Tree};

/// Crates that must not contain any unsafe code.
const SAFE_CRATES: [&str; 11] = [
    "image", "verify", "handoff", "files", "terminal", "keys", "bundle", "kat", "cli", "emulator",
    "timeline",
];

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Unsafe blocks without a comment that proves them.
pub fn unexplained_unsafe(tree: &Tree) -> Vec<String> {
    let in_scope = |source: &&Source| {
        let fenced = source.path.starts_with("crates/") || source.path.starts_with("firmware/");
        fenced && source.extension() == "rs"
    };
    tree.files.iter().filter(in_scope).flat_map(unexplained_in).collect()
}

fn unexplained_in(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let mut findings = Vec::new();
    for (number, line) in source.lines() {
        if code_of(line).contains("unsafe {") && !is_explained(&lines, number - 1) {
            findings.push(source.finding(number, "unsafe block without a `// SAFETY:` comment"));
        }
    }
    findings
}

/// Searches upwards from the block through its own statement and the comment above it.
fn is_explained(lines: &[&str], block: usize) -> bool {
    let mut above_statement = false;
    for line in lines[..block].iter().rev().map(|line| line.trim()) {
        if line.starts_with("//") {
            if line.contains("SAFETY:") {
                return true;
            }
            // The comment may be long; code above it belongs to something else.
            above_statement = true;
        } else if above_statement || line.is_empty() || ends_statement(line) {
            return false;
        }
    }
    false
}

fn ends_statement(line: &str) -> bool {
    let code = code_of(line).trim_end();
    // An attribute belongs to what follows; `=> {` and `(` open something that goes on.
    !code.starts_with("#[") && (code.ends_with([';', '{', '}']))
}

/// The part of a line before a comment. Good enough: a `//` inside a string hides only the rest.
pub fn code_of(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

/// Crates that promise to be safe and do not make the compiler hold them to it.
pub fn missing_forbid(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for name in SAFE_CRATES {
        if tree.get(&format!("crates/{name}/Cargo.toml")).is_none() {
            continue;
        }
        let roots: Vec<&Source> = ["lib.rs", "main.rs"]
            .iter()
            .filter_map(|file| tree.get(&format!("crates/{name}/src/{file}")))
            .collect();
        if roots.is_empty() {
            findings.push(format!("crates/{name}: no src/lib.rs or src/main.rs to check"));
        }
        for root in roots {
            if !root.text.lines().any(|line| line.trim() == FORBID) {
                findings.push(root.finding(1, &format!("{FORBID} is missing")));
            }
        }
    }
    findings
}

/// Unsafe code in `crates/regs` outside of its root: generated code has none, and the code that guarantees
/// addresses is in one place.
pub fn unsafe_accessors(tree: &Tree) -> Vec<String> {
    let is_accessor = |source: &&Source| {
        source.path.starts_with("crates/regs/src/") && source.path != "crates/regs/src/lib.rs"
    };
    let mut findings = Vec::new();
    for source in tree.files.iter().filter(is_accessor) {
        for (number, line) in source.lines() {
            if has_word(code_of(line), "unsafe") {
                findings.push(source.finding(number, "unsafe code beside crates/regs/src/lib.rs"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        unexplained_unsafe(&Tree::of_texts([("firmware/rom/src/main.rs", text)]))
    }

    #[test]
    fn finds_unsafe_blocks_without_proof() {
        let bare = "fn f() {\n    unsafe { g() }\n}\n";
        assert_eq!(
            findings(bare),
            ["firmware/rom/src/main.rs:2: unsafe block without a `// SAFETY:` comment"]
        );
        let proof_of_another =
            "// SAFETY: for a.\nlet a = unsafe { g() };\nlet b = unsafe { g() };\n";
        assert_eq!(findings(proof_of_another).len(), 1);
        let plain_comment = "// Calls g.\nunsafe { g() }\n";
        assert_eq!(findings(plain_comment).len(), 1);
    }

    #[test]
    fn accepts_a_proof_above_the_statement() {
        for text in [
            "// SAFETY: a reason\n// over two lines.\nunsafe { g() }\n",
            "// SAFETY: a reason.\n#[cfg(x)]\nlet a = unsafe { g() };\n",
            "// SAFETY: a reason.\nlet a = h(\n    1,\n    unsafe { g() },\n);\n",
            "// An unsafe { } in a comment.\n",
        ] {
            assert_eq!(findings(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn accessors_have_no_unsafe_code() {
        let text = "// unsafe is a word here\nunsafe { g() }\n";
        let tree = Tree::of_texts([
            ("crates/regs/src/lib.rs", text),
            ("crates/regs/src/mailbox.rs", text),
            ("crates/drivers/src/mailbox.rs", text),
        ]);
        let found = unsafe_accessors(&tree);
        assert_eq!(
            found,
            ["crates/regs/src/mailbox.rs:2: unsafe code beside crates/regs/src/lib.rs"]
        );
    }

    #[test]
    fn looks_at_shipped_code_only() {
        let tree = Tree::of_texts([("xtask/src/a.rs", "unsafe { g() }\n")]);
        assert_eq!(unexplained_unsafe(&tree), [""; 0]);
    }

    #[test]
    fn finds_a_safe_crate_that_does_not_forbid_unsafe_code() {
        let good = format!("//! Image.\n{FORBID}\n");
        let tree = Tree::of_texts([
            ("crates/image/Cargo.toml", ""),
            ("crates/image/src/lib.rs", &good),
            ("crates/verify/Cargo.toml", ""),
            ("crates/verify/src/lib.rs", "//! Verify.\n"),
            ("crates/bundle/Cargo.toml", ""),
        ]);
        let found = missing_forbid(&tree);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/verify/src/lib.rs:1: "), "{found:?}");
        assert!(found[1].starts_with("crates/bundle: no src"), "{found:?}");
    }
}
