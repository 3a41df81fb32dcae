//! Converts public known-answer cases from the formats of their publishers into lines of
//! `spec/kat.md`.
//!
//! If a verdict depends on policy, the documentation of the converter states the rule.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "for the campaign of this project alone")]

use anyhow::{Context, Result};

pub mod case;
mod ed25519;
mod hashes;
mod key_wrap;
mod others;
mod records;
pub mod rsa;
pub mod signatures;
mod vectors;
pub mod wycheproof_json;

use case::Collection;
pub use vectors::Vectors;

/// Returns the cases of all files in the folder.
///
/// # Errors
/// If a file is missing or is not in its format.
pub fn all(vectors: &Vectors) -> Result<Collection> {
    let mut out = Collection::default();
    hashes::convert(vectors, &mut out).context("hashes")?;
    wycheproof_json::convert(vectors, &mut out).context("wycheproof")?;
    ed25519::convert(vectors, &mut out).context("ed25519")?;
    rsa::convert(vectors, &mut out).context("rsa")?;
    signatures::convert(vectors, &mut out).context("signatures")?;
    others::convert(vectors, &mut out).context("others")?;
    key_wrap::convert(&mut out).context("key wrap")?;
    out.check_ids()?;
    Ok(out)
}
