//! The engine together with the [stream](crate::scratchpad_stream) that transfers its input. It computes the roots that
//! a kernel requests.

use hartlock_kernels::engines::Wipe;
use hartlock_regs::xmss::XmssScheme;

use super::{Key, ROOT_WORDS, Xmss};
use crate::scratchpad_stream::ScratchpadStream;
use crate::wait::Wait;

/// The engine and its stream.
pub struct StreamedXmss<W> {
    engine: Xmss<W>,
    stream: ScratchpadStream,
    room: &'static mut [u8],
}

impl<W: Wait> StreamedXmss<W> {
    /// Combines an engine with the stream that is connected to it. `room` is a buffer in the scratchpad for messages
    /// that consist of several parts or are not in the scratchpad.
    pub const fn new(engine: Xmss<W>, stream: ScratchpadStream, room: &'static mut [u8]) -> Self {
        Self { engine, stream, room }
    }

    /// Same as [`Xmss::start`], except that the stream transfers the input. The processor pushes input that the stream
    /// cannot reach.
    pub fn start(&mut self, key: &Key<'_>, message: &[&[u8]], signature: &[u8]) -> Option<()> {
        let Self { engine, stream, room } = self;
        // A signature of XMSS^MT cannot be streamed, because the message comes between its parts.
        if key.scheme == XmssScheme::XmssMt || !stream.reaches(signature) {
            return engine.start(key, message, signature);
        }
        if let [whole] = message
            && stream.reaches(whole)
        {
            return engine.start_stream(key, || {
                stream.send(signature)?;
                stream.send(whole)
            });
        }
        match room_for(message, room) {
            Some(to) if stream.reaches(to) => engine.start_stream(key, || {
                stream.begin(signature)?;
                join(message, to);
                stream.end()?;
                stream.send(to)
            }),
            _ => engine.start(key, message, signature),
        }
    }

    /// Same as [`Xmss::root`].
    pub fn root(&mut self, root: &mut [u32; ROOT_WORDS]) -> Option<()> {
        self.engine.root(root)
    }
}

impl<W: Wait> Wipe for StreamedXmss<W> {
    /// Clears the data of the engine.
    fn wipe(&mut self) -> Option<()> {
        self.engine.wipe()
    }
}

/// Returns a part of `room` with the total length of the parts, or `None` if the buffer is too small.
fn room_for<'a>(parts: &[&[u8]], room: &'a mut [u8]) -> Option<&'a mut [u8]> {
    let len = parts.iter().try_fold(0_usize, |len, part| len.checked_add(part.len()))?;
    room.get_mut(..len)
}

/// Copies the parts one after the other.
fn join(parts: &[&[u8]], mut to: &mut [u8]) {
    for part in parts {
        let Some((now, later)) = to.split_at_mut_checked(part.len()) else { return };
        now.copy_from_slice(part);
        to = later;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_joined_if_there_is_room() {
        let mut room = *b"................";
        let mut joined = |parts: &[&[u8]]| {
            let to = room_for(parts, &mut room)?;
            join(parts, to);
            Some(to.to_vec())
        };
        assert_eq!(joined(&[b"", b"ab", b"c"]).as_deref(), Some(&b"abc"[..]));
        assert_eq!(joined(&[]).as_deref(), Some(&b""[..]));
        assert_eq!(joined(&[&[1; 12], &[2; 4]]).map(|bytes| bytes.len()), Some(16));
        assert_eq!(joined(&[&[1; 12], &[2; 5]]), None);
    }
}
