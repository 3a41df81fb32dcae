//! Hashes of other projects on a bare hart (`lab/peers`): builds the program and reads its counts.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use hartlock_device::kernels::{Count, counted_digest};
use xtask::{firmware, project, run};

pub mod libraries;

use libraries::LibraryPart;

/// Compiler target of the peers: the base instruction set of Linux distributions. No hash uses its floating point.
pub const TARGET: &str = "riscv64gc-unknown-none-elf";

/// Environment variable that gives the folder of the C libraries to build scripts.
pub const FOLDER_VARIABLE: &str = "HARTLOCK_PEERS_LIBRARIES";

/// Names of the C libraries.
pub const LIBRARIES: [&str; 3] = ["openssl", "wolfssl", "aws-lc"];

/// Cost of a peer's hash.
pub struct PeerCount {
    pub hart: &'static str,
    pub peer: String,
    pub count: Count,
}

/// Builds the peers for the instructions of a hart, and returns the path of the image. Builds with different names
/// use different folders.
pub fn build(name: &str, hart: &str, flags: &[&str], features: &[&str]) -> Result<PathBuf> {
    let libraries = libraries::build(hart, LibraryPart::Hashes)?;
    let folder = project::target_dir().join("lab/peers").join(name);
    let mut cargo = Command::new("cargo");
    cargo.current_dir(project::root().join("lab/peers"));
    cargo.args(["build", "--quiet", "--locked", "--release", "--target", TARGET]);
    for feature in features {
        cargo.args(["--features", feature]);
    }
    cargo.arg("--target-dir").arg(&folder);
    cargo.env(FOLDER_VARIABLE, libraries);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    // The Zknh code of the crate `sha2` needs unstable intrinsics.
    cargo.env("RUSTC_BOOTSTRAP", "1");
    run::quietly(&mut cargo)?;
    let image = folder.join("peers.bin");
    let built = folder.join(TARGET).join("release/peers");
    fs::write(&image, firmware::flat_binary(&built)?)?;
    Ok(image)
}

/// Reads the counts of the peers from the console output. Fails if a peer's digest differs from that of this
/// project.
pub fn read(hart: &'static str, console: &str) -> Result<Vec<PeerCount>> {
    let mut counts = Vec::new();
    for line in console.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["count", peer, hash, bytes, instructions, digest, cycles @ ..] = &words[..] {
            let count = Count {
                hash: (*hash).to_owned(),
                tier: hart.to_owned(),
                form: "one".to_owned(),
                bytes: bytes.parse()?,
                instructions: instructions.parse()?,
                cycles: cycles.first().map(|cycles| cycles.parse()).transpose()?,
            };
            let right = counted_digest(hash, count.bytes);
            ensure!(right.as_deref() == Some(*digest), "{peer} has another digest of {hash}");
            counts.push(PeerCount { hart, peer: (*peer).to_owned(), count });
        }
    }
    ensure!(!counts.is_empty(), "the peers counted nothing\n{console}");
    Ok(counts)
}

/// Returns the versions of the peers by name.
pub fn versions() -> Result<BTreeMap<&'static str, String>> {
    let mut versions = libraries::versions()?;
    versions.extend(crates()?);
    Ok(versions)
}

/// Returns the versions of the crates among the peers, from their lock file.
fn crates() -> Result<Vec<(&'static str, String)>> {
    let path = project::root().join("lab/peers/Cargo.lock");
    let lock: toml::Table = toml::from_str(&fs::read_to_string(&path)?)?;
    let packages = lock.get("package").and_then(toml::Value::as_array).context("packages")?;
    let version = |name: &str| {
        let package =
            packages.iter().find(|it| it.get("name").and_then(|it| it.as_str()) == Some(name));
        package.and_then(|it| it.get("version")?.as_str()).map(str::to_owned)
    };
    let names = ["sha2", "sha3", "k12"];
    names.into_iter().map(|name| Ok((name, version(name).context(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_cycles_where_there_are_some() {
        let digest = counted_digest("sha384", 64).unwrap();
        let line = format!("count openssl sha384 64 3000 {digest}");
        let of = |console: &str| read("rv64", console).map(|counts| counts[0].count.cycles);
        assert_eq!(of(&line).unwrap(), None);
        assert_eq!(of(&format!("{line} 4000\nbench: done\n")).unwrap(), Some(4000));
    }

    #[test]
    fn refuses_another_digest() {
        let digest = counted_digest("sha256", 64).unwrap();
        assert!(read("rv64", &format!("count openssl sha384 64 3000 {digest}")).is_err());
        assert!(read("rv64", "bench: done\n").is_err());
    }
}
