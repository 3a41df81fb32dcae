//! Bundles on a workstation: built, signed, verified and inspected (`spec/image-format.md`).
//!
//! | module | what |
//! |---|---|
//! | [`spec`] | `bundle.toml`: the description of a bundle |
//! | [`build`] | writes a bundle, then verifies what it wrote |
//! | [`verify`] | verifies a bundle file with the verifier that the boot stages run |
//! | [`reuse`], [`plain`] | payloads of a bundle: as parts of another one, as files, as other tools see them |
//! | [`first_stage`] | images for hardware that decides alone (`spec/first-stage.md`): built and verified |
//! | [`inspect`] | reads a bundle file, byte by byte, and trusts nothing in it |
//!
//! Files appear whole or not at all. Payloads are streamed: no payload is ever in memory as a
//! whole, on either side.

#![forbid(unsafe_code)]

pub mod build;
mod content;
mod culprit;
pub mod date;
mod defaults;
pub mod describe;
pub mod digest;
mod error;
pub mod first_stage;
pub mod inspect;
pub mod plain;
pub mod platform;
mod profile;
mod reason;
pub mod reuse;
pub mod spec;
pub mod units;
pub mod verify;

pub use content::ContentError;
pub use error::{Error, Refusal};
pub use reason::CommandReason;

/// Receives progress: bytes done and bytes in total.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64, u64);
