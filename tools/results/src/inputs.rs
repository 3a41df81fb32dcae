//! Records the sources of a run, so that an outdated stored run can be detected.
//!
//! A run is outdated if a source on which its numbers depend has changed. The sources are listed in a table here, by
//! folder. Versions of tools are stored in the run, and the files that pin them are in the table.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use xtask::run;

/// Digest of each source of a run, by its path.
pub type Inputs = BTreeMap<String, String>;

/// Sources of every run: the file that pins the compiler.
const ALWAYS: &[&str] = &["rust-toolchain.toml"];

/// Sources of each run, by its key: files and folders of the repository. Of hardware, the table lists the RTL of a
/// machine, but not tests, proofs and pages.
const SOURCES: &[(&str, &[&str])] = &[
    (
        "host-speed",
        &[
            "device/algorithm",
            "host/bundle",
            "host/cli",
            "host/files",
            "device/image",
            "device/kernels",
            "host/keys",
            "device/verify",
            "lab/src/host_speed.rs",
        ],
    ),
    (
        "opentitan-accelerator",
        &[
            "device/drivers",
            "host/kat",
            "device/kernels",
            "device/keystore",
            "device/rot",
            "device/rot-rom",
            "verif/programs/accelerator",
            "verif/programs/host-signatures",
            "verif/programs/rot-crypto",
            "verif/programs/rot-dma",
            "verif/programs/rot-host",
            "device/virt",
            "hw/ip/aes/rtl",
            "hw/ip/axi_guard/rtl",
            "hw/ip/bignum/rtl",
            "hw/ip/boot_sequencer/rtl",
            "hw/ip/dma/rtl",
            "hw/ip/ed25519/rtl",
            "hw/ip/mailbox/rtl",
            "hw/ip/sha2/rtl",
            "hw/ip/sha3/rtl",
            "hw/ip/stream_writer/rtl",
            "hw/prim",
            "verif/machines/sim",
            "hw/soc",
            "lab/baseline",
            "lab/papers/opentitan-accelerator",
        ],
    ),
    (
        "parallel-verification",
        &[
            "device/boards/qemu-virt",
            "device/handoff",
            "device/image",
            "device/kernels",
            "device/verify",
            "device/loader",
            "device/stage",
            "verif/programs/loader-variants",
            "device/virt",
            "verif/machines/sim/observe.vlt",
            "verif/machines/sim/src",
            "lab/papers/parallel-verification",
        ],
    ),
    (
        "post-quantum-xmss",
        &[
            "device/drivers",
            "host/kat",
            "device/kernels",
            "device/rot",
            "device/svu",
            "host/first-stage",
            "verif/programs/first-stage",
            "verif/programs/host-signatures",
            "verif/programs/rot-signatures",
            "device/virt",
            "hw/ip/boot_sequencer/rtl",
            "hw/ip/boot_verifier/rtl",
            "hw/ip/otp/rtl",
            "hw/ip/sha2/rtl",
            "hw/ip/xmss/data",
            "hw/ip/xmss/rtl",
            "hw/ip/xmss/tb",
            "hw/prim",
            "verif/machines/sim",
            "hw/soc",
            "lab/papers/post-quantum-xmss",
            "verif/runs/upsets.toml",
        ],
    ),
    (
        "quick-boot-tee",
        &[
            "device/drivers",
            "device/handoff",
            "device/image",
            "device/kernels",
            "device/verify",
            "device/fsbl",
            "device/rot",
            "verif/programs/fsbl-variants",
            "verif/programs/rot-dma",
            "verif/programs/tee-monitor",
            "device/virt",
            "hw/ip/axi_guard/rtl",
            "hw/ip/boot_sequencer/rtl",
            "hw/ip/dma/rtl",
            "hw/ip/ed25519/data",
            "hw/ip/ed25519/rtl",
            "hw/ip/mailbox/rtl",
            "hw/ip/sha2/rtl",
            "hw/ip/sha3/data",
            "hw/ip/sha3/rtl",
            "hw/prim",
            "verif/machines/sim",
            "hw/soc",
            "lab/papers/quick-boot-tee",
            "lab/portable",
        ],
    ),
    (
        "vector-crypto",
        &[
            "device/kernels",
            "verif/programs/bench",
            "device/virt",
            "lab/ciphers",
            "lab/papers/vector-crypto",
            "lab/peers",
            "lab/src/peers",
            "lab/src/peers.rs",
            "tools/xtask/src/openssl.rs",
        ],
    ),
    (
        "vector-crypto-models",
        &[
            "device/kernels/src/rv64",
            "lab/papers/vector-crypto/models",
            "lab/papers/vector-crypto/models.rs",
            "lab/peers/Cargo.lock",
            "lab/src/peers/libraries.rs",
            "tools/packages.toml",
        ],
    ),
];

