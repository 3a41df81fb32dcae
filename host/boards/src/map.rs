//! Conversion of a board description into the memory map that the verifier uses.

use hartlock_verify::board as verifier;
use hartlock_verify::board::Fixed;

use crate::model::{Board, Place, ReferenceError, Region, Size, Stage};

/// The lists of a memory map, which the verifier borrows.
#[derive(Debug)]
pub(crate) struct MapLists {
    /// Load regions of the payload types.
    pub(crate) places: Vec<verifier::Place>,
    /// Memory in use while the ROM verifies a boot bundle.
    pub(crate) live_in_rom: Vec<verifier::Region>,
    /// Memory in use while the loader verifies a system bundle.
    pub(crate) live_in_loader: Vec<verifier::Region>,
    /// What OpenSBI closes to S-mode.
    pub(crate) closed: Vec<verifier::Closed>,
}

impl MapLists {
    /// Converts the regions and places of a description.
    pub(crate) fn new(board: &Board) -> Result<Self, ReferenceError> {
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
        Ok(Self {
            places: board.place.iter().map(place).collect::<Result<_, _>>()?,
            live_in_rom: live(Stage::Rom)?,
            live_in_loader: live(Stage::Loader)?,
            closed: board.closed()?,
        })
    }

    /// Returns the map of `board`, of which these are the lists.
    pub(crate) fn map<'a>(&'a self, board: &'a Board) -> verifier::Board<'a> {
        verifier::Board {
            name: &board.name,
            soc: &board.soc,
            hart_count: board.harts as usize,
            max_bootargs: board.max_bootargs as usize,
            places: &self.places,
            live_in_rom: &self.live_in_rom,
            live_in_loader: &self.live_in_loader,
            closed: &self.closed,
        }
    }
}
