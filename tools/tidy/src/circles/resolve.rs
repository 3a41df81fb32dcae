//! From paths as they are written to the modules that define what they name.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Module, Modules, Name};

/// Longest chain of re-exports; a longer one leads in a circle.
const MAX_DEPTH: usize = 16;

/// The modules that each module uses, by names for people: `a::b`, and `crate` for the root.
pub fn dependencies(modules: &Modules) -> BTreeMap<String, BTreeSet<String>> {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, module) in modules {
        let imports = module.imports.values();
        let targets = imports.chain(&module.paths).filter_map(|path| {
            match modules.resolve(name, path, 0)? {
                Target::Item(target) => Some(target),
                Target::Module(_) => None,
            }
        });
        let globs = module.globs.iter().filter_map(|path| {
            match modules.resolve(name, path, 0)? {
                // All names of the parent, for paths through it, which count themselves.
                Target::Module(target) if !name.starts_with(&target) => Some(target),
                Target::Module(_) => None,
                // All variants of an enumeration.
                Target::Item(target) => Some(target),
            }
        });
        let from = &module.file;
        let used = graph.entry(display(from)).or_default();
        for target in targets.chain(globs) {
            let to = &modules[&target].file;
            if to != from {
                used.insert(display(to));
            }
        }
    }
    graph
}

fn display(name: &Name) -> String {
    if name.is_empty() { "crate".to_owned() } else { name.join("::") }
}

/// What a path leads to.
enum Target {
    /// The module itself.
    Module(Name),
    /// Something that this module defines.
    Item(Name),
}

trait Resolve {
    fn resolve(&self, from: &Name, path: &[String], depth: usize) -> Option<Target>;
    fn descend(&self, from: Name, path: &[String], depth: usize) -> Option<Target>;
    fn imported(&self, from: &Name, name: &str, depth: usize) -> Option<Target>;
}

impl Resolve for Modules {
    /// Nothing for what is outside of the crate.
    fn resolve(&self, from: &Name, path: &[String], depth: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.descend(Name::new(), rest, depth),
            "self" => self.descend(from.clone(), rest, depth),
            "super" => {
                let parent = from.split_last()?.1.to_vec();
                if rest.first().is_some_and(|next| next == "super") {
                    return self.resolve(&parent, rest, depth);
                }
                self.descend(parent, rest, depth)
            }
            name => {
                let module = &self[from];
                if self.contains_key(&child(from, name)) || module.items.contains(name) {
                    return self.descend(from.clone(), path, depth);
                }
                match self.imported(from, name, depth)? {
                    Target::Module(found) => self.descend(found, rest, depth),
                    item @ Target::Item(_) => Some(item),
                }
            }
        }
    }

    /// Follows a path from a module that it has reached.
    fn descend(&self, from: Name, path: &[String], depth: usize) -> Option<Target> {
        let Some((name, rest)) = path.split_first() else { return Some(Target::Module(from)) };
        let below = child(&from, name);
        if self.contains_key(&below) {
            return self.descend(below, rest, depth);
        }
        if self[&from].items.contains(name) {
            return Some(Target::Item(from));
        }
        match self.imported(&from, name, depth) {
            Some(Target::Module(found)) => self.descend(found, rest, depth),
            Some(item) => Some(item),
            // From outside, if it is imported at all; or made by a macro.
            None if self[&from].imports.contains_key(name) => None,
            None => Some(Target::Item(from)),
        }
    }

    /// What a module imports by a name, alone or with all names of another one.
    fn imported(&self, from: &Name, name: &str, depth: usize) -> Option<Target> {
        if depth == MAX_DEPTH {
            return None;
        }
        let module: &Module = &self[from];
        if let Some(path) = module.imports.get(name) {
            // A crate may be imported by its own name.
            if path.len() == 1 {
                return None;
            }
            return self.resolve(from, path, depth + 1);
        }
        module.globs.iter().find_map(|glob| {
            let Target::Module(found) = self.resolve(from, glob, depth + 1)? else { return None };
            if &found == from {
                return None;
            }
            let below = child(&found, name);
            if self.contains_key(&below) {
                return Some(Target::Module(below));
            }
            if self[&found].items.contains(name) {
                return Some(Target::Item(found));
            }
            self.imported(&found, name, depth + 1)
        })
    }
}

fn child(parent: &Name, name: &str) -> Name {
    parent.iter().cloned().chain([name.to_owned()]).collect()
}
