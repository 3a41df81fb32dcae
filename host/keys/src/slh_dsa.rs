//! SLH-DSA keys (FIPS 205, RFC 9909). Signatures are deterministic: FIPS 205 §9.2.

use ::slh_dsa::{
    ParameterSet, Sha2_128f, Sha2_128s, Sha2_192f, Sha2_192s, Sha2_256f, Sha2_256s, Shake128f,
    Shake128s, Shake192f, Shake192s, Shake256f, Shake256s, SigningKey,
};
use hartlock_image::SlhDsaSet;
use zeroize::Zeroizing;

use super::KeyErrorKind;
use super::random::random;

/// A private key: SK.seed, SK.prf, PK.seed and PK.root (FIPS 205 §9.1), n bytes each. Its memory is wiped
/// when it is dropped.
pub(super) struct SlhDsaKey {
    pub(super) set: SlhDsaSet,
    bytes: Zeroizing<Vec<u8>>,
}

/// Calls a function that is generic over the parameters (FIPS 205 table 2), for a set that is known at
/// run time.
macro_rules! with_set {
    ($set:expr, $function:ident($($argument:expr),*)) => {
        match $set.number() {
            1 => $function::<Sha2_128s>($($argument),*),
            2 => $function::<Shake128s>($($argument),*),
            3 => $function::<Sha2_128f>($($argument),*),
            4 => $function::<Shake128f>($($argument),*),
            5 => $function::<Sha2_192s>($($argument),*),
            6 => $function::<Shake192s>($($argument),*),
            7 => $function::<Sha2_192f>($($argument),*),
            8 => $function::<Shake192f>($($argument),*),
            9 => $function::<Sha2_256s>($($argument),*),
            10 => $function::<Shake256s>($($argument),*),
            11 => $function::<Sha2_256f>($($argument),*),
            _ => $function::<Shake256f>($($argument),*),
        }
    };
}

impl SlhDsaKey {
    pub(super) fn generate(set: SlhDsaSet) -> Result<Self, KeyErrorKind> {
        let mut seeds = Zeroizing::new(vec![0; 3 * set.n()]);
        random(&mut seeds)?;
        Ok(Self { set, bytes: with_set!(set, from_seeds(&seeds)) })
    }

    /// Decodes a private key (RFC 9909 §6) and checks that its root belongs to its seeds.
    pub(super) fn decode(set: SlhDsaSet, bytes: &[u8]) -> Result<Self, KeyErrorKind> {
        let (expected, actual) = (4 * set.n(), bytes.len());
        if actual != expected {
            return Err(KeyErrorKind::WrongLength { expected, actual });
        }
        let key = with_set!(set, from_seeds(&bytes[..3 * set.n()]));
        // Computing the root takes as long as generating a key: less than a second.
        if key[..] == *bytes {
            Ok(Self { set, bytes: key })
        } else {
            Err(KeyErrorKind::PublicHalfDiffers)
        }
    }

    pub(super) fn encode(&self) -> Zeroizing<Vec<u8>> {
        self.bytes.clone()
    }

    pub(super) fn public(&self) -> Vec<u8> {
        self.bytes[2 * self.set.n()..].to_vec()
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        with_set!(self.set, sign_with(&self.bytes, message))
    }
}

fn from_seeds<P: ParameterSet>(seeds: &[u8]) -> Zeroizing<Vec<u8>> {
    let n = seeds.len() / 3;
    let key = SigningKey::<P>::slh_keygen_internal(&seeds[..n], &seeds[n..2 * n], &seeds[2 * n..]);
    Zeroizing::new(key.to_vec())
}

fn sign_with<P: ParameterSet>(bytes: &[u8], message: &[u8]) -> Vec<u8> {
    let key = SigningKey::<P>::try_from(bytes).expect("its length was checked");
    key.try_sign_with_context(message, &[], None).expect("an empty context").to_vec()
}
