#include "trace.h"

#include <algorithm>
#include <cinttypes>
#include <optional>
#include <stdexcept>

#include "model_signal.h"

const char* const kPlaceNames[kPlaceCount] = {"rom", "scratchpad", "registers", "host"};

namespace {

// hw/soc/rtl/soc_pkg.sv and hw/soc/rtl/bench_registers.sv.
constexpr std::uint32_t kMarkRegister = 0x4000'f008;
constexpr std::size_t kBufferBytes = 1 << 20;

std::optional<Place> place_of(std::uint32_t address) {
    if (address >= 0x8000'0000) {
        return kHost;
    }
    switch (address >> 16) {
        case 0x0000:
        case 0x0001: return kRom;
        case 0x1000: return kScratchpad;
        case 0x4000: return kRegisters;
        default: return std::nullopt;
    }
}

enum class Kind { kNoAccess, kLoad, kStore };

/// Loads and stores of RV32IC (RISC-V Unprivileged ISA, "RV32I" and "C", quadrants 0 and 2). Ibex fills the
/// masks of its trace port in for every instruction, so they do not tell.
Kind kind_of(std::uint32_t instruction) {
    constexpr std::uint32_t kLoadOpcode = 0x03;
    constexpr std::uint32_t kStoreOpcode = 0x23;
    if ((instruction & 3) == 3) {
        switch (instruction & 0x7f) {
            case kLoadOpcode: return Kind::kLoad;
            case kStoreOpcode: return Kind::kStore;
            default: return Kind::kNoAccess;
        }
    }
    if ((instruction & 3) == 1) {
        return Kind::kNoAccess;
    }
    switch (instruction >> 13 & 7) {
        case 2: return Kind::kLoad;
        case 6: return Kind::kStore;
        default: return Kind::kNoAccess;
    }
}

}  // namespace

Trace::Trace(VerilatedContext& context, const std::string& scope, const std::string& path) {
    valid_ = find_signal<const std::uint8_t>(context, scope, "rvfi_valid");
    trap_ = find_signal<const std::uint8_t>(context, scope, "rvfi_trap");
    mask_ = find_signal<const std::uint8_t>(context, scope, "rvfi_mem_rmask");
    instruction_ = find_signal<const std::uint32_t>(context, scope, "rvfi_insn");
    pc_ = find_signal<const std::uint32_t>(context, scope, "rvfi_pc_rdata");
    address_ = find_signal<const std::uint32_t>(context, scope, "rvfi_mem_addr");
    written_ = find_signal<const std::uint32_t>(context, scope, "rvfi_mem_wdata");
    if (!path.empty()) {
        if ((file_ = std::fopen(path.c_str(), "w")) == nullptr) {
            throw std::runtime_error("cannot write " + path);
        }
        std::setvbuf(file_, nullptr, _IOFBF, kBufferBytes);
        std::fputs("cycle,cost,pc,instruction,address,read,write,trap,mark\n", file_);
    }
}

Trace::~Trace() {
    if (file_ != nullptr) {
        std::fclose(file_);
    }
}

void Trace::observe(std::uint64_t cycle) {
    if (*valid_ == 0) {
        return;
    }
    const std::uint64_t cost = cycle - last_cycle_;
    last_cycle_ = cycle;
    retired_ += 1;
    program_counter_ = *pc_;
    // A failed access did not reach the target of its address.
    if (kind_of(*instruction_) != Kind::kNoAccess && *trap_ == 0) {
        count_access(*address_, cost);
    }
    if (kind_of(*instruction_) == Kind::kStore && *address_ == kMarkRegister) {
        marks_.push_back({*written_, cycle, since_mark_});
        since_mark_ = {};
    }
    if (file_ != nullptr) {
        write_line(cycle, cost);
    }
}

void Trace::count_access(std::uint32_t address, std::uint64_t cost) {
    if (const std::optional<Place> place = place_of(address)) {
        for (Accesses* const accesses : {&accesses_, &since_mark_}) {
            AccessCounts& counts = (*accesses)[*place];
            counts.count += 1;
            counts.cycles += cost;
            counts.min = std::min(counts.min, cost);
            counts.max = std::max(counts.max, cost);
        }
    }
}

void Trace::write_line(std::uint64_t cycle, std::uint64_t cost) const {
    std::fprintf(file_, "%" PRIu64 ",%" PRIu64 ",%08" PRIx32 ",%08" PRIx32, cycle, cost, *pc_,
                 *instruction_);
    const Kind kind = kind_of(*instruction_);
    if (kind == Kind::kNoAccess) {
        std::fprintf(file_, ",,0,0,%d,", *trap_ != 0);
    } else {
        const bool is_load = kind == Kind::kLoad;
        std::fprintf(file_, ",%08" PRIx32 ",%x,%x,%d,", *address_, is_load ? *mask_ : 0,
                     is_load ? 0 : *mask_, *trap_ != 0);
    }
    if (kind == Kind::kStore && *address_ == kMarkRegister) {
        std::fprintf(file_, "%" PRIu32, *written_);
    }
    std::fputc('\n', file_);
}
