//! Operations `cipher`, AES in CBC, `aead-decrypt`, AES in GCM, and `key-unwrap`, AES key wrap.

use hartlock_kernels::aes::gcm::{self, GcmError};
use hartlock_kernels::aes::kw::{self, UnwrapError};
use hartlock_kernels::aes::{AesKey, BLOCK_SIZE, cbc};

use crate::request::Field;
use crate::{Answer, Engine, Output, Request};

/// Bytes of a text that are computed at once.
const PIECE: usize = 1024;

/// Parses a name such as `aes-256-gcm` into the length of the key in bytes and the mode.
fn parse(alg: &str) -> Option<(usize, &str)> {
    let (bits, mode) = alg.strip_prefix("aes-")?.split_once('-')?;
    let bits = [("128", 16), ("192", 24), ("256", 32)].into_iter().find(|it| it.0 == bits)?;
    Some((bits.1, mode))
}

/// Returns the fields that an algorithm needs in addition to those of its operation; `None` if the algorithm is unknown.
pub fn needs(alg: &str, mode: &str) -> Option<&'static [Field]> {
    parse(alg).filter(|(_, its)| *its == mode).map(|_| &[][..])
}

/// Expands the key of a case.
fn expand(request: &Request<'_>, key: &mut AesKey) -> Result<(), Answer> {
    let (len, _) = parse(request.alg()).ok_or(Answer::UnsupportedField(Field::Alg))?;
    let bytes = request.bytes(Field::Key);
    if bytes.len() != len || key.expand(bytes).is_err() {
        return Err(Answer::Invalid("the key does not have the length of the algorithm"));
    }
    Ok(())
}

/// Answers `aead-decrypt`.
pub(crate) fn decrypt(engine: &Engine, request: &Request<'_>, output: Output<'_>) -> Answer {
    let mut key = AesKey::with(&engine.kernels);
    if let Err(answer) = expand(request, &mut key) {
        return answer;
    }
    let [iv, aad, text, tag] =
        [Field::Iv, Field::Aad, Field::Ciphertext, Field::Tag].map(|field| request.bytes(field));
    match gcm::decrypt_to(&key, iv, aad, text, tag, output) {
        Ok(()) => Answer::Ok,
        Err(GcmError::IvEmpty) => Answer::Invalid("the initialization vector is empty"),
        Err(GcmError::TagLength) => Answer::Invalid("a tag of this length does not exist"),
        Err(GcmError::TooLong) => Answer::Invalid("a part is longer than the mode allows"),
        Err(GcmError::NotAuthentic) => Answer::Invalid("the tag is that of something else"),
    }
}

/// Answers `key-unwrap`.
pub(crate) fn unwrap(engine: &Engine, request: &Request<'_>, output: Output<'_>) -> Answer {
    let mut wrapping_key = AesKey::with(&engine.kernels);
    if let Err(answer) = expand(request, &mut wrapping_key) {
        return answer;
    }
    let wrapped = request.bytes(Field::Ciphertext);
    let mut buffer = [0; PIECE];
    // The check value takes eight bytes.
    let Some(key) = buffer.get_mut(..wrapped.len().saturating_sub(8)) else {
        return Answer::Unsupported("a longer key than this engine unwraps");
    };
    match kw::unwrap(&wrapping_key, wrapped, key) {
        Ok(()) => output(key),
        Err(UnwrapError::Length) => return Answer::Invalid("no wrapped key has this length"),
        Err(UnwrapError::NotAuthentic) => return Answer::Invalid("the check value is wrong"),
    }
    Answer::Ok
}

