//! Recognises the types of payload files, so that a wrong file is found before a device tries to boot it.

use std::path::{Path, PathBuf};

use hartlock_handoff::bootargs;
use hartlock_handoff::payload::{self, LinuxFault, OpensbiFault};
use hartlock_image::{Manifest, PayloadRecord, PayloadType, Reason, u32_at, u64_at};
use hartlock_verify::Statement;

use crate::encryption::Ciphers;
use crate::initramfs::{self, Compression, CompressionFault, InitramfsFault};
use crate::units::grouped;
use crate::{Error, Refusal};

/// Number of bytes that are searched for the magic bytes of code without a header. Firmware is much smaller.
pub(crate) const SEARCHED: usize = 16 << 20;

/// Number of bytes of other files that are searched for marks without a fixed offset.
const START: usize = 4096;

/// A file type that is recognised by its magic bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    /// Name of the file type, with its article.
    pub name: &'static str,
    /// Offset of the magic bytes; `None` if they may be anywhere.
    at: Option<usize>,
    mark: &'static [u8],
    /// Bytes that are somewhere else in the file; empty for no others.
    also: &'static [u8],
    /// Advice on how to get a file of the right type, in which FILE stands for the path.
    remedy: Option<&'static str>,
}

const fn form(name: &'static str, at: usize, mark: &'static [u8]) -> Form {
    Form { name, at: Some(at), mark, also: b"", remedy: None }
}

impl Form {
    const fn anywhere(name: &'static str, mark: &'static [u8]) -> Self {
        Self { at: None, ..form(name, 0, mark) }
    }

    const fn and(self, also: &'static [u8]) -> Self {
        Self { also, ..self }
    }

    const fn remedy(self, remedy: &'static str) -> Self {
        Self { remedy: Some(remedy), ..self }
    }
}

const RISCV_IMAGE: &str = "a RISC-V Linux image";
const ZBOOT: &str = "a compressed EFI kernel";
const FDT: &str = "a device tree";
const CPIO: &str = "a cpio archive";
const ELF: &str = "an ELF file";
const OPENSBI: &str = "OpenSBI";
pub(crate) const LOADER: &str = "a Hartlock loader";
pub(crate) const ROM: &str = "a Hartlock ROM";
const GZIP: &str = "gzip data";
const XZ: &str = "xz data";
const ZSTD: &str = "zstd data";
const LZ4: &str = "lz4 data of the legacy format";
const LZ4_FRAME: &str = "an lz4 frame";
const BZIP2: &str = "bzip2 data";
const LZMA: &str = "lzma data";
const LZO: &str = "lzo data";

const EXTRACT: &str = "take the payload out of it, with `hartlock extract`";
const DOWNLOAD: &str = "look at the step that downloads it: a server answered something else";
const UNPACK_LZ4: &str = "decompress it first, with `lz4 -dc`";

/// All file types that are recognised, those with the more reliable magic bytes first.
const FORMS: [Form; 34] = [
    form(RISCV_IMAGE, 0x38, b"RSC\x05"),
    form("an ARM64 Linux image", 0x38, b"ARM\x64").remedy("build it for RISC-V"),
    form(ZBOOT, 4, b"zimg")
        .remedy("take `arch/riscv/boot/Image` of the same build, from which it was made"),
    form("a unified kernel image (UKI)", 0, b"MZ")
        .and(b".linux\0\0")
        .remedy("take the kernel out of it, with `objcopy -O binary -j .linux FILE Image`"),
    form("a U-Boot FIT image", 0, b"\xd0\x0d\xfe\xed")
        .and(b"\0\0\0\x01images\0")
        .remedy("take the files out of it that `mkimage` was given, with `dumpimage -T flat_dt`"),
    form(FDT, 0, b"\xd0\x0d\xfe\xed"),
    form("a Hartlock boot bundle", 0, b"HARTLOCK-BOOT-v1").remedy(EXTRACT),
    form("a Hartlock system bundle", 0, b"HARTLOCK-SYST-v1").remedy(EXTRACT),
    form("a Hartlock first-stage image", 0, b"HARTLOCK-FRST-v1"),
    form(GZIP, 0, b"\x1f\x8b\x08").remedy("decompress it first, with `gzip -dc`"),
    form(XZ, 0, b"\xfd7zXZ\0").remedy("decompress it first, with `xz -dc`"),
    form(ZSTD, 0, b"\x28\xb5\x2f\xfd").remedy("decompress it first, with `zstd -dc`"),
    form(LZ4, 0, b"\x02\x21\x4c\x18").remedy(UNPACK_LZ4),
    form(LZ4_FRAME, 0, b"\x04\x22\x4d\x18").remedy(UNPACK_LZ4),
    form(BZIP2, 0, b"BZh").remedy("decompress it first, with `bzip2 -dc`"),
    form(LZMA, 0, b"\x5d\0").remedy("decompress it first, with `xz -dc --format=lzma`"),
    form(LZO, 0, b"\x89LZO\0\r\n\x1a\n").remedy("decompress it first, with `lzop -dc`"),
    form("an ELF file for 32-bit harts", 0, b"\x7fELF\x01")
        .remedy("build it for 64-bit harts; OpenSBI with `PLATFORM_RISCV_XLEN=64`"),
    form(ELF, 0, b"\x7fELF").remedy("take the flat binary of it, as `objcopy -O binary` makes it"),
    form("a U-Boot image", 0, b"\x27\x05\x19\x56")
        .remedy("take the file that `mkimage` was given, with `tail -c +65 FILE`"),
    form("an MCUboot image", 0, b"\x3d\xb8\xf3\x96")
        .remedy("take the file that `imgtool` was given"),
    form(CPIO, 0, b"070701"),
    form(CPIO, 0, b"070702"),
    form("a cpio archive of the old form", 0, b"070707")
        .remedy("pack it again, with `cpio -o -H newc`"),
    form("a Git LFS pointer", 0, b"version https://git-lfs.github.com/")
        .remedy("fetch the file that it stands for, with `git lfs pull`"),
    form("a web page", 0, b"<html").remedy(DOWNLOAD),
    form("a web page", 0, b"<!DOCTYPE").remedy(DOWNLOAD),
    form("a web page", 0, b"<?xml").remedy(DOWNLOAD),
    form("a PEM file", 0, b"-----BEGIN "),
    form("a script", 0, b"#!"),
    Form::anywhere("the source of a device tree", b"/dts-v1/")
        .remedy("compile it, with `dtc -I dts -O dtb`"),
    Form::anywhere(ROM, Statement::ROM),
    Form::anywhere(LOADER, Statement::LOADER),
    Form::anywhere(OPENSBI, b"OpenSBI v"),
];

