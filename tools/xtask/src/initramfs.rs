//! Makes initial RAM file systems: Debian's with the first program of this project for the demo, and a small one with
//! busybox for the tests.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use anyhow::{Context, Result};
use cpio::newc;

/// The beginning of the line that Linux prints in user space. Tests and the demo wait for it.
pub const USERSPACE: &str = "hartlock: Linux reached userspace";

/// The first program of the demo. Debian's installer has a busybox to switch off with; on a system without one SysRq
/// does it.
const DEMO_INIT: &str = "#!/bin/sh
mount -t proc proc /proc 2>/dev/null
harts=$(grep -c ^processor /proc/cpuinfo)
case $harts in 1) unit=hart ;; *) unit=harts ;; esac
echo \"hartlock: Linux reached userspace on $harts $unit: $(uname -sr)\"
busybox poweroff -f 2>/dev/null || poweroff -f 2>/dev/null || echo o > /proc/sysrq-trigger
sleep 60
";

/// The first program of the tests. Its actions are chosen by the kernel's command line, which is signed.
const TEST_INIT: &str = "#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t devtmpfs dev /dev
harts=$(busybox grep -c ^processor /proc/cpuinfo)
case $harts in 1) unit=hart ;; *) unit=harts ;; esac
echo \"hartlock: Linux reached userspace on $harts $unit: $(busybox uname -sr)\"
case \"$(busybox cat /proc/cmdline)\" in
*hartlock.test=devmem*)
    for what in read-state write-state read-handoff write-handoff; do
        /devmem $what
        echo \"devmem: $what ended with $?\"
    done ;;
*hartlock.test=port*)
    # A port of a device on the PCI bus. It is there once the device has written messages to memory.
    port=/dev/vport1p1
    for second in 1 2 3 4 5 6 7 8 9 10; do
        busybox test -e $port && break
        busybox sleep 1
    done
    echo \"written by Linux\" > $port
    echo \"port: ended with $?\" ;;
*hartlock.test=tree*)
    for node in /proc/device-tree/reserved-memory/*/; do echo \"tree: $node\"; done
    for hart in /proc/device-tree/cpus/cpu@*; do
        echo \"tree: $hart $(busybox cat $hart/status)\"
    done ;;
esac
busybox poweroff -f
busybox sleep 60
";

/// Appends the first program of this project to Debian's initrd. Linux unpacks concatenated archives in order.
pub fn demo(debian_initrd: &Path, output: &Path) -> Result<()> {
    let mut bytes = fs::read(debian_initrd)
        .with_context(|| format!("cannot read {}", debian_initrd.display()))?;
    // An uncompressed archive has to start at a multiple of 4.
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(archive(&[Item::program("hartlock-init", DEMO_INIT.as_bytes())])?);
    write(output, &bytes)
}

/// Writes an archive with busybox, the programs, and this first program, a script.
pub fn with_programs(
    busybox: &Path,
    programs: &[(&str, &[u8])],
    init: &str,
    output: &Path,
) -> Result<()> {
    let busybox = fs::read(busybox).with_context(|| busybox.display().to_string())?;
    let folders = ["bin", "dev", "proc", "sys", "usr", "usr/bin"].map(Item::folder);
    let mut items = Vec::from(folders);
    items.push(Item::program("bin/busybox", &busybox));
    items.extend(programs.iter().map(|(name, bytes)| Item::program(name, bytes)));
    items.push(Item::program("init", init.as_bytes()));
    items.push(Item { name: "dev/console", mode: 0o020_600, device: (5, 1), bytes: &[] });
    write(output, &archive(&items)?)
}

/// Writes an archive with busybox, the test program `devmem` and the first program that calls them.
pub fn test(busybox: &Path, devmem: &Path, output: &Path) -> Result<()> {
    let devmem = fs::read(devmem).with_context(|| devmem.display().to_string())?;
    with_programs(busybox, &[("devmem", devmem.as_slice())], TEST_INIT, output)
}

struct Item<'a> {
    name: &'a str,
    mode: u32,
    device: (u32, u32),
    bytes: &'a [u8],
}

impl<'a> Item<'a> {
    const fn program(name: &'a str, bytes: &'a [u8]) -> Self {
        Self { name, mode: 0o100_755, device: (0, 0), bytes }
    }

    const fn folder(name: &'a str) -> Self {
        Self { name, mode: 0o040_755, device: (0, 0), bytes: &[] }
    }
}

/// Returns an archive in newc format. Everything is owned by root and has no time, so the archive is reproducible.
fn archive(items: &[Item<'_>]) -> Result<Vec<u8>> {
    let mut out = Cursor::new(Vec::new());
    for (number, item) in items.iter().enumerate() {
        let mut entry = newc::Builder::new(item.name)
            .ino(number as u32 + 1)
            .mode(item.mode)
            .rdev_major(item.device.0)
            .rdev_minor(item.device.1)
            .write(out, item.bytes.len() as u32);
        entry.write_all(item.bytes)?;
        out = entry.finish()?;
    }
    Ok(newc::trailer(out)?.into_inner())
}

fn write(output: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(output, bytes).with_context(|| format!("cannot write {}", output.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_holds_what_was_put_in() {
        let bytes = archive(&[Item::folder("bin"), Item::program("bin/x", b"hello")]).unwrap();
        let mut reader = newc::Reader::new(Cursor::new(bytes)).unwrap();
        assert_eq!((reader.entry().name(), reader.entry().mode()), ("bin", 0o040_755));
        reader = newc::Reader::new(reader.finish().unwrap()).unwrap();
        assert_eq!((reader.entry().name(), reader.entry().file_size()), ("bin/x", 5));
    }

    #[test]
    fn both_first_programs_print_the_line_that_is_waited_for() {
        for program in [DEMO_INIT, TEST_INIT] {
            assert!(program.contains(USERSPACE));
            assert!(program.contains("on $harts $unit:") && program.contains("1) unit=hart ;;"));
        }
    }
}
