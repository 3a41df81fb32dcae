//! Where the checkout and its cache are.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The root of the checkout.
///
/// Asks the environment first: with a shared target directory the compiled-in path can be that
/// of another checkout.
pub fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    // A runner is deeper in the tree than this crate, and has a manifest of its own.
    let root = manifest.ancestors().find(|folder| folder.join("tools/xtask/Cargo.toml").is_file());
    root.map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// Names the board that firmware is built for (device/virt/build.rs).
pub const BOARD_VARIABLE: &str = "HARTLOCK_BOARD";
/// The board without it.
pub const DEFAULT_BOARD: &str = "qemu-virt";

/// Name of the board that firmware is built for: a folder of device/boards/.
pub fn board() -> String {
    let named = env::var(BOARD_VARIABLE).ok().filter(|name| !name.is_empty());
    named.unwrap_or_else(|| DEFAULT_BOARD.to_owned())
}

/// Where cargo builds.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Where something of this name is worked on: below the target directory, and apart for each step of
/// `cargo xtask test`, because steps run side by side.
pub fn work_dir(name: &str) -> PathBuf {
    match env::var_os("HARTLOCK_STEP") {
        Some(step) => target_dir().join("steps").join(step).join(name),
        None => target_dir().join(name),
    }
}

/// The directory for everything that is fetched, shared by all checkouts of one user.
pub fn cache_dir() -> Result<PathBuf> {
    let dir = choose_cache_dir(
        env::var_os("HARTLOCK_CACHE").map(PathBuf::from),
        env::var_os("XDG_CACHE_HOME").map(PathBuf::from),
        env::home_dir(),
    );
    let Some(dir) = dir else {
        bail!("no place for the cache: set HARTLOCK_CACHE to a directory");
    };
    // The package root is entered from other directories, so a relative path would break.
    std::path::absolute(&dir).with_context(|| format!("cannot use {}", dir.display()))
}

/// The first of the three that is set; an empty variable counts as unset (XDG base directories).
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
