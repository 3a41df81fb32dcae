//! Builds a bundle and verifies the result before the file gets its name.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hartlock_boards::{Boards, KnownBoard};
use hartlock_image::{
    BundleType, Closing, EncryptionField, Extensions, HashId, Identity, IdentityField, KeyRecord,
    Label, List, MAX_BOOTARGS, MAX_OTHER_IDENTITIES, MAX_SIGNATURES_SIZE, MAX_SIGNED_SIZE,
    MAX_SIGNERS, MAX_TRUSTED_KEYS, Manifest, Name, PAGE_SIZE, PayloadRecord, PayloadType, Policy,
    Reason, TreeMode, TrustList, Writer, align_up, encode_manifest,
};

use crate::content::Context;
use crate::describe::{Description, in_words};
use crate::digest::{Plan, core_count};
use crate::encryption::{self, Ciphers};
use crate::spec::{BundleSpec, IdentitySpec, ModeName, PayloadSpec, SpecError, TrustSpec};
use crate::verify::{Expectation, verify_open_file};
use crate::{
    Error, OnProgress, Refusal, boot_tree, content, defaults, profile, refusal_detail, reuse,
    system_tree,
};
use hartlock_files::{FileError, NewFile};
use hartlock_keys::{Message, PublicKey, Signer};
use hartlock_verify::board::Fixed;

mod extract;
mod statement;
#[cfg(test)]
mod tests;
mod written;

pub use extract::extract;
pub use statement::rom_statement;
pub(crate) use statement::stage;

/// The input of a build.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// Description of the bundle.
    pub spec: &'a BundleSpec,
    /// The signers, in the order of the signature blocks.
    pub keys: &'a [&'a dyn Signer],
    /// Creation date in seconds since 1970-01-01: see [`crate::spec::created`].
    pub created: u64,
    /// Path of the bundle.
    pub output: &'a Path,
    /// Known boards.
    pub boards: &'a Boards,
    /// Further files that the caller read. The output must not replace them.
    pub inputs: &'a [PathBuf],
    /// True if an existing file may be replaced. An earlier version of the bundle, which has the same type and no
    /// other signers, is replaced in any case.
    pub is_forced: bool,
    /// True if the content of payload files is not checked for its type.
    pub is_any_type: bool,
    /// The form in which the bundle is written.
    pub ending: OutputForm,
}

/// The form in which a bundle or a first-stage image is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// Signed and verified.
    Signed,
    /// With zeros in the place of the signatures, which are made elsewhere. Every verifier refuses this form.
    Unsigned,
    /// Nothing is signed or written.
    DryRun,
}

/// Builds a bundle without checking the types of payload files. An existing output is replaced, unless it is
/// an input or a private key.
///
/// # Errors
/// Same as [`Build::run`].
pub fn build(
    spec: &BundleSpec,
    keys: &[impl Signer],
    created: u64,
    output: &Path,
    on_progress: OnProgress<'_>,
) -> Result<Description, Error> {
    let keys: Vec<_> = keys.iter().map(|key| key as &dyn Signer).collect();
    let build = Build {
        spec,
        keys: &keys,
        created,
        output,
        boards: &Boards::default(),
        inputs: &[],
        is_forced: true,
        is_any_type: true,
        ending: OutputForm::Signed,
    };
    build.run(on_progress, &mut |_, _| ())
}

