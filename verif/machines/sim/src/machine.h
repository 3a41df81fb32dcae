// The machine: the core with memory, devices and storage at its ports (hw/soc/README.md).

#ifndef HARTLOCK_MACHINE_H
#define HARTLOCK_MACHINE_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "devices.h"
#include "harts.h"
#include "noise.h"
#include "ram.h"
#include "slave.h"
#include "storage.h"
#include "verilated.h"

class Vrocket;
class Waves;

/// Signals over time, into a file.
struct WavesOptions {
    std::string path;
    std::uint64_t first_cycle = 0;
    std::uint64_t last_cycle = ~std::uint64_t{0};
};

/// Options of the root of trust, on a machine that has one.
struct RotOptions {
    /// Its program, an ELF file.
    std::string program;
    /// The file of its trace; empty: no trace.
    std::string trace;
    /// The file of the secret of its device; empty: it has none.
    std::string secret;
    /// Its noise source.
    Noise noise;
    /// Whether the digests of its engine are wrong.
    bool has_upset = false;
    /// Whether it has the registers of the bench.
    bool has_bench = true;
};

class Machine {
public:
    /// The core is at `scope` of the model. `waves` needs a model that was built for it; throws otherwise.
    Machine(Ram& ram, Devices& devices, Storage& storage, const Timing& memory,
            const std::optional<WavesOptions>& waves, const std::string& scope);
    virtual ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    /// Runs one cycle.
    void step();

    /// Cycles since the end of reset.
    std::uint64_t cycle() const { return cycle_; }
    const Harts& harts() const { return *harts_; }
    const Slave& memory() const { return memory_; }

    /// Set when the run is over for another reason than that the host's program has ended.
    virtual std::optional<std::uint32_t> exit_code() const { return std::nullopt; }

    /// Writes more lines of the report.
    virtual void report(std::FILE*) const {}

protected:
    /// Samples a cycle, when all signals have settled.
    virtual void observe() {}

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vrocket> top_;

private:
    void reset();
    void half_cycle(bool clock);

    std::unique_ptr<Waves> waves_;
    std::unique_ptr<Harts> harts_;
    Devices& devices_;
    Storage& storage_;
    Slave memory_;
    Slave mmio_;
    std::uint64_t cycle_ = 0;
    std::uint64_t half_cycles_ = 0;
};

/// The design of a model: Rocket alone, or with a root of trust. Throws if the options do not fit it.
std::unique_ptr<Machine> make_machine(Ram& ram, Devices& devices, Storage& storage,
                                      const Timing& memory, const std::optional<WavesOptions>& waves,
                                      const RotOptions& rot);

#endif
