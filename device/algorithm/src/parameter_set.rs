//! The trait that the parameter sets of all schemes implement.

use core::fmt;

use crate::hash::HashId;

/// The family of an algorithm: broken or not broken by a large quantum computer (§2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The security relies on factoring or discrete logarithms.
    Classical,
    /// The security relies on hashes or lattices.
    PostQuantum,
}

/// A parameter set of one scheme, with its numbers, name and sizes.
///
/// Each value is one parameter set. A value exists only for the sets that the table of the image format lists.
pub trait ParameterSet: Copy {
    /// The family of the scheme: classical or post-quantum.
    const FAMILY: Family;

    /// The Cargo feature that compiles the verifier. Schemes with a common verifier share it.
    const FEATURE: &'static str;

    /// True if each signature uses up a one-time key, which means that a private key has a state.
    const IS_STATEFUL: bool = false;

    /// Returns the parameter set with these numbers, or `None` if there is none. The caller has checked that
    /// `algorithm` is a number of this scheme.
    fn from_numbers(algorithm: u32, parameters: u32) -> Option<Self>;

    /// Returns the numbers `(algorithm, parameters)` of this set.
    fn numbers(self) -> (u32, u32);

    /// Returns the length of a public key in bytes.
    fn public_key_size(self) -> usize;

    /// Returns the length of a signature in bytes, or `None` if it depends on the signature.
    fn signature_size(self) -> Option<usize>;

    /// Returns the hash that the scheme is built on. If it uses several, this is the one that hashes the message.
    fn hash(self) -> HashId;

    /// Writes the name of the set: the name from the standard in lower case, with hyphens.
    ///
    /// # Errors
    /// Returns the error of the formatter.
    fn write_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Returns all parameter sets in the order of their numbers.
    fn all() -> impl Iterator<Item = Self>;

    /// Returns the parameter set with this name, or `None` if there is none.
    fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|set| is_written(fmt::from_fn(|f| set.write_name(f)), name))
    }
}

/// Returns true if the displayed form of `what` equals `name`.
pub(crate) fn is_written(what: impl fmt::Display, name: &str) -> bool {
    /// A writer that compares the written text with an expected text and stores nothing. It holds the part that is
    /// still expected, or `None` after a mismatch.
    struct Rest<'a>(Option<&'a str>);
    impl fmt::Write for Rest<'_> {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0 = self.0.and_then(|rest| rest.strip_prefix(part));
            self.0.map(|_| ()).ok_or(fmt::Error)
        }
    }
    let mut rest = Rest(Some(name));
    fmt::write(&mut rest, format_args!("{what}")).is_ok() && rest.0 == Some("")
}
