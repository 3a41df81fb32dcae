//! What computes, and what a case is answered with.

use hartlock_kernels::{HashFamily, Kernels, Tier};

use crate::lanes;
use crate::request::Field;

/// What a case is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is an output.
    Ok,
    /// The signature or the tag is genuine.
    Valid,
    /// It is not, or an operand has a wrong length or value.
    Invalid(&'static str),
    /// This engine does not carry it.
    Unsupported(&'static str),
    /// This engine does not carry what the field names.
    NotCarried(Field),
}

/// What computes.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// The kernels of this hart.
    pub kernels: Kernels,
    /// The only tier that may hash; otherwise the best of [`Engine::kernels`] does.
    pub forced: Option<Tier>,
    /// Hashes several messages; then nothing else may hash.
    pub lanes: Option<lanes::Hook>,
}

/// How a hash of one message is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// By the kernel for one message.
    One,
    /// By the kernel for several messages, all of them this one: the forced tier has no other.
    Many,
}

impl Engine {
    /// The portable forms.
    pub const PORTABLE: Self = Self::with(Kernels::PORTABLE);

    /// These kernels, and the best of them.
    pub const fn with(kernels: Kernels) -> Self {
        Self { kernels, forced: None, lanes: None }
    }

    /// How a family is computed; `None` if the forced tier has no kernel for it.
    pub(crate) fn form(&self, family: HashFamily) -> Option<Form> {
        if self.lanes.is_some() {
            return Some(Form::Many);
        }
        let Some(tier) = self.forced else { return Some(Form::One) };
        if self.kernels.tier(family) == tier {
            Some(Form::One)
        } else if self.kernels.tier_of_many(family) == tier {
            Some(Form::Many)
        } else {
            None
        }
    }
}

/// What a forced tier without a kernel for the hash is answered with.
pub(crate) const NO_KERNEL: Answer = Answer::Unsupported("no such kernel for this hash here");

/// Takes the output of a case in pieces. What it got counts only if the answer is [`Answer::Ok`].
pub type Output<'a> = &'a mut dyn FnMut(&[u8]);
