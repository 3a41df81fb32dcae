use std::io::BufReader;

use super::*;
use crate::digest;
use crate::host::line::hex;

/// Returns the answers to a text, and their counts.
fn answers_of(text: &[u8], threads: usize) -> (Vec<Reply>, Tally) {
    let mut out = Vec::new();
    let mut backend = Threads { engine: Engine::PORTABLE, count: threads };
    let mut input = BufReader::with_capacity(100, text);
    let mut last = 0;
    let tally = run(&mut backend, &mut input, &mut out, |done| {
        assert!(done > last, "progress went back");
        last = done;
    });
    assert_eq!(last, text.len() as u64, "not all bytes were answered");
    let text = String::from_utf8(out).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), tally.unwrap())
}

fn answers(text: &[u8]) -> Vec<Reply> {
    answers_of(text, 1).0
}

const ABC: &str = r#"{"id":"abc","op":"digest","alg":"sha256","message":"616263"}"#;
const ABC_DIGEST: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Returns the line [`ABC`] with a part of its text replaced.
fn abc_with(from: &str, to: &str) -> String {
    assert!(ABC.contains(from));
    ABC.replace(from, to)
}

fn only(text: &str) -> Reply {
    let mut all = answers(text.as_bytes());
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

#[test]
fn a_digest_is_answered_with_its_id_and_output() {
    let reply = only(ABC);
    assert_eq!((reply.id.as_str(), reply.result), ("abc", Verdict::Ok));
    assert_eq!(reply.output.as_deref(), Some(ABC_DIGEST));
    assert_eq!(reply.to_json(), format!(r#"{{"id":"abc","result":"ok","output":"{ABC_DIGEST}"}}"#));
}

#[test]
fn unknown_fields_are_ignored() {
    let reply = only(&abc_with("\"op\"", "\"comment\":[1,{}],\"flags\":null,\"op\""));
    assert_eq!(reply.result, Verdict::Ok);
    // Known fields of other operations are ignored too.
    let reply = only(&abc_with("\"op\"", "\"curve\":\"zz\",\"op\""));
    assert_eq!(reply.result, Verdict::Ok);
}

#[test]
fn what_nobody_knows_is_unsupported_whatever_else_the_line_holds() {
    for (from, to) in [
        ("\"digest\"", "\"divine\""),
        ("sha256", "md5"),
        ("sha256", "sha224"),
        ("sha256", "tree-md5"),
        ("sha256", "hmac-sha256"),
        ("sha256\",\"message\":\"616263", "md5\",\"message\":\"zz"),
        ("\"digest\"", "\"verify\""),
    ] {
        let reply = only(&abc_with(from, to));
        assert_eq!((reply.id.as_str(), reply.result), ("abc", Verdict::Unsupported), "{to}");
        assert!(reply.reason.is_some());
    }
}

#[test]
fn a_line_that_cannot_be_read_is_an_error_with_its_id_if_it_has_one() {
    for (from, to) in [
        ("\"616263\"", "\"61626\""),
        ("\"616263\"", "\"61626g\""),
        ("\"616263\"", "\"0x6162\""),
        ("\"616263\"", "616263"),
        ("\"616263\"", "null"),
        (",\"message\":\"616263\"", ""),
        ("\"digest\"", "7"),
        ("\"op\":\"digest\",", ""),
        ("\"sha256\"", "\"shake128\""),
        ("sha256\"", "shake128\",\"output_len\":-1"),
        ("sha256\"", "shake128\",\"output_len\":1.5"),
        ("sha256\"", "shake128\",\"output_len\":\"32\""),
        ("sha256\"", "tree-sha256\",\"block_size\":null"),
    ] {
        let reply = only(&abc_with(from, to));
        assert_eq!((reply.id.as_str(), reply.result), ("abc", Verdict::Error), "{to}");
    }
    for text in ["{", "[]", "7", "\"x\"", "null", "{}", "{\"id\":7}", "x", "\u{feff}{}", "", " "] {
        let reply = only(&format!("{text}\n"));
        assert_eq!((reply.id.as_str(), reply.result), ("", Verdict::Error), "{text}");
    }
    for garbage in ["x", "{}", ",", "\0"] {
        assert_eq!(only(&format!("{ABC}{garbage}")).result, Verdict::Error, "{garbage:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_an_error_and_no_more() {
    let mut text = Vec::new();
    for bytes in
        [&b"\xff\xfe{}"[..], b"{\"id\":\"\xc3\x28\"}", b"\0\0\0", b"{\"id\":\"\xed\xa0\x80\"}"]
    {
        text.extend_from_slice(bytes);
        text.push(b'\n');
    }
    text.extend_from_slice(ABC.as_bytes());
    let all = answers(&text);
    assert_eq!(all.len(), 5);
    assert!(all[..4].iter().all(|reply| reply.result == Verdict::Error));
    assert_eq!(all[4].result, Verdict::Ok);
    // The parser must not follow this depth of nesting.
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(only(&deep).result, Verdict::Error);
}

#[test]
fn every_line_has_its_answer_in_order_on_any_number_of_threads() {
    let mut text = String::new();
    for index in 0..300 {
        let id = format!("{index}");
        text += &match index % 4 {
            0 => abc_with("abc", &id),
            1 => String::new(),
            2 => abc_with("616263", &"61".repeat(index * 50)).replace("abc", &id),
            _ => abc_with("sha256", "nothing").replace("abc", &id),
        };
        text.push_str(if index % 3 == 0 { "\r\n" } else { "\n" });
    }
    let (one, tally) = answers_of(text.as_bytes(), 1);
    assert_eq!(one.len(), 300);
    assert_eq!(tally.lines(), 300);
    assert_eq!(tally.count(Verdict::Error), 75);
    assert_eq!(tally.count(Verdict::Unsupported), 75);
    for (index, reply) in one.iter().enumerate() {
        let id = if index % 4 == 1 { String::new() } else { index.to_string() };
        assert_eq!(reply.id, id);
    }
    assert_eq!(answers_of(text.as_bytes(), 5), (one, tally));
}

#[test]
fn answers_that_take_long_come_in_order_too() {
    // Each message takes long enough for all threads to start while others are working.
    let message = hex(&[7; 60_000]);
    let lines: Vec<_> = (0..150)
        .map(|index| abc_with("616263", &message).replace("abc", &index.to_string()))
        .map(|line| line.replace("sha256", "sha3-512"))
        .collect();
    let mut backend = Threads { engine: Engine::PORTABLE, count: 8 };
    let cases: Vec<_> = lines.iter().map(|line| parse(line.as_bytes()).unwrap()).collect();
    let replies = backend.answer(&cases).unwrap();
    let ids: Vec<_> = replies.iter().map(|reply| reply.id.parse::<usize>().unwrap()).collect();
    assert!(ids.iter().copied().eq(0..150), "{ids:?}");
}

#[test]
fn a_huge_line_is_an_error_and_the_next_one_is_read() {
    for len in [MAX_LINE_LEN, MAX_LINE_LEN + 1, MAX_LINE_LEN + 2, 2 * MAX_LINE_LEN + 7] {
        let start = "{\"id\":\"long\",\"x\":\"";
        let text = format!("{start}{}\"}}\n{ABC}\n", "a".repeat(len - start.len() - 2));
        let all = answers(text.as_bytes());
        assert_eq!(all.len(), 2, "{len}");
        assert_eq!(all[0].result, Verdict::Error);
        // No field of a line that is too long is used, not even its id.
        assert_eq!(all[0].id, if len > MAX_LINE_LEN { "" } else { "long" });
        assert_eq!(all[1].result, Verdict::Ok);
    }
}

#[test]
fn a_message_of_a_megabyte_and_a_half_fits_into_a_line() {
    let message = vec![0x5a; 1_500_000];
    let reply = only(&abc_with("616263", &hex(&message)));
    assert_eq!(reply.result, Verdict::Ok);
}

#[test]
fn no_line_is_no_answer() {
    assert!(answers(b"").is_empty());
}

#[test]
fn an_output_that_is_too_long_is_not_computed() {
    let with = |alg: &str, len: u64| {
        let line = abc_with("sha256\"", &format!("{alg}\",\"output_len\":{len}"));
        let line = line.replace("digest", if alg.starts_with("kmac") { "mac" } else { "digest" });
        only(&line.replace("\"op\"", "\"key\":\"\",\"op\"").replace("}", ",\"block_size\":8}"))
    };
    for alg in
        ["shake256", "cshake128", "parallelhash128", "parallelhashxof256", "kt128", "kmac256"]
    {
        assert_eq!(with(alg, 70).output.map(|output| output.len()), Some(140), "{alg}");
        for len in [digest::MAX_OUTPUT_LEN + 1, 1 << 32, u64::MAX] {
            let reply = with(alg, len);
            assert_eq!((reply.result, reply.output), (Verdict::Unsupported, None), "{alg} {len}");
        }
    }
}

#[test]
fn a_reason_quotes_no_more_than_the_front_of_a_name() {
    for (from, to) in [("digest", "ü".repeat(10_000)), ("sha256", "x".repeat(10_000))] {
        let reply = only(&abc_with(from, &to));
        assert_eq!(reply.result, Verdict::Unsupported);
        assert!(reply.reason.unwrap().chars().count() < 100);
    }
}
