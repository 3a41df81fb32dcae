//! Hash kernels: one message, and as many messages as there are lanes.

use hartlock_kernels::sha2::{Sha256, Sha512};
use hartlock_kernels::sha3::Sha3_256;
use hartlock_kernels::{HashFamily, HashMany, Kernels, MAX_LANES, Tier};

use super::{MAX_LEN, Messages, Meter, Subject, use_up};

/// Returns true if the kernels hash like the portable ones, one message at a time and several.
pub fn are_right(kernels: &Kernels, family: HashFamily, messages: &Messages, len: usize) -> bool {
    match family {
        HashFamily::Sha256 => are_equal::<Sha256>(kernels, messages, len),
        HashFamily::Sha512 => are_equal::<Sha512>(kernels, messages, len),
        HashFamily::Keccak => are_equal::<Sha3_256>(kernels, messages, len),
    }
}

/// Measures the kernels of a tier.
pub fn measure(
    meter: &mut Meter<'_>,
    kernels: &Kernels,
    family: HashFamily,
    tier: Tier,
    messages: &Messages,
) {
    match family {
        HashFamily::Sha256 => forms::<Sha256>(meter, kernels, family, tier, "sha256", messages),
        HashFamily::Sha512 => forms::<Sha512>(meter, kernels, family, tier, "sha512", messages),
        HashFamily::Keccak => forms::<Sha3_256>(meter, kernels, family, tier, "sha3-256", messages),
    }
}

fn forms<H: HashMany>(
    meter: &mut Meter<'_>,
    kernels: &Kernels,
    family: HashFamily,
    tier: Tier,
    name: &'static str,
    messages: &Messages,
) {
    let bodies = bodies(messages, meter.arguments.message_len());
    let lanes = kernels.lanes(family);
    if kernels.tier(family) == tier {
        let subject = Subject { name, tier: tier.name(), form: "one", messages: 1 };
        meter.measure(&subject, || use_up(digest::<H>(kernels, bodies[0])));
    }
    if kernels.tier_of_many(family) == tier && lanes > 1 {
        let subject = Subject { name, tier: tier.name(), form: "many", messages: lanes };
        let bodies = bodies.get(..lanes).unwrap_or_default();
        let heads = [&[][..]; MAX_LANES];
        let heads = heads.get(..lanes).unwrap_or_default();
        meter.measure(&subject, || {
            H::digest_many(kernels, heads, bodies, &mut |_, digest| use_up(digest));
        });
    }
}

fn bodies(messages: &Messages, len: usize) -> [&[u8]; MAX_LANES] {
    let mut bodies = [&[][..]; MAX_LANES];
    for (body, message) in bodies.iter_mut().zip(messages.0.chunks(MAX_LEN)) {
        *body = message.get(..len).unwrap_or_default();
    }
    bodies
}

fn digest<H: HashMany>(kernels: &Kernels, body: &[u8]) -> H::Output {
    let mut hash = H::with(kernels);
    hash.update(body);
    hash.finalize()
}

fn are_equal<H: HashMany>(kernels: &Kernels, messages: &Messages, len: usize) -> bool {
    let bodies = bodies(messages, len);
    let wanted = bodies.map(|body| digest::<H>(&Kernels::PORTABLE, body));
    let mut is_right = digest::<H>(kernels, bodies[0]) == wanted[0];
    let mut count = 0_usize;
    let heads = [&[][..]; MAX_LANES];
    H::digest_many(kernels, &heads, &bodies, &mut |at, digest| {
        is_right &= wanted.get(at) == Some(&digest);
        count = count.wrapping_add(1);
    });
    is_right && count == MAX_LANES
}
