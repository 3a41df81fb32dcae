//! Cases as converters make them: the line that an engine gets, and the expected answer separately.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use hartlock_kat::host::line::{Reply, Verdict, hex, unhex};
use serde_json::{Map, Value, json};

/// The expected answer. An engine may also answer that it does not support the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The answer `ok` with this output.
    Output(Vec<u8>),
    /// The answer `ok` with an output that ends with these bytes, if only the end was published.
    OutputEnd(Vec<u8>),
    Valid,
    Invalid,
    /// The answer `unsupported` only: our rule does not define another one.
    Unsupported,
}

impl Expected {
    /// Returns the expected answer for a published verdict.
    pub const fn of(is_valid: bool) -> Self {
        if is_valid { Self::Valid } else { Self::Invalid }
    }

    pub const fn name(&self) -> &'static str {
        match self {
            Self::Output(_) | Self::OutputEnd(_) => "ok",
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Unsupported => "unsupported",
        }
    }

    /// Compares a reply with the expected answer.
    pub fn judge(&self, reply: &Reply) -> Judgement {
        let output = || reply.output.as_deref().and_then(unhex);
        let is_right = match (self, reply.result) {
            (Self::Output(wanted), Verdict::Ok) => output().is_some_and(|output| output == *wanted),
            (Self::OutputEnd(wanted), Verdict::Ok) => {
                output().is_some_and(|output| output.ends_with(wanted))
            }
            (Self::Valid, Verdict::Valid)
            | (Self::Invalid, Verdict::Invalid)
            | (Self::Unsupported, Verdict::Unsupported) => true,
            (_, Verdict::Unsupported) => return Judgement::Unsupported,
            _ => false,
        };
        if is_right { Judgement::Agreed } else { Judgement::Wrong }
    }

    /// Returns the JSON object for the file of expected answers.
    pub fn to_json(&self, id: &str) -> Value {
        match self {
            Self::Output(output) => json!({"id": id, "result": "ok", "output": hex(output)}),
            Self::OutputEnd(end) => json!({"id": id, "result": "ok", "output_end": hex(end)}),
            _ => json!({"id": id, "result": self.name()}),
        }
    }
}

/// The result of comparing a reply with the expected answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Agreed,
    /// The engine does not support the case.
    Unsupported,
    Wrong,
}

/// A known-answer case.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: String,
    /// The folder that contains the vector file.
    pub folder: String,
    /// The kind of test, in one word.
    pub family: &'static str,
    /// The group for sampling: file, expected answer and flags. A sample has some cases of each
    /// group.
    pub stratum: String,
    pub line: String,
    pub expected: Expected,
}

/// The cases of all converters.
#[derive(Default)]
pub struct Collection {
    pub cases: Vec<Case>,
    /// Number of cases that cannot be expressed as a line, by folder and reason.
    pub left_out: BTreeMap<(String, String), usize>,
    file: String,
}

/// The value of a field.
pub enum Field {
    Bytes(Vec<u8>),
    Text(String),
    Number(u64),
}

impl From<Vec<u8>> for Field {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<&[u8]> for Field {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl From<&str> for Field {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Field {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Field {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

/// A request: operation, algorithm and fields.
pub struct Ask {
    map: Map<String, Value>,
}

impl Ask {
    pub fn new(op: &str, alg: &str) -> Self {
        let mut map = Map::new();
        map.insert("op".to_owned(), op.into());
        map.insert("alg".to_owned(), alg.into());
        Self { map }
    }

    pub fn with(mut self, name: &str, value: impl Into<Field>) -> Self {
        let value = match value.into() {
            Field::Bytes(bytes) => Value::from(hex(&bytes)),
            Field::Text(text) => Value::from(text),
            Field::Number(number) => Value::from(number),
        };
        self.map.insert(name.to_owned(), value);
        self
    }

    /// Makes a request to verify a signature.
    pub fn verify(
        alg: &str,
        public_key: impl Into<Field>,
        message: impl Into<Field>,
        signature: impl Into<Field>,
    ) -> Self {
        let ask = Self::new("verify", alg).with("public_key", public_key);
        ask.with("message", message).with("signature", signature)
    }
}

impl Collection {
    /// Begins a file, named by its path within the vectors. All cases added afterwards belong to
    /// this file.
    pub fn begin(&mut self, file: &str) {
        self.file = file.to_owned();
    }

