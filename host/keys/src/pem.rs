//! Finds the PEM block of a key file and its label before anything is decoded, so that an error
//! message can name the kind of file.

use crate::KeyErrorKind;

/// The beginning of the line before a PEM block that states the algorithm of a key whose encoding
/// does not.
pub(crate) const STATEMENT: &str = "# algorithm: ";

/// Splits a text into the algorithm that is stated before the PEM block, if any, and the rest.
pub(crate) fn split_statement(text: &str) -> (Option<&str>, &str) {
    let text = text.trim_ascii();
    let statement = text.strip_prefix(STATEMENT).and_then(|rest| rest.split_once('\n'));
    statement.map_or((None, text), |(name, block)| (Some(name.trim_ascii()), block.trim_ascii()))
}

/// The delimiters of the block with the curve that `openssl ecparam -genkey` writes before a key,
/// which names the curve again.
const PARAMETERS: [&str; 2] = ["-----BEGIN EC PARAMETERS-----", "-----END EC PARAMETERS-----"];

/// Splits a text into the block of curve parameters before an EC private key, if any, and the rest.
pub(crate) fn parameters(text: &str) -> (Option<&str>, &str) {
    let [begin, end] = PARAMETERS;
    let at = text.strip_prefix(begin).and_then(|rest| rest.find(end));
    let Some(at) = at else { return (None, text) };
    let (block, rest) = text.split_at(begin.len() + at + end.len());
    let rest = rest.trim_ascii();
    // A parameters block without a key after it is a file of another kind.
    if rest.starts_with("-----BEGIN EC PRIVATE KEY-----") {
        (Some(block), rest)
    } else {
        (None, text)
    }
}

/// Finds the only PEM block of a file and returns its label and the block.
///
/// Any other text around the block is refused: a second key in the same file would be ignored
/// silently.
pub(crate) fn sole_block(bytes: &[u8]) -> Result<(&str, &str), KeyErrorKind> {
    let text = str::from_utf8(bytes).map_err(|_| KeyErrorKind::NotPem)?;
    let (_, text) = parameters(split_statement(text).1);
    let label = text
        .strip_prefix("-----BEGIN ")
        .and_then(|rest| rest.split_once("-----"))
        .map(|(label, _)| label)
        .filter(|label| !label.contains(['\n', '\r']))
        .ok_or(if text.contains("-----BEGIN ") {
            KeyErrorKind::TrailingData
        } else {
            KeyErrorKind::NotPem
        })?;
    let end = format!("-----END {label}-----");
    let (_, after) = text.split_once(&end).ok_or(KeyErrorKind::Malformed)?;
    if after.is_empty() { Ok((label, text)) } else { Err(KeyErrorKind::TrailingData) }
}
