//! `hartlock attach`

use std::path::PathBuf;

use hartlock_boards::Boards;
use hartlock_bundle::describe::Description;
use hartlock_bundle::first_stage::FirstStageDescription;
use hartlock_bundle::unsigned::{Attach, Attached};
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::failure::Failure;
use crate::inspect::{manifest_text, write_facts};
use crate::output::Report;
use crate::page::Page;
use crate::progress::Progress;
use crate::style::GOOD;

/// Add the signatures of others to what `hartlock digest` built
///
/// Nothing is written until all signers of the request have signed, and the result is verified before it gets its name.
#[derive(Debug, clap::Args)]
pub struct AttachArgs {
    /// Request that `hartlock digest` wrote
    #[arg(value_name = "REQUEST.json")]
    request: PathBuf,
    /// File without signatures [default: the name of the request with `.unsigned` at its end]
    #[arg(long, value_name = "FILE")]
    unsigned: Option<PathBuf>,
    /// Signature of one signer; once for each signer, in any order
    #[arg(long = "signature", value_name = "FILE", required = true)]
    signatures: Vec<PathBuf>,
    /// Write the signed file here, or to standard output with `-`, when it is verified
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace an existing output file, but never a private key or an input
    #[arg(long)]
    force: bool,
}

/// The file that was written. It was verified.
#[derive(Debug, Serialize)]
pub struct Complete {
    file: PathBuf,
    manifest: Option<Description>,
    first_stage: Option<FirstStageDescription>,
}

impl Report for Complete {
    fn text(&self) -> String {
        let mut text =
            format!("{GOOD}signed{GOOD:#}  {}, and verified\n\n", terminal::path(&self.file));
        if let Some(manifest) = &self.manifest {
            text += &manifest_text(manifest);
        }
        if let Some(first_stage) = &self.first_stage {
            let mut page = Page::new();
            write_facts(&mut page, first_stage);
            text += &page.finish();
        }
        text
    }
}

/// Writes the signed file.
pub fn run(args: &AttachArgs) -> Result<Complete, Failure> {
    let default = args.request.with_extension("unsigned");
    let attach = Attach {
        request: &args.request,
        unsigned: args.unsigned.as_deref().unwrap_or(&default),
        signatures: &args.signatures,
        output: &args.output,
        boards: &Boards::default(),
        is_forced: args.force,
    };
    let mut progress = Progress::new("verifying");
    let attached = attach.run(&mut |done, total| progress.show(done, total))?;
    drop(progress);
    let (manifest, first_stage) = match attached {
        Attached::Bundle(manifest) => (Some(manifest), None),
        Attached::FirstStage(first_stage) => (None, Some(first_stage)),
    };
    Ok(Complete { file: args.output.clone(), manifest, first_stage })
}
