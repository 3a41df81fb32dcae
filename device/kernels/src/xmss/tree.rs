//! From a one-time signature to the root of its tree (RFC 8391 §3, §4.1).

use super::ParameterSet;
use crate::Kernels;
use crate::chains::{Digits, walk};
use crate::short::{
    Function, Hasher, Job, LANES, MESSAGES, Prefix, Room, Shape, Sink, Words, Writer, be32, load,
};

/// log2 of w, which is 16 in every set.
pub(super) const W_BITS: usize = 4;

/// The prefix of a hashed message: toByte(x, n) (RFC 8391 §5.1).
const PREFIX_F: u8 = 0;
const PREFIX_H: u8 = 1;
pub(super) const PREFIX_MESSAGE: u8 = 2;
const PREFIX_PRF: u8 = 3;

/// Types of addresses (RFC 8391 §2.5).
const TYPE_OTS: u32 = 0;
const TYPE_L_TREE: u32 = 1;
const TYPE_HASH_TREE: u32 = 2;

/// Chains of one window if a signature has more than fit: a power of two, so that each window but
/// the last is a whole subtree.
const CHAINS_OF_WINDOW: usize = 32;
const SUBTREE_HEIGHT: u32 = 5;

// An address is eight big-endian words, and here four of eight bytes: layer and upper half of the
// tree; its lower half and the type; and two that differ for each hash, which are a job's tweak:
//
//   OTS        leaf | chain       step | key or mask
//   L-tree     leaf | height      index | key or mask
//   hash tree  0 | height         index | key or mask
//
// Chain, height and step fit a byte, and so does the choice of key and masks: 0 to 2.
const SECOND_BYTE: u32 = 56;
const FIRST_BYTE: u32 = 24;

/// Which tree of the hypertree.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub layer: u32,
    pub tree: u64,
}

/// What trees of one key have in common.
pub(super) struct Tree<'a> {
    hasher: Hasher<'a>,
    chains: usize,
    /// Whether prefixes have four bytes, and not n.
    is_prefix_short: bool,
    seed: Words,
    /// SEED is the same in every PRF, and where a block of SHA-2 ends after it, the state at that point is
    /// computed once: a third of all work.
    prf_start: Words,
    is_prf_started: bool,
    initial: Words,
    prf: Shape,
    f: Form,
    h: Form,
    /// The byte of its message that chooses the key or one of the masks: the last.
    choice_at: usize,
    /// The first half of the addresses in work.
    address: [u64; 2],
}

/// F or H: a number, and what follows from the lengths of its messages.
struct Form {
    number: u8,
    /// Words of hash values in a message.
    len: usize,
    shape: Shape,
    /// Words from the message of one lane to the next.
    stride: usize,
}

impl<'a> Tree<'a> {
    /// For a key with this SEED, which is n bytes long.
    pub(super) fn new(
        kernels: &'a Kernels,
        set: &ParameterSet,
        seed: &[u8],
        room: &mut Room,
    ) -> Self {
        let (function, prefix_len) = (set.function, set.prefix_len);
        let head_len = prefix_len.wrapping_add(set.n);
        // Two values of 32 bytes are a block of SHA-256, two of 64 one of SHA-512.
        let is_prf_started =
            matches!((function, head_len), (Function::Sha256, 64) | (Function::Sha512, 128));
        let hashed = if is_prf_started { head_len } else { 0 };
        let initial = function.initial();
        let prf = function.shape(head_len.wrapping_add(32), hashed);
        let form = |number, values: usize| {
            let len = values.wrapping_mul(set.n);
            let shape = function.shape(head_len.wrapping_add(len), 0);
            Form { number, len: len >> 3, shape, stride: shape.words.max(prf.words) }
        };
        let mut tree = Self {
            hasher: Hasher { kernels, function, n: set.n >> 3 },
            chains: set.chains(),
            is_prefix_short: prefix_len < set.n,
            seed: [0; 8],
            prf_start: initial,
            is_prf_started,
            initial,
            prf,
            f: form(PREFIX_F, 1),
            h: form(PREFIX_H, 2),
            choice_at: head_len.wrapping_sub(hashed).wrapping_add(31),
            address: [0; 2],
        };
        load(&mut tree.seed, seed);
        if is_prf_started {
            let _ = tree.prf_head(room, MESSAGES);
            tree.prf_start = tree.hasher.midstate(room, head_len >> 3);
        }
        tree
    }

