use super::*;
use clap::Parser;
use hartlock_image::{Lifecycle, Policy};

#[derive(Debug, Parser)]
struct BootCli {
    #[command(flatten)]
    args: BootArgs,
}

fn parse(more: &[&str]) -> Result<BootArgs, clap::Error> {
    let words =
        ["boot", "--rom", "r", "--boot-bundle", "b.hlk", "--system", "s.hlk", "--root-key", "k"];
    BootCli::try_parse_from(words.iter().chain(more)).map(|cli| cli.args)
}

fn timeline(outcome: &Ending) -> Timeline {
    let emulator = "QEMU 10.0.13".to_owned();
    Timeline::new(
        outcome,
        None,
        MachineInfo { emulator, cpu: "rv64".into(), harts: 5, icount: false, counts_cycles: false },
    )
}

fn booted(args: &BootArgs, outcome: &Ending) -> Booted {
    Booted {
        booted: *outcome == Ending::Booted,
        boot_bundle: args.boot_bundle.clone(),
        system: args.system.clone(),
        state: None,
        host_seconds: 1.5,
        harts: vec![Hart { hart: 0, pc: "0x20000000".into() }],
        timeline: timeline(outcome),
        devices: Boards::default().by_name("qemu-virt").unwrap().devices(),
        shows_bars: args.timeline,
        failure: failure(args, awaited(args).as_deref(), outcome, None),
    }
}

#[test]
fn the_defaults_are_those_of_the_board() {
    let args = parse(&[]).unwrap();
    assert_eq!((args.harts, args.cpu.as_str(), args.timeout), (None, "rv64", 120));
    assert_eq!((args.policy, args.quiet, args.icount), (Policy::Any, false, false));
    assert_eq!(awaited(&args).as_deref(), Some("Run /init as init process"));
    let args = parse(&["--policy", "all", "--lifecycle", "production", "--until", ""]).unwrap();
    assert_eq!((args.policy, awaited(&args)), (Policy::All, None));
    assert!(parse(&["--policy", "some"]).is_err());
    assert!(BootCli::try_parse_from(["boot"]).is_err());
}

#[test]
fn the_first_program_is_the_one_that_linux_runs() {
    for (bootargs, program) in [
        ("", "/init"),
        ("console=ttyS0 init=/sbin/other", "/init"),
        ("console=ttyS0 rdinit=/hartlock-init", "/hartlock-init"),
        ("rdinit=/first rdinit=/last quiet", "/last"),
        ("\"rdinit=/quoted\" -- rdinit=/argument", "/quoted"),
    ] {
        assert_eq!(first_program(bootargs), program, "{bootargs}");
    }
}

#[test]
fn a_device_that_powers_off_without_the_text_is_undecided_and_the_text_is_named() {
    let args = parse(&[]).unwrap();
    let ending = Ending::GuestStopped { reason: "guest-shutdown".into() };
    let failure = failure(&args, Some("login:"), &ending, None).unwrap();
    assert_eq!(failure.outcome(), Outcome::Undecided);
    assert_eq!(failure.line(), "the device powered off without printing `login:`");
}

#[test]
fn a_refusal_names_the_bundle_of_the_stage_that_refused() {
    let args = parse(&[]).unwrap();
    for (stage, file) in [(Stage::Rom, "b.hlk"), (Stage::Loader, "s.hlk")] {
        let ending = Ending::Refused { stage, reason: Reason::SignatureMismatch };
        let failure = failure(&args, None, &ending, None).unwrap();
        assert_eq!(failure.outcome(), Outcome::Refused);
        let json = serde_json::to_value(&failure).unwrap();
        assert_eq!(json["reason"]["code"], "E0301");
        assert!(json["context"][0].as_str().unwrap().starts_with(file), "{json}");
    }
}

