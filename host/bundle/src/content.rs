//! Recognises the types of payload files, so that a wrong file is found before a device tries to boot it.

use std::path::{Path, PathBuf};

use hartlock_image::PayloadType;

/// Number of bytes that are searched for the magic bytes of code without a header. Firmware is much smaller.
const SEARCHED: usize = 16 << 20;

/// A file type that is recognised by its magic bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Form {
    /// Name of the file type, with its article.
    pub name: &'static str,
    /// Offset of the magic bytes; `None` if they may be anywhere.
    at: Option<usize>,
    mark: &'static [u8],
    /// Advice on how to get a file of the right type.
    pub remedy: Option<&'static str>,
}

const fn form(name: &'static str, at: usize, mark: &'static [u8]) -> Form {
    Form { name, at: Some(at), mark, remedy: None }
}

const fn packed(name: &'static str, mark: &'static [u8], remedy: &'static str) -> Form {
    Form { name, at: Some(0), mark, remedy: Some(remedy) }
}

const RISCV_IMAGE: &str = "a RISC-V Linux image";
const FDT: &str = "a device tree";
const CPIO: &str = "a cpio archive";
const OPENSBI: &str = "OpenSBI";
const LOADER: &str = "a Hartlock loader";
const GZIP: &str = "gzip data";
const XZ: &str = "xz data";
const ZSTD: &str = "zstd data";
const LZ4: &str = "lz4 data";
const BZIP2: &str = "bzip2 data";

/// All file types that are recognised, those with the more reliable magic bytes first.
const FORMS: [Form; 21] = [
    form(RISCV_IMAGE, 0x38, b"RSC\x05"),
    form("an ARM64 Linux image", 0x38, b"ARM\x64"),
    form("a compressed EFI kernel", 4, b"zimg"),
    form(FDT, 0, b"\xd0\x0d\xfe\xed"),
    form("a Hartlock boot bundle", 0, b"HARTLOCK-BOOT-v1"),
    form("a Hartlock system bundle", 0, b"HARTLOCK-SYST-v1"),
    form("a Hartlock first-stage image", 0, b"HARTLOCK-FRST-v1"),
    packed(GZIP, b"\x1f\x8b\x08", "decompress it first, with `gzip -dc`"),
    packed(XZ, b"\xfd7zXZ\0", "decompress it first, with `xz -dc`"),
    packed(ZSTD, b"\x28\xb5\x2f\xfd", "decompress it first, with `zstd -dc`"),
    packed(LZ4, b"\x02\x21\x4c\x18", "decompress it first, with `lz4 -dc`"),
    packed(LZ4, b"\x04\x22\x4d\x18", "decompress it first, with `lz4 -dc`"),
    packed(BZIP2, b"BZh", "decompress it first, with `bzip2 -dc`"),
    packed(
        "an ELF file",
        b"\x7fELF",
        "take the flat binary of it, as `objcopy -O binary` makes it",
    ),
    packed("a U-Boot image", b"\x27\x05\x19\x56", "take the file that `mkimage` was given"),
    form(CPIO, 0, b"070701"),
    form(CPIO, 0, b"070702"),
    form("a PEM file", 0, b"-----BEGIN "),
    form("a script", 0, b"#!"),
    Form { name: LOADER, at: None, mark: b"HARTLOCK-CARRIES", remedy: None },
    Form { name: OPENSBI, at: None, mark: b"OpenSBI v", remedy: None },
];

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
}

fn looks_like(found: Option<&Form>) -> String {
    found.map_or("is not in a known format".to_string(), |form| format!("looks like {}", form.name))
}

impl ContentError {
    /// Returns advice for the user.
    pub fn hint(&self) -> String {
        let remedy = self.found.and_then(|form| form.remedy);
        let remedy = remedy.unwrap_or("check whether files were swapped");
        format!("{remedy}; to sign it as it is, add `--force-type`")
    }
}

/// Returns the number of bytes from the start of a file that [`check`] needs for this payload type.
pub(crate) const fn searched(payload_type: PayloadType) -> usize {
    match payload_type {
        PayloadType::Opensbi | PayloadType::Loader => SEARCHED,
        _ => 64,
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
    let (path, payload) = (path.to_path_buf(), payload_type.name());
    Err(ContentError { path, payload, wanted: expected.name, found })
}

/// Refuses the code of a first stage if it has a file type that a core cannot execute.
///
/// # Errors
/// Returns a [`ContentError`] that names the file type that was found.
pub(crate) fn check_code(start: &[u8], path: &Path) -> Result<(), ContentError> {
    // The magic bytes of OpenSBI and loaders may be anywhere, so code that searches for them may contain them
    // too. Only types with a fixed offset are checked here.
    let found = FORMS.iter().find(|form| form.at.is_some() && form.is_of(start));
    match found {
        None => Ok(()),
        Some(form) => Err(ContentError {
            path: path.to_path_buf(),
            payload: "code",
            wanted: "a flat binary",
            found: Some(form),
        }),
    }
}

impl Form {
    fn is_of(&self, start: &[u8]) -> bool {
        match self.at {
            Some(at) => start.get(at..).is_some_and(|bytes| bytes.starts_with(self.mark)),
            None => start.windows(self.mark.len()).any(|bytes| bytes == self.mark),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a file of this type, with its magic bytes at the right offset.
    fn sample(form: &Form) -> Vec<u8> {
        [&vec![0x13; form.at.unwrap_or(100)], form.mark, &[0x13; 40]].concat()
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
