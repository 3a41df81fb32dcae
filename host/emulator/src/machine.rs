//! A running device: its console, its memory, and its outcome.

mod process;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hartlock_handoff::{HANDOFF_SIZE, Handoff};
use hartlock_maps::qemu_virt;
use hartlock_timeline::Measurements;
pub use hartlock_timeline::Outcome;
use hartlock_verify::board::Region;
use serde_json::{Value, json};

use crate::Error;
use crate::console::{Console, Refusal, Trap};
use crate::qemu::{Config, Qemu};
use crate::qmp::Message;
use process::{Event, Process};

/// Time in which a text that was found can be taken back.
const AFTER_TEXT: Duration = Duration::from_millis(500);

/// The time to wait after a refusal, in which the loader still prints its hint.
const AFTER_REFUSAL: Duration = Duration::from_millis(300);
/// The time to wait for the rest of a line whose beginning was read. A prompt has no rest.
const REST_OF_LINE: Duration = Duration::from_millis(50);
/// Maximum time until an interrupt is noticed.
const INTERRUPT_TIME: Duration = Duration::from_millis(100);
/// The timeout for an answer of QEMU, which normally answers at once.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// The state of a hart when the machine was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HartState {
    /// The number of the hart.
    pub hart: u64,
    /// The program counter.
    pub pc: u64,
}

/// The information about a boot that is collected at its end.
#[derive(Debug)]
pub struct Run {
    /// The outcome.
    pub outcome: Outcome,
    /// The output of the console.
    pub transcript: String,
    /// The measurements of the boot stages.
    pub measurements: Option<Measurements>,
    /// The hand-off block that the ROM passed to the loader.
    pub handoff: Option<Handoff>,
    /// The address of the instruction that caused an unhandled trap, if the console shows it.
    pub trapped_at: Option<u64>,
    /// The states of the harts.
    pub harts: Vec<HartState>,
    /// The time from the start of QEMU to its end, in real time of the workstation. It says nothing
    /// about the time on a board.
    pub wall_time: Duration,
}

/// The reason why [`Machine::run_until`] returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The text was printed.
    Found,
    /// A boot stage printed a refusal.
    Refused(Refusal),
    /// The guest ended; the value is the reason that QEMU reports.
    Stopped(String),
    /// QEMU ended.
    Exited,
    /// Software caused an unhandled trap.
    Trapped(Trap),
    /// The time limit was exceeded.
    TimedOut,
    /// [`Config::interrupt`] was set.
    Interrupted,
}

/// A running machine. It is killed when it is dropped.
#[derive(Debug)]
pub struct Machine {
    process: Process,
    console: Console,
    started: Instant,
    deadline: Instant,
    interrupt: Arc<AtomicBool>,
    /// The reason that QEMU reported for the end of the guest.
    shutdown: Option<String>,
    /// True if [`Machine::run_until`] last waited for a text.
    is_waiting_for_text: bool,
    has_exited: bool,
    /// [`Config::unless`].
    unless: Option<String>,
    answers: Vec<(u64, Result<Value, String>)>,
}

impl Machine {
    /// Starts a machine. If the system supports it, QEMU is killed when the calling thread ends for
    /// any reason.
    ///
    /// # Errors
    /// If QEMU cannot be started, or if QEMU cannot run the machine that `config` describes. If
    /// QEMU ends after its start, that is not an error of this function but an outcome.
    pub fn start(qemu: &Qemu, config: &Config) -> Result<Self, Error> {
        let started = Instant::now();
        let deadline = started + config.timeout;
        let mut machine = Self {
            process: Process::start(qemu, config, deadline)?,
            console: Console::default(),
            started,
            deadline,
            interrupt: Arc::clone(&config.interrupt),
            shutdown: None,
            is_waiting_for_text: false,
            has_exited: false,
            unless: config.unless.clone(),
            answers: Vec::new(),
        };
        // The guest has not executed an instruction yet, so no event is missed.
        let commands: &[_] =
            if config.is_held { &["qmp_capabilities"] } else { &["qmp_capabilities", "cont"] };
        for command in commands {
            if machine.process.is_connected()
                && let Err(why) = machine.command(command, Value::Null)
                && !machine.has_exited
            {
                return Err(Error::NoAnswer(why));
            }
        }
        Ok(machine)
    }

