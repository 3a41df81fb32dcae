//! Job 6 on the board. For the portable kernels and for those that work on this hart, as planned, it prints these lines on the
//! console:
//!
//! ```text
//! way portable|chosen <tier of SHA-256> <tier of several messages> <lanes> <tier of E-multiplication>
//! hash <way> flat <bytes> <instructions>
//! share <way> <hart> <harts> <blocks> <instructions>
//! root <way> <harts> <instructions>
//! together <way> <harts> <instructions>
//! verify <way> flat|tree <algorithm> <instructions>
//! wrong <way> flat|tree <what>
//! done <way>
//! ```
//!
//! A signature is verified only after changed bytes of it were refused, and another digest. On the cycle-accurate machine a line with instructions ends with cycles, except that of a share. `together` is from
//! the first wake-up of another hart until all have answered; its instructions are those of hart 0, with its waiting.

use core::hint::black_box;

use hartlock_image::HashId;
use hartlock_jobs::first_stage::{
    CHOSEN, FLAT, FirstStagePlan, FirstStageSigner, IN_TURN, MAX_SIGNATURE_LEN, PORTABLE, TOGETHER,
    fill_image,
};
use hartlock_kernels::sha2::Sha256;
use hartlock_kernels::{Hash, HashFamily, Kernels};
use hartlock_verify::board::Region;
use hartlock_verify::tree::{SoftwareHasher, TreeRootHasher, lanes};
use hartlock_virt::console::{self, Number};
use hartlock_virt::kernels::{PrivilegeMode, choose};
use hartlock_virt::{clock, memory};

use super::crew;
use super::taken::{NO_TAG, Taken};

/// Bytes that each hart hashes before the harts are measured.
const WARM_UP: usize = 1024;
const WAYS: [(&str, u32); 2] = [("portable", PORTABLE), ("chosen", CHOSEN)];

/// Counts everything of the plan. Returns `false` if the pack is malformed.
pub fn run(count: u32, body: &[u8]) -> bool {
    let Some((plan, signers)) = FirstStagePlan::parse(body) else { return false };
    let region = Region::new(crew::IMAGE, plan.image_len as u64);
    // SAFETY: this is memory of this board after the program, and no hart reads it yet.
    fill_image(unsafe { memory::bytes_mut(region) });
    let chosen = choose(PrivilegeMode::Machine).kernels;
    for ((way, part), kernels) in WAYS.into_iter().zip([Kernels::PORTABLE, chosen]) {
        if plan.parts & part == 0 {
            continue;
        }
        let is_chosen = part == CHOSEN;
        print_kernels(way, &kernels);
        if plan.parts & FLAT != 0 {
            count_flat(way, &kernels, &plan);
            let other = digest_of_changed(&plan, &plan.digest, || flat(&kernels, &plan));
            let place = Place { way, form: "flat", digests: [&plan.digest, &other] };
            if !for_signers(count, signers, |signer| {
                judge(&place, &kernels, signer, signer.of_digest);
            }) {
                return false;
            }
        }
        if plan.parts & IN_TURN != 0 {
            for harts in [1, plan.harts] {
                for hart in 0..harts {
                    let taken = Taken::by(NO_TAG, || {
                        crew::share(black_box(&kernels), &plan, hart, harts);
                    });
                    let blocks = plan.share(hart, harts).1;
                    print(&["share ", way], &[hart as u64, harts as u64, blocks as u64]);
                    taken.print();
                }
                count_root(way, &kernels, &plan, harts);
            }
        }
        if plan.parts & TOGETHER != 0 {
            // Each hart chooses its kernels, and its code comes into its cache.
            let few =
                FirstStagePlan { image_len: plan.harts * WARM_UP, block_len: WARM_UP, ..plan };
            crew::run(&kernels, &few, is_chosen);
            let mut retired = [0; _];
            let taken = Taken::by(NO_TAG, || {
                retired = crew::run(black_box(&kernels), &plan, is_chosen);
            });
            for (hart, retired) in retired.into_iter().enumerate().take(plan.harts) {
                let blocks = plan.share(hart, plan.harts).1;
                let harts = plan.harts as u64;
                print(&["share ", way], &[hart as u64, harts, blocks as u64, retired]);
                console::print("\n");
            }
            print(&["together ", way], &[plan.harts as u64]);
            taken.print();
            count_root(way, &kernels, &plan, plan.harts);
        }
        if plan.parts & (IN_TURN | TOGETHER) != 0 {
            let other = digest_of_changed(&plan, &plan.root, || {
                crew::share(&kernels, &plan, 0, 1);
                root(&kernels, &plan)
            });
            let place = Place { way, form: "tree", digests: [&plan.root, &other] };
            if !for_signers(count, signers, |signer| {
                judge(&place, &kernels, signer, signer.of_root);
            }) {
                return false;
            }
        }
        console::line(&["done ", way]);
    }
    true
}

