//! The functions of a C library that OpenSSL, wolfSSL and AWS-LC call for a verification, on one hart without
//! an operating system: memory, strings, and locks without contention. There are no files, environment
//! variables and clock.
//!
//! `memcpy`, `memset`, `strlen` and similar functions come from the compiler, as in all programs that are
//! measured here. Other functions to which the libraries refer are in [`absent`], because the libraries are
//! linked as a whole but only partly used. A call of one of them ends the program with its name, so that no
//! wrong number is reported.

extern crate alloc;

use alloc::alloc::{Layout, alloc, dealloc};
use core::arch::asm;
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::ptr::{null, null_mut};

use hartlock_virt::console::{self, Number};
use hartlock_virt::machine;

/// Thread-local variables of the only thread. Those of wolfSSL have 47 kB, and all are zero at the start.
#[repr(align(64))]
struct Thread(UnsafeCell<[u8; 64 << 10]>);

// SAFETY: there is one hart, and only the libraries use the memory.
unsafe impl Sync for Thread {}

static THREAD: Thread = Thread(UnsafeCell::new([0; 64 << 10]));

/// Sets the thread pointer. The function must be called before a library is used.
pub fn start() {
    // SAFETY: Rust does not use the thread pointer here.
    unsafe { asm!("mv tp, {}", in(reg) THREAD.0.get()) };
}

/// Length in bytes of the header of each allocation. It stores the size, because `free` does not pass it.
const SIZE_LEN: usize = 16;

fn layout(size: usize, align: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(align)?, align).ok()
}

/// Allocates memory. The returned pointer is preceded by as many bytes as the alignment, at least
/// [`SIZE_LEN`], which contain the header.
fn allocate(size: usize, align: usize) -> *mut c_void {
    let Some(layout) = layout(size, align) else { return null_mut() };
    // SAFETY: the size is not zero, because it includes the alignment.
    let start = unsafe { alloc(layout) };
    if start.is_null() {
        return null_mut();
    }
    let given = start.wrapping_add(align);
    let front = given.wrapping_sub(SIZE_LEN).cast::<[usize; 2]>();
    // SAFETY: the header is inside the allocation, before the returned part, and aligned.
    unsafe { front.write([size, align]) };
    given.cast()
}

