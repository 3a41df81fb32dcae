//! Identifies the kind of a key file before it is decoded, so that a mistake can be named.

use crate::KeyErrorKind;

/// Finds the one PEM block of a file and returns its label and the block itself.
///
/// Text around the block is refused: a second key in the same file would silently be ignored.
pub(crate) fn sole_block(bytes: &[u8]) -> Result<(&str, &str), KeyErrorKind> {
    let text = str::from_utf8(bytes).map_err(|_| KeyErrorKind::NotPem)?;
    let text = text.trim_ascii();
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