impl Build<'_> {
    /// Builds the bundle. `on_leaves` receives the number of tree leaves that stateful keys must compute
    /// again, for one key after the other.
    ///
    /// Before the file gets its name, the verifier of the boot stages reads back the manifest and the
    /// signatures, so that a bundle that a device would refuse is refused here with the same reason. Payloads
    /// are not read again: their digests were computed from the same buffers that were written.
    ///
    /// A stateful key uses up one index. It does so only after all other steps that can fail before the
    /// signature.
    ///
    /// # Errors
    /// Fails if a verifier would refuse the bundle, the description is incomplete, or a file fails. The
    /// output is then unchanged.
    pub fn run(
        &self,
        on_progress: OnProgress<'_>,
        on_leaves: OnProgress<'_>,
    ) -> Result<Description, Error> {
        let Self { spec, keys, output, .. } = *self;
        // Replacing is allowed here, because the manifest to compare with an existing file does not exist
        // yet. The check is repeated below.
        hartlock_files::check_output(output, self.inputs().map(PathBuf::as_path), true)?;
        let sources = open_sources(spec)?;
        self.judge(&sources)?;
        if spec.encrypt.is_some() && spec.bundle_type == Some(BundleType::Boot) {
            return Err(SpecError::EncryptionInBoot.into());
        }
        let identities = other_identities(spec)?;
        let sizes: Vec<_> = sources.iter().map(|it| (it.spec.payload_type, it.size)).collect();
        let encryption = encryption::EncryptionPlan::new(spec, &sizes)?;
        let lists = (&identities[..], &encryption.fields[..]);
        let mut manifest = plan(spec, self.boards, lists, keys, self.created, &sources)?;
        let ciphers = encryption.ciphers(&manifest);
        check_signers(&manifest, keys)?;
        // This check comes before a stateful key uses up an index.
        profile::check(&manifest, spec.profile)?;
        let payload_bytes: u64 = manifest.payloads.iter().map(|payload| payload.size).sum();
        // Each byte counts twice: when it is hashed and when it is written.
        let total = payload_bytes.saturating_mul(2);

        let bundle = NewFile::public(output)?;
        // Bytes that are not written stay zero. They are the padding.
        bundle.reserve(manifest.bundle_size)?;
        let mut done = 0;
        for (payload, source) in manifest.payloads.iter_mut().zip(&sources) {
            let at = payload.offset;
            let encrypt = |offset: u64, bytes: &mut [u8]| {
                encryption.encrypt(payload.payload_type, offset, bytes);
            };
            payload.digest =
                copy_and_digest(payload, source, (&bundle, at), encrypt, &mut |bytes| {
                    done += 2 * bytes;
                    on_progress(done, total);
                })?;
            if let Some(record) = &source.spec.part {
                // In counter mode the same operation decrypts.
                extract::check_copy(record, &bundle, at, encrypt)?;
            }
        }
        let signed = encode(&manifest)?;
        // What follows relies on load ranges that are well formed.
        check_form(&manifest, &signed, self.boards)
            .map_err(|reason| with_map(reason.into(), &manifest, self.boards))?;
        let file = bundle.handle()?;
        // The bytes in the bundle are judged, and not the source, which may have changed since it was read.
        let read = |offset, into: &mut [u8]| {
            file.read_exact_at(into, offset).map_err(|_| Reason::MediumError)
        };
        judge_contents(&manifest, (output, true), self.boards, &ciphers, read)?;
        let is_replaced = self.is_forced
            || !hartlock_files::is_standard(output) && reuse::is_earlier_version(output, &manifest);
        hartlock_files::check_output(output, [], is_replaced)?;
        let planned = Description::new(&manifest, self.boards);
        let description = match self.ending {
            OutputForm::DryRun => return Ok(planned),
            OutputForm::Unsigned => {
                bundle.write_at(&signed, 0)?;
                planned
            }
            OutputForm::Signed => {
                let contents = in_words(&planned);
                let area = sign(&signed, &contents, &manifest, keys, on_leaves)?;
                bundle.write_at(&[signed, area].concat(), 0)?;
                verify(&bundle, &manifest, keys, self.boards)?
            }
        };
        bundle.finish(is_replaced)?;
        Ok(description)
    }

    /// Judges the payloads. Of one from another bundle the type is not judged again.
    fn judge(&self, sources: &[Source<'_>]) -> Result<(), Error> {
        // What was encrypted before cannot be judged.
        let is_plain = |it: &&Source<'_>| it.spec.encryption.is_none();
        let sources = || sources.iter().filter(is_plain);
        let kernel = sources().find(|it| it.spec.payload_type == PayloadType::Kernel);
        let is_linux =
            |it: &Source<'_>| content::is_linux(it.size, |at, into| it.read_at(into, at));
        let is_linux = kernel.map(is_linux).transpose()?.unwrap_or(false);
        for source in sources() {
            let spec = source.spec;
            let is_in_bundle = spec.part.is_some();
            let context = Context {
                is_forced: self.is_any_type || is_in_bundle,
                is_linux,
                is_in_bundle,
                // Memory that nobody states is what the kernel needs. Less than the file is E0510.
                memory_size: spec.memory_size.filter(|it| *it >= source.size).unwrap_or(u64::MAX),
            };
            let read = |at, into: &mut [u8]| source.read_at(into, at);
            content::check(spec.payload_type, source.size, &spec.file, context, read).map_err(
                |mut error| {
                    if let Error::Content(error) = &mut error {
                        error.place.clone_from(&spec.place);
                    }
                    error
                },
            )?;
        }
        Ok(())
    }

    /// Iterates over all files that the build reads.
    fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        let trusted = self.spec.trust.iter().flat_map(|trust| &trust.keys);
        let payloads = self.spec.payloads.iter().map(|payload| &payload.file);
        self.inputs.iter().chain(payloads).chain(trusted).chain(&self.spec.encrypt)
    }
}