#[test]
fn a_rollback_names_both_numbers() {
    let vector =
        |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/image").join(name);
    let mut args = parse(&[]).unwrap();
    (args.boot_bundle, args.system) = (vector("minimal_boot.hlk"), vector("blocks_sha384.hlk"));
    let state = Provisioning { boot_floor: 8, system_floor: 9, ..Provisioning::default() };
    for (stage, bundle, floor) in
        [(Stage::Rom, &args.boot_bundle, 8), (Stage::Loader, &args.system, 9)]
    {
        let version =
            inspect_file(bundle, &Boards::default()).unwrap().manifest.unwrap().security_version;
        let ending = Ending::Refused { stage, reason: Reason::RollbackBelowFloor };
        let json =
            |state| serde_json::to_value(failure(&args, None, &ending, state).unwrap()).unwrap();
        let found = json(Some(&state));
        assert_eq!(found["context"][1], format!("security version {version}, floor {floor}"));
        // If the state of the device cannot be read, the failure has no value to compare with.
        assert_eq!(json(None)["context"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_lifecycle_names_both_states() {
    let vector = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/image");
    let mut args = parse(&[]).unwrap();
    args.system = vector.join("blocks_sha384.hlk");
    let states = inspect_file(&args.system, &Boards::default())
        .unwrap()
        .manifest
        .unwrap()
        .lifecycle
        .join(", ");
    let state = Provisioning { lifecycle: Lifecycle::Returned, ..Provisioning::default() };
    let reason = Reason::LifecycleNotAllowed;
    let ending = Ending::Refused { stage: Stage::Loader, reason };
    let json = serde_json::to_value(failure(&args, None, &ending, Some(&state)).unwrap()).unwrap();
    let expected = format!("signed for {states}, and the device is in returned");
    assert_eq!(json["context"][1], expected);
}

#[test]
fn a_trap_names_the_payload() {
    let vector = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/image");
    let mut args = parse(&[]).unwrap();
    args.system = vector.join("blocks_sha384.hlk");
    let manifest = inspect_file(&args.system, &Boards::default()).unwrap().manifest.unwrap();
    let payload = &manifest.payloads[0];
    let line = trapped_in(&args, Some(payload.load_address + 4)).unwrap();
    assert!(line.contains(&format!("0x4 bytes into the {}", payload.payload_type)), "{line}");
    assert_eq!(trapped_in(&args, Some(0)), None);
    assert_eq!(trapped_in(&args, None), None);
    let ending = Ending::GuestStopped { reason: "trap: illegal instruction: hart 0".into() };
    let failure = failure(&args, None, &ending, None).unwrap();
    assert_eq!(failure.outcome(), Outcome::Undecided);
    assert!(failure.line().starts_with("the device trapped: illegal instruction"));
}

#[test]
fn whatever_is_no_answer_is_undecided() {
    let args = parse(&[]).unwrap();
    assert!(failure(&args, None, &Ending::Booted, None).is_none());
    for ending in [
        Ending::TimedOut,
        Ending::Interrupted,
        Ending::GuestStopped { reason: "guest-reset".into() },
        Ending::EmulatorFailed { stderr: String::new() },
    ] {
        assert_eq!(failure(&args, None, &ending, None).unwrap().outcome(), Outcome::Undecided);
    }
}

#[test]
fn a_boot_that_verified_nothing_is_not_praised() {
    let args = parse(&[]).unwrap();
    let mut report = booted(&args, &Ending::Booted);
    assert!(!report.text().contains("verified nothing"));
    let mut timeline = serde_json::to_value(&report.timeline).unwrap();
    timeline["stages"] = serde_json::json!([{
        "stage": "loader", "step": "handover", "payload": null, "bytes": 0, "harts": 1,
        "start": 0, "end": 9, "unit": "us"
    }]);
    report.timeline = hartlock_timeline::read(&timeline.to_string()).unwrap();
    assert!(report.text().contains("warning") && report.text().contains("verified nothing"));
}

#[test]
fn text_and_json_say_the_same() {
    let args = parse(&[]).unwrap();
    let report = booted(&args, &Ending::Booted);
    assert!(report.text().contains("booted") && report.outcome() == Outcome::Accepted);
    let refused = Ending::Refused { stage: Stage::Rom, reason: Reason::Truncated };
    let report = booted(&args, &refused);
    assert!(report.text().contains("refused") && report.outcome() == Outcome::Refused);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["booted"], &json["timeline"]["outcome"]), (&false.into(), &"refused".into()));
    assert_eq!(json["harts"][0]["pc"], "0x20000000");
    // These names are fields of the enclosing JSON object.
    for taken in ["schema", "outcome", "error", "failure"] {
        assert!(json.get(taken).is_none(), "{taken}");
    }
}

#[test]
fn silence_after_opensbi_is_told_from_other_silence() {
    const ENTERED: &str = "hartlock: ROM verified the boot bundle, entering OpenSBI";
    let rom = format!("hartlock: ROM\n{ENTERED}\n");
    for (transcript, is_silent) in [
        (rom.clone(), true),
        (format!("{rom}\n  \n"), true),
        (format!("{rom}\nOpenSBI v1.8.1\n"), false),
        (format!("{rom}\nhartlock: loader\n"), false),
        (format!("| {ENTERED}\n"), false),
        ("hartlock: ROM\n".to_string(), false),
        (String::new(), false),
    ] {
        assert_eq!(is_silent_after_opensbi(&transcript), is_silent, "{transcript:?}");
    }
}
