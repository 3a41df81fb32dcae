//! `hartlock boot`

mod args;
mod causes;
mod chart;
mod device;
mod files;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hartlock_boards::Boards;
use hartlock_bundle::describe::Payload;
use hartlock_bundle::inspect::inspect_file;
use hartlock_bundle::reuse::harts_of_trees;
use hartlock_emulator::board::Emulated;
use hartlock_emulator::images::Provisioning;
use hartlock_emulator::machine::{self, HartState, Outcome as Ending, Run};
use hartlock_emulator::qemu::Config;
use hartlock_emulator::{Error as EmulatorError, Stage};
use hartlock_files::FileError;
use hartlock_image::Reason;
use hartlock_terminal as terminal;
use hartlock_timeline::{MachineInfo, Measurements, Timeline, table};
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::board::{self, Choice};
use crate::failure::{Failure, Outcome};
use crate::installation;
use crate::output::{Report, talk};
use crate::signer::missing_text;
use crate::style::{ERROR, GOOD, WARNING};
use files::Files;

pub use args::BootArgs;

/// Number of console lines that are printed after a failed boot if the console was not shown.
const LAST_LINES: usize = 8;
/// Prefix of the reason in the message of a device that stopped because of a trap.
const TRAP: &str = "trap: ";
/// Prefix of the console lines of boot stages (boot flow §7).
const FIRMWARE: &str = "hartlock:";

/// The result of a boot.
#[derive(Debug, Serialize)]
pub struct Booted {
    booted: bool,
    boot_bundle: PathBuf,
    system: PathBuf,
    /// Folder of the device, if it is kept.
    state: Option<PathBuf>,
    /// Elapsed real time in seconds, including the start of the emulator.
    host_seconds: f64,
    /// State of each hart at the end.
    harts: Vec<Hart>,
    timeline: Timeline,
    /// Protection of the board against devices that access memory themselves.
    devices: &'static str,
    /// True if the text for people shows the timeline as bars instead of a table.
    #[serde(skip)]
    shows_bars: bool,
    #[serde(skip)]
    failure: Option<Failure>,
}

#[derive(Debug, Serialize)]
struct Hart {
    hart: u64,
    /// Program counter in hexadecimal.
    pc: String,
}

impl Report for Booted {
    fn text(&self) -> String {
        let machine = &self.timeline.machine;
        let verdict = match self.outcome() {
            Outcome::Accepted | Outcome::WellFormed => format!("{GOOD}booted{GOOD:#}    "),
            Outcome::Refused | Outcome::Different => format!("{ERROR}refused{ERROR:#}   "),
            Outcome::Undecided => format!("{WARNING}undecided{WARNING:#} "),
        };
        let mut text = format!(
            "{verdict}  {}, {}\nmachine     {}, CPU {}, {} {}\ndevices     {}\n{}\n",
            terminal::path(&self.boot_bundle),
            terminal::path(&self.system),
            terminal::text(&machine.emulator),
            terminal::text(&machine.cpu),
            machine.harts,
            if machine.harts == 1 { "hart" } else { "harts" },
            self.devices,
            self.warning(),
        );
        text.push_str(&if self.shows_bars {
            chart::text(&self.timeline)
        } else {
            table(&self.timeline)
        });
        text
    }

    fn outcome(&self) -> Outcome {
        self.failure.as_ref().map_or(Outcome::Accepted, Failure::outcome)
    }

    fn failure(&self) -> Option<Failure> {
        self.failure.clone()
    }
}

impl Booted {
    /// Returns a warning if the boot verified nothing, so that it is not taken for a verified one.
    fn warning(&self) -> String {
        const WHAT: &str = "this firmware is built for measurements: it verified nothing";
        if self.timeline.verified_nothing() {
            format!("{WARNING}warning{WARNING:#}     {WHAT}\n")
        } else {
            String::new()
        }
    }
}

