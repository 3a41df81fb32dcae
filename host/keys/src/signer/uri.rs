//! URIs of signers (`spec/signers.md` §1): `pkcs11:` by RFC 7512, and `exec:`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::{Error, SignerError, SignerReason};

const TOKEN: &str = "pkcs11:";
const PROGRAM: &str = "exec:";

/// Returns true if the name of a key is the URI of a signer, and not that of a file.
pub fn is_uri(name: &Path) -> bool {
    let starts = |scheme: &str| name.as_os_str().as_bytes().starts_with(scheme.as_bytes());
    starts(TOKEN) || starts(PROGRAM)
}

/// Returns true if the name of a key is the URI of a key in a token.
pub fn is_token(name: &Path) -> bool {
    name.as_os_str().as_bytes().starts_with(TOKEN.as_bytes())
}

pub(super) enum SignerUri {
    Token(TokenUri),
    Program(ProgramUri),
}

/// A key in a token. What is `None` may have any value.
#[derive(Debug, Default)]
pub(super) struct TokenUri {
    /// The URI up to its query: which key it is, and not how it is reached.
    pub(super) shown: String,
    pub(super) token: Option<Vec<u8>>,
    pub(super) manufacturer: Option<Vec<u8>>,
    pub(super) model: Option<Vec<u8>>,
    pub(super) serial: Option<Vec<u8>>,
    /// CKA_LABEL of the key.
    pub(super) object: Option<Vec<u8>>,
    /// CKA_ID of the key.
    pub(super) id: Option<Vec<u8>>,
    pub(super) module: PathBuf,
    /// File whose first line is the PIN.
    pub(super) pin_source: Option<PathBuf>,
    /// File with the public key.
    pub(super) public: Option<PathBuf>,
}

/// A program that signs.
#[derive(Debug)]
pub(super) struct ProgramUri {
    pub(super) shown: String,
    pub(super) program: PathBuf,
    pub(super) public: PathBuf,
}

type Attributes = Vec<(String, Vec<u8>)>;

impl SignerUri {
    pub(super) fn parse(name: &Path) -> Result<Self, Error> {
        let text = name.to_str().unwrap_or_default();
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        // What is shown never has a PIN, which may have been put anywhere.
        let has_pin = text.to_ascii_lowercase().contains("pin-value");
        let scheme = if is_token(name) { TOKEN } else { PROGRAM };
        let shown = if has_pin { format!("{scheme}…") } else { path.to_string() };
        let wrong = |reason, detail: &str| SignerError::new(reason, shown.clone(), detail);
        if has_pin {
            return Err(wrong(SignerReason::PinInUri, "").into());
        }
        let malformed = |detail: &str| wrong(SignerReason::SignerUri, detail);
        let result = match path.strip_prefix(TOKEN) {
            Some(rest) => token(rest, query, &shown).map(Self::Token),
            None => program(path.get(PROGRAM.len()..).unwrap_or_default(), query, &shown)
                .map(Self::Program),
        };
        result.map_err(|detail| malformed(&detail).into())
    }
}

fn token(path: &str, query: &str, shown: &str) -> Result<TokenUri, String> {
    let mut uri = TokenUri { shown: shown.to_string(), ..TokenUri::default() };
    for (name, value) in attributes(path, ';')? {
        let field = match &*name {
            "token" => &mut uri.token,
            "manufacturer" => &mut uri.manufacturer,
            "model" => &mut uri.model,
            "serial" => &mut uri.serial,
            "object" => &mut uri.object,
            "id" => &mut uri.id,
            "type" if value == b"private" => continue,
            "type" => return Err("`type` is not `private`".to_string()),
            _ => return Err(format!("`{name}` is not supported")),
        };
        *field = Some(value);
    }
    let mut module = None;
    for (name, value) in attributes(query, '&')? {
        let field = match &*name {
            "module-path" => &mut module,
            "pin-source" => &mut uri.pin_source,
            "public" => &mut uri.public,
            _ => return Err(format!("`{name}` is not supported")),
        };
        *field = Some(file(&name, value)?);
    }
    uri.module = module.ok_or("`module-path` is missing")?;
    // A bare name would be searched in folders that the environment names.
    if !uri.module.is_absolute() {
        return Err("`module-path` is not absolute".to_string());
    }
    if uri.object.is_none() && uri.id.is_none() {
        return Err("neither `object` nor `id` is given".to_string());
    }
    Ok(uri)
}

fn program(path: &str, query: &str, shown: &str) -> Result<ProgramUri, String> {
    let program = PathBuf::from(OsString::from_vec(percent_decoded(path)?));
    if !program.is_absolute() {
        return Err("the path of the program is not absolute".to_string());
    }
    let mut public = None;
    for (name, value) in attributes(query, '&')? {
        match &*name {
            "public" => public = Some(file(&name, value)?),
            _ => return Err(format!("`{name}` is not supported")),
        }
    }
    let public = public.ok_or("`public` is missing: the file of the public key")?;
    Ok(ProgramUri { shown: shown.to_string(), program, public })
}

