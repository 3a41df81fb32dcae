//! JSON without an allocator.

use core::fmt::{self, Write};

/// A text between quotation marks. Bytes that are not UTF-8 are replaced by U+FFFD.
pub struct Text<'a>(pub &'a [u8]);

impl fmt::Display for Text<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                match character {
                    '"' => out.write_str("\\\"")?,
                    '\\' => out.write_str("\\\\")?,
                    '\n' => out.write_str("\\n")?,
                    '\t' => out.write_str("\\t")?,
                    '\0'..='\x1f' => write!(out, "\\u{:04x}", character as u32)?,
                    _ => out.write_char(character)?,
                }
            }
            if !chunk.invalid().is_empty() {
                out.write_char('\u{fffd}')?;
            }
        }
        out.write_char('"')
    }
}

/// A value, or `null`.
pub struct OrNull<T>(pub Option<T>);

impl<T: fmt::Display> fmt::Display for OrNull<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(out),
            None => out.write_str("null"),
        }
    }
}

/// An array of numbers.
pub struct Numbers<'a>(pub &'a [u64]);

impl fmt::Display for Numbers<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, number) in self.0.iter().enumerate() {
            write!(out, "{}{number}", if at == 0 { '[' } else { ',' })?;
        }
        out.write_str(if self.0.is_empty() { "[]" } else { "]" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn what_is_written_is_read_back() {
        let text = "processor\t: 0\nisa \"rv64\" \\ \u{1} é\n";
        let read: std::string::String =
            serde_json::from_str(&Text(text.as_bytes()).to_string()).unwrap();
        assert_eq!(read, text);
        assert_eq!(Text(b"a\xffb").to_string(), "\"a\u{fffd}b\"");
        assert_eq!(Numbers(&[]).to_string(), "[]");
        assert_eq!(Numbers(&[1, 2]).to_string(), "[1,2]");
        assert_eq!(OrNull::<u64>(None).to_string(), "null");
    }
}
