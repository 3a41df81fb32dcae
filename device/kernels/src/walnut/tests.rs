use std::vec;
use std::vec::Vec;

use super::kernels::portable;
use super::*;

/// Generators with their directions: a braid.
type Braid = Vec<(usize, bool)>;

/// Values of the strands. With 1 a generator and its inverse would act alike.
fn values(field: BinaryField) -> [StrandValue; STRANDS] {
    [2, 3, 4, 5, 7, 9, 11, 13].map(|value| {
        let value = spread(value);
        StrandValue { value, inverse: field.invert(value) }
    })
}

fn pack(word: &Braid) -> Vec<u8> {
    let nibble = |(strand, is_inverse): (usize, bool)| strand as u8 | u8::from(is_inverse) << 3;
    let pair = |pair: &[(usize, bool)]| {
        nibble(pair[0]) << 4 | pair.get(1).map_or(0, |generator| nibble(*generator))
    };
    word.chunks(2).map(pair).collect()
}

fn act(level: WalnutLevel, word: &Braid) -> (Matrix, Permutation) {
    let packed = pack(word);
    let packed = super::BraidWord::new(&packed, word.len()).unwrap();
    let (mut matrix, mut unused) = (IDENTITY, IDENTITY);
    let action = |matrix| Action { matrix, permutation: &IN_ORDER, word: packed };
    let field = level.field();
    portable(level, &values(field), &mut [&mut matrix, &mut unused].map(action));
    let mut permutation = IN_ORDER;
    word.iter().for_each(|(strand, _)| permutation.swap(*strand, strand + 1));
    (matrix.map(|column| field.reduce(column)), permutation)
}

/// The coefficients of the element in a row.
fn element(column: u64, row: usize) -> u8 {
    (0..8).fold(0, |element, bit| element | ((column >> (8 * bit + row) & 1) as u8) << bit)
}

fn word(mut seed: u32, len: usize) -> Braid {
    let mut next = || {
        seed = seed.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
        (seed >> 24) as usize
    };
    (0..len).map(|_| (next() % 7, next() % 2 == 0)).collect()
}

fn inverse(word: &Braid) -> Braid {
    word.iter().rev().map(|(strand, is_inverse)| (*strand, !is_inverse)).collect()
}

/// The word of a digest, from the description of the encoder.
fn encode(digest: &[u8]) -> Braid {
    let mut word = Braid::new();
    for nibble in digest.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
        let strand = [0, 2, 4, 6][usize::from(nibble & 3)];
        let conjugate: Braid = (strand + 1..7).rev().map(|it| (it, false)).collect();
        let back = inverse(&conjugate);
        word.extend(conjugate);
        word.extend(vec![(strand, false); 2 * usize::from((nibble >> 2) + 1)]);
        word.extend(back);
    }
    word
}

#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn put(&mut self, value: u8, bits: u32) {
        self.0.extend((0..bits).rev().map(|bit| value >> bit & 1 != 0));
    }

    fn align(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(8), false);
    }

    fn put_matrix(&mut self, matrix: &Matrix, bits: u32) {
        for row in 0..7 {
            for column in matrix {
                self.put(element(*column, row), bits);
            }
        }
        self.put(element(matrix[7], 7), bits);
        self.align();
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| bits.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        self.0.chunks(8).map(byte).collect()
    }
}

/// Makes a public key of two words.
fn public_key(level: WalnutLevel, first: &Braid, second: &Braid) -> Vec<u8> {
    let field = level.field();
    let mut bits = Bits::default();
    bits.put(8, 8);
    bits.put(((1_u16 << field.bits) >> 8) as u8, 8);
    bits.put((1_u16 << field.bits) as u8, 8);
    values(field).iter().for_each(|it| bits.put(element(it.value, 0), field.bits));
    bits.align();
    let (matrix, permutation) = act(level, first);
    bits.put_matrix(&matrix, field.bits);
    permutation.iter().for_each(|strand| bits.put(*strand as u8, 3));
    bits.put_matrix(&act(level, second).0, field.bits);
    bits.bytes()
}

fn braid(word: &Braid) -> Vec<u8> {
    [&(word.len() as u16).to_be_bytes()[..], &pack(word)].concat()
}

fn is_valid(level: WalnutLevel, key: &[u8], braid: &[u8], digest: &[u8]) -> bool {
    verify(&Kernels::PORTABLE, level, key, braid, digest)
}

/// Signs without elements that hide the key: S⁻¹ E(digest) S'.
fn sign(first: &Braid, second: &Braid, digest: &[u8]) -> Braid {
    [inverse(first), encode(digest), second.clone()].concat()
}