/// Judges what the payloads are for those who use them. What is encrypted and cannot be decrypted is not judged.
pub(crate) fn judge_contents(
    manifest: &Manifest<'_>,
    (path, is_any_type): (&Path, bool),
    boards: &Boards,
    ciphers: &Ciphers,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), Reason>,
) -> Result<(), Error> {
    let decrypted = |offset: u64, into: &mut [u8]| {
        read(offset, into)?;
        ciphers.decrypt(offset, into);
        Ok(())
    };
    content::judge(manifest, path, is_any_type, ciphers, decrypted)?;
    boot_tree::judge(manifest, boards, &mut read)?;
    system_tree::judge(manifest, boards, ciphers, &mut read)
}

/// Checks the manifest as a verifier would, without signatures and payloads.
fn check_form(manifest: &Manifest<'_>, signed: &[u8], boards: &Boards) -> Result<(), Reason> {
    Manifest::parse(signed, &manifest.signers)?;
    for board in manifest.identities().filter_map(|it| boards.by_name(it.board.as_str())) {
        for payload in manifest.payloads.iter() {
            board.map().check(manifest.bundle_type, payload)?;
        }
    }
    Ok(())
}

/// Verifies the bundle that was written. The digests of payloads are those computed while they were written.
fn verify(
    bundle: &NewFile,
    manifest: &Manifest<'_>,
    keys: &[&dyn Signer],
    boards: &Boards,
) -> Result<Description, Error> {
    written::verify(bundle.handle()?, manifest, keys, boards).or_else(|_| {
        // The complete verifier determines the reason. It reads payloads only if everything before them is
        // correct.
        let expectation = Expectation {
            keys: keys.iter().map(|key| key.public()).collect(),
            boards: boards.clone(),
            ..Expectation::default()
        };
        verify_open_file(
            bundle.handle()?,
            manifest.bundle_size,
            bundle.path(),
            &expectation,
            &mut |_, _| (),
        )
        .map_err(|error| with_map(error, manifest, boards))
    })
}

/// An open payload file, or the part of a bundle that holds a payload.
struct Source<'a> {
    spec: &'a PayloadSpec,
    file: File,
    /// Offset of the payload in the file, in bytes.
    offset: u64,
    size: u64,
}

impl<'a> Source<'a> {
    fn open(spec: &'a PayloadSpec) -> Result<Self, Error> {
        let (file, len) = hartlock_files::open(&spec.file)?;
        let (offset, size) = spec.part.as_ref().map_or((0, len), |part| (part.offset, part.size));
        Ok(Self { spec, file, offset, size })
    }
}

/// Opens all payload files, in the order of their types.
fn open_sources(spec: &BundleSpec) -> Result<Vec<Source<'_>>, Error> {
    let mut payloads: Vec<&PayloadSpec> = spec.payloads.iter().collect();
    payloads.sort_by_key(|payload| payload.payload_type);
    if let Some(pair) =
        payloads.windows(2).find(|pair| pair[0].payload_type == pair[1].payload_type)
    {
        let name = pair[0].payload_type.name();
        let context = format!("the {name} is described twice");
        let hint = Some(format!("describe the {name} once"));
        return Err(Refusal { hint, ..Refusal::with(Reason::PayloadOrder, context) }.into());
    }
    payloads.into_iter().map(Source::open).collect()
}

/// Returns the signature algorithms that a loader states that it supports (boot flow §5.5): bit i stands for
/// algorithm number i of image format §2.2. Returns `None` if the loader contains no statement.
///
/// # Errors
/// Fails if the file cannot be read, or contains two different statements.
pub fn loader_statement(path: &Path) -> Result<Option<u64>, Error> {
    statement::find(&hartlock_files::open(path)?.0, path)
}

