//! Files that wait for the signatures of others (`spec/signers.md` §4, §5).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hartlock_boards::Boards;
use hartlock_files::{FileError, NewFile, read_small};
use hartlock_first_stage_model::{ROOM_SIZE, Requirements, verify};
use hartlock_image::first_stage::{FirstStageHeader, Front, Image};
use hartlock_image::{
    HEADER_SIZE, Head, KeyRecord, List, MAX_SIGNATURES_SIZE, MAX_SIGNERS, Manifest, Reason,
};
use hartlock_keys::{
    MAX_REQUEST, Message, PublicKey, SignRequest, SignerError, SignerReason, accepted,
};

use crate::build::signature_area;
use crate::describe::{Description, in_words};
use crate::first_stage::{
    FirstStageDescription, FirstStageKey, first_stage_in_words, is_first_stage, read,
};
use crate::verify::{Expectation, verify_open_file};
use crate::{Error, OnProgress, reuse};

/// Size in bytes of the pieces in which a file is copied.
const PIECE: u64 = 4 << 20;

/// A file without signatures, and what its signers sign.
pub struct Unsigned {
    file: File,
    path: PathBuf,
    size: u64,
    form: Form,
    /// The bytes that the signatures cover.
    pub signed: Vec<u8>,
    contents: Vec<String>,
    signers: Vec<PublicKey>,
}

enum Form {
    Bundle,
    FirstStage { image: Vec<u8>, key: FirstStageKey },
}

/// The file that is written when all have signed.
#[derive(Debug)]
pub enum Attached {
    /// A bundle.
    Bundle(Description),
    /// A first-stage image.
    FirstStage(FirstStageDescription),
}

impl Unsigned {
    /// Reads a file that [`crate::build::OutputForm::Unsigned`] or its counterpart for first stages made.
    ///
    /// # Errors
    /// `RequestOfOther` if the file is signed, or for other signers; the reason of the format if it is malformed.
    pub fn read(path: &Path, signers: Vec<PublicKey>, boards: &Boards) -> Result<Self, Error> {
        let (file, size) = hartlock_files::open(path)?;
        let other = |detail: &str| Error::from(of_other(path, detail));
        if is_first_stage(path) {
            let image = read(&file, path)?;
            let [signer] = &signers[..] else { return Err(other("it has one signer")) };
            let front = Front::parse(&image)?;
            let key = FirstStageKey::of(signer).filter(|key| key.is_front_of(&image));
            let key = key.ok_or_else(|| other("it is for another signer"))?;
            let parts = Image::parse(front, &image, None)?;
            let header = FirstStageHeader::parse(parts.signed, front.algorithm())?;
            if parts.trailing != 0
                || image[key.algorithm.signature_range()].iter().any(|it| *it != 0)
            {
                return Err(other("it is signed already, or has trailing bytes"));
            }
            let contents = first_stage_in_words(&FirstStageDescription::new(
                &header,
                key.digest,
                parts.code(),
            ));
            let signed = parts.signed.to_vec();
            let form = Form::FirstStage { image, key };
            return Ok(Self { file, path: path.into(), size, form, signed, contents, signers });
        }
        let read_at = |offset, len: usize| {
            let mut bytes = vec![0; len];
            match file.read_exact_at(&mut bytes, offset) {
                Ok(()) => Ok(bytes),
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                    Err(Error::from(Reason::Truncated))
                }
                Err(error) => Err(FileError::new("read", path, error).into()),
            }
        };
        let head = Head::parse(&read_at(0, HEADER_SIZE)?)?;
        let signed = read_at(0, head.signed_size())?;
        let area = read_at(head.signed_size() as u64, head.signatures_size())?;
        if area.iter().any(|it| *it != 0) {
            return Err(other("it is signed already"));
        }
        let records = records(&signers)?;
        let manifest = Manifest::parse(&signed, &records).map_err(|reason| match reason {
            Reason::SignerMismatch
            | Reason::SignatureBlockMissing
            | Reason::SignatureBlockExtra => other("it is for other signers"),
            reason => reason.into(),
        })?;
        if manifest.bundle_size != size {
            return Err(other("its length is not that of the bundle"));
        }
        let contents = in_words(&Description::new(&manifest, boards));
        Ok(Self { file, path: path.into(), size, form: Form::Bundle, signed, contents, signers })
    }

    /// Returns the request to sign it.
    pub fn request(&self) -> SignRequest {
        SignRequest::new(&Message { signed: &self.signed, contents: &self.contents }, &self.signers)
    }
}

fn of_other(path: &Path, detail: &str) -> SignerError {
    SignerError::new(SignerReason::RequestOfOther, path.display().to_string(), detail)
}

fn records(signers: &[PublicKey]) -> Result<List<KeyRecord, MAX_SIGNERS>, Reason> {
    let mut records = List::new();
    match signers.iter().all(|key| records.push(key.record())) {
        true => Ok(records),
        false => Err(Reason::SignerCountOutOfRange),
    }
}

/// The input of the step that adds signatures.
#[derive(Debug)]
pub struct Attach<'a> {
    /// Path of the request.
    pub request: &'a Path,
    /// Path of the file without signatures.
    pub unsigned: &'a Path,
    /// Paths of the signatures, in any order.
    pub signatures: &'a [PathBuf],
    /// Path of the result.
    pub output: &'a Path,
    /// Known boards.
    pub boards: &'a Boards,
    /// True if an existing file may be replaced.
    pub is_forced: bool,
}

