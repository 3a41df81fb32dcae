// Where the cycles of each hart go, seen at its pipeline.
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

/// Each cycle of a hart is one of these: an instruction leaves the decode stage, or why none does. What
/// was issued and is not among the retired was done in vain, on a wrong path or to be done again.
enum Slot : std::size_t {
    kIssued,
    /// The instruction that is waited for would be the wrong one: a branch was mispredicted, or an
    /// instruction has to be done again.
    kRedirected,
    /// The fetch stage has nothing: instruction cache, or the gap behind a taken branch.
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
