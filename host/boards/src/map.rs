//! Conversion of a board description into the memory map that the verifier uses.

use hartlock_verify::board as verifier;
use hartlock_verify::board::Fixed;

use crate::model::{Board, Place, ReferenceError, Region, Size, Stage};

/// Converts a description into the verifier's memory map. The verifier takes maps of lifetime `'static`,
/// because firmware has them as constants. The memory is therefore leaked; a command reads only a few
/// descriptions.
pub(crate) fn verifier_map(
    board: &Board,
) -> Result<&'static verifier::Board<'static>, ReferenceError> {
    let region = |region: &Region| -> Result<verifier::Region, ReferenceError> {
        Ok(verifier::Region { start: region.start, end: board.end(region)? })
    };
    let place = |place: &Place| -> Result<verifier::Place, ReferenceError> {
        Ok(verifier::Place {
            payload_type: place.payload,
            region: region(board.region(&place.region)?)?,
            fixed: match place.alignment {
                _ if place.fixed => Fixed::AtStart,
                Some(Size(alignment)) => Fixed::Aligned(alignment),
                None => Fixed::No,
            },
        })
    };
    let live = |stage: Stage| -> Result<Vec<verifier::Region>, ReferenceError> {
        board.region.iter().filter(|it| it.live.contains(&stage)).map(region).collect()
    };
    let places = board.place.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let (in_rom, in_loader) = (live(Stage::Rom)?, live(Stage::Loader)?);
    Ok(Box::leak(Box::new(verifier::Board {
        name: board.name.clone().leak(),
        soc: board.soc.clone().leak(),
        hart_count: board.harts as usize,
        places: places.leak(),
        live_in_rom: in_rom.leak(),
        live_in_loader: in_loader.leak(),
    })))
}
