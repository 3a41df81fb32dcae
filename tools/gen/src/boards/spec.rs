//! Generates the tables of the specification, between `<!-- board NAME: TABLE -->` and `<!-- end of TABLE -->`.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::rust::hex;
use hartlock_boards::model::{Board, Place, Region, Stage, find};
use hartlock_image::PayloadType;
use hartlock_verify::board::Access;

/// A function that returns a table for a board.
type Table = fn(&Board) -> Result<String>;

const TABLES: [(&str, Table); 3] = [("regions", regions), ("places", places), ("closed", closed)];

/// Returns the text of the specification with every table generated again.
pub fn with_tables(text: &str, boards: &[Board]) -> Result<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut count = 0;
    while let Some((before, after)) = rest.split_once("<!-- board ") {
        let (head, after) = after.split_once(" -->\n").context("a marker without an end")?;
        let (name, table) = head.split_once(": ").context("a marker names no table")?;
        let board = find(boards, name).with_context(|| format!("there is no board {name}"))?;
        let made = TABLES.iter().find(|(known, _)| *known == table);
        let (_, made) = made.with_context(|| format!("there is no table {table}"))?;
        let end = format!("<!-- end of {table} -->");
        let (_, after) = after.split_once(&end).with_context(|| format!("no `{end}`"))?;
        write!(out, "{before}<!-- board {head} -->\n{}{end}", made(board)?)?;
        rest = after;
        count += 1;
    }
    anyhow::ensure!(count > 0, "the specification has no place for the tables of boards");
    out += rest;
    Ok(out)
}

fn regions(board: &Board) -> Result<String> {
    let mut out =
        "| from | size | what | live in ROM | live in loader |\n|---|---|---|---|---|\n".to_owned();
    let ram = board.region("ram")?.start;
    for region in &board.region {
        let Some(spec) = &region.spec else { continue };
        let size = match region.size {
            Some(size) => size.to_string(),
            None => "to the end of RAM".into(),
        };
        let live = |stage| match region.live.contains(&stage) {
            true => "live ",
            // A payload cannot be loaded into flash, so the column does not apply.
            false if region.start < ram => "– ",
            false => "",
        };
        let spec = with_offsets(spec, board, region)?;
        let (rom, loader) = (live(Stage::Rom), live(Stage::Loader));
        writeln!(out, "| {} | {size} | {spec} | {rom}| {loader}|", hex(region.start))?;
    }
    Ok(out)
}

/// Replaces each `{name}` by the offset of the region `name` from the start of this region.
fn with_offsets(text: &str, board: &Board, region: &Region) -> Result<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').context("an offset without an end")?;
        let offset = board.region(name)?.start.checked_sub(region.start);
        let offset = offset.with_context(|| format!("{name} begins before {}", region.name))?;
        out += before;
        out += &if offset == 0 { "0".into() } else { hex(offset) };
        rest = after;
    }
    Ok(out + rest)
}

fn places(board: &Board) -> Result<String> {
    let mut out = "| payload | place | fixed |\n|---|---|---|\n".to_owned();
    let mut done: Vec<PayloadType> = Vec::new();
    for place in &board.place {
        if done.contains(&place.payload) {
            continue;
        }
        // Payload types with the same rule share a row.
        let is_alike = |other: &&Place| {
            other.region == place.region
                && other.fixed == place.fixed
                && other.alignment == place.alignment
        };
        let alike: Vec<_> = board.place.iter().filter(is_alike).map(|it| it.payload).collect();
        let names: Vec<_> = alike.iter().map(|payload| payload.name()).collect();
        let region = board.region(&place.region)?;
        let start = hex(region.start);
        let size = match region.size {
            Some(size) => format!("{start}, {size}"),
            None => format!("RAM from {start} on"),
        };
        writeln!(out, "| {} | {size} | {} |", names.join(", "), rule(place, &start))?;
        done.extend(alike);
    }
    Ok(out)
}

/// The table of what OpenSBI closes to S-mode.
fn closed(board: &Board) -> Result<String> {
    let mut out = "| from | to | what | S-mode |\n|---|---|---|---|\n".to_owned();
    for closed in board.closed()? {
        let access = match closed.access {
            Access::None => "–",
            Access::Read => "reads",
            Access::Monitor => "–, by regions of OpenSBI's own",
        };
        let (start, end, name) = (hex(closed.start), hex(closed.end), board.name_of(&closed));
        writeln!(out, "| {start} | {end} | {name} | {access} |")?;
    }
    Ok(out)
}

fn rule(place: &Place, start: &str) -> String {
    match place.alignment {
        _ if place.fixed && place.payload.is_code() => {
            format!("load address and entry {start}, else **E0703**")
        }
        _ if place.fixed => format!("load address {start}, else **E0703**"),
        Some(alignment) => {
            format!("load address a multiple of {alignment} and entry equal to it, else **E0703**")
        }
        None => "–".into(),
    }
}
