//! A signer of WalnutDSA that hides nothing, so that a first stage has a genuine signature to verify. The scheme is broken
//! anyway (`hartlock_kernels::walnut`).
//!
//! The submission's signer adds elements that act trivially and rewrites the word, which changes its length and not the
//! verification. Here pairs of a generator and its inverse bring a signature to the length of the paper's estimate.

use anyhow::{Context, Result, ensure};
use hartlock_kernels::Kernels;
use hartlock_kernels::walnut::{Verification, WalnutLevel};

const LEVEL: WalnutLevel = WalnutLevel::Level128;
const STRANDS: usize = 8;
/// Bits of an element of GF(2^5).
const BITS: u32 = 5;
/// Values of the strands. A signer sets the first two to 1, and others to neither 0 nor 1.
const VALUES: [u8; STRANDS] = [1, 1, 7, 11, 19, 22, 26, 29];
/// Generators of each half of a private key (submission, level 128).
const KEY_LEN: usize = 132;
/// Generators of a signature in the paper's estimate.
const SIGNATURE_LEN: usize = super::walnut::BRAID;

/// A generator: its strand from 0 to 6, and true if it is the inverse.
type Generator = (u8, bool);

/// A private key of two braids.
pub struct WalnutKeyPair {
    first: Vec<Generator>,
    second: Vec<Generator>,
}

/// A signature, and the numbers of generators that are multiplied for it.
pub struct WalnutSignature {
    pub bytes: Vec<u8>,
    pub generators: usize,
    pub digest_generators: usize,
}

impl WalnutKeyPair {
    /// Makes the key pair of a seed.
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 2 * KEY_LEN];
        hartlock_jobs::fill(&mut bytes, seed);
        let generator = |byte: &u8| (byte % 7, byte & 0x80 != 0);
        let (first, second) = bytes.split_at(KEY_LEN);
        Self {
            first: first.iter().map(generator).collect(),
            second: second.iter().map(generator).collect(),
        }
    }

    /// Returns the encoded public key.
    ///
    /// # Errors
    /// Fails if the kernels do not accept what this file encodes.
    pub fn public_key(&self) -> Result<Vec<u8>> {
        let mut permutation: [u8; STRANDS] = std::array::from_fn(|strand| strand as u8);
        for (strand, _) in &self.first {
            permutation.swap(usize::from(*strand), usize::from(*strand) + 1);
        }
        Ok(encoded_key(&act(&self.first)?, &permutation, &act(&self.second)?))
    }

    /// Signs a digest of 32 bytes.
    ///
    /// # Errors
    /// Fails if the signature would be longer than any form of the submission.
    pub fn sign(&self, digest: &[u8]) -> Result<WalnutSignature> {
        let encoded = encode(digest);
        let digest_generators = encoded.len();
        let mut word = [inverse(&self.first), encoded, self.second.clone()].concat();
        let mut strand = 0;
        while word.len() + 2 <= SIGNATURE_LEN {
            word.extend([(strand, false), (strand, true)]);
            strand = (strand + 1) % 7;
        }
        let generators = digest_generators + word.len();
        let bytes = braid(&word)?;
        Ok(WalnutSignature { bytes, generators, digest_generators })
    }
}

fn inverse(word: &[Generator]) -> Vec<Generator> {
    word.iter().rev().map(|(strand, is_inverse)| (*strand, !is_inverse)).collect()
}

/// Returns the word of a digest (submission, encoder).
fn encode(digest: &[u8]) -> Vec<Generator> {
    let mut word = Vec::new();
    for nibble in digest.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
        let strand = 2 * (nibble & 3);
        let conjugate: Vec<Generator> = (strand + 1..7).rev().map(|it| (it, false)).collect();
        let back = inverse(&conjugate);
        word.extend(conjugate);
        word.extend((0..2 * ((nibble >> 2) + 1)).map(|_| (strand, false)));
        word.extend(back);
    }
    word
}

