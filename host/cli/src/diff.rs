//! `hartlock diff`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anstyle::Style;
use hartlock_boards::Boards;
use hartlock_bundle::describe::Description;
use hartlock_bundle::plain::add_digests;
use hartlock_bundle::reuse;
use hartlock_terminal as terminal;
use serde::Serialize;
use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::output::Report;
use crate::page::Page;
use crate::style::WARNING;

/// Compare two bundles, and show differences that matter to a device
///
/// Neither bundle is verified; use `hartlock verify` for that. Exit code 0: equal, 1: different.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// First bundle, or `-` for standard input
    #[arg(value_name = "BUNDLE")]
    pub one: PathBuf,
    /// Second bundle, or `-` for standard input
    #[arg(value_name = "BUNDLE")]
    pub other: PathBuf,
}

/// The differences between two bundles.
#[derive(Debug, Serialize)]
pub struct BundleDiff {
    bundles: [PathBuf; 2],
    verified: bool,
    differences: Vec<Difference>,
}

/// A field with its two values. A value is null if the bundle does not have the field.
#[derive(Debug, Serialize)]
struct Difference {
    field: String,
    one: Value,
    other: Value,
}

impl Report for BundleDiff {
    fn text(&self) -> String {
        let mut page = Page::new();
        let [one, other] = self.bundles.each_ref().map(|path| terminal::path(path));
        page.line(format_args!("- {one}\n+ {other}"));
        page.write_indented("", "NOT VERIFIED: an attacker may have written either file", WARNING);
        if self.differences.is_empty() {
            page.line("equal for a device");
        }
        for Difference { field, one, other } in &self.differences {
            page.gap();
            page.line(field);
            for (sign, value) in [("- ", one), ("+ ", other)] {
                if !value.is_null() {
                    page.write_indented(sign, &terminal::text(&words(value)), Style::new());
                }
            }
        }
        page.finish()
    }

    fn outcome(&self) -> Outcome {
        if self.differences.is_empty() { Outcome::WellFormed } else { Outcome::Different }
    }
}

/// Returns a value in words.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "(empty)".to_string(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "(none)".to_string(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let stated = fields.values().filter(|value| !value.is_null());
            stated.map(words).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// Fields that make no difference for a device: they follow from other fields, or are the date.
const IGNORED: [&str; 6] =
    ["bundle_size", "created", "devices", "offset", "block_count", "is_nist_approved"];

/// Returns all fields of a manifest. The name of a payload's field begins with the payload type.
fn fields(description: &Description) -> Result<BTreeMap<String, Value>, Failure> {
    let value = serde_json::to_value(description).map_err(|error| {
        Failure::undecided(format!("cannot compare the bundles: {error}"), "report this")
    })?;
    let mut fields = BTreeMap::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("payloads", Value::Array(payloads)) => {
                for payload in payloads.iter().filter_map(Value::as_object) {
                    let of = payload.get("type").and_then(Value::as_str).unwrap_or_default();
                    // The signed digest depends on the offset in the bundle, so the plain digest of the
                    // payload is compared.
                    let own = payload.iter().filter_map(|(name, value)| match name.as_str() {
                        "type" | "digest" => None,
                        "plain" => Some((format!("{of} digest"), value["digest"].clone())),
                        _ => Some((format!("{of} {name}"), value.clone())),
                    });
                    fields.extend(own);
                }
            }
            ("trust", Value::Object(trust)) => {
                fields.extend(trust.iter().map(|(name, it)| (format!("trust {name}"), it.clone())));
            }
            _ => drop(fields.insert(name.clone(), value.clone())),
        }
    }
    // What a bundle does not state is as if its type had no such field.
    fields.retain(|name, value| !value.is_null() && !IGNORED.iter().any(|it| name.ends_with(it)));
    Ok(fields)
}

/// Compares the bundles.
pub fn run(args: &DiffArgs) -> Result<BundleDiff, Failure> {
    let read = |path: &Path| -> Result<_, Failure> {
        // Exit code 1 means that two bundles differ, so a file that is not a bundle gives exit code 2.
        let undecided = |error| Failure::from(error).with_path(path).and_undecided();
        let mut reused = reuse::read(path, &Boards::default()).map_err(undecided)?;
        add_digests(path, &mut reused.description)?;
        fields(&reused.description)
    };
    let (one, mut other) = (read(&args.one)?, read(&args.other)?);
    let mut differences = Vec::new();
    for (field, one) in one {
        let other = other.remove(&field).unwrap_or_default();
        if one != other {
            differences.push(Difference { field: field.replace('_', " "), one, other });
        }
    }
    let left = other.into_iter();
    differences.extend(left.map(|(field, other)| Difference {
        field: field.replace('_', " "),
        one: Value::Null,
        other,
    }));
    let bundles = [args.one.clone(), args.other.clone()];
    Ok(BundleDiff { bundles, verified: false, differences })
}
