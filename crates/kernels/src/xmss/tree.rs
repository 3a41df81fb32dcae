//! From a one-time signature to the root of its tree (RFC 8391 §3, §4.1).

use super::ParameterSet;
use crate::Kernels;
use crate::chains::{Digits, Job, Window, walk};
use crate::short::{Function, LANES, Messages, Prefix, Shape, Words, Writer, be32, digest, load};

/// log2 of w, which is 16 in every set.
pub(super) const W_BITS: usize = 4;

/// What stands in front of a hashed message: toByte(x, n) (RFC 8391 §5.1).
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
// tree; its lower half and the type; and two that each hash has to itself, which are a job's tweak:
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
    kernels: &'a Kernels,
    function: Function,
    /// Words of a hash value.
    n: usize,
    chains: usize,
    /// Whether prefixes have four bytes, and not n.
    is_prefix_short: bool,
    seed: Words,
    /// SEED is the same in every PRF, and where a block of SHA-2 ends behind it, the state there is
    /// computed once: a third of all work.
    prf_start: Words,
    is_prf_started: bool,
    initial: Words,
    prf: Shape,
    f: Shape,
    h: Shape,
    /// The first half of the addresses in work.
    address: [u64; 2],
    room: &'a mut Room,
}

/// Room to work in, which is most of what a verification puts on the stack.
pub(super) struct Room {
    messages: Messages,
    window: Window,
}

impl Room {
    pub(super) const fn new() -> Self {
        Self { messages: Messages::new(), window: Window::new() }
    }
}

impl<'a> Tree<'a> {
    /// For a key with this SEED, which is n bytes long.
    pub(super) fn new(
        kernels: &'a Kernels,
        set: &ParameterSet,
        seed: &[u8],
        room: &'a mut Room,
    ) -> Self {
        let (function, prefix_len) = (set.function, set.prefix_len);
        let head_len = prefix_len.wrapping_add(set.n);
        // Two values of 32 bytes are a block of SHA-256, two of 64 one of SHA-512.
        let is_prf_started =
            matches!((function, head_len), (Function::Sha256, 64) | (Function::Sha512, 128));
        let hashed = if is_prf_started { head_len } else { 0 };
        let mut tree = Self {
            kernels,
            function,
            n: set.n >> 3,
            chains: set.chains(),
            is_prefix_short: prefix_len < set.n,
            seed: [0; 8],
            prf_start: function.initial(),
            is_prf_started,
            initial: function.initial(),
            prf: function.shape(head_len.wrapping_add(32), hashed),
            f: function.shape(head_len.wrapping_add(set.n), 0),
            h: function.shape(head_len.wrapping_add(set.n.wrapping_mul(2)), 0),
            address: [0; 2],
            room,
        };
        load(&mut tree.seed, seed);
        if is_prf_started {
            let words = head_len >> 3;
            let _ = tree.started_prf(0);
            tree.prf_start = function.midstate(kernels, &tree.room.messages, words);
        }
        tree
    }

    /// The root that a one-time signature of a message leads to (RFC 8391 §4.1.10, algorithm 13).
    pub(super) fn root(
        &mut self,
        address: Address,
        idx_leaf: u32,
        digits: &Digits,
        sig_ots: &[u8],
        auth: &[u8],
    ) -> Words {
        self.leaf(address, idx_leaf, digits, sig_ots);
        self.set_address(address, TYPE_HASH_TREE);
        let n = self.n;
        let mut index = idx_leaf;
        for (height, sibling) in auth.chunks_exact(n.wrapping_mul(8).max(1)).enumerate() {
            // The node stands in front; its parent will, too.
            let is_right = index & 1 == 1;
            if is_right {
                self.room.window.copy(0, n, n);
            }
            self.room.window.load(if is_right { 0 } else { n }, sibling);
            index >>= 1;
            let tweak = [(height as u64) << SECOND_BYTE, be32(index)];
            self.hash(PREFIX_H, &[Job { tweak, from: 0, to: 0 }]);
        }
        self.room.window.value(0, n)
    }

    /// Computes the leaf of a one-time signature, to the front of the window: its public key
    /// (§3.1.6, algorithm 6) and the root of that in its L-tree (§4.1.5, algorithm 8).
    fn leaf(&mut self, address: Address, idx_leaf: u32, digits: &Digits, sig_ots: &[u8]) {
        let n = self.n;
        let is_one_window = self.chains <= Window::capacity(n);
        let mut rest = sig_ots;
        let (mut from, mut subtrees) = (0_usize, 0_usize);
        while from < self.chains {
            let left = self.chains.wrapping_sub(from);
            let count = if is_one_window { left } else { left.min(CHAINS_OF_WINDOW) };
            let (now, later) =
                rest.split_at_checked(count.wrapping_mul(n) << 3).unwrap_or((rest, &[]));
            rest = later;
            let place = subtrees.wrapping_mul(n);
            self.room.window.load(place, now);
            self.set_address(address, TYPE_OTS);
            self.walk(idx_leaf, digits, (from, count), place);
            self.set_address(address, TYPE_L_TREE);
            self.l_tree(idx_leaf, (place, count), from as u32, 0);
            from = from.wrapping_add(count);
            subtrees = subtrees.wrapping_add(1);
        }
        self.l_tree(idx_leaf, (0, subtrees), 0, SUBTREE_HEIGHT);
    }

