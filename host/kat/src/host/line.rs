//! Lines of `spec/kat.md` §1: requests and their answers.

use std::borrow::Cow;
use std::fmt;

use hartlock_kernels::aes::BLOCK_SIZE;
use serde::{Deserialize, Serialize};

use crate::host::object::{Object, Value};
use crate::request::{Field, Kind, Op, Request};
use crate::{Answer, cipher, digest, hash, mac, verify};

/// Maximum length of a line in bytes. The specification requires at least 3 MB.
pub const MAX_LINE_LEN: usize = 16 << 20;

/// Maximum number of characters of the input that a reason quotes.
const MAX_QUOTED: usize = 60;

/// A case that was read from a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCase {
    /// The id of the case, which the answer repeats.
    pub id: String,
    op: Op,
    values: Vec<(Field, Vec<u8>)>,
}

/// The answer to a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The id of the line, or an empty string if the line has none.
    #[serde(default)]
    pub id: String,
    /// The result.
    pub result: Verdict,
    /// The output in hexadecimal digits, present only if the result is `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// An explanation for people. Other engines may use other words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the variants are the words of the specification")]
pub enum Verdict {
    Ok,
    Valid,
    Invalid,
    Unsupported,
    Error,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Ok => "ok",
            Verdict::Valid => "valid",
            Verdict::Invalid => "invalid",
            Verdict::Unsupported => "unsupported",
            Verdict::Error => "error",
        })
    }
}

impl Reply {
    fn without_output(id: &str, result: Verdict, reason: Option<String>) -> Self {
        Self { id: id.to_owned(), result, output: None, reason }
    }

    /// Makes the answer to a line that cannot be read.
    pub fn error(id: &str, reason: impl Into<String>) -> Self {
        Self::without_output(id, Verdict::Error, Some(reason.into()))
    }

    fn unsupported(id: &str, reason: String) -> Self {
        Self::without_output(id, Verdict::Unsupported, Some(reason))
    }

    /// Formats the answer as a line, without the line end.
    pub fn to_json(&self) -> String {
        // Serialization cannot fail, because all fields are strings.
        let json = serde_json::to_string(self).unwrap_or_default();
        match hartlock_terminal::json(&json) {
            Cow::Borrowed(_) => json,
            Cow::Owned(escaped) => escaped,
        }
    }
}

/// Parses a line.
///
/// # Errors
/// The answer to a line that cannot be read, or that names an unknown operation or algorithm.
pub fn parse(line: &[u8]) -> Result<ParsedCase, Box<Reply>> {
    if line.len() > MAX_LINE_LEN {
        return Err(too_long());
    }
    let error = |reason: String| Box::new(Reply::error("", reason));
    let text = std::str::from_utf8(line).map_err(|_| error("not UTF-8".to_owned()))?;
    let object: Object = serde_json::from_str(text).map_err(|fault| {
        error(match fault.is_data() {
            true => "not a JSON object".to_owned(),
            false => format!("not JSON: {fault}"),
        })
    })?;
    let Object { id, op, fields } = object;
    let id = match id {
        Some(Value::Text(id)) => id,
        Some(_) => return Err(error("`id` is not a string".to_owned())),
        None => return Err(error("`id` is missing".to_owned())),
    };
    match read(op, fields) {
        Ok((op, values)) => Ok(ParsedCase { id, op, values }),
        Err(Fault::Error(reason)) => Err(Box::new(Reply::error(&id, reason))),
        Err(Fault::Unsupported(reason)) => Err(Box::new(Reply::unsupported(&id, reason))),
    }
}

/// Returns the answer to a line that is longer than [`MAX_LINE_LEN`].
pub fn too_long() -> Box<Reply> {
    Box::new(Reply::error("", format!("the line has more than {MAX_LINE_LEN} bytes")))
}

enum Fault {
    Error(String),
    Unsupported(String),
}

/// Quotes the first characters of a text that may be as long as a line.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// The operation of a line, and the values of its fields.
type Content = (Op, Vec<(Field, Vec<u8>)>);

fn read(op: Option<Value>, mut fields: Vec<(Field, Value)>) -> Result<Content, Fault> {
    let text = |name: &str, value: Option<&Value>| match value {
        Some(Value::Text(text)) => Ok(text.clone()),
        Some(_) => Err(Fault::Error(format!("`{name}` is not a string"))),
        None => Err(Fault::Error(format!("`{name}` is missing"))),
    };
    let named = |field| fields.iter().find(|(known, _)| *known == field).map(|(_, value)| value);
    let op_name = text("op", op.as_ref())?;
    let alg = text("alg", named(Field::Alg))?;
    // These are checked before the fields, so that a newer operation or algorithm may have any
    // fields.
    let Some(op) = Op::from_name(&op_name) else {
        return Err(Fault::Unsupported(format!("op {} is not known", quoted(&op_name))));
    };
    let Some(more) = needs(op, &alg) else {
        return Err(Fault::Unsupported(format!("alg {} is not carried", quoted(&alg))));
    };
    fields.sort_unstable_by_key(|(field, _)| *field as usize);
    let mut fields = fields.into_iter().peekable();
    let mut values = Vec::new();
    for field in Field::ALL {
        match fields.next_if(|(known, _)| *known == field) {
            Some((_, value)) => values.push((field, bytes_of(field, value)?)),
            None if always(op).contains(&field) || more.contains(&field) => {
                return Err(Fault::Error(format!("`{}` is missing", field.name())));
            }
            None => {}
        }
    }
    Ok((op, values))
}

