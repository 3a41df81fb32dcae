//! Checks on unsafe code.

use super::tree::{Source, Tree};

/// Crates that may contain unsafe code; every other one in `crates/` forbids it to the compiler.
const UNSAFE_CRATES: [&str; 3] = ["drivers", "kernels", "regs"];

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Crates that must be safe and do not make the compiler hold them to it.
pub fn missing_forbid(tree: &Tree) -> Vec<String> {
    let is_root = |source: &&Source| {
        let parts: Vec<&str> = source.path.split('/').collect();
        matches!(parts[..], ["crates", name, "src", "lib.rs" | "main.rs"]
            if !UNSAFE_CRATES.contains(&name))
    };
    let forbids = |source: &&Source| source.text.lines().any(|line| line.trim() == FORBID);
    let roots = tree.files.iter().filter(is_root).filter(|source| !forbids(source));
    roots.map(|root| root.finding(1, &format!("{FORBID} is missing"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_safe_crate_that_does_not_forbid_unsafe_code() {
        let good = format!("//! Image.\n{FORBID}\n");
        let tree = Tree::of_texts([
            ("crates/image/src/lib.rs", &good),
            ("crates/verify/src/lib.rs", "//! Verify.\n"),
            ("crates/verify/src/inner.rs", "//! Part of it.\n"),
            ("crates/kernels/src/lib.rs", "//! Kernels.\n"),
            ("crates/cli/src/main.rs", "//! Command.\n"),
        ]);
        let missing = format!("{FORBID} is missing");
        let expected = ["crates/verify/src/lib.rs:1: ", "crates/cli/src/main.rs:1: "];
        assert_eq!(missing_forbid(&tree), expected.map(|place| format!("{place}{missing}")));
    }
}
