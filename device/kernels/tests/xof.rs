//! These tests compare outputs of any length with published answers and with a second
//! implementation.

use cshake::digest::{CustomizedInit, ExtendableOutput, Update, XofReader};
use cshake::{CShake128, CShake256};
use hartlock_kernels::kt128::Kt128;
use hartlock_kernels::xof::{Output, Xof};
use hartlock_kernels::{Hash, Kernels};

/// Returns the first bytes of an output, which are read in pieces of the given length.
fn take(mut output: Output, len: usize, piece: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    bytes.chunks_mut(piece).for_each(|chunk| output.read(chunk));
    bytes
}

fn message(len: usize) -> Vec<u8> {
    (0..len).map(|at| ((at * 89) >> 2) as u8).collect()
}

#[test]
fn cshake_gives_the_published_samples() {
    // The expected values are cSHAKE samples 1 and 3 of NIST.
    let mut hash = Xof::cshake128(&Kernels::PORTABLE, b"", b"Email Signature");
    hash.update(&[0, 1, 2, 3]);
    let expected = *b"\xc1\xc3\x69\x25\xb6\x40\x9a\x04\xf1\xb5\x04\xfc\xbc\xa9\xd8\x2b\
                      \x40\x17\x27\x7c\xb5\xed\x2b\x20\x65\xfc\x1d\x38\x14\xd5\xaa\xf5";
    assert_eq!(take(hash.finalize(), 32, 32), expected);
    let mut hash = Xof::cshake256(&Kernels::PORTABLE, b"", b"Email Signature");
    hash.update(&[0, 1, 2, 3]);
    let front = *b"\xd0\x08\x82\x8e\x2b\x80\xac\x9d\x22\x18\xff\xee\x1d\x07\x0c\x48";
    assert_eq!(take(hash.finalize(), 16, 16), front);
}

#[test]
fn sha3_224_gives_the_published_digest_of_abc() {
    let mut hash = Xof::sha3_224(&Kernels::PORTABLE);
    hash.update(b"abc");
    let expected = *b"\xe6\x42\x82\x4c\x3f\x8c\xf2\x4a\xd0\x92\x34\xee\x7d\x3c\x76\x6f\
                      \xc9\xa3\xa5\x16\x8d\x0c\x94\xad\x73\xb4\x6f\xdf";
    assert_eq!(take(hash.finalize(), 28, 28), expected);
}

#[test]
fn kt128_with_customization_gives_the_published_answer() {
    // This is the example of RFC 9861 §5 with one message byte FF and a customization string of 41
    // bytes.
    let mut hash = Kt128::new();
    hash.update(&[0xff]);
    let customization: Vec<u8> = (0..41).collect();
    let expected = *b"\xd8\x48\xc5\x06\x8c\xed\x73\x6f\x44\x62\x15\x9b\x98\x67\xfd\x4c\
                      \x20\xb8\x08\xac\xc3\xd5\xbc\x48\xe0\xb0\x6b\xa0\xa3\x76\x2e\xc4";
    assert_eq!(take(hash.finalize_xof(&customization), 32, 32), expected);
}

#[test]
fn output_does_not_depend_on_how_it_is_taken_and_agrees_with_another_implementation() {
    for len in [0, 1, 135, 136, 137, 167, 168, 169, 1000] {
        for (name, custom) in [("", ""), ("N", "S"), ("", &*"s".repeat(300))] {
            let (name, custom) = (name.as_bytes(), custom.as_bytes());
            let mut second = CShake128::new_with_function_name(name, custom);
            second.update(&message(len));
            let mut expected = vec![0; 700];
            second.finalize_xof().read(&mut expected);
            for piece in [1, 7, 168, 169, 700] {
                let mut hash = Xof::cshake128(&Kernels::PORTABLE, name, custom);
                hash.update(&message(len));
                assert_eq!(take(hash.finalize(), 700, piece), expected, "{len} {piece}");
            }
            let mut second = CShake256::new_with_function_name(name, custom);
            second.update(&message(len));
            second.finalize_xof().read(&mut expected);
            let mut hash = Xof::cshake256(&Kernels::PORTABLE, name, custom);
            message(len).chunks(11).for_each(|part| hash.update(part));
            assert_eq!(take(hash.finalize(), 700, 136), expected, "{len}");
        }
    }
}

#[test]
fn kt128_agrees_around_the_ends_of_chunks() {
    for (len, custom_len) in [
        (0, 0),
        (8191, 0),
        (8192, 0),
        (8189, 1),
        (8188, 2),
        (0, 8189),
        (0, 8190),
        (0, 8192),
        (8192, 8189),
        (16384, 8192),
    ] {
        let custom = message(custom_len);
        let mut second = k12::CustomKt128::new_customized(&custom);
        second.update(&message(len));
        let mut expected = vec![0; 200];
        second.finalize_xof().read(&mut expected);
        let mut hash = Kt128::new();
        hash.update(&message(len));
        assert_eq!(
            take(hash.clone().finalize_xof(&custom), 200, 200),
            expected,
            "{len} {custom_len}"
        );
        if custom.is_empty() {
            assert_eq!(hash.finalize()[..], expected[..32]);
        }
    }
}
