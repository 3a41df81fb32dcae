//! `hartlock inspect`

mod fields;
mod first_stage;
mod json;
mod place;
mod summary;

use std::path::PathBuf;

use anstyle::Style;
use hartlock_bundle::inspect::{Inspection, inspect_file};
use hartlock_bundle::plain::add_digests;
use hartlock_image::Reason;
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::board;
use crate::failure::{Failure, Outcome};
use crate::output::Report;
use crate::page::Page;
use crate::style::{BOLD, WARNING};
use crate::units::{count_text, grouped};

pub use first_stage::write_facts;
use place::place_text;
pub use summary::manifest_text;

/// Show the contents of a bundle or first-stage image: payloads, signers, every field
///
/// This shows whether the file is well formed and whether its signatures match the keys inside the file. It
/// does not show whether to trust those keys: an attacker can write such a file too. To decide that, use
/// `hartlock verify` with your own keys. Exit code 1: the file is malformed.
#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    /// Bundle or first-stage image, or `-` for standard input; of a ROM or loader, the signature algorithms that it
    /// carries are shown
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// File that describes the board, if `hartlock` does not know the board
    #[arg(long, value_name = "BOARD.toml")]
    board: Option<PathBuf>,
    /// List every field with its value and meaning
    #[arg(long)]
    fields: bool,
    /// Dump the signed region and the signatures in hexadecimal, with the name of each field
    #[arg(long, conflicts_with = "fields")]
    hexdump: bool,
    /// Show key ids and digests in full
    #[arg(short, long)]
    verbose: bool,
    /// Show the digest of each payload as `sha384sum` prints it (or as `sha256sum` or `sha512sum`, if the payload
    /// is signed with that hash); this reads the payloads
    #[arg(long)]
    digests: bool,
}

/// The content of the bundle, unverified.
#[derive(Debug)]
pub struct InspectReport {
    bundle: PathBuf,
    view: View,
    is_verbose: bool,
    inspection: Inspection,
}

#[derive(Clone, Copy, Debug)]
enum View {
    Summary,
    Fields,
    Hexdump,
}

impl Report for InspectReport {
    fn text(&self) -> String {
        let mut page = Page::new();
        let path = terminal::path(&self.bundle);
        let size = count_text(self.inspection.file_size, "byte", "bytes");
        // The fields of a bundle say nothing about a file of another type.
        if let (Some(name), View::Summary) = (self.inspection.looks_like, self.view) {
            let Some(carried) = self.inspection.carried_names() else {
                page.line(format_args!("{BOLD}{path}{BOLD:#}, {size}: {name}, by its first bytes"));
                return page.finish();
            };
            page.line(format_args!("{BOLD}{path}{BOLD:#}, {size}: {name}, as it says itself"));
            let names = if carried.is_empty() { "none".to_owned() } else { carried.join(", ") };
            page.write_indented("verifies    ", &format!("signatures of {names}"), Style::new());
            return page.finish();
        }
        page.line(format_args!("{BOLD}{path}{BOLD:#}, {size}"));
        let warning = "NOT VERIFIED: an attacker can write such a file; `hartlock verify` tells \
                       whether it is true";
        page.write_indented("", warning, WARNING);
        match self.view {
            View::Summary => summary::write(&mut page, &self.inspection, self.is_verbose),
            View::Fields => fields::write_list(&mut page, &self.inspection, self.is_verbose),
            View::Hexdump => fields::write_dump(&mut page, &self.inspection),
        }
        page.finish()
    }

    fn outcome(&self) -> Outcome {
        if self.inspection.reason.is_some() { Outcome::Refused } else { Outcome::WellFormed }
    }

    fn failure(&self) -> Option<Failure> {
        let inspection = &self.inspection;
        let reason = inspection.reason?;
        let lengths = match (reason, &inspection.manifest) {
            (Reason::Truncated | Reason::TrailingBytes, Some(manifest)) => Some(format!(
                "the file has {} bytes, its bundle {}",
                grouped(inspection.file_size),
                grouped(manifest.bundle_size)
            )),
            _ => None,
        };
        let place = inspection.place.as_ref().filter(|_| lengths.is_none()).map(place_text);
        let context = lengths.into_iter().chain(place).collect();
        Some(
            match inspection.looks_like {
                Some(name) => Failure::refused(reason, vec![format!("it is {name}")])
                    .with_hint("give a bundle: `hartlock sign` makes one of such files"),
                None => Failure::refused(reason, context),
            }
            .with_path(&self.bundle),
        )
    }
}

impl Serialize for InspectReport {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json::Object::new(&self.bundle, &self.inspection).serialize(serializer)
    }
}

/// Reads the bundle.
pub fn run(args: &InspectArgs) -> Result<InspectReport, Failure> {
    let boards = board::boards(args.board.as_deref())?;
    let mut inspection = inspect_file(&args.bundle, &boards)?;
    if let Some(manifest) = inspection.manifest.as_mut().filter(|_| args.digests) {
        add_digests(&args.bundle, manifest)?;
    }
    Ok(InspectReport {
        bundle: args.bundle.clone(),
        view: match (args.fields, args.hexdump) {
            (true, _) => View::Fields,
            (false, true) => View::Hexdump,
            (false, false) => View::Summary,
        },
        is_verbose: args.verbose,
        inspection,
    })
}
