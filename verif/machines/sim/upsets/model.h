// An engine in simulation, whose state can be kept and put back.

#ifndef HARTLOCK_UPSETS_MODEL_H
#define HARTLOCK_UPSETS_MODEL_H

#include <cstdint>
#include <memory>
#include <vector>

#include "signals.h"
#include "verilated.h"

class Vtop;

/// Everything that a model has: the bytes of its object.
using Snapshot = std::vector<std::uint8_t>;

class Model {
public:
    /// `options` are those of a program: its name first.
    explicit Model(std::vector<const char*> options);
    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    const Signals& signals() const { return signals_; }

    /// Lets inputs, and registers that were changed, take effect on everything but registers.
    void settle();

    /// The edge of the clock that ends a cycle.
    void edge();

    void save(Snapshot& snapshot) const;
    void restore(const Snapshot& snapshot);

    /// A digest of all registers. A model with the same registers and the same inputs does the same from now on.
    std::uint64_t digest() const;

private:
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vtop> top_;
    Signals signals_;
    const Signal* clock_ = nullptr;
};

#endif
