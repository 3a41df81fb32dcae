//! Builds, signs, verifies and inspects bundles on a workstation (`spec/image-format.md`).
//!
//! | module | content |
//! |---|---|
//! | [`spec`] | `bundle.toml`: the description of a bundle |
//! | [`build`] | writes a bundle, then verifies what it wrote |
//! | [`verify`] | verifies a bundle file with the verifier that the boot stages run |
//! | [`reuse`] | reads a bundle as the description of another one that has the same payloads |
//! | [`plain`] | computes the digests of payloads that other tools print |
//! | [`first_stage`] | builds and verifies images that hardware verifies (`spec/first-stage.md`) |
//! | [`unsigned`] | files that wait for the signatures of others |
//! | [`inspect`] | reads a bundle file byte by byte without trusting any value in it |
//!
//! Files appear completely or not at all. Payloads are streamed: none but a device tree is ever in
//! memory as a whole, neither when a bundle is built nor when it is verified.

#![forbid(unsafe_code)]

mod boot_tree;
pub mod build;
mod content;
pub mod date;
mod defaults;
pub mod describe;
pub mod digest;
mod encryption;
mod error;
pub mod first_stage;
mod initramfs;
pub mod inspect;
mod payload_bytes;
pub mod plain;
pub mod platform;
mod profile;
mod reason;
mod refusal_detail;
pub mod reuse;
pub mod spec;
mod system_tree;
mod tree_notes;
pub mod units;
pub mod unsigned;
pub mod verify;

pub use content::ContentError;
pub use defaults::LIFECYCLE as DEFAULT_LIFECYCLE;
pub use error::{Error, Refusal};
pub use reason::CommandReason;

/// A callback that receives progress: the number of bytes done, and the total number of bytes.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64, u64);