/// Boots the bundles.
pub fn run(args: &BootArgs) -> Result<Booted, Failure> {
    args.provisioning.check(args.root_keys.len())?;
    let mut boards = Boards::default();
    let own = args.board.file().map(|file| board::read(&mut boards, file)).transpose()?;
    let known = match (&own, &args.board) {
        (Some(own), _) => Some(own.as_ref()),
        (None, Choice::Name(name)) => boards.by_name(name),
        (None, Choice::File(_)) => None,
    };
    let known = known.ok_or_else(|| Failure::undecided("no board is known", "report this"))?;
    let emulated = Emulated::of(known).map_err(hartlock_bundle::Error::from)?;
    // QEMU counts instructions on one hart only.
    let harts = args.harts.unwrap_or(if args.icount { 1 } else { emulated.max_harts });
    let rom = args.rom()?;
    if args.rom.is_none() {
        talk(&format!("using the ROM {}", terminal::path(&rom)));
    }
    causes::check_rom(args, &rom)?;
    causes::check_swapped(args)?;
    causes::check_until(args)?;
    // Output files are created before the boot, so that a missing folder is reported at once.
    let files = Files::begin(args)?;
    let qemu = installation::qemu(args.qemu.as_deref())?;
    let interrupt = Arc::default();
    end_on_signals(&interrupt)?;
    let device = device::prepare(args, &rom, &known.map())?;
    let config = Config {
        machine: emulated.machine,
        memory_mib: emulated.memory_mib,
        max_harts: emulated.max_harts,
        harts,
        cpu: args.cpu.clone(),
        icount: args.icount,
        timeout: Duration::from_secs(args.timeout),
        interrupt,
        unless: not_executed(args),
        ..Config::new(device.rom_flash(), device.bundle_flash(), Some(device.disk()))
    };
    for (payload, mask) in harts_of_trees(&args.boot_bundle).unwrap_or_default() {
        if let Some(text) = missing_text(known, payload, harts, mask) {
            talk(&format!("{WARNING}warning{WARNING:#}: {text}"));
        }
    }
    let awaited = awaited(args);
    let run = machine::boot(&qemu, &config, awaited.as_deref(), &mut |line| {
        if !args.quiet || line.starts_with(FIRMWARE) {
            talk(&mark_console_line(line));
        }
    })?;
    let machine = MachineInfo {
        emulator: format!("QEMU {}", qemu.version()),
        cpu: config.cpu_option(),
        harts,
        icount: args.icount,
        counts_cycles: false,
    };
    let timeline = Timeline::new(&run.outcome, run.measurements.as_ref(), machine);
    files.finish(&timeline, &run.transcript)?;
    let state = device.state().ok().and_then(Result::ok).map(Provisioning::from);
    let mut failure = failure(args, awaited.as_deref(), &run.outcome, state.as_ref());
    if matches!(run.outcome, Ending::TimedOut)
        && is_silent_after_opensbi(&run.transcript)
        && let Some(earlier) = failure.take()
    {
        failure = Some(
            earlier
                .with_context(vec![format!(
                    "the ROM entered OpenSBI, and nothing was printed after that within {} s",
                    args.timeout
                )])
                .with_hint(AFTER_OPENSBI),
        );
    }
    if failure.as_ref().is_some_and(|failure| failure.outcome() == Outcome::Undecided)
        && run.measurements.as_ref().is_some_and(Measurements::is_handed_over)
    {
        let line = "the loader verified the system bundle, and entered the kernel".to_owned();
        failure = failure.map(|failure| failure.with_context(vec![line]));
    }
    if let Some((line, failure)) = trapped_in(args, run.trapped_at).zip(failure.as_mut()) {
        *failure = failure.clone().with_context(vec![line]);
    }
    if failure.as_ref().is_some_and(|failure| failure.outcome() == Outcome::Undecided) {
        explain(args, &run);
    }
    Ok(Booted {
        booted: timeline.booted,
        boot_bundle: args.boot_bundle.clone(),
        system: args.system.clone(),
        state: args.state.clone(),
        host_seconds: run.wall_time.as_secs_f64(),
        harts: run.harts.iter().map(Hart::new).collect(),
        timeline,
        devices: known.devices(),
        shows_bars: args.timeline,
        failure,
    })
}

/// Advice for a device that is silent after OpenSBI was entered.
const AFTER_OPENSBI: &str = "OpenSBI ends without a word if it cannot use what it is given: check that it is linked for the \
                             address of the board, and that `--boot-fdt` is the board's own `boot.dtb`; `hartlock verify` on \
                             the boot bundle looks at the kind of OpenSBI and at what the tree closes";

