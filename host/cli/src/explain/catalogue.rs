//! The texts of the specification about reason codes that boot stages do not contain.

use serde::{Deserialize, Serialize};

/// The list of reasons from which `Reason` and `KeyReason` are generated. Only this file has the groups and
/// the longer texts.
const ERRORS: &str = include_str!("../../../../spec/errors.toml");
/// The list of test vectors with the reason for which each is refused.
const VECTORS: &str = include_str!("../../../../spec/vectors/image/expected.json");
/// Folder of the test vectors in the source tree.
const FOLDER: &str = "spec/vectors/image";

/// The list of first-stage test vectors with the reason for which each is refused.
const FIRST_STAGES: &str = include_str!("../../../../spec/vectors/first-stage/expected.json");
/// Folder of the first-stage test vectors.
const FIRST_STAGE_FOLDER: &str = "spec/vectors/first-stage";
/// Folder of the public keys of their signers.
const KEY_FOLDER: &str = "spec/vectors/keys";

/// The contents of the three lists.
#[derive(Debug)]
pub(super) struct Catalogue {
    errors: Errors,
    vectors: Vec<Vector>,
    first_stages: Vec<FirstStageVector>,
}

/// The part of `spec/errors.toml` that the generated types do not contain.
#[derive(Debug, Default, Deserialize)]
struct Errors {
    #[serde(default)]
    group: Vec<Group>,
    #[serde(default)]
    reason: Vec<Texts>,
}

/// A group of up to a hundred reason codes.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Group {
    number: String,
    pub title: String,
    pub about: String,
}

/// The longer texts of a reason. Each of them is optional.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Texts {
    code: String,
    pub details: Option<String>,
    pub remedy: Option<String>,
    #[serde(default, rename = "cause")]
    pub causes: Vec<Cause>,
}

/// A cause that the command tells from others, and its advice for it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Cause {
    pub when: String,
    pub hint: String,
}

/// An entry of the list of test vectors.
#[derive(Debug, Deserialize)]
struct Vector {
    name: String,
    reason: Option<String>,
    options: Options,
    description: String,
}

/// Options with which a verifier runs on the test vector.
#[derive(Debug, Deserialize)]
struct Options {
    keys: Vec<String>,
    #[serde(default)]
    records: Vec<serde::de::IgnoredAny>,
    policy: String,
    #[serde(rename = "type")]
    bundle_type: Option<String>,
    board: Option<String>,
    soc: Option<String>,
    floor: Option<u64>,
    boot_version: Option<u64>,
    lifecycle: Option<String>,
    profile: Option<String>,
    #[serde(default)]
    medium: bool,
}

/// An entry of the list of first-stage test vectors.
#[derive(Debug, Deserialize)]
struct FirstStageVector {
    name: String,
    reason: Option<String>,
    options: FirstStageOptions,
    description: String,
}

/// Options with which a verifier runs on the first-stage test vector.
#[derive(Debug, Deserialize)]
struct FirstStageOptions {
    keys: Vec<String>,
    #[serde(flatten)]
    others: serde_json::Map<String, serde_json::Value>,
}

/// A bundle or a first-stage image that is refused for a reason.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Example {
    /// The fault of the file.
    pub description: String,
    /// Path in the source tree.
    pub path: String,
    /// Command that refuses the file with this reason, for the root of the source tree; `None` if only a
    /// device refuses it.
    pub command: Option<String>,
}

impl Catalogue {
    /// Parses the lists that are built into this program.
    pub(super) fn read() -> Self {
        // The lists are never invalid, because a test parses them. With an empty list every code would still
        // be explained, with fewer details.
        Self {
            errors: toml::from_str(ERRORS).unwrap_or_default(),
            vectors: serde_json::from_str(VECTORS).unwrap_or_default(),
            first_stages: serde_json::from_str(FIRST_STAGES).unwrap_or_default(),
        }
    }

    /// Returns the longer texts of a reason.
    pub(super) fn entry(&self, code: &str) -> Texts {
        self.errors.reason.iter().find(|texts| texts.code == code).cloned().unwrap_or_default()
    }

    /// Returns the group of a code.
    pub(super) fn group(&self, code: &str) -> Group {
        let number = code.get(1..3).unwrap_or_default();
        self.errors.group.iter().find(|group| group.number == number).cloned().unwrap_or_else(
            || {
                let (number, about) = (number.to_string(), String::new());
                Group { title: format!("Codes E{number}"), number, about }
            },
        )
    }

