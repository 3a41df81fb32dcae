//! Job 2 on the board. It prints these lines on the console, for each tier:
//!
//! ```text
//! kernel <family> <tier> one|many works <lanes>
//! kernel <family> <tier> absent
//! checked <tier> <cases>
//! wrong <tier> one|many case <index> message <index>
//! count <hash> <tier> one|half|many <bytes> <instructions>
//! digest <hash> <tier> <64 bytes>
//! ```
//!
//! On the cycle-accurate machine a line `count` ends with cycles. A mark lets the machine report the distribution of
//! the cycles of one message ([`mark_tag`]).

use core::hint::black_box;

use hartlock_image::HashId;
use hartlock_jobs::kernels::{
    COUNTED_SEED, Case, MAX_HEAD_LEN, MAX_LEN, MAX_MESSAGES, Plan, mark_tag,
};
use hartlock_kernels::kt128::Kt128;
use hartlock_kernels::sha2::{Sha256, Sha384, Sha512};
use hartlock_kernels::sha3::{Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256};
use hartlock_kernels::{HashFamily, HashMany, Kernels, MAX_LANES, Tier};
use hartlock_verify::board::Region;
use hartlock_verify::tree::{Digest, padded};
use hartlock_virt::board::map;
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{PrivilegeMode, choose_only};
use hartlock_virt::memory;

use super::taken::{NO_TAG, Taken};

/// Addresses of bodies and heads, which are stored one after the other between program and pack.
const BODIES: u64 = map::RAM.start + (16 << 20);
const HEADS: u64 = map::RAM.start + (48 << 20);
/// Space in bytes for the longest message and its misalignment.
const BODY_ROOM: u64 = (MAX_LEN as u64).next_multiple_of(64) + 64;
const HEAD_ROOM: u64 = (MAX_HEAD_LEN as u64).next_multiple_of(64);
const _: () = assert!(MAX_MESSAGES >= MAX_LANES);
/// Number of bytes that are hashed before a measurement, so that the code is in the caches.
const WARM_UP: usize = 1024;
/// Unused memory that is larger than a data cache.
const OTHERS: Region = Region::new(map::RAM.start + (128 << 20), 64 << 10);

/// Checks the tiers of the plan with the cases, then counts their instructions. Returns `false` if the pack ends too
/// early.
pub fn run(count: u32, body: &[u8]) -> bool {
    let Some((plan, body)) = Plan::parse(body) else { return false };
    for tier in Tier::ALL.into_iter().filter(|tier| plan.tries(*tier)) {
        let choice = choose_only(PrivilegeMode::Machine, tier);
        let kernels = choice.kernels;
        for (number, families) in choice.rejections().filter(|(_, families)| *families != 0) {
            let [number, families] = [number.into(), families].map(Number::decimal);
            console::line(&["rejected ", number.as_str(), " families ", families.as_str()]);
        }
        let mut is_there = false;
        for family in HashFamily::ALL {
            let (one, many) = (kernels.tier(family) == tier, kernels.tier_of_many(family) == tier);
            let lanes = Number::decimal(kernels.lanes(family) as u64);
            for (form, works) in [("one", one), ("many", many)] {
                if works {
                    for part in ["kernel ", family.name(), " ", tier.name(), " ", form] {
                        console::print(part);
                    }
                    console::line(&[" works ", lanes.as_str()]);
                }
            }
            if !one && !many {
                console::line(&["kernel ", family.name(), " ", tier.name(), " absent"]);
            }
            is_there |= one || many;
        }
        if is_there {
            if !check(&kernels, tier, count, body) {
                return false;
            }
            for hash in HashId::ALL.into_iter().filter(|hash| plan.counts(*hash)) {
                count_hash(&kernels, tier, hash, &plan);
            }
        }
    }
    true
}