/// Returns true if nothing was printed after the line of the ROM that enters OpenSBI (boot flow §3.3).
fn is_silent_after_opensbi(transcript: &str) -> bool {
    let mut lines = transcript.lines().filter(|line| !line.trim().is_empty());
    lines
        .next_back()
        .is_some_and(|line| line.starts_with(FIRMWARE) && line.ends_with("entering OpenSBI"))
}

/// Registers signal handlers that end QEMU and remove temporary files. All work after a signal is limited in
/// time.
fn end_on_signals(interrupt: &Arc<AtomicBool>) -> Result<(), Failure> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::clone(interrupt)).map_err(|error| {
            Failure::undecided(format!("cannot handle signals: {error}"), "report this")
        })?;
    }
    Ok(())
}

/// Returns a console line of the device for printing. A line is marked unless it begins like those of
/// firmware. No line of this command begins so: without the mark a device could print a line that looks like
/// a verdict of the command.
fn mark_console_line(line: &str) -> Cow<'_, str> {
    if line.starts_with(FIRMWARE) { line.into() } else { format!("| {line}").into() }
}

/// Returns the text without which the device has not booted; `None` if it has to hand over and power off.
fn awaited(args: &BootArgs) -> Option<String> {
    let text = args
        .until
        .clone()
        .unwrap_or_else(|| format!("Run {} as init process", first_program(&bootargs(args))));
    Some(text).filter(|text| !text.is_empty())
}

/// The beginning of the line by which Linux says that it cannot execute the first program.
const NOT_EXECUTED: &str = "Failed to execute ";

/// Returns the text by which Linux takes back the default text, which it prints before it executes the first program
/// (Linux, init/main.c).
fn not_executed(args: &BootArgs) -> Option<String> {
    args.until.is_none().then(|| format!("{NOT_EXECUTED}{}", first_program(&bootargs(args))))
}

/// Returns the kernel command line. The bundle is not verified here: whoever changed it can only make this command wait
/// for another text.
fn bootargs(args: &BootArgs) -> String {
    let manifest = || inspect_file(&args.system, &Boards::default()).ok()?.manifest;
    manifest().and_then(|manifest| manifest.bootargs).unwrap_or_default()
}

/// Returns the first program of an initramfs under this kernel command line (Linux, kernel-parameters: rdinit). The
/// last option of that name counts, and what follows `--` is for the program.
fn first_program(bootargs: &str) -> &str {
    let options = bootargs.split_whitespace().map(|option| option.trim_matches('"'));
    let options = options.take_while(|option| *option != "--");
    options.filter_map(|option| option.strip_prefix("rdinit=")).last().unwrap_or("/init")
}

