// What the command lines of all machines have in common.

#ifndef HARTLOCK_OPTIONS_H
#define HARTLOCK_OPTIONS_H

#include <cstdint>
#include <string>
#include <utility>

#include "slave.h"

// Exit codes of a machine.
constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kNotRun = 2;
constexpr int kTimeout = 3;

/// An unsigned number in C's notation. Throws if it is none.
std::uint64_t number(const std::string& text);

/// ADDRESS@CYCLES.
Stall stalled_page(const std::string& text);

/// FILE@ADDRESS.
std::pair<std::string, std::uint64_t> placed_file(const std::string& text);

#endif
