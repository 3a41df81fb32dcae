//! Stores the consoles of long runs in the cache. The same machine takes the same cycles for the same program and
//! inputs, and some runs take an hour.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use xtask::{packages, project};

/// Returns the console of a run of a cached machine. If none is stored for these files (the program first) and options,
/// this runs it and stores the console. The options must not name other files.
///
/// # Errors
/// If a file cannot be read, the run fails, or its console cannot be stored.
pub fn console(
    machine: &Path,
    files: &[&Path],
    options: &[&str],
    run: impl FnOnce() -> Result<String>,
) -> Result<String> {
    let read =
        |path: &&Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let contents = files.iter().map(read).collect::<Result<Vec<_>>>()?;
    let folder = project::cache_dir()?.join("measured");
    let path = folder.join(name(machine, &contents, options)?);
    if let Ok(console) = fs::read_to_string(&path) {
        eprintln!("  as it ran before: {}", path.display());
        return Ok(console);
    }
    let console = run()?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // The file appears in one step, so an interrupted run leaves no incomplete one.
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(console.as_bytes())?;
    file.persist(&path).with_context(|| format!("cannot create {}", path.display()))?;
    Ok(console)
}

fn name(machine: &Path, files: &[Vec<u8>], options: &[&str]) -> Result<PathBuf> {
    let model = machine.parent().and_then(Path::file_name).context("a machine of the cache")?;
    let files: Vec<String> = files.iter().map(|it| packages::digest_of_bytes(it)).collect();
    let mut parts: Vec<&str> = files.iter().map(String::as_str).collect();
    parts.extend(options);
    let digest = packages::digest(&parts);
    Ok(format!("{}-{digest}.console", model.to_string_lossy()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_kept_for_its_machine_files_and_options() {
        let name = |machine, files: &[&[u8]], options| {
            let files: Vec<_> = files.iter().map(|it| it.to_vec()).collect();
            name(Path::new(machine), &files, options).unwrap()
        };
        let one = name("/m/cva6-1/machine", &[b"program", b"input"], &["--a"]);
        assert_eq!(one, name("/other/cva6-1/machine", &[b"program", b"input"], &["--a"]));
        for other in [
            name("/m/cva6-2/machine", &[b"program", b"input"], &["--a"]),
            name("/m/cva6-1/machine", &[b"another", b"input"], &["--a"]),
            name("/m/cva6-1/machine", &[b"program", b"another"], &["--a"]),
            name("/m/cva6-1/machine", &[b"program", b"input"], &["--b"]),
        ] {
            assert_ne!(one, other);
        }
    }
}
