//! `hartlock resign` and `hartlock replace`: make a bundle from another one.

use hartlock_bundle::Error;
use hartlock_bundle::spec::{BundleSpec, created};

use crate::failure::Failure;
use crate::sign::PayloadArgs;
use crate::signer::{BuiltBundle, Signer};
use crate::source_bundle::SourceBundle;
use crate::values;

/// Sign an existing bundle with other keys
///
/// The old bundle is verified first. Payloads and settings do not change.
#[derive(Debug, clap::Args)]
pub struct ResignArgs {
    #[command(flatten)]
    pub origin: SourceBundle,
    #[command(flatten)]
    pub signer: Signer,
}

/// Replace payloads of a bundle, and sign it again
///
/// The old bundle is verified first. Nothing else changes, except that a new payload gets the memory that it
/// needs.
#[derive(Debug, clap::Args)]
pub struct ReplaceArgs {
    #[command(flatten)]
    pub origin: SourceBundle,
    #[command(flatten)]
    pub signer: Signer,
    /// Security version of the new bundle (anti-rollback) [default: that of the old bundle]
    #[arg(long, value_name = "N", value_parser = values::number::<u64>)]
    security_version: Option<u64>,
    #[command(flatten)]
    pub payloads: PayloadArgs,
}

/// Signs the bundle again.
pub fn resign(args: &ResignArgs) -> Result<BuiltBundle, Failure> {
    rework(&args.origin, &args.signer, BundleSpec::default())
}

/// Signs the bundle again with other payloads.
pub fn replace(args: &ReplaceArgs) -> Result<BuiltBundle, Failure> {
    let payloads = args.payloads.specs();
    if payloads.is_empty() {
        return Err(Failure::undecided(
            "no payload to replace is given",
            "give the new file, for instance `--kernel Image`; to change only the keys, use `hartlock resign`",
        ));
    }
    let changes = BundleSpec {
        security_version: args.security_version,
        encrypt: args.payloads.encrypt.clone(),
        payloads,
        ..BundleSpec::default()
    };
    rework(&args.origin, &args.signer, changes)
}

fn rework(
    origin: &SourceBundle,
    signer: &Signer,
    changes: BundleSpec,
) -> Result<BuiltBundle, Failure> {
    let boards = origin.boards()?;
    let reused = origin.read(&boards)?;
    let epoch = std::env::var_os("SOURCE_DATE_EPOCH");
    let date = match epoch.as_deref() {
        None => reused.created,
        epoch => created(epoch).map_err(Error::from)?,
    };
    signer.sign(&reused.spec.overridden_by(changes), &boards, date, &origin.inputs())
}