/// Returns the name of the type of a file, with its article, from the first [`SEARCHED`] bytes of it.
pub(crate) fn name_of(start: &[u8]) -> Option<&'static str> {
    FORMS.iter().find(|form| form.is_of(start)).map(|form| form.name)
}

/// The forms that [`payload::judge_initramfs`] accepts.
const INITRAMFS: [&str; 8] = [CPIO, GZIP, XZ, ZSTD, LZ4, BZIP2, LZMA, LZO];

/// The file types that are right for a payload type.
struct Expected {
    /// Name of these file types, with the article.
    name: &'static str,
    forms: &'static [&'static str],
    /// True if every file of these types has magic bytes.
    is_marked: bool,
}

const fn expected(payload_type: PayloadType) -> Expected {
    let (name, forms, is_marked): (_, &[_], _) = match payload_type {
        PayloadType::Kernel => (RISCV_IMAGE, &[RISCV_IMAGE], true),
        PayloadType::BootFdt | PayloadType::SystemFdt => (FDT, &[FDT], true),
        PayloadType::Initramfs => {
            // Linux decompresses these, and panics at the start if it is anything else.
            ("a cpio archive, as it is or compressed", &INITRAMFS, true)
        }
        PayloadType::Opensbi => ("OpenSBI as a flat binary", &[OPENSBI], false),
        PayloadType::Loader => ("a loader as a flat binary", &[LOADER], false),
    };
    Expected { name, forms, is_marked }
}

/// An error about a payload with the content of another type, or one that its consumer cannot use.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct ContentError {
    /// Path of the file, or of the bundle that contains the payload.
    pub path: PathBuf,
    /// Name of the payload that the file was given for.
    pub payload: &'static str,
    /// Name of the expected file type.
    pub wanted: &'static str,
    /// File type that was found, if it is known.
    pub found: Option<&'static Form>,
    /// The fault of a file that has the right type.
    fault: Option<Box<ContentFault>>,
    /// Advice on how to get a file of the right type.
    remedy: Box<str>,
    /// The place in the description of the bundle that names the file, quoted; empty if it was an option.
    pub place: Vec<String>,
    /// True if the payload was read in a bundle.
    pub is_in_bundle: bool,
    /// True if a device refuses the payload, too, so that it cannot be forced.
    is_refused_by_device: bool,
}

/// A fault of a file that has the right type.
#[derive(Debug)]
struct ContentFault {
    /// What it is.
    what: String,
    /// What it must be.
    wanted: &'static str,
    /// Advice, in which FILE stands for the path.
    remedy: &'static str,
}

impl ContentError {
    fn text(&self) -> String {
        let path = self.path.display();
        let payload = self.payload;
        let looks = match (&self.fault, self.found) {
            (Some(fault), _) => fault.what.clone(),
            (None, Some(form)) => format!("looks like {}", form.name),
            (None, None) => "is not in a known format".to_string(),
        };
        let wanted = self.fault.as_ref().map_or(self.wanted, |fault| fault.wanted);
        if self.is_in_bundle {
            format!("the {payload} in `{path}` {looks}; it must be {wanted}")
        } else {
            format!("`{path}` {looks}; the {payload} must be {wanted}")
        }
    }

