//! Checks that hand-written RTL has assertions.

use super::tree::{Source, Tree};

/// The least number of assertions for ten files, counted over all files that have an assertion or a process.
const LEAST_ASSERTIONS: usize = 45;
/// The assertion macros: of a block, and of a module that is used in simulated machines only.
const MACROS: [&str; 2] = ["`ASSERT(", "`MACHINE_ASSERT("];
/// The folders of primitives with the interfaces of Ibex, and of wrappers that give CVA6 plain signals. They contain no
/// logic of this project.
const WRAPPERS: [&str; 2] = ["hw/soc/ibex/", "hw/soc/cva6/"];

/// The end of the names of leaf cells. Tests overwrite their registers, so an assertion about what they do would fail in
/// every test of an upset. A proof says it instead (`hw/prim/formal`).
const LEAF_CELL: &str = "_cell.sv";

/// The folders of formal proofs, which are not RTL and have assertions of their own.
const PROOFS: &str = "/formal/";

/// Finds files that have a process and no assertion, and reports if the average number of assertions is too small.
pub fn too_few_assertions(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    let (mut assertions, mut files) = (0, 0);
    for source in hand_written(tree) {
        if WRAPPERS.iter().any(|folder| source.path.starts_with(folder)) {
            continue;
        }
        let count = MACROS.iter().map(|name| source.text.matches(name).count()).sum::<usize>();
        let process = source.lines().find(|(_, line)| is_process(line));
        if let (0, Some((line, _))) = (count, process) {
            findings.push(source.finding(line, "a process in a file without an assertion"));
        }
        if count > 0 || process.is_some() {
            files += 1;
            assertions += count;
        }
    }
    if assertions * 10 < files * LEAST_ASSERTIONS {
        let least = LEAST_ASSERTIONS as f64 / 10.0;
        findings.push(format!(
            "hw: {assertions} assertions in {files} files of RTL; {least} a file have to be there"
        ));
    }
    findings
}

fn is_process(line: &str) -> bool {
    let line = line.trim_start();
    ["always_ff", "always_comb", "always_latch"].iter().any(|start| line.starts_with(start))
}

fn hand_written(tree: &Tree) -> impl Iterator<Item = &Source> {
    let is_generated = |source: &Source| {
        source.text.lines().next().is_some_and(|line| line.contains("@generated"))
    };
    tree.files.iter().filter(move |source| {
        source.path.starts_with("hw/")
            && source.extension() == "sv"
            && !source.path.contains(PROOFS)
            && !source.path.ends_with(LEAF_CELL)
            && !is_generated(source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: &str = "// What.\nalways_comb begin\nend\n";

    #[test]
    fn a_process_needs_an_assertion() {
        let paths =
            ["hw/soc/rtl/a.sv", "hw/soc/ibex/b.sv", "hw/soc/formal/c.sv", "hw/prim/rtl/d_cell.sv"];
        let tree = Tree::of_texts(paths.map(|path| (path, PROCESS)));
        let found = too_few_assertions(&tree);
        assert_eq!(found[0], "hw/soc/rtl/a.sv:2: a process in a file without an assertion");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn assertions_are_counted_on_average() {
        let four = "`ASSERT(A_A, x)\n".repeat(4);
        let five = "`MACHINE_ASSERT(A_A, x)\n".repeat(5);
        let few = Tree::of_texts([("hw/a.sv", &four), ("hw/b.sv", "assign a = b;\n")]);
        assert_eq!(
            too_few_assertions(&few),
            ["hw: 4 assertions in 1 files of RTL; 4.5 a file have to be there"]
        );
        assert!(
            too_few_assertions(&Tree::of_texts([("hw/a.sv", &four), ("hw/b.sv", &five)]))
                .is_empty()
        );
    }
}