/// Returns the header of an allocation: size and alignment.
///
/// # Safety
/// The pointer must come from [`allocate`] and must not have been freed.
unsafe fn header_of(given: *mut c_void) -> [usize; 2] {
    let front = given.cast::<u8>().wrapping_sub(SIZE_LEN).cast::<[usize; 2]>();
    // SAFETY: `allocate` wrote the header.
    unsafe { front.read() }
}

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    allocate(size, SIZE_LEN)
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(size) else { return null_mut() };
    let given = malloc(size);
    if !given.is_null() {
        // SAFETY: the allocation has that many bytes.
        unsafe { given.write_bytes(0, size) };
    }
    given
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    let given = malloc(size);
    if !old.is_null() && !given.is_null() {
        // SAFETY: C requires that the pointer comes from one of these functions.
        let [len, _] = unsafe { header_of(old) };
        // SAFETY: both allocations have that many bytes, and they do not overlap.
        unsafe { given.copy_from_nonoverlapping(old, len.min(size)) };
        // SAFETY: the old allocation is not used any more.
        unsafe { free(old) };
    }
    given
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, align: usize, size: usize) -> c_int {
    const NO_MEMORY: c_int = 12;
    let given = allocate(size, align.max(SIZE_LEN));
    // SAFETY: C requires that there is space for a pointer.
    unsafe { to.write(given) };
    if given.is_null() { NO_MEMORY } else { 0 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(given: *mut c_void) {
    if given.is_null() {
        return;
    }
    // SAFETY: C requires that the pointer comes from one of these functions.
    let [size, align] = unsafe { header_of(given) };
    let Some(layout) = layout(size, align) else { return };
    let start = given.cast::<u8>().wrapping_sub(align);
    // SAFETY: this is the layout of the allocation.
    unsafe { dealloc(start, layout) };
}

/// AWS-LC refers to these functions as weak symbols. They are defined, because the address of an undefined
/// symbol is out of range in this memory model.
#[cfg(feature = "aws-lc")]
mod memory_of_aws_lc {
    use core::ffi::{c_int, c_void};

    #[unsafe(no_mangle)]
    extern "C" fn OPENSSL_memory_alloc(size: usize) -> *mut c_void {
        super::malloc(size)
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn OPENSSL_memory_realloc(old: *mut c_void, size: usize) -> *mut c_void {
        // SAFETY: C requires that the pointer comes from one of these functions.
        unsafe { super::realloc(old, size) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn OPENSSL_memory_free(given: *mut c_void) {
        // SAFETY: C requires that the pointer comes from one of these functions.
        unsafe { super::free(given) };
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn OPENSSL_memory_get_size(given: *mut c_void) -> usize {
        // SAFETY: C requires that the pointer comes from one of these functions.
        unsafe { super::header_of(given)[0] }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn sdallocx(given: *mut c_void, _: usize, _: c_int) {
        // SAFETY: C requires that the pointer comes from one of these functions.
        unsafe { super::free(given) };
    }
}

/// Compares the bytes of two strings up to the end of the first one, or `len` bytes. Returns the first
/// difference.
///
/// # Safety
/// Both pointers must be to C strings, or to `len` bytes.
unsafe fn difference(one: *const c_char, other: *const c_char, len: usize) -> c_int {
    for index in 0..len {
        let [one, other] = [one, other].map(|text| {
            // SAFETY: neither string has ended before this index.
            c_int::from(unsafe { text.wrapping_add(index).read() })
        });
        if one != other || one == 0 {
            return one - other;
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strcmp(one: *const c_char, other: *const c_char) -> c_int {
    // SAFETY: C requires that both pointers are to strings.
    unsafe { difference(one, other, usize::MAX) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strncmp(one: *const c_char, other: *const c_char, len: usize) -> c_int {
    // SAFETY: C requires that both pointers are to strings or to `len` bytes.
    unsafe { difference(one, other, len) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char {
    // SAFETY: C requires that the pointer is to a string.
    let len = unsafe { CStr::from_ptr(from) }.count_bytes() + 1;
    // SAFETY: C requires that there is space for the string and its final zero.
    unsafe { to.copy_from_nonoverlapping(from, len) };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strncpy(to: *mut c_char, from: *const c_char, len: usize) -> *mut c_char {
    let mut is_over = false;
    for index in 0..len {
        // SAFETY: the string has not ended before this index.
        let byte = if is_over { 0 } else { unsafe { from.wrapping_add(index).read() } };
        is_over |= byte == 0;
        // SAFETY: C requires that there is space for `len` bytes.
        unsafe { to.wrapping_add(index).write(byte) };
    }
    to
}

/// Same as `memcpy`, with the size of the destination, which the compiler knows.
#[unsafe(no_mangle)]
unsafe extern "C" fn __memcpy_chk(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    room: usize,
) -> *mut c_void {
    if len > room {
        absent("room for __memcpy_chk");
    }
    // SAFETY: C requires that both pointers are to that many bytes.
    unsafe { to.copy_from_nonoverlapping(from, len) };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strchr(text: *const c_char, wanted: c_int) -> *const c_char {
    // SAFETY: C requires that the pointer is to a string.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes_with_nul();
    let found = bytes.iter().position(|byte| *byte == wanted as u8);
    found.map_or(null(), |index| text.wrapping_add(index))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strrchr(text: *const c_char, wanted: c_int) -> *const c_char {
    // SAFETY: C requires that the pointer is to a string.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes_with_nul();
    let found = bytes.iter().rposition(|byte| *byte == wanted as u8);
    found.map_or(null(), |index| text.wrapping_add(index))
}

/// Formats strings and decimal numbers, which are the only conversions that are used. Returns the length of
/// the complete text.
#[unsafe(no_mangle)]
unsafe extern "C" fn vsnprintf(
    to: *mut c_char,
    room: usize,
    format: *const c_char,
    mut arguments: *const usize,
) -> c_int {
    let mut len = 0;
    let mut put = |byte: u8| {
        if len + 1 < room {
            // SAFETY: C requires that there is space for `room` bytes.
            unsafe { to.wrapping_add(len).write(byte as c_char) };
        }
        len += 1;
    };
    // On this machine, a `va_list` is a pointer to words.
    let mut argument = || {
        // SAFETY: C requires one argument for each conversion.
        let word = unsafe { arguments.read() };
        arguments = arguments.wrapping_add(1);
        word
    };
    // SAFETY: C requires that the pointer is to a string.
    let mut rest = unsafe { CStr::from_ptr(format) }.to_bytes().iter();
    while let Some(byte) = rest.next() {
        if *byte != b'%' {
            put(*byte);
            continue;
        }
        // All numbers are positive and as wide as a word.
        match rest.find(|byte| !b"lz".contains(byte)) {
            Some(b'd' | b'u') => {
                Number::decimal(argument() as u64).as_str().bytes().for_each(&mut put);
            }
            Some(b's') => {
                let text = argument() as *const c_char;
                // SAFETY: C requires a string for this conversion.
                unsafe { CStr::from_ptr(text) }.to_bytes().iter().for_each(|byte| put(*byte));
            }
            _ => absent("conversion like this in vsnprintf"),
        }
    }
    if room > 0 {
        // SAFETY: C requires that there is space for `room` bytes; the index is the end of the text or the
        // last byte.
        unsafe { to.wrapping_add(len.min(room - 1)).write(0) };
    }
    len as c_int
}

/// Returns bytes that are not random and always the same, so that computations which are blinded with them
/// take the same number of instructions.
#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(to: *mut u8, len: usize) -> c_int {
    for index in 0..len {
        // SAFETY: C requires that there is space for `len` bytes.
        unsafe { to.wrapping_add(index).write(index as u8 ^ 0x5a) };
    }
    0
}

/// Maximum number of thread-specific values. There is one thread, so each key has one value.
const KEYS: usize = 64;
static mut VALUES: [*mut c_void; KEYS] = [null_mut(); KEYS];
static mut KEYS_IN_USE: u32 = 0;
static mut ERRNO: c_int = 0;

#[unsafe(no_mangle)]
extern "C" fn __errno_location() -> *mut c_int {
    &raw mut ERRNO
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_once(state: *mut c_int, work: extern "C" fn()) -> c_int {
    // SAFETY: C requires a valid pointer; the value is zero at first.
    if unsafe { state.replace(1) } == 0 {
        work();
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_key_create(key: *mut u32, _: *const c_void) -> c_int {
    const NO_MORE: c_int = 11;
    // SAFETY: there is one hart.
    let next = unsafe { KEYS_IN_USE };
    if next as usize >= KEYS {
        return NO_MORE;
    }
    // SAFETY: there is one hart.
    unsafe { KEYS_IN_USE = next + 1 };
    // SAFETY: C requires that there is space for a key.
    unsafe { key.write(next) };
    0
}

/// Returns a pointer to the value of a key.
fn value(key: u32) -> *mut *mut c_void {
    (&raw mut VALUES).cast::<*mut c_void>().wrapping_add(key as usize % KEYS)
}

#[unsafe(no_mangle)]
extern "C" fn pthread_getspecific(key: u32) -> *mut c_void {
    // SAFETY: the pointer is into the table, and there is one hart.
    unsafe { value(key).read() }
}

#[unsafe(no_mangle)]
extern "C" fn pthread_setspecific(key: u32, to: *mut c_void) -> c_int {
    // SAFETY: the pointer is into the table, and there is one hart.
    unsafe { value(key).write(to) };
    0
}

// These functions belong to the compiler's support library. Rust's version has them in C code with another
// floating-point calling convention.

#[unsafe(no_mangle)]
extern "C" fn __bswapsi2(word: u32) -> u32 {
    word.swap_bytes()
}

#[unsafe(no_mangle)]
extern "C" fn __bswapdi2(word: u64) -> u64 {
    word.swap_bytes()
}

#[unsafe(no_mangle)]
extern "C" fn __ctzdi2(word: u64) -> c_int {
    word.trailing_zeros() as c_int
}

/// Defines functions that return a constant, whatever their arguments are.
macro_rules! answer {
    ($type:ty, $answer:expr, $($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> $type {
                $answer
            }
        )*
    };
}

// There is one hart and only one thread.
answer!(c_int, 0, pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_unlock
    pthread_mutexattr_init pthread_mutexattr_destroy pthread_cond_init pthread_cond_destroy);
answer!(usize, 1, pthread_self);
answer!(c_int, 1, getpid);
// The program runs until the machine ends.
answer!(c_int, 0, atexit);
// There are no files and environment variables, and the system reports no extensions and has no system calls.
answer!(*const c_void, null(), fopen fopen64);
answer!(*const c_char, null(), getenv secure_getenv);
answer!(usize, 0, getauxval);
answer!(c_long, -1, syscall);
// Time does not advance: OpenSSL asks for the age of its random numbers.
answer!(c_long, 1, time);

/// Ends the program with the name of a missing function.
fn absent(name: &str) -> ! {
    console::line(&["libc: there is no ", name]);
    machine::end(1)
}

macro_rules! absent {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> ! {
                absent(stringify!($name))
            }
        )*
    };
}

absent!(
    ZSTD_CStreamInSize ZSTD_DStreamInSize ZSTD_compress ZSTD_compressStream2 ZSTD_createCStream_advanced
    ZSTD_createDStream_advanced ZSTD_decompress ZSTD_decompressStream ZSTD_endStream ZSTD_flushStream
    ZSTD_freeCStream ZSTD_freeDStream ZSTD_getErrorName ZSTD_initCStream ZSTD_initDStream ZSTD_isError
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __fdelt_chk __fprintf_chk __isoc23_strtol
    __isoc99_sscanf __memset_chk __vfprintf_chk __xpg_strerror_r _longjmp _setjmp abort
    accept bind clock_gettime close closedir compress connect deflate deflateEnd deflateInit_ dladdr
    dlclose dlerror dlopen dlsym fclose feof ferror fflush fgets fileno fputc fputs fread freeaddrinfo
    fseek fstat ftell fwrite gai_strerror getaddrinfo getcontext gethostbyname getnameinfo getpeername
    getsockname getsockopt gettimeofday gmtime_r inflate inflateEnd inflateInit_ ioctl listen madvise
    makecontext memchr mlock mmap mprotect munmap nanosleep open opendir poll pthread_attr_destroy
    pthread_attr_init pthread_attr_setdetachstate pthread_cond_broadcast pthread_cond_signal
    pthread_cond_timedwait pthread_cond_wait pthread_create pthread_exit pthread_join pthread_key_delete
    pthread_mutex_trylock qsort read readdir recvfrom recvmmsg recvmsg select sendmmsg sendmsg sendto
    setcontext setsockopt shmat shmdt shmget shutdown sigaction signal socket stat strcat
    strcspn strdup strpbrk strspn strstr strtol strtoul sysconf tcgetattr tcsetattr
    uname uncompress write zError
    fprintf perror snprintf sscanf
    __memmove_chk __snprintf_chk __sprintf_chk __strcat_chk __strncat_chk __strncpy_chk
    __vsnprintf_chk fcntl inet_pton log mktime pow pthread_detach recv send strcasecmp strncasecmp strncat
);

#[unsafe(no_mangle)]
static stderr: usize = 0;
#[unsafe(no_mangle)]
static stdin: usize = 0;