    /// Returns advice for the user.
    pub fn hint(&self) -> String {
        let remedy = &self.remedy;
        match (self.is_in_bundle, self.is_refused_by_device) {
            (true, true) => format!("{remedy}, and sign that one"),
            (true, false) => {
                format!("{remedy}, and sign that one; to accept it as it is, add `--force-type`")
            }
            (false, true) => remedy.to_string(),
            (false, false) => format!("{remedy}; to sign it as it is, add `--force-type`"),
        }
    }
}

/// Returns advice on how to get a file of the right type.
fn remedy(found: Option<&Form>, wanted: &Expected, start: &[u8], file: &str) -> String {
    let is_of_other = |form: &Form| {
        PayloadType::ALL.iter().any(|other| expected(*other).forms.contains(&form.name))
    };
    match found {
        None if start.is_empty() => {
            "the file is empty: look at the step that writes it".to_string()
        }
        Some(Form { name: LZ4_FRAME, .. }) if wanted.forms.contains(&CPIO) => {
            "compress it again for Linux, with `lz4 -dc FILE | lz4 -l`".replace("FILE", file)
        }
        Some(Form { name: ELF, .. }) if wanted.forms.contains(&CPIO) => {
            "pack it into an archive, with `echo FILE | cpio -o -H newc`".replace("FILE", file)
        }
        Some(form) if form.name == ZBOOT && zboot(start, file).is_some() => {
            zboot(start, file).unwrap_or_default()
        }
        Some(Form { remedy: Some(remedy), .. }) => remedy.replace("FILE", file),
        Some(form) if is_of_other(form) => "check whether files were swapped".to_string(),
        _ => format!("give {}", wanted.name),
    }
}

/// Returns the path as a word of a command.
fn word(path: &Path) -> String {
    let file = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    let is_word = !file.starts_with('-') && file.chars().all(is_plain);
    if is_word { file } else { "FILE".to_string() }
}

/// Returns the command that decompresses a kernel in an EFI application. Its header has offset and size of the
/// compressed kernel, and the name of the format (Linux, drivers/firmware/efi/libstub/zboot-header.S).
fn zboot(start: &[u8], file: &str) -> Option<String> {
    let [offset, size] = [8, 12].map(|at| u32_at(start, at).filter(|value| *value > 0));
    let name = start.get(24..56)?;
    let tool =
        ["gzip", "xz", "zstd", "lz4"].into_iter().find(|tool| name.starts_with(tool.as_bytes()))?;
    let from = u64::from(offset?) + 1;
    let size = size?;
    Some(format!(
        "decompress the kernel in it, with `tail -c +{from} {file} | head -c {size} | {tool} -dc > Image`"
    ))
}

/// Returns the number of bytes from the start of a file that are looked at for this payload type.
const fn searched(payload_type: PayloadType) -> usize {
    match payload_type {
        PayloadType::Opensbi | PayloadType::Loader => SEARCHED,
        _ => START,
    }
}

/// Returns true if the file begins as Linux for RISC-V does. `read` fills a buffer from an offset in it on.
///
/// # Errors
/// The error of `read`.
pub(crate) fn is_linux<E>(
    size: u64,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
) -> Result<bool, E> {
    let mut start = vec![0; size.min(searched(PayloadType::Kernel) as u64) as usize];
    read(0, &mut start)?;
    Ok(payload::is_linux(&start))
}

/// Refuses a file whose first bytes are those of a file type that is wrong for this payload type, or that the consumer of
/// the payload cannot use. `size` is the length of the whole file, and `read` fills a buffer from an offset in it on.
///
/// # Errors
/// [`Error::Content`], which names what was found. If the type is forced, it is one only if a device refuses the payload.
/// The error of `read`.
pub(crate) fn check<E>(
    payload_type: PayloadType,
    size: u64,
    path: &Path,
    context: Context,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
) -> Result<(), Error>
where
    Error: From<E>,
{
    let mut bytes = vec![0; size.min(searched(payload_type) as u64) as usize];
    read(0, &mut bytes)?;
    let start = bytes.as_slice();
    let initramfs = match payload_type {
        PayloadType::Initramfs => initramfs::judge(size, read)?,
        _ => Ok(()),
    };
    let found = FORMS.iter().find(|form| form.is_of(start));
    let expected = expected(payload_type);
    let is_refused_by_device = match payload_type {
        PayloadType::Kernel => payload::judge_kernel(start, size, context.memory_size).is_err(),
        PayloadType::Initramfs => {
            context.is_linux && matches!(initramfs, Err(InitramfsFault::Refused(_)))
        }
        PayloadType::Opensbi => payload::judge_opensbi(start).is_err(),
        _ => false,
    };
    if context.is_forced && !is_refused_by_device {
        return Ok(());
    }
    let is_well = match found {
        Some(form) => expected.forms.contains(&form.name),
        None if payload_type == PayloadType::Initramfs => !start.is_empty() && initramfs.is_ok(),
        None => !expected.is_marked,
    };
    let fault = match (payload_type, found.map(|form| form.name)) {
        (_, Some(RISCV_IMAGE)) if is_well => kernel_fault(start, size, context.memory_size),
        (_, Some(OPENSBI)) if is_well => opensbi_fault(start),
        (PayloadType::Initramfs, found) => {
            initramfs.err().and_then(|it| initramfs_fault(it, start, found))
        }
        _ => None,
    }
    .map(Box::new);
    if is_well && fault.is_none() {
        return Ok(());
    }
    // `hartlock extract` gives the payload of a bundle this name.
    let name = Path::new(payload_type.name());
    let file = word(if context.is_in_bundle { name } else { path });
    let remedy = match &fault {
        Some(fault) => fault.remedy.replace("FILE", &file),
        None => remedy(found, &expected, start, &file),
    };
    Err(ContentError {
        path: path.to_path_buf(),
        payload: payload_type.name(),
        wanted: expected.name,
        found,
        fault,
        remedy: remedy.into(),
        place: Vec::new(),
        is_in_bundle: context.is_in_bundle,
        is_refused_by_device,
    }
    .into())
}

