// Every instruction that Ibex retires, with the cycles that it took (RISC-V Formal Interface).
//
// The cost of an instruction is the number of cycles since the previous one retired. So a delay of the
// arrival of an instruction, above all by a taken branch, is counted with the delayed instruction.

#ifndef HARTLOCK_TRACE_H
#define HARTLOCK_TRACE_H

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "verilated.h"

/// Targets of loads and stores.
enum Place : std::size_t {
    kRom,
    kScratchpad,
    kRegisters,
    kHost,
    kPlaceCount,
};

extern const char* const kPlaceNames[kPlaceCount];

/// Loads and stores of one place that succeeded.
struct AccessCounts {
    std::uint64_t count = 0;
    std::uint64_t cycles = 0;
    std::uint64_t min = ~std::uint64_t{0};
    std::uint64_t max = 0;
};

using Accesses = std::array<AccessCounts, kPlaceCount>;

/// Where the program wrote to the bench's MARK.
struct Mark {
    std::uint32_t tag;
    std::uint64_t cycle;
    /// Since the mark before.
    Accesses accesses;
};

class Trace {
public:
    /// Finds the core below `scope`. With a path, writes a line for each instruction there. Throws if a
    /// signal is missing or the file cannot be written.
    Trace(VerilatedContext& context, const std::string& scope, const std::string& path);
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// Samples a cycle, when all signals have settled.
    void observe(std::uint64_t cycle);

    std::uint64_t retired() const { return retired_; }
    std::uint32_t program_counter() const { return program_counter_; }
    /// Since the start.
    const Accesses& accesses() const { return accesses_; }
    const std::vector<Mark>& marks() const { return marks_; }

private:
    void count_access(std::uint32_t address, std::uint64_t cost);
    void write_line(std::uint64_t cycle, std::uint64_t cost) const;

    const std::uint8_t* valid_;
    const std::uint8_t* trap_;
    /// Bytes of an access; that of stores is the same (rvfi_mem_wmask).
    const std::uint8_t* mask_;
    const std::uint32_t* instruction_;
    const std::uint32_t* pc_;
    const std::uint32_t* address_;
    const std::uint32_t* written_;
    std::FILE* file_ = nullptr;
    std::uint64_t retired_ = 0;
    std::uint64_t last_cycle_ = 0;
    std::uint32_t program_counter_ = 0;
    Accesses accesses_{};
    Accesses since_mark_{};
    std::vector<Mark> marks_;
};

#endif
