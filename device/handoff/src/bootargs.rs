//! Options of the command line of Linux by which it loses a payload (boot flow §5.8 and §6, rule 12).

/// The options of a command line as Linux splits it (`next_arg` in lib/cmdline.c): blanks separate them, except for those
/// in quotation marks.
struct Options<'a>(&'a [u8]);

impl<'a> Iterator for Options<'a> {
    /// Name and value, without the quotation marks around them.
    type Item = (&'a [u8], Option<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut is_quoted = false;
        let end = |byte: &u8| {
            is_quoted ^= *byte == b'"';
            byte.is_ascii_whitespace() && !is_quoted
        };
        let text = self.0.trim_ascii_start();
        let (option, rest) = text.split_at(text.iter().position(end).unwrap_or(text.len()));
        self.0 = rest;
        let unquoted = |text: &'a [u8]| {
            let text = text.strip_prefix(b"\"").unwrap_or(text);
            text.strip_suffix(b"\"").unwrap_or(text)
        };
        // What follows `--` is for the first program.
        if option.is_empty() || option == b"--" {
            return None;
        }
        let equals = option.iter().position(|byte| *byte == b'=');
        let (name, value) = option.split_at(equals.unwrap_or(option.len()));
        Some((unquoted(name), value.get(1..).map(unquoted)))
    }
}

/// Returns true if the command line names an initramfs, which Linux then uses in place of that in the device tree
/// (`early_initrd` and `early_initrdmem` in init/do_mounts_initrd.c).
pub fn names_initramfs(bootargs: &[u8]) -> bool {
    Options(bootargs)
        .any(|(name, value)| matches!(name, b"initrd" | b"initrdmem") && value.is_some())
}

/// Returns the number of bytes of memory, from the lowest address on, that Linux keeps (`early_mem` in
/// arch/riscv/mm/init.c, `memblock_enforce_memory_limit` in mm/memblock.c).
pub fn memory_limit(bootargs: &[u8]) -> Option<u64> {
    const PAGE: u64 = 4096;
    let limits = Options(bootargs).filter(|it| it.0 == b"mem").filter_map(|it| it.1);
    let limit = limits.map(|value| size(value) & !(PAGE - 1)).min();
    limit.filter(|limit| *limit > 0)
}

/// Reads a size as `memparse` of Linux does (lib/cmdline.c).
fn size(text: &[u8]) -> u64 {
    let (digits, radix) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16),
        [b'0', ..] => (text, 8),
        _ => (text, 10),
    };
    let value = |byte: &u8| char::from(*byte).to_digit(radix);
    let len = digits.iter().position(|it| value(it).is_none()).unwrap_or(digits.len());
    let (digits, unit) = digits.split_at(len);
    let number = digits
        .iter()
        .filter_map(value)
        .fold(0_u64, |number, digit| number.wrapping_mul(radix.into()).wrapping_add(digit.into()));
    let unit = unit.first().map_or(0, u8::to_ascii_lowercase);
    let power = b"kmgtpe".iter().zip(1_u32..).find(|it| *it.0 == unit).map_or(0, |it| it.1);
    number.wrapping_shl(10 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_linux() {
        for (text, wanted) in [
            ("512M", 512 << 20),
            ("1g", 1 << 30),
            ("0x20000000", 512 << 20),
            ("0X10k", 16 << 10),
            ("010K", 8 << 10),
            ("1T", 1 << 40),
            ("1P", 1 << 50),
            ("1E", 1 << 60),
            ("7MB", 7 << 20),
            ("12", 12),
            ("M", 0),
            ("", 0),
        ] {
            assert_eq!(size(text.as_bytes()), wanted, "{text}");
        }
    }

    #[test]
    fn the_smallest_limit_counts() {
        for (bootargs, wanted) in [
            ("mem=512M", Some(512 << 20)),
            ("quiet mem=1G root=/dev/vda mem=512M", Some(512 << 20)),
            ("quiet \"mem=512M\"", Some(512 << 20)),
            ("mem=\"512M\"", Some(512 << 20)),
            ("text=\"a b\" mem=512M", Some(512 << 20)),
            ("mem=8191", Some(4096)),
            ("mem=4095", None),
            ("mem=x", None),
            ("mem", None),
            ("memory=512M xmem=512M", None),
            ("text=\"a mem=512M\"", None),
            ("quiet -- mem=512M", None),
            ("", None),
        ] {
            assert_eq!(memory_limit(bootargs.as_bytes()), wanted, "{bootargs}");
        }
    }

    #[test]
    fn an_initramfs_on_the_command_line_is_found() {
        for bootargs in
            ["initrd=0x90000000,4096", "quiet  initrdmem=1,2 ro", "\"initrd=1,2\"", "initrd="]
        {
            assert!(names_initramfs(bootargs.as_bytes()), "{bootargs}");
        }
        for bootargs in
            ["noinitrd", "initrd", "x=\"y initrd=1,2\"", "rdinit=/initrd=1", "-- initrd=1,2"]
        {
            assert!(!names_initramfs(bootargs.as_bytes()), "{bootargs}");
        }
    }
}