/// What [`check`] has to know beside the payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// True if the user forces the type of each payload.
    pub is_forced: bool,
    /// True if the kernel of the bundle is Linux.
    pub is_linux: bool,
    /// True if the payload is one in a bundle.
    pub is_in_bundle: bool,
    /// Memory of the payload in bytes, which has no meaning but for a kernel.
    pub memory_size: u64,
}

/// Judges the payloads in a bundle as [`check`] judges their files.
///
/// # Errors
/// [`Error::Content`]; a reason if the bundle cannot be read.
pub(crate) fn judge(
    manifest: &Manifest<'_>,
    path: &Path,
    is_forced: bool,
    ciphers: &Ciphers,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), Reason>,
) -> Result<(), Error> {
    let mut read_in = |payload: &PayloadRecord, at: u64, into: &mut [u8]| {
        read(payload.offset.saturating_add(at), into)
    };
    let is_plain = |it: &&PayloadRecord| !ciphers.is_hidden(it.payload_type);
    let kernel = manifest.payload(PayloadType::Kernel).filter(is_plain);
    let is_linux =
        kernel.map(|it| is_linux(it.size, |at, into| read_in(it, at, into))).transpose()?;
    let is_linux = is_linux.unwrap_or(false);
    for payload in manifest.payloads.iter().filter(is_plain) {
        let memory_size = payload.memory_size;
        let context = Context { is_forced, is_linux, is_in_bundle: true, memory_size };
        let read = |at: u64, into: &mut [u8]| read_in(payload, at, into);
        check(payload.payload_type, payload.size, path, context, read)?;
        // Boot flow §5.8: after the kernel, and before the initramfs.
        if payload.payload_type == PayloadType::Kernel && is_linux {
            judge_bootargs(manifest)?;
        }
    }
    Ok(())
}

/// Refuses a command line that names an initramfs.
fn judge_bootargs(manifest: &Manifest<'_>) -> Result<(), Refusal> {
    if !manifest.bootargs().is_some_and(|it| bootargs::names_initramfs(it.as_bytes())) {
        return Ok(());
    }
    let context =
        "the command line has `initrd=` or `initrdmem=`, and Linux would use that initramfs";
    let hint = "Leave the option out of `bootargs`: the loader tells Linux where the verified initramfs is.";
    let refusal = Refusal::with(Reason::PayloadUnusable, context);
    Err(Refusal { hint: Some(hint.to_string()), ..refusal })
}

/// Describes what Linux, or the loader that places it, cannot use in the header of a kernel.
fn kernel_fault(start: &[u8], size: u64, memory_size: u64) -> Option<ContentFault> {
    let image_size = u64_at(start, 16).unwrap_or_default();
    match payload::judge_kernel(start, size, memory_size).err()? {
        LinuxFault::BigEndian => Some(ContentFault {
            what: "is big-endian, as the flags in its header say".to_string(),
            wanted: "little-endian",
            remedy: "build it little-endian",
        }),
        LinuxFault::MemorySize => Some(ContentFault {
            what: format!(
                "needs {image_size:#x} bytes of memory, as its header says, and has {memory_size:#x}"
            ),
            wanted: "given the memory that it needs, because Linux clears what follows its file",
            remedy: "leave `memory_size` of the kernel out",
        }),
        _ => {
            let [image_size, size] = [image_size, size].map(grouped);
            Some(ContentFault {
                what: format!("has the image_size {image_size} in its header, and {size} bytes"),
                wanted: "an image whose header states the memory that it needs, which is its size or more",
                remedy: "take `arch/riscv/boot/Image` as the build of Linux wrote it",
            })
        }
    }
}

