//! Finds what breaks a rule about memory or the command line of a board, and a value that would be valid.

use hartlock_boards::{Boards, KnownBoard};
use hartlock_image::{Manifest, PAGE_SIZE, PayloadRecord, Reason, align_up};
use hartlock_verify::board::{Fixed, Place, Region};

use crate::units::grouped;

/// An explanation of a refusal that is about the board.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RefusalDetail {
    /// The payload and the rule that it breaks, in words.
    pub(crate) what: String,
    /// Advice with a valid value.
    pub(crate) remedy: String,
}

/// Returns the explanation for the first payload that `reason` applies to. The manifest may be malformed.
pub(crate) fn find(
    reason: Reason,
    manifest: &Manifest<'_>,
    boards: &Boards,
) -> Option<RefusalDetail> {
    match reason {
        Reason::PayloadSizeOutOfRange
        | Reason::LoadRangeForm
        | Reason::LoadRangeWraps
        | Reason::LoadRangesOverlap
        | Reason::EntryOutsidePayload => {
            manifest.payloads.iter().enumerate().find_map(|(number, payload)| {
                of_form(reason, payload, manifest.payloads.iter().take(number))
            })
        }
        Reason::BootargsTooLong => manifest.identities().find_map(|identity| {
            let board = boards.by_name(identity.board.as_str())?;
            let (len, most) = (manifest.bootargs()?.len(), board.map().max_bootargs);
            let more = len.checked_sub(most).filter(|more| *more > 0)?;
            let what = format!(
                "it has {len} bytes, {more} more than the {most} that the board {} states",
                board.name()
            );
            Some(RefusalDetail {
                what,
                remedy: format!("shorten `bootargs` by {more} bytes or more"),
            })
        }),
        Reason::OutsideMemory | Reason::OverlapsLiveRegion | Reason::WrongLoadAddress => {
            manifest.identities().find_map(|identity| {
                let board = boards.by_name(identity.board.as_str())?;
                let is_wrong = |it: &&PayloadRecord| {
                    board.map().check(manifest.bundle_type, it) == Err(reason)
                };
                Some(of_board(reason, manifest.payloads.iter().find(is_wrong)?, board))
            })
        }
        _ => None,
    }
}

/// Explains which rule of the format (image format §4.3) a payload breaks.
fn of_form<'a>(
    reason: Reason,
    payload: &PayloadRecord,
    mut earlier: impl Iterator<Item = &'a PayloadRecord>,
) -> Option<RefusalDetail> {
    let name = payload.payload_type.name();
    let (load_address, memory_size) = (payload.load_address, payload.memory_size);
    let end = load_address.checked_add(memory_size);
    let is_page = |value: u64| value.is_multiple_of(PAGE_SIZE);
    let (what, remedy) = match reason {
        Reason::PayloadSizeOutOfRange if payload.size == 0 => {
            ("is empty".to_string(), "give a file that has contents".to_string())
        }
        Reason::LoadRangeForm if !is_page(load_address) => (
            format!("has the load address {load_address:#x}, no multiple of {PAGE_SIZE:#x}"),
            format!("`load_address = {:#x}` would do", load_address / PAGE_SIZE * PAGE_SIZE),
        ),
        Reason::LoadRangeForm if !is_page(memory_size) || memory_size < payload.size => (
            format!("has {:#x} bytes and the memory size {memory_size:#x}", payload.size),
            format!(
                "leave `memory_size` out, or set it to {:#x} or more whole pages",
                align_up(memory_size.max(payload.size), PAGE_SIZE)?
            ),
        ),
        Reason::LoadRangeWraps if end.is_none() => (
            format!("has {memory_size:#x} bytes from {load_address:#x}, past the last address"),
            "leave `load_address` and `memory_size` out, or lower them".to_string(),
        ),
        Reason::LoadRangesOverlap => {
            let other = earlier.find(|other| {
                load_address < other.memory_end() && other.load_address < payload.memory_end()
            })?;
            (
                format!("{} overlaps the {}", range(payload), range_of(other)),
                format!("`load_address = {:#x}` of the {name} would do", other.memory_end()),
            )
        }
        Reason::EntryOutsidePayload => {
            let is_right = if payload.payload_type.is_code() {
                (load_address..load_address.saturating_add(payload.size)).contains(&payload.entry)
            } else {
                payload.entry == 0
            };
            if is_right {
                return None;
            }
            (
                format!("{} is entered at {:#x}", range(payload), payload.entry),
                "leave `entry` out".to_string(),
            )
        }
        _ => return None,
    };
    Some(RefusalDetail { what: format!("the {name} {what}"), remedy })
}

/// Explains which rule of the board (boot flow §2) a payload breaks.
fn of_board(reason: Reason, payload: &PayloadRecord, known: &KnownBoard) -> RefusalDetail {
    let board = known.map();
    let name = payload.payload_type.name();
    let place = board.places.iter().find(|place| place.payload_type == payload.payload_type);
    let Some(place) = place else {
        return RefusalDetail {
            what: format!("board {} has no place for the {name}", board.name),
            remedy: format!("sign for a board that has a place for the {name}"),
        };
    };
    let address = known.load_address(payload.payload_type).unwrap_or(place.region.start);
    let room = place.region.end.saturating_sub(address);
    // No address helps what is larger than its place.
    if let Some(excess) = payload.memory_size.checked_sub(room).filter(|excess| *excess > 0) {
        return RefusalDetail {
            what: format!(
                "the {name} takes {} of memory, and board {} has {} for it, from {address:#x} to {:#x}",
                bytes(payload.memory_size),
                board.name,
                bytes(room),
                place.region.end
            ),
            remedy: format!("make the {name} smaller by {} or more", bytes(excess)),
        };
    }
    let rule = match reason {
        Reason::OverlapsLiveRegion => "memory that the verifying stage uses is there".to_string(),
        _ => rule_of(place, board.name),
    };
    RefusalDetail {
        what: format!("the {name} {}, entered at {:#x}: {rule}", range(payload), payload.entry),
        remedy: format!(
            "leave `load_address` and `entry` of the {name} out, or set `load_address = {address:#x}`"
        ),
    }
}

fn bytes(count: u64) -> String {
    format!("{} bytes", grouped(count))
}

fn rule_of(place: &Place, board: &str) -> String {
    let Region { start, end } = place.region;
    let fixed = match place.fixed {
        Fixed::No => String::new(),
        Fixed::AtStart => ", at its start, and is entered there".to_string(),
        Fixed::Aligned(to) => format!(", at a multiple of {to:#x}, and is entered there"),
    };
    format!("on board {board} it goes into {start:#x} to {end:#x}{fixed}")
}

fn range(payload: &PayloadRecord) -> String {
    format!("at {:#x} to {:#x}", payload.load_address, payload.memory_end())
}

fn range_of(payload: &PayloadRecord) -> String {
    format!("{} {}", payload.payload_type.name(), range(payload))
}
