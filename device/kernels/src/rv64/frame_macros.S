// Prologue and epilogue of the scalar hash kernels: macros only, no code of their own.
//
// lp64 calling convention. The kernels keep all of their state in registers and leave alone only
// sp, gp and tp, so they have to save every register that a caller may expect back.
//
// Include this file before the kernels. A second inclusion in the same assembly unit, which
// link-time optimisation can make out of two, defines nothing twice.

.ifndef .L_HARTLOCK_FRAME_MACROS
.set .L_HARTLOCK_FRAME_MACROS, 1

// A register on the stack, and all thirteen of the macros below.
.set .L_SLOT_BYTES, 8
.set .L_SAVED_BYTES, 13 * .L_SLOT_BYTES

// Opens function \name in a section of its own, which the linker drops when nothing calls it.
// \extensions is what the code needs beyond the target of the crate, as `.option arch` takes it;
// the caller of the function has to know that the hart implements them.
.macro HARTLOCK_FUNCTION name, extensions:vararg
    // One section a function, and back to the caller's afterwards.
    .pushsection .text.\name, "ax", @progbits
    .globl  \name
    .hidden \name
    .type   \name, @function
    .option push
    // Only for this function: the attributes of the object file keep the target of the crate.
    .ifnb \extensions
    .option arch, \extensions
    .endif
    .balign 4
\name:
.endm

// Closes what HARTLOCK_FUNCTION opened.
.macro HARTLOCK_FUNCTION_END name
    .size   \name, . - \name
    .option pop
    .popsection
.endm

// Applies \store_or_load to ra and s0-s11 and their slots, from offset \saved of the frame. Both
// directions share the list, so that no register can be saved and forgotten.
.macro HARTLOCK_EACH_SAVED store_or_load, saved
    .set .L_slot, \saved
    .irp reg, ra, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    \store_or_load \reg, .L_slot(sp)
    .set .L_slot, .L_slot + .L_SLOT_BYTES
    .endr
.endm

// Takes \frame bytes of stack, a multiple of 16 as the ABI demands, and saves the registers.
// All data that the function keeps on the stack is above sp, where no trap handler writes.
.macro HARTLOCK_ENTER frame, saved
    addi  sp, sp, -(\frame)
    HARTLOCK_EACH_SAVED sd, \saved
.endm

// Restores the registers, gives back the frame that HARTLOCK_ENTER took, and returns. The frame is
// not wiped: it held public data only.
.macro HARTLOCK_LEAVE frame, saved
    HARTLOCK_EACH_SAVED ld, \saved
    addi  sp, sp, \frame
    ret
.endm

.endif
