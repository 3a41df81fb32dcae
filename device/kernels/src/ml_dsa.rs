//! ML-DSA signature verification (FIPS 204), for ML-DSA-44, ML-DSA-65 and ML-DSA-87.
//!
//! The matrix A has up to 56 polynomials of 1 KiB and is never stored: each of its coefficients is
//! multiplied as soon as it comes out of SHAKE128. Rows are finished one after the other and fed into
//! the hash that makes c̃'. Kept are the transforms of z (7 KiB) and of c (1 KiB), and one
//! polynomial in work (2 KiB).
//!
//! A signature is refused before anything is hashed if its lengths are wrong, if a coefficient of z is
//! too large, or if the encoding of the hint is not canonical (FIPS 204 §7.1, algorithm 21, with all its
//! checks). Every key of the right length is a key.
//!
//! Run time depends on the key, the message and the signature. All three are public. Nothing in
//! this module may be reused for signing.

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

const fn parameters(set: MlDsaSet) -> &'static Parameters {
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
        let message = Message::Pure { context: &[], message: &[message] };
        compare(kernels, set, public_key, message, signature)
    }
}

/// What differs between the sets (FIPS 204 §4, table 1). Values and not types, so that an image has
/// one copy of the code. The number of rows, k, follows from the lengths of key and signature.
struct Parameters {
    /// Columns of A.
    l: usize,
    /// Coefficients of c that are not zero.
    tau: u8,
    /// Maximum number of ones in the hint, ω.
    omega: usize,
    /// Bytes of c̃: λ / 4.
    c_tilde_len: usize,
    /// β = τ·η.
    beta: u64,
    /// Bits of a coefficient of z: γ1 is 2 to the power of one less.
    z_width: u32,
    /// γ2.
    gamma2: u64,
    /// 2^48 / 2γ2, rounded up.
    reciprocal: u64,
    /// Bits of a coefficient of w1.
    w1_width: u32,
}

const fn reciprocal(gamma2: u64) -> u64 {
    (1_u64 << 48).div_ceil(2 * gamma2)
}

/// γ2 of ML-DSA-44.
const GAMMA2_88: u64 = (ntt::Q - 1) / 88;
/// γ2 of the other two.
const GAMMA2_32: u64 = (ntt::Q - 1) / 32;

