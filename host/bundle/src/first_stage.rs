//! Builds, signs and verifies first-stage images (`spec/first-stage.md`).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hartlock_files::{FileError, NewFile};
use hartlock_first_stage_model::{FirstStage, ROOM_SIZE, Requirements, key_digest, verify};
use hartlock_image::first_stage::{
    CODE_ALIGNMENT, CODE_SIZES, FIRST_STAGE_HEADER_SIZE, FirstStageAlgorithm, FirstStageHeader,
    Front, Image, KeyDigest, NextKey, encode_front,
};
use hartlock_image::{BundleType, Lifecycle, Name, Reason};
use hartlock_keys::{Message, PublicKey, Signer};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::build::OutputForm;
use crate::describe::{hex, lifecycle_names};
use crate::units::grouped;
use crate::{Error, OnProgress, Refusal, content, defaults};

/// Maximum number of bytes that are read of a file. It is larger than the longest image, so that trailing
/// bytes are noticed.
const MOST_READ: u64 = *CODE_SIZES.end() + (1 << 20);

/// A public key of an algorithm that first-stage images can be signed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStageKey {
    front: [u8; hartlock_image::first_stage::FRONT_SIZE],
    /// Algorithm of the key.
    pub algorithm: FirstStageAlgorithm,
    /// Digest of the key, which a device stores (first stage §5).
    pub digest: KeyDigest,
}

impl FirstStageKey {
    /// Converts a public key. Returns `None` if first-stage images cannot be signed with its algorithm.
    pub fn of(key: &PublicKey) -> Option<Self> {
        let algorithm = FirstStageAlgorithm::of(key.algorithm())?;
        let front = encode_front(algorithm, &algorithm.key_area(key.as_bytes())?);
        let digest = key_digest(&Front::parse(&front).ok()?);
        Some(Self { front, algorithm, digest })
    }

    /// Returns true if an image begins with this key.
    pub(crate) fn is_front_of(&self, image: &[u8]) -> bool {
        image.starts_with(&self.front)
    }

    /// Converts a public key. The refusal of another algorithm calls the key `what`.
    ///
    /// # Errors
    /// Fails with `FirstStageAlgorithm`.
    fn required(key: &PublicKey, what: &str) -> Result<Self, Error> {
        Self::of(key).ok_or_else(|| {
            let context = format!("the algorithm of {what} is {}", key.algorithm());
            Refusal::with(Reason::FirstStageAlgorithm, context).into()
        })
    }
}

/// The input of a build of a first-stage image.
#[derive(Clone, Copy, Debug)]
pub struct FirstStageBuild<'a> {
    /// Path of the file with the code.
    pub code: &'a Path,
    /// The signer.
    pub key: &'a dyn Signer,
    /// Name of the board that the image is for.
    pub board: &'a str,
    /// Name of the SoC that the image is for.
    pub soc: &'a str,
    /// Security version, which anti-rollback compares.
    pub security_version: u64,
    /// Lifecycle states in which the image may start; `None` stands for the default of bundles.
    pub lifecycle: Option<&'a [Lifecycle]>,
    /// Public key of the next stage.
    pub next_key: Option<&'a PublicKey>,
    /// Path of the image.
    pub output: &'a Path,
    /// Files that the caller read. The output must not replace them.
    pub inputs: &'a [PathBuf],
    /// True if an existing file may be replaced. An existing image with the same signed part is replaced in
    /// any case.
    pub is_forced: bool,
    /// True if the content of the code file is not checked for its type.
    pub is_any_type: bool,
    /// The form in which the image is written.
    pub ending: OutputForm,
}

