//! The encoding of cases for a board, and of its answers (job 3 of `verif/programs/bench`).
//!
//! The body of a pack consists of a *plan* of 8 bytes and the cases in the encoding of [`crate::request`].
//! The plan holds the number of the tier that hashes in 32 bits, or 0 for the best one, and then zeros.
//! For case i, counted from 0, the board prints:
//!
//! ```text
//! out <hexadecimal digits>        any number of times
//! kat <i> ok
//! kat <i> valid
//! kat <i> invalid <reason>
//! kat <i> unsupported <reason>
//! kat <i> absent <field>
//! ```

use hartlock_image::{Writer, bytes_at, u32_at};
use hartlock_kernels::Tier;

use crate::Answer;

/// The first bytes of a pack; `verif/programs/bench/src/pack.rs` describes the header.
pub const TAG: &[u8; 16] = b"HARTLOCK-PACK-v1";
/// The number of the job.
pub const JOB: u32 = 3;
/// Length in bytes of a plan.
pub const PLAN_SIZE: usize = 8;

/// Returns the tier that a plan forces, and the cases after the plan; `None` if the plan is malformed.
pub fn parse_plan(body: &[u8]) -> Option<(Option<Tier>, &[u8])> {
    let (plan, cases) = body.split_at_checked(PLAN_SIZE)?;
    if bytes_at::<4>(plan, 4)? != [0; 4] {
        return None;
    }
    let number = u32_at(plan, 0)?;
    if number == 0 {
        return Some((None, cases));
    }
    let tier = Tier::ALL.into_iter().find(|tier| *tier as u32 == number)?;
    Some((Some(tier), cases))
}

/// Encodes a plan.
pub fn plan(forced: Option<Tier>) -> [u8; PLAN_SIZE] {
    let mut bytes = [0; PLAN_SIZE];
    let mut out = Writer::new(&mut bytes);
    out.put_u32(forced.map_or(0, |tier| tier as u32));
    bytes
}

/// Returns the words that the board prints after the number of a case.
pub const fn words(answer: Answer) -> (&'static str, &'static str) {
    match answer {
        Answer::Ok => ("ok", ""),
        Answer::Valid => ("valid", ""),
        Answer::Invalid(reason) => ("invalid", reason),
        Answer::Unsupported(reason) => ("unsupported", reason),
        Answer::UnsupportedField(field) => ("absent", field.name()),
    }
}