/// Calls a function with every signer. Returns `false` if the pack is malformed.
fn for_signers(count: u32, mut body: &[u8], mut on: impl FnMut(&FirstStageSigner<'_>)) -> bool {
    for _ in 0..count {
        let Some((signer, rest)) = FirstStageSigner::parse(body) else { return false };
        body = rest;
        on(&signer);
    }
    body.is_empty()
}

fn print_kernels(way: &str, kernels: &Kernels) {
    let family = HashFamily::Sha256;
    let lanes = Number::decimal(lanes(kernels, HashId::Sha256) as u64);
    let (one, many) = (kernels.tier(family).name(), kernels.tier_of_many(family).name());
    for part in ["way ", way, " ", one, " ", many, " ", lanes.as_str(), " "] {
        console::print(part);
    }
    console::line(&[kernels.walnut_tier().name()]);
}

/// Counts the hash of the image as one message.
fn count_flat(way: &str, kernels: &Kernels, plan: &FirstStagePlan) {
    let mut digest = [0; 32];
    let taken = Taken::by(NO_TAG, || digest = flat(black_box(kernels), plan));
    if digest != plan.digest {
        return console::line(&["wrong ", way, " flat sha256"]);
    }
    print(&["hash ", way, " flat"], &[plan.image_len as u64]);
    taken.print();
}

/// Counts the root over the leaves that were computed before.
fn count_root(way: &str, kernels: &Kernels, plan: &FirstStagePlan, harts: usize) {
    let mut digest = [0; 32];
    let taken = Taken::by(NO_TAG, || digest = root(black_box(kernels), plan));
    if digest != plan.root {
        return console::line(&["wrong ", way, " tree sha256"]);
    }
    print(&["root ", way], &[harts as u64]);
    taken.print();
}

fn flat(kernels: &Kernels, plan: &FirstStagePlan) -> [u8; 32] {
    let region = Region::new(crew::IMAGE, plan.image_len as u64);
    // SAFETY: nothing writes to this memory until the digest is computed.
    let image = unsafe { memory::bytes(region) };
    let mut hash = Sha256::with(kernels);
    hash.update(black_box(image));
    hash.finalize()
}

fn root(kernels: &Kernels, plan: &FirstStagePlan) -> [u8; 32] {
    let mut root = TreeRootHasher::<SoftwareHasher>::with(&plan.record(), kernels);
    black_box(crew::all_leaves(plan)).iter().for_each(|leaf| root.push(leaf));
    root.finalize().first_chunk().copied().unwrap_or_default()
}

/// Returns the digest that `compute` gives for the image with a changed byte in its middle. The cycle-accurate machine
/// would take minutes for a further hash; there it is the right digest with a changed bit.
fn digest_of_changed(
    plan: &FirstStagePlan,
    right: &[u8; 32],
    compute: impl FnOnce() -> [u8; 32],
) -> [u8; 32] {
    if clock::COUNTS_CYCLES {
        let mut other = *right;
        other.iter_mut().take(1).for_each(|byte| *byte ^= 1);
        return other;
    }
    change_image(plan);
    let other = compute();
    change_image(plan);
    other
}

fn change_image(plan: &FirstStagePlan) {
    let middle = crew::IMAGE.saturating_add(plan.image_len as u64 / 2);
    // SAFETY: this is a byte of the image, and no hart reads it now.
    let middle = unsafe { memory::bytes_mut(Region::new(middle, 1)) };
    middle.iter_mut().for_each(|byte| *byte ^= 1);
}

/// What is verified: the way, the form of the hash, and the digests of the image and of a changed one.
struct Place<'a> {
    way: &'a str,
    form: &'a str,
    digests: [&'a [u8; 32]; 2],
}

/// Checks that changed bytes are refused, and counts the verification of the genuine signature.
fn judge(place: &Place<'_>, kernels: &Kernels, signer: &FirstStageSigner<'_>, signature: &[u8]) {
    let FirstStageSigner { scheme, key, .. } = *signer;
    let Place { way, form, digests: [digest, other] } = *place;
    let wrong = |what: &str| {
        console::line(&["wrong ", way, " ", form, " ", what, " ", scheme.name()]);
    };
    let mut changed = [0; MAX_SIGNATURE_LEN];
    let changed = changed.get_mut(..signature.len()).unwrap_or_default();
    for at in [signature.len() / 2, signature.len().saturating_sub(1)] {
        for (to, from) in changed.iter_mut().zip(signature) {
            *to = *from;
        }
        changed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
        if scheme.verify(kernels, key, digest, changed) {
            return wrong("signature");
        }
    }
    if scheme.verify(kernels, key, other, signature) {
        return wrong("image");
    }
    let mut is_valid = false;
    let taken = Taken::by(NO_TAG, || {
        is_valid = scheme.verify(black_box(kernels), black_box(key), digest, black_box(signature));
    });
    if !is_valid {
        return wrong("genuine");
    }
    for part in ["verify ", way, " ", form, " ", scheme.name()] {
        console::print(part);
    }
    taken.print();
}

/// Prints words, and numbers after spaces.
fn print(words: &[&str], numbers: &[u64]) {
    words.iter().for_each(|word| console::print(word));
    for number in numbers {
        console::print(" ");
        console::print(Number::decimal(*number).as_str());
    }
}
