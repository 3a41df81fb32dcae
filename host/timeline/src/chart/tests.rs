use super::*;
use crate::Outcome;
use crate::tests::{machine, timeline, with_kernels};

fn lines(timeline: &Timeline, columns: usize, is_unicode: bool) -> Vec<String> {
    chart(timeline, Look { columns, is_unicode }).iter().map(ToString::to_string).collect()
}

/// Compares lines with a stored file. `UPDATE=1 cargo test` in the folder of this crate writes the
/// file again.
fn expect(name: &str, found: &[String]) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/chart").join(name);
    let found = found.join("\n") + "\n";
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(found, expected, "{found}");
}

#[test]
fn charts_of_a_boot() {
    expect("boot-80.txt", &lines(&timeline(false, false), 80, true));
    expect("boot-80-ascii.txt", &lines(&timeline(false, false), 80, false));
    expect("boot-120.txt", &lines(&timeline(false, false), 120, true));
    expect("boot-120-ascii.txt", &lines(&timeline(false, false), 120, false));
}

#[test]
fn charts_of_a_refusal_and_of_counted_instructions() {
    expect("refused-80.txt", &lines(&timeline(true, false), 80, true));
    expect("counted-80.txt", &lines(&timeline(false, true), 80, true));
}

/// Returns timelines of all shapes: a measured one, a refused one, and ones with numbers that no
/// boot has.
fn shapes() -> Vec<Timeline> {
    let mut shapes = vec![timeline(false, false), timeline(true, false), timeline(false, true)];
    for factor in [0.0, 1e-6, 1e9] {
        let mut shape = timeline(false, false);
        for step in &mut shape.stages {
            (step.start, step.end) = (step.start * factor, step.end * factor);
        }
        shapes.push(shape);
    }
    // The intervals are pseudo-random and in any order; some are empty and some reversed.
    let mut state = 7u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64
    };
    for _ in 0..50 {
        let mut shape = timeline(false, false);
        for step in &mut shape.stages {
            (step.start, step.end) = (next(), next());
            step.busy = step.busy.map(|_| next());
            if next() < 3e6 {
                step.end = step.start;
            }
        }
        shapes.push(shape);
    }
    let mut shape = timeline(false, false);
    for step in &mut shape.stages {
        (step.stage, step.step) = ("a stage with a long name".into(), "é".repeat(50));
        (step.payload, step.bytes) = (Some("x".repeat(100)), u64::MAX);
        step.reason = Some("E".repeat(30));
    }
    shapes.push(shape);
    shapes.push(with_kernels(&[(3, 0b1, 0), (u32::MAX, 0b1, 0), (2, 0, 0)]));
    shapes
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    let wrong = with_kernels(&[(6, 0b100, 0b111), (u32::MAX, u64::MAX, u64::MAX)]);
    for shape in shapes().into_iter().chain([wrong]) {
        for columns in [40, 50, 63, 64, 80, 120, 200] {
            for is_unicode in [false, true] {
                for line in lines(&shape, columns, is_unicode) {
                    assert!(line.chars().count() <= columns, "{columns}: {line}");
                    assert_eq!(line, line.trim_end());
                }
            }
        }
    }
    // The minimum width is used for any smaller one.
    assert_eq!(lines(&timeline(false, false), 3, true), lines(&timeline(false, false), 40, true));
}

#[test]
fn bars_stay_in_their_columns() {
    for shape in shapes() {
        for columns in [40, 63, 64, 80, 120] {
            let look = Look { columns, is_unicode: true };
            let probe = Chart::new(&shape, look);
            let from = columns - TIME - 1 - probe.width;
            for line in chart(&shape, look) {
                let mut at = 0;
                for span in &line.0 {
                    let end = at + span.text.chars().count();
                    if span.kind.is_some() {
                        let is_inside = at >= from && end <= from + probe.width;
                        assert!(is_inside && end > at, "{columns}: {at} to {end}: {line}");
                    }
                    at = end;
                }
            }
        }
    }
}

