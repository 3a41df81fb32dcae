// Assertions of the RTL that fail while a machine runs (hw/soc/top/machine_assert.svh).

#ifndef HARTLOCK_ASSERTIONS_H
#define HARTLOCK_ASSERTIONS_H

#include <cstdio>
#include <stdexcept>

#include "verilated.h"

/// Leaves the end of a run to `check_assertions`: Verilator would abort the process.
inline void keep_running_after_assertions(VerilatedContext& context) {
    context.fatalOnError(false);
}

/// Throws if an assertion has failed. Verilator has printed its name to standard output.
inline void check_assertions(const VerilatedContext& context) {
    if (context.gotError()) {
        std::fflush(stdout);
        throw std::runtime_error("machine: an assertion of the RTL failed");
    }
}

#endif
