//! Checks that the hex dumps in the specifications show the vectors that they describe.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use xtask::Outcome;

/// The pages, and the vector that each of them describes byte by byte.
const PAGES: [(&str, &str); 2] = [
    ("spec/image-format.md", "spec/vectors/image/minimal_system.hlk"),
    ("spec/first-stage.md", "spec/vectors/first-stage/minimal.hlf"),
];

/// Runs the step `walkthrough` of `cargo xtask test`.
pub fn step(root: &Path) -> Result<Outcome> {
    for (page, vector) in PAGES {
        let text = fs::read_to_string(root.join(page)).context(page)?;
        let bytes = fs::read(root.join(vector)).context(vector)?;
        if let Err(error) = check(&text, &bytes) {
            return Ok(Outcome::Failed(format!("{page}: {error:#}")));
        }
    }
    Ok(Outcome::Passed)
}

/// Compares each line `OFFSET: BYTES  TEXT` of a block marked `hex` with the vector.
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
