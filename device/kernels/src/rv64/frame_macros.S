// Prologue and epilogue of the scalar hash kernels. This file has only macros and no code.
//
// The calling convention is lp64. The kernels keep all of their state in registers and use all
// registers except for sp, gp and tp. Therefore they save every register that a caller expects to
// be preserved.
//
// Include this file before the kernels. A second inclusion in the same assembly unit, which can
// happen if link-time optimization merges two units, has no effect.

.ifndef .L_HARTLOCK_FRAME_MACROS
.set .L_HARTLOCK_FRAME_MACROS, 1

// Size of a register on the stack, and of all thirteen registers that the macros below save.
.set .L_SLOT_BYTES, 8
.set .L_SAVED_BYTES, 13 * .L_SLOT_BYTES

// Starts function \name in a section of its own, which the linker drops if nothing calls the
// function. \extensions are the extensions that the code needs beyond the target of the crate, in
// the form of `.option arch`. The caller of the function must know that the hart implements them.
.macro HARTLOCK_FUNCTION name, extensions:vararg
    // Each function has its own section. Afterwards the section of the including file is active
    // again.
    .pushsection .text.\name, "ax", @progbits
    .globl  \name
    .hidden \name
    .type   \name, @function
    .option push
    // The option applies only to this function. The attributes of the object file keep the target
    // of the crate.
    .ifnb \extensions
    .option arch, \extensions
    .endif
    .balign 4
\name:
.endm

// Ends the function that HARTLOCK_FUNCTION started.
.macro HARTLOCK_FUNCTION_END name
    .size   \name, . - \name
    .option pop
    .popsection
.endm

// Applies \store_or_load to ra and s0-s11 and their slots, from offset \saved of the frame. Saving
// and restoring use the same list, so that it cannot differ.
.macro HARTLOCK_EACH_SAVED store_or_load, saved
    .set .L_slot, \saved
    .irp reg, ra, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    \store_or_load \reg, .L_slot(sp)
    .set .L_slot, .L_slot + .L_SLOT_BYTES
    .endr
.endm

// Allocates \frame bytes of stack, a multiple of 16 as the ABI requires, and saves the registers.
// All stack data of the function are above sp, where no trap handler writes.
.macro HARTLOCK_ENTER frame, saved
    addi  sp, sp, -(\frame)
    HARTLOCK_EACH_SAVED sd, \saved
.endm

// Restores the registers, releases the frame of HARTLOCK_ENTER, and returns. The frame is not
// wiped, because it contained only public data.
.macro HARTLOCK_LEAVE frame, saved
    HARTLOCK_EACH_SAVED ld, \saved
    addi  sp, sp, \frame
    ret
.endm

.endif