/// Describes what Linux cannot unpack although it knows the format.
fn initramfs_fault(
    fault: InitramfsFault,
    start: &[u8],
    found: Option<&'static str>,
) -> Option<ContentFault> {
    let of_archive = |what: &str| {
        Some(ContentFault {
            what: what.to_string(),
            wanted: "a whole archive, because Linux unpacks a part of another one without a word",
            remedy: "copy it again, or look at the step that writes it",
        })
    };
    let fault = match fault {
        InitramfsFault::Compressed(compression, fault) => {
            return Some(compressed_fault(compression, fault));
        }
        InitramfsFault::Refused(fault) => fault,
    };
    if fault == LinuxFault::InitramfsCut {
        return of_archive("has an archive that is cut: its last entry is not whole");
    }
    let first = start.iter().position(|byte| *byte != 0)?;
    let is_cpio = [b"070701", b"070702"].iter().any(|mark| start[first..].starts_with(*mark));
    match found {
        _ if is_cpio && first.is_multiple_of(4) => {
            of_archive("has an archive with a damaged header")
        }
        Some(XZ) => Some(ContentFault {
            what: "is xz data with a checksum that Linux does not check, such as CRC64".to_string(),
            wanted: "one that Linux decompresses: with CRC32, or without a checksum",
            remedy: XZ_AGAIN,
        }),
        None if is_cpio => Some(ContentFault {
            what: format!("has {first} zero bytes before its cpio archive"),
            wanted: "an archive that begins at a multiple of four bytes",
            remedy: "take the archive alone, or pad it to a multiple of four bytes",
        }),
        _ => None,
    }
}

const XZ_AGAIN: &str = "compress it again for Linux, with `xz -dc FILE | xz --check=crc32`";

/// Describes what is wrong with compressed data in an initramfs.
fn compressed_fault(compression: Compression, fault: CompressionFault) -> ContentFault {
    let of = compression.name();
    let (what, wanted, remedy) = match fault {
        CompressionFault::Cut => (
            format!("is cut: it ends before its {of} is complete"),
            "whole, because Linux unpacks a part of it, or nothing",
            "copy it again, or look at the step that writes it",
        ),
        CompressionFault::Damaged => (
            format!("is damaged: its {of} cannot be decompressed, or has another checksum"),
            "one that Linux decompresses",
            "copy it again, or look at the step that writes it",
        ),
        CompressionFault::Header => (
            format!("has {of} with an extra field, a comment or a checksum in its header"),
            "one whose header has a name at most, because Linux skips nothing else",
            "compress it again for Linux, with `gzip -dc FILE | gzip -9n`",
        ),
        CompressionFault::Checksum => (
            format!("has {of} with a checksum that Linux does not check, such as CRC64"),
            "one that Linux decompresses: with CRC32, or without a checksum",
            "compress that part again for Linux, with `xz --check=crc32`",
        ),
        CompressionFault::NoArchive => (
            format!("has {of} in which there is no cpio archive"),
            "a cpio archive, as it is or compressed",
            "pack it into an archive, with `cpio -o -H newc`, before it is compressed",
        ),
        CompressionFault::ArchiveCut => (
            format!("is cut: the last entry of the archive in its {of} is not whole"),
            "a whole archive, because Linux unpacks a part of another one without a word",
            "look at the step that packs it, before it is compressed",
        ),
        CompressionFault::Junk => (
            format!("has {of} in which something else follows the archive"),
            "archives alone, because Linux unpacks nothing behind that",
            "look at the step that packs it, before it is compressed",
        ),
    };
    ContentFault { what, wanted, remedy }
}

fn opensbi_fault(code: &[u8]) -> Option<ContentFault> {
    Some(match payload::judge_opensbi(code).err()? {
        OpensbiFault::FixedNextStage => ContentFault {
            what: "is an OpenSBI that enters a fixed next stage".to_string(),
            wanted: "the kind that takes it from the ROM, fw_dynamic",
            remedy: "take `fw_dynamic.bin` of the same build",
        },
        OpensbiFault::Narrow => ContentFault {
            what: "is an OpenSBI for 32-bit harts".to_string(),
            wanted: "for 64-bit harts",
            remedy: "build it with `PLATFORM_RISCV_XLEN=64`",
        },
    })
}

/// Refuses the code of a first stage if it has a file type that a core cannot execute.
///
/// # Errors
/// Returns a [`ContentError`] that names the file type that was found.
pub(crate) fn check_code(start: &[u8], path: &Path) -> Result<(), ContentError> {
    // The magic bytes of OpenSBI and loaders may be anywhere, so code that searches for them may contain them
    // too. Only types with a fixed offset are checked here.
    let found = FORMS.iter().find(|form| form.at.is_some() && form.is_of(start));
    let expected = Expected { name: "a flat binary", forms: &[], is_marked: false };
    match found {
        None => Ok(()),
        Some(form) => Err(ContentError {
            path: path.to_path_buf(),
            payload: "code",
            wanted: expected.name,
            found,
            fault: None,
            remedy: remedy(Some(form), &expected, start, &word(path)).into(),
            place: Vec::new(),
            is_in_bundle: false,
            is_refused_by_device: false,
        }),
    }
}

