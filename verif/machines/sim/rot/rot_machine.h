// The machine `rot`: the root of trust with host memory at its master port (hw/soc/README.md).

#ifndef HARTLOCK_ROT_MACHINE_H
#define HARTLOCK_ROT_MACHINE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines.h"
#include "memories.h"
#include "noise.h"
#include "ram.h"
#include "report.h"
#include "secret.h"
#include "slave.h"
#include "trace.h"
#include "verilated.h"

class Vrot;

/// In what a machine differs from the usual one.
struct Faults {
    /// The engine's digests are wrong.
    bool has_upset = false;
    /// The results of this engine are wrong.
    std::optional<Reading> result_upset;
    /// One of its engines detects an upset of its state.
    std::optional<Upset> state_upset;
    /// There are registers of the bench.
    bool has_bench = true;
    /// The noise source.
    Noise noise;
    /// The number of a fault, of which a model without mutants has none.
    std::uint64_t mutant = 0;
};

class RotMachine {
public:
    /// Loads a program and resets. An empty `trace_path` writes no trace.
    RotMachine(Ram& ram, const Timing& memory, const std::string& program,
               const std::string& trace_path, const Secret& secret, const Faults& faults);
    ~RotMachine();

    /// Runs one cycle. Throws if an assertion of the RTL fails.
    void step();

    /// Cycles since the end of reset.
    std::uint64_t cycle() const { return cycle_; }
    /// Set when the program has ended.
    const std::optional<std::uint32_t>& exit_code() const { return exit_code_; }
    const Trace& trace() const { return *trace_; }
    const Slave& memory() const { return memory_; }
    BootState boot() const;
    /// The signatures that the engine for them has judged.
    const std::vector<Judged>& judged() const { return engines_->judged(); }
    /// Words of the secret of the device that were read while it was open, and whether its latch is closed.
    std::uint64_t secret_words_shown() const { return secret_words_shown_; }
    bool is_secret_shut() const { return engines_->is_secret_shut(); }
    /// Writes what the scratchpad has to files, each when the instruction at its address retires for the first time.
    void save_scratchpad_at(std::vector<std::pair<std::string, std::uint64_t>> files) {
        saves_ = std::move(files);
    }
    /// Whether all of them were written.
    bool has_saved_all() const { return saves_.empty(); }

private:
    /// Evaluates the logic that depends on what was written inside the model.
    void settle();
    void write_bench(std::uint32_t offset, std::uint32_t value);

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vrot> top_;
    std::unique_ptr<Trace> trace_;
    std::unique_ptr<Engines> engines_;
    std::unique_ptr<RotMemories> memories_;
    Slave memory_;
    const bool has_upset_;
    const std::optional<Reading> result_upset_;
    const bool is_secret_open_;
    const std::optional<Upset> state_upset_;
    std::uint64_t cycle_ = 0;
    std::uint64_t secret_words_shown_ = 0;
    std::vector<std::pair<std::string, std::uint64_t>> saves_;
    std::optional<std::uint32_t> exit_code_;
    bool is_alert_ = false;
};

#endif
