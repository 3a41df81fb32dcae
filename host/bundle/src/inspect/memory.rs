//! Shows where the payloads of a bundle are in memory, and the use of the other memory (boot flow §2).

use hartlock_boards::{Boards, KnownBoard};
use hartlock_image::{BundleType, Manifest, Reason};
use hartlock_verify::board::Region;
use serde::{Serialize, Serializer};

/// Maximum number of bytes between two live regions that are shown as one region.
const SMALL_GAP: u64 = 1 << 20;

/// The memory of the board after a bundle was loaded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// True if the memory map of the board is known. Otherwise only payloads are shown.
    pub is_known_board: bool,
    /// Segments in the order of their addresses.
    pub segments: Vec<Segment>,
    /// Payloads that a verifier would refuse for their load address.
    pub faults: Vec<PlacementFault>,
}

/// A range of memory with one use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// First address.
    #[serde(serialize_with = "address")]
    pub start: u64,
    /// First address after the segment.
    #[serde(serialize_with = "address")]
    pub end: u64,
    /// Use of the memory.
    #[serde(rename = "use")]
    pub usage: Usage,
    /// Type of the payload, if the segment belongs to one.
    pub payload: Option<&'static str>,
}

/// The use of a memory segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Usage {
    /// The memory of a payload.
    Payload,
    /// Memory that boot stages use while they verify, so that no payload may be loaded there.
    Live,
    /// Unused memory.
    Free,
}

/// A payload with a load address that is refused.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlacementFault {
    /// Type of the payload.
    pub payload: &'static str,
    /// Reason for which it would be refused.
    #[serde(rename = "code", serialize_with = "code")]
    pub reason: Reason,
}

/// Returns the memory map after the payloads of a manifest were loaded.
pub(super) fn map(manifest: &Manifest<'_>, boards: &Boards) -> Memory {
    let board = boards.by_name(manifest.identity.board.as_str()).map(KnownBoard::map);
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
    if let Some(board) = &board {
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
    let end =
        board.as_ref().and_then(|board| board.places.iter().map(|place| place.region.end).max());
    Memory { is_known_board: board.is_some(), segments: with_gaps(segments, end), faults }
}

/// Merges live regions that are close to each other, unless a payload begins between them.
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

/// Adds the free ranges between the segments, and after the last one up to `end`.
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
