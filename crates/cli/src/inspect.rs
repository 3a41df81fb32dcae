//! `hartlock inspect`

use std::fmt::Write;
use std::path::PathBuf;

use hartlock_image::Reason;
use hartlock_sign::describe::{Description, Key};
use hartlock_sign::inspect::{Header, inspect_file};
use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::output::Report;
use crate::style::{BOLD, WARNING};

/// Show what a bundle says about itself, without verifying it
///
/// Anybody can write what this shows. `hartlock verify` tells whether it is true.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The bundle
    #[arg(value_name = "BUNDLE")]
    bundle: PathBuf,
}

/// What the bundle claims.
#[derive(Debug, Serialize)]
pub struct Shown {
    bundle: PathBuf,
    /// Always false: it stands there for whoever reads the object later.
    verified: bool,
    file_size: u64,
    header: Option<Header>,
    manifest: Option<Description>,
    #[serde(skip)]
    reason: Option<Reason>,
}

impl Report for Shown {
    fn text(&self) -> String {
        let mut text = format!(
            "{BOLD}{}{BOLD:#}, {} bytes\n{WARNING}NOT VERIFIED{WARNING:#}: \
             anybody can write what stands here; `hartlock verify` tells whether it is true\n\n",
            self.bundle.display(),
            self.file_size
        );
        match (&self.manifest, &self.header) {
            (Some(manifest), _) => text += &manifest_text(manifest),
            (None, Some(header)) => text += &header_text(header),
            (None, None) => text += "There is no complete header.\n",
        }
        text
    }

    fn outcome(&self) -> Outcome {
        if self.reason.is_some() { Outcome::Refused } else { Outcome::Accepted }
    }

    fn failure(&self) -> Option<Failure> {
        let lengths = |manifest: &Description| {
            format!("the file has {} bytes, its bundle {}", self.file_size, manifest.bundle_size)
        };
        self.reason.map(|reason| {
            let context = match reason {
                Reason::Truncated | Reason::TrailingBytes => self.manifest.as_ref().map(lengths),
                _ => None,
            };
            Failure::refused(reason, context.into_iter().collect()).about(&self.bundle)
        })
    }
}

/// Reads the bundle.
pub fn run(args: &Args) -> Result<Shown, Failure> {
    let inspection = inspect_file(&args.bundle)?;
    Ok(Shown {
        bundle: args.bundle.clone(),
        verified: false,
        file_size: inspection.file_size,
        header: inspection.header,
        manifest: inspection.manifest,
        reason: inspection.reason,
    })
}

/// A manifest as a table.
pub fn manifest_text(manifest: &Description) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(text, "{name:<17} {value}");
    };
    line("type", &manifest.bundle_type);
    line("board", &format_args!("{} (SoC {})", manifest.board, manifest.soc));
    line("label", &or_none(&manifest.label));
    line("security version", &manifest.security_version);
    line("lifecycle", &manifest.lifecycle.join(", "));
    line("created", &created_text(manifest.created));
    line(
        "size",
        &format_args!("{} bytes ({})", manifest.bundle_size, size_text(manifest.bundle_size)),
    );
    for (number, signer) in (1..).zip(&manifest.signers) {
        line(&format!("signer {number}"), &key_text(signer));
    }
    if let Some(trust) = &manifest.trust {
        line("trusts", &format_args!("{} of these for the system bundle", trust.policy));
        for (number, key) in (1..).zip(&trust.keys) {
            line(&format!("trusted key {number}"), &key_text(key));
        }
    }
    if let Some(bootargs) = &manifest.bootargs {
        line("bootargs", &or_none(bootargs));
    }
    text += "\n";
    text += &payloads_text(manifest);
    text
}

fn payloads_text(manifest: &Description) -> String {
    let mut text = format!(
        "{BOLD}{:<11} {:>10} {:>12} {:>12} {:>11}  digest{BOLD:#}\n",
        "payload", "size", "load", "memory end", "entry"
    );
    for payload in &manifest.payloads {
        let block_size = match payload.block_size {
            0 => String::new(),
            size => format!(" of {}", size_text(size.into())),
        };
        let _ = writeln!(
            text,
            "{:<11} {:>10} {:>#12x} {:>#12x} {:>#11x}  {} {}{block_size}",
            payload.payload_type,
            size_text(payload.size),
            payload.load_address,
            payload.load_address.saturating_add(payload.memory_size),
            payload.entry,
            payload.hash,
            payload.mode,
        );
        let _ = writeln!(text, "{:<11} {}", "", payload.digest);
    }
    text
}

/// A header whose manifest cannot be read.
fn header_text(header: &Header) -> String {
    let mut text = String::from("The manifest is malformed. Fields of its header:\n");
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(text, "{name:<17} {value}");
    };
    line("tag", &header.tag);
    line("signed size", &header.signed_size);
    line("signatures size", &header.signatures_size);
    line("bundle size", &header.bundle_size);
    line("security version", &header.security_version);
    line("created", &created_text(header.created));
    line("lifecycle mask", &format_args!("{:#x}", header.lifecycle_mask));
    line("signers", &header.signer_count);
    line("payloads", &header.payload_count);
    line("board", &header.board);
    line("SoC", &header.soc);
    line("label", &header.label);
    text
}

fn key_text(key: &Key) -> String {
    format!("{} {}", key.algorithm, key.key_id)
}

const fn or_none(text: &str) -> &str {
    if text.is_empty() { "(none)" } else { text }
}

/// A size that people can compare, exact where it is small.
pub fn size_text(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes.is_multiple_of(unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} B"),
    }
}

/// Seconds since 1970-01-01 as a date (Gregorian calendar, UTC).
fn created_text(seconds: u64) -> String {
    if seconds == 0 {
        return "not stated".to_string();
    }
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Beyond the year 9999 a date only confuses.
    if days > 2_932_896 {
        return format!("{seconds} seconds after 1970-01-01");
    }
    // Days are counted from 0000-03-01, so that a leap day ends its year, in cycles of 400 years.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(created_text(0), "not stated");
        assert_eq!(created_text(1), "1970-01-01 00:00:01 UTC");
        assert_eq!(created_text(951_827_696), "2000-02-29 12:34:56 UTC");
        assert_eq!(created_text(1_767_225_599), "2025-12-31 23:59:59 UTC");
        assert_eq!(created_text(4_107_542_400), "2100-03-01 00:00:00 UTC");
        assert_eq!(created_text(253_402_300_799), "9999-12-31 23:59:59 UTC");
        assert_eq!(created_text(u64::MAX), format!("{} seconds after 1970-01-01", u64::MAX));
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(size_text(0), "0 B");
        assert_eq!(size_text(1023), "1023 B");
        assert_eq!(size_text(81_920), "80 KiB");
        assert_eq!(size_text(1_572_865), "1.5 MiB");
        assert!(size_text(u64::MAX).ends_with(" GiB"));
    }
}
