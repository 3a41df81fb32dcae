//! `hartlock digest`

use std::path::{Path, PathBuf};

use hartlock_bundle::Error;
use hartlock_bundle::build::{Build, OutputForm};
use hartlock_bundle::first_stage::FirstStageBuild;
use hartlock_bundle::spec::created;
use hartlock_bundle::unsigned::Unsigned;
use hartlock_files::{NewFile, check_output};
use hartlock_image::Algorithm;
use hartlock_keys::{PublicKey, external_mu, refuse_published};
use hartlock_terminal as terminal;
use serde::Serialize;

use crate::failure::Failure;
use crate::first_stage::Parts;
use crate::form::Form;
use crate::output::Report;
use crate::progress::Progress;
use crate::project::{self, KeyHalf};
use crate::sign::{self, BundleArgs, Described};
use crate::signer::leaves_the_workshop;
use crate::values;

/// Write a request to sign, for signers on other machines
///
/// The bundle or first-stage image is built without signatures. `hartlock attach` adds them.
#[derive(Debug, clap::Args)]
pub struct DigestArgs {
    /// Public key of a signer: a file, or a name from hartlock.toml; may be given up to four times
    #[arg(long = "signer", value_name = "KEY.pub.pem")]
    signers: Vec<PathBuf>,
    /// Signature scheme for RSA keys whose file does not state one; may be repeated
    #[arg(long = "algorithm", value_name = "NAME", value_parser = values::algorithms(), hide_possible_values = true)]
    algorithms: Vec<Algorithm>,
    /// Write the request here; the file without signatures has the same name with `.unsigned` at its end
    #[arg(short, long, value_name = "FILE.json")]
    output: PathBuf,
    /// Write the signed bytes alone to this file, too
    #[arg(long, value_name = "FILE")]
    raw: Option<PathBuf>,
    /// Write the 64 bytes that a key service signs with ML-DSA (external mu) to this file, too
    #[arg(long, value_name = "FILE")]
    external_mu: Option<PathBuf>,
    /// Replace existing output files, but never a private key or an input
    #[arg(long)]
    force: bool,
    /// Sign payload files even if their content does not look like the payload type, but not what a device refuses
    #[arg(long)]
    force_type: bool,
    #[command(flatten)]
    pub what: BundleArgs,
}

/// The files that were written.
#[derive(Debug, Serialize)]
pub struct Requested {
    request: PathBuf,
    unsigned: PathBuf,
    raw: Option<PathBuf>,
    external_mu: Option<PathBuf>,
    signers: Vec<String>,
}

impl Report for Requested {
    fn text(&self) -> String {
        let mut text = format!(
            "request      {}\nunsigned     {} (no device boots it)\n",
            terminal::path(&self.request),
            terminal::path(&self.unsigned)
        );
        for (what, path) in [("raw bytes", &self.raw), ("external mu", &self.external_mu)] {
            if let Some(path) = path {
                text += &format!("{what:<13}{}\n", terminal::path(path));
            }
        }
        for signer in &self.signers {
            text += &format!("signer       {signer}\n");
        }
        text
    }
}

/// Writes the request.
pub fn run(args: &DigestArgs) -> Result<Requested, Failure> {
    let files = project::keys(&args.signers, KeyHalf::Public, "--signer")?;
    let signers = files
        .iter()
        .map(|path| PublicKey::read_for(path, &args.algorithms))
        .collect::<Result<Vec<_>, _>>()?;
    let unsigned = args.output.with_extension("unsigned");
    let of_lattice = match (&args.external_mu, &signers[..]) {
        (None, _) => None,
        (Some(path), [key]) if matches!(key.algorithm(), Algorithm::MlDsa(_)) => Some((path, key)),
        (Some(_), _) => {
            return Err(Failure::undecided(
                "`--external-mu` is for one signer with ML-DSA",
                "leave it out: the request has the value for each signer with ML-DSA",
            ));
        }
    };
    let Described { form, spec, boards, mut read } = sign::describe(&args.what, &args.algorithms)?;
    if leaves_the_workshop(spec.lifecycle.as_deref()) {
        for (path, key) in files.iter().zip(&signers) {
            refuse_published(path, &key.record())?;
        }
    }
    read.extend(files);
    let outputs =
        [Some(&args.output), Some(&unsigned), args.raw.as_ref(), args.external_mu.as_ref()];
    let outputs: Vec<&Path> = outputs.into_iter().flatten().map(PathBuf::as_path).collect();
    let inputs = || read.iter().map(PathBuf::as_path).chain(args.what.payload_files());
    for (at, output) in outputs.iter().enumerate() {
        let others = outputs[..at].iter().copied();
        check_output(output, inputs().chain(others), true)?;
    }
    let keys: Vec<_> = signers.iter().map(|key| key as &dyn hartlock_keys::Signer).collect();
    if form == Form::FirstStage {
        let parts = Parts::new(&args.what.first_stage, &spec, &boards)?;
        let build = FirstStageBuild {
            is_forced: args.force,
            is_any_type: args.force_type,
            ending: OutputForm::Unsigned,
            ..parts.build(&keys, &spec, (&unsigned, &read))?
        };
        build.run(&mut |_, _| ())?;
    } else {
        let epoch = std::env::var_os("SOURCE_DATE_EPOCH");
        let build = Build {
            spec: &spec,
            keys: &keys,
            created: created(epoch.as_deref()).map_err(Error::from)?,
            output: &unsigned,
            boards: &boards,
            inputs: &read,
            is_forced: args.force,
            is_any_type: args.force_type,
            ending: OutputForm::Unsigned,
        };
        let mut progress = Progress::new("hashing");
        build.run(&mut |done, total| progress.show(done, total), &mut |_, _| ())?;
    }
    let built = Unsigned::read(&unsigned, signers.clone(), &boards)?;
    let write = |path: &Path, bytes: &[u8]| -> Result<(), Failure> {
        let mut file = NewFile::public(path)?;
        file.write(bytes)?;
        Ok(file.finish(args.force)?)
    };
    if let Some(path) = &args.raw {
        write(path, &built.signed)?;
    }
    if let Some((path, key)) = of_lattice {
        write(path, &external_mu(key, &built.signed).unwrap_or([0; 64]))?;
    }
    write(&args.output, built.request().to_json().as_bytes())?;
    let name = |key: &PublicKey| {
        format!("{} {}", key.algorithm(), hartlock_bundle::describe::hex(&key.key_id()))
    };
    Ok(Requested {
        request: args.output.clone(),
        unsigned,
        raw: args.raw.clone(),
        external_mu: args.external_mu.clone(),
        signers: signers.iter().map(name).collect(),
    })
}
