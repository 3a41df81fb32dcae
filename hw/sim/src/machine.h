// The machine: the core with memory, devices and storage at its ports (hw/soc/README.md).

#ifndef HARTLOCK_MACHINE_H
#define HARTLOCK_MACHINE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "devices.h"
#include "harts.h"
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

class Machine {
public:
    /// `waves` needs a model that was built for it; throws otherwise.
    Machine(Ram& ram, Devices& devices, Storage& storage, const Timing& memory,
            const std::optional<WavesOptions>& waves);
    ~Machine();

    /// Runs one cycle.
    void step();

    /// Cycles since the end of reset.
    std::uint64_t cycle() const { return cycle_; }
    const Harts& harts() const { return *harts_; }
    const Slave& memory() const { return memory_; }

private:
    void reset();
    void half_cycle(bool clock);

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vrocket> top_;
    std::unique_ptr<Waves> waves_;
    std::unique_ptr<Harts> harts_;
    Devices& devices_;
    Storage& storage_;
    Slave memory_;
    Slave mmio_;
    std::uint64_t cycle_ = 0;
    std::uint64_t half_cycles_ = 0;
};

#endif
