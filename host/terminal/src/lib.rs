//! Escapes untrusted text before it is printed on a terminal: names of files, fields of bundles, messages of
//! other programs, and the console of a device.
//!
//! A carriage return, an escape sequence or a change of the writing direction could replace a verdict that
//! was printed before, and a line feed could add a forged one. Everything that the `hartlock` command prints
//! goes through this crate, and only this crate decides which characters are escaped.
//!
//! | function | use |
//! |---|---|
//! | [`text`], [`path`] | escapes an untrusted value within a line that the command prints |
//! | [`output`] | escapes complete output just before it is printed, in case a value in it was not escaped |
//! | [`json`] | escapes JSON; its values do not change |
//!
//! Escapes have the form of [`char::escape_debug`]: `\r`, `\n`, `\u{202e}`. A backslash is not escaped, so
//! escaping a text twice gives the same result as escaping it once. For the same reason a name that contains
//! a backslash can look like an escaped one.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Escapes control characters (including line feeds and tabs) and characters that are invisible or that join
/// or reorder other characters. A combining character is kept if it follows a character that it can combine
/// with.
pub fn text(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(2 * text.len());
    for piece in text.split_inclusive(KEPT) {
        let end = piece.strip_suffix(KEPT).map_or(piece.len(), str::len);
        let _ = write!(out, "{}{}", piece[..end].escape_debug(), &piece[end..]);
    }
    Cow::Owned(out)
}

/// Returns the name of a file, escaped like [`text`]. Bytes that are not UTF-8 become U+FFFD.
pub fn path(path: &Path) -> String {
    text(&path.to_string_lossy()).into_owned()
}

/// Escapes output for a terminal: line feeds, tabs and colour sequences (`ESC [ … m`) are kept, and
/// everything else is escaped like [`text`].
pub fn output(whole: &str) -> Cow<'_, str> {
    let is_line = |c: char| matches!(c, '\n' | '\t');
    if whole.split(is_line).all(is_plain) {
        return Cow::Borrowed(whole);
    }
    let mut out = String::with_capacity(2 * whole.len());
    let mut rest = whole;
    while !rest.is_empty() {
        let len = rest.find(|c: char| is_line(c) || c == ESCAPE).unwrap_or(rest.len());
        out.push_str(&text(&rest[..len]));
        rest = &rest[len..];
        // The next part is one line feed, tab or colour sequence, which is kept, or an escape character that
        // begins no colour sequence, which is escaped.
        let kept = colour_len(rest).or_else(|| rest.find(is_line).filter(|at| *at == 0).map(|_| 1));
        let end = kept.unwrap_or(usize::from(!rest.is_empty()));
        match kept {
            Some(_) => out.push_str(&rest[..end]),
            None => out.push_str(&text(&rest[..end])),
        }
        rest = &rest[end..];
    }
    Cow::Owned(out)
}

/// Replaces every character of a JSON text that [`text`] escapes by `\u` and its UTF-16 code units. Outside
/// of strings JSON contains no such character except line feeds and tabs between values, which are kept.
pub fn json(json: &str) -> Cow<'_, str> {
    if json.split('\n').all(is_plain) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(2 * json.len());
    for c in json.chars() {
        let mut one = [0; 4];
        if matches!(c, '\n' | '\t') || is_plain(c.encode_utf8(&mut one)) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(out)
}

const ESCAPE: char = '\u{1b}';
/// Characters that `escape_debug` escapes only because they are special in Rust literals.
const KEPT: [char; 3] = ['\\', '"', '\''];

/// Returns true if [`text`] would change nothing.
fn is_plain(text: &str) -> bool {
    let is_ascii = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    is_ascii || text.split(KEPT).all(|piece| piece.escape_debug().eq(piece.chars()))
}

