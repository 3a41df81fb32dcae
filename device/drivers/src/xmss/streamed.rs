//! The engine with the [stream](crate::scratchpad_stream) that feeds it: roots as a kernel asks for them.

use hartlock_regs::xmss::Scheme;

use super::{Key, ROOT_WORDS, Xmss};
use crate::scratchpad_stream::ScratchpadStream;
use crate::wait::Wait;

/// Both.
pub struct Streamed<W> {
    engine: Xmss<W>,
    stream: ScratchpadStream,
    room: &'static mut [u8],
}

impl<W: Wait> Streamed<W> {
    /// The engine that this stream feeds. `room`, of the scratchpad, is for messages that are cut or not there: it has one
    /// after the other.
    pub const fn new(engine: Xmss<W>, stream: ScratchpadStream, room: &'static mut [u8]) -> Self {
        Self { engine, stream, room }
    }

    /// As [`Xmss::start`]. What the stream does not reach the processor pushes.
    pub fn start(&mut self, key: &Key<'_>, message: &[&[u8]], signature: &[u8]) -> Option<()> {
        let Self { engine, stream, room } = self;
        // What comes between the parts of a signature of XMSS^MT does not stream.
        if key.scheme == Scheme::XmssMt || !stream.reaches(signature) {
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

    /// As [`Xmss::root`].
    pub fn root(&mut self, root: &mut [u32; ROOT_WORDS]) -> Option<()> {
        self.engine.root(root)
    }
}

/// As many bytes as these parts have, if there are so many.
fn room_for<'a>(parts: &[&[u8]], room: &'a mut [u8]) -> Option<&'a mut [u8]> {
    let len = parts.iter().try_fold(0_usize, |len, part| len.checked_add(part.len()))?;
    room.get_mut(..len)
}

/// One after the other.
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
