//! The Ed25519 parameter set.

use core::fmt;

use crate::hash::HashId;
use crate::parameter_set::{Family, ParameterSet};

/// The only parameter set of Ed25519 (RFC 8032 §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ed25519Set;

impl ParameterSet for Ed25519Set {
    const FAMILY: Family = Family::Classical;
    const FEATURE: &'static str = "ed25519";

    fn from_numbers(_: u32, parameters: u32) -> Option<Self> {
        (parameters == 0).then_some(Self)
    }

    fn numbers(self) -> (u32, u32) {
        (1, 0)
    }

    fn public_key_size(self) -> usize {
        32
    }

    fn signature_size(self) -> Option<usize> {
        Some(64)
    }

    fn hash(self) -> HashId {
        HashId::Sha512
    }

    fn write_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ed25519")
    }

    fn all() -> impl Iterator<Item = Self> {
        [Self].into_iter()
    }
}
