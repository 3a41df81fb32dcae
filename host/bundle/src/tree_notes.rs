//! What is right in a device tree for Linux, and may surprise its signer.

use hartlock_boards::KnownBoard;
use hartlock_handoff::domain::{Access, Closed};
use hartlock_handoff::fdt::{Token, Tree};

use crate::system_tree::TreePlace;

/// Properties whose values each device has for itself (Devicetree Specification v0.4 §4.3; Linux,
/// Documentation/devicetree/bindings/net).
const OF_ONE_DEVICE: [&[u8]; 4] =
    [b"serial-number", b"local-mac-address", b"mac-address", b"local-bd-address"];

/// A node whose end was not read yet.
struct OpenNode<'a> {
    name: &'a [u8],
    is_device: bool,
    is_enabled: bool,
    reg: &'a [u8],
    /// `#address-cells` and `#size-cells` for its children.
    cells: [usize; 2],
    /// True if addresses of its children are those of a hart.
    is_identity: bool,
}

/// Returns a sentence for each property that differs from device to device, and for each device to which the board closes
/// the way. A tree that cannot be read has none.
pub(crate) fn notes(bytes: &[u8], board: Option<&KnownBoard>) -> Vec<String> {
    let Some(tree) = Tree::parse(bytes) else { return Vec::new() };
    let mut notes = Vec::new();
    let mut open: Vec<OpenNode<'_>> = Vec::new();
    let mut at = 0;
    loop {
        let start = at;
        match tree.token(&mut at) {
            Some(Token::Begin(name)) => open.push(OpenNode {
                name,
                is_device: false,
                is_enabled: true,
                reg: &[],
                cells: [2, 1],
                is_identity: open.is_empty(),
            }),
            Some(Token::Property(name, value)) => {
                let name = tree.name_at(name).unwrap_or_default();
                let is_placeholder = value.iter().all(|byte| *byte == 0);
                if OF_ONE_DEVICE.contains(&name) && !is_placeholder {
                    let place = TreePlace::find(bytes, start).map(|place| place.text());
                    notes.extend(place.map(|place| {
                        format!("The system-fdt has {place}: each device that boots the bundle gets this value.")
                    }));
                }
                if let Some((node, above)) = open.split_last_mut() {
                    let is_above_identity = above.last().is_none_or(|it| it.is_identity);
                    node.take(name, value, is_above_identity);
                }
            }
            Some(Token::End) => {
                let Some(node) = open.pop() else { break };
                if let (Some(bus), Some(board)) = (open.last(), board)
                    && let Some(closed) = node.closed(bus, board.map().closed)
                {
                    let path = open.iter().map(|it| it.name).chain([node.name]);
                    let path: Vec<_> = path
                        .map(|it| String::from_utf8_lossy(it).escape_debug().to_string())
                        .collect();
                    notes.push(format!(
                        "The system-fdt has the device {}, and board {} closes `{}` to Linux: its driver would trap.",
                        path.join("/"),
                        board.name(),
                        board.description.name_of(closed)
                    ));
                }
            }
            Some(Token::Nop) => {}
            Some(Token::Last) | None => break,
        }
    }
    notes
}

impl<'a> OpenNode<'a> {
    fn take(&mut self, name: &[u8], value: &'a [u8], is_above_identity: bool) {
        let cell = || <[u8; 4]>::try_from(value).map_or(0, u32::from_be_bytes) as usize;
        match name {
            b"#address-cells" => self.cells[0] = cell(),
            b"#size-cells" => self.cells[1] = cell(),
            b"ranges" => self.is_identity |= is_above_identity && value.is_empty(),
            b"compatible" => self.is_device = true,
            b"status" => self.is_enabled = value.starts_with(b"ok"),
            b"reg" => self.reg = value,
            _ => {}
        }
    }

    /// Returns the range that is closed to Linux and in which the node has registers.
    fn closed<'b>(&self, bus: &OpenNode<'_>, closed: &'b [Closed]) -> Option<&'b Closed> {
        let [address, size] = bus.cells;
        let entry = 4 * (address + size);
        let is_device = self.is_device && self.is_enabled && bus.is_identity;
        if !is_device || !matches!(address, 1 | 2) || !matches!(size, 1 | 2) {
            return None;
        }
        let number =
            |bytes: &[u8]| bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        self.reg.chunks_exact(entry).find_map(|entry| {
            let (start, size) = entry.split_at(4 * address);
            let start = number(start);
            let end = start.saturating_add(number(size));
            closed.iter().find(|it| it.access == Access::None && start < it.end && it.start < end)
        })
    }
}
