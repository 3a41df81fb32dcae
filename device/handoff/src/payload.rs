//! What the next program cannot use in the payloads that it gets (boot flow §5.8). Workstation and device decide with
//! the same functions.

use hartlock_image::{bytes_at, u64_at};

use crate::bootargs;
use crate::fdt::number_of_hex;

/// What Linux, or the loader that places it, cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinuxFault {
    /// The flags of the kernel say that it is big-endian, which RISC-V does not define.
    BigEndian,
    /// The kernel states less memory than its file has.
    ImageSize,
    /// The bundle gives the kernel less memory than it states.
    MemorySize,
    /// Linux cannot unpack the initramfs.
    Initramfs,
    /// The archive of the initramfs ends before its last entry.
    InitramfsCut,
    /// The command line names another initramfs than that of the bundle.
    OtherInitramfs,
}

impl LinuxFault {
    /// Returns the fault for the console.
    pub const fn text(self) -> &'static str {
        match self {
            Self::BigEndian => "kernel is big-endian",
            Self::ImageSize => "image_size of the kernel is too small",
            Self::MemorySize => "memory_size of the kernel is too small",
            Self::Initramfs => "initramfs is no cpio archive",
            Self::InitramfsCut => "initramfs is cut",
            Self::OtherInitramfs => "command line names an initramfs",
        }
    }
}

/// Returns true if the first bytes of a kernel are the header of Linux for RISC-V (Linux,
/// Documentation/arch/riscv/boot-image-header.rst).
pub fn is_linux(kernel: &[u8]) -> bool {
    bytes_at(kernel, 0x38) == Some(*b"RSC\x05")
}

/// Judges the kernel, of which `start` has at least the first 64 bytes, and `size` is the length of the file. The bundle
/// keeps `memory_size` bytes free for it. Another system than Linux has no rule.
///
/// # Errors
/// `BigEndian`, `ImageSize`, `MemorySize`.
pub fn judge_kernel(start: &[u8], size: u64, memory_size: u64) -> Result<(), LinuxFault> {
    const BIG_ENDIAN: u64 = 1;
    if !is_linux(start) {
        return Ok(());
    }
    if u64_at(start, 24).is_none_or(|flags| flags & BIG_ENDIAN != 0) {
        return Err(LinuxFault::BigEndian);
    }
    let image_size = u64_at(start, 16).unwrap_or(0);
    if image_size < size {
        return Err(LinuxFault::ImageSize);
    }
    // Linux clears its variables past the end of its file, so what is placed there is lost.
    if image_size > memory_size {
        return Err(LinuxFault::MemorySize);
    }
    Ok(())
}

/// First bytes of an archive that Linux unpacks: cpio with and without checksums.
const CPIO: [&[u8]; 2] = [b"070701", b"070702"];

/// First bytes of what Linux decompresses (Linux, init/initramfs.c and lib/decompress.c): gzip, xz without a checksum and
/// with CRC32, zstd, lz4 in its legacy format, bzip2, lzma, lzo.
const COMPRESSED: [&[u8]; 8] = [
    b"\x1f\x8b\x08",
    b"\xfd7zXZ\0\0\0",
    b"\xfd7zXZ\0\0\x01",
    b"\x28\xb5\x2f\xfd",
    b"\x02\x21\x4c\x18",
    b"BZh",
    b"\x5d\0",
    b"\x89LZO\0\r\n\x1a\n",
];

/// Judges the first byte of an initramfs of `size` bytes that is not zero, and returns its offset. Linux ignores an empty
/// one, and skips zeros, after which it takes an archive only at a multiple of four bytes. `read` fills a buffer from an
/// offset on, within the size, and returns false if it cannot.
///
/// # Errors
/// `Initramfs`, also if `read` cannot.
pub fn judge_initramfs(
    size: u64,
    mut read: impl FnMut(u64, &mut [u8]) -> bool,
) -> Result<u64, LinuxFault> {
    let mut at = 0_u64;
    while at < size {
        let mut buffer = [0; CPIO_HEADER];
        let start = within(&mut buffer, size.saturating_sub(at));
        if !read(at, start) {
            return Err(LinuxFault::Initramfs);
        }
        match start.iter().position(|byte| *byte != 0) {
            // The whole mark is there, or the end.
            Some(0) => {
                let is_archive = CPIO.iter().any(|mark| start.starts_with(mark));
                let is_known = at.is_multiple_of(4) && is_archive || is_compressed(start);
                return if is_known { Ok(at) } else { Err(LinuxFault::Initramfs) };
            }
            zeros => at = at.saturating_add(zeros.unwrap_or(start.len()) as u64),
        }
    }
    if size == 0 { Ok(0) } else { Err(LinuxFault::Initramfs) }
}