fn check(kernels: &Kernels, tier: Tier, count: u32, mut body: &[u8]) -> bool {
    for index in 0..count {
        let Some((case, rest)) = Case::parse(body) else { return false };
        body = rest;
        let messages = Messages::of(&case);
        let wrong = |form: &str, message: usize| {
            let index = Number::decimal(index.into());
            let message = Number::decimal(message as u64);
            console::print("wrong ");
            console::print(tier.name());
            console::line(&[" ", form, " case ", index.as_str(), " message ", message.as_str()]);
        };
        for (message, expected) in case.digests.iter().enumerate() {
            if messages.digest(kernels, case.hash, message) != *expected {
                wrong("one", message);
            }
        }
        let mut next = 0;
        messages.digest_all(kernels, case.hash, &mut |message, digest| {
            if message != next || case.digests.get(message) != Some(digest) {
                wrong("many", message);
            }
            next = next.saturating_add(1);
        });
        if next != case.count {
            wrong("many", next);
        }
    }
    console::line(&["checked ", tier.name(), " ", Number::decimal(count.into()).as_str()]);
    body.is_empty()
}

/// Counts the hash of one long message, and of as many messages as there are lanes.
fn count_hash(kernels: &Kernels, tier: Tier, hash: HashId, plan: &Plan) {
    let family = family_of(hash);
    let line = |form: &str, count: usize, taken: &Taken| {
        let bytes = Number::decimal(plan.counted_len.saturating_mul(count) as u64);
        for part in ["count ", hash.name(), " ", tier.name(), " ", form, " ", bytes.as_str()] {
            console::print(part);
        }
        taken.print();
    };
    let count = kernels.lanes(family);
    let case = Case {
        hash,
        count,
        len: plan.counted_len,
        head_len: 0,
        misalignment: 0,
        seed: COUNTED_SEED,
        digests: &[],
        given: None,
    };
    let messages = Messages::of(&case);
    // A single message of KT128 fills the lanes, so it is counted with the tier that has lanes.
    let is_one = match hash {
        HashId::Kt128 => kernels.tier_of_many(family) == tier,
        _ => kernels.tier(family) == tier,
    };
    if is_one {
        black_box(messages.cut(WARM_UP).digest(black_box(kernels), hash, 0));
        fill_data_cache();
        let mut digest = [0; 64];
        let taken = Taken::by(mark_tag(hash, tier), || {
            digest = black_box(messages.digest(black_box(kernels), hash, 0));
        });
        line("one", 1, &taken);
        print_digest(hash, tier, &digest);
    }
    if plan.counts_many && kernels.tier_of_many(family) == tier && hash != HashId::Kt128 {
        for (form, count) in [("half", count / 2), ("many", count)] {
            if form == "half" && count < 2 {
                continue;
            }
            let messages = Messages::of(&Case { count, ..case });
            let taken = Taken::by(NO_TAG, || {
                messages.digest_all(black_box(kernels), hash, &mut |_, digest| {
                    black_box(digest);
                });
            });
            line(form, count, &taken);
        }
    }
}

/// Reads enough other memory that no message is left in the cache, because a payload also comes from a disk.
fn fill_data_cache() {
    // SAFETY: this is memory of this board that nothing writes to.
    let others = unsafe { memory::bytes(OTHERS) };
    black_box(others.iter().step_by(64).fold(0, |sum: u8, byte| sum ^ byte));
}

fn print_digest(hash: HashId, tier: Tier, digest: &Digest) {
    for part in ["digest ", hash.name(), " ", tier.name(), " "] {
        console::print(part);
    }
    for byte in digest {
        console::print(if *byte < 16 { "0" } else { "" });
        console::print(Number::hex((*byte).into()).as_str());
    }
    console::print("\n");
}

