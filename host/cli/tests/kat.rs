//! Tests of `hartlock kat` on the command line.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Bench, Run};

const ABC: &str = r#"{"id":"a","op":"digest","alg":"sha256","message":"616263"}"#;
const ABC_DIGEST: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn lines(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the examples of the specification: the cases and their answers, one line each.
fn examples() -> (Vec<String>, Vec<Value>) {
    let text = include_str!("../../../spec/kat.md");
    let mut blocks = text.split("```json\n").skip(1);
    let mut block = || blocks.next().unwrap().split("```").next().unwrap().lines();
    let asked = block().map(str::to_owned).collect();
    (asked, block().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn answers_the_examples_of_the_specification() {
    let bench = Bench::new();
    let (asked, answers) = examples();
    assert_eq!(asked.len(), 5);
    bench.write("cases.jsonl", asked.join("\n").as_bytes());
    let run = bench.run(&["kat", "cases.jsonl"]).expect(0);
    assert_eq!(lines(&run), answers);
    assert!(run.stderr.contains("5 lines: 2 ok, 1 invalid, 1 unsupported, 1 error"), "{run:?}");
}

#[test]
fn every_line_was_answered_is_a_yes_whatever_the_answers() {
    let bench = Bench::new();
    bench.write("cases.jsonl", b"\xff\n\n{}\nnonsense\n");
    let run = bench.run(&["kat", "cases.jsonl"]).expect(0);
    let results: Vec<_> = lines(&run).iter().map(|line| line["result"].clone()).collect();
    assert_eq!(results, ["error"; 4]);
    bench.write("empty.jsonl", b"");
    let run = bench.run(&["kat", "empty.jsonl"]).expect(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", "0 lines\n"));
}

#[test]
fn what_cannot_be_read_or_chosen_is_undecided() {
    let bench = Bench::new();
    bench.write("cases.jsonl", ABC.as_bytes());
    bench.run(&["kat", "missing.jsonl"]).expect(2);
    bench.run(&["kat", "."]).expect(2);
    let run = bench.run(&["kat", "cases.jsonl", "--implementation", "zknh"]).expect(2);
    assert!(run.stderr.contains("portable, lanes"), "{run:?}");
    assert_eq!(run.stdout, "");
    for target in ["qemu:", "board"] {
        bench.run(&["kat", "cases.jsonl", "--target", target]).expect(2);
    }
    let target = ["kat", "cases.jsonl", "--target", "qemu:rv64"];
    bench.run(&[&target[..], &["--kernel", "lanes"]].concat()).expect(2);
    let run = bench.run(&[&target[..], &["--bench", "no.bin"]].concat()).expect(2);
    assert!(run.stderr.contains("cargo xtask firmware"), "{run:?}");
}

#[test]
fn lanes_give_the_digests_of_the_portable_form_or_none() {
    let bench = Bench::new();
    bench.write("cases.jsonl", ABC.as_bytes());
    let run = bench.run(&["kat", "cases.jsonl", "--kernel", "lanes"]).expect(0);
    // A processor without vector instructions has no lanes.
    match lines(&run)[0]["result"].as_str() {
        Some("ok") => assert_eq!(lines(&run)[0]["output"], ABC_DIGEST),
        other => assert_eq!(other, Some("unsupported"), "{run:?}"),
    }
}

#[test]
fn json_adds_one_object_after_the_answers() {
    let bench = Bench::new();
    bench.write("cases.jsonl", format!("{ABC}\n{ABC}\n").as_bytes());
    let run = bench.run(&["kat", "cases.jsonl", "--json"]).expect(0);
    let rest = run.stdout.lines().skip(2).collect::<Vec<_>>().join("\n");
    let report: Value = serde_json::from_str(&rest).unwrap();
    assert_eq!(report["schema"], "hartlock/kat-v1");
    assert_eq!(report["outcome"], "accepted");
    assert_eq!(
        (&report["lines"], &report["ok"], &report["error"]),
        (&2.into(), &2.into(), &0.into())
    );
}

#[test]
fn a_pipe_has_its_answer_before_the_next_line_comes() {
    use std::io::{BufRead, BufReader};

    let mut child = Command::new(env!("CARGO_BIN_EXE_hartlock"))
        .args(["kat", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        writeln!(input, "{ABC}").unwrap();
        let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["output"], ABC_DIGEST);
    }
    drop(input);
    assert!(output.next().is_none());
    assert!(child.wait().unwrap().success());
}
