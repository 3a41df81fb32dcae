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

/// Finds the one PEM block of a file and returns its label and the block itself.
///
/// Other text around the block is refused: a second key in the same file would silently be ignored.
pub(crate) fn sole_block(bytes: &[u8]) -> Result<(&str, &str), KeyErrorKind> {
    let text = str::from_utf8(bytes).map_err(|_| KeyErrorKind::NotPem)?;
    let (_, text) = stated(text);
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
