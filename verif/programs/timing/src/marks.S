// void timing_subject(void);
// void timing_begin(void);
// void timing_begin_confined(void);
// void timing_end(void);
//
// Functions without effect, whose addresses are the marks of an observer: the runs of another computation begin, a run
// begins, one begins that is observed in part, a run has ended. This file needs RV64I. Nothing is clobbered.

.section .text.timing_marks, "ax", @progbits
.globl timing_subject
timing_subject:
    ret

.globl timing_begin
timing_begin:
    ret

.globl timing_begin_confined
timing_begin_confined:
    ret

.globl timing_end
timing_end:
    ret
