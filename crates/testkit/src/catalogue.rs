//! Every vector: its name, the reason it must give, what is wrong with it, and the edit that
//! makes it so. The groups follow the groups of the reason codes.

use hartlock_image::Reason;

use super::bundle::{Draft, Edit};

mod acceptance;
mod accepted;
mod algorithms;
mod altered;
mod blocks;
mod bytes;
mod container;
mod header;
mod lists;
mod payloads;
mod ranges;
mod signatures;

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

/// All vectors, in the order of the file.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [
        accepted::ROWS,
        container::ROWS,
        blocks::ROWS,
        signatures::ROWS,
        algorithms::ROWS,
        altered::ROWS,
        header::ROWS,
        lists::ROWS,
        payloads::ROWS,
        ranges::ROWS,
        acceptance::ROWS,
        bytes::ROWS,
    ]
    .into_iter()
    .flatten()
}

const fn good(
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