impl Form {
    fn is_of(&self, start: &[u8]) -> bool {
        let has = |mark: &[u8]| start.windows(mark.len()).any(|bytes| bytes == mark);
        let is_there = match self.at {
            Some(at) => start.get(at..).is_some_and(|bytes| bytes.starts_with(self.mark)),
            None => has(self.mark),
        };
        is_there && (self.also.is_empty() || has(self.also))
    }
}

#[cfg(test)]
mod tests {
    use hartlock_image::{
        BundleType, Closing, Extensions, HashId, Identity, Label, List, Name, TreeMode,
    };

    use super::*;

    #[test]
    fn a_kernel_is_judged_before_the_command_line_and_that_before_the_initramfs() {
        const KERNEL_SIZE: u64 = 4096;
        let payload = |payload_type, offset, size| PayloadRecord {
            payload_type,
            hash: HashId::Sha384,
            mode: TreeMode::Flat,
            offset,
            size,
            load_address: 0,
            memory_size: KERNEL_SIZE,
            entry: 0,
            digest: [0; 64],
        };
        let mut payloads = List::new();
        assert!(payloads.push(payload(PayloadType::Kernel, 0, KERNEL_SIZE)));
        assert!(payloads.push(payload(PayloadType::Initramfs, KERNEL_SIZE, 64)));
        let judge = |image_size: u64, archive: &[u8], bootargs: &str| {
            let mut bundle = vec![0; KERNEL_SIZE as usize];
            bundle[16..24].copy_from_slice(&image_size.to_le_bytes());
            bundle[0x38..0x3c].copy_from_slice(b"RSC\x05");
            bundle.extend(archive);
            let name = |text| Name::new(text).unwrap();
            let manifest = Manifest {
                bundle_type: BundleType::System,
                signatures_size: 0,
                bundle_size: 0,
                security_version: 0,
                created: 0,
                lifecycle_mask: 1,
                identity: Identity { board: name("qemu-virt"), soc: name("virt") },
                label: Label::new("").unwrap(),
                signers: List::new(),
                payloads,
                extensions: Extensions::NONE,
                closing: Closing::Bootargs(bootargs.as_bytes()),
            };
            let read = |at: u64, into: &mut [u8]| {
                into.copy_from_slice(&bundle[at as usize..][..into.len()]);
                Ok(())
            };
            let judged = super::judge(&manifest, Path::new("x"), true, &Ciphers::default(), read);
            judged.map_err(|error| match error {
                Error::Content(error) => error.payload,
                _ => "command line",
            })
        };
        let bad = [1; 64];
        assert_eq!(judge(KERNEL_SIZE, &bad, "quiet"), Err("initramfs"));
        assert_eq!(judge(KERNEL_SIZE, &bad, "initrd=1"), Err("command line"));
        assert_eq!(judge(KERNEL_SIZE + 1, &bad, "initrd=1"), Err("kernel"));
    }

    /// Makes a file of this type, with its magic bytes at the right offset.
    fn sample(form: &Form) -> Vec<u8> {
        let packed = initramfs::tests::samples(&initramfs::tests::archive());
        if let Some((_, packed)) = packed.into_iter().find(|it| it.1.starts_with(form.mark)) {
            return packed;
        }
        let mut bytes =
            [&vec![0x13; form.at.unwrap_or(100)], form.mark, &[0x13; 40], form.also].concat();
        match form.name {
            RISCV_IMAGE => {
                bytes[16..32].copy_from_slice(&[[0, 0x10, 0, 0, 0, 0, 0, 0], [0; 8]].concat())
            }
            OPENSBI => bytes[..12].copy_from_slice(&FW_DYNAMIC),
            // The rest of a header, which has numbers alone.
            CPIO => bytes.splice(6.., [b'0'; 104]).for_each(drop),
            _ => {}
        }
        bytes
    }

    /// `li a1, 0x4942534f` and `c.ld a0, 0(a2)`.
    const FW_DYNAMIC: [u8; 12] =
        [0xb7, 0x55, 0x42, 0x49, 0x9b, 0x85, 0xf5, 0x34, 0x08, 0x62, 0x01, 0x00];

    fn check_in(
        context: Context,
        payload_type: PayloadType,
        bytes: &[u8],
    ) -> Result<(), ContentError> {
        let read = |at: u64, into: &mut [u8]| {
            let from = bytes.get(at as usize..).and_then(|from| from.get(..into.len()));
            from.map(|from| into.copy_from_slice(from)).ok_or(Reason::MediumError)
        };
        match super::check(payload_type, bytes.len() as u64, Path::new("file"), context, read) {
            Ok(()) => Ok(()),
            Err(Error::Content(error)) => Err(error),
            Err(other) => panic!("{other}"),
        }
    }

