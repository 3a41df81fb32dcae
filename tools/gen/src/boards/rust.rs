//! Generates the memory map of a board as Rust code, and formats names and numbers for all
//! generators.

use std::fmt::Write;

use anyhow::Result;

use super::output::NOTICE;
use hartlock_boards::model::{Board, Place, Region, Size, Stage};
use hartlock_image::PayloadType;

/// Returns the name of a Rust module: `qemu_virt` for `qemu-virt`.
pub fn module(name: &str) -> String {
    name.replace('-', "_")
}

pub fn constant(name: &str) -> String {
    module(name).to_uppercase()
}

/// Formats a number in hexadecimal, with an underscore every four digits: `0x8000_0000`.
pub fn hex(number: u64) -> String {
    format!("0x{}", grouped(&format!("{number:x}"), 4))
}

/// Formats a number in decimal, with an underscore every three digits: `10_000_000`.
pub fn decimal(number: u64) -> String {
    grouped(&number.to_string(), 3)
}

/// Puts an underscore between groups of `group` digits, counted from the right.
fn grouped(digits: &str, group: usize) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(group) {
            out.push('_');
        }
        out.push(digit);
    }
    out
}

/// Writes a text as doc comments, one for each line.
pub fn about(out: &mut String, indent: &str, text: &str) -> Result<()> {
    for line in text.lines() {
        writeln!(out, "{indent}/// {line}")?;
    }
    Ok(())
}

fn variant(payload: PayloadType) -> &'static str {
    match payload {
        PayloadType::Opensbi => "Opensbi",
        PayloadType::Loader => "Loader",
        PayloadType::BootFdt => "BootFdt",
        PayloadType::Kernel => "Kernel",
        PayloadType::Initramfs => "Initramfs",
        PayloadType::SystemFdt => "SystemFdt",
    }
}

/// Returns a size as a Rust expression: `32 * MIB`.
fn size(size: Size) -> String {
    match size.parts() {
        (1, "MiB") => "MIB".into(),
        (1, "KiB") => "KIB".into(),
        (number, "MiB") => format!("{number} * MIB"),
        (number, "KiB") => format!("{number} * KIB"),
        (number, _) => number.to_string(),
    }
}

/// Returns `map.rs`, a module of the crate in device/boards.
pub fn map(board: &Board) -> Result<String> {
    let mut out = format!("// {NOTICE}\n\n");
    for line in board.about.lines() {
        writeln!(out, "//! {line}")?;
    }
    let has_unit = |unit| {
        let sizes = board.region.iter().filter_map(|region| region.size);
        let alignments = board.place.iter().filter(|it| !it.fixed).filter_map(|it| it.alignment);
        sizes.chain(alignments).any(|size| size.parts().1 == unit)
    };
    out += "\nuse hartlock_image::PayloadType;\n";
    out += match board.closed()?.as_slice() {
        [] => "use hartlock_verify::board::{Board, Fixed, Place, Region};\n\n",
        _ => "use hartlock_verify::board::{Access, Board, Closed, Fixed, Place, Region};\n\n",
    };
    for (unit, name, shift) in [("KiB", "KIB", 10), ("MiB", "MIB", 20)] {
        if has_unit(unit) {
            writeln!(out, "const {name}: u64 = 1 << {shift};")?;
        }
    }
    out.push('\n');
    for region in &board.region {
        about(&mut out, "", &region.about)?;
        self::region(&mut out, region)?;
    }
    let protected: Vec<_> = board.region.iter().filter(|region| region.protected).collect();
    if !protected.is_empty() {
        out += "/// Memory that the root of trust must neither read nor write for the host.\n";
        let names = list(protected.iter().copied());
        let count = protected.len();
        writeln!(out, "pub const PROTECTED: [Region; {count}] = [{names}];")?;
    }
    self::board(&mut out, board)?;
    Ok(out)
}

fn region(out: &mut String, region: &Region) -> Result<()> {
    let name = constant(&region.name);
    match (region.size, &region.to_end_of, region.count) {
        (Some(bytes), _, Some(count)) => {
            writeln!(out, "pub const {name}: [Region; {count}] = [")?;
            for index in 0..count {
                let start = hex(region.start + index * bytes.0);
                writeln!(out, "    Region::new({start}, {}),", size(bytes))?;
            }
            out.push_str("];\n");
        }
        (Some(bytes), _, None) => {
            let start = hex(region.start);
            writeln!(out, "pub const {name}: Region = Region::new({start}, {});", size(bytes))?;
        }
        (None, other, _) => {
            let end = other.as_deref().map(constant).unwrap_or_default();
            let start = hex(region.start);
            out.push_str(&format!("pub const {name}: Region =\n    "));
            writeln!(out, "Region {{ start: {start}, end: {end}.end }};")?;
        }
    }
    Ok(())
}

fn list<'a>(regions: impl Iterator<Item = &'a Region>) -> String {
    regions.map(|region| constant(&region.name)).collect::<Vec<_>>().join(", ")
}

fn board(out: &mut String, board: &Board) -> Result<()> {
    let live = |stage| list(board.region.iter().filter(move |it| it.live.contains(&stage)));
    write!(
        out,
        "\n/// The board.\n\
         pub const BOARD: Board<'_> = Board {{\n    \
         name: {:?},\n    soc: {:?},\n    hart_count: {},\n    max_bootargs: {},\n    places: &[\n",
        board.name, board.soc, board.harts, board.max_bootargs
    )?;
    for place in &board.place {
        writeln!(out, "        Place {{")?;
        writeln!(out, "            payload_type: PayloadType::{},", variant(place.payload))?;
        writeln!(out, "            region: {},", constant(&place.region))?;
        writeln!(out, "            fixed: {},", fixed(place))?;
        writeln!(out, "        }},")?;
    }
    writeln!(out, "    ],")?;
    writeln!(out, "    live_in_rom: &[{}],", live(Stage::Rom))?;
    writeln!(out, "    live_in_loader: &[{}],", live(Stage::Loader))?;
    let closed = board.closed()?;
    let open = if closed.is_empty() { "    closed: &[" } else { "    closed: &[\n" };
    out.push_str(open);
    for range in &closed {
        let (start, end, access) = (hex(range.start), hex(range.end), range.access);
        writeln!(
            out,
            "        Closed {{ start: {start}, end: {end}, access: Access::{access:?} }},"
        )?;
    }
    writeln!(out, "{}],", if closed.is_empty() { "" } else { "    " })?;
    writeln!(out, "}};")?;
    Ok(())
}

fn fixed(place: &Place) -> String {
    match place.alignment {
        _ if place.fixed => "Fixed::AtStart".into(),
        Some(alignment) => format!("Fixed::Aligned({})", size(alignment)),
        None => "Fixed::No".into(),
    }
}
