//! What can go wrong, in the two kinds that a user must be able to tell apart: the bundle is
//! refused, or nothing could be decided about it.

use std::fmt;

use hartlock_image::Reason;

use crate::spec::SpecError;
use crate::{CommandReason, ContentError};
use hartlock_boards::Kind;
use hartlock_files::{FileError, Kept};
use hartlock_keys::KeyError;

/// A reason code with what is known about this case of it.
#[derive(Debug)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// Details, a line each. They come from a bundle that was just refused, so they explain and
    /// prove nothing.
    pub context: Vec<String>,
    /// What to do in this case, if more is known than the reason's own hint says.
    pub hint: Option<String>,
}

impl Refusal {
    /// A refusal without details.
    pub const fn new(reason: Reason) -> Self {
        Self { reason, context: Vec::new(), hint: None }
    }

    /// A refusal with one line of detail.
    pub fn with(reason: Reason, context: impl Into<String>) -> Self {
        Self { context: vec![context.into()], ..Self::new(reason) }
    }

    /// A refusal with lines of detail.
    pub const fn of(reason: Reason, context: Vec<String>) -> Self {
        Self { reason, context, hint: None }
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        self.hint.as_deref().unwrap_or(self.reason.hint())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (E{:04})", self.reason.title().trim_end_matches('.'), self.reason as u16)
    }
}

/// Every way in which signing and verification can fail.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A verifier checked the bundle and refuses it.
    #[error("{0}")]
    Refused(Refusal),
    /// A key file is not what it should be.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The description of a bundle is incomplete or contradicts itself.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A payload file looks like something else.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The description of a board cannot be used.
    #[error(transparent)]
    Board(#[from] hartlock_boards::Error),
    /// The operating system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Error::Refused(refusal) => refusal.hint().to_string(),
            Error::Key(error) => error.hint(),
            Error::Spec(error) => error.hint(),
            Error::Content(error) => error.hint(),
            Error::Board(hartlock_boards::Error::File(error)) => error.hint(),
            Error::Board(_) => self.command_reason().map_or("", CommandReason::hint).to_string(),
            Error::File(error) => error.hint(),
        }
    }

    /// The code of the command's own rules, if one of them is broken.
    pub fn command_reason(&self) -> Option<CommandReason> {
        match self {
            Error::File(error) => error.kept().map(|kept| match kept {
                Kept::Exists => CommandReason::OutputExists,
                Kept::IsInput => CommandReason::OutputIsInput,
                Kept::IsPrivateKey => CommandReason::OutputIsPrivateKey,
            }),
            Error::Content(_) => Some(CommandReason::PayloadLooksOther),
            Error::Board(hartlock_boards::Error::File(_)) => None,
            Error::Board(hartlock_boards::Error::Wrong { fault, .. }) => Some(match fault.kind {
                Kind::Form => CommandReason::BoardForm,
                Kind::Contradiction => CommandReason::BoardContradiction,
                Kind::Taken => CommandReason::BoardNameTaken,
                Kind::NotEmulated => CommandReason::BoardNotEmulated,
            }),
            Error::Refused(_) | Error::Key(_) | Error::Spec(_) => None,
        }
    }

    /// Details, a line each.
    pub fn context(&self) -> Vec<String> {
        match self {
            Error::Refused(refusal) => refusal.context.clone(),
            Error::Spec(error) => error.context(),
            Error::Board(hartlock_boards::Error::Wrong { fault, .. }) => fault.lines(),
            Error::Key(_) | Error::Content(_) | Error::Board(_) | Error::File(_) => Vec::new(),
        }
    }
}

impl From<hartlock_keys::Error> for Error {
    fn from(error: hartlock_keys::Error) -> Self {
        match error {
            hartlock_keys::Error::Key(error) => Error::Key(error),
            hartlock_keys::Error::File(error) => Error::File(error),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::Refused(refusal)
    }
}

impl From<Reason> for Error {
    fn from(reason: Reason) -> Self {
        Error::Refused(Refusal::new(reason))
    }
}
