//! The hex dumps of `spec/image-format.md` §9 are those of the vector that they describe.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use xtask::Outcome;

const SPEC: &str = "spec/image-format.md";
const VECTOR: &str = "spec/vectors/image/minimal_system.hlk";

/// A step of `cargo xtask test`.
pub fn step(root: &Path) -> Result<Outcome> {
    let text = fs::read_to_string(root.join(SPEC)).context(SPEC)?;
    let bundle = fs::read(root.join(VECTOR)).context(VECTOR)?;
    Ok(match check(&text, &bundle) {
        Ok(()) => Outcome::Passed,
        Err(error) => Outcome::Failed(format!("{SPEC}: {error:#}")),
    })
}

/// Compares each line `OFFSET: BYTES  TEXT` inside a block marked `hex`.
fn check(text: &str, bundle: &[u8]) -> Result<()> {
    let mut is_dump = false;
    let mut count = 0;
    for line in text.lines() {
        match line {
            "```hex" => is_dump = true,
            "```" => is_dump = false,
            line if is_dump => {
                let (offset, rest) = line.split_once(": ").context("a line without an offset")?;
                let offset = usize::from_str_radix(offset, 16)?;
                let (bytes, _) = rest.split_once("  ").context("a line without its text")?;
                let bytes = bytes.replace(' ', "");
                let real = bundle.get(offset..offset + bytes.len() / 2).context("past the end")?;
                let real: String = real.iter().map(|byte| format!("{byte:02x}")).collect();
                ensure!(bytes == real, "{offset:#x} is {real}, not {bytes}");
                count += 1;
            }
            _ => {}
        }
    }
    ensure!(count > 0, "there is no hex dump");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_byte_and_a_missing_dump_are_noticed() {
        let dump = |bytes: &str| format!("text\n```hex\n00000001: {bytes}  ..\n```\n");
        assert!(check(&dump("0203"), &[1, 2, 3]).is_ok());
        assert!(check(&dump("0204"), &[1, 2, 3]).is_err());
        assert!(check(&dump("020304"), &[1, 2, 3]).is_err());
        assert!(check("text", &[1, 2, 3]).is_err());
    }
}
