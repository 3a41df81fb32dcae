//! Descriptions of boards (boards/README.md).

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "boards/README.md has the fields")]

pub mod model;
