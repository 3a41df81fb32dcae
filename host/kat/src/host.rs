//! JSON lines on a workstation: one case a line in, one answer a line out, in the same order.
//!
//! | module | what |
//! |---|---|
//! | [`line`] | a line as a case, and an answer as a line |
//! | [`board`] | cases answered on an emulated board |
//! | [`stream`] | many lines with bounded memory, on several threads or on a board |

pub mod board;
pub mod line;
mod object;
pub mod stream;

use hartlock_bundle::digest::digest_in_lanes;

use crate::{Engine, answer};
use line::{Asked, Reply};

/// What hashes on a workstation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostKernel {
    /// The portable forms, the judge of all others.
    #[default]
    Portable,
    /// The lanes in which `hartlock sign` hashes blocks.
    Lanes,
}

impl HostKernel {
    /// All of them with their names.
    pub const ALL: [(&'static str, HostKernel); 2] =
        [("portable", HostKernel::Portable), ("lanes", HostKernel::Lanes)];

    /// The engine that hashes with it.
    pub fn engine(self) -> Engine {
        match self {
            HostKernel::Portable => Engine::PORTABLE,
            HostKernel::Lanes => Engine { lanes: Some(digest_in_lanes), ..Engine::PORTABLE },
        }
    }
}

/// Answers a case that was read from a line.
pub fn reply(engine: &Engine, asked: &Asked) -> Reply {
    // In hexadecimal at once and without growing: the size of a batch counts each output once.
    let mut output = String::with_capacity(2 * asked.output_bound() as usize);
    let answer = answer(engine, &asked.request(), &mut |bytes| line::push_hex(&mut output, bytes));
    asked.reply(answer, output)
}
