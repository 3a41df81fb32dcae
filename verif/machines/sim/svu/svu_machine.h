// The machine `svu-1`: a verification unit, its medium and its host (hw/soc/README.md).

#ifndef HARTLOCK_SVU_MACHINE_H
#define HARTLOCK_SVU_MACHINE_H

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "medium.h"
#include "verilated.h"

class Vsvu;

/// A state of the unit that is forced, in one cycle.
struct StateUpset {
    std::uint8_t state = 0;
    std::uint64_t cycle = 0;
};

/// What the unit did in a part of its sequence.
struct Phase {
    const char* name = "";
    std::uint64_t start = 0;
    std::uint64_t cycles = 0;
    /// Words of the image that passed, and cycles in which there was none, or in which one waited.
    std::uint64_t words = 0;
    std::uint64_t for_medium = 0;
    std::uint64_t for_engine = 0;
};

class SvuMachine {
public:
    /// Provisions the device and resets. `cells` are the rows of one-time-programmable storage.
    SvuMachine(Medium& medium, const std::vector<std::uint64_t>& cells, std::uint64_t mutant,
               const std::optional<StateUpset>& upset, const std::string& trace_path);
    ~SvuMachine();

    /// Runs one cycle. Throws if an assertion of the RTL fails.
    void step();

    std::uint64_t cycle() const { return cycle_; }
    const std::optional<std::uint32_t>& exit_code() const { return exit_code_; }
    /// Status and reason of the boot sequencer, and the cycle in which it decided.
    std::uint32_t status() const;
    std::uint32_t reason() const;
    bool is_decided() const { return decided_.has_value(); }
    std::uint64_t decided() const { return decided_.value_or(0); }
    bool has_alert() const { return has_alert_; }
    /// Cycles in which the host was not in reset, and instructions that it retired.
    std::uint64_t host_cycles() const { return host_cycles_; }
    std::uint64_t retired() const { return retired_; }
    std::uint32_t program_counter() const { return program_counter_; }
    /// When the first instruction retired; 0 if none did.
    std::uint64_t first_instruction() const { return first_instruction_; }
    const std::vector<Phase>& phases() const { return phases_; }
    const std::vector<std::pair<std::uint32_t, std::uint64_t>>& marks() const { return marks_; }

private:
    void observe();
    void observe_phase();
    void write_bench(std::uint32_t offset, std::uint32_t value);

    Medium& medium_;
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vsvu> top_;
    std::uint8_t* state_;
    const std::uint8_t* word_is_there_;
    const std::uint8_t* word_passes_;
    const std::uint8_t* retires_;
    const std::uint8_t* traps_;
    const std::uint32_t* instruction_;
    const std::uint32_t* pc_;
    std::FILE* trace_ = nullptr;
    const std::optional<StateUpset> upset_;
    std::uint64_t cycle_ = 0;
    std::optional<std::uint64_t> decided_;
    std::optional<std::uint32_t> exit_code_;
    bool has_alert_ = false;
    std::uint64_t host_cycles_ = 0;
    std::uint64_t retired_ = 0;
    std::uint64_t first_instruction_ = 0;
    std::uint32_t program_counter_ = 0;
    std::uint8_t last_state_ = 0;
    std::vector<Phase> phases_;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> marks_;
};

#endif
