//! The catalogue of all vectors: name, expected reason, description, and the edits that make the
//! fault. The modules follow the groups of reason codes.

mod acceptance;
mod accepted;
mod algorithms;
mod altered;
mod blocks;
mod bytes;
mod container;
mod encryption;
mod extensions;
mod header;
mod lists;
pub mod order;
mod payloads;
mod profiles;
mod ranges;
mod row;
mod signatures;

pub use row::{Row, bad};

/// Returns all vectors, in the order of the file.
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
        extensions::ROWS,
        encryption::ROWS,
        payloads::ROWS,
        ranges::ROWS,
        acceptance::ROWS,
        profiles::ROWS,
        bytes::ROWS,
    ]
    .into_iter()
    .flatten()
}
