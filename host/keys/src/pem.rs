//! Identifies the kind of a key file before it is decoded, so that a mistake can be named.

use crate::KeyErrorKind;

/// What a line before the block says: the algorithm of a key that does not say it itself.
pub(crate) const STATEMENT: &str = "# algorithm: ";

/// The algorithm that is stated before the block, if one is, and what follows.
pub(crate) fn stated(text: &str) -> (Option<&str>, &str) {
    let text = text.trim_ascii();
    let statement = text.strip_prefix(STATEMENT).and_then(|rest| rest.split_once('\n'));
    statement.map_or((None, text), |(name, block)| (Some(name.trim_ascii()), block.trim_ascii()))
}

/// What `openssl ecparam -genkey` writes before a key: its curve, once more.
const PARAMETERS: [&str; 2] = ["-----BEGIN EC PARAMETERS-----", "-----END EC PARAMETERS-----"];

/// The block with the curve that is before that of an EC key, if there is one, and what follows.
pub(crate) fn parameters(text: &str) -> (Option<&str>, &str) {
    let [begin, end] = PARAMETERS;
    let at = text.strip_prefix(begin).and_then(|rest| rest.find(end));
    let Some(at) = at else { return (None, text) };
    let (block, rest) = text.split_at(begin.len() + at + end.len());
    let rest = rest.trim_ascii();
    // By itself it is a file of another kind.
    if rest.starts_with("-----BEGIN EC PRIVATE KEY-----") {
        (Some(block), rest)
    } else {
        (None, text)
    }
}

/// Finds the one PEM block of a file and returns its label and the block itself.
///
/// Other text around the block is refused: a second key in the same file would silently be ignored.
pub(crate) fn sole_block(bytes: &[u8]) -> Result<(&str, &str), KeyErrorKind> {
    let text = str::from_utf8(bytes).map_err(|_| KeyErrorKind::NotPem)?;
    let (_, text) = parameters(stated(text).1);
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
