//! The form of a stored run of the fuzz targets (`verif/runs/fuzz`).

use serde::{Deserialize, Serialize};

/// A run of fuzz targets.
#[derive(Serialize, Deserialize)]
pub struct FuzzRun {
    pub schema: u32,
    /// The commit that was checked out.
    pub commit: String,
    /// True if the tree differed from the commit.
    pub is_modified: bool,
    /// Day on which the run ended, UTC.
    pub date: String,
    /// The same in seconds since 1970-01-01; 0 in files that do not say it.
    #[serde(default)]
    pub ended: u64,
    pub rustc: String,
    pub libfuzzer_sys: String,
    pub seed: u32,
    pub targets: Vec<FuzzFigures>,
}

/// The figures of one target at the end of its run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FuzzFigures {
    pub target: String,
    pub seconds: f64,
    pub executions: u64,
    /// Edges of the control flow that an input took.
    pub coverage: u64,
    /// Edges together with the number of times that they were taken, in classes.
    pub features: u64,
    /// Inputs that add a feature, in memory at the end, those of the repository included.
    pub corpus: u64,
    /// Of these, the ones that this run and earlier long ones found.
    pub found_files: u64,
    pub found_bytes: u64,
    pub peak_memory_mib: u64,
    pub crashes: u64,
    /// Signatures that both sides accepted, of targets that compare verdicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<u64>,
    /// Signatures that both sides refused, of targets that compare verdicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<u64>,
    /// The message of a crash, and the command that shows it again.
    #[serde(skip)]
    pub crash: Option<String>,
}