    fn check(payload_type: PayloadType, bytes: &[u8]) -> Result<(), ContentError> {
        let context = Context {
            is_forced: false,
            is_linux: false,
            is_in_bundle: false,
            memory_size: u64::MAX,
        };
        check_in(context, payload_type, bytes)
    }

    #[test]
    fn every_form_is_told_and_fits_the_payloads_that_it_is_for() {
        for form in &FORMS {
            let sample = sample(form);
            for payload_type in PayloadType::ALL {
                let result = check(payload_type, &sample);
                let is_expected = expected(payload_type).forms.contains(&form.name);
                assert_eq!(result.is_ok(), is_expected, "{} as {payload_type:?}", form.name);
                if let Err(error) = result {
                    assert_eq!(error.found, Some(form), "{error}");
                    assert!(error.to_string().contains(form.name), "{error}");
                    assert!(error.hint().contains("--force-type"), "{}", error.hint());
                }
            }
        }
    }

    #[test]
    fn code_of_a_first_stage_has_no_mark_at_a_place() {
        for form in &FORMS {
            let result = check_code(&sample(form), Path::new("file"));
            assert_eq!(result.is_ok(), form.at.is_none(), "{}", form.name);
        }
        assert!(check_code(b"\x13\0\0\0", Path::new("file")).is_ok());
    }

    #[test]
    fn what_has_no_mark_is_code_but_no_data() {
        for start in [&b""[..], b"\x13\0\0\0", &[0x11; 64], &[0; 64], b"some text"] {
            for (payload_type, is_well) in [
                (PayloadType::Opensbi, true),
                (PayloadType::Loader, true),
                (PayloadType::Initramfs, false),
                (PayloadType::Kernel, false),
                (PayloadType::BootFdt, false),
                (PayloadType::SystemFdt, false),
            ] {
                assert_eq!(check(payload_type, start).is_ok(), is_well);
            }
        }
        let error = check(PayloadType::Kernel, b"").unwrap_err();
        assert!(error.to_string().contains("not in a known format"), "{error}");
    }

    #[test]
    fn what_a_device_refuses_cannot_be_forced() {
        let forced = |payload_type, start: &[u8], is_linux| {
            let memory_size = u64::MAX;
            let context = Context { is_forced: true, is_linux, is_in_bundle: false, memory_size };
            check_in(context, payload_type, start)
        };
        let mut kernel = [0; 64];
        kernel[0x38..0x3c].copy_from_slice(b"RSC\x05");
        let opensbi = b"OpenSBI v1.9 of another kind";
        for (payload_type, start) in [
            (PayloadType::Kernel, &kernel[..]),
            (PayloadType::Initramfs, b"070707"),
            (PayloadType::Opensbi, opensbi),
        ] {
            let error = forced(payload_type, start, true).unwrap_err();
            assert!(!error.hint().contains("--force-type"), "{}", error.hint());
        }
        for (payload_type, start) in [
            (PayloadType::Kernel, &kernel[..59]),
            (PayloadType::Initramfs, b"070707"),
            (PayloadType::Opensbi, b"HARTLOCK-CARRIES and so on"),
            (PayloadType::Loader, opensbi),
            (PayloadType::SystemFdt, b"070707"),
        ] {
            assert!(forced(payload_type, start, false).is_ok());
        }
    }

