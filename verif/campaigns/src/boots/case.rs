//! One boot and what has to come out.

use anyhow::Result;

use super::board::Bench;

/// One boot, or a few that belong together.
pub struct Case {
    /// `group/what-happens`.
    pub name: String,
    /// `Err` is a failure; it says what came out instead.
    pub run: Box<Run>,
}

type Run = dyn Fn(&Bench) -> Result<()>;

impl Case {
    pub fn new(name: impl Into<String>, run: impl Fn(&Bench) -> Result<()> + 'static) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }
}
