use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::aes::gcm::GcmError;
use crate::aes::kw::UnwrapError;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|it| it.to_digit(16).unwrap() as u8).collect();
    digits.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect()
}

fn key(bytes: &[u8]) -> AesKey {
    let mut key = AesKey::EMPTY;
    key.expand(bytes).unwrap();
    key
}

/// Returns `len` bytes that differ from each other.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 11 + at / 23) as u8).collect()
}

#[test]
fn the_examples_of_fips_197_are_right() {
    // Appendix C: one text under keys that count up.
    let text: [u8; 16] = bytes("00112233445566778899aabbccddeeff").try_into().unwrap();
    let all: Vec<u8> = (0..32).collect();
    for (size, cipher) in [
        (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (32, "8ea2b7ca516745bfeafc49904b496089"),
    ] {
        let key = key(&all[..size]);
        let cipher: [u8; 16] = bytes(cipher).try_into().unwrap();
        let plain = [text, [0; 16], text, [0xff; 16]];
        let mut blocks = Blocks(plain);
        key.encrypt(&mut blocks);
        assert_eq!([blocks.0[0], blocks.0[2]], [cipher; 2]);
        key.decrypt(&mut blocks);
        assert_eq!(blocks.0, plain);
    }
}

#[test]
fn a_key_has_one_of_three_lengths() {
    let mut key = key(&[1; 16]);
    for size in [0, 1, 15, 17, 20, 28, 31, 33, 40, 64] {
        assert_eq!(key.expand(&vec![1; size]), Err(KeySizeUnknown));
        assert!(key.planes.as_flattened().iter().all(|word| *word == 0), "the old key is there");
        assert!(key.columns.0.as_flattened().iter().all(|word| *word == 0), "the old key is there");
    }
    assert_eq!(std::format!("{key:?}"), "AesKey");
}

#[test]
fn lanes_are_independent() {
    let key = key(&pattern(32));
    let blocks: Vec<Block> =
        pattern(64).as_chunks::<16>().0.iter().map(|block| block.map(|it| it ^ 0x5a)).collect();
    let mut together = Blocks(blocks.clone().try_into().unwrap());
    key.encrypt(&mut together);
    let single: Vec<_> = blocks.iter().map(|block| key.encrypt_one(block)).collect();
    assert_eq!(together.0[..], single[..]);
}

#[test]
fn a_hash_is_that_of_its_single_blocks() {
    let hash_key: Block = pattern(16).try_into().unwrap();
    let data = pattern(210);
    for len in 0..data.len() {
        let mut whole = [9; 16];
        ghash::add(&hash_key, &mut whole, &data[..len]);
        let mut single = [9; 16];
        data[..len].chunks(16).for_each(|block| ghash::add(&hash_key, &mut single, block));
        assert_eq!(whole, single, "{len}");
    }
}

#[test]
fn a_counter_wraps_in_its_four_bytes() {
    let key = key(&pattern(32));
    let mut first = [7; 16];
    first[12..].fill(0xff);
    let mut data = vec![0; 40];
    ctr::apply(&key, &first, &mut data).unwrap();
    let mut second = first;
    second[12..].fill(0);
    let blocks = [key.encrypt_one(&first), key.encrypt_one(&second)];
    assert_eq!(data[..32], *blocks.as_flattened());
    // What is XORed twice is as it was.
    ctr::apply(&key, &first, &mut data).unwrap();
    assert_eq!(data, vec![0; 40]);
}

/// Case 4 of McGrew and Viega (*The Galois/Counter Mode of Operation*, appendix B): 60 bytes, additional data; then
/// cases 5 and 6, with initialization vectors of 8 and 60 bytes.
#[test]
fn the_cases_of_gcm_are_right() {
    let key = key(&bytes("feffe9928665731c6d6a8f9467308308"));
    let aad = bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    let plain = bytes(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525\
         b16aedf5aa0de657ba637b39",
    );
    let long_iv = "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b5254\
                   16aedbf5a0de6a57a637b39b";
    for (iv, cipher, tag) in [
        (
            "cafebabefacedbaddecaf888",
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05\
             1ba30b396a0aac973d58e091",
            "5bc94fbc3221a5db94fae95ae7121a47",
        ),
        (
            "cafebabefacedbad",
            "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b22b097544d4896b42\
             4989b5e1ebac0f07c23f4598",
            "3612d2e79e3b0785561be14aaca2fccb",
        ),
        (
            long_iv,
            "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6f\
             d62875d2aca417034c34aee5",
            "619cc5aefffe0bfa462af43c1699d050",
        ),
    ] {
        let (iv, cipher, tag) = (bytes(iv), bytes(cipher), bytes(tag));
        let mut text = cipher.clone();
        assert_eq!(gcm::decrypt(&key, &iv, &aad, &mut text, &tag), Ok(()));
        assert_eq!(text, plain);
        let mut pieces = Vec::new();
        let mut collect = |piece: &[u8]| pieces.extend_from_slice(piece);
        assert_eq!(gcm::decrypt_to(&key, &iv, &aad, &cipher, &tag, &mut collect), Ok(()));
        assert_eq!(pieces, plain);
        for len in [4, 8, 12, 13, 14, 15] {
            let mut text = cipher.clone();
            assert_eq!(gcm::decrypt(&key, &iv, &aad, &mut text, &tag[..len]), Ok(()));
        }
        for len in [0, 1, 3, 5, 7, 9, 11] {
            let mut text = cipher.clone();
            let answer = gcm::decrypt(&key, &iv, &aad, &mut text, &tag[..len]);
            assert_eq!((answer, text), (Err(GcmError::TagLength), cipher.clone()));
        }
        let mut text = cipher.clone();
        let answer = gcm::decrypt(&key, &[], &aad, &mut text, &tag);
        assert_eq!((answer, text), (Err(GcmError::IvEmpty), cipher.clone()));
        // One bit of anything: nothing is released.
        let flipped = |bytes: &[u8], at: usize| {
            let mut bytes = bytes.to_vec();
            bytes[at / 8] ^= 1 << (at % 8);
            bytes
        };
        let refused = |iv: &[u8], aad: &[u8], from: &[u8], tag: &[u8]| {
            let mut text = from.to_vec();
            let answer = gcm::decrypt(&key, iv, aad, &mut text, tag);
            assert_eq!((answer, &text), (Err(GcmError::NotAuthentic), &vec![0; cipher.len()]));
            let mut refuse = |_: &[u8]| panic!("something is released");
            let answer = gcm::decrypt_to(&key, iv, aad, from, tag, &mut refuse);
            assert_eq!(answer, Err(GcmError::NotAuthentic));
        };
        for at in [0, 9, 95, 127] {
            refused(&iv, &aad, &cipher, &flipped(&tag, at));
            refused(&iv, &aad, &flipped(&cipher, at), &tag);
            refused(&iv, &flipped(&aad, at), &cipher, &tag);
            refused(&flipped(&iv, at % 64), &aad, &cipher, &tag);
        }
    }
}

/// RFC 3394 §4.1 to §4.6.
#[test]
fn the_cases_of_key_wrap_are_right() {
    let all: Vec<u8> = (0..32).collect();
    let keys = bytes("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f");
    for (wrapping, size, wrapped) in [
        (16, 16, "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"),
        (24, 16, "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"),
        (32, 16, "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"),
        (24, 24, "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2"),
        (32, 24, "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1"),
        (
            32,
            32,
            "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21",
        ),
    ] {
        let wrapping_key = key(&all[..wrapping]);
        let wrapped = bytes(wrapped);
        let mut out = vec![1; size];
        assert_eq!(kw::unwrap(&wrapping_key, &wrapped, &mut out), Ok(()));
        assert_eq!(out, keys[..size]);
        for at in [0, 8 * HALF_OF_A_BLOCK - 1, 8 * HALF_OF_A_BLOCK, 8 * wrapped.len() - 1] {
            let mut changed = wrapped.clone();
            changed[at / 8] ^= 1 << (at % 8);
            let answer = kw::unwrap(&wrapping_key, &changed, &mut out);
            assert_eq!((answer, &out), (Err(UnwrapError::NotAuthentic), &vec![0; size]));
        }
        let other = key(&[9; 32]);
        let answer = kw::unwrap(&other, &wrapped, &mut out);
        assert_eq!(answer, Err(UnwrapError::NotAuthentic));
    }
    let key = key(&[1; 32]);
    for (wrapped, size) in [(0, 0), (7, 0), (8, 0), (16, 8), (23, 15), (24, 8), (24, 24), (25, 17)]
    {
        let answer = kw::unwrap(&key, &vec![0; wrapped], &mut vec![0; size]);
        assert_eq!(answer, Err(UnwrapError::Length), "{wrapped} {size}");
    }
}

const HALF_OF_A_BLOCK: usize = BLOCK_SIZE / 2;

proptest! {
    #[test]
    fn cbc_agrees_with_single_blocks(count in 0_usize..10, key_size in 2_usize..5, seed in any::<u8>()) {
        let key = key(&pattern(8 * key_size));
        let iv = [seed; 16];
        let text = pattern(16 * count);
        let mut data = text.clone();
        cbc::encrypt(&key, &iv, &mut data).unwrap();
        let mut before = iv;
        for (cipher, plain) in data.as_chunks::<16>().0.iter().zip(text.as_chunks::<16>().0) {
            let mut block = *plain;
            xor(&mut block, &before);
            before = key.encrypt_one(&block);
            prop_assert_eq!(cipher, &before);
        }
        cbc::decrypt(&key, &iv, &mut data).unwrap();
        prop_assert_eq!(data, text);
    }

    #[test]
    fn a_part_of_a_block_is_no_block(len in 0_usize..100) {
        let key = key(&[3; 16]);
        let mut data = pattern(len);
        let wanted = if len % 16 == 0 { Ok(()) } else { Err(cbc::PartialBlock) };
        prop_assert_eq!(cbc::decrypt(&key, &[0; 16], &mut data), wanted);
        let mut data = pattern(len);
        prop_assert_eq!(cbc::encrypt(&key, &[0; 16], &mut data), wanted);
        prop_assert!(len % 16 == 0 || data == pattern(len));
    }
}

/// SP 800-38A appendix F.5.5: AES-256, four blocks.
#[test]
fn the_example_of_counter_mode_is_right() {
    let key = key(&bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"));
    let first = bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").try_into().unwrap();
    let mut data = bytes(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445\
         df4f9b17ad2b417be66c3710",
    );
    let cipher = bytes(
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c52b0930daa23de94ce87017ba2d84988ddfc9c58d\
         b67aada613c2dd08457941a6",
    );
    let mut wide = data.clone();
    ctr::apply(&key, &first, &mut data).unwrap();
    assert_eq!(data, cipher);
    ctr::apply_wide(&key, &first, &mut wide);
    assert_eq!(wide, cipher);
}

#[test]
fn a_wide_counter_wraps_in_its_sixteen_bytes() {
    let key = key(&pattern(24));
    // In the last four bytes, in others, and in all.
    for before in [2, 3, 4, 9] {
        for high in [7_u128, 0x0123_ffff_ffff, u128::MAX >> 32] {
            let first = (high << 32 | 0xffff_ffff) - (before - 1);
            let mut data = vec![0; 16 * 11 + 5];
            let mut shared = data.clone();
            ctr::apply_wide(&key, &first.to_be_bytes(), &mut data);
            ctr::apply_wide_with(&Kernels::PORTABLE, &key, &first.to_be_bytes(), &mut shared);
            assert_eq!(shared, data);
            for (at, block) in (0_u128..).zip(data.chunks(16)) {
                let wanted = key.encrypt_one(&first.wrapping_add(at).to_be_bytes());
                assert_eq!(block, &wanted[..block.len()], "block {at}, {before} before the carry");
            }
        }
    }
}
