//! ML-DSA signature verification (FIPS 204), for ML-DSA-44, ML-DSA-65 and ML-DSA-87.
//!
//! The matrix A has up to 56 polynomials of 1 KiB and is never stored. Each of its coefficients is multiplied as soon
//! as SHAKE128 returns it. Rows are computed one after the other, and absorbed into the hash that computes c̃'. The
//! stored data are the transforms of z (7 KiB) and of c (1 KiB), and one current polynomial (2 KiB).
//!
//! A signature is refused before anything is hashed if a length is wrong, if a coefficient of z is too large, or if
//! the encoding of the hint is not canonical (FIPS 204 §7.1, algorithm 21, with all its checks). Every key of the
//! right length is valid.
//!
//! The run time depends on the key, the message and the signature, which are all public. Do not reuse any code of
//! this module for signing.

mod encoding;
mod ntt;
mod sample;
#[cfg(test)]
mod tests;

use crate::Kernels;
use crate::keccak::{self, FULL_ROUNDS, RATE_256, Sponge};
use crate::signature::{Comparison, MAX_CONTEXT_LEN, Rejection, Verifier};
use encoding::Hint;
pub use hartlock_algorithm::MlDsaSet;
use sample::{MAX_L, SHAKE};

const fn parameters(set: MlDsaSet) -> &'static MlDsaParameters {
    match set {
        MlDsaSet::MlDsa44 => &PARAMETERS_44,
        MlDsaSet::MlDsa65 => &PARAMETERS_65,
        MlDsaSet::MlDsa87 => &PARAMETERS_87,
    }
}

impl Verifier for MlDsaSet {
    fn compare(
        kernels: &Kernels,
        set: Self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<Comparison, Rejection> {
        let message = MlDsaMessage::Pure { context: &[], message: &[message] };
        compare(kernels, set, public_key, message, signature)
    }
}

/// The parameters that differ between the sets (FIPS 204 §4, table 1). They are run-time values, so that an image has
/// one copy of the code. The number of rows, k, follows from the lengths of key and signature.
struct MlDsaParameters {
    /// Number of columns of A.
    l: usize,
    /// Number of nonzero coefficients of c.
    tau: u8,
    /// Maximum number of ones in the hint, ω.
    omega: usize,
    /// Length of c̃ in bytes: λ / 4.
    c_tilde_len: usize,
    /// The value β = τ·η.
    beta: u64,
    /// Number of bits in an encoded coefficient of z. γ1 is 2^(z_width - 1).
    z_width: u32,
    /// The value γ2.
    gamma2: u64,
    /// The value 2^48 / 2γ2, rounded up.
    reciprocal: u64,
    /// Number of bits in an encoded coefficient of w1.
    w1_width: u32,
}

const fn reciprocal(gamma2: u64) -> u64 {
    (1_u64 << 48).div_ceil(2 * gamma2)
}

/// The value γ2 of ML-DSA-44.
const GAMMA2_88: u64 = (ntt::Q - 1) / 88;
/// The value γ2 of ML-DSA-65 and ML-DSA-87.
const GAMMA2_32: u64 = (ntt::Q - 1) / 32;

static PARAMETERS_44: MlDsaParameters = MlDsaParameters {
    l: 4,
    tau: 39,
    omega: 80,
    c_tilde_len: 32,
    beta: 39 * 2,
    z_width: 18,
    gamma2: GAMMA2_88,
    reciprocal: reciprocal(GAMMA2_88),
    w1_width: 6,
};

static PARAMETERS_65: MlDsaParameters = MlDsaParameters {
    l: 5,
    tau: 49,
    omega: 55,
    c_tilde_len: 48,
    beta: 49 * 4,
    z_width: 20,
    gamma2: GAMMA2_32,
    reciprocal: reciprocal(GAMMA2_32),
    w1_width: 4,
};

static PARAMETERS_87: MlDsaParameters = MlDsaParameters {
    l: 7,
    tau: 60,
    omega: 75,
    c_tilde_len: 64,
    beta: 60 * 2,
    z_width: 20,
    gamma2: GAMMA2_32,
    reciprocal: reciprocal(GAMMA2_32),
    w1_width: 4,
};

/// The signed message. Its content is split into pieces, so that the caller need not concatenate them.
#[derive(Clone, Copy, Debug)]
pub enum MlDsaMessage<'a> {
    /// A message of ML-DSA (FIPS 204 §5.3, algorithm 3).
    Pure {
        /// Context string with at most [`MAX_CONTEXT_LEN`] bytes.
        context: &'a [u8],
        /// Message M, split into pieces.
        message: &'a [&'a [u8]],
    },
    /// A message of HashML-DSA (FIPS 204 §5.4.1, algorithm 5). The caller must check that the identifier is complete,
    /// that the digest has the length of this hash, and that the hash is strong enough for the parameter set.
    PreHash {
        /// Context string with at most [`MAX_CONTEXT_LEN`] bytes.
        context: &'a [u8],
        /// DER encoding of the object identifier of the hash function, including tag and length.
        oid: &'a [u8],
        /// Digest of the message.
        digest: &'a [u8],
    },
    /// Message M' of the internal interface (FIPS 204 §6.3, algorithm 8), split into pieces.
    Internal(&'a [&'a [u8]]),
    /// The value μ, computed elsewhere (FIPS 204 §6.3, algorithm 8, line 7). It depends on the public key, and the
    /// caller must have used the same key.
    ExternalMu(&'a [u8; 64]),
}

