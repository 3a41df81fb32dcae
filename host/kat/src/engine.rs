//! The engine that answers cases, and its answers.

use hartlock_kernels::{HashFamily, Kernels, Tier};

use crate::lanes;
use crate::request::Field;

/// The answer to a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The operation has an output.
    Ok,
    /// The signature or the tag is valid.
    Valid,
    /// The signature or the tag is not valid, or an operand has a wrong length or value. The value
    /// is the reason.
    Invalid(&'static str),
    /// This engine does not support the case. The value is the reason.
    Unsupported(&'static str),
    /// This engine does not support the value of this field.
    UnsupportedField(Field),
}

/// The implementations that answer cases.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// The kernels of this hart.
    pub kernels: Kernels,
    /// The only tier that may hash. Without it, the best implementation of [`Engine::kernels`] is
    /// used.
    pub forced: Option<Tier>,
    /// A function that hashes several messages. If it is given, no other implementation may hash.
    pub lanes: Option<lanes::Hook>,
}

/// The way to compute a hash of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelChoice {
    /// A kernel for one message.
    Single,
    /// A kernel for several messages, of which each is this one, because the forced tier has no
    /// other kernel.
    Lanes,
}

impl Engine {
    /// The engine with the portable implementations.
    pub const PORTABLE: Self = Self::with(Kernels::PORTABLE);

    /// Makes an engine that uses the best implementations of these kernels.
    pub const fn with(kernels: Kernels) -> Self {
        Self { kernels, forced: None, lanes: None }
    }

    /// Returns the way to compute a family; `None` if the forced tier has no kernel for it.
    pub(crate) fn kernel_choice(&self, family: HashFamily) -> Option<KernelChoice> {
        if self.lanes.is_some() {
            return Some(KernelChoice::Lanes);
        }
        let Some(tier) = self.forced else { return Some(KernelChoice::Single) };
        if self.kernels.tier(family) == tier {
            Some(KernelChoice::Single)
        } else if self.kernels.tier_of_many(family) == tier {
            Some(KernelChoice::Lanes)
        } else {
            None
        }
    }
}

/// The answer if a forced tier has no kernel for the hash.
pub(crate) const NO_KERNEL: Answer = Answer::Unsupported("no such kernel for this hash here");

/// A function that receives the output of a case in pieces. The output is valid only if the answer
/// is [`Answer::Ok`].
pub type Output<'a> = &'a mut dyn FnMut(&[u8]);