    /// The root that a one-time signature of a message leads to (RFC 8391 §4.1.10, algorithm 13).
    pub(super) fn root(
        &mut self,
        room: &mut Room,
        address: Address,
        idx_leaf: u32,
        digits: &Digits,
        sig_ots: &[u8],
        auth: &[u8],
    ) -> Words {
        self.leaf(room, address, idx_leaf, digits, sig_ots);
        self.set_address(address, TYPE_HASH_TREE);
        let n = self.hasher.n;
        let mut index = idx_leaf;
        for (height, sibling) in auth.chunks_exact(n.wrapping_mul(8).max(1)).enumerate() {
            // The node is at the front; its parent will be, too.
            let is_right = index & 1 == 1;
            if is_right {
                room.copy(0, n, n);
            }
            room.load(if is_right { 0 } else { n }, sibling);
            index >>= 1;
            let tweak = [(height as u64) << SECOND_BYTE, be32(index)];
            self.hash(room, &self.h, &[Job { tweak, from: 0, to: 0 }]);
        }
        room.value(0, n)
    }

    /// Computes the leaf of a one-time signature, to the front of the window: its public key
    /// (§3.1.6, algorithm 6) and the root of that in its L-tree (§4.1.5, algorithm 8).
    fn leaf(
        &mut self,
        room: &mut Room,
        address: Address,
        idx_leaf: u32,
        digits: &Digits,
        sig_ots: &[u8],
    ) {
        let n = self.hasher.n;
        let is_one_window = self.chains <= Room::capacity(n);
        let mut rest = sig_ots;
        let (mut from, mut subtrees) = (0_usize, 0_usize);
        while from < self.chains {
            let left = self.chains.wrapping_sub(from);
            let count = if is_one_window { left } else { left.min(CHAINS_OF_WINDOW) };
            let (now, later) =
                rest.split_at_checked(count.wrapping_mul(n) << 3).unwrap_or((rest, &[]));
            rest = later;
            let place = subtrees.wrapping_mul(n);
            room.load(place, now);
            self.set_address(address, TYPE_OTS);
            self.walk(room, idx_leaf, digits, (from, count), place);
            self.set_address(address, TYPE_L_TREE);
            self.l_tree(room, idx_leaf, (place, count), from as u32, 0);
            from = from.wrapping_add(count);
            subtrees = subtrees.wrapping_add(1);
        }
        self.l_tree(room, idx_leaf, (0, subtrees), 0, SUBTREE_HEIGHT);
    }

    /// Walks the chains from `from` on to their ends, in place (§3.1.2).
    fn walk(
        &self,
        room: &mut Room,
        idx_leaf: u32,
        digits: &Digits,
        (from, count): (usize, usize),
        place: usize,
    ) {
        let n = self.hasher.n;
        let lanes = self.hasher.lanes(self.f.stride);
        let first = |chain: usize| {
            let at = place.wrapping_add(chain.wrapping_mul(n));
            let chain = from.wrapping_add(chain);
            let step = u64::from(digits.get(chain));
            let tweak = [be32(idx_leaf) | (chain as u64) << SECOND_BYTE, step << FIRST_BYTE];
            Job { tweak, from: at, to: at }
        };
        let left = |chain: usize| digits.left(from.wrapping_add(chain));
        walk(lanes, count, &left, &first, 1 << FIRST_BYTE, &mut |jobs| {
            self.hash(room, &self.f, jobs)
        });
    }

