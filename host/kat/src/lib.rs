//! Known-answer cases (`spec/kat.md`): reads them, answers them, on a workstation and on a board.
//!
//! | module | what |
//! |---|---|
//! | [`request`] | one case, and the form in which it travels to a board |
//! | [`answer()`] | what a case is answered with |
//! | [`hash`], [`digest`], [`mac`], [`verify`] | the operations; each signature family is a file of [`verify`] |
//! | [`pack`] | cases on their way to a board, and its answers on their way back |
//! | [`lanes`] | several messages at once |
//! | [`roots`] | signatures of hash trees, and the roots that they lead to |
//! | `host` | JSON lines, batches, threads; with the feature `host` only |
//!
//! Everything but `host` is free of a heap and of panics: the bench of the board links the same code, so a
//! case has the same answer wherever it runs. Data is public: nothing here may see a secret.

#![cfg_attr(not(feature = "host"), no_std)]
#![forbid(unsafe_code)]

#[cfg(feature = "convert")]
#[allow(missing_docs, reason = "for the campaign of this project alone")]
pub mod convert;
pub mod digest;
mod engine;
pub mod hash;
#[cfg(feature = "host")]
pub mod host;
pub mod lanes;
pub mod mac;
pub mod numbers;
pub mod pack;
pub mod request;
pub mod roots;
pub mod verify;

pub use engine::{Answer, Engine, Output};
pub(crate) use engine::{Form, NO_KERNEL};
pub use request::{Field, Op, Request};

/// Answers a case.
pub fn answer(engine: &Engine, request: &Request<'_>, output: Output<'_>) -> Answer {
    match request.op {
        Op::Digest => digest::answer(engine, request, output),
        Op::Mac => mac::answer(engine, request, output),
        Op::Verify => verify::answer(engine, request),
        Op::AeadDecrypt | Op::Cipher => Answer::Unsupported("no cipher is carried yet"),
        Op::RsaPublic | Op::RsaPrivate => Answer::Unsupported("no raw RSA is carried yet"),
    }
}
