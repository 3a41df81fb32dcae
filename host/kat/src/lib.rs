//! Reads and answers known-answer cases (`spec/kat.md`), on a workstation and on a board.
//!
//! | module | content |
//! |---|---|
//! | [`request`] | a case, and its encoding for a board |
//! | [`answer()`] | the answer to a case |
//! | [`hash`], [`digest`], [`mac`], [`cipher`], [`verify`] | the operations; each signature family is a file of [`verify`] |
//! | [`pack`] | the encoding of cases for a board, and the format of its answers |
//! | [`lanes`] | hashing of several messages at once |
//! | [`roots`] | cases of hash-based signatures, and the roots computed from them |
//! | `host` | JSON lines, batches and threads; only with the feature `host` |
//!
//! All modules except `host` and `convert` use no heap and do not panic. The bench of the board links the same
//! code, so a case has the same answer on every target. All data must be public: this code is not written
//! to protect secrets.

#![cfg_attr(not(feature = "host"), no_std)]
#![forbid(unsafe_code)]

pub mod cipher;
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
pub(crate) use engine::{KernelChoice, NO_KERNEL};
pub use request::{Field, Op, Request};

/// Answers a case. `output` receives the output in pieces.
pub fn answer(engine: &Engine, request: &Request<'_>, output: Output<'_>) -> Answer {
    match request.op {
        Op::Digest => digest::answer(engine, request, output),
        Op::Mac => mac::answer(engine, request, output),
        Op::Verify => verify::answer(engine, request),
        Op::AeadDecrypt => cipher::decrypt(engine, request, output),
        Op::Cipher => cipher::answer(engine, request, output),
        Op::KeyUnwrap => cipher::unwrap(engine, request, output),
        Op::RsaPublic | Op::RsaPrivate => Answer::Unsupported("no raw RSA is carried yet"),
    }
}