    /// Runs the machine until `text` is printed, a boot stage refuses, the machine ends, or the
    /// time limit is exceeded. Each complete line is passed to `on_line`.
    pub fn run_until(&mut self, text: Option<&str>, on_line: &mut dyn FnMut(&str)) -> Stop {
        self.is_waiting_for_text = text.is_some();
        let stop = loop {
            self.show(on_line);
            // This is checked first, because a signal from the terminal reaches QEMU too, which
            // then ends.
            if self.interrupt.load(Ordering::Relaxed) {
                break Stop::Interrupted;
            }
            if let Some(refusal) = self.console.refusal() {
                self.linger(AFTER_REFUSAL, on_line);
                break Stop::Refused(refusal);
            }
            if text.is_some_and(|text| self.console.find(text)) {
                self.end_line(on_line);
                break self.taken_back(on_line).map_or(Stop::Found, Stop::Stopped);
            }
            if let Some(trap) = self.console.trap().cloned() {
                self.linger(AFTER_REFUSAL, on_line);
                break Stop::Trapped(trap);
            }
            if let Some(reason) = &self.shutdown {
                let reason = reason.clone();
                // The last output may not have been received yet.
                self.linger(Duration::from_millis(50), on_line);
                match (self.console.refusal(), text.is_some_and(|text| self.console.find(text))) {
                    (Some(refusal), _) => break Stop::Refused(refusal),
                    (None, true) => {
                        break self.taken_back(on_line).map_or(Stop::Found, Stop::Stopped);
                    }
                    (None, false) => break Stop::Stopped(reason),
                }
            }
            if self.has_exited {
                break Stop::Exited;
            }
            let look_again = Instant::now() + INTERRUPT_TIME;
            if !self.step(self.deadline.min(look_again)) && Instant::now() >= self.deadline {
                break Stop::TimedOut;
            }
        };
        self.show(on_line);
        stop
    }

    /// Sends `text` to the console as input.
    ///
    /// # Errors
    /// If QEMU has ended.
    pub fn send(&mut self, text: &str) -> Result<(), Error> {
        self.process.type_text(text).map_err(|error| Error::NoAnswer(error.to_string()))
    }

    /// Returns the process id of QEMU.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Reads a region of physical memory.
    ///
    /// # Errors
    /// If QEMU does not answer, or the file that it writes cannot be read.
    pub fn read_memory(&mut self, region: &Region) -> Result<Vec<u8>, Error> {
        let path = self.process.folder().join("memory");
        let arguments = json!({ "val": region.start, "size": region.size(), "filename": path });
        self.command("pmemsave", arguments).map_err(Error::NoAnswer)?;
        std::fs::read(&path).map_err(|source| Error::file("read", &path, source))
    }

    /// Ends the machine and collects the information about the boot.
    pub fn finish(mut self, stop: Stop, on_line: &mut dyn FnMut(&str)) -> Run {
        // The CPUs are stopped first, because some of them write to memory as long as they run.
        let is_alive = !self.has_exited && self.command("stop", Value::Null).is_ok();
        let (mut log, mut handoff, mut harts) = (Vec::new(), Vec::new(), Vec::new());
        if is_alive {
            log = self.read_memory(&qemu_virt::LOG).unwrap_or_default();
            handoff = self.read_memory(&qemu_virt::HANDOFF).unwrap_or_default();
            handoff.truncate(HANDOFF_SIZE);
            harts = self.harts();
        }
        let wall_time = self.started.elapsed();
        let stderr = self.quit();
        self.console.close();
        self.show(on_line);
        let measurements = Measurements::read(&log, &handoff);
        Run {
            outcome: decide(stop, self.is_waiting_for_text, measurements.as_ref(), stderr),
            transcript: self.console.transcript(),
            measurements,
            handoff: Handoff::parse(&handoff).ok(),
            trapped_at: self.console.trap().and_then(Trap::pc),
            harts,
            wall_time,
        }
    }

    /// Returns the state of each hart. A hart whose state cannot be read is left out, because no
    /// decision depends on it.
    pub fn harts(&mut self) -> Vec<HartState> {
        let Ok(cpus) = self.command("query-cpus-fast", Value::Null) else { return Vec::new() };
        let mut harts = Vec::new();
        for hart in
            cpus.as_array().into_iter().flatten().filter_map(|cpu| cpu["cpu-index"].as_u64())
        {
            let command = json!({ "command-line": "info registers", "cpu-index": hart });
            let Ok(text) = self.command("human-monitor-command", command) else { continue };
            let pc = text.as_str().and_then(program_counter);
            harts.extend(pc.map(|pc| HartState { hart, pc }));
        }
        harts
    }

    /// Returns the registers of a hart, those of its modes included, as they are printed: every number of 64 bits.
    ///
    /// # Errors
    /// If QEMU does not answer.
    pub fn registers(&mut self, hart: u64) -> Result<Vec<u64>, Error> {
        let command = json!({ "command-line": "info registers", "cpu-index": hart });
        let text = self.command("human-monitor-command", command).map_err(Error::NoAnswer)?;
        let numbers = text.as_str().unwrap_or_default().split_whitespace();
        Ok(numbers
            .filter(|number| number.len() == 16)
            .filter_map(|number| u64::from_str_radix(number, 16).ok())
            .collect())
    }

    /// Requests QEMU to end, kills it if it does not, and returns its error output.
    fn quit(&mut self) -> String {
        if !self.has_exited && self.command("quit", Value::Null).is_ok() {
            let until = Instant::now() + ANSWER_TIME;
            while !self.has_exited && self.step(until) {}
        }
        self.process.end();
        self.process.error_output()
    }