#[test]
fn every_step_has_a_bar_however_short() {
    for shape in shapes() {
        for is_unicode in [false, true] {
            let lines = chart(&shape, Look { columns: 80, is_unicode });
            let bars = lines.iter().flat_map(|line| &line.0).filter(|span| span.kind.is_some());
            let of_steps = bars.filter(|span| !matches!(span.kind, Some(Kind::Stage | Kind::Gap)));
            let is_hidden = |part: &&StepRecord| {
                let is_same = |other: &&StepRecord| {
                    (&other.stage, &other.payload) == (&part.stage, &part.payload)
                };
                let all: Vec<_> = shape.stages.iter().filter(is_same).collect();
                let has_hash = all.iter().any(|step| step.step == "hash");
                part.is_part() && has_hash && all.iter().filter(|step| step.is_part()).count() == 1
            };
            let is_bar = |step: &&StepRecord| !is_hidden(step) && !step.is_note();
            let expected = shape.stages.iter().filter(is_bar).count();
            assert_eq!(of_steps.count(), expected);
        }
    }
}

#[test]
fn ascii_means_ascii() {
    for shape in [timeline(false, false), timeline(true, false), timeline(false, true)] {
        assert!(lines(&shape, 80, false).iter().all(|line| line.is_ascii()));
    }
}

#[test]
fn bars_stand_where_the_steps_were() {
    let timeline = timeline(false, false);
    let lines = lines(&timeline, 128, true);
    let row = |label: &str| lines.iter().find(|line| line.contains(label)).unwrap();
    // The bars have 90 columns for 2.012 seconds and begin in column 29. The kernel was read from
    // 433 to 900 ms.
    let read = row("read   29.8 MiB");
    let columns: Vec<usize> =
        read.chars().enumerate().filter(|(_, c)| "█▌▐".contains(*c)).map(|(at, _)| at).collect();
    assert_eq!((columns.first(), columns.last()), (Some(&(29 + 19)), Some(&(29 + 40))));
    assert!(read.ends_with("467 ms"), "{read}");
    // Busier harts have a darker shade and a higher percentage.
    for (hart, shade, busy) in
        [(0, '█', "95 %"), (1, '▓', "75 %"), (3, '▒', "35 %"), (4, '░', "15 %")]
    {
        let hart = row(&format!("hart {hart}"));
        assert!(hart.contains(shade) && hart.ends_with(busy), "{hart}");
    }
}

#[test]
fn the_time_base_is_stated() {
    for (icount, base) in [(false, "emulator"), (true, "retired instructions")] {
        let text = lines(&timeline(false, icount), 80, true).join(" ");
        assert!(text.contains(base) && text.contains("not the time of any board"), "{text}");
    }
}

#[test]
fn a_wrong_answer_of_a_kernel_has_the_colour_of_a_refusal() {
    let look = Look { columns: 80, is_unicode: true };
    let lines = chart(&with_kernels(&[(3, 1, 0), (6, 2, 1)]), look);
    let wrong = lines.iter().find(|line| line.to_string().starts_with("WRONG ANSWER")).unwrap();
    assert_eq!(wrong.0[0].kind, Some(Kind::Refusal));
    let quiet = lines.iter().find(|line| line.to_string().contains("no zbb")).unwrap();
    assert_eq!(quiet.to_string(), "hash implementation portable; hart 0 has no zbb");
    assert_eq!(quiet.0[0].kind, None);
    // The notes have no bar.
    assert_eq!(lines.len(), chart(&timeline(false, false), look).len() + 1);
}

#[test]
fn a_boot_without_a_log_has_no_chart() {
    let timeline = Timeline::new(&Outcome::TimedOut, None, machine(false));
    assert_eq!(lines(&timeline, 80, true), ["no measurement log"]);
}
