//! `hartlock extract`

use std::path::PathBuf;

use hartlock_bundle::build::extract;
use hartlock_files::{FileError, check_output, is_standard};
use hartlock_image::PayloadType;
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::output::Report;
use crate::signer::class_keys;
use crate::source_bundle::SourceBundle;
use crate::style::WARNING;
use crate::units::size_text;
use crate::values;

/// Extract payloads of a bundle into files
///
/// The bundle is verified first. Each file then has exactly the bytes that were signed.
#[derive(Debug, clap::Args)]
// This verb signs nothing, so `--key` and `-k` can be aliases for the keys of signers, as in `verify`.
#[command(mut_arg("signers", |arg| arg.visible_alias("key").visible_short_alias('k')))]
pub struct ExtractArgs {
    #[command(flatten)]
    pub origin: SourceBundle,
    /// Payloads to extract [default: all]
    #[arg(value_name = "PAYLOAD", value_parser = values::payload_type())]
    payloads: Vec<PayloadType>,
    /// Write the files to this folder, where each has the name of its payload; `-` writes one payload to standard
    /// output, when its digest is verified
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Class key with which encrypted payloads are decrypted; may be repeated
    #[arg(long, value_name = "CLASS.pem")]
    decrypt_with: Vec<PathBuf>,
    /// Replace existing files, but never a private key or the bundle
    #[arg(long)]
    force: bool,
}

/// The files that were written.
#[derive(Debug, Serialize)]
pub struct Extracted {
    bundle: PathBuf,
    verified: bool,
    files: Vec<Part>,
}

#[derive(Debug, Serialize)]
struct Part {
    payload: &'static str,
    file: PathBuf,
    size: u64,
}

impl Report for Extracted {
    fn text(&self) -> String {
        let mut text = String::new();
        if !self.verified {
            text += &format!(
                "{WARNING}NOT VERIFIED{WARNING:#}: an attacker may have written these files\n"
            );
        }
        for Part { payload, file, size } in &self.files {
            text += &format!("{payload:<10}  {}  {}\n", terminal::path(file), size_text(*size));
        }
        text
    }

    fn outcome(&self) -> Outcome {
        if self.verified { Outcome::Accepted } else { Outcome::WellFormed }
    }
}

/// Writes the payloads into files.
pub fn run(args: &ExtractArgs) -> Result<Extracted, Failure> {
    let reused = args.origin.read(&args.origin.boards()?)?;
    let is_wanted = |it: PayloadType| args.payloads.is_empty() || args.payloads.contains(&it);
    let all = &reused.spec.payloads;
    if let Some(missing) =
        args.payloads.iter().find(|wanted| all.iter().all(|it| it.payload_type != **wanted))
    {
        let names: Vec<_> = all.iter().map(|it| it.payload_type.name()).collect();
        return Err(Failure::undecided(
            format!("the bundle has no payload {}", missing.name()),
            format!("it has {}", names.join(", ")),
        ));
    }
    let wanted: Vec<_> = all.iter().filter(|it| is_wanted(it.payload_type)).collect();
    let is_to_output = is_standard(&args.output);
    if is_to_output && wanted.len() != 1 {
        return Err(Failure::undecided(
            format!("standard output has room for one payload, not for {}", wanted.len()),
            "name the payload after the bundle, or give a folder with `--output`",
        ));
    }
    if !is_to_output {
        std::fs::create_dir_all(&args.output)
            .map_err(|source| FileError::new("create", &args.output, source))?;
    }
    let class_keys = class_keys(&args.decrypt_with)?;
    let mut files = Vec::new();
    for payload in wanted {
        let name = payload.payload_type.name();
        let suffix = if args.origin.unverified { ".unverified" } else { "" };
        let file = match is_to_output {
            true => args.output.clone(),
            false => args.output.join(format!("{name}{suffix}")),
        };
        let inputs = args.origin.inputs();
        let inputs = inputs.iter().chain(&args.decrypt_with).map(PathBuf::as_path);
        check_output(&file, inputs, true)?;
        extract(payload, &file, !args.origin.unverified, args.force, &class_keys)
            .map_err(|error| Failure::from(error).with_path(&args.origin.bundle))?;
        let size = payload.part.as_ref().map_or(0, |part| part.size);
        files.push(Part { payload: name, file, size });
    }
    let verified = !args.origin.unverified;
    Ok(Extracted { bundle: args.origin.bundle.clone(), verified, files })
}