/// Runs the known-answer test and returns true if it passes. A signature must be accepted, and must be refused for
/// another message. The test takes the time of two verifications of ML-DSA-44, and needs nearly 4 KiB of stack in
/// addition.
///
/// Key and z are byte patterns, so that an image does not contain them. Such a signature can be constructed without a
/// secret key: t1 is chosen so small that c·t1·2^d changes only a few high parts, and the hint corrects these.
pub fn self_test() -> bool {
    let key = known_key();
    let signature = known_signature();
    let check = |message: &[u8]| {
        let message = MlDsaMessage::Pure { context: KAT_CONTEXT, message: &[message] };
        verify(&Kernels::PORTABLE, MlDsaSet::MlDsa44, &key, message, &signature)
    };
    // `black_box` prevents the compiler from evaluating the test, so that it runs on the device.
    let message = core::hint::black_box(b"abc");
    check(message) == Ok(()) && check(&message[..2]) == Err(Rejection::Mismatch)
}

const KAT_CONTEXT: &[u8] = b"test";

const KAT_C_TILDE: &[u8; 32] = b"\
      \x97\xb8\xa9\x4a\x2a\xef\x34\xa5\xd3\xcd\xa4\xa9\xcf\xe4\x58\x40\
      \x9e\x00\xa2\xa0\x9e\x0a\xbf\x7e\x6d\x35\x91\x46\xb0\x59\x42\x34";

/// Positions of the ones in the hint, and the number of ones up to the end of each row.
const KAT_HINT: ([u8; 9], [u8; 4]) = ([40, 193, 94, 153, 158, 218, 22, 62, 234], [2, 6, 6, 9]);

/// Returns a public key in which two coefficients of each polynomial of t1 are 1 and all others are 0.
fn known_key() -> [u8; 1312] {
    let mut key = [0; 1312];
    for (byte, number) in key.iter_mut().zip(0..32) {
        *byte = number;
    }
    for number in 0..8 {
        // 128 coefficients take 160 bytes, and 4 coefficients take 5 bytes.
        key[32 + 165 * number] = 1;
    }
    key
}

fn known_signature() -> [u8; 2420] {
    let mut signature = [0; 2420];
    let (positions, ends) = &KAT_HINT;
    let pattern = (0_u32..2304).map(|i| (i.wrapping_mul(5 * i + 73).wrapping_add(17) >> 2) as u8);
    let hint = positions.iter().copied().chain([0; 80 - 9]).chain(*ends);
    let bytes = KAT_C_TILDE.iter().copied().chain(pattern).chain(hint);
    for (to, from) in signature.iter_mut().zip(bytes) {
        *to = from;
    }
    signature
}

/// Verifies a signature.
///
/// # Errors
///
/// The errors of [`compare`], and `Mismatch` if the signature is not valid for this message and key.
pub fn verify(
    kernels: &Kernels,
    set: MlDsaSet,
    public_key: &[u8],
    message: MlDsaMessage<'_>,
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(kernels, set, public_key, message, signature)?.check()
}

