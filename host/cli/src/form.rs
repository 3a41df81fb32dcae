//! Parses `--form`: the type of a signed file.

use crate::failure::Failure;

/// The type of a signed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A bundle: a manifest and payloads, which software verifies (`spec/image-format.md`).
    Bundle,
    /// A first-stage image: a header and code, which hardware verifies (`spec/first-stage.md`).
    FirstStage,
}

impl Form {
    pub const ALL: [Self; 2] = [Self::Bundle, Self::FirstStage];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::FirstStage => "first-stage",
        }
    }
}

/// Returns the failure for an option that this form does not support.
pub fn not_of_form(option: &str, form: Form) -> Failure {
    let (what, other) = match form {
        Form::Bundle => ("a bundle", "leave it out, or add `--form first-stage`"),
        Form::FirstStage => ("a first stage", "leave it out: it is only for bundles"),
    };
    Failure::undecided(format!("`{option}` cannot be used with {what}"), other)
}
