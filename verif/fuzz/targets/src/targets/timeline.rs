//! A measurement log from the memory of a machine whose Linux may have changed it, shown as table,
//! JSON and page.
//!
//! Rules: no output fails; no line of the table is longer than 80 characters; the page contains no
//! HTML tag from the log.

use hartlock_handoff::{LOG_ENTRY_SIZE, Log, LogHeader, Stage};
use hartlock_image::Reason;
use hartlock_timeline::Measurements;
use hartlock_timeline::Outcome;
use hartlock_timeline::report::Report;
use hartlock_timeline::{Look, MachineInfo, Timeline, chart, table};

use super::handover::entry;
use crate::choices::Choices;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let harts = 1 + choices.below(5) as u32;
    let icount = choices.rarely(2);
    let outcome = match choices.below(4) {
        0 => Outcome::Booted,
        1 => Outcome::TimedOut,
        2 => Outcome::Refused { stage: Stage::Loader, reason: choices.of(Reason::ALL) },
        _ => Outcome::GuestStopped { reason: "guest-reset".into() },
    };
    let memory = if choices.rarely(3) {
        choices.rest().to_vec()
    } else {
        let header = LogHeader { ticks_per_second: choices.number(), generation: choices.long() };
        let mut memory = vec![0; 24 * LOG_ENTRY_SIZE];
        let mut log = Log::start(&mut memory, &header);
        while !choices.is_empty() {
            log.push(&entry(&mut choices));
        }
        memory
    };
    let measured = Measurements::read(&memory, &memory);
    let machine = MachineInfo {
        emulator: "QEMU <10>".into(),
        cpu: "rv64".into(),
        harts,
        icount,
        counts_cycles: false,
    };
    let timeline = Timeline::new(&outcome, measured.as_ref(), machine);
    assert!(timeline.total() >= 0.0);
    for line in table(&timeline).lines() {
        assert!(line.len() <= 80, "{} characters: {line}", line.len());
    }
    for step in &timeline.stages {
        assert!(0.0 <= step.start && step.start <= step.end, "{step:?}");
        assert!(step.busy_percent().is_none_or(|percent| percent <= 100), "{step:?}");
    }
    for (columns, is_unicode) in [(80, true), (80, false), (40, true), (63, false), (200, true)] {
        for line in chart(&timeline, Look { columns, is_unicode }) {
            let line = line.to_string();
            assert!(line.chars().count() <= columns, "more than {columns} characters: {line}");
            assert!(!line.ends_with(' ') && !line.chars().any(char::is_control), "{line:?}");
        }
    }
    let json = serde_json::to_string(&timeline).expect("a timeline can be written");
    let read: serde_json::Value = serde_json::from_str(&json).expect("and read again");
    assert_eq!(read["stages"].as_array().map(Vec::len), Some(timeline.stages.len()));
    let steps = timeline.stages.len();
    let page = Report::of_one(timeline).to_html();
    assert!(page.ends_with("</html>\n") || page.ends_with("</html>"), "a whole page");
    assert!(page.len() < 40_000 + 4_000 * steps, "{} bytes for {steps} steps", page.len());
    assert!(!page.contains("QEMU <10>"), "text is escaped");
}
