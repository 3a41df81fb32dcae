//! The engine with the [stream](crate::scratchpad_stream) that feeds it: roots as a kernel asks for them.

use super::{ROOT_WORDS, Xmss};
use crate::scratchpad_stream::ScratchpadStream;
use crate::wait::Wait;

/// Bytes of a message that is copied to stream it, because it is cut or not in the scratchpad: digests and known answers.
const SHORT_LEN: usize = 64;

#[repr(align(8))]
struct Short([u8; SHORT_LEN]);

/// Both.
pub struct Streamed<W> {
    engine: Xmss<W>,
    stream: ScratchpadStream,
}

impl<W: Wait> Streamed<W> {
    /// The engine that this stream feeds.
    pub const fn new(engine: Xmss<W>, stream: ScratchpadStream) -> Self {
        Self { engine, stream }
    }

    /// As [`Xmss::start`]. What the stream does not reach the processor pushes.
    pub fn start(&mut self, public_key: &[u8], message: &[&[u8]], signature: &[u8]) -> Option<()> {
        if let [whole] = message
            && self.stream.reaches(whole)
            && self.stream.reaches(signature)
        {
            return self.start_stream(public_key, whole, signature);
        }
        self.start_of_parts(public_key, message, signature)
    }

    /// As [`Xmss::root`].
    pub fn root(&mut self, root: &mut [u32; ROOT_WORDS]) -> Option<()> {
        self.engine.root(root)
    }

    fn start_stream(&mut self, public_key: &[u8], message: &[u8], signature: &[u8]) -> Option<()> {
        let Self { engine, stream } = self;
        engine.start_stream(public_key, || {
            stream.send(signature)?;
            stream.send(message)
        })
    }

    // Out of line: the other way takes no time for this room.
    #[inline(never)]
    fn start_of_parts(
        &mut self,
        public_key: &[u8],
        message: &[&[u8]],
        signature: &[u8],
    ) -> Option<()> {
        let mut short = Short([0; SHORT_LEN]);
        match joined(message, &mut short) {
            Some(whole) if self.stream.reaches(whole) && self.stream.reaches(signature) => {
                self.start_stream(public_key, whole, signature)
            }
            _ => self.engine.start(public_key, message, signature),
        }
    }
}

/// The parts of a short message, one after the other.
fn joined<'a>(parts: &[&[u8]], Short(to): &'a mut Short) -> Option<&'a [u8]> {
    let mut len = 0_usize;
    for part in parts {
        let end = len.checked_add(part.len())?;
        to.get_mut(len..end)?.copy_from_slice(part);
        len = end;
    }
    to.get(..len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_are_joined_and_long_ones_are_not() {
        let mut short = Short([0; SHORT_LEN]);
        assert_eq!(joined(&[b"", b"ab", b"c"], &mut short), Some(&b"abc"[..]));
        assert_eq!(joined(&[], &mut short), Some(&b""[..]));
        assert_eq!(joined(&[&[1; 60], &[2; 4]], &mut short).map(<[u8]>::len), Some(64));
        assert_eq!(joined(&[&[1; 60], &[2; 5]], &mut short), None);
    }
}