static PARAMETERS_44: Parameters = Parameters {
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

static PARAMETERS_65: Parameters = Parameters {
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

static PARAMETERS_87: Parameters = Parameters {
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

/// What was signed. Messages come in pieces, so that no caller has to concatenate them.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// ML-DSA (FIPS 204 §5.3, algorithm 3).
    Pure {
        /// At most [`MAX_CONTEXT_LEN`] bytes.
        context: &'a [u8],
        /// M, in pieces.
        message: &'a [&'a [u8]],
    },
    /// HashML-DSA (FIPS 204 §5.4.1, algorithm 5). The caller has to check that the identifier is whole,
    /// that the digest is one of this hash, and that the hash is strong enough for the set: here they
    /// are bytes.
    PreHash {
        /// At most [`MAX_CONTEXT_LEN`] bytes.
        context: &'a [u8],
        /// The hash function: DER of its object identifier, with tag and length.
        oid: &'a [u8],
        /// The digest of the message.
        digest: &'a [u8],
    },
    /// M' of the internal interface (FIPS 204 §6.3, algorithm 8), in pieces.
    Internal(&'a [&'a [u8]]),
    /// μ, computed elsewhere (FIPS 204 §6.3, algorithm 8, line 7). It depends on the key, and the
    /// caller is trusted to have used the right one.
    ExternalMu(&'a [u8; 64]),
}

/// Runs the known-answer test: a signature must pass, and must be refused for another message. Costs
/// two verifications of ML-DSA-44, and nearly 4 KiB of stack beside what they need.
///
/// Key and z are patterns, so that an image does not have to carry them: even without a secret key, one can
/// choose t1 so small that c·t1·2^d changes few high parts, and put those into the hint.
pub fn self_test() -> bool {
    let key = known_key();
    let signature = known_signature();
    let check = |message: &[u8]| {
        let message = Message::Pure { context: KAT_CONTEXT, message: &[message] };
        verify(&Kernels::PORTABLE, MlDsaSet::MlDsa44, &key, message, &signature)
    };
    // Opaque, so that the test runs on the device and the compiler does not evaluate it.
    let message = core::hint::black_box(b"abc");
    check(message) == Ok(()) && check(&message[..2]) == Err(Rejection::Mismatch)
}

const KAT_CONTEXT: &[u8] = b"test";

const KAT_C_TILDE: &[u8; 32] = b"\
      \x97\xb8\xa9\x4a\x2a\xef\x34\xa5\xd3\xcd\xa4\xa9\xcf\xe4\x58\x40\
      \x9e\x00\xa2\xa0\x9e\x0a\xbf\x7e\x6d\x35\x91\x46\xb0\x59\x42\x34";

/// Positions of the ones in the hint, then how many have been seen after each row.
const KAT_HINT: ([u8; 9], [u8; 4]) = ([40, 193, 94, 153, 158, 218, 22, 62, 234], [2, 6, 6, 9]);

/// Two coefficients of each polynomial of t1 are 1, all others 0.
fn known_key() -> [u8; 1312] {
    let mut key = [0; 1312];
    for (byte, number) in key.iter_mut().zip(0..32) {
        *byte = number;
    }
    for number in 0..8 {
        // 160 bytes are 128 coefficients, 5 bytes are 4.
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

/// Checks a signature.
///
/// # Errors
///
/// As [`compare`]; `Mismatch` if it is not a signature of this message under this key.
pub fn verify(
    kernels: &Kernels,
    set: MlDsaSet,
    public_key: &[u8],
    message: Message<'_>,
    signature: &[u8],
) -> Result<(), Rejection> {
    compare(kernels, set, public_key, message, signature)?.check()
}

/// c̃' as key, message and signature make it, and c̃ as the signature has it (FIPS 204 §6.3,
/// algorithm 8). For a caller that compares redundantly instead of by one branch.
///
/// # Errors
///
/// `InvalidKey` and `SignatureLength` for a wrong length, `ContextLength` for a context over
/// 255 bytes, `NonCanonicalSignature` for a hint or a coefficient of z that no signer writes.
pub fn compare(
    kernels: &Kernels,
    set: MlDsaSet,
    public_key: &[u8],
    message: Message<'_>,
    signature: &[u8],
) -> Result<Comparison, Rejection> {
    let parameters = parameters(set);
    if public_key.len() != set.public_key_len() {
        return Err(Rejection::InvalidKey);
    }
    if signature.len() != set.signature_len() {
        return Err(Rejection::SignatureLength);
    }
    if let Message::Pure { context, .. } | Message::PreHash { context, .. } = message
        && context.len() > MAX_CONTEXT_LEN
    {
        return Err(Rejection::ContextLength);
    }
    let (rho, t1) = public_key.split_first_chunk::<32>().ok_or(Rejection::InvalidKey)?;

    // sigDecode (§7.2, algorithm 27), and the bound on z (algorithm 8, line 13).
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
        // Not with `chunks_exact`: the compiler cannot exclude its panic for this `z_len`.
        let (bytes, later) = z_bytes.split_at_checked(z_len).ok_or(Rejection::SignatureLength)?;
        z_bytes = later;
        if !encoding::unpack_z(parameters, bytes, &mut w) {
            return Err(Rejection::NonCanonicalSignature);
        }
        ntt::forward(&mut w);
        ntt::store(&w, z);
    }

    // −2^d·NTT(c). What line 9 subtracts is its product with NTT(t1), the values of t1 being as they
    // are encoded.
    let mut c = [0; 256];
    let mut sponge = Sponge::new(kernels, RATE_256, FULL_ROUNDS);
    if !sample::sample_in_ball(kernels, &mut sponge, c_tilde, parameters.tau, &mut w) {
        return Err(Rejection::Mismatch);
    }
    ntt::forward(&mut w);
    ntt::store_shifted(&w, &mut c);

    // c̃' = H(μ ‖ w1') (line 12).
    absorb_mu(kernels, &mut sponge, public_key, message);
    let rho = words(rho);
    let mut states = [[0; 25]; sample::MAX_GROUP];
    let rows = t1.chunks_exact(T1_LEN).zip(hint.rows());
    for ((t1, positions), row) in rows.zip(0..) {
        // Line 9. Less than 17 q² are in a coefficient before the row of A is added, and less than
        // 18 q² are added for each of 7 columns: below 143 q² < 2^54.
        encoding::unpack_t1(t1, &mut w);
        ntt::forward(&mut w);
        ntt::multiply(&mut w, &c);
        if !sample::add_row(kernels, &rho, row, z, &mut w, &mut states) {
            return Err(Rejection::InvalidKey);
        }
        ntt::inverse(&mut w);
        // Line 10.
        encoding::use_hint(parameters, positions, &mut w);
        encoding::absorb_w1(parameters, &w, &mut sponge);
    }
    let computed = keccak::squeeze(sponge.finish(SHAKE));
    Comparison::of(computed.get(..c_tilde.len()).unwrap_or_default(), c_tilde)
}

/// Bytes of a polynomial of t1.
const T1_LEN: usize = 320;

fn words(bytes: &[u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Starts a hash with μ = H(H(key) ‖ M') (FIPS 204 §6.3, algorithm 8, lines 6 and 7; M' as in §5.3 and
/// §5.4.1).
// One sponge for all three hashes: each is as large as a seventh of a polynomial.
#[inline(never)]
fn absorb_mu(kernels: &Kernels, sponge: &mut Sponge, public_key: &[u8], message: Message<'_>) {
    let fresh = || Sponge::new(kernels, RATE_256, FULL_ROUNDS);
    *sponge = fresh();
    if let Message::ExternalMu(mu) = message {
        sponge.absorb(mu);
        return;
    }
    sponge.absorb(public_key);
    let tr = keccak::squeeze(sponge.finish(SHAKE));
    *sponge = fresh();
    sponge.absorb(&tr);
    let (domain, context) = match message {
        Message::Pure { context, .. } => (0, context),
        Message::PreHash { context, .. } => (1, context),
        Message::Internal(_) | Message::ExternalMu(_) => (0, &[] as &[u8]),
    };
    if !matches!(message, Message::Internal(_)) {
        // The length was checked to fit in a byte.
        sponge.absorb(&[domain, context.len() as u8]);
        sponge.absorb(context);
    }
    match message {
        Message::Pure { message, .. } | Message::Internal(message) => {
            for piece in message {
                sponge.absorb(piece);
            }
        }
        Message::PreHash { oid, digest, .. } => {
            sponge.absorb(oid);
            sponge.absorb(digest);
        }
        Message::ExternalMu(_) => {}
    }
    let mu = keccak::squeeze(sponge.finish(SHAKE));
    *sponge = fresh();
    sponge.absorb(&mu);
}