/// Returns the fields that every case of an operation has.
const fn always(op: Op) -> &'static [Field] {
    match op {
        Op::Digest => &[Field::Message],
        Op::Mac => &[Field::Key, Field::Message],
        Op::Verify => &[Field::PublicKey, Field::Message, Field::Signature],
        Op::AeadDecrypt => &[Field::Key, Field::Iv, Field::Aad, Field::Ciphertext, Field::Tag],
        Op::Cipher => &[Field::Direction, Field::Padding, Field::Key, Field::Iv, Field::Message],
        Op::KeyUnwrap => &[Field::Key, Field::Ciphertext],
        Op::RsaPublic | Op::RsaPrivate => &[Field::Modulus, Field::Exponent, Field::Message],
    }
}

/// Returns the other fields that an algorithm needs; `None` if the algorithm is unknown.
fn needs(op: Op, alg: &str) -> Option<&'static [Field]> {
    match op {
        Op::Digest => digest::needs(alg),
        Op::Mac => mac::needs(alg),
        Op::Verify => verify::needs(alg),
        Op::AeadDecrypt => cipher::needs(alg, "gcm"),
        Op::Cipher => cipher::needs(alg, "cbc"),
        Op::KeyUnwrap => cipher::needs(alg, "kw"),
        Op::RsaPublic | Op::RsaPrivate => (alg == "rsa").then_some(&[]),
    }
}

fn bytes_of(field: Field, value: Value) -> Result<Vec<u8>, Fault> {
    let name = field.name();
    let wrong = |what: &str| Fault::Error(format!("`{name}` is not {what}"));
    match (field.kind(), value) {
        (Kind::Text, Value::Text(text)) => Ok(text.into_bytes()),
        (Kind::Text, _) => Err(wrong("a string")),
        (Kind::Bytes, Value::Text(text)) => unhex(&text).ok_or_else(|| wrong("hexadecimal")),
        (Kind::Bytes, _) => Err(wrong("a string")),
        (Kind::Number, Value::Number(number)) => Ok(number.to_le_bytes().to_vec()),
        (Kind::Number, _) => Err(wrong("a whole number")),
    }
}

impl ParsedCase {
    /// Returns the case as a request.
    pub fn request(&self) -> Request<'_> {
        let mut request = Request::new(self.op);
        for (field, value) in &self.values {
            request.set(*field, value);
        }
        request
    }

    /// Returns the number of bytes that the case and its answer hold in memory, without a fixed
    /// cost for each.
    pub(super) fn held(&self) -> u64 {
        let values: usize = self.values.iter().map(|(_, value)| value.len()).sum();
        (2 * self.id.len() + values) as u64 + 2 * self.output_bound()
    }

    /// Returns the maximum length of the output in bytes.
    pub(super) fn output_bound(&self) -> u64 {
        let len_of = |field| self.request().bytes(field).len() as u64;
        let len = match self.op {
            Op::Digest | Op::Mac => self.request().number(Field::OutputLen),
            Op::AeadDecrypt | Op::KeyUnwrap => Some(len_of(Field::Ciphertext)),
            // Padding is at most a block.
            Op::Cipher => Some(len_of(Field::Message) + BLOCK_SIZE as u64),
            _ => None,
        };
        // A longer output is refused and not computed (kat §5, rule 5).
        let len = len.filter(|len| *len <= digest::MAX_OUTPUT_LEN);
        len.unwrap_or(0).max(hash::MAX_LEN as u64)
    }

    /// Makes the reply for an answer. `output` is in hexadecimal digits.
    pub fn reply(&self, answer: Answer, output: String) -> Reply {
        let reply =
            |result, reason: &str| Reply::without_output(&self.id, result, Some(reason.to_owned()));
        match answer {
            Answer::Ok => {
                Reply { output: Some(output), ..Reply::without_output(&self.id, Verdict::Ok, None) }
            }
            Answer::Valid => Reply::without_output(&self.id, Verdict::Valid, None),
            Answer::Invalid(reason) => reply(Verdict::Invalid, reason),
            Answer::Unsupported(reason) => reply(Verdict::Unsupported, reason),
            Answer::UnsupportedField(field) => {
                let value = self.request().text(field).unwrap_or_default();
                let what = format!("{} {} is not carried", field.name(), quoted(value));
                reply(Verdict::Unsupported, &what)
            }
        }
    }
}

/// Returns the bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    push_hex(&mut text, bytes);
    text
}

/// Appends the bytes as lower-case hexadecimal digits.
pub(super) fn push_hex(text: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(*byte));
    }
}

/// Returns the bytes of hexadecimal digits in either case; `None` if they are malformed.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}
