#include "memories.h"

#include <cstring>
#include <stdexcept>

#include "model_signal.h"
#include "program.h"

namespace {

// hw/soc/rtl/soc_pkg.sv.
constexpr std::uint32_t kRomBytes = 128 << 10;
constexpr std::uint32_t kScratchpadBytes = 64 << 10;
constexpr std::uint32_t kRomBase = 0;
constexpr std::uint32_t kScratchpadBase = 0x1000'0000;

std::uint8_t* find(VerilatedContext& context, const std::string& path, std::uint32_t size) {
    return find_signal<std::uint8_t>(context, path, "mem", size);
}

}  // namespace

RotMemories::RotMemories(VerilatedContext& context, const std::string& scope)
    : memories_{{kRomBase, kRomBytes, find(context, scope + ".u_rom", kRomBytes)},
                {kScratchpadBase, kScratchpadBytes,
                 find(context, scope + ".u_scratchpad", kScratchpadBytes)}} {
    for (const Memory& memory : memories_) {
        std::memset(memory.bytes, 0, memory.size);
    }
}

void RotMemories::save_scratchpad(const std::string& path) const {
    const Memory& scratchpad = memories_[1];
    write_file(path, scratchpad.bytes, scratchpad.size);
}

void RotMemories::load_program(const std::string& path, Ram& host) {
    for (const Segment& segment : read_program(path)) {
        if (segment.address >= Ram::kStart) {
            host.put(segment.address, segment.bytes.data(), segment.bytes.size(), path);
            continue;
        }
        bool is_placed = false;
        for (const Memory& memory : memories_) {
            const std::uint64_t offset = std::uint64_t{segment.address} - memory.base;
            if (segment.address >= memory.base && offset <= memory.size &&
                memory.size - offset >= segment.bytes.size()) {
                std::memcpy(memory.bytes + offset, segment.bytes.data(), segment.bytes.size());
                is_placed = true;
            }
        }
        if (!is_placed) {
            throw std::runtime_error(path + " wants memory where there is none");
        }
    }
}
