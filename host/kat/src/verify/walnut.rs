//! WalnutDSA: `signature` is the braid, `message` the rest.

use hartlock_kernels::Kernels;

use crate::{Answer, Request};

pub(super) fn verify(_: &Kernels, _: &Request<'_>) -> Answer {
    Answer::Unsupported("WalnutDSA is not carried yet")
}
