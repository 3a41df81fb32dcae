//! As much of a C library as OpenSSL and wolfSSL call on their way to a verdict, on one hart
//! without an operating system: memory, strings, locks without contention, no files, no
//! environment, no clock.
//!
//! `memcpy`, `memset`, `strlen` and the like are the compiler's, as in every program that is measured here.
//! What else the libraries name is in [`absent`]: they are linked whole and use a part. A call of one of
//! these ends the program and says which, so no number comes of it.

extern crate alloc;

use alloc::alloc::{Layout, alloc, dealloc};
use core::arch::asm;
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::ptr::{null, null_mut};

use hartlock_virt::console::{self, Number};
use hartlock_virt::machine;

/// Variables of a thread, of which there is one. wolfSSL's are 47 kB, all zero at first.
#[repr(align(64))]
struct Thread(UnsafeCell<[u8; 64 << 10]>);

// SAFETY: one hart, and libraries alone use it.
unsafe impl Sync for Thread {}

static THREAD: Thread = Thread(UnsafeCell::new([0; 64 << 10]));

/// Has to be called before a library is.
pub fn start() {
    // SAFETY: the thread pointer; Rust uses it for nothing here.
    unsafe { asm!("mv tp, {}", in(reg) THREAD.0.get()) };
}

/// Header of each part of the heap: its size, because `free` does not pass it.
const SIZE_LEN: usize = 16;

fn layout(size: usize, align: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(align)?, align).ok()
}

/// A part of the heap, after its size. The bytes in front are as many as the alignment, at least
/// [`SIZE_LEN`].
fn give(size: usize, align: usize) -> *mut c_void {
    let Some(layout) = layout(size, align) else { return null_mut() };
    // SAFETY: the size is not zero, because the alignment is part of it.
    let start = unsafe { alloc(layout) };
    if start.is_null() {
        return null_mut();
    }
    let given = start.wrapping_add(align);
    let front = given.wrapping_sub(SIZE_LEN).cast::<[usize; 2]>();
    // SAFETY: inside, before the returned part, and aligned.
    unsafe { front.write([size, align]) };
    given.cast()
}

/// The header of a part of the heap: size and alignment.
///
/// # Safety
/// Of [`give`], and not taken back.
unsafe fn what(given: *mut c_void) -> [usize; 2] {
    let front = given.cast::<u8>().wrapping_sub(SIZE_LEN).cast::<[usize; 2]>();
    // SAFETY: as `give` wrote it.
    unsafe { front.read() }
}

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    give(size, SIZE_LEN)
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(size) else { return null_mut() };
    let given = malloc(size);
    if !given.is_null() {
        // SAFETY: that many bytes are there.
        unsafe { given.write_bytes(0, size) };
    }
    given
}

