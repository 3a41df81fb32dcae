//! Computation of the root of a tree from a one-time signature (RFC 8391 §3, §4.1).

use super::XmssParameterSet;
use crate::Kernels;
use crate::chains::{Digits, walk};
use crate::short::{
    Function, Job, LANES, MESSAGES, Prefix, Room, Shape, SignatureHasher, Sink, Words, Writer,
    be32, load,
};

/// Logarithm of w to base 2. w is 16 in every set.
pub(super) const W_BITS: usize = 4;

/// Prefixes of hashed messages, encoded as toByte(x, n) (RFC 8391 §5.1).
const PREFIX_F: u8 = 0;
const PREFIX_H: u8 = 1;
pub(super) const PREFIX_MESSAGE: u8 = 2;
const PREFIX_PRF: u8 = 3;

/// Types of addresses (RFC 8391 §2.5).
const TYPE_OTS: u32 = 0;
const TYPE_L_TREE: u32 = 1;
const TYPE_HASH_TREE: u32 = 2;

/// Number of chains that are processed together if not all chains of a signature fit into the room. It is a power of
/// two, so that each group except the last one gives a whole subtree.
const CHAINS_OF_WINDOW: usize = 32;
const SUBTREE_HEIGHT: u32 = 5;

// An address has eight big-endian words, which are stored here as four words of eight bytes. The first contains the
// layer and the upper half of the tree number, the second the lower half and the type. The other two differ for each
// hash and are the tweak of a job:
//
//   OTS        leaf | chain       step | key or mask
//   L-tree     leaf | height      index | key or mask
//   hash tree  0 | height         index | key or mask
//
// Chain, height and step fit into a byte. The value that selects the key or a mask (0 to 2) also does.
const SECOND_BYTE: u32 = 56;
const FIRST_BYTE: u32 = 24;

/// The position of a tree in the hypertree.
#[derive(Clone, Copy)]
pub(super) struct TreeAddress {
    pub layer: u32,
    pub tree: u64,
}

/// Data that all trees of one key share.
pub(super) struct Tree<'a> {
    hasher: SignatureHasher<'a>,
    chains: usize,
    /// True if prefixes have four bytes instead of n.
    is_prefix_short: bool,
    seed: Words,
    /// Hash state after SEED, which is the same for every PRF. If a block of SHA-2 ends after SEED, this state is
    /// computed only once, which saves a third of all work.
    prf_start: Words,
    is_prf_started: bool,
    initial: Words,
    prf: Shape,
    f: Form,
    h: Form,
    /// Offset of the last byte of a PRF message, which selects the key or a mask.
    choice_at: usize,
    /// First half of the current address.
    address: [u64; 2],
}

/// The message layout of F or H, which depends on the lengths of the hashed values.
struct Form {
    number: u8,
    /// Number of words of the hash values in a message.
    len: usize,
    shape: Shape,
    /// Distance in words between the messages of two adjacent lanes.
    stride: usize,
}

impl<'a> Tree<'a> {
    /// Makes the state for a key with this SEED, which has n bytes.
    pub(super) fn new(
        kernels: &'a Kernels,
        set: &XmssParameterSet,
        seed: &[u8],
        room: &mut Room,
    ) -> Self {
        let (function, prefix_len) = (set.function, set.prefix_len);
        let head_len = prefix_len.wrapping_add(set.n);
        // A block ends after SEED: two values of 32 bytes fill a block of SHA-256, two of 64 bytes a block of
        // SHA-512.
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
            hasher: SignatureHasher { kernels, function, n: set.n >> 3 },
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

    /// Computes the root from a one-time signature of a message (RFC 8391 §4.1.10, algorithm 13).
    pub(super) fn root(
        &mut self,
        room: &mut Room,
        address: TreeAddress,
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
            // The node is at the start of the room. Its parent replaces it there.
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

    /// Computes the leaf that belongs to a one-time signature, and writes it to the start of the room. This is the
    /// one-time public key (§3.1.6, algorithm 6), compressed by its L-tree (§4.1.5, algorithm 8).
    fn leaf(
        &mut self,
        room: &mut Room,
        address: TreeAddress,
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

    /// Processes `count` chains, starting with chain `from`, to their ends in place (§3.1.2).
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

    /// Hashes `count` nodes of an L-tree in place until one is left (§4.1.5). The first node has the number `index`
    /// at `height`. A last node without a sibling moves to the next level unchanged.
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
                // A parent never overwrites a node that a later group reads.
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

    fn set_address(&mut self, TreeAddress { layer, tree }: TreeAddress, kind: u32) {
        self.address = [
            be32(layer) | be32((tree >> 32) as u32) << 32,
            be32(tree as u32) | u64::from(kind) << SECOND_BYTE,
        ];
    }

    /// Computes one step of each chain (algorithm 2), or the parent of each pair of nodes (algorithm 7). Each lane
    /// applies F or H with its own key and masks.
    #[inline(never)]
    fn hash(&self, room: &mut Room, form: &Form, jobs: &[Job]) {
        let (hasher, stride) = (&self.hasher, form.stride);
        let mut at = MESSAGES;
        for job in jobs {
            self.write_prf(room, at, job);
            at = at.wrapping_add(stride);
        }
        // The masks come first and are XORed into the values. The key comes last and goes to its position in the
        // message.
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

    /// Writes the message of PRF(SEED, ADRS) (RFC 8391 §5.1), except for the byte that selects the key or a mask.
    #[inline(always)]
    fn write_prf(&self, room: &mut Room, at: usize, job: &Job) {
        let mut message =
            if self.is_prf_started { Writer::at(at) } else { self.prf_head(room, at) };
        let ([first, second], [third, fourth]) = (self.address, job.tweak);
        message.extend(room, [first, second, third, fourth]);
        message.finish(room, self.prf);
    }

    /// Writes the message of F or H (RFC 8391 §5.1) around its key, which is already in place.
    #[inline(always)]
    fn write(&self, room: &mut Room, at: usize, form: &Form, job: &Job) {
        let mut message = room.put_prefix(at, self.prefix(form.number), self.hasher.n);
        message.append(room, job.from, form.len);
        message.finish(room, form.shape);
    }

    /// Writes the message of a PRF up to and including SEED.
    fn prf_head(&self, room: &mut Room, at: usize) -> Writer {
        let (prefix, n) = (self.prefix(PREFIX_PRF), self.hasher.n);
        room.put(at.wrapping_add(prefix.room(n)), &self.seed);
        room.put_prefix(at, prefix, n)
    }

    fn prefix(&self, number: u8) -> Prefix {
        if self.is_prefix_short { Prefix::HalfWord(number) } else { Prefix::Words(number) }
    }
}