impl Attach<'_> {
    /// Adds the signatures, and verifies the result before it gets its name.
    ///
    /// # Errors
    /// If request and file do not belong together, a signature is wrong or missing, or a verifier refuses the
    /// result. The output is then unchanged.
    pub fn run(&self, on_progress: OnProgress<'_>) -> Result<Attached, Error> {
        let inputs = || self.signatures.iter().map(PathBuf::as_path);
        let inputs = inputs().chain([self.request, self.unsigned]);
        hartlock_files::check_output(self.output, inputs, true)?;
        let name = self.request.display().to_string();
        let request = SignRequest::parse(&read_small(self.request, MAX_REQUEST)?, &name)?;
        let signers = request.public_keys().unwrap_or_default();
        let unsigned = Unsigned::read(self.unsigned, signers, self.boards)?;
        if unsigned.request() != request {
            return Err(of_other(self.request, "").into());
        }
        let blocks = self.blocks(&unsigned)?;
        match &unsigned.form {
            Form::Bundle => self.bundle(&unsigned, &blocks, on_progress),
            Form::FirstStage { image, key } => {
                let signature = blocks.first().map_or(&[][..], |(_, signature)| signature);
                self.first_stage(image.clone(), key, signature)
            }
        }
    }

    /// Finds the signer of each signature.
    fn blocks(&self, unsigned: &Unsigned) -> Result<Vec<(PublicKey, Vec<u8>)>, Error> {
        let mut found: Vec<Option<Vec<u8>>> = vec![None; unsigned.signers.len()];
        for path in self.signatures {
            let answer = read_small(path, 2 * MAX_SIGNATURES_SIZE)?;
            let of = |key: &PublicKey| accepted(key, &unsigned.signed, &answer);
            let at = unsigned.signers.iter().zip(&mut found);
            let mut at = at.filter_map(|(key, place)| Some((of(key)?, place)));
            let refuse = |detail: &str| {
                let name = path.display().to_string();
                SignerError::new(SignerReason::SignatureOfOther, name, detail)
            };
            match at.next() {
                Some((signature, place @ None)) => *place = Some(signature),
                Some(_) => return Err(refuse("this signer has signed already").into()),
                None => return Err(refuse("").into()),
            }
        }
        let missing: Vec<String> = unsigned
            .signers
            .iter()
            .zip(&found)
            .filter(|(_, signature)| signature.is_none())
            .map(|(key, _)| format!("{} {}", key.algorithm(), crate::describe::hex(&key.key_id())))
            .collect();
        if !missing.is_empty() {
            let detail = format!("no signature of {}", missing.join(", "));
            let name = self.request.display().to_string();
            return Err(SignerError::new(SignerReason::SignaturesIncomplete, name, detail).into());
        }
        Ok(unsigned.signers.iter().cloned().zip(found.into_iter().flatten()).collect())
    }

    fn bundle(
        &self,
        unsigned: &Unsigned,
        blocks: &[(PublicKey, Vec<u8>)],
        on_progress: OnProgress<'_>,
    ) -> Result<Attached, Error> {
        let manifest = Manifest::parse(&unsigned.signed, &records(&unsigned.signers)?)?;
        let bundle = NewFile::public(self.output)?;
        bundle.reserve(unsigned.size)?;
        let area = signature_area(&manifest, blocks)?;
        bundle.write_at(&unsigned.signed, 0)?;
        bundle.write_at(&area, unsigned.signed.len() as u64)?;
        let mut offset = (unsigned.signed.len() + area.len()) as u64;
        while offset < unsigned.size {
            let mut piece = vec![0; PIECE.min(unsigned.size - offset) as usize];
            unsigned
                .file
                .read_exact_at(&mut piece, offset)
                .map_err(|error| FileError::new("read", &unsigned.path, error))?;
            bundle.write_at(&piece, offset)?;
            offset += piece.len() as u64;
        }
        let expectation = Expectation {
            keys: unsigned.signers.clone(),
            boards: self.boards.clone(),
            ..Expectation::default()
        };
        let (file, path) = (bundle.handle()?, bundle.path());
        let description = verify_open_file(file, unsigned.size, path, &expectation, on_progress)?;
        let is_replaced = self.is_forced
            || !hartlock_files::is_standard(self.output)
                && reuse::is_earlier_version(self.output, &manifest);
        bundle.finish(is_replaced)?;
        Ok(Attached::Bundle(description))
    }

    fn first_stage(
        &self,
        mut image: Vec<u8>,
        key: &FirstStageKey,
        signature: &[u8],
    ) -> Result<Attached, Error> {
        let range = key.algorithm.signature_range();
        key.algorithm
            .signature_values(signature, &mut image[range])
            .ok_or(Reason::SignatureParametersDiffer)?;
        let mut file = NewFile::public(self.output)?;
        file.reserve(image.len() as u64)?;
        file.write(&image)?;
        let written = read(&file.handle()?, file.path())?;
        let requirements = Requirements {
            trusted: std::slice::from_ref(&key.digest),
            board: None,
            soc: None,
            floor: None,
            lifecycle: None,
            capacity: None,
            is_file: true,
        };
        let verified = verify(&written, &requirements, &mut vec![0; ROOM_SIZE])?;
        let description = FirstStageDescription::new(&verified.header, key.digest, verified.code);
        file.finish(self.is_forced)?;
        Ok(Attached::FirstStage(description))
    }
}