impl FirstStageBuild<'_> {
    /// Builds the image, and verifies what was written before the file gets its name. A stateful key uses up
    /// one index. It does so only after all other steps that can fail before the signature. `on_leaves`
    /// receives the number of tree leaves that such a key must compute again.
    ///
    /// # Errors
    /// Fails if a verifier would refuse the image, or a file fails. The output is then unchanged.
    pub fn run(&self, on_leaves: OnProgress<'_>) -> Result<FirstStageDescription, Error> {
        let inputs = || self.inputs.iter().map(PathBuf::as_path).chain([self.code]);
        hartlock_files::check_output(self.output, inputs(), true)?;
        let signer = FirstStageKey::required(&self.key.public(), "the signing key")?;
        let signed = self.signed_part(&signer)?;
        let header = FirstStageHeader::parse(&signed, signer.algorithm)?;
        let signed_at = signer.algorithm.signed_offset();
        let mut image = signer.front.to_vec();
        image.resize(signed_at, 0);
        image.extend(&signed);

        let is_again = !hartlock_files::is_standard(self.output)
            && has_same_signed_part(self.output, &image, signed_at);
        hartlock_files::check_output(self.output, [], self.is_forced || is_again)?;
        let description = |header, code| FirstStageDescription::new(&header, signer.digest, code);
        let planned = description(header, &signed[FIRST_STAGE_HEADER_SIZE..]);
        if self.ending == OutputForm::DryRun {
            return Ok(planned);
        }
        let mut file = NewFile::public(self.output)?;
        file.reserve(image.len() as u64)?;
        if self.ending == OutputForm::Unsigned {
            file.write(&image)?;
            file.finish(self.is_forced || is_again)?;
            return Ok(planned);
        }
        let message = Message { signed: &signed, contents: &first_stage_in_words(&planned) };
        let signature = self.key.sign_message(&message, on_leaves)?;
        let range = signer.algorithm.signature_range();
        // The algorithm was checked above, so only the size of the signature can be wrong.
        signer
            .algorithm
            .signature_values(&signature, &mut image[range])
            .ok_or(Reason::SignatureParametersDiffer)?;
        file.write(&image)?;
        let written = read(&file.handle()?, file.path())?;
        let verified = verify(&written, &self.requirements(&signer)?, &mut vec![0; ROOM_SIZE])?;
        let description = description(verified.header, verified.code);
        file.finish(self.is_forced || is_again)?;
        Ok(description)
    }

    /// Returns header and code, padded with zeros to a whole block.
    fn signed_part(&self, signer: &FirstStageKey) -> Result<Vec<u8>, Error> {
        let (file, size) = hartlock_files::open(self.code)?;
        if size == 0 || size > *CODE_SIZES.end() {
            let context = format!("{} has {} bytes", self.code.display(), grouped(size));
            return Err(Refusal::with(Reason::CodeSizeOutOfRange, context).into());
        }
        let mut code = read(&file, self.code)?;
        if code.len() as u64 != size {
            let changed = std::io::Error::other("it changed while it was read");
            return Err(FileError::new("read", self.code, changed).into());
        }
        if !self.is_any_type {
            content::check_code(&code, self.code)?;
        }
        // The code has at most 16 MiB, and that is a multiple of the block size, so padding cannot exceed it.
        code.resize(code.len().next_multiple_of(CODE_ALIGNMENT), 0);
        let next_key = match self.next_key {
            None => None,
            Some(key) => {
                let key = FirstStageKey::required(key, "the key of the next stage")?;
                Some(NextKey { algorithm: key.algorithm, digest: key.digest })
            }
        };
        let lifecycle = self.lifecycle.unwrap_or(&defaults::LIFECYCLE);
        let header = FirstStageHeader {
            algorithm: signer.algorithm,
            code_size: code.len() as u64,
            security_version: self.security_version,
            lifecycle_mask: lifecycle.iter().fold(0, |mask, state| mask | state.bit()),
            board: *self.board_name()?.field(),
            soc: *self.soc_name()?.field(),
            next_key,
        };
        Ok([header.encode().as_slice(), &code].concat())
    }

    fn board_name(&self) -> Result<Name, Reason> {
        Name::new(self.board).ok_or(Reason::BoardNameInvalid)
    }

    fn soc_name(&self) -> Result<Name, Reason> {
        Name::new(self.soc).ok_or(Reason::SocNameInvalid)
    }

    /// Returns the requirements of a device that the image is made for.
    fn requirements<'k>(&self, signer: &'k FirstStageKey) -> Result<Requirements<'k>, Reason> {
        Ok(Requirements {
            trusted: std::slice::from_ref(&signer.digest),
            board: Some(self.board_name()?),
            soc: Some(self.soc_name()?),
            floor: Some(self.security_version),
            lifecycle: None,
            capacity: None,
            is_file: true,
        })
    }
}

/// Returns what a first stage is, in words, one line each.
pub(crate) fn first_stage_in_words(description: &FirstStageDescription) -> Vec<String> {
    let FirstStageDescription { board, soc, security_version, lifecycle, .. } = description;
    let mut lines = vec![
        format!("first stage for {board} ({soc}), security version {security_version}"),
        format!("lifecycle {}", lifecycle.join(", ")),
        format!("code, {} bytes, sha256 {}", description.code_size, description.code_digest),
    ];
    let next = &description.next_key;
    lines.extend(next.iter().map(|it| format!("next stage by {} {}", it.algorithm, it.key_digest)));
    lines
}

/// Returns true if the file has the same content as `image`, apart from the signature.
fn has_same_signed_part(path: &Path, image: &[u8], signed_at: usize) -> bool {
    let Ok(bytes) = hartlock_files::open(path).and_then(|(file, _)| read(&file, path)) else {
        return false;
    };
    let front = image.len().min(hartlock_image::first_stage::FRONT_SIZE);
    bytes.len() == image.len()
        && bytes[..front] == image[..front]
        && bytes[signed_at..] == image[signed_at..]
}

