//! LM-OTS, the one-time signature scheme of LMS (RFC 8554 §4).

use crate::Kernels;
use crate::chains::{Digits, walk};
use crate::short::{
    Function, Job, MESSAGES, Room, Shape, SignatureHasher, Sink, Stream, Words, Writer, be32,
};

/// Domain separators of the hashes (RFC 8554 §7.1).
const D_PBLC: [u8; 2] = [0x80, 0x80];
const D_MESG: [u8; 2] = [0x81, 0x81];

/// Length in bytes of I, q, i and j, which precede the value in the message of a chain step.
const HEAD_LEN: usize = 23;
/// Bit position of j in the last seven of these bytes.
const J_BIT: u32 = 48;

/// A type of one-time signature with its parameters.
#[derive(Clone, Copy)]
pub(super) struct Ots {
    pub ots_type: u32,
    pub function: Function,
    /// Length of a hash value in bytes.
    pub n: usize,
    /// Number of bits in a digit.
    w: usize,
    /// Number of chains.
    p: usize,
}

/// Parameters n, w and p of the types 1 to 8 (RFC 8554 §4.1; SP 800-208 §4.1).
const TYPES: [(u8, u8, u16); 8] = [
    (32, 1, 265),
    (32, 2, 133),
    (32, 4, 67),
    (32, 8, 34),
    (24, 1, 200),
    (24, 2, 101),
    (24, 4, 51),
    (24, 8, 26),
];

impl Ots {
    pub(super) fn of(ots_type: u32) -> Option<Self> {
        let number = usize::try_from(ots_type).ok()?.checked_sub(1)?;
        let (n, w, p) = *TYPES.get(number)?;
        Some(Self { ots_type, function: Function::Sha256, n: n.into(), w: w.into(), p: p.into() })
    }

    /// Returns the length of C and all y in bytes.
    pub(super) const fn signature_len(&self) -> usize {
        self.p.wrapping_add(1).wrapping_mul(self.n)
    }
}

/// The state of the chains of one signature, with storage for their values.
pub(super) struct Chains<'a> {
    pub hasher: SignatureHasher<'a>,
    ots: Ots,
    pub identifier: [u64; 2],
    q: u32,
    pub initial: Words,
    pub room: Room,
}

impl<'a> Chains<'a> {
    pub(super) fn new(kernels: &'a Kernels, ots: Ots, identifier: [u64; 2], q: u32) -> Self {
        let hasher = SignatureHasher { kernels, function: ots.function, n: ots.n >> 3 };
        Self { hasher, ots, identifier, q, initial: ots.function.initial(), room: Room::new() }
    }

    /// Computes the public key that belongs to a one-time signature of `message` (RFC 8554 §4.6,
    /// algorithm 4b). `signature` contains C and all y.
    pub(super) fn public_key(&mut self, message: &[&[u8]], signature: &[u8]) -> Words {
        let Ots { n, w, p, .. } = self.ots;
        let (randomizer, mut rest) = signature.split_at_checked(n).unwrap_or_default();
        // Step 3 computes Q and its checksum.
        let mut hash = self.stream(D_MESG);
        hash.update(randomizer);
        for piece in message {
            hash.update(piece);
        }
        let digits = Digits::of(&hash.finalize(), n, w, p);
        // With small digits the ends of all chains do not fit into the room. Therefore the chains
        // are processed in groups, and the ends of each group are hashed in order.
        let mut hash = self.stream(D_PBLC);
        let mut from = 0_usize;
        while from < p {
            let count = p.wrapping_sub(from).min(Room::capacity(n >> 3)).max(1);
            let (now, later) = rest.split_at_checked(count.wrapping_mul(n)).unwrap_or((rest, &[]));
            rest = later;
            self.room.load(0, now);
            self.walk(&digits, from, count);
            for chain in 0..count {
                let words = n >> 3;
                hash.update(self.room.bytes(chain.wrapping_mul(words), words));
            }
            from = from.wrapping_add(count);
        }
        hash.finalize()
    }

    /// Starts a hash that has absorbed I ‖ u32str(q) ‖ u16str(D).
    fn stream(&self, what: [u8; 2]) -> Stream {
        let mut hash = Stream::new(self.hasher.kernels, self.ots.function);
        for word in self.identifier {
            hash.update(&word.to_le_bytes());
        }
        hash.update(&self.q.to_be_bytes());
        hash.update(&what);
        hash
    }

    /// Processes `count` chains, starting with chain `from`, to their ends in place.
    fn walk(&mut self, digits: &Digits, from: usize, count: usize) {
        let (q, n) = (be32(self.q), self.hasher.n);
        let shape = self.ots.function.shape(self.ots.n.wrapping_add(HEAD_LEN), 0);
        let first = |chain: usize| {
            let at = chain.wrapping_mul(n);
            let i = from.wrapping_add(chain);
            let i_bytes = u64::from((i as u16).swap_bytes());
            let j = u64::from(digits.get(i));
            Job { tweak: [0, q | i_bytes << 32 | j << J_BIT], from: at, to: at }
        };
        let left = |chain: usize| digits.left(from.wrapping_add(chain));
        let lanes = self.hasher.lanes(shape.words);
        walk(lanes, count, &left, &first, 1 << J_BIT, &mut |jobs| self.step(shape, jobs));
    }

    /// Computes one step of each chain (RFC 8554 §4.6): H(I ‖ u32str(q) ‖ u16str(i) ‖ u8str(j) ‖
    /// value).
    #[inline(never)]
    fn step(&mut self, shape: Shape, jobs: &[Job]) {
        let Self { hasher, identifier: [first, second], initial, room, .. } = self;
        let mut at = MESSAGES;
        for job in jobs {
            let mut message = Writer::at(at);
            message.push(room, *first);
            message.push(room, *second);
            // q, i and j have seven bytes, so the following value is shifted.
            let [_, head] = job.tweak;
            message.head(head, 56);
            message.append(room, job.from, hasher.n);
            message.finish(room, shape);
            at = at.wrapping_add(shape.words);
        }
        hasher.digest(initial, room, (shape, shape.words), jobs, Sink::Result);
    }
}
