// The machine `rot`: the root of trust with host memory at its master port (hw/soc/README.md).

#ifndef HARTLOCK_ROT_MACHINE_H
#define HARTLOCK_ROT_MACHINE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engines.h"
#include "memories.h"
#include "ram.h"
#include "report.h"
#include "slave.h"
#include "trace.h"
#include "verilated.h"

class Vrot;

/// In what a machine differs from the usual one.
struct Faults {
    /// The engine's digests are wrong.
    bool has_upset = false;
    /// One of its engines detects an upset of its state.
    std::optional<Upset> state_upset;
    /// There are registers of the bench.
    bool has_bench = true;
    /// The number of a fault, of which a model without mutants has none.
    std::uint64_t mutant = 0;
};

class RotMachine {
public:
    /// Loads a program and resets. An empty `trace_path` writes no trace.
    RotMachine(Ram& ram, const Timing& memory, const std::string& program,
               const std::string& trace_path, const Faults& faults);
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

private:
    void write_bench(std::uint32_t offset, std::uint32_t value);

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vrot> top_;
    std::unique_ptr<Trace> trace_;
    std::unique_ptr<Engines> engines_;
    Slave memory_;
    const bool has_upset_;
    const std::optional<Upset> state_upset_;
    std::uint64_t cycle_ = 0;
    std::optional<std::uint32_t> exit_code_;
    bool is_alert_ = false;
};

#endif
