//! What Linux unpacks of an initramfs, as far as the workstation can tell (boot flow §5.8, command §2).
//!
//! Archives are judged by the functions of the loader. Data that is compressed is unpacked here, as a stream: a device leaves
//! that to Linux. What Linux does is in its init/initramfs.c and lib/decompress_*.c.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use hartlock_handoff::payload::{self, ArchivePart, CPIO_HEADER, LinuxFault};
use lzma_rust2::{LzmaReader, XzReader};
use ruzstd::decoding::StreamingDecoder;

mod blocks;

/// What Linux cannot unpack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InitramfsFault {
    /// The loader refuses it, too.
    Refused(LinuxFault),
    /// Compressed data is not right.
    Compressed(Compression, CompressionFault),
}

/// What is not right in compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompressionFault {
    /// It ends before it is complete.
    Cut,
    /// It cannot be decompressed, or its checksum is another one.
    Damaged,
    /// The header of gzip has a field that Linux does not skip.
    Header,
    /// The checksum of xz is one that Linux does not check.
    Checksum,
    /// What it contains is no cpio archive.
    NoArchive,
    /// The archive in it ends before its last entry.
    ArchiveCut,
    /// Something follows the archive in it.
    Junk,
}

/// A form of compressed data that Linux unpacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Xz,
    Zstd,
    Lz4,
    Bzip2,
    Lzma,
    Lzo,
}

impl Compression {
    /// Returns the name of such data.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip data",
            Self::Xz => "xz data",
            Self::Zstd => "zstd data",
            Self::Lz4 => "lz4 data",
            Self::Bzip2 => "bzip2 data",
            Self::Lzma => "lzma data",
            Self::Lzo => "lzo data",
        }
    }

    fn of(start: &[u8]) -> Option<Self> {
        if !payload::is_compressed(start) {
            return None;
        }
        Some(match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0xfd, ..] => Self::Xz,
            [0x28, ..] => Self::Zstd,
            [2, ..] => Self::Lz4,
            [b'B', ..] => Self::Bzip2,
            [0x5d, ..] => Self::Lzma,
            _ => Self::Lzo,
        })
    }
}

/// Memory for a dictionary of xz and lzma in KiB. The presets of `xz` need 64 MiB at most. Data that needs more is not
/// unpacked.
const DICTIONARY_KIB: u32 = 256 << 10;

/// Judges an initramfs of `size` bytes. `read` fills a buffer from an offset in it on.
///
/// # Errors
/// The error of `read`.
pub(crate) fn judge<E>(
    size: u64,
    read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
) -> Result<Result<(), InitramfsFault>, E> {
    let mut source = InitramfsBytes::new(size, read);
    let judged = judge_source(&mut source);
    source.failed.map_or(Ok(judged), Err)
}

fn judge_source<E, R>(source: &mut InitramfsBytes<E, R>) -> Result<(), InitramfsFault>
where
    R: FnMut(u64, &mut [u8]) -> Result<(), E>,
{
    let size = source.size;
    let refused = InitramfsFault::Refused;
    let first =
        payload::judge_initramfs(size, |at, into| source.fill(at, into)).map_err(refused)?;
    let mut at = first;
    loop {
        let read = |at: u64, into: &mut [u8]| source.fill(at, into);
        at = payload::judge_archives(at, size, read).map_err(refused)?;
        let mut start = [0; CPIO_HEADER];
        let start = &mut start[..(size - at.min(size)).min(CPIO_HEADER as u64) as usize];
        if !source.fill(at, start) {
            return Ok(());
        }
        if start.starts_with(b"\xfd7zXZ\0") && !payload::is_compressed(start) {
            return Err(InitramfsFault::Compressed(Compression::Xz, CompressionFault::Checksum));
        }
        // Linux leaves the rest of something else, with a message.
        let Some(compression) = Compression::of(start) else { return Ok(()) };
        source.at = at;
        let judged = judge_compressed(compression, source, start, at == first);
        match judged.map_err(|fault| InitramfsFault::Compressed(compression, fault))? {
            Judged::Whole => at = source.at,
            Judged::Kept => return Ok(()),
        }
    }
}

/// How far compressed data was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judged {
    /// Up to its end.
    Whole,
    /// Nobody knows where it ends.
    Kept,
}

/// Judges compressed data, which begins with `start`, at the position of `source`, which is then behind it. Linux expects
/// whole entries in it, and zeros at its start only after an archive (`is_first`).
fn judge_compressed<E, R>(
    compression: Compression,
    source: &mut InitramfsBytes<E, R>,
    start: &[u8],
    is_first: bool,
) -> Result<Judged, CompressionFault>
where
    R: FnMut(u64, &mut [u8]) -> Result<(), E>,
{
    source.is_at_end = false;
    let judged = match compression {
        // Linux skips ten bytes and a name. The checksum, which it skips too, is looked at here.
        Compression::Gzip if start.get(3).is_some_and(|flags| flags & !9 != 0) => {
            return Err(CompressionFault::Header);
        }
        Compression::Gzip => judge_content(GzDecoder::new(&mut *source), is_first),
        Compression::Xz => {
            let reader = XzReader::new_mem_limit(&mut *source, false, DICTIONARY_KIB);
            judge_content(reader, is_first)
        }
        Compression::Lzma => LzmaReader::new_mem_limit(&mut *source, DICTIONARY_KIB, None)
            .and_then(|reader| judge_content(reader, is_first)),
        Compression::Zstd => {
            StreamingDecoder::new(&mut *source).map_err(io::Error::other).and_then(|mut reader| {
                let judged = judge_content(&mut reader, is_first)?;
                let stated = reader.decoder.get_checksum_from_data();
                let is_right =
                    stated.is_none_or(|it| reader.decoder.get_calculated_checksum() == Some(it));
                if is_right { Ok(judged) } else { Err(io::ErrorKind::InvalidData.into()) }
            })
        }
        Compression::Lz4 => judge_content(blocks::Lz4Reader::new(&mut *source), is_first),
        // The blocks of these two are counted, and not decompressed.
        Compression::Bzip2 => blocks::skip_bzip2(source).map(Ok),
        Compression::Lzo => blocks::skip_lzo(source).map(Ok),
    };
    match judged {
        Ok(judged) => judged.map(|()| Judged::Whole),
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => Ok(Judged::Kept),
        Err(_) if source.is_at_end => Err(CompressionFault::Cut),
        Err(_) => Err(CompressionFault::Damaged),
    }
}

