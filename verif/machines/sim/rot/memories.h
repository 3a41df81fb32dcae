// Boot ROM and scratchpad of a model, and how programs get into them.

#ifndef HARTLOCK_MEMORIES_H
#define HARTLOCK_MEMORIES_H

#include <cstdint>
#include <string>

#include "ram.h"
#include "verilated.h"

class RotMemories {
public:
    /// Finds the memories below `scope` and fills them with zeros. Throws if they are not there.
    RotMemories(VerilatedContext& context, const std::string& scope);

    /// Copies a program to its addresses: boot ROM, scratchpad, or the host's memory. Throws if a part of it
    /// is at any other address.
    void load_program(const std::string& path, Ram& host);

    /// Writes the contents of the scratchpad to a file. Throws if that fails.
    void save_scratchpad(const std::string& path) const;

private:
    struct Memory {
        std::uint32_t base;
        std::uint32_t size;
        std::uint8_t* bytes;
    };

    Memory memories_[2];
};

#endif