/// Returns true if the bytes begin like data that Linux decompresses.
pub fn is_compressed(start: &[u8]) -> bool {
    COMPRESSED.iter().any(|mark| start.starts_with(mark))
}

/// Returns the part of a buffer that has at most this length.
fn within(buffer: &mut [u8], len: u64) -> &mut [u8] {
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(buffer.len());
    buffer.get_mut(..len).unwrap_or_default()
}

/// Length of the header of an entry, which consists of the mark and 13 numbers of eight hexadecimal digits (Linux,
/// Documentation/driver-api/early-userspace/buffer-format.rst).
pub const CPIO_HEADER: usize = 110;

/// What is at a place where an archive has an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchivePart {
    /// This many zeros.
    Zeros(usize),
    /// An entry.
    Entry {
        /// Offset of the end of its header and name.
        named: u64,
        /// Offset of the end of its file, without the padding to a multiple of four.
        end: u64,
        /// True if there is a file.
        has_file: bool,
    },
    /// Something else.
    Other,
}

/// Reads what is at offset `at` of an archive, of which `header` has the next [`CPIO_HEADER`] bytes, or all that are left.
///
/// # Errors
/// `InitramfsCut` if a header is not whole; `Initramfs` if it has a number that is none.
pub fn archive_part(at: u64, header: &[u8]) -> Result<ArchivePart, LinuxFault> {
    const MARK: usize = 6;
    let zeros = header.iter().take_while(|byte| **byte == 0).count();
    if zeros > 0 {
        return Ok(ArchivePart::Zeros(zeros));
    }
    let mark = header.get(..header.len().min(MARK)).unwrap_or_default();
    if !at.is_multiple_of(4) || !CPIO.iter().any(|it| it.starts_with(mark)) {
        return Ok(ArchivePart::Other);
    }
    if header.len() < CPIO_HEADER {
        return Err(LinuxFault::InitramfsCut);
    }
    // Size of the file, and length of its name.
    let [file, name] = [6, 11]
        .map(|index| number_of_hex(&bytes_at::<8>(header, MARK + 8 * index).unwrap_or([0; 8])));
    let (file, name) = file.zip(name).ok_or(LinuxFault::Initramfs)?;
    let named = at.saturating_add(CPIO_HEADER as u64).saturating_add(name);
    let end = named.next_multiple_of(4).saturating_add(file);
    Ok(ArchivePart::Entry { named, end, has_file: file > 0 })
}

/// Checks that the last entry of each cpio archive in an initramfs of `size` bytes is whole, from offset `at` on. Returns the
/// offset of what follows the entries and zeros, and is no other entry. An archive need not have a trailer. `read` is that of
/// [`judge_initramfs`].
///
/// # Errors
/// `InitramfsCut`, also if `read` cannot; `Initramfs` if a header has a number that is none.
pub fn judge_archives(
    mut at: u64,
    size: u64,
    mut read: impl FnMut(u64, &mut [u8]) -> bool,
) -> Result<u64, LinuxFault> {
    while at < size {
        let mut buffer = [0; CPIO_HEADER];
        let header = within(&mut buffer, size.saturating_sub(at));
        if !read(at, header) {
            return Err(LinuxFault::InitramfsCut);
        }
        at = match archive_part(at, header)? {
            ArchivePart::Zeros(count) => at.saturating_add(count as u64),
            ArchivePart::Other => break,
            ArchivePart::Entry { named, end, has_file } => {
                if named > size || has_file && end > size {
                    return Err(LinuxFault::InitramfsCut);
                }
                end.next_multiple_of(4)
            }
        };
    }
    Ok(at)
}

