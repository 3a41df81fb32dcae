//! A boot on a page.

use crate::Timeline;

/// A boot with a name that tells it from the others.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name.
    pub label: String,
    /// What was measured.
    pub timeline: Timeline,
}