/// Returns the present digests of the sources of a run.
///
/// # Errors
/// Fails if this is not a git checkout, or if a file cannot be read.
pub fn now(root: &Path, key: &str) -> Result<Inputs> {
    let of_key = SOURCES.iter().find(|(name, _)| *name == key).map_or(&[][..], |(_, paths)| paths);
    let of_one = |path: &&str| Ok(((*path).to_owned(), digest(root, path)?));
    ALWAYS.iter().chain(of_key).map(of_one).collect()
}

/// Returns the paths of sources whose digests differ.
pub fn changed(then: &Inputs, now: &Inputs) -> Vec<String> {
    now.iter()
        .filter(|(path, digest)| then.get(*path) != Some(digest))
        .map(|it| it.0.clone())
        .collect()
}

/// Returns the first half of a SHA-256 digest, in hexadecimal, over names and contents of the files that git tracks,
/// without Markdown pages.
fn digest(root: &Path, path: &str) -> Result<String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--", path]).current_dir(root);
    let list = run::quietly(&mut git)?;
    let mut digest = Sha256::new();
    for file in list.split('\0').filter(|file| !file.is_empty() && !file.ends_with(".md")) {
        // A deleted file is treated like one that never existed.
        let Ok(bytes) = fs::read(root.join(file)) else { continue };
        digest.update(format!("{file}\0{}\0", bytes.len()));
        digest.update(bytes);
    }
    let half = digest.finalize();
    let half = half.get(..16).context("32 bytes")?;
    Ok(half.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::project;

    #[test]
    fn every_source_has_files() {
        let nothing = digest(&project::root(), "no such folder").unwrap();
        for (key, paths) in SOURCES {
            for path in paths.iter().chain(ALWAYS) {
                assert_ne!(digest(&project::root(), path).unwrap(), nothing, "{key}: {path}");
            }
        }
    }

    #[test]
    fn a_change_of_a_source_is_seen_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = |words: &[&str]| {
            run::quietly(Command::new("git").args(words).current_dir(root)).unwrap();
        };
        git(&["init", "-q"]);
        fs::create_dir_all(root.join("lab/src")).unwrap();
        fs::create_dir_all(root.join("host/cli")).unwrap();
        let files = [
            ("host/cli/a", "1"),
            ("host/cli/README.md", "1"),
            ("lab/src/host_speed.rs", "2"),
            ("other", "3"),
        ];
        for (file, text) in files {
            fs::write(root.join(file), text).unwrap();
        }
        git(&["add", "."]);
        let then = now(root, "host-speed").unwrap();
        fs::write(root.join("other"), "4").unwrap();
        fs::write(root.join("host/cli/README.md"), "4").unwrap();
        assert_eq!(changed(&then, &now(root, "host-speed").unwrap()), [""; 0]);
        fs::write(root.join("host/cli/a"), "5").unwrap();
        assert_eq!(changed(&then, &now(root, "host-speed").unwrap()), ["host/cli"]);
        assert_eq!(changed(&Inputs::new(), &then).len(), then.len());
    }
}
