//! Stages that carry chosen signature algorithms.

use anyhow::Result;
use hartlock_image::Algorithm;
use xtask::firmware::{self, StageFiles};

/// A ROM for root keys of these algorithms, and no others.
///
/// # Errors
/// If it does not build.
pub fn rom_for(algorithms: &[Algorithm]) -> Result<StageFiles> {
    let mut features: Vec<&str> = algorithms.iter().map(|algorithm| feature(*algorithm)).collect();
    features.sort_unstable();
    features.dedup();
    firmware::stage_without_defaults("rom", &features)
}

/// The feature of a stage that carries an algorithm.
pub const fn feature(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Ed25519 => "ed25519",
        Algorithm::Rsa { .. } => "rsa",
        Algorithm::Ecdsa(_) => "ecdsa",
        Algorithm::Hss(_) => "lms",
        Algorithm::Xmss(_) | Algorithm::XmssMt(_) => "xmss",
        Algorithm::MlDsa(_) => "ml-dsa",
        Algorithm::SlhDsa(_) => "slh-dsa",
    }
}