    /// Sends a command and waits for its result. Events that arrive meanwhile are processed.
    fn command(&mut self, command: &str, arguments: Value) -> Result<Value, String> {
        let id = self.process.command(command, &arguments).map_err(|error| error.to_string())?;
        let until = Instant::now() + ANSWER_TIME;
        loop {
            if let Some(at) = self.answers.iter().position(|(answered, _)| *answered == id) {
                return self.answers.swap_remove(at).1;
            }
            if self.has_exited {
                return Err("it has ended".to_owned());
            }
            if !self.step(until) {
                return Err(format!("no answer to {command}"));
            }
        }
    }

    fn show(&mut self, on_line: &mut dyn FnMut(&str)) {
        while let Some(line) = self.console.next_line() {
            on_line(&line);
        }
    }

    fn linger(&mut self, time: Duration, on_line: &mut dyn FnMut(&str)) {
        let until = self.deadline.min(Instant::now() + time);
        while !self.has_exited && self.step(until) {
            self.show(on_line);
        }
    }

    /// Waits for a short time for the text that takes back the one that was found, and returns it if it was printed.
    fn taken_back(&mut self, on_line: &mut dyn FnMut(&str)) -> Option<String> {
        let text = self.unless.clone()?;
        let until = self.deadline.min(Instant::now() + AFTER_TEXT);
        let mut is_printed = self.console.find(&text);
        while !is_printed && !self.has_exited && self.step(until) {
            is_printed = self.console.find(&text);
            self.show(on_line);
        }
        is_printed.then(|| {
            self.end_line(on_line);
            text
        })
    }

    /// Waits for a short time for the end of an incomplete line.
    fn end_line(&mut self, on_line: &mut dyn FnMut(&str)) {
        let until = self.deadline.min(Instant::now() + REST_OF_LINE);
        let mut has_ended = false;
        while self.console.is_inside_line() && !has_ended && !self.has_exited && self.step(until) {
            self.show(&mut |line| {
                has_ended = true;
                on_line(line);
            });
        }
    }

    /// Waits for the next event and processes it. Returns false if there was none before `until`.
    fn step(&mut self, until: Instant) -> bool {
        let Some(event) = self.process.next_event(until) else { return false };
        match event {
            Event::Console(bytes) => self.console.push(&bytes),
            Event::Control(Message::Shutdown { reason }) => {
                self.shutdown.get_or_insert(reason);
            }
            Event::Control(Message::Answer { id, result }) => self.answers.push((id, result)),
            Event::Control(Message::Greeting | Message::Other) => {}
            Event::Exited => self.has_exited = true,
        }
        // This check ends the caller's loop at its deadline even if the guest prints without a
        // pause.
        Instant::now() < until
    }
}

/// Starts a machine, runs it until `until` is printed or the boot ends in another way, and collects
/// the information about it. Without `until`, the machine runs until the guest ends or the time
/// limit is exceeded.
///
/// # Errors
/// The errors of [`Machine::start`].
pub fn boot(
    qemu: &Qemu,
    config: &Config,
    until: Option<&str>,
    on_line: &mut dyn FnMut(&str),
) -> Result<Run, Error> {
    let mut machine = Machine::start(qemu, config)?;
    let stop = machine.run_until(until, on_line);
    Ok(machine.finish(stop, on_line))
}

/// Determines the outcome from the end of the run and from the measurement log. With a text that was waited for,
/// only that text is success: a system that ends before it has printed the text has not done what the caller asked.
fn decide(
    stop: Stop,
    is_waiting_for_text: bool,
    measurements: Option<&Measurements>,
    stderr: String,
) -> Outcome {
    let logged = measurements.and_then(Measurements::refusal);
    let is_handed_over = measurements.is_some_and(Measurements::is_handed_over);
    match (stop, logged) {
        // After the hand-over, a printed refusal comes from the system and not from a boot stage.
        (Stop::Refused(_), _) if is_handed_over => {
            Outcome::GuestStopped { reason: "refusal printed by the system itself".to_owned() }
        }
        (Stop::Refused(Refusal { stage, reason }), _) => Outcome::Refused { stage, reason },
        // The console may be silent or lose a line, and the text may be a part of the line of a refusal.
        (Stop::Found | Stop::Stopped(_) | Stop::TimedOut, Some((stage, reason))) => {
            Outcome::Refused { stage, reason }
        }
        (Stop::Found, None) => Outcome::Booted,
        (Stop::Stopped(reason), None)
            if is_handed_over && !is_waiting_for_text && reason == "guest-shutdown" =>
        {
            Outcome::Booted
        }
        (Stop::Stopped(reason), None) => Outcome::GuestStopped { reason },
        (Stop::Trapped(trap), _) => Outcome::GuestStopped { reason: format!("trap: {trap}") },
        (Stop::TimedOut, None) => Outcome::TimedOut,
        (Stop::Interrupted, _) => Outcome::Interrupted,
        (Stop::Exited, _) => Outcome::EmulatorFailed { stderr },
    }
}

/// Finds the line ` pc  ffffffff80001234` in the register dump of the monitor.
fn program_counter(text: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.trim().strip_prefix("pc "))?;
    u64::from_str_radix(rest.trim(), 16).ok()
}

#[cfg(test)]
mod tests;