/// Encodes a word: its length, and a nibble for each generator.
fn braid(word: &[Generator]) -> Result<Vec<u8>> {
    let nibble = |(strand, is_inverse): &Generator| strand | u8::from(*is_inverse) << 3;
    let mut bytes = u16::try_from(word.len()).context("a long braid")?.to_be_bytes().to_vec();
    bytes.extend(word.chunks(2).map(|pair| nibble(&pair[0]) << 4 | pair.get(1).map_or(0, nibble)));
    Ok(bytes)
}

/// Elements of a matrix by rows.
type Elements = [[u8; STRANDS]; STRANDS];

/// Lets a word act on the identity, by the verifier with a key of which nothing but the values counts.
fn act(word: &[Generator]) -> Result<Elements> {
    let identity: Elements =
        std::array::from_fn(|row| std::array::from_fn(|column| (row == column).into()));
    let in_order = std::array::from_fn(|strand| strand as u8);
    let key = encoded_key(&identity, &in_order, &identity);
    let braid = braid(word)?;
    let mut verification =
        Verification::parse(LEVEL, &key, &braid, &[0; 32]).context("the verifier refuses")?;
    verification.multiply(&Kernels::PORTABLE);
    let [_, columns] = verification.products();
    // Bit 8 k + r of a column is coefficient k of its element in row r.
    let element = |column: u64, row: usize| {
        (0..BITS).fold(0, |sum, bit| sum | ((column >> (8 * bit as usize + row) & 1) as u8) << bit)
    };
    let rows: Elements = std::array::from_fn(|row| columns.map(|column| element(column, row)));
    let [last @ .., _] = rows[STRANDS - 1];
    ensure!(last == [0; STRANDS - 1], "the last row of a matrix is not as it always is");
    Ok(rows)
}

/// Encodes a public key.
fn encoded_key(first: &Elements, permutation: &[u8; STRANDS], second: &Elements) -> Vec<u8> {
    let mut bytes = vec![STRANDS as u8, 0, 1 << BITS];
    bytes.extend(packed(VALUES.into_iter(), BITS));
    let matrix = |rows: &Elements| {
        let [above @ .., last] = rows;
        packed(above.iter().flatten().copied().chain([last[STRANDS - 1]]), BITS)
    };
    bytes.extend(matrix(first));
    bytes.extend(packed(permutation.iter().copied(), 3));
    bytes.extend(matrix(second));
    bytes
}

/// Packs values, the highest bit of each first.
fn packed(values: impl Iterator<Item = u8>, bits: u32) -> Vec<u8> {
    let all: Vec<bool> =
        values.flat_map(|value| (0..bits).rev().map(move |bit| value >> bit & 1 != 0)).collect();
    let byte = |bits: &[bool]| {
        (0..8).fold(0, |byte, at| byte << 1 | u8::from(bits.get(at) == Some(&true)))
    };
    all.chunks(8).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use hartlock_kernels::walnut::verify;

    use super::*;

    #[test]
    fn signatures_are_valid_for_their_digest_and_no_other() {
        let pair = WalnutKeyPair::new(1);
        let key = pair.public_key().unwrap();
        let is_valid = |key: &[u8], signature: &[u8], digest: &[u8]| {
            verify(&Kernels::PORTABLE, LEVEL, key, signature, digest)
        };
        let digest: Vec<u8> = (0..32_u8).map(|at| at.wrapping_mul(57) ^ 9).collect();
        let WalnutSignature { bytes, generators, digest_generators } = pair.sign(&digest).unwrap();
        assert!(is_valid(&key, &bytes, &digest));
        assert_eq!(generators - digest_generators, SIGNATURE_LEN);
        let mut other = digest.clone();
        other[31] ^= 1;
        assert!(!is_valid(&key, &bytes, &other));
        let another_key = WalnutKeyPair::new(2).public_key().unwrap();
        assert!(!is_valid(&another_key, &bytes, &digest));
        for at in [2, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(!is_valid(&key, &changed, &digest), "byte {at}");
        }
    }
}