/// The requirements for an image. A property that is `None` is not checked.
#[derive(Clone, Debug, Default)]
pub struct FirstStageExpectation {
    /// Trusted public keys. A key of an algorithm that first-stage images cannot be signed with is ignored.
    pub keys: Vec<PublicKey>,
    /// Board that the image must be for.
    pub board: Option<Name>,
    /// SoC that the image must be for.
    pub soc: Option<Name>,
    /// Minimum security version.
    pub floor: Option<u64>,
    /// Lifecycle state in which the image must be allowed to start.
    pub lifecycle: Option<Lifecycle>,
    /// Maximum size in bytes of code that the hardware has memory for.
    pub capacity: Option<u64>,
}

/// Returns true if a file begins with the tag of first-stage images. Returns false if it cannot be read.
pub fn is_first_stage(path: &Path) -> bool {
    let mut tag = [0; 16];
    hartlock_files::open(path).is_ok_and(|(file, _)| file.read_exact_at(&mut tag, 0).is_ok())
        && tag == *hartlock_image::first_stage::FIRST_STAGE_TAG
}

/// Verifies an image in a file, as hardware that trusts these keys would (first stage §8).
///
/// # Errors
/// Returns [`Error::Refused`] if the image is refused, [`Error::File`] if nothing could be decided.
pub fn verify_first_stage(
    path: &Path,
    expectation: &FirstStageExpectation,
) -> Result<FirstStageDescription, Error> {
    let (file, file_size) = hartlock_files::open(path)?;
    let image = read(&file, path)?;
    let trusted: Vec<KeyDigest> =
        expectation.keys.iter().filter_map(FirstStageKey::of).map(|key| key.digest).collect();
    let requirements = Requirements {
        trusted: &trusted,
        board: expectation.board,
        soc: expectation.soc,
        floor: expectation.floor,
        lifecycle: expectation.lifecycle,
        capacity: expectation.capacity,
        is_file: true,
    };
    match verify(&image, &requirements, &mut vec![0; ROOM_SIZE]) {
        Ok(FirstStage { key_digest, header, code }) => {
            Ok(FirstStageDescription::new(&header, key_digest, code))
        }
        Err(reason) => {
            let context = context(reason, &image, file_size, expectation);
            Err(Refusal { hint: hint(reason, &image), ..Refusal::of(reason, context) }.into())
        }
    }
}

/// Reads the bytes of a file, up to a little more than the maximum size of an image.
pub(crate) fn read(file: &File, path: &Path) -> Result<Vec<u8>, FileError> {
    let fail = |error| FileError::new("read", path, error);
    let len = file.metadata().map_err(fail)?.len().min(MOST_READ);
    let mut bytes = vec![0; len as usize];
    file.read_exact_at(&mut bytes, 0).map_err(fail)?;
    Ok(bytes)
}

/// Returns details about a refusal. The image was refused, so they explain but prove nothing.
fn context(
    reason: Reason,
    image: &[u8],
    file_size: u64,
    expectation: &FirstStageExpectation,
) -> Vec<String> {
    let one = |text: String| vec![text];
    let parts = || Image::parse(Front::parse(image).ok()?, image, None).ok();
    let header = || {
        let parts = parts()?;
        FirstStageHeader::parse(parts.signed, parts.front.algorithm()).ok()
    };
    let text = |field: [u8; 32]| field.trim_ascii_end().escape_ascii().to_string();
    let named = |what: &str, field: fn(&FirstStageHeader) -> [u8; 32], wanted: Option<Name>| {
        let Some(header) = header() else { return Vec::new() };
        let bytes = field(&header);
        let actual =
            Name::from_field(&bytes).map_or_else(|| text(bytes), |it| it.as_str().to_string());
        let wanted = wanted.map_or(String::new(), |it| format!(", not {}", it.as_str()));
        one(format!("signed for {what} {actual}{wanted}"))
    };
    match reason {
        Reason::Truncated => one(format!("the file has {} bytes", grouped(file_size))),
        Reason::UnknownTag => bundle_type(image)
            .map(|it| format!("the file is a {} bundle, not a first stage", it.name()))
            .into_iter()
            .collect(),
        Reason::NoTrustedSigner => Front::parse(image).map_or_else(
            |_| Vec::new(),
            |front| {
                let algorithm = front.algorithm().algorithm();
                one(format!("no key for signer {algorithm} {}", hex(&key_digest(&front))))
            },
        ),
        Reason::CodeSizeOutOfRange => Front::parse(image)
            .ok()
            .and_then(|front| hartlock_image::u64_at(image, front.algorithm().signed_offset() + 24))
            .map(|size| {
                let room = expectation.capacity.map_or(String::new(), |capacity| {
                    format!(", and there is room for {}", grouped(capacity))
                });
                format!("the header states {} bytes{room}", grouped(size))
            })
            .into_iter()
            .collect(),
        Reason::WrongBoard => named("board", |it| it.board, expectation.board),
        Reason::WrongSoc => named("SoC", |it| it.soc, expectation.soc),
        Reason::RollbackBelowFloor => header().map_or_else(Vec::new, |header| {
            one(format!(
                "security version {}, floor {}",
                header.security_version,
                expectation.floor.unwrap_or(0)
            ))
        }),
        Reason::LifecycleNotAllowed => header().map_or_else(Vec::new, |header| {
            one(format!(
                "signed for {}, not for {}",
                lifecycle_names(header.lifecycle_mask).join(", "),
                expectation.lifecycle.map_or("", Lifecycle::name)
            ))
        }),
        Reason::TrailingBytes => parts().map_or_else(Vec::new, |parts| {
            // The image may be shorter than the file, because a long file is not read completely.
            let end = (image.len() - parts.trailing) as u64;
            let bytes = grouped(file_size.saturating_sub(end));
            one(format!("bytes after the image: {bytes}"))
        }),
        _ => Vec::new(),
    }
}

