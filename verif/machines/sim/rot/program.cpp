#include "program.h"

#include <elf.h>

#include <cstring>
#include <stdexcept>

#include "ram.h"

std::vector<Segment> read_program(const std::string& path) {
    const std::vector<std::uint8_t> file = read_file(path);
    Elf32_Ehdr header;
    if (file.size() < sizeof header || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
        throw std::runtime_error(path + " is no ELF file");
    }
    std::memcpy(&header, file.data(), sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS32 || header.e_machine != EM_RISCV) {
        throw std::runtime_error(path + " is no program for 32-bit RISC-V");
    }
    std::vector<Segment> segments;
    for (std::uint64_t index = 0; index < header.e_phnum; index += 1) {
        const std::uint64_t at = header.e_phoff + index * sizeof(Elf32_Phdr);
        Elf32_Phdr segment;
        if (at > file.size() || file.size() - at < sizeof segment) {
            throw std::runtime_error(path + " is cut off");
        }
        std::memcpy(&segment, file.data() + at, sizeof segment);
        if (segment.p_type != PT_LOAD || segment.p_filesz == 0) {
            continue;
        }
        if (segment.p_offset > file.size() || file.size() - segment.p_offset < segment.p_filesz) {
            throw std::runtime_error(path + " is cut off");
        }
        const auto first = file.begin() + static_cast<std::ptrdiff_t>(segment.p_offset);
        segments.push_back({segment.p_paddr, {first, first + segment.p_filesz}});
    }
    return segments;
}
