// Access of the bench to signals inside the engines of the root of trust.

#ifndef HARTLOCK_ENGINES_H
#define HARTLOCK_ENGINES_H

#include <cstdint>
#include <string>

#include "verilated.h"

class Engines {
public:
    /// Those of the root of trust at `scope`. Throws if there are none.
    Engines(VerilatedContext& context, const std::string& scope);

    /// Emulates a broken SHA-2 engine, if it is called in every cycle: bits of its digest are stuck. It
    /// starts, takes messages and ends as a correct one does, but its digests are wrong.
    void upset_digest() const { *digest_ = ~std::uint32_t{0}; }

    /// State of the mailbox, by the numbers of its register `status`.
    std::uint32_t mailbox_state() const { return *mailbox_; }

private:
    std::uint32_t* digest_;
    const std::uint8_t* mailbox_;
};

#endif
