//! What the specification says about reasons beyond what every boot stage carries.

use serde::{Deserialize, Serialize};

/// The list that `Reason` and `KeyReason` are made from. Only here are groups and the longer texts.
const ERRORS: &str = include_str!("../../../../spec/errors.toml");
/// What each vector is refused with.
const VECTORS: &str = include_str!("../../../../spec/vectors/image/expected.json");
/// Where the vectors are in the source tree.
const FOLDER: &str = "spec/vectors/image";

/// What each first stage is refused with.
const FIRST_STAGES: &str = include_str!("../../../../spec/vectors/first-stage/expected.json");
/// Where they are.
const FIRST_STAGE_FOLDER: &str = "spec/vectors/first-stage";
/// Where the public keys of their signers are.
const KEY_FOLDER: &str = "spec/vectors/keys";

/// All lists.
#[derive(Debug)]
pub(super) struct Catalogue {
    errors: Errors,
    vectors: Vec<Vector>,
    first_stages: Vec<FirstStageVector>,
}

/// `spec/errors.toml`, as far as neither of them holds it.
#[derive(Debug, Default, Deserialize)]
struct Errors {
    #[serde(default)]
    group: Vec<Group>,
    #[serde(default)]
    reason: Vec<Texts>,
}

/// A hundred of codes.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Group {
    number: String,
    pub title: String,
    pub about: String,
}

/// The longer texts of a reason; each may be absent.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Texts {
    code: String,
    pub details: Option<String>,
    pub remedy: Option<String>,
}

/// An entry of `expected.json`.
#[derive(Debug, Deserialize)]
struct Vector {
    name: String,
    reason: Option<String>,
    options: Options,
    description: String,
}

/// Options of the verifier of a vector.
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

/// The same of a first stage.
#[derive(Debug, Deserialize)]
struct FirstStageVector {
    name: String,
    reason: Option<String>,
    options: FirstStageOptions,
    description: String,
}

/// Options of its verifier.
#[derive(Debug, Deserialize)]
struct FirstStageOptions {
    keys: Vec<String>,
    #[serde(flatten)]
    others: serde_json::Map<String, serde_json::Value>,
}

/// A bundle or a first stage that is refused with a reason.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Example {
    /// Its fault.
    pub description: String,
    /// Where it is in the source tree.
    pub path: String,
    /// What refuses it so, from the root of the source tree; `None` if only a device does.
    pub command: Option<String>,
}

impl Catalogue {
    /// Reads what this program was built with.
    pub(super) fn read() -> Self {
        // A test reads both lists, so the defaults are never taken. Even then every code would
        // be explained, only at less length.
        Self {
            errors: toml::from_str(ERRORS).unwrap_or_default(),
            vectors: serde_json::from_str(VECTORS).unwrap_or_default(),
            first_stages: serde_json::from_str(FIRST_STAGES).unwrap_or_default(),
        }
    }

    /// The longer texts of a reason.
    pub(super) fn entry(&self, code: &str) -> Texts {
        self.errors.reason.iter().find(|texts| texts.code == code).cloned().unwrap_or_default()
    }

    /// The group of a code.
    pub(super) fn group(&self, code: &str) -> Group {
        let number = code.get(1..3).unwrap_or_default();
        self.errors.group.iter().find(|group| group.number == number).cloned().unwrap_or_else(
            || {
                let (number, about) = (number.to_string(), String::new());
                Group { title: format!("Codes E{number}"), number, about }
            },
        )
    }

    /// A bundle that is refused with this reason, one that a command refuses if there is one; or else a first stage.
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

    /// `hartlock verify` with the options of this vector, if flags can express all of them.
    fn command(&self) -> Option<String> {
        let options = &self.options;
        let is_plain = options.policy == "every-signer" && options.records.is_empty();
        // Without a key the command decides nothing.
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

    /// `hartlock verify`, if the trusted keys are all that its verifier is told.
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
            // Of a device, of key files, of outputs and of requests there is no bundle that would show it.
            let is_of_bundle = ![9, 11, 12, 13].contains(&(reason.number() / 100));
            assert_eq!(catalogue.example(&reason.code()).is_some(), is_of_bundle, "{reason:?}");
        }
    }
}