/// Returns the reason why a boot failed; `None` if it succeeded. `awaited` is the text that was waited for, and
/// `state` the state of the device, if it can be read.
fn failure(
    args: &BootArgs,
    awaited: Option<&str>,
    ending: &Ending,
    state: Option<&Provisioning>,
) -> Option<Failure> {
    Some(match ending {
        Ending::Booted => return None,
        Ending::Refused { stage, reason } => {
            let (bundle, name) = match stage {
                Stage::Rom => (&args.boot_bundle, "ROM"),
                Stage::Loader => (&args.system, "loader"),
            };
            let mut context = vec![format!("{}: refused by the {name}", bundle.display())];
            context.extend(state.and_then(|state| compared(*reason, bundle, *stage, state)));
            let cause = causes::find(args, *reason, *stage, state).unwrap_or_default();
            context.extend(cause.lines);
            let failure = Failure::refused(*reason, context);
            match cause.hint {
                Some(hint) => failure.with_hint(hint),
                None => failure,
            }
        }
        Ending::TimedOut => {
            let what =
                awaited.map_or("did not end".to_owned(), |text| format!("did not print `{text}`"));
            Failure::undecided(
                format!("the device {what} within {} s", args.timeout),
                "look at the end of the console output; allow more time with `--timeout`, or wait for \
                 another text with `--until`: a kernel with `quiet` does not print the default text",
            )
        }
        Ending::GuestStopped { reason } if awaited.is_some() && reason == "guest-shutdown" => {
            Failure::undecided(
                format!(
                    "the device powered off without printing `{}`",
                    awaited.unwrap_or_default()
                ),
                "look at the end of the console output; wait for a text that your system prints with \
                 `--until`, or, if powering off is all that it should do, write `--until \"\"`",
            )
        }
        Ending::GuestStopped { reason } if reason.starts_with(TRAP) => Failure::undecided(
            format!("the device trapped: {}", reason.trim_start_matches(TRAP)),
            "check that each payload is built for this board, and that `hartlock sign` accepts it \
             without `--force-type`",
        ),
        Ending::GuestStopped { reason } if reason.starts_with(NOT_EXECUTED) => Failure::undecided(
            format!("Linux printed `{reason}`: it entered no first program"),
            "look for the error number on the console: -2 is a file that the initramfs, or the program, lacks, -8 a program \
             for another machine, -13 one that is not executable",
        ),
        Ending::GuestStopped { reason } => Failure::undecided(
            format!("the device stopped before it had booted ({reason})"),
            "look at the end of the console output",
        ),
        Ending::Interrupted => Failure::undecided("the boot was interrupted", "run it again"),
        Ending::EmulatorFailed { stderr } => Failure::undecided(
            format!("QEMU exited unexpectedly: {}", stderr.lines().last().unwrap_or("no message")),
            "try another CPU or another QEMU",
        ),
    })
}

/// Returns the two values that the stage compared: that of the bundle and that of the device. The value of
/// the bundle was signed: for an invalid signature the stage would have given another reason.
fn compared(reason: Reason, bundle: &Path, stage: Stage, state: &Provisioning) -> Option<String> {
    let manifest = || inspect_file(bundle, &Boards::default()).ok()?.manifest;
    match reason {
        Reason::RollbackBelowFloor => {
            let floor = match stage {
                Stage::Rom => state.boot_floor,
                Stage::Loader => state.system_floor,
            };
            Some(format!("security version {}, floor {floor}", manifest()?.security_version))
        }
        Reason::LifecycleNotAllowed => Some(format!(
            "signed for {}, and the device is in {}",
            manifest()?.lifecycle.join(", "),
            state.lifecycle.name()
        )),
        _ => None,
    }
}

/// Returns the payload that contains the instruction that trapped.
fn trapped_in(args: &BootArgs, pc: Option<u64>) -> Option<String> {
    let pc = pc?;
    let mut payloads = [&args.system, &args.boot_bundle].into_iter().filter_map(|bundle| {
        let payloads = inspect_file(bundle, &Boards::default()).ok()?.manifest?.payloads;
        let at = |it: &Payload| {
            (it.load_address..it.load_address.saturating_add(it.memory_size)).contains(&pc)
        };
        Some((bundle, payloads.into_iter().find(at)?))
    });
    payloads.next().map(|(bundle, payload)| {
        let (name, bundle) = (payload.payload_type, bundle.display());
        format!("{pc:#x} is {:#x} bytes into the {name} of {bundle}", pc - payload.load_address)
    })
}

/// Prints details about a failure without a reason code: the last console lines, if they were not shown, and
/// the state of the harts.
fn explain(args: &BootArgs, run: &Run) {
    if args.quiet {
        let lines: Vec<_> = run.transcript.lines().collect();
        let start = lines.len().saturating_sub(LAST_LINES);
        lines.iter().skip(start).for_each(|line| talk(&mark_console_line(line)));
    }
    for hart in &run.harts {
        talk(&format!("hart {} stopped at {:#x}", hart.hart, hart.pc));
    }
}

impl Hart {
    fn new(state: &HartState) -> Self {
        Self { hart: state.hart, pc: format!("{:#x}", state.pc) }
    }
}

impl From<EmulatorError> for Failure {
    fn from(error: EmulatorError) -> Self {
        match error {
            EmulatorError::File { action, path, source } => {
                FileError { action, path, source }.into()
            }
            other => Failure::undecided(other.to_string(), other.hint()),
        }
    }
}

#[cfg(test)]
mod tests;
