//! The modules of a crate, and the paths in their code.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, Token, UseTree};

use crate::tree::{Source, Tree};

/// A module by its path from the root of the crate, whose own path is empty.
pub type Name = Vec<String>;

/// What one module declares and names.
#[derive(Default)]
pub struct Module {
    /// The module whose file this one is in: itself, unless it is inline.
    pub file: Name,
    pub items: BTreeSet<String>,
    /// What `use` brings into scope: the name here, and the path as it is written.
    pub imports: BTreeMap<String, Vec<String>>,
    /// Modules all of whose names are imported.
    pub globs: Vec<Vec<String>>,
    /// Every other path of two parts and more.
    pub paths: BTreeSet<Vec<String>>,
}

impl Module {
    fn merge(&mut self, other: Self) {
        self.file = other.file;
        self.items.extend(other.items);
        self.imports.extend(other.imports);
        self.globs.extend(other.globs);
        self.paths.extend(other.paths);
    }
}

pub type Modules = BTreeMap<Name, Module>;

/// Reads a crate from its first file.
///
/// # Errors
/// A finding, if a file is missing or cannot be parsed.
pub fn read_crate(tree: &Tree, root: &Source) -> Result<Modules, String> {
    let mut reader = Reader { tree, modules: Modules::new(), exported: Vec::new() };
    reader.read_file(root, Name::new(), folder_of(&root.path))?;
    let Reader { mut modules, exported, .. } = reader;
    // An exported macro is named as an item of the root.
    if let Some(root) = modules.get_mut(&Name::new()) {
        for path in exported {
            let name = path.last().cloned().unwrap_or_default();
            let absolute = std::iter::once("crate".to_owned()).chain(path);
            root.imports.entry(name).or_insert_with(|| absolute.collect());
        }
    }
    Ok(modules)
}

struct Reader<'a> {
    tree: &'a Tree,
    modules: Modules,
    exported: Vec<Vec<String>>,
}

impl Reader<'_> {
    /// Reads the file of a module; the files of its children are below `children`.
    fn read_file(&mut self, source: &Source, name: Name, children: String) -> Result<(), String> {
        let file = syn::parse_file(&source.text).map_err(|error| {
            source.finding(error.span().start().line, &format!("cannot be parsed: {error}"))
        })?;
        self.read_items(source, &file.items, &name, &name, &children)
    }

    fn read_items(
        &mut self,
        source: &Source,
        items: &[Item],
        name: &Name,
        file: &Name,
        children: &str,
    ) -> Result<(), String> {
        let mut collector = Collector::default();
        collector.module.file.clone_from(file);
        for item in items {
            collector.visit_item(item);
        }
        // One of several files may be chosen when it is built: the module has the sum of them.
        self.modules.entry(name.clone()).or_default().merge(collector.module);
        for item in items {
            if let Item::Macro(it) = item
                && let Some(ident) = &it.ident
                && it.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export"))
            {
                self.exported.push(join(name, &ident.to_string()));
            }
            let Item::Mod(declared) = item else { continue };
            if declared.attrs.iter().any(is_for_tests) {
                continue;
            }
            let ident = declared.ident.to_string();
            let child = join(name, &ident);
            if let Some((_, items)) = &declared.content {
                self.read_items(source, items, &child, file, &format!("{children}{ident}/"))?;
                continue;
            }
            let named: Vec<String> = declared.attrs.iter().filter_map(path_attribute).collect();
            let mut files = Vec::new();
            for path in &named {
                let path = normal(&format!("{}{path}", folder_of(&source.path)));
                // Its children are beside it, as those of the first file are.
                files.extend(self.tree.get(&path).map(|file| (file, folder_of(&path))));
            }
            let below = format!("{children}{ident}");
            for path in [format!("{below}.rs"), format!("{below}/mod.rs")] {
                if named.is_empty() {
                    files.extend(self.tree.get(&path).map(|file| (file, format!("{below}/"))));
                }
            }
            if files.is_empty() {
                return Err(source.finding(1, &format!("no file of module {ident}")));
            }
            for (file, below) in files {
                self.read_file(file, child.clone(), below)?;
            }
        }
        Ok(())
    }
}

/// Collects what the code of one module names.
#[derive(Default)]
struct Collector {
    module: Module,
}

