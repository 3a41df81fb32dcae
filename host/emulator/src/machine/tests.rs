use super::*;
use hartlock_handoff::{Entry, LogHeader, Stage, Step};
use hartlock_image::Reason;
use hartlock_timeline::Source;

fn measured(entries: Vec<Entry>) -> Measurements {
    let header = LogHeader { ticks_per_second: 10, generation: 1 };
    Measurements { source: Source::Log, header, entries }
}

const REFUSAL: Refusal = Refusal { stage: Stage::Rom, reason: Reason::SignatureMismatch };

fn refused() -> Outcome {
    Outcome::Refused { stage: Stage::Rom, reason: Reason::SignatureMismatch }
}

fn decide_on(stop: Stop, measurements: Option<&Measurements>) -> Outcome {
    decide(stop, false, measurements, "complaint".to_owned())
}

#[test]
fn without_a_log_the_console_is_believed() {
    assert_eq!(decide_on(Stop::Found, None), Outcome::Booted);
    assert_eq!(decide_on(Stop::Refused(REFUSAL), None), refused());
    assert_eq!(decide_on(Stop::TimedOut, None), Outcome::TimedOut);
    let stopped = Outcome::GuestStopped { reason: "guest-shutdown".to_owned() };
    assert_eq!(decide_on(Stop::Stopped("guest-shutdown".to_owned()), None), stopped);
    let failed = Outcome::EmulatorFailed { stderr: "complaint".to_owned() };
    assert_eq!(decide_on(Stop::Exited, None), failed);
}

#[test]
fn a_refusal_in_the_log_needs_no_console() {
    let log = measured(vec![Entry { reason: 301, ..Entry::new(Stage::Rom, Step::Refusal) }]);
    // The text `hartlock: rom` is found in the line of the refusal before that line ends.
    for stop in [Stop::TimedOut, Stop::Stopped("guest-reset".to_owned()), Stop::Found] {
        assert_eq!(decide_on(stop, Some(&log)), refused());
    }
}

#[test]
fn a_system_that_prints_a_refusal_has_not_been_refused() {
    let log = measured(vec![Entry::new(Stage::Loader, Step::Handover)]);
    let outcome = decide_on(Stop::Refused(REFUSAL), Some(&log));
    assert!(matches!(outcome, Outcome::GuestStopped { .. }), "{outcome:?}");
}

#[test]
fn a_system_that_ends_by_itself_has_booted_only_after_the_handover() {
    let log = measured(vec![Entry::new(Stage::Loader, Step::Handover)]);
    let stop = |reason: &str| Stop::Stopped(reason.to_owned());
    assert_eq!(decide_on(stop("guest-shutdown"), Some(&log)), Outcome::Booted);
    let reset = Outcome::GuestStopped { reason: "guest-reset".to_owned() };
    assert_eq!(decide_on(stop("guest-reset"), Some(&log)), reset);
    let early = measured(vec![Entry::new(Stage::Loader, Step::Start)]);
    assert_ne!(decide_on(stop("guest-shutdown"), Some(&early)), Outcome::Booted);
}

#[test]
fn a_system_that_ends_without_the_text_has_not_booted() {
    let log = measured(vec![Entry::new(Stage::Loader, Step::Handover)]);
    let stop = || Stop::Stopped("guest-shutdown".to_owned());
    let stopped = Outcome::GuestStopped { reason: "guest-shutdown".to_owned() };
    assert_eq!(decide(stop(), true, Some(&log), String::new()), stopped);
    assert_eq!(decide(Stop::Found, true, Some(&log), String::new()), Outcome::Booted);
}

#[test]
fn program_counters_are_read_from_the_list_of_registers() {
    let text = "CPU#0\n V      =   0\n pc       0000000020000010\n mhartid  0000000000000000\n";
    assert_eq!(program_counter(text), Some(0x2000_0010));
    assert_eq!(program_counter("mepc 00\n"), None);
}

/// Makes a program that replaces QEMU: it prints its output in pieces and ends before it connects.
fn printer(folder: &std::path::Path, script: &str) -> (Qemu, Config) {
    use std::os::unix::fs::PermissionsExt;
    let program = folder.join("printer");
    let version = "[ \"$1\" = --version ] && echo 'QEMU emulator version 10.0.13' && exit";
    std::fs::write(&program, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let file = || folder.join("none");
    (Qemu::find(Some(&program)).unwrap(), Config::new(file(), file(), None))
}

#[test]
fn the_line_that_was_waited_for_is_shown_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "printf 'one\\nup on 5 ha'; sleep 0.1; printf 'rts: Li'; sleep 0.1; printf 'nux 6.12\\n'
        sleep 0.1; printf 'later\\n'";
    let (qemu, config) = printer(folder.path(), script);
    let mut lines = Vec::new();
    let mut machine = Machine::start(&qemu, &config).unwrap();
    let stop = machine.run_until(Some("up on"), &mut |line| lines.push(line.to_owned()));
    assert_eq!(
        (stop, lines),
        (Stop::Found, vec!["one".into(), "up on 5 harts: Linux 6.12".into()])
    );
}