/// Computes c̃' from key, message and signature, and returns it with the c̃ of the signature (FIPS 204 §6.3,
/// algorithm 8). This serves a caller that compares redundantly instead of with a single branch.
///
/// # Errors
///
/// `InvalidKey` and `SignatureLength` for a wrong length. `ContextLength` for a context longer than 255 bytes.
/// `NonCanonicalSignature` for a hint or a coefficient of z that no signer encodes.
pub fn compare(
    kernels: &Kernels,
    set: MlDsaSet,
    public_key: &[u8],
    message: MlDsaMessage<'_>,
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let parameters = parameters(set);
    if public_key.len() != set.public_key_len() {
        return Err(Rejection::InvalidKey);
    }
    if signature.len() != set.signature_len() {
        return Err(Rejection::SignatureLength);
    }
    if let MlDsaMessage::Pure { context, .. } | MlDsaMessage::PreHash { context, .. } = message
        && context.len() > MAX_CONTEXT_LEN
    {
        return Err(Rejection::ContextLength);
    }
    let (rho, t1) = public_key.split_first_chunk::<32>().ok_or(Rejection::InvalidKey)?;

    // This is sigDecode (§7.2, algorithm 27), followed by the check of the bound on z (algorithm 8, line 13).
    let z_len = 32_usize.wrapping_mul(parameters.z_width as usize);
    let (c_tilde, rest) =
        signature.split_at_checked(parameters.c_tilde_len).ok_or(Rejection::SignatureLength)?;
    let (mut z_bytes, hint) = rest
        .split_at_checked(z_len.wrapping_mul(parameters.l))
        .ok_or(Rejection::SignatureLength)?;
    let hint = Hint::parse(parameters.omega, hint).ok_or(Rejection::NonCanonicalSignature)?;
    let mut w = [0; 256];
    let mut z = [[0; 256]; MAX_L];
    let z = z.get_mut(..parameters.l).ok_or(Rejection::SignatureLength)?;
    for z in z.iter_mut() {
        // The loop does not use `chunks_exact`, because the compiler cannot exclude its panic for this `z_len`.
        let (bytes, later) = z_bytes.split_at_checked(z_len).ok_or(Rejection::SignatureLength)?;
        z_bytes = later;
        if !encoding::unpack_z(parameters, bytes, &mut w) {
            return Err(Rejection::NonCanonicalSignature);
        }
        ntt::forward_into(&mut w, z);
    }

    // c becomes NTT(−2^d·c). Line 9 subtracts NTT(c)·NTT(t1·2^d), which is the same as adding the product of this and
    // NTT(t1), where t1 has the encoded values.
    let mut c = [0; 256];
    let mut sponge = Sponge::new(kernels, RATE_256, FULL_ROUNDS);
    if !sample::sample_in_ball(kernels, &mut sponge, c_tilde, parameters.tau, &mut w) {
        return Err(Rejection::Mismatch);
    }
    ntt::forward_into(&mut w, &mut c);

    // This computes c̃' = H(μ ‖ w1') (line 12).
    absorb_mu(kernels, &mut sponge, public_key, message);
    let rho = words(rho);
    let mut scratch: sample::Scratch = [[0; 25]; _];
    let rows = t1.chunks_exact(T1_LEN).zip(hint.rows());
    for ((t1, positions), row) in rows.zip(0..) {
        // Line 9: a coefficient is below 17 q · 17 q before the row of A is added. Each of at most 7 columns adds less
        // than 18 q², so the sum is below 415 q² < 2^55.
        encoding::unpack_t1(t1, &mut w);
        ntt::forward_times(&mut w, &c);
        if !sample::add_row(kernels, &rho, row, z, &mut w, &mut scratch) {
            return Err(Rejection::InvalidKey);
        }
        ntt::inverse(&mut w);
        // Line 10 computes w1' with the hint.
        encoding::use_hint(parameters, positions, &mut w);
        encoding::absorb_w1(parameters, &w, &mut sponge);
    }
    let computed = keccak::squeeze(sponge.finish(SHAKE));
    Comparison::of(computed.get(..c_tilde.len()).unwrap_or_default(), c_tilde)
}

/// Length of an encoded polynomial of t1 in bytes.
const T1_LEN: usize = 320;

fn words(bytes: &[u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Starts a hash that has absorbed μ = H(H(key) ‖ M') (FIPS 204 §6.3, algorithm 8, lines 6 and 7). M' is that of §5.3
/// and §5.4.1.
// The three hashes share one sponge, because a sponge takes about a seventh of the memory of a polynomial.
#[inline(never)]
fn absorb_mu(kernels: &Kernels, sponge: &mut Sponge, public_key: &[u8], message: MlDsaMessage<'_>) {
    let fresh = || Sponge::new(kernels, RATE_256, FULL_ROUNDS);
    *sponge = fresh();
    if let MlDsaMessage::ExternalMu(mu) = message {
        sponge.absorb(mu);
        return;
    }
    sponge.absorb(public_key);
    let tr = keccak::squeeze(sponge.finish(SHAKE));
    *sponge = fresh();
    sponge.absorb(&tr);
    let (domain, context) = match message {
        MlDsaMessage::Pure { context, .. } => (0, context),
        MlDsaMessage::PreHash { context, .. } => (1, context),
        MlDsaMessage::Internal(_) | MlDsaMessage::ExternalMu(_) => (0, &[] as &[u8]),
    };
    if !matches!(message, MlDsaMessage::Internal(_)) {
        // The length was checked to fit into a byte.
        sponge.absorb(&[domain, context.len() as u8]);
        sponge.absorb(context);
    }
    match message {
        MlDsaMessage::Pure { message, .. } | MlDsaMessage::Internal(message) => {
            for piece in message {
                sponge.absorb(piece);
            }
        }
        MlDsaMessage::PreHash { oid, digest, .. } => {
            sponge.absorb(oid);
            sponge.absorb(digest);
        }
        MlDsaMessage::ExternalMu(_) => {}
    }
    let mu = keccak::squeeze(sponge.finish(SHAKE));
    *sponge = fresh();
    sponge.absorb(&mu);
}
