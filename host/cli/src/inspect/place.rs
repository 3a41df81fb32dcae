//! Describes positions in a bundle in words.

use hartlock_bundle::inspect::{Part, Place};

/// Describes the position of a fault in a clause.
pub(super) fn place_text(place: &Place) -> String {
    let mut text = match place.size {
        0 => format!("the file ends at {:#x}", place.offset),
        _ => format!("at {:#x}", place.offset),
    };
    if let Some(part) = place.part {
        text += &format!(" in {part}");
    }
    if let Some(field) = place.field.filter(|field| Some(*field) != part_name(place)) {
        text += &format!(", {field}");
    }
    // The value is left out if it is long or says no more than the position.
    match &place.value {
        Some(value) if value.len() <= 80 && !value.starts_with("not zero") => {
            text + &format!(": {value}")
        }
        _ => text,
    }
}

/// Returns the name of the part if that is padding, which has no other field name.
pub(super) fn part_name(place: &Place) -> Option<&'static str> {
    (place.part == Some(Part::Padding)).then_some("padding")
}