#[test]
fn what_the_equation_says_is_valid() {
    for level in [WalnutLevel::Level128, WalnutLevel::Level256] {
        let (first, second) = (word(1, 40), word(2, 41));
        let key = public_key(level, &first, &second);
        let digest: Vec<u8> = (0..level.digest_len()).map(|at| (at * 73 + 5) as u8).collect();
        let signature = sign(&first, &second, &digest);
        assert!(is_valid(level, &key, &braid(&signature), &digest));
        // Another digest, another signature, another word.
        let mut other = digest.clone();
        other[3] ^= 0x40;
        assert!(!is_valid(level, &key, &braid(&signature), &other));
        for at in [0, 1, signature.len() / 2, signature.len() - 1] {
            let mut changed = signature.clone();
            changed[at].1 = !changed[at].1;
            assert!(!is_valid(level, &key, &braid(&changed), &digest), "{at}");
        }
        assert!(!is_valid(level, &key, &braid(&signature[1..].to_vec()), &digest));
        // A pair that cancels itself is the same element.
        let mut longer = signature.clone();
        longer.splice(7..7, [(3, false), (3, true)]);
        assert!(is_valid(level, &key, &braid(&longer), &digest));
        for at in 0..8 * key.len() {
            let mut changed = key.clone();
            changed[at / 8] ^= 1 << (at % 8);
            assert!(!is_valid(level, &changed, &braid(&signature), &digest), "bit {at} of the key");
        }
    }
}

#[test]
fn a_malformed_braid_or_key_is_not_valid() {
    let level = WalnutLevel::Level128;
    let (first, second) = (word(3, 10), word(4, 10));
    let key = public_key(level, &first, &second);
    let digest = [7; 32];
    let good = braid(&sign(&first, &second, &digest));
    assert!(is_valid(level, &key, &good, &digest));
    assert!(!is_valid(level, &key, &good, &digest[1..]));
    assert!(!is_valid(WalnutLevel::Level256, &key, &good, &digest));
    for len in [0, 1, 2, good.len() - 1] {
        assert!(!is_valid(level, &key, &good[..len], &digest));
    }
    assert!(!is_valid(level, &key, &[&good[..], &[0]].concat(), &digest));
    assert!(!is_valid(level, &key[1..], &good, &digest));
    assert!(!is_valid(level, &[&key[..], &[0]].concat(), &good, &digest));
    // There is no eighth generator.
    let mut eighth = good.clone();
    eighth[9] = 0x70;
    assert!(!is_valid(level, &key, &eighth, &digest));
}

#[test]
fn the_work_is_bounded() {
    for (level, most) in [(WalnutLevel::Level128, 2000), (WalnutLevel::Level256, 3400)] {
        let (first, second) = (word(5, 9), word(6, 9));
        let key = public_key(level, &first, &second);
        let digest = vec![0x3c; level.digest_len()];
        let signature = sign(&first, &second, &digest);
        let long = |len: usize| {
            let pairs = (len - signature.len()) / 2;
            let filler = [[(2, false), (2, true)]; 1].concat().repeat(pairs);
            braid(&[filler, signature.clone()].concat())
        };
        // Two bytes are the count, and two generators are a byte.
        let len = 2 * (most - 2) - signature.len() % 2;
        assert!(is_valid(level, &key, &long(len), &digest));
        assert!(!is_valid(level, &key, &long(len + 2), &digest));
    }
}

#[test]
fn fields_are_those_of_the_submission() {
    for (level, polynomial) in [(WalnutLevel::Level128, 0x25_u32), (WalnutLevel::Level256, 0x11b)] {
        let field = level.field();
        let product = |a: u32, b: u32| {
            let product = (0..8).fold(0, |sum, bit| sum ^ ((a << bit) * (b >> bit & 1)));
            (0..8).rev().fold(product, |it, bit| {
                it ^ ((polynomial << bit) * (it >> (bit + field.bits) & 1))
            })
        };
        for a in 0..1 << field.bits {
            let row = a as usize % STRANDS;
            for b in 0..1 << field.bits {
                let scaled = field.reduce(field.scale(spread(a as u8) << row, spread(b as u8)));
                assert_eq!(scaled, spread(product(a, b) as u8) << row);
            }
            let inverse = element(field.invert(spread(a as u8)), 0);
            assert_eq!(product(a, inverse.into()), u32::from(a != 0), "{a}");
        }
    }
}

#[test]
fn a_kernel_with_a_fault_does_not_answer() {
    fn swapped(level: WalnutLevel, values: &[StrandValue; 8], actions: &mut [Action<'_>; 2]) {
        portable(level, values, actions);
        actions[1].matrix.swap(0, 1);
    }
    fn of_one_level(_: WalnutLevel, values: &[StrandValue; 8], actions: &mut [Action<'_>; 2]) {
        portable(WalnutLevel::Level128, values, actions);
    }
    fn without_the_last(
        level: WalnutLevel,
        values: &[StrandValue; 8],
        actions: &mut [Action<'_>; 2],
    ) {
        actions[0].word.count -= 1;
        portable(level, values, actions);
    }
    assert!(known::answers(portable));
    for fault in [swapped, of_one_level, without_the_last] {
        assert!(!known::answers(fault));
    }
}
