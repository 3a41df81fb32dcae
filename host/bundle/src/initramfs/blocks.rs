//! Forms of compressed data that consist of blocks with their sizes, or with marks.

use std::io::{self, Read};
use std::ops::Range;

use lz4_flex::block::decompress_into;

/// Maximum size of a block of lz4 in its legacy format, before it is compressed (Linux, lib/decompress_unlz4.c).
const LZ4_BLOCK: usize = 8 << 20;
const LZ4_MAGIC: u32 = 0x184c_2102;

fn damaged() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

fn number_of<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Passes over a number of bytes, all of which have to be there.
fn skip(source: &mut impl Read, size: u64) -> io::Result<()> {
    match io::copy(&mut source.take(size), &mut io::sink())? {
        count if count == size => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Decompresses lz4 in its legacy format: blocks, each after its size.
pub(super) struct Lz4Reader<R> {
    source: R,
    /// Memory for a block.
    block: Vec<u8>,
    /// Bytes of the block that were not given yet.
    rest: Range<usize>,
}

impl<R: Read> Lz4Reader<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, block: vec![0; LZ4_BLOCK], rest: 0..0 }
    }

    /// Reads the next block; false at the end, which is that of the source, or a size of 0.
    fn next_block(&mut self) -> io::Result<bool> {
        let size = loop {
            let mut size = [0; 4];
            // Linux ignores fewer bytes than those of a size.
            if super::fill(&mut self.source, &mut size)? < size.len() {
                return Ok(false);
            }
            // Linux takes the magic number in the place of a size for the beginning of another file.
            match u32::from_le_bytes(size) {
                LZ4_MAGIC => {}
                size => break size,
            }
        };
        if size == 0 {
            return Ok(false);
        }
        if size as usize > LZ4_BLOCK + LZ4_BLOCK / 255 + 16 {
            // What follows, such as an archive, is taken for a size as well.
            return Err(damaged());
        }
        let mut packed = vec![0; size as usize];
        self.source.read_exact(&mut packed)?;
        // A block that is larger than Linux takes does not fit.
        self.rest = 0..decompress_into(&packed, &mut self.block).map_err(io::Error::other)?;
        Ok(true)
    }
}

impl<R: Read> Read for Lz4Reader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            if !self.next_block()? {
                return Ok(0);
            }
        }
        let rest = &self.block[self.rest.clone()];
        let len = rest.len().min(into.len());
        into[..len].copy_from_slice(&rest[..len]);
        self.rest.start += len;
        Ok(len)
    }
}

/// Passes over a stream of bzip2, up to the mark of its end and the checksum after that, which are at any bit.
pub(super) fn skip_bzip2(source: &mut impl Read) -> io::Result<()> {
    const END: u64 = 0x1772_4538_5090;
    const MASK: u64 = (1 << 48) - 1;
    let mut last = 0_u64;
    skip(source, 4)?;
    loop {
        last = last << 8 | u64::from(number_of::<1>(source)?[0]);
        if (0..8).any(|bits| last >> bits & MASK == END) {
            // The checksum has 32 bits, of which fewer than eight are in the last byte.
            return skip(source, 4);
        }
    }
}

/// Passes over the blocks of lzo in the format of `lzop`, up to one with the size 0 (Linux, lib/decompress_unlzo.c).
pub(super) fn skip_lzo(source: &mut impl Read) -> io::Result<()> {
    const HAS_FILTER: u32 = 0x800;
    const MAX_BLOCK: u32 = 256 << 10;
    skip(source, 9)?;
    let version = u16::from_be_bytes(number_of(source)?);
    let is_newer = version >= 0x940;
    // Versions of the library and of what is needed, method and level.
    skip(source, if is_newer { 6 } else { 5 })?;
    let flags = u32::from_be_bytes(number_of(source)?);
    let filter = if flags & HAS_FILTER != 0 { 4 } else { 0 };
    // Mode and time.
    skip(source, filter + if is_newer { 12 } else { 8 })?;
    let [name_len] = number_of(source)?;
    // The name and a checksum.
    skip(source, u64::from(name_len) + 4)?;
    loop {
        let size = u32::from_be_bytes(number_of(source)?);
        if size == 0 {
            return Ok(());
        }
        let packed = u32::from_be_bytes(number_of(source)?);
        if size > MAX_BLOCK || packed == 0 || packed > size {
            return Err(damaged());
        }
        // Linux takes it that there is one checksum.
        skip(source, 4 + u64::from(packed))?;
    }
}
