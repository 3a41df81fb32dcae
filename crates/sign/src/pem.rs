//! Tells what a key file is before it is decoded, so that a mistake can be named.

use ed25519_dalek::pkcs8::ObjectIdentifier;

use crate::key::KeyErrorKind;

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
    let (_, behind) = text.split_once(&end).ok_or(KeyErrorKind::Malformed)?;
    if behind.is_empty() { Ok((label, text)) } else { Err(KeyErrorKind::TrailingData) }
}

/// The name of a key algorithm that is not supported, as far as it is well known.
pub(crate) fn algorithm_name(oid: &ObjectIdentifier) -> String {
    let oid = oid.to_string();
    let name = match oid.as_str() {
        "1.2.840.113549.1.1.1" => "RSA",
        "1.2.840.113549.1.1.10" => "RSA-PSS",
        "1.2.840.10040.4.1" => "DSA",
        "1.2.840.10045.2.1" => "EC (ECDSA)",
        "1.3.101.110" => "X25519",
        "1.3.101.111" => "X448",
        "1.3.101.113" => "Ed448",
        "2.16.840.1.101.3.4.3.17" => "ML-DSA-44",
        "2.16.840.1.101.3.4.3.18" => "ML-DSA-65",
        "2.16.840.1.101.3.4.3.19" => "ML-DSA-87",
        _ => return format!("the algorithm {oid}"),
    };
    name.to_string()
}