/// Makes the manifest, with zeros for the digests of payloads.
fn plan<'a>(
    spec: &'a BundleSpec,
    boards: &Boards,
    (identities, encryption): (&'a [IdentityField], &'a [EncryptionField]),
    keys: &[&dyn Signer],
    created: u64,
    sources: &[Source<'_>],
) -> Result<Manifest<'a>, Error> {
    let bundle_type = spec.bundle_type.ok_or(SpecError::TypeMissing)?;
    let default = boards.default_board();
    let name = spec.board.as_deref().or(default.map(KnownBoard::name)).unwrap_or_default();
    let board = boards.by_name(name);
    // For an unknown board the SoC of the default board is assumed.
    let soc = spec
        .soc
        .as_deref()
        .or(board.or(default).map(|it| it.description.soc.as_str()))
        .unwrap_or_default();
    let lifecycle = spec.lifecycle.as_deref().unwrap_or(&defaults::LIFECYCLE);
    let mut signers = List::<KeyRecord, MAX_SIGNERS>::new();
    for key in keys {
        if !signers.push(key.public().record()) {
            return Err(Reason::SignerCountOutOfRange.into());
        }
    }
    // The verifier would report invalid sizes, but the cause is the missing key.
    if keys.is_empty() {
        return Err(Reason::SignerCountOutOfRange.into());
    }
    if sources.is_empty() {
        let context = missing(bundle_type, |_| false);
        return Err(Error::Refused(Refusal::of(Reason::PayloadMissing, context)));
    }
    let signatures_size: usize = keys.iter().map(|key| block_size(*key)).sum();
    let mut manifest = Manifest {
        bundle_type,
        signatures_size: signatures_size as u32,
        bundle_size: 0,
        security_version: spec.security_version.ok_or(SpecError::SecurityVersionMissing)?,
        created,
        lifecycle_mask: lifecycle.iter().fold(0, |mask, state| mask | state.bit()),
        identity: identity(name, soc)?,
        label: Label::new(spec.label.as_deref().unwrap_or("")).ok_or(Reason::LabelInvalid)?,
        signers,
        payloads: List::new(),
        extensions: Extensions { encryption, ..extensions(spec, identities, bundle_type)? },
        closing: closing(spec, bundle_type, sources)?,
    };
    let mut records: Vec<_> =
        sources.iter().map(|it| record(spec, boards, name, it)).collect::<Result<_, _>>()?;
    let is_default: Vec<_> = sources.iter().map(|it| it.spec.load_address.is_none()).collect();
    defaults::arrange(&mut records, &is_default, |it| alignment(board, it));
    for record in records {
        if !manifest.payloads.push(record) {
            return Err(Reason::PayloadCountOutOfRange.into());
        }
    }
    // Offsets depend on the size of the manifest, which does not depend on the values of offsets and digests.
    let signed_size = encode(&manifest)?.len();
    let mut end = (signed_size + signatures_size) as u64;
    for payload in manifest.payloads.iter_mut() {
        payload.offset = align_up(end, PAGE_SIZE).ok_or(Reason::PayloadSizeOutOfRange)?;
        end = payload.offset.checked_add(payload.size).ok_or(Reason::PayloadSizeOutOfRange)?;
    }
    manifest.bundle_size = align_up(end, PAGE_SIZE).ok_or(Reason::PayloadSizeOutOfRange)?;
    Ok(manifest)
}

/// Returns the alignment of a load address on a board.
fn alignment(board: Option<&KnownBoard>, payload_type: PayloadType) -> u64 {
    let map = board.map(KnownBoard::map);
    let place = map.and_then(|map| map.places.iter().find(|it| it.payload_type == payload_type));
    match place.map(|place| place.fixed) {
        Some(Fixed::Aligned(alignment)) => alignment,
        _ => PAGE_SIZE,
    }
}

fn identity(board: &str, soc: &str) -> Result<Identity, Reason> {
    Ok(Identity {
        board: Name::new(board).ok_or(Reason::BoardNameInvalid)?,
        soc: Name::new(soc).ok_or(Reason::SocNameInvalid)?,
    })
}

