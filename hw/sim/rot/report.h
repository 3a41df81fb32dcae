// Lines of a report about the root of trust, the same on all machines that have one.

#ifndef HARTLOCK_ROT_REPORT_H
#define HARTLOCK_ROT_REPORT_H

#include <cstdint>
#include <cstdio>

#include "trace.h"

/// What became of the boot: what the boot sequencer shows at its pins, and who is served.
struct BootState {
    std::uint32_t status = 0;
    std::uint32_t reason = 0;
    bool is_host_running = false;
    /// The core found a fault in itself, or took a trap in a trap.
    bool is_alert = false;
    /// Not of the sequencer: by the numbers of the mailbox's register `status`.
    std::uint32_t mailbox = 0;
};

/// Each mark with what was reached since the one before, then the whole run, which had `cycles`.
void report_rot(std::FILE* file, const Trace& trace, std::uint64_t cycles, const BootState& boot);

#endif