/// Judges them for the device: initramfs and command line only if the kernel is Linux. The kernel has `memory_size` bytes.
///
/// # Errors
/// `OtherInitramfs`; those of [`judge_kernel`], [`judge_initramfs`] and [`judge_archives`].
pub fn judge_linux(
    kernel: &[u8],
    memory_size: u64,
    initramfs: &[u8],
    bootargs: &str,
) -> Result<(), LinuxFault> {
    judge_kernel(kernel, kernel.len() as u64, memory_size)?;
    if !is_linux(kernel) {
        return Ok(());
    }
    if bootargs::names_initramfs(bootargs.as_bytes()) {
        return Err(LinuxFault::OtherInitramfs);
    }
    let size = initramfs.len() as u64;
    let read = |at: u64, into: &mut [u8]| {
        let from = usize::try_from(at).ok().and_then(|at| initramfs.get(at..)?.get(..into.len()));
        from.inspect(|from| into.copy_from_slice(from)).is_some()
    };
    let first = judge_initramfs(size, read)?;
    judge_archives(first, size, read).map(drop)
}

/// What makes an OpenSBI useless after the ROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpensbiFault {
    /// It enters a fixed address, and not what the ROM tells it.
    FixedNextStage,
    /// It is for harts of 32 bits.
    Narrow,
}

impl OpensbiFault {
    /// Returns the fault for the console.
    pub const fn text(self) -> &'static str {
        match self {
            Self::FixedNextStage => "not fw_dynamic",
            Self::Narrow => "for 32-bit harts",
        }
    }
}