/// Encodes the identities of the further devices, after the first one.
fn other_identities(spec: &BundleSpec) -> Result<Vec<IdentityField>, Error> {
    if spec.also_for.len() > MAX_OTHER_IDENTITIES {
        return Err(SpecError::TooManyDevices.into());
    }
    let field = |it: &IdentitySpec| Ok(identity(&it.board, &it.soc)?.field());
    spec.also_for.iter().map(field).collect()
}

fn extensions<'a>(
    spec: &BundleSpec,
    identities: &'a [IdentityField],
    bundle_type: BundleType,
) -> Result<Extensions<'a>, Error> {
    let mut extensions = Extensions { identities, ..Extensions::NONE };
    if let Some(version) = spec.min_boot_version {
        if bundle_type == BundleType::Boot {
            return Err(SpecError::BootVersionInBoot.into());
        }
        extensions.boot_version = Some(NonZeroU64::new(version).ok_or(Reason::BootVersionZero)?);
    }
    Ok(extensions)
}

fn closing<'a>(
    spec: &'a BundleSpec,
    bundle_type: BundleType,
    sources: &[Source<'_>],
) -> Result<Closing<'a>, Error> {
    match bundle_type {
        BundleType::Boot if spec.bootargs.is_some() => Err(SpecError::BootargsInBoot.into()),
        BundleType::System if spec.trust.is_some() => Err(SpecError::TrustInSystem.into()),
        BundleType::Boot => {
            let list = match &spec.trust {
                Some(trust) => trust_list(trust)?,
                None => TrustList { policy: Policy::Any, keys: List::new() },
            };
            Ok(Closing::Trust { list, carried: carried(&list, sources)? })
        }
        BundleType::System => {
            let bootargs = spec.bootargs.as_deref().unwrap_or("");
            if bootargs.len() > MAX_BOOTARGS {
                let more = bootargs.len() - MAX_BOOTARGS;
                let context = format!(
                    "it has {} bytes, {more} more than the {MAX_BOOTARGS} that Linux on RISC-V keeps",
                    bootargs.len()
                );
                return Err(Error::Refused(Refusal::with(Reason::BootargsTooLong, context)));
            }
            Ok(Closing::Bootargs(bootargs.as_bytes()))
        }
    }
}

