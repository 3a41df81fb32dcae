//! Builds stages with selected signature algorithms.

use anyhow::Result;
use hartlock_image::Algorithm;
use xtask::firmware::{self, StageFiles};

/// Builds a ROM that supports root keys of these algorithms only.
///
/// # Errors
/// Fails if the build fails.
pub fn rom_for(algorithms: &[Algorithm]) -> Result<StageFiles> {
    let mut features: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.feature()).collect();
    features.sort_unstable();
    features.dedup();
    firmware::stage_without_defaults("rom", &features)
}
