//! Vectors in the form in which `verif/programs/bench` verifies them, on this machine and on the
//! board.

use anyhow::{Context, Result};
use hartlock_image::{BundleType, Lifecycle, Policy, Profile};
use hartlock_jobs::vectors::Vector;
use hartlock_testkit::bundle as testkit;
use hartlock_testkit::expected::Options;
use hartlock_testkit::keys::FakeKey;

/// Returns a bundle with the options of its verifier.
pub fn vector<'a>(options: &Options, bundle: &'a [u8]) -> Result<Vector<'a>> {
    let policies = [Policy::Any, Policy::All, Policy::Hybrid, Policy::EverySigner];
    let types = [BundleType::Boot, BundleType::System];
    let mut keys = Vec::new();
    for name in &options.keys {
        keys.push(FakeKey::by_name(name)?.record());
    }
    for record in &options.records {
        keys.push(record.parse()?);
    }
    Ok(Vector {
        trust: testkit::trust(choose(policies, &options.policy, |policy| policy.name())?, keys),
        bundle_type: optional(&options.bundle_type, |text| {
            choose(types, text, |kind| kind.name())
        })?,
        board: optional(&options.board, |text| Ok(testkit::name(text)))?,
        soc: optional(&options.soc, |text| Ok(testkit::name(text)))?,
        floor: options.floor,
        boot_version: options.boot_version,
        lifecycle: optional(&options.lifecycle, |text| {
            choose(Lifecycle::ALL, text, |state| state.name())
        })?,
        profile: optional(&options.profile, |text| {
            choose(Profile::ALL, text, |profile| profile.name())
        })?,
        is_on_medium: options.medium,
        bundle,
    })
}

fn optional<T>(text: &Option<String>, parse: impl Fn(&str) -> Result<T>) -> Result<Option<T>> {
    text.as_deref().map(parse).transpose()
}

fn choose<T: Copy, const N: usize>(
    all: [T; N],
    text: &str,
    name: impl Fn(T) -> &'static str,
) -> Result<T> {
    let found = all.into_iter().find(|item| name(*item) == text);
    found.with_context(|| format!("{text} is unknown"))
}
