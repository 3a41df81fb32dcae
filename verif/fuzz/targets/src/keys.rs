//! Keys that are no secret, to get past the signatures.

use std::sync::LazyLock;

use hartlock_testkit::keys::KeyPair;

/// Five keys; their seeds are their numbers. Stored inputs choose among these, so they are not the published
/// keys of `spec/vectors`.
pub static KEYS: LazyLock<[KeyPair; 5]> =
    LazyLock::new(|| [1, 2, 3, 4, 5].map(|seed| KeyPair::from_seed([seed; 32])));
