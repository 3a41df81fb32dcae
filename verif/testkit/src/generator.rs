//! Makes the vectors of `spec/vectors`: bundles with one fault each, bundles with two faults that show the order
//! of the rules, and bundles with published attacks on other boot loaders.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::bundle::{self, Edit};
use crate::catalogue::{self, Row};
use crate::expected::{self, Expected, Options};
use crate::{attacks, first_stage, keys, system_trees, trees};

/// A folder of vectors.
pub struct Set {
    /// The name of the folder in `spec/vectors`.
    pub name: &'static str,
    rows: fn() -> Vec<&'static Row>,
}

/// All folders.
pub const SETS: [Set; 3] = [
    Set { name: "image", rows: || catalogue::rows().collect() },
    Set { name: "order", rows: catalogue::order::rows },
    Set { name: "attacks", rows: || attacks::ROWS.iter().collect() },
];

/// Returns the differences between the stored vectors and those made here, and between the attacks and the page
/// that explains them.
///
/// # Errors
/// If a folder cannot be read.
pub fn differences(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for set in &SETS {
        findings.extend(of_folder(root, set.name, files(&set.generate())?)?);
    }
    let files = first_stage::files(&first_stage::generate())?;
    findings.extend(of_folder(root, first_stage::FOLDER, files)?);
    findings.extend(of_folder(root, trees::FOLDER, trees::files()?)?);
    findings.extend(of_folder(root, system_trees::FOLDER, system_trees::files()?)?);
    if !findings.is_empty() {
        findings.push("`cargo xtask vectors` writes them".into());
    }
    findings.extend(attacks::check_page(root)?);
    Ok(findings)
}

/// Returns the differences in one folder.
fn of_folder(
    root: &Path,
    name_of_set: &str,
    mut wanted: BTreeMap<String, Vec<u8>>,
) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let folder = root.join("spec/vectors").join(name_of_set);
    for entry in fs::read_dir(folder).context("cannot list the vectors")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        match wanted.remove(&name) {
            Some(bytes) if fs::read(entry.path())? == bytes => {}
            Some(_) => findings.push(format!("{name_of_set}/{name} differs")),
            None if name == "README.md" => {}
            None => findings.push(format!("{name_of_set}/{name} is not a vector")),
        }
    }
    findings.extend(wanted.into_keys().map(|name| format!("{name_of_set}/{name} is missing")));
    Ok(findings)
}

/// A vector with its bytes.
pub struct BundleVector {
    /// The description of the vector, with the answer of its verifier.
    pub expected: Expected,
    /// The bytes of the bundle.
    pub bundle: Vec<u8>,
}

impl Set {
    /// Returns the path of the folder.
    pub fn folder(&self, root: &Path) -> PathBuf {
        root.join("spec/vectors").join(self.name)
    }

    /// Makes every vector of the folder.
    pub fn generate(&self) -> Vec<BundleVector> {
        (self.rows)().into_iter().map(Row::make).collect()
    }

    /// Writes every file and removes files of other vectors. Returns the number of vectors.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, root: &Path) -> Result<usize> {
        let folder = self.folder(root);
        fs::create_dir_all(&folder)?;
        let all = self.generate();
        let files = files(&all)?;
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.extension().is_some_and(|it| it == "hlk") && !files.contains_key(&*name) {
                fs::remove_file(&path)?;
            }
        }
        for (name, bytes) in files {
            let path = folder.join(name);
            if fs::read(&path).ok().as_ref() != Some(&bytes) {
                fs::write(&path, bytes)
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
        Ok(all.len())
    }

    /// Reads the vectors from their folder.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn load(&self, root: &Path) -> Result<Vec<BundleVector>> {
        let folder = self.folder(root);
        let list = folder.join("expected.json");
        let text = fs::read(&list).with_context(|| format!("cannot read {}", list.display()))?;
        let list: Vec<Expected> = serde_json::from_slice(&text)?;
        let read = |expected: Expected| {
            let path = folder.join(&expected.name).with_extension("hlk");
            let bundle =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(BundleVector { expected, bundle })
        };
        list.into_iter().map(read).collect()
    }
}

