//! Registers of the engines: typed, and read or written as the hardware allows.
//!
//! A module is made by `cargo xtask regs` from the description of an engine (`hw/ip/<name>/data/<name>.rdl`).
//! It is a table, which macros turn into types (`tables.rs`), and holds no unsafe code. All unsafe code is here: the code that makes a [`Block`] guarantees its
//! address, and the rest follows. A register that can only be read has no `write`, and one that can only
//! be written no `read`; a register outside of its map does not compile.
//!
//! A type has the name of its map in front of its own (`AesCommand`), so that no name is defined twice.

#![no_std]
#![deny(unsafe_code, reason = "generated modules need none")]

#[cfg(test)]
extern crate std;

use core::marker::PhantomData;

#[macro_use]
mod tables;

pub mod aes;
pub mod axi_guard;
pub mod bignum;
pub mod boot_sequencer;
pub mod dma;
pub mod ed25519;
pub mod mailbox;
pub mod otp;
pub mod sha2;
pub mod sha3;
pub mod stream_writer;
pub mod xmss;

/// A map of registers, by a type that is only a name.
pub trait Map {
    /// In bytes.
    const SIZE: usize;
}

/// What a register holds, or takes: 32 bits with a meaning.
pub trait Value: Copy {
    /// Bits as they were read.
    fn from_bits(bits: u32) -> Self;
    /// Bits as they are written.
    fn to_bits(self) -> u32;
}

impl Value for u32 {
    fn from_bits(bits: u32) -> u32 {
        bits
    }

    fn to_bits(self) -> u32 {
        self
    }
}

/// A register that can be read.
pub trait Readable {}
/// A register that can be written.
pub trait Writable {}

/// Writing it is an error on the bus.
pub struct ReadOnly;
/// Reading it is an error on the bus.
pub struct WriteOnly;
/// Both are allowed.
pub struct ReadWrite;

impl Readable for ReadOnly {}
impl Writable for WriteOnly {}
impl Readable for ReadWrite {}
impl Writable for ReadWrite {}

/// As many ones as a field has bits, at the right end.
const fn ones(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

/// Registers at an address.
pub struct Block<M> {
    base: *mut u32,
    map: PhantomData<M>,
}

impl<M: Map> Block<M> {
    /// Registers from this address on.
    ///
    /// # Safety
    /// `base` is a multiple of four. For as long as the block is used, each of the `M::SIZE / 4` words
    /// from there on can be read and written with volatile accesses, and no reference to them exists.
    #[must_use]
    #[allow(unsafe_code, reason = "the caller guarantees the addresses")]
    pub const unsafe fn new(base: *mut u32) -> Block<M> {
        Block { base, map: PhantomData }
    }

    const fn register<const OFFSET: usize, V, A>(&self) -> Register<'_, V, A> {
        const { assert!(OFFSET.is_multiple_of(4) && OFFSET + 4 <= M::SIZE, "outside of the map") };
        Register { address: self.base.wrapping_byte_add(OFFSET), kind: PhantomData }
    }

    const fn array<const OFFSET: usize, V, A, const N: usize>(&self) -> Array<'_, V, A, N> {
        const { assert!(OFFSET.is_multiple_of(4) && OFFSET + 4 * N <= M::SIZE, "outside of the map") };
        Array { address: self.base.wrapping_byte_add(OFFSET), kind: PhantomData }
    }
}

/// A register of a block that lives.
pub struct Register<'a, V, A> {
    address: *mut u32,
    kind: PhantomData<(&'a (), V, A)>,
}

impl<V, A> Register<'_, V, A> {
    /// Its address, for code that has to survive a bus error.
    #[must_use]
    pub const fn as_ptr(&self) -> *mut u32 {
        self.address
    }
}

impl<V: Value, A: Readable> Register<'_, V, A> {
    /// Reads it, once, and in the order of the program.
    #[must_use]
    #[allow(unsafe_code, reason = "the block guarantees the address")]
    pub fn read(&self) -> V {
        // SAFETY: the address is inside of a block (checked when this was compiled), and the maker
        // of the block guaranteed that its words can be read for as long as it lives.
        V::from_bits(unsafe { self.address.read_volatile() })
    }
}

impl<V: Value, A: Writable> Register<'_, V, A> {
    /// Writes all of it, once, and in the order of the program.
    #[allow(unsafe_code, reason = "the block guarantees the address")]
    pub fn write(&self, value: V) {
        // SAFETY: as for `read`; the promise is about writing as well.
        unsafe { self.address.write_volatile(value.to_bits()) }
    }
}

