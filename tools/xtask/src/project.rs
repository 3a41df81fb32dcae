//! The paths of the checkout and of its cache.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Returns the root of the checkout.
///
/// The environment has priority, because with a shared target directory the path from compile time
/// may be that of another checkout.
pub fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    // A runner has its own manifest, deeper in the tree than this crate.
    let root = manifest.ancestors().find(|folder| folder.join("tools/xtask/Cargo.toml").is_file());
    root.map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// The environment variable that names the board for which firmware is built
/// (device/virt/build.rs).
pub const BOARD_VARIABLE: &str = "HARTLOCK_BOARD";
/// The board if the variable is not set.
pub const DEFAULT_BOARD: &str = "qemu-virt";

/// Returns the name of the board for which firmware is built: a folder of device/boards/.
pub fn board() -> String {
    let named = env::var(BOARD_VARIABLE).ok().filter(|name| !name.is_empty());
    named.unwrap_or_else(|| DEFAULT_BOARD.to_owned())
}

/// Returns the target directory of cargo.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Returns the folder for work of this name, below the target directory. Each step of `cargo xtask
/// test` has its own, because steps run at the same time.
pub fn work_dir(name: &str) -> PathBuf {
    match env::var_os("HARTLOCK_STEP") {
        Some(step) => target_dir().join("steps").join(step).join(name),
        None => target_dir().join(name),
    }
}

/// Returns the directory for everything that is fetched, which all checkouts of one user share.
pub fn cache_dir() -> Result<PathBuf> {
    let dir = choose_cache_dir(
        env::var_os("HARTLOCK_CACHE").map(PathBuf::from),
        env::var_os("XDG_CACHE_HOME").map(PathBuf::from),
        env::home_dir(),
    );
    let Some(dir) = dir else {
        bail!("no folder for downloads: set HARTLOCK_CACHE to one");
    };
    // Programs use this path from other directories, so it must be absolute.
    std::path::absolute(&dir).with_context(|| format!("cannot use {}", dir.display()))
}

/// Returns the first of the three that is set. An empty variable counts as unset (XDG base
/// directories).
fn choose_cache_dir(
    own: Option<PathBuf>,
    xdg: Option<PathBuf>,
    home: Option<PathBuf>,
) -> Option<PathBuf> {
    let set = |path: &PathBuf| !path.as_os_str().is_empty();
    own.filter(set)
        .or_else(|| xdg.filter(set).map(|dir| dir.join("hartlock")))
        .or_else(|| home.filter(set).map(|dir| dir.join(".cache/hartlock")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_cache_variable_wins_and_empty_ones_do_not_count() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(choose_cache_dir(path("/a"), path("/b"), path("/c")), path("/a"));
        assert_eq!(choose_cache_dir(path(""), path("/b"), path("/c")), path("/b/hartlock"));
        assert_eq!(choose_cache_dir(None, path(""), path("/c")), path("/c/.cache/hartlock"));
        assert_eq!(choose_cache_dir(None, None, path("")), None);
    }

    #[test]
    fn root_holds_the_workspace() {
        assert!(root().join("rust-toolchain.toml").is_file());
    }
}
