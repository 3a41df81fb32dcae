//! A row of the catalogue.

use hartlock_image::Reason;

use crate::bundle::{Draft, Edit};

/// The definition of a vector.
pub struct Row {
    pub name: &'static str,
    /// The expected reason, or `None` if the bundle must be accepted.
    pub reason: Option<Reason>,
    pub base: fn() -> Draft,
    /// A sentence about the fault, or about the special property of an accepted bundle.
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
