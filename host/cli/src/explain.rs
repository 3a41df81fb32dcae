//! `hartlock explain`

mod catalogue;
mod nearest;

use std::ffi::OsStr;

use anstyle::Style;
use clap::builder::{PossibleValue, TypedValueParser};
use serde::Serialize;

use crate::failure::{Failure, ReasonText};
use crate::output::Report;
use crate::page::Page;
use crate::reason::AnyReason;
use crate::style::BOLD;
use catalogue::{Catalogue, Cause, Example};

/// Explain a reason code, or list all codes
///
/// The code follows "error:" in messages of this command, and "refused:" on the console of a device.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// Code such as E0301, or its number or name [default: list all codes]
    #[arg(value_name = "CODE", value_parser = Codes, hide_possible_values = true)]
    code: Option<String>,
}

/// A parser that accepts any text, because the error of `run` for an unknown code is more helpful than that
/// of clap. It lists the codes for shell completions.
#[derive(Clone)]
struct Codes;

impl TypedValueParser for Codes {
    type Value = String;

    fn parse_ref(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        Ok(value.to_string_lossy().into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            AnyReason::all().map(|reason| PossibleValue::new(reason.code()).help(reason.title())),
        ))
    }
}

/// The reasons that were asked for.
#[derive(Debug, Serialize)]
pub struct Explained {
    reasons: Vec<Entry>,
    #[serde(skip)]
    is_list: bool,
}

/// The explanation of a reason.
#[derive(Debug, Serialize)]
struct Entry {
    #[serde(flatten)]
    text: ReasonText,
    /// Title of the reason's group.
    group: String,
    /// Further details about the cause.
    details: Option<String>,
    /// Further advice.
    remedy: Option<String>,
    /// Causes that the command tells apart.
    causes: Vec<Cause>,
    /// Codes of similar faults.
    related: Vec<String>,
    /// A bundle that is refused for this reason.
    example: Option<Example>,
}

impl Entry {
    fn new(reason: AnyReason, catalogue: &Catalogue) -> Self {
        let text = ReasonText::from(reason);
        let more = catalogue.entry(&text.code);
        Self {
            group: catalogue.group(&text.code).title,
            details: more.details,
            remedy: more.remedy,
            causes: more.causes,
            related: related(reason).map(AnyReason::code).collect(),
            example: catalogue.example(&text.code),
            text,
        }
    }
}

/// Returns up to four related reasons: those with a rule in the same section of the specification, or else
/// those of the same group.
fn related(reason: AnyReason) -> impl Iterator<Item = AnyReason> {
    let all = || AnyReason::all().filter(move |other| *other != reason);
    let same_section: Vec<_> = all().filter(|other| other.spec() == reason.spec()).collect();
    let related = if same_section.is_empty() {
        all().filter(|other| other.number() / 100 == reason.number() / 100).collect()
    } else {
        same_section
    };
    // A section may have many codes. The codes with the nearest numbers are the closest ones.
    let mut related = related;
    related.sort_by_key(|other| other.number().abs_diff(reason.number()));
    related.truncate(4);
    related.sort_by_key(|other| other.number());
    related.into_iter()
}

impl Report for Explained {
    fn text(&self) -> String {
        let mut page = Page::new();
        if self.is_list {
            write_list(&mut page, &self.reasons);
        } else {
            self.reasons.iter().for_each(|entry| write_entry(&mut page, entry));
        }
        page.finish()
    }
}

fn write_list(page: &mut Page, entries: &[Entry]) {
    let catalogue = Catalogue::read();
    let mut group = "";
    for entry in entries {
        if group != entry.group {
            if !group.is_empty() {
                page.gap();
            }
            group = &entry.group;
            page.line(format_args!("{BOLD}{group}{BOLD:#}"));
            page.remark(0, &catalogue.group(&entry.text.code).about);
        }
        page.write_indented(&format!("{}  ", entry.text.code), entry.text.title, Style::new());
    }
}

fn write_entry(page: &mut Page, entry: &Entry) {
    let text = &entry.text;
    page.write_indented(&format!("{}  ", text.code), text.title, BOLD);
    page.remark(7, &format!("{} · {}", text.name, entry.group));
    page.gap();
    let mut row =
        |name: &str, value: &str| page.write_indented(&format!("{name:<10}"), value, Style::new());
    row("why", text.why);
    if let Some(details) = &entry.details {
        row("", details);
    }
    row("hint", text.hint);
    if let Some(remedy) = &entry.remedy {
        row("", remedy);
    }
    for (index, Cause { when, hint }) in entry.causes.iter().enumerate() {
        row(if index == 0 { "causes" } else { "" }, &format!("{when} {hint}"));
    }
    row("fault", who_has_to_act(text.fault, &text.code));
    row("spec", &text.spec);
    for (index, code) in entry.related.iter().enumerate() {
        let title = AnyReason::all().find(|it| it.code() == *code).map_or("", AnyReason::title);
        row(if index == 0 { "see also" } else { "" }, &format!("{code} {title}"));
    }
    if let Some(example) = &entry.example {
        row("example", &example.description);
        // The command or path is not wrapped, so that it can be copied.
        match &example.command {
            Some(command) => page.line(format_args!("          $ {command}")),
            None => page.line(format_args!("          {}", example.path)),
        }
    }
}

fn who_has_to_act(fault: &str, code: &str) -> &'static str {
    match fault {
        "image" => "image: the one who built, signed or transported the bundle has to act",
        "device" => "device: the owner of the device has to act",
        _ if code.starts_with("E15") => "caller: the program that calls the library has to act",
        _ => "caller: the user of the command has to act",
    }
}

/// Explains the code in the arguments, or lists all codes.
pub fn run(args: &ExplainArgs) -> Result<Explained, Failure> {
    let catalogue = Catalogue::read();
    let entry = |reason| Entry::new(reason, &catalogue);
    let Some(code) = &args.code else {
        return Ok(Explained { reasons: AnyReason::all().map(entry).collect(), is_list: true });
    };
    match nearest::find(code) {
        Some(reason) => Ok(Explained { reasons: vec![entry(reason)], is_list: false }),
        None => Err(unknown(code)),
    }
}

fn unknown(code: &str) -> Failure {
    let line = |reason: AnyReason| format!("{} {}", reason.code(), reason.title());
    let nearest: Vec<_> = nearest::nearest(code).into_iter().map(line).collect();
    let hint = match nearest.len() {
        0 => "give the code as it was printed, such as E0301; `hartlock explain` lists all codes",
        _ => "use one of these; `hartlock explain` lists all codes",
    };
    Failure::undecided(format!("there is no reason code `{code}`"), hint).with_context(nearest)
}