/// Returns the signature algorithms that the loader states. A loader without a statement is assumed to
/// support the algorithms of its trusted keys.
fn carried(list: &TrustList, sources: &[Source<'_>]) -> Result<u64, Error> {
    let loader = sources.iter().find(|it| it.spec.payload_type == PayloadType::Loader);
    let stated = match loader {
        Some(loader) => statement::find(&loader.file, &loader.spec.file)?,
        None => None,
    };
    let of_keys = || {
        let bit = |key: &KeyRecord| 1u64.checked_shl(key.algorithm).unwrap_or(0);
        list.keys.iter().fold(0, |bits, key| bits | bit(key))
    };
    Ok(stated.unwrap_or_else(of_keys))
}

fn trust_list(trust: &TrustSpec) -> Result<TrustList, Error> {
    let mut keys = List::<KeyRecord, MAX_TRUSTED_KEYS>::new();
    for record in &trust.records {
        if !keys.push(*record) {
            return Err(Reason::TrustedKeyCountOutOfRange.into());
        }
    }
    for path in &trust.keys {
        if !keys.push(PublicKey::read_for(path, &trust.algorithms)?.record()) {
            return Err(Reason::TrustedKeyCountOutOfRange.into());
        }
    }
    Ok(TrustList { policy: trust.policy, keys })
}

/// Makes the record of a payload, without offset and digest.
fn record(
    spec: &BundleSpec,
    boards: &Boards,
    name: &str,
    source: &Source<'_>,
) -> Result<PayloadRecord, Error> {
    let payload = source.spec;
    let payload_type = payload.payload_type;
    let load_address = payload
        .load_address
        .or_else(|| boards.by_name(name)?.load_address(payload_type))
        .ok_or_else(|| SpecError::LoadAddressMissing {
            payload: payload_type.name(),
            board: name.to_string(),
        })?;
    let memory_size = match payload.memory_size {
        Some(memory_size) => memory_size,
        None => {
            let start = source.start(defaults::IMAGE_HEADER_SIZE)?;
            defaults::memory_size(boards, name, payload_type, source.size, &start).ok_or_else(
                || {
                    let context =
                        format!("the {} needs more memory than there is", payload_type.name());
                    Error::Refused(Refusal::with(Reason::LoadRangeWraps, context))
                },
            )?
        }
    };
    let is_code = payload_type.is_code();
    let (hash, mode) = digest_rule(spec, payload)?;
    Ok(PayloadRecord {
        payload_type,
        hash,
        mode,
        offset: 0,
        size: source.size,
        load_address,
        memory_size,
        entry: payload.entry.unwrap_or(if is_code { load_address } else { 0 }),
        digest: [0; 64],
    })
}

/// Determines hash and mode of a payload. The setting of the payload comes first, then that of the bundle,
/// then the default of the payload type. If only one of hash and mode is set, the other one is chosen to
/// match it.
fn digest_rule(spec: &BundleSpec, payload: &PayloadSpec) -> Result<(HashId, TreeMode), Error> {
    let hash = payload.hash.or(spec.hash);
    let is_shake = matches!(hash, Some(HashId::Shake128 | HashId::Shake256));
    let name = payload.mode.unwrap_or_else(|| {
        if is_shake {
            ModeName::ParallelHash
        } else if payload.block_size.is_some() || defaults::is_in_blocks(payload.payload_type) {
            ModeName::Blocks
        } else {
            ModeName::Flat
        }
    });
    let block_size = payload.block_size.or(spec.block_size).unwrap_or(defaults::BLOCK_SIZE);
    let mode = match name {
        ModeName::Flat => TreeMode::from_fields(1, payload.block_size.unwrap_or(0)),
        ModeName::Blocks => TreeMode::from_fields(2, block_size),
        ModeName::ParallelHash => TreeMode::from_fields(3, block_size),
    }
    .map_err(|reason| {
        let payload = payload.payload_type.name();
        Refusal::with(reason, format!("the block size of the {payload} is {block_size} bytes"))
    })?;
    let hash = hash.unwrap_or(match mode {
        TreeMode::ParallelHash { .. } => defaults::PARALLELHASH,
        TreeMode::Flat | TreeMode::Blocks { .. } => defaults::HASH,
    });
    if !mode.allows(hash) {
        let payload = payload.payload_type.name();
        let context = format!("the {payload} has mode {} with hash {}", mode.name(), hash.name());
        return Err(Error::Refused(Refusal::with(Reason::HashModeNotAllowed, context)));
    }
    Ok((hash, mode))
}

impl Source<'_> {
    fn fail(&self, source: io::Error) -> FileError {
        FileError::new("read", &self.spec.file, source)
    }

    /// Reads the first bytes of the payload, at most `most`.
    fn start(&self, most: usize) -> Result<Vec<u8>, FileError> {
        let mut start = vec![0; self.size.min(most as u64) as usize];
        self.read_at(&mut start, 0)?;
        Ok(start)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<(), FileError> {
        self.file.read_exact_at(bytes, self.offset + offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.changed(),
            _ => self.fail(error),
        })
    }

    fn changed(&self) -> FileError {
        self.fail(io::Error::other("it changed while it was read"))
    }
}

/// Copies a payload into the bundle at offset `at` and computes its digest. Each byte is read once into a buffer, where
/// `cipher` encrypts it; hash and output use the same buffer, so that the bundle contains exactly what was hashed.
fn copy_and_digest(
    payload: &PayloadRecord,
    source: &Source<'_>,
    (bundle, at): (&NewFile, u64),
    cipher: impl Fn(u64, &mut [u8]) + Sync,
    on_bytes: &mut dyn FnMut(u64),
) -> Result<[u8; 64], Error> {
    let plan = Plan::new(payload, core_count());
    let digest = plan.digest(
        |piece| {
            let offset = piece.offset();
            source.read_at(piece.bytes(), offset)?;
            cipher(offset, piece.bytes());
            bundle.write_at(piece.padded(), at + offset)
        },
        on_bytes,
    )?;
    if source.spec.part.is_some() {
        return Ok(digest);
    }
    // A file that has become longer would otherwise be signed without its end.
    match source.file.read_at(&mut [0], payload.size).map_err(|error| source.fail(error))? {
        0 => Ok(digest),
        _ => Err(source.changed().into()),
    }
}

