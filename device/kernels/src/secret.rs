//! Secrets in memory, and how nothing of them stays there.
//!
//! A secret is in places of two kinds. Some are variables of the program, which [`wipe`] overwrites; a [`Secret`] does
//! so when it is dropped. Others are chosen by the compiler: a register that is saved, a value that is moved, the block
//! of a hash that is copied. No statement of a program names these, so a function that uses a secret runs inside of
//! [`confined`], which overwrites the stack that it has used.
//!
//! `*bytes = black_box([0; N])` wipes nothing. The value is opaque to the compiler, but nobody reads the variable
//! afterwards, so that the store is left out. `cargo xtask boots wiped` searches the memory of linked stages.
//!
//! The crate `zeroize` makes the same stores as [`wipe`]. It is not used here, because boot stages link no code of
//! others, because a [`Secret`] takes ten lines, and because it has nothing in place of [`confined`].

use core::fmt;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{Ordering, compiler_fence};

/// Bytes of stack that [`confined`] overwrites. The deepest function that runs there, which reads the state of a device
/// with frames of 4,300 bytes in the ROM, needs about half.
const STACK: usize = 8192;

/// An integer of which secrets consist.
pub trait Word: Copy {
    /// The value after a wipe.
    const ZERO: Self;
}

impl Word for u8 {
    const ZERO: Self = 0;
}

impl Word for u32 {
    const ZERO: Self = 0;
}

impl Word for u64 {
    const ZERO: Self = 0;
}

/// Overwrites a secret with zeros. The stores are volatile, so that they are made although nobody reads the result.
#[inline(never)]
pub fn wipe<T: Word>(secret: &mut [T]) {
    for word in secret {
        // SAFETY: the reference is valid for a write of an integer.
        unsafe { core::ptr::from_mut(word).write_volatile(T::ZERO) };
    }
    // What follows must not be moved in front of the stores, such as the release of the memory.
    compiler_fence(Ordering::SeqCst);
}

/// Bytes of a secret, which are overwritten when the value is dropped.
///
/// Only a secret of zeros can be made, which is then filled in place. A move would leave a copy behind, so that a
/// function that returns a secret takes a reference to the place for it.
pub struct Secret<const N: usize>([u8; N]);

impl<const N: usize> Secret<N> {
    /// The secret before it is filled.
    pub const ZERO: Self = Self([0; N]);

    /// Returns the bytes.
    pub const fn bytes(&self) -> &[u8; N] {
        &self.0
    }
}

impl<const N: usize> Deref for Secret<N> {
    type Target = [u8; N];

    fn deref(&self) -> &[u8; N] {
        &self.0
    }
}

impl<const N: usize> DerefMut for Secret<N> {
    fn deref_mut(&mut self) -> &mut [u8; N] {
        &mut self.0
    }
}

impl<const N: usize> Drop for Secret<N> {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl<const N: usize> fmt::Debug for Secret<N> {
    /// Formats the type without the bytes.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}

/// Runs a function that uses a secret, and then overwrites the stack that it has used. The result must not be secret,
/// because it is moved; secrets are results by reference.
#[inline(never)]
pub fn confined<R>(work: impl FnOnce() -> R) -> R {
    let result = below(work);
    overwrite();
    result
}

/// Runs a function in a stack frame of its own, below that of the caller.
#[inline(never)]
fn below<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Overwrites the stack below that of the caller, which the function that the caller has called before has used.
#[inline(never)]
fn overwrite() {
    let mut lines = [[const { MaybeUninit::<u64>::uninit() }; 4]; STACK / 32];
    // SAFETY: the word is a variable of this function.
    let zero = |word: &mut MaybeUninit<u64>| unsafe { word.as_mut_ptr().write_volatile(0) };
    // Four words at a time, because the rest of the loop takes as long as two of its stores.
    for [a, b, c, d] in &mut lines {
        zero(a);
        zero(b);
        zero(c);
        zero(d);
    }
    compiler_fence(Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_zero_before_and_after() {
        let mut bytes = [0xa5_u8; 9];
        wipe(&mut bytes);
        assert_eq!(bytes, [0; 9]);
        let mut words = [u64::MAX; 3];
        wipe(&mut words);
        assert_eq!(words, [0; 3]);
    }

    #[test]
    fn a_dropped_secret_is_overwritten() {
        let mut place = core::mem::ManuallyDrop::new(Secret::<64>::ZERO);
        place.fill(0xa5);
        // SAFETY: the value is not used as a secret afterwards, and its bytes stay a valid array.
        unsafe { core::mem::ManuallyDrop::drop(&mut place) };
        assert_eq!(**place, [0; 64]);
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(std::format!("{:?}", Secret::<4>::ZERO), "Secret");
    }

    #[test]
    fn a_function_is_run_once_and_its_result_returned() {
        let mut runs = 0;
        let result = confined(|| {
            runs += 1;
            (1..=3).sum::<u32>()
        });
        assert_eq!((result, runs), (6, 1));
    }
}
