//! Modules of a crate depend on each other in one direction.
//!
//! A type and its builder may name each other. A larger circle can only be read, tested and moved as
//! a whole, so it is one module that has been cut into files.
//!
//! What counts as a dependency is every path to an item of another module, in code that is no test:
//! imports, paths in expressions and types, and paths in the arguments of macros. A declaration
//! (`mod name;`) is none, and neither is the import of a module itself: what is used of it counts. A
//! path through a re-export leads to the module that defines the item.

mod graph;
mod paths;
mod resolve;

use crate::tree::{Source, Tree};
use graph::Circle;

/// A type and its builder.
const MAX_CIRCLE: usize = 2;

/// Circles of modules that are too large.
pub fn large_circles(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for root in roots(tree) {
        match paths::read_crate(tree, root) {
            Err(reason) => findings.push(reason),
            Ok(modules) => {
                let circles = graph::circles(&resolve::dependencies(&modules));
                let large = circles.iter().filter(|circle| circle.members.len() > MAX_CIRCLE);
                findings.extend(large.map(|circle| describe(root, circle)));
            }
        }
    }
    findings
}

fn describe(root: &Source, circle: &Circle) -> String {
    let uses: Vec<String> = circle
        .members
        .iter()
        .map(|(name, used)| format!("{name} uses {}", used.join(", ")))
        .collect();
    let what = format!("circle of {} modules: {}", circle.members.len(), uses.join("; "));
    root.finding(1, &what)
}

/// The file that each crate of the tree begins with.
fn roots(tree: &Tree) -> Vec<&Source> {
    let files = tree.packages.iter().flat_map(|package| &package.roots);
    files.filter_map(|file| tree.get(file)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::Package;

    fn found<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
        let mut tree = Tree::of_texts(files);
        let roots = ["a/src/lib.rs", "a/src/main.rs"].map(str::to_owned).into();
        tree.packages = vec![Package { folder: "a".into(), roots, dependencies: Vec::new() }];
        large_circles(&tree)
    }

    const LIB: (&str, &str) = ("a/src/lib.rs", "mod one;\nmod two;\nmod three;\n");

    #[test]
    fn finds_a_circle_of_three() {
        let one = ("a/src/one.rs", "use crate::two::Two;\npub struct One(Two);");
        let two = ("a/src/two.rs", "pub struct Two;\nfn f() { super::three::run() }");
        for three in [
            "use crate::one::One;\n",
            "use crate::one;\nfn f() -> one::One { todo!() }",
            "fn f() { println!(\"{}\", crate::one::One) }",
            "mod inner { use super::super::one::One; }",
            "use super::*;\nuse one::One;",
        ] {
            let findings = found([LIB, one, two, ("a/src/three.rs", three)]);
            assert_eq!(findings.len(), 1, "{three}: {findings:?}");
            assert_eq!(
                findings[0],
                "a/src/lib.rs:1: circle of 3 modules: one uses two; three uses one; two uses three"
            );
        }
    }

    #[test]
    fn a_parent_and_two_children_are_a_circle() {
        let lib =
            ("a/src/lib.rs", "mod one;\nmod two;\npub struct Top;\nfn f() { one::f(); two::f() }");
        let one = ("a/src/one.rs", "use super::Top;");
        let two = ("a/src/two/mod.rs", "use crate::Top;");
        let findings = found([lib, one, two]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains("circle of 3 modules: crate uses one, two;"), "{findings:?}");
    }

    #[test]
    fn accepts_a_type_and_its_builder() {
        let one = ("a/src/one.rs", "use crate::two::Two;");
        let two = ("a/src/two.rs", "use crate::one::One;\nuse crate::three::Three;");
        assert_eq!(found([LIB, one, two, ("a/src/three.rs", "use std::fmt;")]), [""; 0]);
    }

    #[test]
    fn tests_and_declarations_do_not_count() {
        let one = ("a/src/one.rs", "use crate::two::Two;");
        let two = ("a/src/two.rs", "use crate::three::Three;");
        for three in [
            "#[cfg(test)]\nmod tests { use crate::one::One; }",
            "#[cfg(test)]\nmod tests;",
            "#[cfg(test)]\nuse crate::one::One;",
            "#[cfg(all(test, unix))]\nfn f() { crate::one::run() }",
            "#[test]\nfn f() { crate::one::run() }",
            "// crate::one::run()\nconst TEXT: &str = \"crate::one::run()\";",
            "pub(in crate::one) struct Three;",
            "use crate::one;",
        ] {
            let tests = ("a/src/three/tests.rs", "use crate::one::One;");
            assert_eq!(
                found([LIB, one, two, ("a/src/three.rs", three), tests]),
                [""; 0],
                "{three}"
            );
        }
    }

    #[test]
    fn a_re_export_leads_to_the_definition() {
        let lib =
            ("a/src/lib.rs", "mod one;\nmod two;\nmod three;\npub use one::One;\npub use two::*;");
        let one = ("a/src/one.rs", "pub struct One;");
        let two = ("a/src/two.rs", "use crate::One;\npub struct Two;");
        let three = ("a/src/three.rs", "use crate::Two;\nuse crate::One;\npub fn f() {}");
        assert_eq!(found([lib, one, two, three]), [""; 0]);
        let one = ("a/src/one.rs", "use crate::three::f;\npub struct One;");
        assert_eq!(found([lib, one, two, three]).len(), 1);
    }

    #[test]
    fn a_binary_is_a_crate_of_its_own() {
        let main = ("a/src/main.rs", "mod one;\nfn main() { a::run() }");
        let one = ("a/src/one.rs", "use crate::two::Two;");
        let two = ("a/src/two.rs", "use crate::three::Three;");
        let three = ("a/src/three.rs", "use crate::one::One;");
        assert_eq!(found([main, one, two, three]), [""; 0]);
    }

    #[test]
    fn follows_files_that_an_attribute_names() {
        let lib = ("a/src/lib.rs", "mod one;\n#[cfg_attr(x, path = \"../b/two.rs\")]\nmod two;");
        let one = ("a/src/one.rs", "use crate::two::Two;");
        let two = ("a/b/two.rs", "mod three;\nuse three::Three;");
        let three = ("a/b/three.rs", "use crate::one::One;");
        let findings = found([lib, one, two, three]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains("two::three uses one"), "{findings:?}");
    }

    #[test]
    fn says_what_cannot_be_read() {
        let findings = found([("a/src/lib.rs", "fn (")]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].contains("cannot be parsed"), "{findings:?}");
        assert!(found([("a/src/lib.rs", "mod gone;")])[0].contains("no file of module gone"));
    }
}
