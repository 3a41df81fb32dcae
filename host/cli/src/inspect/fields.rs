//! Prints every field of a bundle: as a list with explanations, or next to its bytes.

use std::fmt::Write;

use anstyle::Style;
use hartlock_bundle::inspect::{Field, Inspection, Part};

use super::summary::part_text;
use crate::page::{Page, wrap};
use crate::style::{BOLD, DIM, ERROR};
use crate::units::{count_text, grouped};

/// Number of bytes in a line.
const LINE: usize = 16;
/// Width in columns of the bytes of a line, with the space after them.
const HEX_WIDTH: usize = 4 * 9 + 1;
/// Width in columns of offset and bytes.
const BYTES_WIDTH: usize = 8 + 2 + HEX_WIDTH;
/// Minimum width in columns of notes next to the bytes. If less is left, they follow below the bytes.
const LEAST_NOTE: usize = 24;
/// Indentation in columns of a note below the bytes.
const NOTE_INDENT: usize = 12;
/// Number of lines of zeros from which on only the first line is shown.
const MANY_LINES: usize = 3;

/// Prints each field with its value and purpose.
pub(super) fn write_list(page: &mut Page, inspection: &Inspection, is_verbose: bool) {
    for_each_part(page, inspection, |page, field| {
        if field.is_filler() {
            return;
        }
        let value = match field.part {
            Part::Payload(_)
            | Part::Code
            | Part::TrailingBytes
            | Part::AfterImage
            | Part::Unparsed => size_of(field),
            _ if is_verbose || field.is_text() => field.value.clone(),
            _ => match field.value.get(..16).filter(|_| field.size > 16) {
                Some(start) => format!("{start}… ({})", size_of(field)),
                None => field.value.clone(),
            },
        };
        page.row(field.name, &value);
        page.remark(18, &format!("{} ({})", field.meaning, field.section));
    });
}

/// Prints each field of signed region and signature area next to its bytes, and each other field in one line.
pub(super) fn write_dump(page: &mut Page, inspection: &Inspection) {
    for_each_part(page, inspection, |page, field| {
        let range = field.offset as usize..field.end() as usize;
        match inspection.metadata.get(range) {
            Some(bytes) if field.part != Part::Unparsed => dump(page, field, bytes),
            _ => {
                let text = match field.part {
                    Part::Payload(_) => format!("{}, {}", field.value, size_of(field)),
                    Part::Padding => format!("{}, {}", size_of(field), field.value),
                    _ => format!("{}: {}", size_of(field), field.meaning),
                };
                let start = format!("{:08x}  {}", field.offset, "…");
                let start = format!("{start:<BYTES_WIDTH$}");
                page.write_indented(&start, &format!("{text}  {}", field.section), DIM);
            }
        }
    });
}

fn size_of(field: &Field) -> String {
    count_text(field.size, "byte", "bytes")
}

/// Calls `write` for every field. Prints a heading where a part begins, and the fault at its position.
fn for_each_part(
    page: &mut Page,
    inspection: &Inspection,
    mut write: impl FnMut(&mut Page, &Field),
) {
    page.remark(
        0,
        match inspection.first_stage {
            None => "§ marks a section of the image format, spec/image-format.md.",
            Some(_) => "§ marks a section of the first-stage form, spec/first-stage.md.",
        },
    );
    let mut part = None;
    for (index, field) in inspection.fields.iter().enumerate() {
        if part != Some(field.part) {
            part = Some(field.part);
            let rest = &inspection.fields[index..];
            let end = rest
                .iter()
                .take_while(|other| other.part == field.part)
                .last()
                .map_or(field.end(), Field::end);
            page.gap();
            let size = grouped(end - field.offset);
            page.line(format_args!(
                "{BOLD}{}{BOLD:#}  {DIM}{:#x} to {end:#x}, {size} bytes{DIM:#}",
                part_text(field),
                field.offset
            ));
        }
        write(page, field);
        write_fault(page, inspection, field);
    }
    // If the file is too short, the fault is after the last field.
    if let (Some(reason), Some(place)) = (inspection.reason, &inspection.place)
        && place.offset >= inspection.file_size
    {
        page.line(format_args!(
            "{:08x}  {ERROR}^ E{:04} {}{ERROR:#}",
            place.offset,
            reason as u16,
            reason.title()
        ));
    }
}

