//! ML-DSA keys (FIPS 204, RFC 9881). Signatures are deterministic: FIPS 204 §3.4.

use ::ml_dsa::{B32, ExpandedSigningKey, MlDsa44, MlDsa65, MlDsa87, MlDsaParams, Signature};
use hartlock_image::MlDsaSet;
use shake::{ExtendableOutput, Shake256, Update, XofReader};
use zeroize::Zeroizing;

use super::KeyErrorKind;
use super::random::random;

const SEED_SIZE: usize = 32;
/// The tags of the three forms of a private key (RFC 9881 §6): [0] IMPLICIT, OCTET STRING and SEQUENCE.
const SEED_TAG: u8 = 0x80;
const OCTET_STRING: u8 = 0x04;
const SEQUENCE: u8 = 0x30;

/// A private key. Its memory is wiped when it is dropped.
pub(super) struct MlDsaKey {
    pub(super) set: MlDsaSet,
    form: Form,
}

enum Form {
    Seed(Zeroizing<[u8; SEED_SIZE]>),
    /// The expanded key of a file that has no seed.
    Expanded(Zeroizing<Vec<u8>>),
}

/// Calls a function that is generic over the parameters, for a set that is known at run time.
macro_rules! with_set {
    ($set:expr, $function:ident($($argument:expr),*)) => {
        match $set {
            MlDsaSet::MlDsa44 => $function::<MlDsa44>($($argument),*),
            MlDsaSet::MlDsa65 => $function::<MlDsa65>($($argument),*),
            MlDsaSet::MlDsa87 => $function::<MlDsa87>($($argument),*),
        }
    };
}

impl MlDsaKey {
    pub(super) fn generate(set: MlDsaSet) -> Result<Self, KeyErrorKind> {
        let mut seed = Zeroizing::new([0; SEED_SIZE]);
        random(seed.as_mut_slice())?;
        Ok(Self { set, form: Form::Seed(seed) })
    }

    /// Decodes a seed, an expanded key, or both (RFC 9881 §6).
    pub(super) fn decode(set: MlDsaSet, encoded: &[u8]) -> Result<Self, KeyErrorKind> {
        // Drafts of RFC 9881 had the seed or the expanded key without a tag. Its forms have other lengths.
        match encoded.len() {
            SEED_SIZE => return Ok(Self { set, form: Form::Seed(seed(encoded)?) }),
            len if len == expanded_size(set) => return Self::expanded(set, encoded),
            _ => {}
        }
        let (tag, content) = sole(encoded)?;
        match tag {
            SEED_TAG => Ok(Self { set, form: Form::Seed(seed(content)?) }),
            OCTET_STRING => Self::expanded(set, content),
            SEQUENCE => {
                let (first, rest) = element(content).ok_or(MALFORMED)?;
                let second = sole(rest)?;
                let ((OCTET_STRING, short), (OCTET_STRING, long)) = (first, second) else {
                    return Err(MALFORMED);
                };
                let key = Self { set, form: Form::Seed(seed(short)?) };
                let expanded = with_set!(set, expand(key.seed_bytes().unwrap_or_default()));
                check_length(expanded.len(), long.len())?;
                // RFC 9881 §8.2: a reader of both forms should compare them.
                if expanded[..] == *long { Ok(key) } else { Err(KeyErrorKind::PublicHalfDiffers) }
            }
            _ => Err(MALFORMED),
        }
    }

    fn expanded(set: MlDsaSet, bytes: &[u8]) -> Result<Self, KeyErrorKind> {
        check_length(expanded_size(set), bytes.len())?;
        check_ranges(set, bytes)?;
        let key = Self { set, form: Form::Expanded(Zeroizing::new(bytes.to_vec())) };
        // tr is the digest of the public key (FIPS 204 §5.1), and K may be any string. An error in t0 makes
        // signatures that do not verify: nearly all of them if it is large, which this check finds, and few
        // if it is small.
        let public = key.public();
        let mut tr = [0; 64];
        let mut hash = Shake256::default();
        hash.update(&public);
        hash.finalize_xof().read(&mut tr);
        let belongs = tr == bytes[64..128] && with_set!(set, verifies(&public, &key.sign(b"")));
        if belongs { Ok(key) } else { Err(KeyErrorKind::PublicHalfDiffers) }
    }

    /// Encodes the seed if the key has one, else the expanded key.
    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut encoded = Zeroizing::new(Vec::with_capacity(5 + expanded_size(self.set)));
        match &self.form {
            Form::Seed(seed) => {
                encoded.extend([SEED_TAG, SEED_SIZE as u8]);
                encoded.extend(seed.iter());
            }
            Form::Expanded(key) => {
                // The expanded keys of all sets have lengths that need two bytes.
                encoded.extend([OCTET_STRING, 0x82]);
                encoded.extend((key.len() as u16).to_be_bytes());
                encoded.extend(key.iter());
            }
        }
        encoded
    }

    fn seed_bytes(&self) -> Option<&[u8]> {
        match &self.form {
            Form::Seed(seed) => Some(&seed[..]),
            Form::Expanded(_) => None,
        }
    }

    pub(super) fn public(&self) -> Vec<u8> {
        with_set!(self.set, public_of(&self.form))
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        with_set!(self.set, sign_with(&self.form, message))
    }
}

