//! Compares digests and codes with other implementations, and checks the rules for operands.

use cshake::digest::{CustomizedInit, ExtendableOutput, Update, XofReader};
use hartlock_kat::host::line::{Reply, Verdict, hex, parse, unhex};
use hartlock_kat::host::{HostKernel, reply};
use tiny_keccak::{Hasher, ParallelHash, Xof};

/// Message lengths at and around the ends of sponge blocks and of chunks, and zero.
const LENS: [usize; 14] = [0, 1, 7, 8, 135, 136, 137, 167, 168, 169, 500, 8191, 8192, 16385];

fn message(len: usize) -> Vec<u8> {
    (0..len).map(|at| ((at * 89) >> 2) as u8).collect()
}

fn ask(kernel: HostKernel, fields: &str) -> Reply {
    let line = format!("{{\"id\":\"x\",{fields}}}");
    match parse(line.as_bytes()) {
        Ok(asked) => reply(&kernel.engine(), &asked),
        Err(reply) => *reply,
    }
}

fn output(fields: &str) -> Vec<u8> {
    let reply = ask(HostKernel::Portable, fields);
    assert_eq!(reply.result, Verdict::Ok, "{reply:?}");
    unhex(&reply.output.unwrap()).unwrap()
}

fn digest(alg: &str, message: &[u8], more: &str) -> Vec<u8> {
    output(&format!(r#""op":"digest","alg":"{alg}","message":"{}"{more}"#, hex(message)))
}

/// Returns output of another implementation.
fn read(hash: impl ExtendableOutput, len: usize) -> Vec<u8> {
    let mut output = vec![0; len];
    hash.finalize_xof().read(&mut output);
    output
}

#[test]
fn cshake_agrees_for_every_kind_of_length() {
    for len in LENS {
        for (name, custom) in [("", ""), ("N", ""), ("", "S"), ("KMAC", &*"s".repeat(200))] {
            let more = format!(
                r#","output_len":{},"function_name":"{}","customization":"{}""#,
                len + 1,
                hex(name.as_bytes()),
                hex(custom.as_bytes())
            );
            let (name, custom) = (name.as_bytes(), custom.as_bytes());
            let mut second = cshake::CShake128::new_with_function_name(name, custom);
            second.update(&message(len));
            assert_eq!(digest("cshake128", &message(len), &more), read(second, len + 1));
            let mut second = cshake::CShake256::new_with_function_name(name, custom);
            second.update(&message(len));
            assert_eq!(digest("cshake256", &message(len), &more), read(second, len + 1));
        }
    }
}

#[test]
fn kt128_agrees_with_customization_that_ends_at_chunks() {
    for len in LENS {
        for custom_len in [0, 1, 255, 256, 8192 - 3, 8192 - 2, 8192 - 1, 8192, 16384 - 3] {
            let custom = message(custom_len);
            let custom_digits = hex(&custom);
            let more = format!(r#","output_len":300,"customization":"{custom_digits}""#);
            let mut second = k12::CustomKt128::new_customized(&custom);
            second.update(&message(len));
            assert_eq!(
                digest("kt128", &message(len), &more),
                read(second, 300),
                "{len} {custom_len}"
            );
        }
    }
}

#[test]
fn parallelhash_and_kmac_agree() {
    for len in LENS {
        for block_size in [1, 8, 168, 8192, 100_000] {
            if len / block_size > 500 {
                continue;
            }
            let more =
                format!(r#","output_len":77,"block_size":{block_size},"customization":"43""#);
            let mut second = ParallelHash::v128(b"C", block_size);
            second.update(&message(len));
            let mut expected = [0; 77];
            second.clone().finalize(&mut expected);
            assert_eq!(digest("parallelhash128", &message(len), &more), expected);
            second.into_xof_output(&mut expected);
            assert_eq!(digest("parallelhashxof128", &message(len), &more), expected);
        }
        for key_len in [0, 1, 131, 132, 136, 168, 200] {
            // This follows SP 800-185 §4.3 literally: no padding follows a key that ends at a block
            // boundary. Libraries differ in this case.
            let mut padded = [&[1, 136], &*encoded(8 * key_len), &message(key_len)].concat();
            padded.resize(padded.len().next_multiple_of(136), 0);
            let mut second = cshake::CShake256::new_with_function_name(b"KMAC", b"my");
            second.update(&padded);
            second.update(&message(len));
            second.update(&[0x02, 0x30, 2]);
            let expected = read(second, 70);
            let fields = format!(
                r#""op":"mac","alg":"kmac256","key":"{}","message":"{}","customization":"6d79""#,
                hex(&message(key_len)),
                hex(&message(len))
            );
            assert_eq!(output(&format!(r#"{fields},"output_len":70"#)), expected);
        }
    }
}

/// Encodes a length in bits with `left_encode` (SP 800-185 §2.3.1).
fn encoded(bits: usize) -> Vec<u8> {
    if bits < 256 { vec![1, bits as u8] } else { vec![2, (bits >> 8) as u8, bits as u8] }
}

/// Squeezes ParallelHash as an XOF, which takes the hash by value.
trait IntoXof {
    fn into_xof_output(self, output: &mut [u8]);
}

impl IntoXof for ParallelHash {
    fn into_xof_output(self, output: &mut [u8]) {
        tiny_keccak::IntoXof::into_xof(self).squeeze(output);
    }
}

#[test]
fn trees_follow_their_equations_in_every_form() {
    for (name, len) in [("sha256", 32), ("sha384", 48), ("sha3-512", 64), ("kt128", 32)] {
        let more = if name == "kt128" { r#","output_len":32"# } else { "" };
        let h = |bytes: &[u8]| digest(name, bytes, more);
        for (size, block_size) in [(0, 4), (1, 4), (4, 4), (29, 4), (500, 8), (3, 1 << 40)] {
            let payload = message(size);
            let blocks: Vec<&[u8]> = payload.chunks(block_size.min(1 << 30)).collect();
            let record = message(17);
            let mut root = b"HLKroot0".to_vec();
            for number in [blocks.len(), size, block_size] {
                root.extend((number as u64).to_le_bytes());
            }
            root.extend(h(&[&b"HLKrec_0"[..], &record].concat()));
            let mut paper = h(&record);
            for (index, block) in (0_u64..).zip(&blocks) {
                let index = index.to_le_bytes();
                root.extend(h(&[&b"HLKleaf0"[..], &index, block].concat()));
                paper.extend(h(&[&index[..], block].concat()));
            }
            for (tree, expected) in [("tree", h(&root)), ("papertree", h(&paper))] {
                let fields = format!(
                    r#""op":"digest","alg":"{tree}-{name}","message":"{}","record":"{}","block_size":{block_size}"#,
                    hex(&payload),
                    hex(&record)
                );
                assert_eq!(output(&fields), expected, "{tree} {name} {size}");
                assert_eq!(expected.len(), len);
                // Hashing in lanes gives the same digest, or reports that the lanes are not available.
                let lanes = ask(HostKernel::Lanes, &fields);
                assert!(
                    lanes.output.is_none_or(|output| output == hex(&expected))
                        && lanes.result <= Verdict::Unsupported,
                    "{tree} {name} {size}"
                );
            }
        }
    }
}

#[test]
fn tags_are_checked_in_full_and_in_length() {
    let fields =
        |more: &str| format!(r#""op":"mac","alg":"hmac-sha256","key":"0b","message":"00"{more}"#);
    let tag = output(&fields(""));
    let verdict = |tag: &[u8], more: &str| {
        let line = fields(&format!(r#","tag":"{}"{more}"#, hex(tag)));
        ask(HostKernel::Portable, &line).result
    };
    assert_eq!(verdict(&tag, ""), Verdict::Valid);
    assert_eq!(verdict(&tag[..16], r#","output_len":16"#), Verdict::Valid);
    for (tag, more) in [
        (&tag[..31], ""),
        (&tag[..16], ""),
        (&tag[..], r#","output_len":31"#),
        (&[&tag[..], &[0]].concat(), ""),
        (&[&tag[..], &[0]].concat(), r#","output_len":33"#),
        (&[], ""),
        (&[], r#","output_len":0"#),
    ] {
        assert_eq!(verdict(tag, more), Verdict::Invalid, "{more}");
    }
    for at in 0..tag.len() {
        let mut other = tag.clone();
        other[at] ^= 0x10;
        assert_eq!(verdict(&other, ""), Verdict::Invalid, "byte {at}");
    }
    let long = ask(HostKernel::Portable, &fields(r#","output_len":33"#));
    assert_eq!(long.result, Verdict::Invalid);
}

#[test]
fn operands_out_of_range_are_invalid_and_too_much_output_is_unsupported() {
    let verdict = |fields: &str| ask(HostKernel::Portable, fields).result;
    let tree = r#""op":"digest","alg":"tree-sha256","message":"00","block_size":"#;
    assert_eq!(verdict(&format!("{tree}0")), Verdict::Invalid);
    assert_eq!(verdict(&format!("{tree}{}", u64::MAX)), Verdict::Ok);
    let shake = r#""op":"digest","alg":"shake128","message":"","output_len":"#;
    assert_eq!(verdict(&format!("{shake}0")), Verdict::Ok);
    assert_eq!(verdict(&format!("{shake}{}", u64::MAX)), Verdict::Unsupported);
    assert_eq!(verdict(&format!("{shake}{}0", u64::MAX)), Verdict::Error);
    let key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    for (key, signature) in [("", ""), (key, ""), (key, "00"), (&key[2..], &"00".repeat(64))] {
        let fields = format!(
            r#""op":"verify","alg":"ed25519","public_key":"{key}","message":"","signature":"{signature}""#
        );
        assert_eq!(verdict(&fields), Verdict::Invalid, "{key} {signature}");
    }
}

#[test]
fn a_signature_is_valid_for_its_key_and_message_and_for_nothing_else() {
    // The key, message and signature of RFC 8032 §7.1, test 3.
    let good = [
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
         18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ];
    let verdict = |alg: &str, [key, message, signature]: [&str; 3]| {
        let fields = format!(
            r#""op":"verify","alg":"{alg}","public_key":"{key}","message":"{message}","signature":"{signature}""#
        );
        ask(HostKernel::Portable, &fields).result
    };
    assert_eq!(verdict("ed25519", good), Verdict::Valid);
    for (part, len) in [(0, 32), (1, 2), (2, 64)] {
        for at in 0..len {
            let mut bytes = unhex(good[part]).unwrap();
            bytes[at] ^= 0x04;
            let changed = hex(&bytes);
            let mut other = good;
            other[part] = &changed;
            assert_eq!(verdict("ed25519", other), Verdict::Invalid, "part {part} byte {at}");
        }
    }
    assert_ne!(verdict("ed25519ph", good), Verdict::Valid);
    assert_ne!(verdict("ed25519-keystone", good), Verdict::Valid);
}
