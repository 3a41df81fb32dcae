//! Answers cases on a workstation: each line of JSON is a case, and each case has a line with its
//! answer, in the same order.
//!
//! | module | content |
//! |---|---|
//! | [`line`] | parses a line into a case, and formats an answer as a line |
//! | [`board`] | answers cases on an emulated board |
//! | [`stream`] | answers many lines with bounded memory, on several threads or on a board |

pub mod board;
pub mod line;
mod object;
pub mod stream;

use hartlock_bundle::digest::digest_in_lanes;

use crate::{Engine, answer};
use line::{ParsedCase, Reply};

/// The hash implementations of a workstation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostKernel {
    /// The portable implementations, with which all others are compared.
    #[default]
    Portable,
    /// The implementation that hashes several messages in lanes, with which `hartlock sign` hashes
    /// blocks.
    Lanes,
}

impl HostKernel {
    /// Every implementation with its name.
    pub const ALL: [(&'static str, HostKernel); 2] =
        [("portable", HostKernel::Portable), ("lanes", HostKernel::Lanes)];

    /// Returns the engine that uses the implementation.
    pub fn engine(self) -> Engine {
        match self {
            HostKernel::Portable => Engine::PORTABLE,
            HostKernel::Lanes => Engine { lanes: Some(digest_in_lanes), ..Engine::PORTABLE },
        }
    }
}

/// Answers a case that was read from a line.
pub fn reply(engine: &Engine, case: &ParsedCase) -> Reply {
    // The output is written in hexadecimal digits, into a buffer that never grows, because the
    // memory of a batch is computed with one copy of each output.
    let mut output = String::with_capacity(2 * case.output_bound() as usize);
    let answer = answer(engine, &case.request(), &mut |bytes| line::push_hex(&mut output, bytes));
    case.reply(answer, output)
}
