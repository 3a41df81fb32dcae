//! The file `expected.json`: the description of each vector, the options of its verifier, and the
//! required verdict.

use anyhow::{Context, Result, ensure};
use hartlock_image::{BundleType, KeyRecord, Lifecycle, Policy, Reason};
use serde::{Deserialize, Serialize};

use super::bundle::{Block, Draft};
use super::keys::FakeKey;

/// A vector, as written in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    pub name: String,
    pub verdict: String,
    pub reason: Option<String>,
    pub options: Options,
    pub description: String,
}

/// The options of the verifier. If an option is absent, the property is not checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The names of trusted keys.
    pub keys: Vec<String>,
    /// The records of trusted keys of which the key itself does not exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Record>,
    pub policy: String,
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub bundle_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soc: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_version: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// True if the bundle is on a medium, which may have bytes after it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub medium: bool,
}

/// A key record (image format §4.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub algorithm: u32,
    pub parameters: u32,
    pub key_id: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Options {
    /// Returns options that trust every signer and check nothing else.
    pub fn of(draft: &Draft) -> Options {
        let mut options = Options {
            keys: Vec::new(),
            records: Vec::new(),
            policy: Policy::EverySigner.name().into(),
            bundle_type: None,
            board: None,
            soc: None,
            floor: None,
            boot_version: None,
            lifecycle: None,
            profile: None,
            medium: false,
        };
        for block in &draft.blocks {
            match block {
                Block::By(key) => options.add_key(key),
                Block::Unusual(odd) => options.add_record(odd.record()),
                Block::BySigner(_) | Block::Edited(..) => {
                    block.record().into_iter().for_each(|record| {
                        options.add_record(record);
                    })
                }
                Block::Foreign { .. } | Block::Raw(_) => {}
            }
        }
        options
    }

    fn add_key(&mut self, key: &FakeKey) {
        if !self.keys.iter().any(|name| name == key.name) {
            self.keys.push(key.name.into());
        }
    }

    pub fn add_record(&mut self, record: KeyRecord) {
        let key_id = record.key_id.iter().map(|byte| format!("{byte:02x}")).collect();
        let (algorithm, parameters) = (record.algorithm, record.parameters);
        self.records.push(Record { algorithm, parameters, key_id });
    }

    /// Trusts exactly these keys, with this policy.
    pub fn trust(&mut self, policy: Policy, keys: &[&FakeKey]) {
        self.policy = policy.name().into();
        self.keys = keys.iter().map(|key| key.name.into()).collect();
        self.records.clear();
    }

    /// Checks everything that a device checks, with values at the limit for which [`Draft::boot`]
    /// and [`Draft::system`] are accepted.
    pub fn of_device(&mut self, bundle_type: BundleType) {
        self.policy = Policy::Any.name().into();
        self.bundle_type = Some(bundle_type.name().into());
        self.board = Some("qemu-virt".into());
        self.soc = Some("virt".into());
        self.floor = Some(7);
        self.lifecycle = Some(Lifecycle::Production.name().into());
        self.medium = true;
    }
}

impl Record {
    /// Returns the key record.
    ///
    /// # Errors
    /// If the key id does not have 96 hexadecimal digits.
    pub fn parse(&self) -> Result<KeyRecord> {
        let mut key_id = [0; 48];
        ensure!(self.key_id.len() == 96, "a key id has 96 digits");
        for (byte, at) in key_id.iter_mut().zip((0..).step_by(2)) {
            let digits = self.key_id.get(at..at + 2).context("a key id is ASCII")?;
            *byte = u8::from_str_radix(digits, 16)?;
        }
        Ok(KeyRecord { algorithm: self.algorithm, parameters: self.parameters, key_id })
    }
}

/// Returns the answer that runners report: `accepted` or a code such as `E0301`.
pub fn answer(reason: Option<Reason>) -> String {
    reason.map_or("accepted".into(), |reason| format!("E{:04}", reason as u16))
}

impl Expected {
    /// Returns the answer that a runner must report.
    pub fn answer(&self) -> &str {
        self.reason.as_deref().unwrap_or(&self.verdict)
    }
}

/// Encodes the file: a list with one vector per line.
pub fn encode(all: &[Expected]) -> Result<String> {
    let lines: Vec<String> = all.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}
