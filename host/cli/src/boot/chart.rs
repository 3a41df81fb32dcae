//! Draws the timeline as bars for the terminal.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use hartlock_timeline::{Kind, Look, Timeline, chart};

use crate::page;
use crate::style::DIM;

/// Returns the chart for the standard output. Colours are removed on printing if the output does not support
/// them.
pub(super) fn text(timeline: &Timeline) -> String {
    let is_unicode = is_utf8(&|name| std::env::var(name).ok());
    painted(timeline, Look { columns: page::width(), is_unicode })
}

fn painted(timeline: &Timeline, look: Look) -> String {
    let mut text = String::new();
    for line in chart(timeline, look) {
        for span in &line.0 {
            let style = span.kind.map_or(Style::new(), style);
            let _ = write!(text, "{style}{}{style:#}", span.text);
        }
        text.push('\n');
    }
    text
}

/// Returns the style of a kind of step: the colours of the page, as far as terminals have them.
fn style(kind: Kind) -> Style {
    let colour = match kind {
        Kind::Signature => AnsiColor::Magenta,
        Kind::Read => AnsiColor::Blue,
        Kind::Hash => AnsiColor::Yellow,
        Kind::Verdict => AnsiColor::Green,
        Kind::Harts | Kind::Handover => AnsiColor::Cyan,
        Kind::Refusal => AnsiColor::Red,
        Kind::Start | Kind::Stage | Kind::Gap => return DIM,
    };
    colour.on_default()
}

/// Returns true if the locale uses UTF-8. The first of these variables that is set determines the locale
/// (POSIX).
fn is_utf8(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_is_that_of_the_first_variable_that_is_set() {
        for (all, ctype, lang, expected) in [
            ("", "", "", false),
            ("C", "", "en_US.UTF-8", false),
            ("", "", "de_DE.utf8", true),
            ("", "C.UTF-8", "C", true),
            ("POSIX", "C.UTF-8", "C.UTF-8", false),
        ] {
            let variable = |name: &str| {
                let value = match name {
                    "LC_ALL" => all,
                    "LC_CTYPE" => ctype,
                    _ => lang,
                };
                Some(value.to_owned())
            };
            assert_eq!(is_utf8(&variable), expected, "{all} {ctype} {lang}");
        }
        assert!(!is_utf8(&|_| None));
    }

    /// Returns a timeline with three steps of different kinds.
    fn timeline() -> Timeline {
        let step = |step: &str, start: u32| {
            serde_json::json!({
                "stage": "loader", "step": step, "payload": "kernel", "bytes": 4096, "harts": 1,
                "start": start, "end": start + 50, "unit": "us"
            })
        };
        let json = serde_json::json!({
            "schema": 1, "booted": false, "outcome": "timed-out", "refusal": null,
            "machine": { "emulator": "QEMU", "cpu": "rv64", "harts": 1, "icount": false },
            "time_base": { "unit": "us", "note": "", "ticks_per_second": 1, "joined": "" },
            "stages": [step("read", 0), step("hash", 25), step("handover", 90)]
        });
        hartlock_timeline::read(&json.to_string()).unwrap()
    }

    #[test]
    fn colours_change_no_text() {
        let look = Look { columns: 80, is_unicode: false };
        let painted = painted(&timeline(), look);
        for code in ["\u{1b}[34m", "\u{1b}[33m", "\u{1b}[36m", "\u{1b}[0m"] {
            assert!(painted.contains(code), "{painted:?}");
        }
        let plain: Vec<String> =
            chart(&timeline(), look).iter().map(|line| format!("{line}\n")).collect();
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain.concat());
    }
}
