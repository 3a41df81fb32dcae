//! `expected.json`: what each vector is, the options of its verifier, and the required verdict.

use anyhow::{Context, Result, ensure};
use hartlock_image::{BundleType, KeyRecord, Lifecycle, Policy, Reason};
use serde::{Deserialize, Serialize};

use super::bundle::{Block, Draft};
use super::keys::FakeKey;

/// One vector, as written in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    pub name: String,
    pub verdict: String,
    pub reason: Option<String>,
    pub options: Options,
    pub description: String,
}

/// Options of the verifier. An absent option is not checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Trusted keys by name.
    pub keys: Vec<String>,
    /// Trusted keys of which there is only a record.
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
    /// Whether the bundle is on a medium, which may have bytes after it.
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
    /// Trusts every signer, and checks nothing else.
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
                Block::Odd(odd) => options.add_record(odd.record()),
                Block::Of(_) | Block::Edited(..) => block.record().into_iter().for_each(|record| {
                    options.add_record(record);
                }),
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

    /// Trusts exactly these keys, under this policy.
    pub fn trust(&mut self, policy: Policy, keys: &[&FakeKey]) {
        self.policy = policy.name().into();
        self.keys = keys.iter().map(|key| key.name.into()).collect();
        self.records.clear();
    }

    /// Checks everything that a device checks, so that [`Draft::boot`] and
    /// [`Draft::system`] are just accepted.
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
    /// The record itself.
    ///
    /// # Errors
    /// If its key id is not 96 hexadecimal digits.
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

/// `accepted` or a code such as `E0301`: how runners report.
pub fn answer(reason: Option<Reason>) -> String {
    reason.map_or("accepted".into(), |reason| format!("E{:04}", reason as u16))
}

impl Expected {
    /// What a runner must report.
    pub fn answer(&self) -> &str {
        self.reason.as_deref().unwrap_or(&self.verdict)
    }
}

/// The file: a list with one vector a line.
pub fn encode(all: &[Expected]) -> Result<String> {
    let lines: Vec<String> = all.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}
