//! Compiles the C++ code that Verilator writes, as a few large units.
//!
//! Each of its files includes the same headers, and a model has dozens of files. Verilator's makefile compiles them one
//! by one, and two headers in advance, and the headers take three quarters of that time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::parallel::in_parallel;
use xtask::run;

/// The maximum size of a unit in bytes, unless one file is larger. It is small enough that a large model is compiled on
/// all cores.
const UNIT_BYTES: u64 = 3 << 20;
const FLAGS: [&str; 3] = ["-std=gnu++17", "-w", "-DVERILATOR=1"];
/// The optimisation of code that does not run in every cycle.
const SLOW: &str = "-O0";

/// The settings with which C++ code of Verilator is compiled.
pub struct Units<'a> {
    /// The folder of Verilator, as in `VERILATOR_ROOT`.
    pub root: &'a Path,
    pub has_waves: bool,
}

impl Units<'_> {
    /// Compiles the files with this prefix in a folder, and `extra`, and archives them as `PREFIX__ALL.a`. `fast` is
    /// the option for code that runs in every cycle.
    pub fn archive(&self, prefix: &str, fast: &str, extra: &[PathBuf], tree: &Path) -> Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(tree)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(prefix) && name.ends_with(".cpp") {
                files.push((fs::metadata(&path)?.len(), name.contains("__Slow"), path));
            }
        }
        ensure!(!files.is_empty(), "Verilator wrote no {prefix}*.cpp");
        files.sort_unstable_by(|one, other| one.2.cmp(&other.2));
        files.extend(extra.iter().map(|path| (0, false, path.clone())));
        let mut units = Vec::new();
        for (is_slow, optimisation) in [(false, fast), (true, SLOW)] {
            let of_kind = files.iter().filter(|(_, kind, _)| *kind == is_slow);
            let of_kind = of_kind.map(|(size, _, path)| (*size, path.as_path()));
            for (at, paths) in groups(of_kind).into_iter().enumerate() {
                // Both kinds of code have the same options where `fast` is that of slow code.
                let kind = if is_slow { "slow" } else { "fast" };
                let unit = tree.join(format!("unit-{kind}-{at}.cpp"));
                let line = |path: &Path| format!("#include \"{}\"\n", path.display());
                fs::write(&unit, paths.into_iter().map(line).collect::<String>())?;
                units.push((unit, optimisation));
            }
        }
        self.objects(&units, &format!("{prefix}__ALL.a"), tree)
    }

    /// Compiles each source with its options, and archives the objects.
    pub fn objects(&self, units: &[(PathBuf, &str)], archive: &str, tree: &Path) -> Result<()> {
        let done = in_parallel(units, |(source, optimisation)| {
            let stem = source.file_stem().context("a source has a name")?;
            let object = tree.join(stem).with_extension("o");
            let mut compiler = Command::new("g++");
            compiler.args(FLAGS).arg(optimisation);
            for name in ["COVERAGE", "SC", "TIMING", "TRACE_FST", "TRACE_SAIF"] {
                compiler.arg(format!("-DVM_{name}=0"));
            }
            for name in ["TRACE", "TRACE_VCD"] {
                compiler.arg(format!("-DVM_{name}={}", u8::from(self.has_waves)));
            }
            let include = self.root.join("include");
            compiler.arg("-I").arg(tree).arg("-I").arg(&include);
            compiler.arg("-I").arg(include.join("vltstd")).arg("-o").arg(&object);
            compiler.arg("-c").arg(source).current_dir(tree);
            run::quietly(&mut compiler)?;
            Ok(object)
        });
        let mut archiver = Command::new("ar");
        archiver.arg("rcs").arg(tree.join(archive));
        archiver.args(done.into_iter().collect::<Result<Vec<_>>>()?);
        run::quietly(&mut archiver).map(drop)
    }
}

/// Groups adjacent files so that a group has at most `UNIT_BYTES` bytes.
fn groups<'a>(files: impl Iterator<Item = (u64, &'a Path)>) -> Vec<Vec<&'a Path>> {
    let mut groups: Vec<(u64, Vec<&Path>)> = Vec::new();
    for (size, path) in files {
        match groups.last_mut() {
            Some((sum, group)) if *sum + size <= UNIT_BYTES => {
                *sum += size;
                group.push(path);
            }
            _ => groups.push((size, vec![path])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_every_file_once_and_a_bound() {
        let [a, b, c] = ["a", "b", "c"].map(Path::new);
        assert_eq!(
            groups([(1, a), (UNIT_BYTES - 1, b), (1, c)].into_iter()),
            [vec![a, b], vec![c]]
        );
        assert_eq!(groups([(2 * UNIT_BYTES, a), (1, b)].into_iter()), [vec![a], vec![b]]);
        assert!(groups([].into_iter()).is_empty());
    }
}
