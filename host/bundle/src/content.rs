//! Recognises the types of payload files, so that a wrong file is found before a device tries to boot it.

use std::path::{Path, PathBuf};

use hartlock_image::{PayloadType, u32_at};

/// Number of bytes that are searched for the magic bytes of code without a header. Firmware is much smaller.
const SEARCHED: usize = 16 << 20;

/// Number of bytes of other files that are searched for marks without a fixed offset.
pub(crate) const START: usize = 4096;

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
const LOADER: &str = "a Hartlock loader";
const GZIP: &str = "gzip data";
const XZ: &str = "xz data";
const ZSTD: &str = "zstd data";
const LZ4: &str = "lz4 data";
const BZIP2: &str = "bzip2 data";

const EXTRACT: &str = "take the payload out of it, with `hartlock extract`";
const UNPACK_LZ4: &str = "decompress it first, with `lz4 -dc`";

/// All file types that are recognised, those with the more reliable magic bytes first.
const FORMS: [Form; 25] = [
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
    form(LZ4, 0, b"\x04\x22\x4d\x18").remedy(UNPACK_LZ4),
    form(BZIP2, 0, b"BZh").remedy("decompress it first, with `bzip2 -dc`"),
    form(ELF, 0, b"\x7fELF").remedy("take the flat binary of it, as `objcopy -O binary` makes it"),
    form("a U-Boot image", 0, b"\x27\x05\x19\x56")
        .remedy("take the file that `mkimage` was given, with `tail -c +65 FILE`"),
    form("an MCUboot image", 0, b"\x3d\xb8\xf3\x96")
        .remedy("take the file that `imgtool` was given"),
    form(CPIO, 0, b"070701"),
    form(CPIO, 0, b"070702"),
    form("a PEM file", 0, b"-----BEGIN "),
    form("a script", 0, b"#!"),
    Form::anywhere("the source of a device tree", b"/dts-v1/")
        .remedy("compile it, with `dtc -I dts -O dtb`"),
    Form::anywhere(LOADER, b"HARTLOCK-CARRIES"),
    Form::anywhere(OPENSBI, b"OpenSBI v"),
];

/// Returns the name of the type of a file, with its article, from the first [`START`] bytes of it.
pub(crate) fn name_of(start: &[u8]) -> Option<&'static str> {
    FORMS.iter().find(|form| form.is_of(start)).map(|form| form.name)
}

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
            ("an initial RAM file system", &[CPIO, GZIP, XZ, ZSTD, LZ4, BZIP2], false)
        }
        PayloadType::Opensbi => ("OpenSBI as a flat binary", &[OPENSBI], false),
        PayloadType::Loader => ("a loader as a flat binary", &[LOADER], false),
    };
    Expected { name, forms, is_marked }
}

/// An error about a payload file with the content of another type.
#[derive(Debug, thiserror::Error)]
#[error("`{}` {}; the {} must be {wanted}", .path.display(), looks_like(*.found), .payload)]
pub struct ContentError {
    /// Path of the file.
    pub path: PathBuf,
    /// Name of the payload that the file was given for.
    pub payload: &'static str,
    /// Name of the expected file type.
    pub wanted: &'static str,
    /// File type that was found, if it is known.
    pub found: Option<&'static Form>,
    /// Advice on how to get a file of the right type.
    remedy: String,
    /// The place in the description of the bundle that names the file, quoted; empty if it was an option.
    pub place: Vec<String>,
}

fn looks_like(found: Option<&Form>) -> String {
    found.map_or("is not in a known format".to_string(), |form| format!("looks like {}", form.name))
}

impl ContentError {
    /// Returns advice for the user.
    pub fn hint(&self) -> String {
        format!("{}; to sign it as it is, add `--force-type`", self.remedy)
    }
}

/// Returns advice on how to get a file of the right type.
fn remedy(found: Option<&Form>, wanted: &Expected, start: &[u8], path: &Path) -> String {
    let is_of_other = |form: &Form| {
        PayloadType::ALL.iter().any(|other| expected(*other).forms.contains(&form.name))
    };
    let file = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    let is_word = !file.starts_with('-') && file.chars().all(is_plain);
    let file = if is_word { file.as_str() } else { "FILE" };
    match found {
        None if start.is_empty() => {
            "the file is empty: look at the step that writes it".to_string()
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

/// Returns the number of bytes from the start of a file that [`check`] needs for this payload type.
pub(crate) const fn searched(payload_type: PayloadType) -> usize {
    match payload_type {
        PayloadType::Opensbi | PayloadType::Loader => SEARCHED,
        _ => START,
    }
}

/// Refuses a file whose first bytes are those of a file type that is wrong for this payload type.
///
/// # Errors
/// Returns a [`ContentError`] that names the file type that was found.
pub(crate) fn check(
    payload_type: PayloadType,
    start: &[u8],
    path: &Path,
) -> Result<(), ContentError> {
    let found = FORMS.iter().find(|form| form.is_of(start));
    let expected = expected(payload_type);
    let is_well = match found {
        Some(form) => expected.forms.contains(&form.name),
        None => !expected.is_marked,
    };
    if is_well {
        return Ok(());
    }
    Err(ContentError {
        path: path.to_path_buf(),
        payload: payload_type.name(),
        wanted: expected.name,
        found,
        remedy: remedy(found, &expected, start, path),
        place: Vec::new(),
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
            remedy: remedy(Some(form), &expected, start, path),
            place: Vec::new(),
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
    use super::*;

    /// Makes a file of this type, with its magic bytes at the right offset.
    fn sample(form: &Form) -> Vec<u8> {
        [&vec![0x13; form.at.unwrap_or(100)], form.mark, &[0x13; 40], form.also].concat()
    }

    #[test]
    fn every_form_is_told_and_fits_the_payloads_that_it_is_for() {
        for form in &FORMS {
            let sample = sample(form);
            for payload_type in PayloadType::ALL {
                let result = check(payload_type, &sample, Path::new("file"));
                let is_expected = expected(payload_type).forms.contains(&form.name);
                assert_eq!(result.is_ok(), is_expected, "{} as {payload_type:?}", form.name);
                if let Err(error) = result {
                    assert_eq!(error.found, Some(form), "{error}");
                    assert!(
                        error.to_string().contains(form.name)
                            && error.hint().contains("--force-type")
                    );
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
    fn what_has_no_mark_is_code_or_data_but_no_kernel_and_no_device_tree() {
        for start in [&b""[..], b"\x13\0\0\0", &[0x11; 64], &[0; 64]] {
            for (payload_type, is_well) in [
                (PayloadType::Opensbi, true),
                (PayloadType::Loader, true),
                (PayloadType::Initramfs, true),
                (PayloadType::Kernel, false),
                (PayloadType::BootFdt, false),
                (PayloadType::SystemFdt, false),
            ] {
                assert_eq!(check(payload_type, start, Path::new("file")).is_ok(), is_well);
            }
        }
        let error = check(PayloadType::Kernel, b"", Path::new("file")).unwrap_err();
        assert!(error.to_string().contains("not in a known format"), "{error}");
    }
}
