//! A boot with its name.

use crate::Timeline;

/// A boot with a name that distinguishes it from the others of the page.
#[derive(Clone, Debug)]
pub struct Run {
    /// The name.
    pub label: String,
    /// The data of the boot.
    pub timeline: Timeline,
}