/// Answers `cipher`.
pub(crate) fn answer(engine: &Engine, request: &Request<'_>, output: Output<'_>) -> Answer {
    let is_encryption = match request.text(Field::Direction) {
        Some("encrypt") => true,
        Some("decrypt") => false,
        _ => return Answer::UnsupportedField(Field::Direction),
    };
    let is_padded = match request.text(Field::Padding) {
        Some("pkcs7") => true,
        Some("none") => false,
        _ => return Answer::UnsupportedField(Field::Padding),
    };
    let mut key = AesKey::with(&engine.kernels);
    if let Err(answer) = expand(request, &mut key) {
        return answer;
    }
    let Ok(iv) = <[u8; BLOCK_SIZE]>::try_from(request.bytes(Field::Iv)) else {
        return Answer::Invalid("the initialization vector is not one block");
    };
    let message = request.bytes(Field::Message);
    let is_whole = message.len().is_multiple_of(BLOCK_SIZE);
    match (is_encryption, is_padded) {
        (true, true) => encrypt_padded(&key, iv, message, output),
        (true, false) if is_whole => run(cbc::encrypt, &key, iv, message, true, output),
        (false, false) if is_whole => run(cbc::decrypt, &key, iv, message, false, output),
        (false, true) if is_whole && !message.is_empty() => {
            return decrypt_padded(&key, iv, message, output);
        }
        _ => return Answer::Invalid("the text is no whole number of blocks"),
    };
    Answer::Ok
}

type Mode = fn(&AesKey, &[u8; BLOCK_SIZE], &mut [u8]) -> Result<(), cbc::PartialBlock>;

/// Puts out the result for whole blocks, and returns the last block of the cipher text.
fn run(
    mode: Mode,
    key: &AesKey,
    mut iv: [u8; BLOCK_SIZE],
    message: &[u8],
    is_encryption: bool,
    output: Output<'_>,
) -> [u8; BLOCK_SIZE] {
    let mut buffer = [0; PIECE];
    for from in message.chunks(PIECE) {
        let Some(piece) = buffer.get_mut(..from.len()) else { continue };
        piece.copy_from_slice(from);
        if mode(key, &iv, piece).is_err() {
            continue;
        }
        output(piece);
        let cipher: &[u8] = if is_encryption { piece } else { from };
        iv = cipher.last_chunk().copied().unwrap_or(iv);
    }
    iv
}

/// Encrypts with the padding of RFC 5652 §6.3.
fn encrypt_padded(
    key: &AesKey,
    iv: [u8; BLOCK_SIZE],
    message: &[u8],
    output: Output<'_>,
) -> [u8; BLOCK_SIZE] {
    let (whole, rest) = message.as_chunks::<BLOCK_SIZE>();
    let iv = run(cbc::encrypt, key, iv, whole.as_flattened(), true, output);
    let mut last = [(BLOCK_SIZE - rest.len()) as u8; BLOCK_SIZE];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    run(cbc::encrypt, key, iv, &last, true, output)
}

/// Decrypts, and removes the padding. It is looked at before anything is put out.
fn decrypt_padded(
    key: &AesKey,
    iv: [u8; BLOCK_SIZE],
    message: &[u8],
    output: Output<'_>,
) -> Answer {
    let (blocks, _) = message.as_chunks::<BLOCK_SIZE>();
    let Some((last, before)) = blocks.split_last() else {
        return Answer::Invalid("the text is no whole number of blocks");
    };
    let mut plain = *last;
    let last_iv = before.last().copied().unwrap_or(iv);
    if cbc::decrypt(key, &last_iv, &mut plain).is_err() {
        return Answer::Invalid("the text is no whole number of blocks");
    }
    let [.., padding] = plain;
    let len = BLOCK_SIZE.checked_sub(usize::from(padding)).filter(|_| padding > 0);
    let Some((text, pad)) = len.and_then(|len| plain.split_at_checked(len)) else {
        return Answer::Invalid("the padding is wrong");
    };
    if pad.iter().any(|byte| *byte != padding) {
        return Answer::Invalid("the padding is wrong");
    }
    run(cbc::decrypt, key, iv, before.as_flattened(), false, output);
    output(text);
    Answer::Ok
}
