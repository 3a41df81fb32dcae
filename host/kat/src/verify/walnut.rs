//! WalnutDSA, which is not supported yet. `signature` is the braid, and `message` the bytes after
//! it.

use hartlock_kernels::Kernels;

use crate::{Answer, Request};

pub(super) fn verify(_: &Kernels, _: &Request<'_>) -> Answer {
    Answer::Unsupported("WalnutDSA is not carried yet")
}
