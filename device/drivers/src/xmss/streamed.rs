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
    use std::vec::Vec;

    use hartlock_regs::xmss::XmssRegisters;

    use super::*;
    use crate::wait::Polling;

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

    /// The root that the engine of [`start`] has computed, as its registers hold it.
    const ROOT: [u32; ROOT_WORDS] = [1, 2, 3, 4, 5, 6, 7, 8];

    /// Starts with memory as an engine that has computed a root. The 64 bytes at `room` are
    /// the room. Returns if the input was streamed, and the last message of the stream by place and length.
    fn start(
        (scratchpad, room): (*mut u8, *mut u8),
        is_mt: bool,
        message: &[&[u8]],
        signature: &[u8],
    ) -> (bool, [u32; 2]) {
        let mut xmss = [0_u32; 48];
        (xmss[0], xmss[1], xmss[4], xmss[10]) = (0x786d_7373, 0x1f << 8, 5, 1);
        xmss[32..40].copy_from_slice(&ROOT);
        let mut stream = [0_u32; 3];
        // SAFETY: only the driver uses this memory while it exists.
        let room = unsafe { core::slice::from_raw_parts_mut(room, 64) };
        // SAFETY: there is a word for each register, and only the driver uses them.
        let registers = unsafe { XmssRegisters::new(xmss.as_mut_ptr()) };
        // SAFETY: the same argument applies.
        let to = unsafe { ScratchpadStream::new(stream.as_mut_ptr(), scratchpad.addr()) };
        let mut engine = StreamedXmss::new(Xmss::new(registers, Polling).ok().unwrap(), to, room);
        let key: Vec<u8> = [0, 0, 0, 1].into_iter().chain([0; 64]).collect();
        let key = if is_mt { Key::xmss_mt(&key) } else { Key::xmss(&key) };
        assert_eq!(engine.start(&key.unwrap(), message, signature), Some(()));
        let mut root = [0; ROOT_WORDS];
        assert_eq!((engine.root(&mut root), engine.wipe()), (Some(()), Some(())));
        assert_eq!(root, ROOT);
        (xmss[2] == 1, [stream[0], stream[1]])
    }

    #[test]
    fn what_the_stream_reaches_is_streamed_and_all_else_is_pushed() {
        let scratchpad = std::vec![0_u8; 256].leak().as_mut_ptr();
        // SAFETY: these parts of the scratchpad are not the room, and are never written.
        let part =
            |at, len| unsafe { core::slice::from_raw_parts(scratchpad.wrapping_add(at), len) };
        let (signature, inside) = (part(64, 100), part(200, 20));
        let (outside, long) = (&[7_u8; 5][..], &[8; 65][..]);
        let places = (scratchpad, scratchpad);
        // A room that the stream does not reach.
        let elsewhere = (scratchpad.wrapping_add(64), scratchpad);
        assert_eq!(start(elsewhere, false, &[outside], signature), (false, [0, 0]));
        let start = |is_mt, message: &[&[u8]], signature| start(places, is_mt, message, signature);
        assert_eq!(start(false, &[inside], signature), (true, [200, 20]));
        assert_eq!(start(false, &[outside, inside], signature), (true, [0, 25]));
        assert_eq!(part(0, 6), [7, 7, 7, 7, 7, 0]);
        assert_eq!(start(false, &[outside], signature), (true, [0, 5]));
        // A signature of XMSS^MT, one that is elsewhere, and a message that is too long for the room.
        for (is_mt, message, signature) in
            [(true, inside, signature), (false, inside, outside), (false, long, signature)]
        {
            assert_eq!(start(is_mt, &[message], signature), (false, [0, 0]));
        }
    }
}
