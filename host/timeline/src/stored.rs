//! Reads a timeline that was stored in a file.

use thiserror::Error;

use super::boot::{SCHEMA, Timeline};

/// Maximum number of steps, which is that of a log (boot flow §3.5).
const MOST_STEPS: usize = hartlock_handoff::MAX_LOG_ENTRIES;
/// Maximum value of a time. It keeps all sums and quotients of times finite.
const MOST_TIME: f64 = 1e15;

/// The reason why a file cannot be used.
#[derive(Debug, Error)]
pub enum StoredError {
    /// The file is not a timeline.
    #[error("it is not a timeline: {0}")]
    NotATimeline(#[from] serde_json::Error),
    /// The file has another schema, so its fields may have another meaning.
    #[error("it has schema {0}, this program knows {SCHEMA}")]
    OtherSchema(u32),
    /// The file has numbers that no boot has.
    #[error("its numbers are not those of a boot")]
    OddNumbers,
}

/// Reads a file that `hartlock boot --timeline-json` wrote. The text is untrusted: the timeline is
/// shown, and nothing is decided by it.
///
/// # Errors
/// If the timeline cannot be shown.
pub fn read(json: &str) -> Result<Timeline, StoredError> {
    let timeline: Timeline = serde_json::from_str(json)?;
    if timeline.schema != SCHEMA {
        return Err(StoredError::OtherSchema(timeline.schema));
    }
    let unit = timeline.time_base.unit;
    let is_time = |value: f64| (0.0..=MOST_TIME).contains(&value);
    let is_sound = timeline.stages.len() <= MOST_STEPS
        && timeline.stages.iter().all(|step| {
            let times = [step.start, step.end, step.busy.unwrap_or(0.0)];
            step.unit == unit && times.into_iter().all(is_time) && step.start <= step.end
        });
    if is_sound { Ok(timeline) } else { Err(StoredError::OddNumbers) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::timeline;
    use serde_json::{Value, json};

    #[test]
    fn what_was_written_is_read_back() {
        for (is_refused, icount) in [(false, false), (true, false), (false, true)] {
            let written = timeline(is_refused, icount);
            let json = serde_json::to_string(&written).unwrap();
            assert_eq!(read(&json).unwrap(), written);
        }
    }

    #[test]
    fn a_timeline_of_an_earlier_version_is_read() {
        let mut json = serde_json::to_value(timeline(false, false)).unwrap();
        for step in json["stages"].as_array_mut().unwrap() {
            step.as_object_mut().unwrap().remove("busy");
        }
        assert!(read(&json.to_string()).is_ok());
    }

    #[test]
    fn what_is_no_timeline_is_refused() {
        let with = |change: fn(&mut Value)| {
            let mut json = serde_json::to_value(timeline(false, false)).unwrap();
            change(&mut json);
            read(&json.to_string()).map(drop).unwrap_err().to_string()
        };
        assert!(with(|json| *json = json!([])).contains("not a timeline"));
        assert!(
            with(|json| drop(json.as_object_mut().unwrap().remove("stages"))).contains("not a")
        );
        assert!(with(|json| json["schema"] = json!(2)).contains("schema 2"));
        assert!(with(|json| json["stages"][1]["start"] = json!(-1)).contains("numbers"));
        assert!(with(|json| json["stages"][1]["end"] = json!(1e300)).contains("numbers"));
        assert!(with(|json| json["stages"][1]["start"] = json!(9e14)).contains("numbers"));
        // A step with another unit would be drawn with a wrong scale.
        assert!(with(|json| json["stages"][1]["unit"] = json!("instructions")).contains("numbers"));
    }
}
