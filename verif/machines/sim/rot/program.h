// Programs for the root of trust: 32-bit ELF files with segments in its memories or the host's.

#ifndef HARTLOCK_PROGRAM_H
#define HARTLOCK_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

struct Segment {
    std::uint32_t address;
    std::vector<std::uint8_t> bytes;
};

/// The segments of an ELF file. Throws if it is no program for 32-bit RISC-V.
std::vector<Segment> read_program(const std::string& path);

#endif
