//! Tests of machines under QEMU, with guests of a few instructions. Without QEMU 10 they are
//! skipped.

mod guest;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use guest::{Guest, POWER_OFF, RESET, emulator};
use hartlock_emulator::Error;
use hartlock_emulator::machine::{Machine, Outcome, Run, Stop, boot};
use hartlock_emulator::qemu::{Config, Qemu};
use hartlock_handoff::{Entry, Log, LogHeader, Stage, Step};
use hartlock_image::Reason;
use hartlock_maps::qemu_virt as map;

const REFUSAL: &str = "hartlock: rom refused: E0301 A signature does not verify.\r\n\
                       hartlock: hint: Get the bundle again.\r\n";

/// The timeout, which only ends a machine that hangs, except where a test waits for it.
const HANG: Duration = Duration::from_secs(60);

fn run(qemu: &Qemu, config: &Config, until: Option<&str>) -> (Run, Vec<String>) {
    let mut lines = Vec::new();
    let run = boot(qemu, config, until, &mut |line| lines.push(line.to_owned())).unwrap();
    (run, lines)
}

/// Returns true if the process exists. Signal 0 also reaches a process that has ended and that its
/// parent has not waited for.
fn is_alive(process_id: u32) -> bool {
    let number = process_id.to_string();
    Command::new("kill").args(["-0", &number]).stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn a_refusal_ends_the_boot_with_its_reason_and_its_hint() {
    let Some((qemu, folder)) = emulator() else { return };
    let config = Config { timeout: HANG, ..Guest::default().print(REFUSAL).config(folder.path()) };
    let (run, lines) = run(&qemu, &config, Some("never printed"));
    let reason = Reason::SignatureMismatch;
    assert_eq!(run.outcome, Outcome::Refused { stage: Stage::Rom, reason });
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[1], "hartlock: hint: Get the bundle again.");
    assert!(run.transcript.starts_with("hartlock: rom refused"));
    assert_eq!(run.measurements, None);
    let [hart] = run.harts[..] else { panic!("{:?}", run.harts) };
    let start = map::ROM_FLASH.start;
    assert!((start..start + 0x1000).contains(&hart.pc), "{hart:x?}");
}

#[test]
fn a_silent_guest_runs_into_its_time_limit_and_is_gone() {
    let Some((qemu, folder)) = emulator() else { return };
    let timeout = Duration::from_secs(2);
    let config = Config { timeout, ..Guest::default().config(folder.path()) };
    let mut machine = Machine::start(&qemu, &config).unwrap();
    let process_id = machine.process_id();
    assert!(is_alive(process_id));
    let stop = machine.run_until(Some("never printed"), &mut |_| {});
    assert_eq!(stop, Stop::TimedOut);
    let run = machine.finish(stop, &mut |_| {});
    assert_eq!((run.outcome, run.transcript.as_str()), (Outcome::TimedOut, ""));
    assert!(!is_alive(process_id));
}

#[test]
fn a_dropped_machine_is_gone() {
    let Some((qemu, folder)) = emulator() else { return };
    let machine = Machine::start(&qemu, &Guest::default().config(folder.path())).unwrap();
    let process_id = machine.process_id();
    assert!(is_alive(process_id));
    drop(machine);
    assert!(!is_alive(process_id));
}

#[test]
fn what_is_typed_reaches_the_guest_and_its_answer_is_found() {
    let Some((qemu, folder)) = emulator() else { return };
    let guest = Guest::default().print("login: ").wait_for_input().print("welcome\n# ");
    let config = Config { timeout: HANG, ..guest.config(folder.path()) };
    let mut machine = Machine::start(&qemu, &config).unwrap();
    let mut lines = Vec::new();
    let mut keep = |line: &str| lines.push(line.to_owned());
    assert_eq!(machine.run_until(Some("login: "), &mut keep), Stop::Found);
    machine.send("root\n").unwrap();
    let stop = machine.run_until(Some("# "), &mut keep);
    assert_eq!(stop, Stop::Found);
    assert_eq!(machine.finish(stop, &mut keep).outcome, Outcome::Booted);
    assert_eq!(lines, ["login: welcome", "# "]);
}