/// Returns the length in bytes of the colour sequence at the start of `text`, if it starts with one.
fn colour_len(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every character that controls a terminal, or that hides or reorders its neighbours (Unicode:
    /// Cc, Zl, Zp, the explicit directional characters of UAX 9, and invisible characters).
    fn steering() -> impl Iterator<Item = char> {
        let ranges = [
            '\0'..='\u{1f}',
            '\u{7f}'..='\u{9f}',
            '\u{ad}'..='\u{ad}',
            '\u{61c}'..='\u{61c}',
            '\u{180e}'..='\u{180e}',
            '\u{200b}'..='\u{200f}',
            '\u{2028}'..='\u{202e}',
            '\u{2060}'..='\u{206f}',
            '\u{feff}'..='\u{feff}',
            '\u{fff9}'..='\u{fffb}',
            '\u{e0001}'..='\u{e007f}',
        ];
        ranges.into_iter().flatten()
    }

    #[test]
    fn whatever_steers_is_escaped_wherever_it_is() {
        for c in steering() {
            for (before, after) in [("", ""), ("a", "b"), ("\\", "'"), ("é", "\""), ("\n", "\n")] {
                let whole = format!("{before}{c}{after}");
                assert!(!text(&whole).contains(c), "{whole:?}");
                let shown = output(&whole);
                assert!(matches!(c, '\n' | '\t') || !shown.contains(c), "{whole:?}");
                let value = serde_json(&whole);
                assert!(c == '\n' || c == '\t' || !json(&value).contains(c), "{whole:?}");
            }
        }
    }

    /// Encodes a JSON string in which only the characters are escaped that JSON requires.
    fn serde_json(text: &str) -> String {
        let escaped = text.chars().map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            '\0'..='\u{1f}' => format!("\\u{:04x}", c as u32),
            c => c.to_string(),
        });
        format!("\"{}\"", escaped.collect::<String>())
    }

    #[test]
    fn text_that_is_printed_as_itself_stays() {
        for plain in ["", "a/b.pem", "it's \"x\" \\n", "żółć 鍵 ключ 🔑", "e\u{301}", "a … b × c"]
        {
            assert!(matches!(text(plain), Cow::Borrowed(_)), "{plain:?}");
            assert!(matches!(output(plain), Cow::Borrowed(_)), "{plain:?}");
            assert!(matches!(json(plain), Cow::Borrowed(_)), "{plain:?}");
        }
        assert_eq!(output("two\n\tlines\n"), "two\n\tlines\n");
    }

    #[test]
    fn escapes_say_which_character_it_was_and_are_escaped_once() {
        let escaped = text("a\r\n\u{1b}[2K\u{9b}\u{202e}'\"\\\u{301}");
        assert_eq!(escaped, r#"a\r\n\u{1b}[2K\u{9b}\u{202e}'"\\u{301}"#);
        assert_eq!(text(&escaped), escaped);
        assert_eq!(path(Path::new("a\rb")), r"a\rb");
    }

    #[test]
    fn colours_reach_the_terminal_and_other_sequences_do_not() {
        let coloured = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m a\tb\nc\u{1b}[38;5;1m\u{1b}[m";
        assert_eq!(output(coloured), coloured);
        for sequence in
            ["\u{1b}[2K", "\u{1b}[", "\u{1b}", "\u{1b}[1", "\u{1b}[1;A", "\u{1b}]0;m", "\u{1b}[?1m"]
        {
            let shown = output(sequence);
            assert_eq!(shown, format!("\\u{{1b}}{}", &sequence[1..]), "{sequence:?}");
            let between = format!("x\n{sequence}\u{1b}[0m");
            assert_eq!(output(&between), format!("x\n{shown}\u{1b}[0m"), "{sequence:?}");
        }
    }

    #[test]
    fn json_stays_what_it_was() {
        let value = "{\n  \"a\u{9b}\": \"\u{202e}\u{e0041}ü\\n\"\n}\n";
        assert_eq!(json(value), "{\n  \"a\\u009b\": \"\\u202e\\udb40\\udc41ü\\n\"\n}\n");
    }
}
