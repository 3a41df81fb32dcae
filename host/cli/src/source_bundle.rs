//! Reads a bundle from which another bundle or files are made. The bundle is verified first, unless the user
//! decides otherwise.

use std::path::PathBuf;

use hartlock_boards::Boards;
use hartlock_bundle::reuse::{self, Reused};
use hartlock_bundle::verify::{Expectation, verify_file};
use hartlock_bundle::{Error, Refusal};
use hartlock_image::{Algorithm, Reason};
use hartlock_keys::PublicKey;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::project::{self, KeyHalf};
use crate::{board, values};

/// The bundle, and who signed it.
#[derive(Debug, clap::Args)]
pub struct SourceBundle {
    /// Existing bundle, or `-` for standard input
    #[arg(value_name = "BUNDLE")]
    pub bundle: PathBuf,
    /// Public key of a signer of the existing bundle: a file, or a name from hartlock.toml; give one for every
    /// signer
    #[arg(long = "verify-key", value_name = "KEY.pub.pem")]
    signers: Vec<PathBuf>,
    /// Signature scheme for RSA verification keys whose file does not state one; may be repeated
    #[arg(long = "verify-algorithm", value_name = "NAME", value_parser = values::algorithms(), hide_possible_values = true)]
    signer_algorithms: Vec<Algorithm>,
    /// File that describes the board, if `hartlock` does not know the board
    #[arg(long = "board", value_name = "BOARD.toml")]
    pub board: Option<PathBuf>,
    /// Do not verify the bundle: an attacker may have written it
    #[arg(long, conflicts_with = "signers")]
    pub unverified: bool,
}

impl SourceBundle {
    /// Returns the known boards, with the one of `--board`.
    pub fn boards(&self) -> Result<Boards, Failure> {
        board::boards(self.board.as_deref())
    }

    /// Returns the paths of all input files except keys.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.board.iter().chain([&self.bundle]).cloned().collect()
    }

    /// Verifies the bundle if that is required, and reads its content.
    pub fn read(&self, boards: &Boards) -> Result<Reused, Failure> {
        let refused = |error| Failure::from(error).with_path(&self.bundle);
        if self.unverified {
            return reuse::read(&self.bundle, boards).map_err(refused);
        }
        let read = |path: &PathBuf| PublicKey::read_for(path, &self.signer_algorithms);
        let files = project::keys(&self.signers, KeyHalf::Public, "--verify-key")?;
        let keys = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let used: Vec<_> = keys.iter().map(PublicKey::algorithm).collect();
        values::check_algorithms(&self.signer_algorithms, &used)?;
        // What the new bundle has is judged when it is built, so an old one with a fault can be mended.
        let expectation = Expectation { keys, boards: boards.clone(), ..Expectation::default() };
        let mut progress = Progress::new("verifying");
        let verified =
            verify_file(&self.bundle, &expectation, &mut |done, total| progress.show(done, total));
        drop(progress);
        let verified = verified.map_err(|error| match error {
            Error::Refused(refusal) if refusal.reason == Reason::SignerWithoutKey => {
                let hint = "pass the public key of each signer with `--verify-key`".to_string();
                refused(Error::Refused(Refusal { hint: Some(hint), ..refusal }))
            }
            other => refused(other),
        })?;
        let reused = reuse::read(&self.bundle, boards).map_err(refused)?;
        // The file was read again after it was verified, so both manifests are compared. Payloads are later
        // compared with the digests in this manifest.
        if reused.description != verified {
            return Err(
                Failure::refused(Reason::SignatureMismatch, Vec::new()).with_path(&self.bundle)
            );
        }
        Ok(reused)
    }
}
