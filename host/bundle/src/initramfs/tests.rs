use std::io::Write;

use flate2::write::GzEncoder;
use flate2::{Compression as Level, GzBuilder};
use lzma_rust2::{CheckType, LzmaOptions, LzmaWriter, XzOptions, XzWriter};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

/// `hello hartlock` and a line feed, as `bzip2 -9` packs it.
const BZIP2: &str = "425a6839314159265359c91c0b2f0000035180001040002a4c94002000221a068d08069a68cd205561d41b978bb9229c2848648e059780";

/// Returns data in each form that Linux unpacks. The last two are not looked into.
pub(crate) fn samples(content: &[u8]) -> [(Compression, Vec<u8>); 7] {
    let mut gzip = GzEncoder::new(Vec::new(), Level::best());
    gzip.write_all(content).unwrap();
    let mut lzma =
        LzmaWriter::new_use_header(Vec::new(), &LzmaOptions::with_preset(6), None).unwrap();
    lzma.write_all(content).unwrap();
    let bzip2 = (0..BZIP2.len()).step_by(2);
    let bzip2 = bzip2.map(|at| u8::from_str_radix(&BZIP2[at..at + 2], 16).unwrap());
    [
        (Compression::Gzip, gzip.finish().unwrap()),
        (Compression::Xz, xz(content, CheckType::Crc32)),
        (Compression::Zstd, compress_to_vec(content, CompressionLevel::Fastest)),
        (Compression::Lz4, lz4(content)),
        (Compression::Lzma, lzma.finish().unwrap()),
        (Compression::Bzip2, bzip2.collect()),
        (Compression::Lzo, lzo(content)),
    ]
}

fn xz(content: &[u8], check: CheckType) -> Vec<u8> {
    let mut options = XzOptions::with_preset(6);
    options.set_check_sum_type(check);
    let mut writer = XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(content).unwrap();
    writer.finish().unwrap()
}

/// Blocks of 300 bytes at most.
fn lz4(content: &[u8]) -> Vec<u8> {
    let mut file = b"\x02\x21\x4c\x18".to_vec();
    for part in content.chunks(300) {
        let block = lz4_flex::block::compress(part);
        file.extend_from_slice(&(block.len() as u32).to_le_bytes());
        file.extend_from_slice(&block);
    }
    file
}

/// Blocks that are stored as they are.
fn lzo(content: &[u8]) -> Vec<u8> {
    let mut file = b"\x89LZO\0\r\n\x1a\n\x10\x40\x20\xa0\x09\x40\x01\x05".to_vec();
    // Flags, mode, two halves of the time, no name, and a checksum.
    file.extend_from_slice(&[0; 4 + 4 + 8 + 1 + 4]);
    for part in content.chunks(300) {
        let size = (part.len() as u32).to_be_bytes();
        file.extend_from_slice(&[&size[..], &size, &[0; 4], part].concat());
    }
    [file, vec![0; 4]].concat()
}

/// An entry with this name and content, padded.
fn entry(name: &str, content: &[u8]) -> Vec<u8> {
    let mut numbers = [0; 13];
    (numbers[6], numbers[11]) = (content.len(), name.len() + 1);
    let numbers = numbers.map(|number| format!("{number:08x}")).concat();
    let mut entry = [b"070701", numbers.as_bytes(), name.as_bytes(), b"\0"].concat();
    entry.resize(entry.len().next_multiple_of(4), 0);
    entry.extend_from_slice(content);
    entry.resize(entry.len().next_multiple_of(4), 0);
    entry
}

/// Two files and a trailer. The first file does not compress well.
pub(crate) fn archive() -> Vec<u8> {
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..3001)
        .map(|_| {
            state = state.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
            (state >> 24) as u8
        })
        .collect();
    [entry("init", &noise), entry("etc/x", b""), entry("TRAILER!!!", b"")].concat()
}

fn judge(initramfs: &[u8]) -> Result<(), InitramfsFault> {
    let read = |at: u64, into: &mut [u8]| {
        into.copy_from_slice(&initramfs[at as usize..][..into.len()]);
        Ok::<_, ()>(())
    };
    super::judge(initramfs.len() as u64, read).unwrap()
}

#[track_caller]
fn expect(initramfs: &[u8], compression: Compression, fault: CompressionFault) {
    assert_eq!(judge(initramfs), Err(InitramfsFault::Compressed(compression, fault)));
}

#[test]
fn whole_archives_are_right_in_each_form() {
    let archive = archive();
    for (compression, packed) in samples(&archive) {
        assert_eq!(judge(&packed), Ok(()), "{compression:?}");
        for before in [&archive[..], &[0; 5000], &[0; 3]] {
            assert_eq!(judge(&[before, &packed].concat()), Ok(()), "{compression:?}");
        }
        assert_eq!(judge(&[&packed[..], &[0; 9]].concat()), Ok(()), "{compression:?}");
        for (second, other) in samples(&archive) {
            // Linux takes what follows lz4 for the size of a block.
            if compression != Compression::Lz4 || second == compression {
                let both = [&packed[..], &other].concat();
                assert_eq!(judge(&both), Ok(()), "{compression:?}, {second:?}");
            }
        }
    }
}