    /// Walks the chains from `from` on to their ends, in place (§3.1.2).
    fn walk(
        &mut self,
        idx_leaf: u32,
        digits: &Digits,
        (from, count): (usize, usize),
        place: usize,
    ) {
        let n = self.n;
        let lanes = self.function.lanes(self.kernels, self.stride(PREFIX_F));
        let first = |chain: usize| {
            let at = place.wrapping_add(chain.wrapping_mul(n));
            let chain = from.wrapping_add(chain);
            let step = u64::from(digits.get(chain));
            let tweak = [be32(idx_leaf) | (chain as u64) << SECOND_BYTE, step << FIRST_BYTE];
            Job { tweak, from: at, to: at }
        };
        let left = |chain: usize| digits.left(from.wrapping_add(chain));
        walk(lanes, count, &left, &first, 1 << FIRST_BYTE, &mut |jobs| self.hash(PREFIX_F, jobs));
    }

    /// Hashes `count` nodes of an L-tree, the first of which has number `index` at `height`, up to
    /// one, in place (§4.1.5). A last node without a sibling is lifted.
    fn l_tree(
        &mut self,
        idx_leaf: u32,
        (place, mut count): (usize, usize),
        mut index: u32,
        mut height: u32,
    ) {
        let n = self.n;
        let lanes = self.function.lanes(self.kernels, self.stride(PREFIX_H)).min(LANES);
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
                self.hash(PREFIX_H, jobs.get(..group).unwrap_or_default());
            }
            if count & 1 == 1 {
                let last = count.wrapping_sub(1).wrapping_mul(n);
                let to = pairs.wrapping_mul(n);
                self.room.window.copy(place.wrapping_add(last), place.wrapping_add(to), n);
            }
            count = count.div_ceil(2);
            height = height.wrapping_add(1);
        }
    }

    /// Words from the message of one lane to the next.
    fn stride(&self, prefix: u8) -> usize {
        let shape = if prefix == PREFIX_H { self.h } else { self.f };
        shape.words.max(self.prf.words)
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
    fn hash(&mut self, prefix: u8, jobs: &[Job]) {
        let n = self.n;
        let stride = self.stride(prefix);
        let (shape, len) =
            if prefix == PREFIX_H { (self.h, n.wrapping_mul(2)) } else { (self.f, n) };
        // Masks first, into the values; the key comes last and stays where the PRF leaves it.
        for choice in 1..=u64::from(prefix).wrapping_add(1) {
            self.prf(choice, stride, jobs);
            let half = (choice as usize).wrapping_sub(1).wrapping_mul(n);
            let mut at = 0_usize;
            for job in jobs {
                let value = self.room.window.words_mut(job.from.wrapping_add(half), n);
                self.room.messages.xor_into(at, value);
                at = at.wrapping_add(stride);
            }
        }
        self.prf(0, stride, jobs);
        let kind = self.prefix(prefix);
        let mut at = 0_usize;
        for job in jobs {
            let messages = &mut self.room.messages;
            let mut message = messages.put_prefix(at, kind, n);
            message.extend(messages, self.room.window.words(job.from, len));
            message.finish(messages, shape);
            at = at.wrapping_add(stride);
        }
        let place = (shape, stride, jobs.len());
        digest(self.kernels, self.function, &self.initial, &mut self.room.messages, place);
        let mut at = 0_usize;
        for job in jobs {
            self.room.messages.read(at, self.room.window.words_mut(job.to, n));
            at = at.wrapping_add(stride);
        }
    }

    /// PRF(SEED, ADRS) of each job (RFC 8391 §5.1), with the key or one of the masks chosen.
    #[inline(never)]
    fn prf(&mut self, choice: u64, stride: usize, jobs: &[Job]) {
        let ([first, second], shape) = (self.address, self.prf);
        let mut at = 0_usize;
        for job in jobs {
            let mut message =
                if self.is_prf_started { Writer::at(at) } else { self.started_prf(at) };
            let messages = &mut self.room.messages;
            let [third, fourth] = job.tweak;
            // Prefix and SEED end between words where prefixes are short.
            if message.is_at_word() {
                message.push(messages, first);
                message.push(messages, second);
                message.push(messages, third);
                message.push(messages, fourth | choice << SECOND_BYTE);
            } else {
                let address = [first, second, third, fourth | choice << SECOND_BYTE];
                message.extend(messages, &address);
            }
            message.finish(messages, shape);
            at = at.wrapping_add(stride);
        }
        let place = (self.prf, stride, jobs.len());
        digest(self.kernels, self.function, &self.prf_start, &mut self.room.messages, place);
    }

    /// The message of a PRF up to SEED.
    fn started_prf(&mut self, at: usize) -> Writer {
        let (prefix, n) = (self.prefix(PREFIX_PRF), self.n);
        self.room.messages.put(at, &self.seed);
        self.room.messages.put_prefix(at, prefix, n)
    }

    fn prefix(&self, number: u8) -> Prefix {
        if self.is_prefix_short { Prefix::HalfWord(number) } else { Prefix::Words(number) }
    }
}
