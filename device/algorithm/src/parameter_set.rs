//! What every scheme states about its parameter sets.

use core::fmt;

use crate::hash::HashId;

/// Whether a quantum computer would break the algorithm (§2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Relies on factoring or discrete logarithms.
    Classical,
    /// Relies on hashes or lattices.
    PostQuantum,
}

/// What a scheme states about its parameter sets. A value is one set, and nothing outside of the table of
/// the specification can be made into one.
pub trait ParameterSet: Copy {
    /// Whether a quantum computer would break it.
    const FAMILY: Family;

    /// Cargo feature of what carries its verifier. Schemes of one verifier share it.
    const FEATURE: &'static str;

    /// Whether each signature spends a one-time key, so that a private key has a state.
    const IS_STATEFUL: bool = false;

    /// The set with these numbers, of which the first is one of this scheme.
    fn from_numbers(algorithm: u32, parameters: u32) -> Option<Self>;

    /// Its `(algorithm, parameters)` numbers.
    fn numbers(self) -> (u32, u32);

    /// Bytes of a public key.
    fn public_key_size(self) -> usize;

    /// Bytes of a signature; `None` if they follow from the signature itself.
    fn signature_size(self) -> Option<usize>;

    /// The hash that the scheme is built on; of several, the one of the message.
    fn hash(self) -> HashId;

    /// Writes the name: that of the standard in small letters, with hyphens.
    ///
    /// # Errors
    /// Those of the formatter.
    fn write_name(self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Every set, in the order of the numbers.
    fn all() -> impl Iterator<Item = Self>;

    /// The set with this name.
    fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|set| is_written(fmt::from_fn(|f| set.write_name(f)), name))
    }
}

/// Whether `what` is displayed as `name`.
pub(crate) fn is_written(what: impl fmt::Display, name: &str) -> bool {
    /// Compares what is written with a text, and keeps nothing.
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