/// Returns every generated file by its name.
fn files(all: &[BundleVector]) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for made in all {
        files.insert(format!("{}.hlk", made.expected.name), made.bundle.clone());
    }
    for key in keys::ALL {
        files.insert(format!("{}.pub.pem", key.name), key.public_pem()?.into_bytes());
    }
    let list: Vec<Expected> = all.iter().map(|made| made.expected.clone()).collect();
    files.insert("expected.json".into(), expected::encode(&list)?.into_bytes());
    Ok(files)
}

impl Row {
    /// Makes the bundle and the answer that its verifier must give.
    pub fn make(&self) -> BundleVector {
        let (bundle, draft) = bundle::build((self.base)(), self.edits);
        let mut options = Options::of(&draft);
        for edit in self.edits {
            if let Edit::Options(change) = edit {
                change(&mut options);
            }
        }
        let expected = Expected {
            name: self.name.into(),
            verdict: if self.reason.is_some() { "refused" } else { "accepted" }.into(),
            reason: self.reason.map(|reason| expected::answer(Some(reason))),
            options,
            description: self.description.into(),
        };
        BundleVector { expected, bundle }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hartlock_image::Reason;

    use super::*;

    /// Reasons of groups 01 to 08, 10 and 14 that no vector gives, each with an explanation.
    const NOT_COVERED: [(Reason, &str); 6] = [
        (Reason::CodeSizeOutOfRange, "of first stages, which have vectors of their own"),
        (Reason::FirstStageAlgorithm, "of first stages"),
        (Reason::NextKeyInvalid, "of first stages"),
        (Reason::ContentKeyInvalid, "with a class key, which vectors do not have"),
        (Reason::ClassKeyMissing, "with class keys"),
        (Reason::MemoryNotClosed, "of device trees, which have vectors of their own"),
    ];

    #[test]
    fn every_reason_that_a_bundle_can_provoke_is_covered() {
        let covered: BTreeSet<Reason> = catalogue::rows().filter_map(|row| row.reason).collect();
        for reason in Reason::ALL {
            // Group 09 is about the device, so no bundle can provoke it on a workstation.
            let is_of_device = *reason as u16 / 100 == 9;
            let is_exception = NOT_COVERED.iter().any(|(exception, _)| exception == reason);
            assert_eq!(
                covered.contains(reason),
                !is_of_device && !is_exception,
                "{} ({reason:?})",
                expected::answer(Some(*reason))
            );
        }
    }

    #[test]
    fn no_two_vectors_are_the_same() {
        let all: Vec<BundleVector> = SETS.iter().flat_map(Set::generate).collect();
        for (index, one) in all.iter().enumerate() {
            for other in &all[..index] {
                assert_ne!(one.expected.name, other.expected.name);
                assert!(
                    one.bundle != other.bundle || one.expected.options != other.expected.options,
                    "{} and {} are the same",
                    one.expected.name,
                    other.expected.name
                );
            }
        }
    }

    #[test]
    fn vectors_are_named_and_described() {
        for row in SETS.iter().flat_map(|set| (set.rows)()) {
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(row.name.chars().all(is_name), "{}", row.name);
            let text = row.description;
            assert!(text.ends_with('.') && text.len() > 15, "{}: {text}", row.name);
        }
    }

    #[test]
    fn vectors_are_small() {
        for (set, limit) in SETS.iter().zip([5_900_000, 1_500_000, 500_000]) {
            let sizes: Vec<usize> = set.generate().iter().map(|made| made.bundle.len()).collect();
            assert!(sizes.iter().all(|size| *size <= 32 << 10));
            assert!(sizes.iter().sum::<usize>() < limit, "{}", sizes.iter().sum::<usize>());
        }
    }
}
