//! Values of flags that are names of the format.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use hartlock_image::{BundleType, HashId, Lifecycle, Name, Policy};

const BUNDLE_TYPES: [BundleType; 2] = [BundleType::Boot, BundleType::System];
const POLICIES: [Policy; 3] = [Policy::Any, Policy::All, Policy::Hybrid];

/// Accepts exactly the names of `all`, which `--help` then lists.
fn names<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name_of: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|item| name_of(*item))).try_map(move |name| {
        all.iter().copied().find(|item| name_of(*item) == name).ok_or("not among the names")
    })
}

/// `boot`, `system`.
pub fn bundle_type() -> impl TypedValueParser<Value = BundleType> {
    names(&BUNDLE_TYPES, BundleType::name)
}

/// `development`, `production`, `returned`.
pub fn lifecycle() -> impl TypedValueParser<Value = Lifecycle> {
    names(&Lifecycle::ALL, Lifecycle::name)
}

/// `sha256` and so on.
pub fn hash() -> impl TypedValueParser<Value = HashId> {
    names(&HashId::ALL, HashId::name)
}

/// `any`, `all`, `hybrid`.
pub fn policy() -> impl TypedValueParser<Value = Policy> {
    names(&POLICIES, Policy::name)
}

/// A board or SoC name.
///
/// # Errors
/// If it does not fit the field.
pub fn name(text: &str) -> Result<Name, String> {
    Name::new(text).ok_or_else(|| "a name is 1 to 32 printable ASCII characters".to_string())
}