/// Messages in the memory of the board.
struct Messages {
    heads: [&'static [u8]; MAX_MESSAGES],
    bodies: [&'static [u8]; MAX_MESSAGES],
    count: usize,
}

impl Messages {
    /// Creates the messages of a case in memory. They overwrite those of the previous case.
    fn of(case: &Case<'_>) -> Self {
        let mut messages =
            Self { heads: [&[]; MAX_MESSAGES], bodies: [&[]; MAX_MESSAGES], count: case.count };
        let places = messages.heads.iter_mut().zip(&mut messages.bodies);
        for ((index, place), (head, body)) in (0_u64..).zip(0..case.count).zip(places) {
            let start = BODIES.saturating_add(index.saturating_mul(BODY_ROOM));
            // The message starts one head before the place of its body.
            let start = start.saturating_add(case.misalignment as u64);
            // SAFETY: this is memory of this board between program and pack, of which this is the only user, and no
            // message of an earlier case is still referenced.
            let message = unsafe { memory::bytes_mut(Region::new(start, case.len as u64)) };
            case.message(place, message);
            let head_start = HEADS.saturating_add(index.saturating_mul(HEAD_ROOM));
            // SAFETY: this memory is also between program and pack, and this is its only user.
            let room = unsafe { memory::bytes_mut(Region::new(head_start, case.head_len as u64)) };
            for (to, from) in room.iter_mut().zip(message.iter()) {
                *to = *from;
            }
            *head = room;
            // Bodies start at the address that `misalignment` defines: the head moves them by its own length.
            *body = message.get(case.head_len..).unwrap_or_default();
        }
        messages
    }

    /// Returns only the first message, cut to `len` bytes after the head.
    fn cut(&self, len: usize) -> Self {
        let mut cut = Self { heads: self.heads, bodies: self.bodies, count: 1 };
        if let Some(body) = cut.bodies.first_mut() {
            *body = body.get(..len).unwrap_or(body);
        }
        cut
    }

    fn digest(&self, kernels: &Kernels, hash: HashId, index: usize) -> Digest {
        let head = self.heads.get(index).copied().unwrap_or_default();
        let body = self.bodies.get(index).copied().unwrap_or_default();
        match hash {
            HashId::Sha256 => one::<Sha256>(kernels, head, body),
            HashId::Sha384 => one::<Sha384>(kernels, head, body),
            HashId::Sha512 => one::<Sha512>(kernels, head, body),
            HashId::Sha3_256 => one::<Sha3_256>(kernels, head, body),
            HashId::Sha3_384 => one::<Sha3_384>(kernels, head, body),
            HashId::Sha3_512 => one::<Sha3_512>(kernels, head, body),
            HashId::Kt128 => one::<Kt128>(kernels, head, body),
            HashId::Shake128 => one::<Shake128>(kernels, head, body),
            HashId::Shake256 => one::<Shake256>(kernels, head, body),
        }
    }

    fn digest_all(&self, kernels: &Kernels, hash: HashId, on: &mut dyn FnMut(usize, &Digest)) {
        let heads = self.heads.get(..self.count).unwrap_or_default();
        let bodies = self.bodies.get(..self.count).unwrap_or_default();
        match hash {
            HashId::Sha256 => many::<Sha256>(kernels, heads, bodies, on),
            HashId::Sha384 => many::<Sha384>(kernels, heads, bodies, on),
            HashId::Sha512 => many::<Sha512>(kernels, heads, bodies, on),
            HashId::Sha3_256 => many::<Sha3_256>(kernels, heads, bodies, on),
            HashId::Sha3_384 => many::<Sha3_384>(kernels, heads, bodies, on),
            HashId::Sha3_512 => many::<Sha3_512>(kernels, heads, bodies, on),
            HashId::Kt128 => many::<Kt128>(kernels, heads, bodies, on),
            HashId::Shake128 => many::<Shake128>(kernels, heads, bodies, on),
            HashId::Shake256 => many::<Shake256>(kernels, heads, bodies, on),
        }
    }
}

const fn family_of(hash: HashId) -> HashFamily {
    match hash {
        HashId::Sha256 => HashFamily::Sha256,
        HashId::Sha384 | HashId::Sha512 => HashFamily::Sha512,
        _ => HashFamily::Keccak,
    }
}

fn one<H: HashMany>(kernels: &Kernels, head: &[u8], body: &[u8]) -> Digest {
    let mut hash = H::with(kernels);
    hash.update(head);
    hash.update(body);
    padded(hash.finalize().as_ref())
}

fn many<H: HashMany>(
    kernels: &Kernels,
    heads: &[&[u8]],
    bodies: &[&[u8]],
    on: &mut dyn FnMut(usize, &Digest),
) {
    H::digest_many(kernels, heads, bodies, &mut |index, digest| {
        on(index, &padded(digest.as_ref()));
    });
}
