// Lines of a report about the root of trust, the same on all machines that have one.

#ifndef HARTLOCK_ROT_REPORT_H
#define HARTLOCK_ROT_REPORT_H

#include <cstdint>
#include <cstdio>

#include "trace.h"

/// What the boot sequencer shows at its pins.
struct BootState {
    std::uint32_t status = 0;
    std::uint32_t reason = 0;
    bool is_host_running = false;
    /// The core found a fault in itself, or took a trap in a trap.
    bool is_alert = false;
};

/// Each mark with what was reached since the one before, then the whole run, which had `cycles`.
void report_rot(std::FILE* file, const Trace& trace, std::uint64_t cycles, const BootState& boot);

#endif
