//! Text from outside in a form that no terminal obeys: names of files, fields of bundles, messages of other
//! programs, the console of a device.
//!
//! A carriage return, an escape sequence or a change of the writing direction could replace a verdict that was
//! printed, and a line feed could add one. This crate alone decides which characters are escaped; everything
//! that the `hartlock` command prints goes through it.
//!
//! | function | for |
//! |---|---|
//! | [`text`], [`path`] | a value from outside within a line of ours |
//! | [`output`] | everything on its way out: whatever was not escaped before |
//! | [`json`] | JSON, which stays the same JSON |
//!
//! Escapes are those of [`char::escape_debug`]: `\r`, `\n`, `\u{202e}`. A backslash stays as it is, so text that
//! was escaped before does not change again; a name that holds a backslash can look like an escaped one.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Escapes what is not printed as itself: control characters, line feeds included, and what hides, joins or
/// reorders other characters. Combining characters stay where they have something to combine with.
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

/// The name of a file, escaped like [`text`]. Bytes that are not UTF-8 become U+FFFD.
pub fn path(path: &Path) -> String {
    text(&path.to_string_lossy()).into_owned()
}

/// Text on its way to a terminal: line feeds, tabs and colours (`ESC [ … m`) stay, everything else is escaped
/// like [`text`].
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
        // One line feed, tab or colour, or an escape that is none.
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

/// JSON with `\u` in place of every character that [`text`] escapes. Outside of its strings JSON has none of
/// them, line feeds and tabs between values excepted.
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
/// What `escape_debug` escapes for the sake of a literal.
const KEPT: [char; 3] = ['\\', '"', '\''];

/// Whether nothing is to be escaped.
fn is_plain(text: &str) -> bool {
    let is_ascii = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    is_ascii || text.split(KEPT).all(|piece| piece.escape_debug().eq(piece.chars()))
}

/// Bytes of the sequence at the front that sets a colour.
fn colour_len(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character that a terminal obeys, or that hides or reorders what is beside it (Unicode: Cc, Zl,
    /// Zp, the explicit directions of UAX 9, and invisible characters).
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

    /// A string of JSON in which only what must be escaped is.
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