/// Returns the path in a value, which may be a `file:` URI (RFC 8089) of this machine.
fn file(name: &str, value: Vec<u8>) -> Result<PathBuf, String> {
    let path = value.strip_prefix(b"file://").or(value.strip_prefix(b"file:")).unwrap_or(&value);
    // RFC 7512 §2.4 lets a value that begins with `|` name a program. None is run for a PIN.
    if path.is_empty() || path.first() == Some(&b'|') {
        return Err(format!("`{name}` does not name a file"));
    }
    Ok(PathBuf::from(OsString::from_vec(path.to_vec())))
}

fn attributes(text: &str, separator: char) -> Result<Attributes, String> {
    let mut attributes = Attributes::new();
    for part in text.split(separator).filter(|_| !text.is_empty()) {
        let (name, value) =
            part.split_once('=').ok_or_else(|| format!("`{part}` is not NAME=VALUE"))?;
        if attributes.iter().any(|(known, _)| known == name) {
            return Err(format!("`{name}` is given twice"));
        }
        attributes.push((name.to_string(), percent_decoded(value)?));
    }
    Ok(attributes)
}

/// Decodes percent codes (RFC 3986 §2.1). No value has a zero byte.
fn percent_decoded(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let byte = digit(*high).zip(digit(*low)).map(|(high, low)| 16 * high + low);
                let byte = byte.and_then(|byte| u8::try_from(byte).ok()).filter(|it| *it != 0);
                (byte.ok_or("a percent code is not valid")?, after)
            }
            (b'%', _) => return Err("a percent code is cut off".to_string()),
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> (SignerReason, String) {
        match SignerUri::parse(Path::new(text)) {
            Err(Error::Signer(error)) => (error.reason, error.context().join("")),
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn a_uri_names_token_key_and_module() {
        let text = "pkcs11:token=My%20token;serial=1%3b2;object=root;id=%01%a0;type=private\
                    ?module-path=/lib/x.so&pin-source=file:/run/pin";
        let Ok(SignerUri::Token(uri)) = SignerUri::parse(Path::new(text)) else { panic!() };
        assert_eq!(uri.token.unwrap(), b"My token");
        assert_eq!(uri.serial.unwrap(), b"1;2");
        assert_eq!(uri.id.unwrap(), [1, 0xa0]);
        assert_eq!(uri.module, Path::new("/lib/x.so"));
        assert_eq!(uri.pin_source.unwrap(), Path::new("/run/pin"));
        assert!(!uri.shown.contains('?'));
        let text = "exec:/opt/kms%20sign?public=/etc/release.pub.pem";
        let Ok(SignerUri::Program(uri)) = SignerUri::parse(Path::new(text)) else { panic!() };
        assert_eq!(uri.program, Path::new("/opt/kms sign"));
        assert!(is_uri(Path::new("exec:")) && is_uri(Path::new("pkcs11:")));
        assert!(!is_uri(Path::new("./pkcs11:a")) && !is_token(Path::new("exec:a")));
    }

    #[test]
    fn what_a_uri_has_and_nobody_reads_is_refused() {
        let module = "?module-path=/lib/x.so";
        for (text, part) in [
            ("pkcs11:".to_string(), "module-path"),
            ("pkcs11:?module-path=/lib/x.so".to_string(), "neither"),
            ("pkcs11:object=a?module-path=x.so".to_string(), "absolute"),
            (format!("pkcs11:object=a;object=b{module}"), "twice"),
            (format!("pkcs11:object=a{module}&module-path=/y"), "twice"),
            (format!("pkcs11:object{module}"), "NAME=VALUE"),
            (format!("pkcs11:object=a;{module}"), "NAME=VALUE"),
            (format!("pkcs11:object=%4{module}"), "percent"),
            (format!("pkcs11:object=%zz{module}"), "percent"),
            (format!("pkcs11:object=%00{module}"), "percent"),
            (format!("pkcs11:object=a;slot-id=1{module}"), "`slot-id`"),
            (format!("pkcs11:object=a;type=public{module}"), "`type`"),
            (format!("pkcs11:object=a{module}&pin-source=%7ccat"), "`pin-source`"),
            ("exec:sign?public=/a".to_string(), "absolute"),
            ("exec:/sign".to_string(), "`public`"),
            ("exec:/sign?public=".to_string(), "`public`"),
            ("exec:/sign?public=/a&shell=1".to_string(), "`shell`"),
        ] {
            let (reason, context) = refusal(&text);
            assert_eq!(reason, SignerReason::SignerUri, "{text}");
            assert!(context.contains(part), "{text}: {context}");
        }
        for text in [
            format!("pkcs11:object=a{module}&pin-value=1234"),
            format!("pkcs11:object=a;pin-value=1234{module}"),
            format!("pkcs11:object=a{module}&PIN-Value=1234"),
        ] {
            let (reason, context) = refusal(&text);
            assert_eq!(reason, SignerReason::PinInUri, "{text}");
            assert!(!context.contains("1234"), "{context}");
        }
    }
}
