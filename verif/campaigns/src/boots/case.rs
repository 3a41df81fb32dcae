//! The type of a test case: one boot and its expected result.

use anyhow::Result;

use super::board::TestBoard;

/// A test case: one boot, or a few that belong together.
pub struct Case {
    /// Name of the form `group/what-happens`.
    pub name: String,
    /// Runs the case. An error is a failure and describes the actual result.
    pub run: Box<Run>,
}

type Run = dyn Fn(&TestBoard) -> Result<()>;

impl Case {
    pub fn new(name: impl Into<String>, run: impl Fn(&TestBoard) -> Result<()> + 'static) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }
}