    fn folder(&self) -> String {
        self.file.split('/').next().unwrap_or_default().to_owned()
    }

    /// Adds a case. `name` is unique within the file; `flags` are part of the group for sampling.
    pub fn add(
        &mut self,
        family: &'static str,
        name: impl std::fmt::Display,
        flags: &str,
        ask: Ask,
        expected: Expected,
    ) {
        let id = format!("{}#{name}", self.file);
        let mut map = ask.map;
        let op = map.get("op").and_then(Value::as_str).unwrap_or_default().to_owned();
        map.insert("id".to_owned(), id.clone().into());
        let stratum = format!("{} {op} {} {flags}", self.file, expected.name());
        let line = Value::Object(map).to_string();
        self.cases.push(Case { id, folder: self.folder(), family, stratum, line, expected });
    }

    /// Counts a case that cannot be expressed as a line.
    pub fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry((self.folder(), reason.to_owned())).or_default() += 1;
    }

    /// Checks that no two cases have the same id, since answers are assigned to cases by their id.
    pub fn check_ids(&self) -> Result<()> {
        let mut ids = BTreeSet::new();
        for case in &self.cases {
            ensure!(ids.insert(&case.id), "two cases with the id {}", case.id);
        }
        Ok(())
    }

    /// Keeps only the first cases of each group, so that the sample is the same on every machine.
    pub fn sample(&mut self, of_each: usize) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        self.cases.retain(|case| {
            let count = seen.entry(case.stratum.clone()).or_default();
            *count += 1;
            *count <= of_each
        });
    }
}

/// Returns the string in a field of a JSON object.
pub fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str> {
    value[name].as_str().with_context(|| format!("no text `{name}`"))
}

/// Returns the bytes that a field of a JSON object has in hexadecimal digits.
pub fn bytes(value: &Value, name: &str) -> Result<Vec<u8>> {
    parse_hex(text(value, name)?).with_context(|| format!("`{name}`"))
}

/// Returns the number in a field of a JSON object.
pub fn number(value: &Value, name: &str) -> Result<u64> {
    value[name].as_u64().with_context(|| format!("no number `{name}`"))
}

/// Returns the array in a field of a JSON object.
pub fn array<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>> {
    value[name].as_array().with_context(|| format!("no array `{name}`"))
}

/// Returns the flags of a test, joined by commas, for the group for sampling.
pub fn flags(value: &Value) -> String {
    let flags = value["flags"].as_array().into_iter().flatten().filter_map(Value::as_str);
    flags.collect::<Vec<_>>().join(",")
}

pub fn parse_hex(text: &str) -> Result<Vec<u8>> {
    unhex(text).with_context(|| format!("not hexadecimal: {:.40}", text))
}

/// Returns `len` bytes of the repeated sequence 00 01 .. FA.
pub fn pattern(len: u64) -> Vec<u8> {
    (0..=0xfa).cycle().take(len as usize).collect()
}

/// Returns the name that a case uses for a hash, given the name that NIST, Wycheproof or Botan use;
/// `None` if cases have no name for it.
pub fn hash_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "SHA-1" => "sha1",
        "SHA2-224" | "SHA-224" => "sha224",
        "SHA2-256" | "SHA-256" => "sha256",
        "SHA2-384" | "SHA-384" => "sha384",
        "SHA2-512" | "SHA-512" => "sha512",
        "SHA2-512/224" | "SHA-512/224" | "SHA2-512-224" => "sha512-224",
        "SHA2-512/256" | "SHA-512/256" | "SHA2-512-256" => "sha512-256",
        "SHA3-224" | "SHA-3(224)" => "sha3-224",
        "SHA3-256" | "SHA-3(256)" => "sha3-256",
        "SHA3-384" | "SHA-3(384)" => "sha3-384",
        "SHA3-512" | "SHA-3(512)" => "sha3-512",
        "SHAKE-128" | "SHAKE128" => "shake128",
        "SHAKE-256" | "SHAKE256" => "shake256",
        _ => return None,
    })
}
