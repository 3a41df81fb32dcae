// The cycles of each hart by cause, sampled at its pipeline.
//
// The signals are named in observe.vlt. They are looked up by name once, so the same code serves
// every configuration.

#ifndef HARTLOCK_HARTS_H
#define HARTLOCK_HARTS_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "verilated.h"

/// Each cycle of a hart is one of these: an instruction leaves the decode stage, or the cause why none does.
/// Issued instructions that did not retire were on a wrong path or were replayed.
enum Slot : std::size_t {
    kIssued,
    /// The next instruction is on the wrong path: a branch was mispredicted, or an
    /// instruction has to be replayed.
    kRedirected,
    /// The fetch stage is empty: instruction cache, or the bubble after a taken branch.
    kStarved,
    /// `wfi`.
    kWaiting,
    /// An operand is one or two cycles away: the result of a load, of a multiplication.
    kInterlocked,
    /// An operand is further away: a load that missed, a division.
    kMissed,
    /// A memory access has to wait for the data cache.
    kBlocked,
    /// Fences, the hint `pause`, a busy divider, floating point, CSRs.
    kOther,
    kSlotCount,
};

extern const char* const kSlotNames[kSlotCount];

struct HartCounts {
    std::uint64_t retired = 0;
    std::array<std::uint64_t, kSlotCount> slots{};

    HartCounts operator-(const HartCounts& earlier) const;
};

/// All harts of a model.
class Harts {
public:
    /// Finds the harts of the core at `scope`. Throws if a signal has another name, or there are none.
    Harts(VerilatedContext& context, const std::string& scope);

    /// Counts a cycle. Call once in each, when all signals have settled.
    void observe();

    const std::vector<HartCounts>& counts() const { return counts_; }

    /// Address of the last instruction of each hart.
    std::vector<std::uint64_t> program_counters() const;

private:
    struct Signals {
        const std::uint8_t* retired;
        const std::uint8_t* waiting;
        const std::uint8_t* killed;
        const std::uint8_t* redirected;
        const std::uint8_t* has_instruction;
        const std::uint8_t* hazard_execute;
        const std::uint8_t* hazard_memory;
        const std::uint8_t* hazard_writeback;
        const std::uint8_t* hazard_scoreboard;
        const std::uint8_t* cache_blocked;
        const std::uint64_t* program_counter;
    };

    static Slot slot_of(const Signals& hart);

    std::vector<Signals> signals_;
    std::vector<HartCounts> counts_;
};

#endif