#[test]
fn a_text_can_be_taken_back_by_another() {
    let Some((qemu, folder)) = emulator() else { return };
    let run_on = |guest: Guest, unless: &str| {
        let unless = Some(unless.to_owned());
        let config = Config { timeout: HANG, unless, ..guest.config(folder.path()) };
        let mut machine = Machine::start(&qemu, &config).unwrap();
        let stop = machine.run_until(Some("Run it"), &mut |_| {});
        machine.finish(stop, &mut |_| {}).outcome
    };
    let run = |text: &str, unless: &str| run_on(Guest::default().print(text), unless);
    let denied = Outcome::GuestStopped { reason: "Failed to".to_owned() };
    assert_eq!(run("Run it\nFailed to do so\n", "Failed to"), denied);
    assert_eq!(run("Run it\nIt ran\n", "Failed to"), Outcome::Booted);
    let powers_off = Guest::default().print("Run it\nFailed to do so\n").end(POWER_OFF);
    assert_eq!(run_on(powers_off, "Failed to"), denied);
    // What was printed before the text says nothing about it.
    assert_eq!(run("Failed to wait\nRun it\n", "Failed to"), Outcome::Booted);
}

#[test]
fn the_measurement_log_is_read_after_the_guest_powered_off() {
    let Some((qemu, folder)) = emulator() else { return };
    let mut memory = [0; 512];
    let mut log = Log::start(&mut memory, &LogHeader { ticks_per_second: 10, generation: 9 });
    log.push(&Entry { time: (1, 5), ..Entry::new(Stage::Loader, Step::Handover) });
    let guest = Guest::default().store(&memory, 0x8012_0000).print("bye\n").end(POWER_OFF);
    let config = Config { timeout: HANG, ..guest.config(folder.path()) };
    let (run, lines) = run(&qemu, &config, None);
    assert_eq!(run.outcome, Outcome::Booted);
    assert_eq!(lines, ["bye"]);
    let measurements = run.measurements.unwrap();
    assert_eq!(measurements.header.generation, 9);
    assert_eq!(measurements.entries[0].time, (1, 5));
    assert_eq!(run.handoff, None);
}

#[test]
fn a_reset_ends_the_machine_and_is_no_boot() {
    let Some((qemu, folder)) = emulator() else { return };
    let guest = Guest::default().print("again\n").end(RESET);
    let config = Config { timeout: HANG, ..guest.config(folder.path()) };
    let (run, lines) = run(&qemu, &config, Some("never printed"));
    assert_eq!(run.outcome, Outcome::GuestStopped { reason: "guest-reset".into() });
    assert_eq!(lines, ["again"]);
}

#[test]
fn instructions_can_be_counted_and_options_added() {
    let Some((qemu, folder)) = emulator() else { return };
    let socket = folder.path().join("gdb");
    let config = Config {
        timeout: HANG,
        icount: true,
        cpu: "max".into(),
        legacy_virtio: Some(false),
        extra: vec!["-gdb".into(), format!("unix:{},server=on,wait=off", socket.display()).into()],
        ..Guest::default().print("ready\n").config(folder.path())
    };
    let mut machine = Machine::start(&qemu, &config).unwrap();
    assert_eq!(machine.run_until(Some("ready"), &mut |_| {}), Stop::Found);
    assert!(socket.exists());
}

#[test]
fn an_emulator_that_ends_says_why() {
    let Some((qemu, folder)) = emulator() else { return };
    let guest = Guest::default().config(folder.path());
    let config = Config { timeout: HANG, cpu: "abacus".into(), ..guest };
    let (run, _) = run(&qemu, &config, None);
    let Outcome::EmulatorFailed { stderr } = run.outcome else { panic!("{:?}", run.outcome) };
    assert!(stderr.contains("abacus"), "{stderr}");
}

#[test]
fn an_impossible_machine_is_an_error() {
    let Some((qemu, folder)) = emulator() else { return };
    let config = Config { harts: 9, ..Guest::default().config(folder.path()) };
    assert!(matches!(Machine::start(&qemu, &config), Err(Error::Configuration(_))));
}

#[test]
fn an_interrupt_ends_the_machine_early() {
    let Some((qemu, folder)) = emulator() else { return };
    let guest = Guest::default().print("ready\n");
    let config = Config { timeout: Duration::from_secs(600), ..guest.config(folder.path()) };
    let mut machine = Machine::start(&qemu, &config).unwrap();
    let process_id = machine.process_id();
    let interrupt = Arc::clone(&config.interrupt);
    let mut on_line = |_: &str| interrupt.store(true, Ordering::Relaxed);
    let stop = machine.run_until(Some("never printed"), &mut on_line);
    assert_eq!(stop, Stop::Interrupted);
    assert_eq!(machine.finish(stop, &mut |_| {}).outcome, Outcome::Interrupted);
    assert!(!is_alive(process_id));
}