/// Returns advice for this case of a reason, if the general advice for the reason is about bundles only.
fn hint(reason: Reason, image: &[u8]) -> Option<String> {
    let text = match reason {
        Reason::UnknownTag if bundle_type(image).is_some() => {
            "Verify the file as a bundle: leave `--form` out."
        }
        Reason::UnknownTag => "Check that this is the file that `hartlock sign` wrote.",
        Reason::NoTrustedSigner => "Give the public key of its signer with `--key`.",
        Reason::WrongBoard => "Sign the image for this board, with `--board`.",
        Reason::WrongSoc => "Sign the image for this SoC, with `--soc`.",
        Reason::WrongBundleType => {
            "The signature is genuine, and over something else: do not use the file."
        }
        Reason::ReservedNotZero | Reason::SignatureBlockPadding | Reason::SignerMismatch => {
            "Build the image again with `hartlock sign --form first-stage`."
        }
        Reason::LifecycleNotAllowed => "Sign the image for this state, with `--lifecycle`.",
        _ => return None,
    };
    Some(text.to_string())
}

fn bundle_type(image: &[u8]) -> Option<BundleType> {
    image.first_chunk().and_then(BundleType::from_tag)
}

/// The content of an image, in a form that owns its data and can be printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FirstStageDescription {
    /// Name of the board that the image is for.
    pub board: String,
    /// Name of the SoC that the image is for.
    pub soc: String,
    /// Security version, which anti-rollback compares.
    pub security_version: u64,
    /// Lifecycle states in which the image may start.
    pub lifecycle: Vec<&'static str>,
    /// Key of the signer.
    pub signer: KeyByDigest,
    /// Key of the next stage.
    pub next_key: Option<KeyByDigest>,
    /// Size of the image in bytes.
    pub image_size: u64,
    /// Offset of the signed part in the image.
    pub signed_offset: u64,
    /// Offset of the code in the image.
    pub code_offset: u64,
    /// Size of the code in bytes, with the zeros that fill its last block.
    pub code_size: u64,
    /// SHA-256 of the code, in hexadecimal.
    pub code_digest: String,
}

/// A public key that is identified by its digest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyByDigest {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Digest of the key (first stage §5) in hexadecimal.
    pub key_digest: String,
}

impl KeyByDigest {
    pub(crate) fn new(algorithm: FirstStageAlgorithm, digest: &KeyDigest) -> Self {
        Self { algorithm: algorithm.algorithm().to_string(), key_digest: hex(digest) }
    }
}

impl FirstStageDescription {
    pub(crate) fn new(header: &FirstStageHeader, digest: KeyDigest, code: &[u8]) -> Self {
        let name = |field: &[u8; 32]| {
            Name::from_field(field)
                .map_or_else(|| field.escape_ascii().to_string(), |name| name.as_str().to_string())
        };
        let signed_offset = header.algorithm.signed_offset() as u64;
        let code_offset = signed_offset + FIRST_STAGE_HEADER_SIZE as u64;
        Self {
            board: name(&header.board),
            soc: name(&header.soc),
            security_version: header.security_version,
            lifecycle: lifecycle_names(header.lifecycle_mask),
            signer: KeyByDigest::new(header.algorithm, &digest),
            next_key: header.next_key.map(|next| KeyByDigest::new(next.algorithm, &next.digest)),
            image_size: code_offset + header.code_size,
            signed_offset,
            code_offset,
            code_size: header.code_size,
            code_digest: hex(&Sha256::digest(code)),
        }
    }
}
