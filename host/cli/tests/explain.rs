//! Tests of `hartlock explain`: every spelling of a code, and the examples.

use std::path::Path;

use crate::common::{Bench, Run};

#[test]
fn a_code_is_explained_with_everything_around_it() {
    let bench = Bench::new();
    let page = bench.run(&["explain", "E0603"]).expect(0).stdout;
    for expected in [
        "E0603  The bundle is older than this device accepts.\n",
        "RollbackBelowFloor",
        "why       Its security version is below the floor",
        "hint      Install a bundle",
        "fault     image: the one who built, signed or transported the bundle has to act\n",
        "spec      image format §7.2\n",
        "see also  E0601 ",
        "example   The security version is one below the floor.\n",
        "$ hartlock verify spec/vectors/image/rollback_below_floor.hlk",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    for spelling in ["e0603", "603", "0603", "E603", "rollbackbelowfloor"] {
        assert_eq!(bench.run(&["explain", spelling]).expect(0).stdout, page, "{spelling}");
    }
}

#[test]
fn what_is_no_code_is_answered_with_the_nearest() {
    let bench = Bench::new();
    for (typed, nearest) in [
        ("E0607", "E0606"),
        ("WrongPasphrase", "E1109"),
        ("SignatureMissmatch", "E0301"),
        ("rollback", "E0603"),
        ("RollbackBelowFlor", "E0603"),
    ] {
        let run = bench.run(&["explain", typed]).expect(2);
        let first = run.stderr.lines().nth(1).unwrap().trim();
        assert!(first.starts_with(nearest), "{typed}: {run:?}");
        assert_eq!(run.stdout, "");
        let json = bench.run(&["explain", typed, "--json"]).expect(2).json();
        let context = json["error"]["context"][0].as_str().unwrap();
        assert!(context.starts_with(nearest), "{typed}: {json}");
    }
    let run = bench.run(&["explain", "\x1b[2J"]).expect(2);
    assert!(!run.stderr.contains('\x1b') && run.stderr.contains("lists all"), "{run:?}");
}

#[test]
fn the_list_has_every_code_in_groups() {
    let bench = Bench::new();
    let json = bench.run(&["explain", "--json"]).expect(0).json();
    let reasons = json["reasons"].as_array().unwrap();
    let list = bench.run(&["explain"]).expect(0).stdout;
    let mut groups = Vec::new();
    for reason in reasons {
        let code = reason["code"].as_str().unwrap();
        assert_eq!(list.lines().filter(|line| line.starts_with(code)).count(), 1, "{code}: {list}");
        let group = reason["group"].as_str().unwrap();
        if groups.last() != Some(&group) {
            groups.push(group);
        }
    }
    // Each group is listed once, under its title.
    assert_eq!(groups.len(), 16, "{groups:?}");
    for group in groups {
        assert_eq!(list.lines().filter(|line| *line == group).count(), 1, "{group}: {list}");
    }
}

#[test]
fn the_object_has_the_documented_fields() {
    let bench = Bench::new();
    let json = bench.run(&["explain", "E0603", "--json"]).expect(0).json();
    assert_eq!(json["schema"], "hartlock/explain-v1");
    let reason = &json["reasons"][0];
    assert_eq!(reason["related"], serde_json::json!(["E0601", "E0602", "E0604", "E0605"]));
    let example = &reason["example"];
    assert_eq!(example["path"], "spec/vectors/image/rollback_below_floor.hlk");
    assert!(example["description"].is_string() && example["command"].is_string());
    for field in ["details", "remedy"] {
        assert!(reason.get(field).is_some_and(|it| it.is_null() || it.is_string()), "{reason}");
    }
    // This reason is given by a device and not by a bundle.
    let device = bench.run(&["explain", "E0901", "--json"]).expect(0).json();
    assert!(device["reasons"][0]["example"].is_null());
}

#[test]
fn of_a_call_of_the_c_library_its_program_has_to_act() {
    let page = Bench::new().run(&["explain", "CallOrder"]).expect(0).stdout;
    let expected = "fault     caller: the program that calls the library has to act\n";
    assert!(page.starts_with("E1503  ") && page.contains(expected), "{page}");
}

#[test]
fn reasons_of_key_files_are_explained_like_all_others() {
    let bench = Bench::new();
    let page = bench.run(&["explain", "E1103"]).expect(0).stdout;
    for expected in [
        "E1103  The key file has no key in a supported form.\n",
        "WrongLabel · Key files\n",
        "fault     caller: the user of the command has to act\n",
        "spec      key files §2\n",
        "see also  E1101 ",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let json = bench.run(&["explain", "NotPem", "--json"]).expect(0).json();
    let reason = &json["reasons"][0];
    assert_eq!((&reason["code"], &reason["spec"]), (&"E1102".into(), &"key files §2".into()));
    assert!(reason["example"].is_null());
    // A name that both lists could have belongs to the reason of bundles.
    assert!(bench.run(&["explain", "Truncated"]).expect(0).stdout.starts_with("E0101  "));
    assert!(bench.run(&["explain", "KeyTruncated"]).expect(0).stdout.starts_with("E1105  "));
}

#[test]
fn every_example_is_refused_with_its_code() {
    let bench = Bench::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = bench.run(&["explain", "--json"]).expect(0).json();
    let mut count = 0;
    for reason in all["reasons"].as_array().unwrap() {
        let Some(line) = reason["example"]["command"].as_str() else { continue };
        let mut words = line.split(' ');
        assert_eq!(words.next(), Some("hartlock"));
        let mut command = bench.command();
        let run = Run::of(command.args(words).current_dir(&root).output().unwrap()).expect(1);
        let code = format!("error: {} ", reason["code"].as_str().unwrap());
        assert!(run.stderr.contains(&code), "{line}: {run:?}");
        count += 1;
    }
    assert!(count > 50, "{count}");
}