#[test]
fn data_that_is_cut_is_found_at_each_length() {
    for (compression, packed) in samples(&archive()) {
        for len in 9..packed.len() {
            let judged = judge(&packed[..len]);
            let cut = CompressionFault::Cut;
            match judged {
                Err(InitramfsFault::Compressed(found, fault)) if found == compression => {
                    // Between two blocks of lz4 only the archive in it tells.
                    let is_told = fault == cut || compression == Compression::Lz4;
                    assert!(is_told, "{compression:?}, {len}: {fault:?}");
                }
                other => panic!("{compression:?}, {len} of {}: {other:?}", packed.len()),
            }
        }
    }
}

#[test]
fn data_that_is_damaged_is_found() {
    // Without those that are not looked into.
    for (compression, packed) in samples(&archive()).into_iter().take(5) {
        let mut wrong = packed.clone();
        wrong[packed.len() / 2] ^= 0x55;
        // lz4 and lzma have no checksum: a file in the archive is another one.
        let is_checked = !matches!(compression, Compression::Lz4 | Compression::Lzma);
        if is_checked {
            expect(&wrong, compression, CompressionFault::Damaged);
        }
    }
    let mut gzip = samples(&archive())[0].1.clone();
    let at = gzip.len() - 8;
    gzip[at] ^= 1;
    expect(&gzip, Compression::Gzip, CompressionFault::Damaged);
    let mut zstd = samples(&archive())[2].1.clone();
    *zstd.last_mut().unwrap() ^= 1;
    expect(&zstd, Compression::Zstd, CompressionFault::Damaged);
    let block = [&lz4(b"070701")[..], b"0707"].concat();
    expect(&block, Compression::Lz4, CompressionFault::Damaged);
    // A reference to what is before the block.
    let back = b"\x02\x21\x4c\x18\x05\0\0\0\x10a\x02\0\0";
    expect(back, Compression::Lz4, CompressionFault::Damaged);
    let mut block = lzo(b"07");
    block[45] = 9;
    expect(&block, Compression::Lzo, CompressionFault::Damaged);
}

#[test]
fn the_archive_inside_is_judged() {
    use CompressionFault::{ArchiveCut, Junk, NoArchive};
    let archive = archive();
    let junk = [&archive[..], b"text"].concat();
    let zeros = [&[0; 8], &archive[..]].concat();
    let unaligned = [&archive[..], &[0; 3], &archive].concat();
    for (content, fault) in [
        (&archive[..archive.len() - 1], ArchiveCut),
        (&archive[..archive.len() - 100], ArchiveCut),
        (&archive[..1000], ArchiveCut),
        (&archive[..100], ArchiveCut),
        (b"text", NoArchive),
        (b"070707", NoArchive),
        (b"", NoArchive),
        (&[0; 200], NoArchive),
        (&zeros, NoArchive),
        (&junk, Junk),
        (&unaligned, Junk),
    ] {
        for (compression, packed) in samples(content).into_iter().take(5) {
            expect(&packed, compression, fault);
        }
    }
    let second = [&archive[..], &[0; 9], &archive[3..3]].concat();
    for (_, packed) in samples(&second).into_iter().take(5) {
        assert_eq!(judge(&packed), Ok(()));
    }
    // After another archive, zeros are skipped.
    for (_, packed) in samples(&zeros).into_iter().take(5) {
        assert_eq!(judge(&[&archive[..], &packed].concat()), Ok(()));
    }
}

#[test]
fn what_linux_does_not_skip_or_check_is_named() {
    let with = |builder: GzBuilder| {
        let mut writer = builder.write(Vec::new(), Level::fast());
        writer.write_all(&archive()).unwrap();
        writer.finish().unwrap()
    };
    assert_eq!(judge(&with(GzBuilder::new().filename("initrd"))), Ok(()));
    let fault = CompressionFault::Header;
    expect(&with(GzBuilder::new().comment("of a build")), Compression::Gzip, fault);
    expect(&with(GzBuilder::new().extra(vec![1, 2])), Compression::Gzip, fault);

    let other = xz(&archive(), CheckType::Crc64);
    assert_eq!(judge(&other), Err(InitramfsFault::Refused(LinuxFault::Initramfs)));
    let second = [archive(), other].concat();
    expect(&second, Compression::Xz, CompressionFault::Checksum);
}

#[test]
fn a_block_of_lz4_is_at_most_8_mib() {
    let mut content = archive();
    for (size, judged) in [(8 << 20, true), ((8 << 20) + 1, false)] {
        content.resize(size, 0);
        let block = lz4_flex::block::compress(&content);
        let len = (block.len() as u32).to_le_bytes();
        let packed = [&b"\x02\x21\x4c\x18"[..], &len, &block].concat();
        assert_eq!(judge(&packed).is_ok(), judged, "{size}");
    }
}

#[test]
fn data_that_needs_much_memory_is_kept() {
    let mut packed = samples(&archive())[4].1.clone();
    packed[4] = 0x20;
    assert_eq!(judge(&packed), Ok(()));
}

#[test]
fn an_error_of_the_file_is_one() {
    let mut packed = samples(&archive())[0].1.clone();
    packed.resize(200_000, 0);
    let read = |at: u64, into: &mut [u8]| {
        into.copy_from_slice(
            packed.get(at as usize..).and_then(|it| it.get(..into.len())).ok_or(7)?,
        );
        Ok(())
    };
    assert_eq!(super::judge(300_000, read), Err(7));
}

#[test]
fn changed_bytes_end_in_an_answer() {
    let archive = [entry("init", b"12345 12345 12345 12345"), entry("TRAILER!!!", b"")].concat();
    for (_, packed) in samples(&archive) {
        for at in 0..packed.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = packed.clone();
                changed[at] ^= change;
                let _ = judge(&changed);
            }
        }
    }
}
