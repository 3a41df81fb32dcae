//! Cases of AES key wrap: the examples of RFC 3394 §4, and each of them with one fault. The RFC has them in its text, so
//! there is no file.

use anyhow::Result;

use crate::case::{Ask, Collection, Expected, parse_hex};

/// Bits of the wrapping key, whose bytes count up from 0; bytes of the key data; the wrapped key.
const EXAMPLES: [(u32, usize, &str); 6] = [
    (128, 16, "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"),
    (192, 16, "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"),
    (256, 16, "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"),
    (192, 24, "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2"),
    (256, 24, "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1"),
    (256, 32, "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"),
];

/// The key data of all examples; the shorter ones are its front.
const KEY_DATA: &str = "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f";

/// Adds the cases.
pub fn convert(out: &mut Collection) -> Result<()> {
    out.begin("rfc3394/examples");
    let data = parse_hex(KEY_DATA)?;
    for (section, (bits, size, wrapped)) in (1..).zip(EXAMPLES) {
        let key: Vec<u8> = (0..bits / 8).map(|byte| byte as u8).collect();
        let wrapped = parse_hex(wrapped)?;
        let mut add = |name: &str, key: &[u8], wrapped: &[u8], expected| {
            let ask = Ask::new("key-unwrap", &format!("aes-{bits}-kw"))
                .with("key", key.to_vec())
                .with("ciphertext", wrapped.to_vec());
            out.add("aes", format!("4.{section}.{name}"), name, ask, expected);
        };
        add("right", &key, &wrapped, Expected::Output(data.iter().copied().take(size).collect()));
        let with_bit = |bytes: &[u8], at: usize| {
            let flip = |(index, byte): (usize, &u8)| byte ^ u8::from(index == at);
            bytes.iter().enumerate().map(flip).collect::<Vec<_>>()
        };
        let last = wrapped.len() - 1;
        add("check-value", &key, &with_bit(&wrapped, 0), Expected::Invalid);
        add("first-part", &key, &with_bit(&wrapped, 8), Expected::Invalid);
        add("last-byte", &key, &with_bit(&wrapped, last), Expected::Invalid);
        add("other-key", &with_bit(&key, 3), &wrapped, Expected::Invalid);
        let (front, _) = wrapped.split_at(last);
        add("one-byte-short", &key, front, Expected::Invalid);
        let (front, _) = wrapped.split_at(wrapped.len() - 8);
        add("one-part-short", &key, front, Expected::Invalid);
        add("one-byte-long", &key, &[&wrapped[..], &[0]].concat(), Expected::Invalid);
        add("short-key", key.split_at(key.len() - 1).0, &wrapped, Expected::Invalid);
    }
    Ok(())
}