    /// Returns a file that is refused for this reason: a bundle that a command refuses if possible, else
    /// another bundle, else a first-stage image.
    pub(super) fn example(&self, code: &str) -> Option<Example> {
        self.bundle(code).or_else(|| {
            let is_meant = |it: &&FirstStageVector| {
                it.reason.as_deref() == Some(code) && it.command().is_some()
            };
            let vector = self.first_stages.iter().find(is_meant)?;
            Some(Example {
                description: vector.description.clone(),
                path: vector.path(),
                command: vector.command(),
            })
        })
    }

    fn bundle(&self, code: &str) -> Option<Example> {
        let is_meant = |vector: &&Vector| vector.reason.as_deref() == Some(code);
        let candidates = || self.vectors.iter().filter(is_meant);
        let vector = candidates()
            .find(|vector| vector.command().is_some())
            .or_else(|| candidates().next())?;
        Some(Example {
            description: vector.description.clone(),
            path: vector.path(),
            command: vector.command(),
        })
    }
}

impl Vector {
    fn path(&self) -> String {
        format!("{FOLDER}/{}.hlk", self.name)
    }

    /// Returns the `hartlock verify` command with the options of this vector, if its options can express all
    /// of them.
    fn command(&self) -> Option<String> {
        let options = &self.options;
        let is_plain = options.policy == "every-signer" && options.records.is_empty();
        // Without a key the command cannot decide anything.
        if !is_plain || options.medium || options.keys.is_empty() {
            return None;
        }
        let mut command = format!("hartlock verify {}", self.path());
        let floor = options.floor.map(|floor| floor.to_string());
        let boot_version = options.boot_version.map(|version| version.to_string());
        let keys = options.keys.iter().map(|key| format!("{FOLDER}/{key}.pub.pem"));
        let values = [
            ("type", &options.bundle_type),
            ("board", &options.board),
            ("soc", &options.soc),
            ("floor", &floor),
            ("boot-version", &boot_version),
            ("lifecycle", &options.lifecycle),
            ("profile", &options.profile),
        ];
        let values = values.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        for (name, value) in keys.map(|key| ("key", key)).chain(values) {
            command += &format!(" --{name} {value}");
        }
        Some(command)
    }
}

impl FirstStageVector {
    fn path(&self) -> String {
        format!("{FIRST_STAGE_FOLDER}/{}.hlf", self.name)
    }

    /// Returns the `hartlock verify` command, if the trusted keys are the only options of this vector.
    fn command(&self) -> Option<String> {
        let is_plain = self.options.others.keys().all(|name| name == "key_digests");
        let keys = self.options.keys.iter().map(|key| format!(" --key {KEY_FOLDER}/{key}.pub.pem"));
        let keys: String = keys.collect();
        let path = self.path();
        (is_plain && !keys.is_empty())
            .then(|| format!("hartlock verify --form first-stage {path}{keys}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::AnyReason;

    #[test]
    fn every_list_can_be_read() {
        let errors: Errors = toml::from_str(ERRORS).unwrap();
        let codes: Vec<_> = errors.reason.iter().map(|texts| texts.code.clone()).collect();
        let ours: Vec<_> = AnyReason::all().map(AnyReason::code).collect();
        assert_eq!(codes, ours);
        let vectors: Vec<Vector> = serde_json::from_str(VECTORS).unwrap();
        assert!(vectors.len() > 200, "{}", vectors.len());
        let first_stages: Vec<FirstStageVector> = serde_json::from_str(FIRST_STAGES).unwrap();
        assert!(first_stages.len() > 100, "{}", first_stages.len());
    }

    #[test]
    fn a_group_without_a_title_has_a_name_all_the_same() {
        let catalogue =
            Catalogue { errors: Errors::default(), vectors: Vec::new(), first_stages: Vec::new() };
        assert_eq!(catalogue.group("E0603").title, "Codes E06");
        assert_eq!(catalogue.group("").title, "Codes E");
    }

    #[test]
    fn every_reason_that_a_bundle_can_give_has_an_example() {
        let catalogue = Catalogue::read();
        for reason in AnyReason::all() {
            // Reasons of devices, key files, outputs, requests, contents of payloads, calls and signers are not about
            // bundles, so no bundle is an example. Two are about a bundle and the class keys of a device.
            let is_of_bundle = ![9, 11, 12, 13, 14, 15, 16].contains(&(reason.number() / 100))
                && !["E0517", "E0606"].contains(&&*reason.code());
            assert_eq!(catalogue.example(&reason.code()).is_some(), is_of_bundle, "{reason:?}");
        }
    }
}