/// Finds out whether an OpenSBI takes the next stage from the stage before, and on which harts it runs. It does so if it
/// compares with the magic number of `fw_dynamic_info` (OpenSBI, firmware/fw_dynamic.S): with `lui` it loads the upper
/// half of the number, and after that the field that it compares. Code without the mark of OpenSBI has no rule.
///
/// # Errors
/// `FixedNextStage`, `Narrow`.
pub fn judge_opensbi(code: &[u8]) -> Result<(), OpensbiFault> {
    let half = |at: usize| bytes_at(code, at).map_or(0, u16::from_le_bytes);
    let is_upper = |at: &usize| half(*at) & 0xf07f == 0x5037 && half(*at + 2) == 0x4942;
    let fault = match (0..code.len()).step_by(2).find(is_upper) {
        None => OpensbiFault::FixedNextStage,
        // `c.lw` or `lw` in the place of `c.ld` or `ld`.
        Some(at) if half(at + 8) & 0xe003 == 0x4000 || half(at + 8) & 0x707f == 0x2003 => {
            OpensbiFault::Narrow
        }
        Some(_) => return Ok(()),
    };
    if code.windows(9).any(|text| text == b"OpenSBI v") { Err(fault) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    fn linux(image_size: u64, flags: u64) -> Vec<u8> {
        let mut header = vec![0; 64];
        header[16..24].copy_from_slice(&image_size.to_le_bytes());
        header[24..32].copy_from_slice(&flags.to_le_bytes());
        header[0x38..0x3c].copy_from_slice(b"RSC\x05");
        header
    }

    #[test]
    fn a_kernel_has_room_for_its_file_and_is_little_endian() {
        assert_eq!(judge_kernel(&linux(5000, 0), 5000, 8192), Ok(()));
        assert_eq!(judge_kernel(&linux(4999, 0), 5000, 8192), Err(LinuxFault::ImageSize));
        assert_eq!(judge_kernel(&linux(0, 0), 5000, 8192), Err(LinuxFault::ImageSize));
        assert_eq!(judge_kernel(&linux(5000, 2), 5000, 8192), Ok(()));
        assert_eq!(judge_kernel(&linux(5000, 3), 5000, 8192), Err(LinuxFault::BigEndian));
        assert_eq!(judge_kernel(&linux(8192, 0), 5000, 8192), Ok(()));
        assert_eq!(judge_kernel(&linux(8193, 0), 5000, 8192), Err(LinuxFault::MemorySize));
    }

    #[test]
    fn the_initramfs_of_another_system_has_no_rule() {
        let kernel = linux(64, 0);
        assert_eq!(judge_linux(&kernel, 64, b"\x1f\x8b\x08", ""), Ok(()));
        assert_eq!(judge_linux(&kernel, 64, b"070701", ""), Err(LinuxFault::InitramfsCut));
        assert_eq!(judge_linux(&kernel, 64, b"070707", ""), Err(LinuxFault::Initramfs));
        assert_eq!(judge_linux(&linux(63, 0), 64, b"070701", ""), Err(LinuxFault::ImageSize));
        assert_eq!(judge_linux(&kernel[..60], 64, b"\x1f\x8b\x08", ""), Ok(()));
        assert_eq!(judge_linux(&kernel[..59], 64, b"070707", ""), Ok(()));
        assert_eq!(judge_linux(&[], 64, b"070707", "initrd=1,2"), Ok(()));
        let wanted = Err(LinuxFault::OtherInitramfs);
        assert_eq!(judge_linux(&kernel, 64, b"\x1f\x8b\x08", "ro initrd=1,2"), wanted);
    }

    #[test]
    fn each_fault_has_a_text_of_its_own() {
        let linux = [
            (LinuxFault::BigEndian, "big-endian"),
            (LinuxFault::ImageSize, "image_size"),
            (LinuxFault::MemorySize, "memory_size"),
            (LinuxFault::Initramfs, "no cpio archive"),
            (LinuxFault::InitramfsCut, "cut"),
            (LinuxFault::OtherInitramfs, "command line"),
        ];
        assert!(linux.iter().all(|(fault, text)| fault.text().contains(text)));
        assert_eq!(OpensbiFault::FixedNextStage.text(), "not fw_dynamic");
        assert_eq!(OpensbiFault::Narrow.text(), "for 32-bit harts");
    }

    #[test]
    fn another_system_has_no_rule() {
        let mut other = linux(0, 1);
        other[0x3b] = 4;
        assert_eq!(judge_kernel(&other, 5000, 8192), Ok(()));
        for len in [0, 16, 0x3b] {
            assert_eq!(judge_kernel(&linux(0, 1)[..len], 5000, 8192), Ok(()));
        }
        assert_eq!(judge_opensbi(&[0x13; 64]), Ok(()));
        assert_eq!(judge_opensbi(&[]), Ok(()));
    }

    #[test]
    fn an_initramfs_begins_with_a_mark() {
        for mark in CPIO.into_iter().chain(COMPRESSED) {
            assert_eq!(first(mark), Ok(0));
            assert_eq!(first(&mark[..mark.len() - 1]), Err(LinuxFault::Initramfs));
        }
        assert_eq!(first(&[]), Ok(0));
        // The old form of cpio, and a frame of lz4.
        // The checksums CRC64 and SHA-256 of xz.
        for other in [
            &b"070707"[..],
            b"\x04\x22\x4d\x18",
            &[0; 16],
            b"\xfd7zXZ\0\0\x04",
            b"\xfd7zXZ\0\0\x0a",
        ] {
            assert_eq!(first(other), Err(LinuxFault::Initramfs));
        }
        assert_eq!(judge_initramfs(6, |_, _| false), Err(LinuxFault::Initramfs));
    }

    #[test]
    fn zeros_before_a_mark_are_skipped() {
        let after = |zeros: usize, mark| first(&[&vec![0; zeros][..], mark].concat());
        // Around the border of what is read at a time, and of a page.
        for zeros in (1..3 * CPIO_HEADER).chain(4080..4112).chain([1 << 20]) {
            let at = Ok(zeros as u64);
            let wanted = if zeros % 4 == 0 { at } else { Err(LinuxFault::Initramfs) };
            assert_eq!(after(zeros, b"070701"), wanted, "{zeros}");
            assert_eq!(after(zeros, b"\x1f\x8b\x08"), at, "{zeros}");
            assert_eq!(after(zeros, b"\x1f\x8b"), Err(LinuxFault::Initramfs), "{zeros}");
            assert_eq!(after(zeros, b""), Err(LinuxFault::Initramfs), "{zeros}");
        }
    }

    fn first(initramfs: &[u8]) -> Result<u64, LinuxFault> {
        judge_initramfs(initramfs.len() as u64, |at, into| {
            into.copy_from_slice(&initramfs[at as usize..][..into.len()]);
            true
        })
    }

    /// An entry with this name and content, padded.
    fn entry(name: &str, content: &[u8]) -> Vec<u8> {
        let mut numbers = [0; 13];
        (numbers[6], numbers[11]) = (content.len(), name.len() + 1);
        let numbers = numbers.map(|number| std::format!("{number:08X}")).concat();
        let mut entry = [b"070701", numbers.as_bytes(), name.as_bytes(), b"\0"].concat();
        entry.resize(entry.len().next_multiple_of(4), 0);
        entry.extend_from_slice(content);
        entry.resize(entry.len().next_multiple_of(4), 0);
        entry
    }

    fn archives(initramfs: &[u8]) -> Result<(), LinuxFault> {
        judge_linux(&linux(64, 0), 64, initramfs, "")
    }

    #[test]
    fn an_archive_that_is_cut_is_found() {
        let files = [entry("init", &[1; 1000]), entry("etc/x", b""), entry("TRAILER!!!", b"")];
        let whole = files.concat();
        let ends = [files[0].len(), files[0].len() + files[1].len(), whole.len()];
        for len in 1..=whole.len() {
            // Padding of the last entry may be missing, and no entry has to be the last.
            let is_whole = ends.contains(&len) || len > whole.len() - 4;
            let wanted = match len {
                _ if is_whole => Ok(()),
                0..6 => Err(LinuxFault::Initramfs),
                _ => Err(LinuxFault::InitramfsCut),
            };
            assert_eq!(archives(&whole[..len]), wanted, "{len}");
        }
    }

    #[test]
    fn an_archive_may_follow_another_and_be_followed() {
        let whole = [entry("init", b"12345"), entry("TRAILER!!!", b"")].concat();
        let cut = &whole[..whole.len() - 8];
        let zeros = vec![0; 512];
        assert_eq!(archives(&[&whole[..], &zeros, &whole, &zeros].concat()), Ok(()));
        assert_eq!(archives(&[&whole[..], &zeros, cut].concat()), Err(LinuxFault::InitramfsCut));
        assert_eq!(archives(&[&zeros[..], cut].concat()), Err(LinuxFault::InitramfsCut));
        for other in [&b"\x1f\x8b\x08"[..], b"#BOOTCONFIG\n", b"\x00070701", b"0", b"070"] {
            let wanted = if other[0] == b'0' { Err(LinuxFault::InitramfsCut) } else { Ok(()) };
            assert_eq!(archives(&[&whole[..], other].concat()), wanted, "{other:?}");
        }
        // Behind compressed data nothing is looked at.
        assert_eq!(archives(&[b"\x1f\x8b\x08\0", cut].concat()), Ok(()));
    }

    #[test]
    fn a_header_has_numbers() {
        let mut wrong = entry("init", b"12345");
        for (at, digit) in [(54, b'f'), (61, b'F'), (94, b'0'), (101, b'a')] {
            let right = wrong[at];
            wrong[at] = b'g';
            assert_eq!(archives(&wrong), Err(LinuxFault::Initramfs), "{at}");
            wrong[at] = digit;
            assert_ne!(archives(&wrong), Err(LinuxFault::Initramfs), "{at}");
            wrong[at] = right;
        }
        // The largest numbers do not wrap.
        wrong[54..62].fill(b'f');
        wrong[94..102].fill(b'f');
        assert_eq!(archives(&wrong), Err(LinuxFault::InitramfsCut));
        assert_eq!(judge_archives(0, u64::MAX, |_, _| false), Err(LinuxFault::InitramfsCut));
    }

    #[test]
    fn an_opensbi_takes_what_the_rom_tells_it_on_64_bit_harts() {
        const MARK: &[u8] = b"OpenSBI v";
        // `li a1, 0x4942534f`, then one load from 0(a2) each.
        let li: [u8; 8] = [0xb7, 0x55, 0x42, 0x49, 0x9b, 0x85, 0xf5, 0x34];
        let code = |load: &[u8], mark: &[u8]| [&[0x13; 6], &li[..], load, &[0; 4], mark].concat();
        let load = |kind: u8| [0x03, kind, 0x06, 0];
        for (load, wanted) in [
            (&[0x08, 0x62][..], Ok(())),
            (&load(0x35), Ok(())),
            (&[0x08, 0x42], Err(OpensbiFault::Narrow)),
            (&load(0x25), Err(OpensbiFault::Narrow)),
        ] {
            assert_eq!(judge_opensbi(&code(load, MARK)), wanted);
            assert_eq!(judge_opensbi(&code(load, b"")), Ok(()));
            // An instruction with one of the two halves of `lui` is another one.
            for other in [[0x13, 0x13, 0x42, 0x49], [0xb7, 0x55, 0x13, 0x13]] {
                let before = [&other[..], &[0x13; 12]].concat();
                assert_eq!(judge_opensbi(&[&before, &code(load, MARK)[..]].concat()), wanted);
            }
        }
        assert_eq!(judge_opensbi(&[&[0x13; 8], MARK].concat()), Err(OpensbiFault::FixedNextStage));
    }
}