impl Collector {
    fn read_use(&mut self, prefix: &[String], tree: &UseTree) {
        let with = |ident: &syn::Ident| join(prefix, &ident.to_string());
        match tree {
            UseTree::Path(path) => self.read_use(&with(&path.ident), &path.tree),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.read_use(prefix, tree));
            }
            UseTree::Glob(_) => self.module.globs.push(prefix.to_vec()),
            UseTree::Name(it) if it.ident == "self" => self.import(None, prefix.to_vec()),
            UseTree::Name(it) => self.import(None, with(&it.ident)),
            UseTree::Rename(it) if it.ident == "self" => {
                self.import(Some(it.rename.to_string()), prefix.to_vec());
            }
            UseTree::Rename(it) => self.import(Some(it.rename.to_string()), with(&it.ident)),
        }
    }

    fn import(&mut self, name: Option<String>, path: Vec<String>) {
        // What is imported for its methods alone is used, too.
        let name = name.filter(|name| name != "_").or_else(|| path.last().cloned());
        if let Some(name) = name {
            // Two functions may import different items by one name.
            match self.module.imports.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(path);
                }
                Entry::Occupied(_) => {
                    self.module.paths.insert(path);
                }
            }
        }
    }

    /// Paths in the arguments of a macro, which are no syntax tree yet.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_path(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    self.end_path(&mut path);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.read_tokens(group.stream());
                    }
                }
            }
        }
        self.end_path(&mut path);
    }

    fn end_path(&mut self, path: &mut Vec<String>) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.module.paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, ident) = attributes_and_name(item);
        if attributes.iter().any(is_for_tests) {
            return;
        }
        if let Some(ident) = ident {
            self.module.items.insert(ident.to_string());
        }
        match item {
            // A module of its own.
            Item::Mod(_) => {}
            Item::Use(it) => self.read_use(&[], &it.tree),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let parts = path.segments.iter().map(|segment| segment.ident.to_string());
            self.module.paths.insert(parts.collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.read_tokens(call.tokens.clone());
    }

    /// Who may see an item is no use of it.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    /// Only code counts.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !function.attrs.iter().any(is_for_tests) {
            visit::visit_impl_item_fn(self, function);
        }
    }
}

fn attributes_and_name(item: &Item) -> (&[Attribute], Option<&syn::Ident>) {
    match item {
        Item::Const(it) => (&it.attrs, Some(&it.ident)),
        Item::Enum(it) => (&it.attrs, Some(&it.ident)),
        Item::Fn(it) => (&it.attrs, Some(&it.sig.ident)),
        Item::Impl(it) => (&it.attrs, None),
        Item::Macro(it) => (&it.attrs, it.ident.as_ref()),
        Item::Static(it) => (&it.attrs, Some(&it.ident)),
        Item::Struct(it) => (&it.attrs, Some(&it.ident)),
        Item::Trait(it) => (&it.attrs, Some(&it.ident)),
        Item::Type(it) => (&it.attrs, Some(&it.ident)),
        Item::Union(it) => (&it.attrs, Some(&it.ident)),
        Item::Use(it) => (&it.attrs, None),
        _ => (&[], None),
    }
}

/// `#[test]`, `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn is_for_tests(attribute: &Attribute) -> bool {
    fn needs_test(meta: &Meta) -> bool {
        meta.path().is_ident("test")
            || meta.path().is_ident("all") && nested(meta).iter().any(needs_test)
    }
    attribute.path().is_ident("test")
        || attribute.path().is_ident("cfg") && nested(&attribute.meta).iter().any(needs_test)
}

fn nested(meta: &Meta) -> Vec<Meta> {
    let Meta::List(list) = meta else { return Vec::new() };
    let parsed = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    parsed.map_or_else(|_| Vec::new(), |metas| metas.into_iter().collect())
}

/// The file that `#[path = "…"]` names, if need be on a condition.
fn path_attribute(attribute: &Attribute) -> Option<String> {
    fn path(meta: &Meta) -> Option<String> {
        if meta.path().is_ident("cfg_attr") {
            return nested(meta).iter().find_map(path);
        }
        let Meta::NameValue(pair) = meta else { return None };
        let syn::Expr::Lit(literal) = &pair.value else { return None };
        match &literal.lit {
            syn::Lit::Str(text) if pair.path.is_ident("path") => Some(text.value()),
            _ => None,
        }
    }
    path(&attribute.meta)
}

fn join(prefix: &[String], name: &str) -> Vec<String> {
    prefix.iter().cloned().chain([name.to_owned()]).collect()
}

/// The folder of a file, with the last slash.
fn folder_of(path: &str) -> String {
    path.rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"))
}

/// A path without `..`.
fn normal(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}
