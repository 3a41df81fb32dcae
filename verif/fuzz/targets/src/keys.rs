//! Test keys whose private halves are known, so that the targets can sign bundles.

use std::sync::LazyLock;

use hartlock_testkit::keys::KeyPair;

/// Five key pairs, made from the seeds 1 to 5. Stored inputs refer to these keys by index, so they must not
/// change with the published keys of `spec/vectors`.
pub static KEYS: LazyLock<[KeyPair; 5]> =
    LazyLock::new(|| [1, 2, 3, 4, 5].map(|seed| KeyPair::from_seed([seed; 32])));
