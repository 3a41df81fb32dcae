//! The row of a vector.

use hartlock_image::Reason;

use crate::bundle::{Draft, Edit};

/// One vector.
pub struct Row {
    pub name: &'static str,
    /// `None`: the bundle is accepted.
    pub reason: Option<Reason>,
    pub base: fn() -> Draft,
    /// One sentence: the fault, or what is special about an accepted bundle.
    pub description: &'static str,
    pub edits: &'static [Edit],
}

pub(super) const fn good(
    name: &'static str,
    base: fn() -> Draft,
    description: &'static str,
    edits: &'static [Edit],
) -> Row {
    Row { name, reason: None, base, description, edits }
}

pub const fn bad(
    name: &'static str,
    reason: Reason,
    base: fn() -> Draft,
    description: &'static str,
    edits: &'static [Edit],
) -> Row {
    Row { name, reason: Some(reason), base, description, edits }
}
