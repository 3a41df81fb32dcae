// Lines of a report about the root of trust, the same on all machines that have one.

#ifndef HARTLOCK_ROT_REPORT_H
#define HARTLOCK_ROT_REPORT_H

#include <cstdint>
#include <cstdio>

#include "trace.h"

/// The result of the boot: the pins of the boot sequencer, and the state of host and mailbox.
struct BootState {
    std::uint32_t status = 0;
    std::uint32_t reason = 0;
    bool is_host_running = false;
    /// The core detected a fault in itself, or took a double fault.
    bool is_alert = false;
    /// Of the mailbox, by the numbers of its register `status`.
    std::uint32_t mailbox = 0;

    bool operator==(const BootState&) const = default;
};

/// Each mark with the accesses since the previous one, then the whole run, which had `cycles`.
void report_rot(std::FILE* file, const Trace& trace, std::uint64_t cycles, const BootState& boot);

#endif
