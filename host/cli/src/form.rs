//! `--form`: what a file is for.

use crate::failure::Failure;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A manifest and payloads, verified by software (`spec/image-format.md`).
    Bundle,
    /// A header and code, verified by hardware (`spec/first-stage.md`).
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

/// A failure because of options of the other form.
pub fn not_of_form(option: &str, form: Form) -> Failure {
    let (what, other) = match form {
        Form::Bundle => ("a bundle", "leave it out, or add `--form first-stage`"),
        Form::FirstStage => ("a first stage", "leave it out: only bundles have it"),
    };
    Failure::undecided(format!("`{option}` is no option of {what}"), other)
}