    /// Hashes `count` nodes of an L-tree, the first of which has number `index` at `height`, up to
    /// one, in place (§4.1.5). A last node without a sibling is lifted.
    fn l_tree(
        &self,
        room: &mut Room,
        idx_leaf: u32,
        (place, mut count): (usize, usize),
        mut index: u32,
        mut height: u32,
    ) {
        let n = self.hasher.n;
        let lanes = self.hasher.lanes(self.h.stride);
        let mut jobs = [Job::NONE; LANES];
        while count > 1 {
            index >>= 1;
            let pairs = count >> 1;
            let mut pair = 0_usize;
            while pair < pairs {
                let group = lanes.min(pairs.wrapping_sub(pair));
                for job in jobs.iter_mut().take(group) {
                    let tweak = [
                        be32(idx_leaf) | u64::from(height) << SECOND_BYTE,
                        be32(index.wrapping_add(pair as u32)),
                    ];
                    let to = place.wrapping_add(pair.wrapping_mul(n));
                    let from = to.wrapping_add(pair.wrapping_mul(n));
                    *job = Job { tweak, from, to };
                    pair = pair.wrapping_add(1);
                }
                // No parent takes a place from which a later group reads.
                self.hash(room, &self.h, jobs.get(..group).unwrap_or_default());
            }
            if count & 1 == 1 {
                let last = count.wrapping_sub(1).wrapping_mul(n);
                let to = pairs.wrapping_mul(n);
                room.copy(place.wrapping_add(last), place.wrapping_add(to), n);
            }
            count = count.div_ceil(2);
            height = height.wrapping_add(1);
        }
    }

    fn set_address(&mut self, Address { layer, tree }: Address, kind: u32) {
        self.address = [
            be32(layer) | be32((tree >> 32) as u32) << 32,
            be32(tree as u32) | u64::from(kind) << SECOND_BYTE,
        ];
    }

    /// A step of each chain (algorithm 2), or the parent of each pair of nodes (algorithm 7): F or
    /// H with a key and masks of its own, in a lane each.
    #[inline(never)]
    fn hash(&self, room: &mut Room, form: &Form, jobs: &[Job]) {
        let (hasher, stride) = (&self.hasher, form.stride);
        let mut at = MESSAGES;
        for job in jobs {
            self.write_prf(room, at, job);
            at = at.wrapping_add(stride);
        }
        // Masks first, into the values; the key comes last and takes its place in the message.
        for choice in (0..=form.number.wrapping_add(1)).rev() {
            let mut at = MESSAGES;
            for _ in jobs {
                room.set_byte(at, self.choice_at, choice);
                at = at.wrapping_add(stride);
            }
            let sink = match usize::from(choice).checked_sub(1) {
                None => Sink::Message(self.prefix(form.number).room(hasher.n)),
                Some(mask) => Sink::Mask(mask.wrapping_mul(hasher.n)),
            };
            hasher.digest(&self.prf_start, room, (self.prf, stride), jobs, sink);
        }
        let mut at = MESSAGES;
        for job in jobs {
            self.write(room, at, form, job);
            at = at.wrapping_add(stride);
        }
        hasher.digest(&self.initial, room, (form.shape, stride), jobs, Sink::Result);
    }

    /// Writes the message of PRF(SEED, ADRS) (RFC 8391 §5.1). The byte that chooses the key or one of
    /// the masks is still missing.
    #[inline(always)]
    fn write_prf(&self, room: &mut Room, at: usize, job: &Job) {
        let mut message =
            if self.is_prf_started { Writer::at(at) } else { self.prf_head(room, at) };
        let ([first, second], [third, fourth]) = (self.address, job.tweak);
        message.extend(room, [first, second, third, fourth]);
        message.finish(room, self.prf);
    }

    /// Writes the message of F or H (RFC 8391 §5.1) around its key.
    #[inline(always)]
    fn write(&self, room: &mut Room, at: usize, form: &Form, job: &Job) {
        let mut message = room.put_prefix(at, self.prefix(form.number), self.hasher.n);
        message.append(room, job.from, form.len);
        message.finish(room, form.shape);
    }

    /// The message of a PRF up to SEED.
    fn prf_head(&self, room: &mut Room, at: usize) -> Writer {
        let (prefix, n) = (self.prefix(PREFIX_PRF), self.hasher.n);
        room.put(at.wrapping_add(prefix.room(n)), &self.seed);
        room.put_prefix(at, prefix, n)
    }

    fn prefix(&self, number: u8) -> Prefix {
        if self.is_prefix_short { Prefix::HalfWord(number) } else { Prefix::Words(number) }
    }
}
