//! The Hartlock image format (`spec/image-format.md`): types, parser and encoder. The module [`first_stage`] has the
//! form that hardware verifies without a core (`spec/first-stage.md`).
//!
//! The parsers return types that exist only for checked values, so nothing is validated twice. No function panics on
//! any input, allocates memory, or reads a clock, a file or a key. This crate decides what a bundle *contains*;
//! `hartlock-verify` decides whether to accept it.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod bytes;
mod call_reason;
mod encode;
mod extension;
pub mod first_stage;
mod head;
mod manifest;
pub mod packed;
mod payload;
mod profile;
mod reason;
mod reasons;
mod refusal;
mod request_reason;
mod signature_blocks;
#[cfg(test)]
mod tests;
mod types;

// These types are defined in the base crate, and re-exported because a bundle names them.
pub use hartlock_algorithm::{
    Algorithm, Curve, Family, HashId, HssSet, MlDsaSet, ParameterSet, Profile, RsaPadding, RsaSet,
    SlhDsaSet, XmssSet,
};

pub use bytes::{Writer, bytes_at, is_zero, u32_at, u64_at};
pub use call_reason::CallReason;
pub use encode::encode_manifest;
pub use extension::{
    CLASS_ID_SIZE, Encryption, EncryptionField, Extensions, MAX_EXTENSIONS_SIZE,
    MAX_OTHER_IDENTITIES, WRAPPED_KEY_SIZE,
};
pub use head::{HEADER_SIZE, Head, MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE};
pub use manifest::{Bootargs, Closing, MAX_BOOTARGS, Manifest, TrustList};
pub use payload::{PAYLOAD_RECORD_PREFIX_SIZE, PAYLOAD_RECORD_SIZE, PayloadRecord};
pub use reason::Reason;
pub use reasons::Fault;
pub use refusal::{hint_line, refusal_line};
pub use request_reason::RequestReason;
pub use signature_blocks::{SignatureBlock, SignatureBlocks};
pub use types::{
    BundleType, Identity, IdentityField, KEY_ID_SIZE, KEY_RECORD_SIZE, KeyRecord, Label, Lifecycle,
    List, MAX_PAYLOADS, MAX_SIGNERS, MAX_TRUSTED_KEYS, Name, PAGE_SIZE, PayloadType, Policy,
    TreeMode, align_up,
};
