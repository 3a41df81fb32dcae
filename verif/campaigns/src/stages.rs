//! Stages that carry chosen signature algorithms.

use anyhow::Result;
use hartlock_image::Algorithm;
use xtask::firmware::{self, StageFiles};

/// A ROM for root keys of these algorithms, and no others.
///
/// # Errors
/// If it does not build.
pub fn rom_for(algorithms: &[Algorithm]) -> Result<StageFiles> {
    let mut features: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.feature()).collect();
    features.sort_unstable();
    features.dedup();
    firmware::stage_without_defaults("rom", &features)
}
