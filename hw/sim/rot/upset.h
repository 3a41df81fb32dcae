// A fault of the SHA-2 engine: bits of its digest that are stuck. It starts, takes messages and ends as a
// good one does, and its answers are wrong.

#ifndef HARTLOCK_UPSET_H
#define HARTLOCK_UPSET_H

#include <cstdint>
#include <string>

#include "verilated.h"

class EngineUpset {
public:
    /// Of the engine in the root of trust at `scope`. Throws if there is none.
    EngineUpset(VerilatedContext& context, const std::string& scope);

    /// Called in every cycle, behind the edge of the clock.
    void apply() const { *word_ = ~std::uint32_t{0}; }

private:
    std::uint32_t* word_;
};

#endif
