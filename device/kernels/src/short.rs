//! Short messages of hash-based signatures, which are laid out as words and hashed several at a time.
//!
//! A chain step or a tree node hashes about a hundred bytes, and a signature needs thousands of them. The layout of
//! the blocks is known beforehand, so a general `update` is not necessary. The caller writes each message with a
//! [`Writer`], which also pads it. [`SignatureHasher::digest`] writes the digests to the location that a [`Sink`] specifies.
//! The kernels hash as many messages at once as they have lanes. A [`Room`] stores the messages and the current hash
//! values.
//!
//! [`Function::shape`] returns the padding of messages of a given length, and [`SignatureHasher::lanes`] returns how many
//! messages to hash at once. For each [`Job`] the caller creates a [`Writer`] at the location of its message, appends
//! words and finishes the message. If all messages begin with the same block, [`SignatureHasher::midstate`] computes the hash
//! state after this block once.
//!
//! All data are little-endian words of eight bytes, for every hash function. If the length of a message head is not a
//! multiple of eight bytes, the words after it are shifted.

mod digest;
#[cfg(test)]
pub(crate) mod fake;
mod function;
mod room;
mod stream;
mod words;

pub(crate) use digest::{Job, SignatureHasher, Sink};
pub(crate) use function::{Function, Shape};
#[cfg(feature = "xmss")]
pub(crate) use room::Prefix;
pub(crate) use room::{LANES, MESSAGES, Room, VALUE_WORDS, Writer};
pub(crate) use stream::Stream;
pub(crate) use words::{Words, be32, load, to_bytes};
