//! Where payloads go in memory, and what else is there (boot flow §2).

use hartlock_boards::Boards;
use hartlock_image::{BundleType, Manifest, Reason};
use hartlock_verify::board::Region;
use serde::{Serialize, Serializer};

/// Live regions with no more than this between them are shown as one.
const SMALL_GAP: u64 = 1 << 20;

/// Memory of the board as a bundle would use it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// Whether the memory map of the board is known. Otherwise only payloads are shown.
    pub is_known_board: bool,
    /// In order of addresses.
    pub segments: Vec<Segment>,
    /// Payloads that a verifier would refuse for their place.
    pub faults: Vec<PlacementFault>,
}

/// Some memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// First byte.
    #[serde(serialize_with = "address")]
    pub start: u64,
    /// First byte past the end.
    #[serde(serialize_with = "address")]
    pub end: u64,
    /// Its use.
    #[serde(rename = "use")]
    pub usage: Usage,
    /// Type of the payload, if it belongs to one.
    pub payload: Option<&'static str>,
}

/// The use of some memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Usage {
    /// A payload.
    Payload,
    /// The boot stages, while they work: nothing may be loaded there.
    Live,
    /// No use.
    Free,
}

/// A payload in the wrong place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlacementFault {
    /// Type of the payload.
    pub payload: &'static str,
    /// Why it would be refused.
    #[serde(rename = "code", serialize_with = "code")]
    pub reason: Reason,
}

/// The map of what a manifest would load.
pub(super) fn map(manifest: &Manifest<'_>, boards: &Boards) -> Memory {
    let board = boards.by_name(manifest.identity.board.as_str()).map(|known| known.map);
    let mut segments: Vec<_> = manifest
        .payloads
        .iter()
        .filter(|payload| payload.memory_size > 0)
        .map(|payload| Segment {
            start: payload.load_address,
            end: payload.memory_end(),
            usage: Usage::Payload,
            payload: Some(payload.payload_type.name()),
        })
        .collect();
    let mut faults = Vec::new();
    if let Some(board) = board {
        let live = match manifest.bundle_type {
            BundleType::Boot => board.live_in_rom,
            BundleType::System => board.live_in_loader,
        };
        segments.extend(merged(live, &segments));
        faults.extend(manifest.payloads.iter().filter_map(|payload| {
            let reason = board.check(manifest.bundle_type, payload).err()?;
            Some(PlacementFault { payload: payload.payload_type.name(), reason })
        }));
    }
    segments.sort_by_key(|segment| (segment.start, segment.end));
    let end = board.and_then(|board| board.places.iter().map(|place| place.region.end).max());
    Memory { is_known_board: board.is_some(), segments: with_gaps(segments, end), faults }
}

/// Live regions, close ones as one unless a payload begins between them.
fn merged(live: &[Region], payloads: &[Segment]) -> Vec<Segment> {
    let mut regions = live.to_vec();
    regions.sort_by_key(|region| region.start);
    let mut segments: Vec<Segment> = Vec::new();
    for region in regions {
        let is_between = |from: u64| {
            payloads.iter().any(|payload| payload.start < region.start && payload.end > from)
        };
        match segments.last_mut() {
            Some(last) if region.start <= last.end + SMALL_GAP && !is_between(last.end) => {
                last.end = region.end;
            }
            _ => segments.push(Segment {
                start: region.start,
                end: region.end,
                usage: Usage::Live,
                payload: None,
            }),
        }
    }
    segments
}

/// The same with the free ranges between them, and after them up to `end`.
fn with_gaps(segments: Vec<Segment>, end: Option<u64>) -> Vec<Segment> {
    let free = |start, end| Segment { start, end, usage: Usage::Free, payload: None };
    let mut all = Vec::new();
    let mut at = segments.first().map_or(0, |first| first.start);
    for segment in segments {
        if segment.start > at {
            all.push(free(at, segment.start));
        }
        at = at.max(segment.end);
        all.push(segment);
    }
    all.extend(end.filter(|end| *end > at).map(|end| free(at, end)));
    all
}

fn address<S: Serializer>(address: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{address:#x}"))
}

fn code<S: Serializer>(reason: &Reason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("E{:04}", *reason as u16))
}