#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    let given = malloc(size);
    if !old.is_null() && !given.is_null() {
        // SAFETY: C says that it was given by one of these.
        let [len, _] = unsafe { what(old) };
        // SAFETY: both have that many bytes, and they are two parts.
        unsafe { given.copy_from_nonoverlapping(old, len.min(size)) };
        // SAFETY: the old part is not used any more.
        unsafe { free(old) };
    }
    given
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, align: usize, size: usize) -> c_int {
    const NO_MEMORY: c_int = 12;
    let given = give(size, align.max(SIZE_LEN));
    // SAFETY: C says that a pointer fits there.
    unsafe { to.write(given) };
    if given.is_null() { NO_MEMORY } else { 0 }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(given: *mut c_void) {
    if given.is_null() {
        return;
    }
    // SAFETY: C says that it was given by one of these.
    let [size, align] = unsafe { what(given) };
    let Some(layout) = layout(size, align) else { return };
    let start = given.cast::<u8>().wrapping_sub(align);
    // SAFETY: the layout with which it was given.
    unsafe { dealloc(start, layout) };
}

/// AWS-LC asks whether the program has these, and a name without an address is out of its reach here.
#[cfg(feature = "aws-lc")]
mod memory_of_aws_lc {
    use core::ffi::{c_int, c_void};

    #[unsafe(no_mangle)]
    extern "C" fn OPENSSL_memory_alloc(size: usize) -> *mut c_void {
        super::malloc(size)
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn OPENSSL_memory_realloc(old: *mut c_void, size: usize) -> *mut c_void {
        // SAFETY: C says that it was given by one of these.
        unsafe { super::realloc(old, size) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn OPENSSL_memory_free(given: *mut c_void) {
        // SAFETY: the same.
        unsafe { super::free(given) };
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn OPENSSL_memory_get_size(given: *mut c_void) -> usize {
        // SAFETY: the same.
        unsafe { super::what(given)[0] }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn sdallocx(given: *mut c_void, _: usize, _: c_int) {
        // SAFETY: the same.
        unsafe { super::free(given) };
    }
}

/// The bytes of two strings in pairs, up to the first zero of the first or up to the end.
///
/// # Safety
/// Two strings of C, or as many bytes.
unsafe fn difference(one: *const c_char, other: *const c_char, len: usize) -> c_int {
    for index in 0..len {
        let [one, other] = [one, other].map(|text| {
            // SAFETY: neither string ended before.
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
    // SAFETY: two strings.
    unsafe { difference(one, other, usize::MAX) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strncmp(one: *const c_char, other: *const c_char, len: usize) -> c_int {
    // SAFETY: two strings, or as many bytes.
    unsafe { difference(one, other, len) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char {
    // SAFETY: a string.
    let len = unsafe { CStr::from_ptr(from) }.count_bytes() + 1;
    // SAFETY: C says that it fits with its zero.
    unsafe { to.copy_from_nonoverlapping(from, len) };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strncpy(to: *mut c_char, from: *const c_char, len: usize) -> *mut c_char {
    let mut is_over = false;
    for index in 0..len {
        // SAFETY: the string did not end before.
        let byte = if is_over { 0 } else { unsafe { from.wrapping_add(index).read() } };
        is_over |= byte == 0;
        // SAFETY: C says that `len` bytes are there.
        unsafe { to.wrapping_add(index).write(byte) };
    }
    to
}

/// As memcpy, and the compiler knows how many bytes are there.
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
    // SAFETY: C says that both have that many bytes.
    unsafe { to.copy_from_nonoverlapping(from, len) };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strchr(text: *const c_char, wanted: c_int) -> *const c_char {
    // SAFETY: a string.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes_with_nul();
    let found = bytes.iter().position(|byte| *byte == wanted as u8);
    found.map_or(null(), |index| text.wrapping_add(index))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strrchr(text: *const c_char, wanted: c_int) -> *const c_char {
    // SAFETY: a string.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes_with_nul();
    let found = bytes.iter().rposition(|byte| *byte == wanted as u8);
    found.map_or(null(), |index| text.wrapping_add(index))
}

/// Text of strings and decimal numbers, which are all that is written. Returns how long it is without bounds.
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
            // SAFETY: C says that there is room for so many bytes.
            unsafe { to.wrapping_add(len).write(byte as c_char) };
        }
        len += 1;
    };
    // On this machine a list of arguments is a pointer to words.
    let mut argument = || {
        // SAFETY: C says that there is one for each conversion.
        let word = unsafe { arguments.read() };
        arguments = arguments.wrapping_add(1);
        word
    };
    // SAFETY: a string.
    let mut rest = unsafe { CStr::from_ptr(format) }.to_bytes().iter();
    while let Some(byte) = rest.next() {
        if *byte != b'%' {
            put(*byte);
            continue;
        }
        // Numbers are positive, and as wide as a word.
        match rest.find(|byte| !b"lz".contains(byte)) {
            Some(b'd' | b'u') => {
                Number::decimal(argument() as u64).as_str().bytes().for_each(&mut put);
            }
            Some(b's') => {
                let text = argument() as *const c_char;
                // SAFETY: a string, as C says of this conversion.
                unsafe { CStr::from_ptr(text) }.to_bytes().iter().for_each(|byte| put(*byte));
            }
            _ => absent("conversion like this in vsnprintf"),
        }
    }
    if room > 0 {
        // SAFETY: the same, and the end of the text or of the room.
        unsafe { to.wrapping_add(len.min(room - 1)).write(0) };
    }
    len as c_int
}

/// Not random, and always the same: what is blinded with it has the same result.
#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(to: *mut u8, len: usize) -> c_int {
    for index in 0..len {
        // SAFETY: C says that there is room for so many bytes.
        unsafe { to.wrapping_add(index).write(index as u8 ^ 0x5a) };
    }
    0
}

/// One thread, so one value for each.
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
    // SAFETY: C's word for it, zero at first.
    if unsafe { state.replace(1) } == 0 {
        work();
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_key_create(key: *mut u32, _: *const c_void) -> c_int {
    const NO_MORE: c_int = 11;
    // SAFETY: one hart.
    let next = unsafe { KEYS_IN_USE };
    if next as usize >= KEYS {
        return NO_MORE;
    }
    // SAFETY: one hart.
    unsafe { KEYS_IN_USE = next + 1 };
    // SAFETY: C says that a key fits there.
    unsafe { key.write(next) };
    0
}

/// The place of a key's value.
fn value(key: u32) -> *mut *mut c_void {
    (&raw mut VALUES).cast::<*mut c_void>().wrapping_add(key as usize % KEYS)
}

#[unsafe(no_mangle)]
extern "C" fn pthread_getspecific(key: u32) -> *mut c_void {
    // SAFETY: in the table, and one hart.
    unsafe { value(key).read() }
}

#[unsafe(no_mangle)]
extern "C" fn pthread_setspecific(key: u32, to: *mut c_void) -> c_int {
    // SAFETY: in the table, and one hart.
    unsafe { value(key).write(to) };
    0
}

// Of the compiler's library. Rust's own has them in C, for another passing of floating point numbers.

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

/// Functions that return a constant, whatever their arguments.
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

// There is one hart and no other thread.
answer!(c_int, 0, pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock pthread_mutex_unlock
    pthread_mutexattr_init pthread_mutexattr_destroy pthread_cond_init pthread_cond_destroy);
answer!(usize, 1, pthread_self);
answer!(c_int, 1, getpid);
// The program does not end before its machine.
answer!(c_int, 0, atexit);
// No file is there, no variable; the system knows of no extension and no call.
answer!(*const c_void, null(), fopen fopen64);
answer!(*const c_char, null(), getenv secure_getenv);
answer!(usize, 0, getauxval);
answer!(c_long, -1, syscall);
// Time does not pass: OpenSSL asks how old its random numbers are.
answer!(c_long, 1, time);

/// Ends the program.
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
