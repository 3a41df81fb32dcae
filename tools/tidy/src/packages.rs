//! The packages of the tree, as cargo reads their manifests.
//!
//! Fuzz targets and the programs of `lab` are workspaces of their own, so each root is read.

use std::path::Path;

use anyhow::{Context, Result, bail};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Target};

use super::tree::Source;

pub struct Package {
    /// Its folder, from the root of the checkout.
    pub folder: String,
    /// The files that its libraries and programs begin with.
    pub roots: Vec<String>,
    pub dependencies: Vec<Dependency>,
}

pub struct Dependency {
    /// Its name in the manifest, from which the name in the sources is made.
    pub key: String,
    /// Its folder, if it is one of ours.
    pub folder: Option<String>,
    pub kind: Kind,
}

/// What a dependency is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What is built, and is linked into what ships.
    Normal,
    /// The build script.
    Build,
    /// Tests, and nothing that ships.
    Test,
}

/// The packages of all workspaces among these files.
///
/// # Errors
/// If cargo refuses a manifest, or builds nothing from one.
pub fn read(root: &Path, files: &[Source]) -> Result<Vec<Package>> {
    let is_manifest = |path: &str| path == "Cargo.toml" || path.ends_with("/Cargo.toml");
    let manifests: Vec<&Source> = files.iter().filter(|it| is_manifest(&it.path)).collect();
    let mut packages = Vec::new();
    for source in &manifests {
        if source.lines().any(|(_, line)| line.trim() == "[workspace]") {
            let mut cargo = MetadataCommand::new();
            cargo.manifest_path(root.join(&source.path)).no_deps();
            let metadata = cargo.exec().with_context(|| source.path.clone())?;
            packages.extend(of_workspace(root, &metadata)?);
        }
    }
    for source in manifests {
        let folder = source.path.trim_end_matches("Cargo.toml").trim_end_matches('/');
        let is_virtual = !source.lines().any(|(_, line)| line.trim() == "[package]");
        if !is_virtual && !packages.iter().any(|package| package.folder == folder) {
            bail!("{}: a member of no workspace", source.path);
        }
    }
    Ok(packages)
}

fn of_workspace(root: &Path, metadata: &Metadata) -> Result<Vec<Package>> {
    let inside = |path: &Path| Some(path.strip_prefix(root).ok()?.to_str()?.to_owned());
    let is_built = |target: &&Target| target.is_lib() || target.is_bin() || target.is_proc_macro();
    let mut packages = Vec::new();
    for package in &metadata.packages {
        let folder = package.manifest_path.parent().and_then(|it| inside(it.as_std_path()));
        let targets = package.targets.iter().filter(is_built);
        let dependencies = package.dependencies.iter().map(|dependency| Dependency {
            key: dependency.rename.clone().unwrap_or_else(|| dependency.name.clone()),
            folder: dependency.path.as_ref().and_then(|path| inside(path.as_std_path())),
            kind: match dependency.kind {
                DependencyKind::Build => Kind::Build,
                DependencyKind::Development => Kind::Test,
                _ => Kind::Normal,
            },
        });
        packages.push(Package {
            folder: folder.with_context(|| format!("{} is outside", package.manifest_path))?,
            roots: targets.filter_map(|target| inside(target.src_path.as_std_path())).collect(),
            dependencies: dependencies.collect(),
        });
    }
    Ok(packages)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const WORKSPACE: &str = "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n\
        [workspace.dependencies]\nlow = { package = \"lowest\", path = \"crates/low\" }\n";

    /// What cargo reads from these manifests; each package has a library.
    fn packages_of(files: &[(&str, &str)]) -> Result<Vec<Package>> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap().join("src")).unwrap();
            fs::write(path.parent().unwrap().join("src/lib.rs"), "").unwrap();
            fs::write(path, text).unwrap();
        }
        let source =
            |(path, text): &(&str, &str)| Source { path: (*path).into(), text: (*text).into() };
        read(root.path(), &files.iter().map(source).collect::<Vec<_>>())
    }

    #[test]
    fn every_way_to_name_a_dependency_leads_to_its_folder() {
        let package = |name: &str| format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
        for (section, key, kind) in [
            ("[dependencies]\nlowest.path = \"../low\"", "lowest", Kind::Normal),
            ("[build-dependencies]\nlowest.path = \"../low\"", "lowest", Kind::Build),
            ("[dev-dependencies]\nlowest.path = \"../low\"", "lowest", Kind::Test),
            ("[target.'cfg(unix)'.dependencies]\nlowest.path = \"../low\"", "lowest", Kind::Normal),
            ("[dependencies]\nlow.workspace = true", "low", Kind::Normal),
            ("[dependencies]\nk = { package = \"lowest\", path = \"../low\" }", "k", Kind::Normal),
        ] {
            let high = package("high") + section;
            let packages = packages_of(&[
                ("Cargo.toml", WORKSPACE),
                ("crates/high/Cargo.toml", &high),
                ("crates/low/Cargo.toml", &package("lowest")),
            ])
            .unwrap();
            let high = packages.iter().find(|it| it.folder == "crates/high").unwrap();
            assert_eq!(high.roots, ["crates/high/src/lib.rs"]);
            let [found] = &high.dependencies[..] else { panic!("{section}") };
            assert_eq!((&*found.key, found.kind), (key, kind), "{section}");
            assert_eq!(found.folder.as_deref(), Some("crates/low"), "{section}");
        }
    }

    #[test]
    fn a_workspace_of_its_own_is_read_and_an_orphan_is_refused() {
        let own = "[package]\nname = \"own\"\n[workspace]\n[dependencies]\nsha2 = \"0.11\"\n";
        let packages = packages_of(&[("Cargo.toml", "[workspace]\n"), ("own/Cargo.toml", own)]);
        let packages = packages.unwrap();
        assert_eq!(packages.len(), 1);
        let sha2 = &packages[0].dependencies[0];
        assert_eq!((&*sha2.key, sha2.folder.as_ref()), ("sha2", None));
        let orphan = own.replace("[workspace]\n", "");
        let result = packages_of(&[("Cargo.toml", "[workspace]\n"), ("own/Cargo.toml", &orphan)]);
        let Err(error) = result else { panic!("an orphan") };
        assert!(error.to_string().contains("a member of no workspace"), "{error}");
    }
}