fn write_fault(page: &mut Page, inspection: &Inspection, field: &Field) {
    let (Some(reason), Some(place)) = (inspection.reason, &inspection.place) else { return };
    if (field.offset..field.end()).contains(&place.offset) {
        let text = format!("^ at {:#x}: E{:04} {}", place.offset, reason as u16, reason.title());
        page.write_indented("          ", &text, ERROR);
    }
}

/// Prints the bytes of a field with their meaning next to or below them.
fn dump(page: &mut Page, field: &Field, bytes: &[u8]) {
    let is_narrow = page.width() < BYTES_WIDTH + LEAST_NOTE;
    let (line_len, note_indent) =
        if is_narrow { (LINE / 2, NOTE_INDENT) } else { (LINE, BYTES_WIDTH) };
    let mut notes = notes(field, bytes, page.width() - note_indent, is_narrow).into_iter();
    let style = if field.is_filler() { DIM } else { Style::new() };
    let is_zero = |line: &&[u8]| line.iter().all(|byte| *byte == 0);
    let zeros = bytes.rchunks(line_len).take_while(is_zero).count();
    let lines: Vec<_> = bytes.chunks(line_len).collect();
    let shown = if zeros >= MANY_LINES { lines.len() - zeros + 1 } else { lines.len() };
    for (index, line) in lines.iter().take(shown).enumerate() {
        let offset = field.offset as usize + index * line_len;
        let hex = hex_line(line);
        let note = if is_narrow { None } else { notes.next() }.unwrap_or_default();
        page.line(format!("{offset:08x}  {style}{hex:<HEX_WIDTH$}{style:#}{note}").trim_end());
    }
    for note in notes {
        page.line(format_args!("{:note_indent$}{note}", ""));
    }
    if shown < lines.len() {
        let hidden = bytes.len() - shown * line_len;
        let start = format!("{:<BYTES_WIDTH$}", "*");
        page.write_indented(&start, &format!("{} more, all zero", grouped(hidden as u64)), DIM);
    }
}

/// Returns bytes in hexadecimal, in words of four bytes as in the example of the specification (§9).
fn hex_line(bytes: &[u8]) -> String {
    bytes.chunks(4).fold(String::new(), |mut text, word| {
        if !text.is_empty() {
            text.push(' ');
        }
        for byte in word {
            let _ = write!(text, "{byte:02x}");
        }
        text
    })
}

/// Returns the lines next to or below the bytes: name, value and section; for long text, the text itself.
fn notes(field: &Field, bytes: &[u8], width: usize, is_narrow: bool) -> Vec<String> {
    let Field { name, section, .. } = field;
    // The value of a digest or a key is not repeated next to its bytes.
    let is_bytes = bytes.len() > 8 && !field.is_text() && !field.is_filler();
    let is_long_text = field.is_text() && bytes.len() > 2 * LINE && field.value.len() > width / 2;
    if is_bytes {
        return vec![format!("{BOLD}{name}{BOLD:#} {section}")];
    }
    if is_long_text {
        // The text is shown next to its bytes, one character for each byte.
        let character = |byte: &u8| match byte {
            0x20..=0x7e => char::from(*byte),
            _ => '.',
        };
        let text = &bytes[..bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)];
        let line = |line: &[u8]| format!("| {}", line.iter().map(character).collect::<String>());
        let mut notes: Vec<_> = text.chunks(LINE).map(line).collect();
        if is_narrow {
            notes.insert(0, format!("{BOLD}{name}{BOLD:#} {section}"));
        } else {
            notes[0] = format!("{:<18}  {BOLD}{name}{BOLD:#} {section}", notes[0]);
        }
        return notes;
    }
    let value = if field.is_filler() && field.value != "zero" { "not zero" } else { &field.value };
    let mut notes = wrap(&format!("{name} {value} {section}"), width);
    if let Some(rest) = notes.first().and_then(|note| note.strip_prefix(name))
        && !field.is_filler()
    {
        notes[0] = format!("{BOLD}{name}{BOLD:#}{rest}");
    }
    notes
}