fn key_of<P: MlDsaParams>(form: &Form) -> ExpandedSigningKey<P> {
    match form {
        Form::Seed(seed) => ExpandedSigningKey::from_seed(&B32::from(**seed)),
        #[expect(deprecated, reason = "RFC 9881 has this form, and its ranges were checked")]
        Form::Expanded(bytes) => {
            let bytes = bytes[..].try_into().expect("its length was checked");
            ExpandedSigningKey::from_expanded(bytes)
        }
    }
}

fn public_of<P: MlDsaParams>(form: &Form) -> Vec<u8> {
    key_of::<P>(form).verifying_key().encode().to_vec()
}

fn sign_with<P: MlDsaParams>(form: &Form, message: &[u8]) -> Vec<u8> {
    let key = key_of::<P>(form);
    key.sign_deterministic(message, &[]).expect("an empty context").encode().to_vec()
}

fn verifies<P: MlDsaParams>(public: &[u8], signature: &[u8]) -> bool {
    let (Ok(public), Ok(signature)) = (public.try_into(), Signature::<P>::try_from(signature))
    else {
        return false;
    };
    ::ml_dsa::VerifyingKey::<P>::decode(public).verify_with_context(b"", &[], &signature)
}

fn expand<P: MlDsaParams>(seed: &[u8]) -> Zeroizing<Vec<u8>> {
    let seed = B32::try_from(seed).unwrap_or_default();
    #[expect(deprecated, reason = "RFC 9881 has this form")]
    Zeroizing::new(ExpandedSigningKey::<P>::from_seed(&seed).to_expanded().to_vec())
}

/// Returns the length in bytes of an expanded key (FIPS 204 table 2).
const fn expanded_size(set: MlDsaSet) -> usize {
    match set {
        MlDsaSet::MlDsa44 => 2560,
        MlDsaSet::MlDsa65 => 4032,
        MlDsaSet::MlDsa87 => 4896,
    }
}

/// Checks that the coefficients of s1 and s2 are in the range from -η to η (FIPS 204 algorithm 25 leaves
/// this to the caller).
fn check_ranges(set: MlDsaSet, bytes: &[u8]) -> Result<(), KeyErrorKind> {
    let (vectors, bits, most) = match set {
        MlDsaSet::MlDsa44 => (4 + 4, 3, 4),
        MlDsaSet::MlDsa65 => (6 + 5, 4, 8),
        MlDsaSet::MlDsa87 => (8 + 7, 3, 4),
    };
    // The packed coefficients follow ρ, K and tr, 256 for each polynomial.
    let coefficients = &bytes[128..128 + vectors * 32 * bits];
    let is_in_range = (0..vectors * 256).all(|number| {
        let at = number * bits;
        let low = u16::from(coefficients[at / 8]);
        let high = coefficients.get(at / 8 + 1).map_or(0, |byte| u16::from(*byte));
        (low | high << 8) >> (at % 8) & ((1 << bits) - 1) <= most
    });
    if is_in_range { Ok(()) } else { Err(MALFORMED) }
}

fn check_length(expected: usize, actual: usize) -> Result<(), KeyErrorKind> {
    if expected == actual { Ok(()) } else { Err(KeyErrorKind::WrongLength { expected, actual }) }
}

fn seed(bytes: &[u8]) -> Result<Zeroizing<[u8; SEED_SIZE]>, KeyErrorKind> {
    check_length(SEED_SIZE, bytes.len())?;
    let mut seed = Zeroizing::new([0; SEED_SIZE]);
    seed.copy_from_slice(bytes);
    Ok(seed)
}

const MALFORMED: KeyErrorKind =
    KeyErrorKind::Malformed("it is neither a seed nor an expanded key of ML-DSA");

/// A DER element: tag and content.
type Element<'a> = (u8, &'a [u8]);

/// Splits off the first element, whose length must be encoded in the shortest form, and returns it with the
/// bytes after it.
fn element(bytes: &[u8]) -> Option<(Element<'_>, &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81 => {
            let (&[len], rest) = rest.split_first_chunk()?;
            (usize::from(len), rest)
        }
        0x82 => {
            let (len, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*len)), rest)
        }
        _ => return None,
    };
    let is_shortest = match first {
        0x81 => len >= 0x80,
        0x82 => len >= 0x100,
        _ => true,
    };
    let (content, rest) = rest.split_at_checked(len)?;
    is_shortest.then_some(((tag, content), rest))
}

/// Returns the only element. Bytes after it are refused as `Malformed`.
fn sole(bytes: &[u8]) -> Result<Element<'_>, KeyErrorKind> {
    match element(bytes) {
        Some((element, [])) => Ok(element),
        _ => Err(MALFORMED),
    }
}
