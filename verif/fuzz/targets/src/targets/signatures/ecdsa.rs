//! Compares ECDSA on P-256 and P-384 with the crates `p256` and `p384`.
//!
//! Rules: both accept the same signatures of the same digests. A key or a DER signature is accepted exactly
//! if it is canonical, which means that the other crate reads it and writes the same bytes again, keys as
//! uncompressed points. Signatures are made by a signer, or for a chosen R: the x-coordinate of R can
//! exceed the group order, which does not occur with random nonces.

use hartlock_image::ParameterSet;
use hartlock_kernels::ecdsa::{self, Curve, EcdsaPublicKey, MAX_SIGNATURE_LEN};
use hartlock_kernels::signature::Rejection;

// The macro below uses both crates.
use p256 as _;
use p384 as _;

use super::MESSAGES;
use crate::choices::Choices;
use crate::signed::{Pool, Signed, agree};

type SignWith = fn(&[u8], bool, &[u8], &[u8]) -> Option<Signed>;

/// A curve in another crate's implementation.
struct EcdsaPeer {
    curve: Curve,
    by: &'static str,
    /// Signs a digest with the key of this number.
    sign: fn(u8, &[u8]) -> Signed,
    /// Makes a signature from the x-coordinate of R, the parity of its y-coordinate, s and the digest.
    /// Returns `None` if there is no such point or scalar.
    sign_with: SignWith,
    /// Returns the signature (r, n - s), which is also valid.
    other_half: fn(&[u8]) -> Option<Vec<u8>>,
    accepts: fn(&[u8], &[u8], &[u8]) -> bool,
    /// Returns the point in a canonical SubjectPublicKeyInfo.
    point: fn(&[u8]) -> Option<Vec<u8>>,
    spki: fn(&[u8]) -> Vec<u8>,
    /// Returns r and s of a canonical DER signature.
    from_der: fn(&[u8]) -> Option<Vec<u8>>,
    to_der: fn(&[u8]) -> Option<Vec<u8>>,
    /// The group order n and the field prime.
    limits: [&'static [u8]; 2],
}

macro_rules! peer {
    ($krate:ident, $curve:expr, $len:literal, $order:literal, $prime:literal) => {{
        use $krate::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
        use $krate::ecdsa::{Signature, SigningKey, VerifyingKey};
        use $krate::elliptic_curve::PrimeField;
        use $krate::elliptic_curve::ops::Reduce;
        use $krate::elliptic_curve::point::DecompressPoint;
        use $krate::pkcs8::{DecodePublicKey, EncodePublicKey};
        use $krate::{AffinePoint, FieldBytes, ProjectivePoint, Scalar};
        fn read(key: &[u8]) -> Option<VerifyingKey> {
            VerifyingKey::from_sec1_bytes(key).ok()
        }
        fn write(key: &VerifyingKey) -> Vec<u8> {
            key.to_sec1_point(false).as_bytes().to_vec()
        }
        EcdsaPeer {
            curve: $curve,
            by: stringify!($krate),
            sign: |number, digest| {
                let key = SigningKey::from_slice(&[number; $len]).expect("a number in range");
                let signature: Signature = key.sign_prehash(digest).expect("a signature");
                Signed {
                    key: write(key.verifying_key()),
                    message: digest.to_vec(),
                    signature: signature.to_bytes().to_vec(),
                }
            },
            sign_with: |x, is_odd, s, digest| {
                // The key follows from r = x mod n and any s: Q = (s R - e G) / r.
                let x = FieldBytes::try_from(x).ok()?;
                let point = AffinePoint::decompress(&x, u8::from(is_odd).into()).into_option()?;
                let r = <Scalar as Reduce<FieldBytes>>::reduce(&x);
                let s = Scalar::from_repr(FieldBytes::try_from(s).ok()?).into_option()?;
                s.invert().into_option()?;
                let mut e = FieldBytes::default();
                let len = digest.len().min($len);
                e[$len - len..].copy_from_slice(&digest[..len]);
                let e = <Scalar as Reduce<FieldBytes>>::reduce(&e);
                let inverse = r.invert().into_option()?;
                let key =
                    (ProjectivePoint::from(point) * s - ProjectivePoint::GENERATOR * e) * inverse;
                let key = VerifyingKey::from_affine(key.to_affine()).ok()?;
                let signature = [r, s].map(|number| number.to_repr().to_vec()).concat();
                Some(Signed { key: write(&key), message: digest.to_vec(), signature })
            },
            other_half: |signature| {
                let signature = Signature::from_slice(signature).ok()?;
                let (r, s) = signature.split_scalars();
                let other = Signature::from_scalars(r.to_repr(), (-*s).to_repr()).ok()?;
                Some(other.to_bytes().to_vec())
            },
            accepts: |key, digest, signature| {
                let judge = || {
                    let signature = Signature::from_slice(signature).ok()?;
                    // Hartlock does not accept compressed points.
                    let key = read(key).filter(|it| write(it) == key)?;
                    key.verify_prehash(digest, &signature).ok()
                };
                judge().is_some()
            },
            point: |der| {
                let key = $krate::PublicKey::from_public_key_der(der).ok()?;
                let again = key.to_public_key_der().ok()?;
                (again.as_bytes() == der).then(|| write(&VerifyingKey::from(key)))
            },
            spki: |key| {
                let key = $krate::PublicKey::from_sec1_bytes(key).expect("a point");
                key.to_public_key_der().expect("short enough").into_vec()
            },
            from_der: |der| {
                let signature = Signature::from_der(der).ok()?;
                (signature.to_der().as_bytes() == der).then(|| signature.to_bytes().to_vec())
            },
            to_der: |signature| {
                Some(Signature::from_slice(signature).ok()?.to_der().as_bytes().to_vec())
            },
            limits: [$order, $prime],
        }
    }};
}

fn peers() -> [EcdsaPeer; 2] {
    [
        peer!(
            p256,
            Curve::P256,
            32,
            b"\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xbc\xe6\xfa\xad\xa7\x17\x9e\x84\xf3\xb9\xca\xc2\xfc\x63\x25\x51",
            b"\xff\xff\xff\xff\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
        ),
        peer!(
            p384,
            Curve::P384,
            48,
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xc7\x63\x4d\x81\xf4\x37\x2d\xdf\x58\x1a\x0d\xb2\x48\xb0\xa7\x7a\xec\xec\x19\x6a\xcc\xc5\x29\x73",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"
        ),
    ]
}

pub fn run(data: &[u8]) {
    static POOL: Pool<(usize, u8, usize, usize)> = Pool::new();
    let mut choices = Choices::new(data);
    let index = choices.below(2);
    let peer = &peers()[index];
    let genuine = match choices.below(4) {
        0..=2 => {
            let (number, message) = (1 + choices.below(3) as u8, choices.below(MESSAGES.len()));
            // The digest is shorter than the group order, as long, or longer; the end of a longer one is
            // ignored.
            let digest_len = choices.of(&[32, 48, 64, 24]);
            POOL.get((index, number, message, digest_len), |_| {
                (peer.sign)(number, &digest(MESSAGES[message], digest_len))
            })
        }
        _ => match chosen(&mut choices, peer) {
            Some(signed) => signed,
            None => return,
        },
    };
    let mut signed = genuine.changed(&mut choices, &peer.limits);
    if choices.rarely(4)
        && let Some(other) = (peer.other_half)(&signed.signature)
    {
        signed.signature = other;
    }
    if choices.rarely(4) {
        // The signature contains r + n or s + n, if it fits, which is the same number modulo n.
        let (order, half) = (peer.limits[0], peer.limits[0].len() * choices.below(2));
        if let Some(number) = signed.signature.get_mut(half..half + order.len()) {
            super::add(number, order);
        }
    }
    let is_accepted = judge(peer, &signed);
    let is_whole = genuine.key == signed.key && genuine.message == signed.message;
    if is_whole && genuine.signature == signed.signature {
        assert!(is_accepted, "a genuine signature is refused");
    }
    encodings(&mut choices, peer, &genuine);
}

/// Returns the length in bytes of r and of s.
fn number_len(curve: Curve) -> usize {
    curve.signature_size().expect("its signatures have one length") / 2
}

/// Makes a signature whose R has an x-coordinate near a limit.
fn chosen(choices: &mut Choices<'_>, peer: &EcdsaPeer) -> Option<Signed> {
    let len = number_len(peer.curve);
    let mut number = |limits: &[&[u8]]| {
        let mut number = vec![0; len];
        if choices.rarely(2) {
            number.copy_from_slice(choices.of(limits));
        }
        // The difference from the limit is up to 2^15 in either direction.
        let mut carry = i32::from(choices.word() as i16);
        for byte in number.iter_mut().rev() {
            carry += i32::from(*byte);
            *byte = carry as u8;
            carry >>= 8;
        }
        number
    };
    let (x, s) = (number(&peer.limits), number(&peer.limits[..1]));
    let is_odd = choices.rarely(2);
    let digest_len = choices.of(&[32, 48, 64]);
    (peer.sign_with)(&x, is_odd, &s, &digest(choices.of(&MESSAGES), digest_len))
}

fn judge(peer: &EcdsaPeer, signed: &Signed) -> bool {
    let Signed { key, message: digest, signature } = signed;
    let ours = || -> Result<(), Rejection> {
        let key = EcdsaPublicKey::from_sec1(peer.curve, key)?;
        ecdsa::compare(&key, digest, signature)?.check()
    };
    if digest.len() < number_len(peer.curve) / 2 {
        // The other crates do not accept digests shorter than half of the group order.
        let _ = ours();
        return false;
    }
    agree(peer.by, "ECDSA", ours(), (peer.accepts)(key, digest, signature))
}

/// Compares the parsers of SubjectPublicKeyInfo and DER signatures, with changed or arbitrary bytes.
fn encodings(choices: &mut Choices<'_>, peer: &EcdsaPeer, genuine: &Signed) {
    let other_key = (peer.spki)(&genuine.key);
    let spki = Signed { key: other_key, message: Vec::new(), signature: Vec::new() };
    let mut der = spki.key;
    let mut signature = (peer.to_der)(&genuine.signature).expect("numbers in range");
    for bytes in [&mut der, &mut signature] {
        for _ in 0..choices.of(&[0, 1, 2]) {
            crate::signed::change(choices, bytes, &peer.limits);
        }
    }
    if choices.rarely(16) {
        (der, signature) = (choices.bytes(120).to_vec(), choices.bytes(120).to_vec());
    }
    let read = EcdsaPublicKey::from_spki_der(&der);
    let ours = read.as_ref().is_ok_and(|key| key.curve() == peer.curve);
    let theirs = (peer.point)(&der);
    assert_eq!(ours, theirs.is_some(), "the key {der:02x?}: Hartlock {:?}", read.err());
    if let (Some(point), Ok(key)) = (theirs, read) {
        // The keys are equal if they accept the same signature.
        let verdict = ecdsa::compare(&key, &genuine.message, &genuine.signature);
        let is_same = point == genuine.key;
        assert_eq!(verdict.and_then(|it| it.check()).is_ok(), is_same, "another key was read");
    }
    let mut buffer = [0; MAX_SIGNATURE_LEN];
    let ours = ecdsa::from_der(peer.curve, &signature, &mut buffer);
    match (peer.from_der)(&signature) {
        Some(theirs) => assert_eq!(ours, Ok(&theirs[..]), "{signature:02x?}"),
        None => {
            // The other crate refuses numbers out of range when it reads them, Hartlock when it uses them.
            let out_of_range = ours.is_ok_and(|ours| (peer.to_der)(ours).is_none());
            assert!(ours.is_err() || out_of_range, "{signature:02x?} is read as {ours:02x?}");
        }
    }
}

/// Returns bytes that serve as a digest of this length.
fn digest(message: &[u8], len: usize) -> Vec<u8> {
    use sha2::Digest;
    sha2::Sha512::digest(message)[..len].to_vec()
}