    #[track_caller]
    fn expect(payload_type: PayloadType, bytes: &[u8], says: &str, remedy: &str) {
        let error = check(payload_type, bytes).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.hint().starts_with(remedy), "{}", error.hint());
    }

    #[test]
    fn a_kernel_states_its_size_and_is_little_endian() {
        let kernel = |image_size: u64, flags: u64| {
            let mut bytes = vec![0; 8192];
            bytes[16..24].copy_from_slice(&image_size.to_le_bytes());
            bytes[24..32].copy_from_slice(&flags.to_le_bytes());
            bytes[0x38..0x3c].copy_from_slice(b"RSC\x05");
            bytes
        };
        for (image_size, flags) in [(8192, 0), (1 << 40, 0), (8192, 2)] {
            assert!(check(PayloadType::Kernel, &kernel(image_size, flags)).is_ok());
        }
        let take = "take `arch/riscv/boot/Image`";
        expect(PayloadType::Kernel, &kernel(0, 0), "has the image_size 0 in its header", take);
        expect(
            PayloadType::Kernel,
            &kernel(8191, 0),
            "the image_size 8,191 in its header, and 8,192 bytes",
            take,
        );
        expect(PayloadType::Kernel, &kernel(8192, 1), "is big-endian", "build it little-endian");
        // The header ends the file.
        let short = &kernel(8192, 0)[..0x3c];
        assert!(check(PayloadType::Kernel, short).is_ok());
    }

    #[test]
    fn opensbi_takes_the_next_stage_on_64_bit_harts() {
        let opensbi = |code: &[u8]| [&[0x13; 100], code, &[0x13; 100], b"OpenSBI v1.8"].concat();
        let with = |at: usize, bytes: &[u8]| {
            let mut code = FW_DYNAMIC;
            code[at..at + bytes.len()].copy_from_slice(bytes);
            opensbi(&code)
        };
        // `c.ld`, and `ld a0, 0(a2)`; another register for the number.
        for good in
            [opensbi(&FW_DYNAMIC), with(8, &[0x03, 0x35, 0x06, 0x00]), with(0, &[0xb7, 0x56])]
        {
            assert!(check(PayloadType::Opensbi, &good).is_ok());
        }
        for narrow in [&[0x08, 0x42][..], &[0x03, 0x25, 0x06, 0x00]] {
            expect(
                PayloadType::Opensbi,
                &with(8, narrow),
                "for 32-bit harts",
                "build it with `PLATFORM",
            );
        }
        for other in [opensbi(b""), with(2, &[0x43])] {
            expect(PayloadType::Opensbi, &other, "fixed next stage", "take `fw_dynamic.bin`");
        }
        expect(
            PayloadType::Opensbi,
            b"\x7fELF\x01\x01",
            "ELF file for 32-bit harts",
            "build it for 64-bit",
        );
        expect(PayloadType::Opensbi, b"\x7fELF\x02\x01", "an ELF file;", "take the flat binary");
    }

    #[test]
    fn an_initramfs_is_one_that_linux_unpacks() {
        for (bytes, says, remedy) in [
            (&b"version https://git-lfs.github.com/spec/v1\n"[..], "a Git LFS pointer", "fetch"),
            (b"<html>404</html>", "a web page", "look at the step that downloads it"),
            (b"070707000", "a cpio archive of the old form", "pack it again"),
            (b"\x04\x22\x4d\x18", "an lz4 frame", "compress it again for Linux"),
            (&[0; 4096], "not in a known format", "give a cpio archive"),
            (b"", "not in a known format", "the file is empty"),
            (b"\xfd7zXZ\0\0\x04", "a checksum that Linux does not", "compress it again for Linux"),
            (b"\xfd7zXZ\0", "a checksum that Linux does not", "compress it again for Linux"),
            (b"\x00070701", "has 1 zero bytes before its cpio", "take the archive alone"),
        ] {
            expect(PayloadType::Initramfs, bytes, says, remedy);
        }
        for mark in [&b"070701"[..], b"070702", b"\0\0\0\x00070701"] {
            // The header of an entry without a name and a file.
            let bytes = [mark, &[b'0'; 104]].concat();
            assert!(check(PayloadType::Initramfs, &bytes).is_ok(), "{mark:x?}");
        }
    }

    #[test]
    fn compressed_data_is_unpacked_before_it_is_signed() {
        let archive = initramfs::tests::archive();
        let expect = |bytes: &[u8], says: &str, remedy: &str| {
            expect(PayloadType::Initramfs, bytes, says, remedy);
        };
        for (compression, packed) in initramfs::tests::samples(&archive) {
            let name = compression.name();
            assert!(check(PayloadType::Initramfs, &packed).is_ok(), "{name}");
            let says = format!("is cut: it ends before its {name} is complete");
            expect(&packed[..packed.len() - 5], &says, "copy it again");
        }
        let [(_, mut gzip), ..] = initramfs::tests::samples(&archive);
        gzip[100] ^= 1;
        expect(&gzip, "is damaged: its gzip data", "copy it again");
        gzip[3] = 4;
        expect(
            &gzip,
            "an extra field, a comment",
            "compress it again for Linux, with `gzip -dc file",
        );
        for (content, says, remedy) in [
            (&archive[..99], "the last entry of the archive in its gzip data", "look at the step"),
            (b"text", "in which there is no cpio archive", "pack it into an archive"),
            (&[&archive[..], b"text"].concat(), "something else follows", "look at the step"),
        ] {
            let [(_, gzip), ..] = initramfs::tests::samples(content);
            expect(&gzip, says, remedy);
        }
        let second = [&archive[..], b"\xfd7zXZ\0\0\x04"].concat();
        expect(&second, "a checksum that Linux does not check", "compress that part again");
    }

    #[test]
    fn a_device_leaves_compressed_data_to_linux() {
        let forced = |bytes: &[u8]| {
            let memory_size = u64::MAX;
            let context =
                Context { is_forced: true, is_linux: true, is_in_bundle: false, memory_size };
            check_in(context, PayloadType::Initramfs, bytes)
        };
        assert!(forced(b"\x1f\x8b\x08").is_ok());
        assert!(forced(b"\x1f\x8b").is_err());
        let error = check(PayloadType::Initramfs, b"\x1f\x8b\x08").unwrap_err();
        assert!(error.hint().ends_with("add `--force-type`"), "{}", error.hint());
    }
}
