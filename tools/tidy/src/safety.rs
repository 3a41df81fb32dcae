//! Checks that crates forbid unsafe code.

use super::tree::{Source, Tree};

/// Crates of the format, its verification, the structures between stages and the keys of a host. The compiler holds them
/// to safe code, as it does all of `host/`.
const SAFE_CRATES: [&str; 6] = ["algorithm", "boards", "handoff", "image", "keystore", "verify"];

/// The program of `host/` that runs on a board, where it makes system calls without a library.
const PROGRAM_OF_BOARDS: &str = "host/bench/src/main.rs";

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Finds crates that must have no unsafe code but do not forbid it.
pub fn missing_forbid(tree: &Tree) -> Vec<String> {
    let is_root = |source: &&Source| {
        let parts: Vec<&str> = source.path.split('/').collect();
        let [top, name, "src", "lib.rs" | "main.rs"] = parts[..] else { return false };
        let is_of_host = top == "host" && source.path != PROGRAM_OF_BOARDS;
        is_of_host || top == "device" && SAFE_CRATES.contains(&name)
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
            ("device/image/src/lib.rs", &good),
            ("device/verify/src/lib.rs", "//! Verify.\n"),
            ("device/verify/src/inner.rs", "//! Part of it.\n"),
            ("device/kernels/src/lib.rs", "//! Kernels.\n"),
            ("host/cli/src/main.rs", "//! Command.\n"),
            ("host/bench/src/main.rs", "//! Program of boards.\n"),
            ("host/bench/src/lib.rs", "//! Its safe part.\n"),
        ]);
        let missing = format!("{FORBID} is missing");
        let expected = [
            "device/verify/src/lib.rs:1: ",
            "host/cli/src/main.rs:1: ",
            "host/bench/src/lib.rs:1: ",
        ];
        assert_eq!(missing_forbid(&tree), expected.map(|place| format!("{place}{missing}")));
    }
}
