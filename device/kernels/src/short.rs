//! Short messages, laid out as words and hashed several at a time: the messages of hash-based
//! signatures.
//!
//! A chain step or a tree node hashes a hundred bytes or so, thousands of times, and the blocks that
//! a compression function takes are known beforehand: no general `update` is needed. The user writes
//! each message with a [`Writer`], which pads it, and [`Hasher::digest`] writes the digests to the
//! place that a [`Sink`] names. As many messages are hashed at once as the kernels have lanes.
//! Messages and the hash values in work are stored in one [`Room`].
//!
//! [`Function::shape`] tells a user how messages of a length are padded, [`Hasher::lanes`] how many
//! to take at once. For each [`Job`] the user starts a [`Writer`] at its place, appends words and
//! finishes it. If all messages begin with the same block, [`Hasher::midstate`] computes the state after
//! it once.
//!
//! Everything is a word of eight bytes, little-endian, whatever the hash. Heads of messages that are
//! not a multiple of eight bytes long shift what follows, which costs registers and no bytes.

mod digest;
#[cfg(test)]
pub(crate) mod fake;
mod function;
mod room;
mod stream;
mod words;

pub(crate) use digest::{Hasher, Job, Sink};
pub(crate) use function::{Function, Shape};
#[cfg(feature = "xmss")]
pub(crate) use room::Prefix;
pub(crate) use room::{LANES, MESSAGES, Room, VALUE_WORDS, Writer};
pub(crate) use stream::Stream;
pub(crate) use words::{Words, be32, load, to_bytes};