impl<A: Writable> Register<'_, u32, A> {
    /// Writes only the lowest byte, with the byte enables of the bus. For windows where that has a separate
    /// meaning, such as the end of a message.
    #[allow(unsafe_code, reason = "the block guarantees the address")]
    pub fn write_byte(&self, byte: u8) {
        // SAFETY: as for `write`, of which this is a part: the lowest byte is at the address itself, on the
        // processors that there are (little endian).
        unsafe { self.address.cast::<u8>().write_volatile(byte) }
    }
}

impl<V: Value, A: Readable + Writable> Register<'_, V, A> {
    /// Reads it and writes what is made of that.
    pub fn modify(&self, change: impl FnOnce(V) -> V) {
        self.write(change(self.read()));
    }
}

/// Registers of one kind at consecutive addresses.
pub struct Array<'a, V, A, const N: usize> {
    address: *mut u32,
    kind: PhantomData<(&'a (), V, A)>,
}

impl<'a, V, A, const N: usize> Array<'a, V, A, N> {
    /// One of them, if there are so many.
    #[must_use]
    pub const fn get(&self, index: usize) -> Option<Register<'a, V, A>> {
        if index < N {
            Some(Register { address: self.address.wrapping_add(index), kind: PhantomData })
        } else {
            None
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Register<'a, V, A>> + use<'a, V, A, N> {
        let address = self.address;
        (0..N)
            .map(move |index| Register { address: address.wrapping_add(index), kind: PhantomData })
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    struct TestMap;

    impl Map for TestMap {
        const SIZE: usize = 16;
    }

    /// A block on memory of the test, which the test reads between accesses.
    #[allow(unsafe_code, reason = "the test guarantees the addresses")]
    fn block(words: &[Cell<u32>; 4]) -> Block<TestMap> {
        // SAFETY: four words, aligned; cells allow to be written through a shared reference, and the
        // tests end before the memory does.
        unsafe { Block::new(words.as_ptr().cast::<u32>().cast_mut()) }
    }

    #[test]
    fn a_register_is_the_word_at_its_offset() {
        let words = [1, 2, 3, 4].map(Cell::new);
        let block = block(&words);
        assert_eq!(block.register::<8, u32, ReadOnly>().read(), 3);
        block.register::<12, u32, WriteOnly>().write(9);
        block.register::<0, u32, ReadWrite>().modify(|value| value | 0x10);
        assert_eq!(words.map(Cell::into_inner), [0x11, 2, 3, 9]);
    }

    #[test]
    fn an_address_is_that_of_the_register() {
        let words = [1, 2, 3, 4].map(Cell::new);
        assert_eq!(block(&words).register::<4, u32, WriteOnly>().as_ptr(), words[1].as_ptr());
    }

    #[test]
    fn a_byte_leaves_the_others_of_its_word() {
        let words = [0x4433_2211; 4].map(Cell::new);
        block(&words).register::<4, u32, WriteOnly>().write_byte(0xff);
        assert_eq!(words.map(Cell::into_inner)[..2], [0x4433_2211, 0x4433_22ff]);
    }

    #[test]
    fn an_array_ends_where_it_ends() {
        let words = [1, 2, 3, 4].map(Cell::new);
        let block = block(&words);
        let array = block.array::<4, u32, ReadWrite, 2>();
        assert!(array.get(2).is_none());
        for (register, value) in array.iter().zip([7, 8, 9]) {
            register.write(value);
        }
        assert_eq!(array.get(1).map(|register| register.read()), Some(8));
        assert_eq!(words.map(Cell::into_inner), [1, 7, 8, 4]);
    }

    #[test]
    fn fields_keep_to_their_bits() {
        let request = mailbox::host::MailboxHostOperation::from_bits(0xabcd_1234);
        assert_eq!((request.operation(), request.flags()), (0x1234, 0xabcd));
        assert_eq!(request.with_operation(0).to_bits(), 0xabcd_0000);
        assert_eq!(request.with_flags(0).to_bits(), 0x1234);
        assert_eq!(request.with_flags(0xffff).to_bits(), 0xffff_1234);
        let status = mailbox::host::MailboxHostStatus::from_bits(0x103);
        assert_eq!(status.state(), Some(mailbox::MailboxState::Answered));
        assert!(status.refused());
        assert_eq!(mailbox::host::MailboxHostStatus::from_bits(5).state(), None);
    }
}
