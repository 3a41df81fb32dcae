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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PrivateKey;

    #[test]
    fn bytes_der_and_base64_are_one_signature() {
        let algorithm = Algorithm::from_name("ecdsa-p256").unwrap();
        let key = PrivateKey::generate_for(algorithm, &mut |_, _| ()).unwrap();
        let public = key.public();
        let raw = key.sign(b"message").unwrap();
        let der = p256::ecdsa::Signature::from_slice(&raw).unwrap().to_der().as_bytes().to_vec();
        let lines = |bytes: &[u8]| {
            let text = Base64::encode_string(bytes);
            let (first, rest) = text.split_at(40);
            format!("{first}\r\n{rest}\n").into_bytes()
        };
        for answer in [raw.clone(), der.clone(), lines(&raw), lines(&der)] {
            assert_eq!(accepted(&public, b"message", &answer), Some(raw.clone()));
            assert_eq!(accepted(&public, b"messages", &answer), None);
            let other = PrivateKey::generate_for(algorithm, &mut |_, _| ()).unwrap();
            assert_eq!(accepted(&other.public(), b"message", &answer), None);
            for at in 0..answer.trim_ascii_end().len() {
                assert_eq!(accepted(&public, b"message", &answer[..at]), None, "{at}");
            }
            let longer = [&answer[..], &[0]].concat();
            assert_eq!(accepted(&public, b"message", &longer), None);
        }
        // Numbers that are too long for their field, and a sequence that is cut off.
        let long = [&[0x30, 0x48, 2, 0x22, 1][..], &[1; 0x21], &[2, 0x22, 1], &[1; 0x21]].concat();
        for answer in [&long[..], &[0x30, 0x80], &[0x30, 3, 2, 1, 1], b"====", &[]] {
            assert_eq!(accepted(&public, b"message", answer), None);
        }
    }
}