fn encode(manifest: &Manifest<'_>) -> Result<Vec<u8>, Error> {
    let mut signed = vec![0; MAX_SIGNED_SIZE];
    let size = encode_manifest(manifest, &mut signed).ok_or(Reason::SignedSizeOutOfRange)?;
    signed.truncate(size);
    Ok(signed)
}

/// Returns the signature area (image format §5.1) after all signers have signed.
fn sign(
    signed: &[u8],
    contents: &[String],
    manifest: &Manifest<'_>,
    keys: &[&dyn Signer],
    on_leaves: OnProgress<'_>,
) -> Result<Vec<u8>, Error> {
    let message = Message { signed, contents };
    let blocks = keys.iter().map(|key| Ok((key.public(), key.sign_message(&message, on_leaves)?)));
    signature_area(manifest, &blocks.collect::<Result<Vec<_>, Error>>()?)
}

/// Encodes public keys and signatures, in the order of the signers.
pub(crate) fn signature_area(
    manifest: &Manifest<'_>,
    blocks: &[(PublicKey, Vec<u8>)],
) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; manifest.signatures_size as usize];
    let mut area = Writer::new(&mut bytes);
    for (public, signature) in blocks {
        let (algorithm, parameters) = public.algorithm().numbers();
        area.put_u32(algorithm);
        area.put_u32(parameters);
        area.put_u32(public.as_bytes().len() as u32);
        area.put_u32(signature.len() as u32);
        area.put(public.as_bytes());
        area.pad_to(8);
        area.put(signature);
        area.pad_to(8);
    }
    // Fails unless the area is filled exactly; the verifier would refuse anything else.
    area.finish().ok_or(Reason::SignaturesSizeOutOfRange)?;
    Ok(bytes)
}

/// Returns the size of a key's signature block in bytes (image format §5.1).
fn block_size(key: &dyn Signer) -> usize {
    16 + key.public().algorithm().public_key_size().next_multiple_of(8)
        + key.signature_size().next_multiple_of(8)
}

/// Refuses signers that the verifier would refuse. This check comes before a stateful key uses up an index.
fn check_signers(manifest: &Manifest<'_>, keys: &[&dyn Signer]) -> Result<(), Error> {
    let signers: Vec<_> = manifest.signers.iter().collect();
    if (1..signers.len()).any(|at| signers[..at].contains(&signers[at])) {
        return Err(Reason::DuplicateSigner.into());
    }
    if let Some(key) = keys.iter().find(|key| !hartlock_verify::carries(key.public().algorithm())) {
        let context = format!("this build cannot verify {}", key.public().algorithm());
        return Err(Error::Refused(Refusal::with(Reason::TrustedAlgorithmMissing, context)));
    }
    if manifest.signatures_size as usize > MAX_SIGNATURES_SIZE {
        return Err(Reason::SignaturesSizeOutOfRange.into());
    }
    Ok(())
}

/// Adds the payloads' load addresses to the context of a refusal that is about payloads.
fn with_map(error: Error, manifest: &Manifest<'_>, boards: &Boards) -> Error {
    match error {
        Error::Refused(mut refusal) if matches!(refusal.reason as u16, 500..=599 | 700..=799) => {
            if refusal.reason == Reason::PayloadMissing {
                let has = |kind| manifest.payload(kind).is_some();
                refusal.context = missing(manifest.bundle_type, has);
            }
            if let Some(detail) = refusal_detail::find(refusal.reason, manifest, boards) {
                refusal.context = vec![detail.what];
                refusal.hint = Some(detail.remedy);
            }
            refusal.context.extend(manifest.payloads.iter().map(|payload| {
                format!(
                    "{:<10}  {:#x} to {:#x}, entry {:#x}, {} bytes",
                    payload.payload_type.name(),
                    payload.load_address,
                    payload.memory_end(),
                    payload.entry,
                    payload.size
                )
            }));
            Error::Refused(refusal)
        }
        other => other,
    }
}

/// Lists the payloads that the bundle type requires and the bundle lacks, one line each.
fn missing(bundle_type: BundleType, has: impl Fn(PayloadType) -> bool) -> Vec<String> {
    let required = bundle_type.payload_types().iter().filter(|kind| kind.is_required());
    required
        .filter(|kind| !has(**kind))
        .map(|kind| format!("{:<10}  missing", kind.name()))
        .collect()
}
