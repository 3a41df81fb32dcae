//! Signatures that others made, in the forms in which tools write them (`spec/signers.md` §5).

use base64ct::{Base64, Encoding};
use hartlock_image::{Algorithm, SignatureBlock};
use pkcs8::der::asn1::UintRef;
use pkcs8::der::{Reader, SliceReader};

use crate::PublicKey;

/// Returns the signature in an answer, in the form of a signature block, if it is one of `signed` with this
/// key. The answer may be the bytes themselves, for ECDSA also in DER, or either in Base64.
pub fn accepted(public: &PublicKey, signed: &[u8], answer: &[u8]) -> Option<Vec<u8>> {
    let decoded = base64(answer);
    let forms = [Some(answer), decoded.as_deref()];
    let mut candidates =
        forms.into_iter().flatten().flat_map(|it| [Some(it.to_vec()), numbers(public, it)]);
    candidates.find_map(|it| it.filter(|signature| is_signature(public, signed, signature)))
}

fn is_signature(public: &PublicKey, signed: &[u8], signature: &[u8]) -> bool {
    let (algorithm, parameters) = public.algorithm().numbers();
    let size = public.algorithm().signature_size();
    let block = SignatureBlock { algorithm, parameters, public_key: public.as_bytes(), signature };
    size.is_none_or(|size| size == signature.len())
        && hartlock_verify::check_signature(&block, signed) == Some(Ok(()))
}

/// Decodes Base64 with white space anywhere.
fn base64(answer: &[u8]) -> Option<Vec<u8>> {
    let text: Vec<u8> = answer.iter().filter(|it| !it.is_ascii_whitespace()).copied().collect();
    Base64::decode_vec(str::from_utf8(&text).ok()?).ok()
}

/// Returns the two numbers of an ECDSA signature in DER (RFC 3279 §2.2.3) in their fixed length.
fn numbers(public: &PublicKey, der: &[u8]) -> Option<Vec<u8>> {
    let Algorithm::Ecdsa(_) = public.algorithm() else { return None };
    let half = public.algorithm().signature_size()? / 2;
    let mut reader = SliceReader::new(der).ok()?;
    let two = reader.sequence(|reader| {
        Ok::<_, pkcs8::der::Error>([reader.decode::<UintRef<'_>>()?, reader.decode()?])
    });
    let two = two.ok().filter(|_| reader.is_finished())?;
    let mut signature = vec![0; 2 * half];
    for (number, field) in two.iter().zip(signature.chunks_mut(half)) {
        let bytes = number.as_bytes();
        let at = half.checked_sub(bytes.len())?;
        field.get_mut(at..)?.copy_from_slice(bytes);
    }
    Some(signature)
}