/// Judges the archive in compressed data.
///
/// # Errors
/// The error of `content`.
fn judge_content(
    mut content: impl Read,
    is_first: bool,
) -> io::Result<Result<(), CompressionFault>> {
    let mut header = [0; CPIO_HEADER];
    let mut len = 0;
    let mut at = 0_u64;
    loop {
        len += fill(&mut content, &mut header[len..])?;
        if len == 0 {
            let is_empty = at == 0 && is_first;
            return Ok(if is_empty { Err(CompressionFault::NoArchive) } else { Ok(()) });
        }
        let fault = match payload::archive_part(at, &header[..len]) {
            Ok(ArchivePart::Zeros(count)) if at > 0 || !is_first => {
                header.copy_within(count..len, 0);
                len -= count;
                at += count as u64;
                continue;
            }
            Ok(ArchivePart::Entry { end, .. }) => {
                // Linux waits for the padding of the last entry, too.
                let rest = end.next_multiple_of(4) - at - len as u64;
                if io::copy(&mut content.by_ref().take(rest), &mut io::sink())? == rest {
                    at = end.next_multiple_of(4);
                    len = 0;
                    continue;
                }
                CompressionFault::ArchiveCut
            }
            Err(LinuxFault::InitramfsCut) => CompressionFault::ArchiveCut,
            Ok(_) | Err(_) if at == 0 => CompressionFault::NoArchive,
            Ok(_) | Err(_) => CompressionFault::Junk,
        };
        // What is wrong with the compressed data itself is found behind that, and counts.
        io::copy(&mut content, &mut io::sink())?;
        return Ok(Err(fault));
    }
}

/// Reads until the buffer is full, or nothing is left. Returns the number of bytes.
fn fill(content: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match content.read(&mut buffer[len..])? {
            0 => break,
            count => len += count,
        }
    }
    Ok(len)
}

/// The bytes of an initramfs, of which a part is in memory.
struct InitramfsBytes<E, R> {
    size: u64,
    read: R,
    part: Vec<u8>,
    /// Offset of the part.
    part_at: u64,
    /// Offset of the next byte for a reader.
    at: u64,
    /// True if a reader has found no byte.
    is_at_end: bool,
    failed: Option<E>,
}

impl<E, R: FnMut(u64, &mut [u8]) -> Result<(), E>> InitramfsBytes<E, R> {
    const PART: u64 = 64 << 10;

    fn new(size: u64, read: R) -> Self {
        let part = Vec::new();
        Self { size, read, part, part_at: 0, at: 0, is_at_end: false, failed: None }
    }

    /// Returns the bytes of the part from an offset on, after that was read if need be. It is empty at the end.
    fn rest_at(&mut self, at: u64) -> &[u8] {
        let is_inside = |at: u64| self.part_at <= at && at - self.part_at < self.part.len() as u64;
        if !is_inside(at) {
            let size = self.size.saturating_sub(at).min(Self::PART);
            self.part.resize(size as usize, 0);
            self.part_at = at;
            if size > 0
                && let Err(error) = (self.read)(at, &mut self.part)
            {
                self.failed = Some(error);
                self.part.clear();
            }
        }
        self.part.get((at - self.part_at) as usize..).unwrap_or_default()
    }

    /// Fills a buffer from an offset on, and returns false if not all is there.
    fn fill(&mut self, mut at: u64, mut into: &mut [u8]) -> bool {
        while !into.is_empty() {
            let rest = self.rest_at(at);
            let len = rest.len().min(into.len());
            if len == 0 {
                return false;
            }
            let (now, later) = into.split_at_mut(len);
            now.copy_from_slice(&rest[..len]);
            at += len as u64;
            into = later;
        }
        true
    }
}

impl<E, R: FnMut(u64, &mut [u8]) -> Result<(), E>> BufRead for InitramfsBytes<E, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let at = self.at;
        if self.rest_at(at).is_empty() {
            self.is_at_end = true;
        }
        Ok(self.rest_at(at))
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount as u64;
    }
}

impl<E, R: FnMut(u64, &mut [u8]) -> Result<(), E>> Read for InitramfsBytes<E, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let len = from.len().min(into.len());
        into[..len].copy_from_slice(&from[..len]);
        self.consume(len);
        Ok(len)
    }
}

#[cfg(test)]
pub(crate) mod tests;
