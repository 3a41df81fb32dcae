//! Finds the PEM block of a key file before anything is decoded, so that an error message can name the kind of file.
//!
//! What is read is the lax form of RFC 7468 §3: lines of any width, white space anywhere around and between the
//! characters of Base64, and explanatory text before the block (§2), such as the attributes that `openssl pkcs12` writes.

use pkcs8::der::pem as rfc7468;
use zeroize::Zeroizing;

use crate::{ForeignForm, KeyErrorKind};

/// The beginning of the line before a PEM block that states the algorithm of a key whose encoding
/// does not.
pub(crate) const STATEMENT: &str = "# algorithm: ";
/// The same without the blank at its end, for a line that states nothing.
const EMPTY_STATEMENT: &str = "# algorithm:";

const BEGIN: &str = "-----BEGIN ";
/// The byte order mark that editors of Windows write before UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Number of Base64 characters in the lines of the strict form (RFC 7468 §2).
const STRICT_WIDTH: usize = 64;

/// A PEM block.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub(crate) label: &'a str,
    /// The text between the first and the last line.
    body: &'a str,
}

impl Block<'_> {
    /// Returns true if the block is encrypted in the way that is older than PKCS#8 (RFC 1421 §4.6.1.1).
    pub(crate) fn is_encrypted_by_header(&self) -> bool {
        self.body.trim_ascii_start().starts_with("Proc-Type:")
    }

    /// Decodes the Base64 between the lines. The library reads the strict form only, so the block is wrapped again.
    pub(crate) fn decode(&self) -> Result<Zeroizing<Vec<u8>>, KeyErrorKind> {
        let base64: Zeroizing<String> =
            Zeroizing::new(self.body.split_ascii_whitespace().collect());
        let other = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='));
        if base64.contains(other) {
            return Err(KeyErrorKind::Malformed(
                "its Base64 has a character that is none of Base64",
            ));
        }
        // The capacity is sufficient, so no reallocation leaves a copy of a secret.
        let mut strict = Zeroizing::new(String::with_capacity(2 * base64.len() + 80));
        strict.push_str("-----BEGIN KEY-----\n");
        for line in base64.as_bytes().chunks(STRICT_WIDTH) {
            strict.extend(line.iter().map(|byte| char::from(*byte)));
            strict.push('\n');
        }
        strict.push_str("-----END KEY-----\n");
        rfc7468::decode_vec(strict.as_bytes())
            .map(|(_, der)| Zeroizing::new(der))
            .map_err(|_| KeyErrorKind::Malformed("its Base64 is cut off or has wrong padding"))
    }
}

/// The blocks of a key file.
pub(crate) struct KeyText<'a> {
    /// The algorithm that a line before the blocks states.
    pub(crate) stated: Option<&'a str>,
    /// The block with the curve that `openssl ecparam -genkey` writes before a key, which names the curve again.
    pub(crate) parameters: Option<Block<'a>>,
    /// The block with the key.
    pub(crate) key: Block<'a>,
}

/// Returns the text of a file in UTF-8.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    let text = str::from_utf8(bytes).ok()?;
    Some(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii())
}

/// Finds the only key of a file; `None` if the file has no PEM block.
///
/// A second block is refused, and so is text after the block: a second key in the same file would be ignored silently.
/// Text before the block cannot hold a key.
pub(crate) fn sole_key(bytes: &[u8]) -> Result<Option<KeyText<'_>>, KeyErrorKind> {
    let Some(text) = text(bytes) else { return Ok(None) };
    let Some((before, first, mut rest)) = next_block(text)? else { return Ok(None) };
    if first.body.contains("\\n") {
        return Err(KeyErrorKind::ForeignForm(ForeignForm::Escaped));
    }
    let mut statements = before.lines().map(str::trim_ascii);
    let mut statements = statements.by_ref().filter_map(|line| line.strip_prefix(EMPTY_STATEMENT));
    let stated = statements.next().map(str::trim_ascii);
    if statements.next().is_some() {
        return Err(KeyErrorKind::TrailingData("two lines that state an algorithm"));
    }
    let mut blocks = vec![first];
    while let Some((_, block, after)) = next_block(rest).map_err(|_| SECOND_BLOCK)? {
        blocks.push(block);
        rest = after;
    }
    match blocks[..] {
        [parameters, key]
            if parameters.label == "EC PARAMETERS" && key.label == "EC PRIVATE KEY" =>
        {
            after_key(rest)?;
            Ok(Some(KeyText { stated, parameters: Some(parameters), key }))
        }
        [key] => {
            after_key(rest)?;
            Ok(Some(KeyText { stated, parameters: None, key }))
        }
        _ => Err(SECOND_BLOCK),
    }
}

const SECOND_BLOCK: KeyErrorKind = KeyErrorKind::TrailingData("more than one PEM block");

fn after_key(rest: &str) -> Result<(), KeyErrorKind> {
    if rest.trim_ascii().is_empty() {
        Ok(())
    } else {
        Err(KeyErrorKind::TrailingData("text after its PEM block"))
    }
}

/// Splits off the next block: returns the text before it, the block, and the text after it.
fn next_block(text: &str) -> Result<Option<(&str, Block<'_>, &str)>, KeyErrorKind> {
    let Some((before, rest)) = text.split_once(BEGIN) else { return Ok(None) };
    let (label, rest) = rest
        .split_once("-----")
        .filter(|(label, _)| !label.contains(['\n', '\r']))
        .ok_or(KeyErrorKind::Malformed("the first line of its PEM block has no end"))?;
    let (body, after) = rest.split_once(&format!("-----END {label}-----")).ok_or(
        KeyErrorKind::Malformed("the last line of its PEM block is missing or names another label"),
    )?;
    Ok(Some((before, Block { label, body }, after)))
}
