//! `hartlock resign` and `hartlock replace`: make a bundle from another one.

use hartlock_bundle::Error;
use hartlock_bundle::spec::{BundleSpec, created};

use crate::failure::Failure;
use crate::sign::PayloadArgs;
use crate::signer::{BuiltBundle, Signer};
use crate::source_bundle::SourceBundle;
use crate::values;

/// Sign a bundle again, with other keys
///
/// The old bundle is verified first. Payloads and settings stay as they are.
#[derive(Debug, clap::Args)]
pub struct ResignArgs {
    #[command(flatten)]
    origin: SourceBundle,
    #[command(flatten)]
    signer: Signer,
}

/// Sign a bundle again, with another payload
///
/// The old bundle is verified first. All else stays as it is; the new payload gets the memory that it needs.
#[derive(Debug, clap::Args)]
pub struct ReplaceArgs {
    #[command(flatten)]
    origin: SourceBundle,
    #[command(flatten)]
    signer: Signer,
    /// Anti-rollback counter of the new bundle [default: that of the old one]
    #[arg(long, value_name = "N", value_parser = values::number::<u64>)]
    security_version: Option<u64>,
    #[command(flatten)]
    payloads: PayloadArgs,
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
            "no payload is named that is to be replaced",
            "name its file, for instance with `--kernel Image`; `hartlock resign` keeps all of them",
        ));
    }
    let changes =
        BundleSpec { security_version: args.security_version, payloads, ..BundleSpec::default() };
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
