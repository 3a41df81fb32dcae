//! Errors, of the two kinds that a user must be able to tell apart: the bundle is refused, or nothing could
//! be decided about it.

use std::fmt;

use hartlock_image::Reason;

use crate::spec::SpecError;
use crate::{CommandReason, ContentError};
use hartlock_boards::Kind;
use hartlock_files::{FileError, ReplaceRefusal};
use hartlock_keys::{KeyError, SignerError};

/// A reason code with details about the case at hand.
#[derive(Debug)]
pub struct Refusal {
    /// Reason code.
    pub reason: Reason,
    /// Details, one line each. They may come from the refused bundle, so they explain the refusal but prove
    /// nothing.
    pub context: Vec<String>,
    /// Advice for the user, if more is known than the general advice for the reason says.
    pub hint: Option<String>,
}

impl Refusal {
    /// Makes a refusal without details.
    pub const fn new(reason: Reason) -> Self {
        Self { reason, context: Vec::new(), hint: None }
    }

    /// Makes a refusal with one line of detail.
    pub fn with(reason: Reason, context: impl Into<String>) -> Self {
        Self { context: vec![context.into()], ..Self::new(reason) }
    }

    /// Makes a refusal with several lines of detail.
    pub const fn of(reason: Reason, context: Vec<String>) -> Self {
        Self { reason, context, hint: None }
    }

    /// Returns advice for the user.
    pub fn hint(&self) -> &str {
        self.hint.as_deref().unwrap_or(self.reason.hint())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (E{:04})", self.reason.title().trim_end_matches('.'), self.reason as u16)
    }
}

/// An error of signing or verification.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A verifier checked the bundle and refused it.
    #[error("{0}")]
    Refused(Refusal),
    /// A key file has the wrong content.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A token, a program or another person did not sign.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// The description of a bundle is incomplete or contradicts itself.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A payload file has the content of another type.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The description of a board cannot be used.
    #[error(transparent)]
    Board(#[from] hartlock_boards::Error),
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Error {
    /// Returns advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Error::Refused(refusal) => refusal.hint().to_string(),
            Error::Key(error) => error.hint(),
            Error::Signer(error) => error.reason.hint().to_string(),
            Error::Spec(error) => error.hint(),
            Error::Content(error) => error.hint(),
            Error::Board(hartlock_boards::Error::File(error)) => error.hint(),
            Error::Board(_) => self.command_reason().map_or("", CommandReason::hint).to_string(),
            Error::File(error) => error.hint(),
        }
    }

    /// Returns the reason code of the command itself, if the error has one.
    pub fn command_reason(&self) -> Option<CommandReason> {
        match self {
            Error::File(error) => error.replace_refusal().map(|refusal| match refusal {
                ReplaceRefusal::Exists => CommandReason::OutputExists,
                ReplaceRefusal::IsInput => CommandReason::OutputIsInput,
                ReplaceRefusal::IsPrivateKey => CommandReason::OutputIsPrivateKey,
            }),
            Error::Content(_) => Some(CommandReason::PayloadLooksOther),
            Error::Board(hartlock_boards::Error::File(_)) => None,
            Error::Board(hartlock_boards::Error::Wrong { fault, .. }) => Some(match fault.kind {
                Kind::Form => CommandReason::BoardForm,
                Kind::Contradiction => CommandReason::BoardContradiction,
                Kind::Taken => CommandReason::BoardNameTaken,
                Kind::NotEmulated => CommandReason::BoardNotEmulated,
            }),
            Error::Refused(_) | Error::Key(_) | Error::Signer(_) | Error::Spec(_) => None,
        }
    }

    /// Returns details, one line each.
    pub fn context(&self) -> Vec<String> {
        match self {
            Error::Refused(refusal) => refusal.context.clone(),
            Error::Spec(error) => error.context(),
            Error::Board(hartlock_boards::Error::Wrong { fault, .. }) => fault.lines(),
            Error::Content(error) => error.place.clone(),
            Error::Signer(error) => error.context(),
            Error::Key(_) | Error::Board(_) | Error::File(_) => Vec::new(),
        }
    }
}

impl From<hartlock_keys::Error> for Error {
    fn from(error: hartlock_keys::Error) -> Self {
        match error {
            hartlock_keys::Error::Key(error) => Error::Key(error),
            hartlock_keys::Error::Signer(error) => Error::Signer(error),
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

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Refusal::new(reason)
    }
}
