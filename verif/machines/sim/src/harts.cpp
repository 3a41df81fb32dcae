#include "harts.h"

#include <stdexcept>
#include <string>

#include "model_signal.h"

const char* const kSlotNames[kSlotCount] = {"issued",      "redirected", "starved", "waiting",
                                            "interlocked", "missed",     "blocked", "other"};

HartCounts HartCounts::operator-(const HartCounts& earlier) const {
    HartCounts difference;
    difference.retired = retired - earlier.retired;
    for (std::size_t slot = 0; slot < kSlotCount; slot += 1) {
        difference.slots[slot] = slots[slot] - earlier.slots[slot];
    }
    return difference;
}

Harts::Harts(VerilatedContext& context, const std::string& scope) {
    for (int number = 0;; number += 1) {
        const std::string suffix = number == 0 ? "" : "_" + std::to_string(number);
        const std::string path =
            scope + ".tile_prci_domain" + suffix + ".tile_reset_domain_tile.core";
        if (context.scopeFind(path.c_str()) == nullptr) {
            break;
        }
        const auto bit = [&](const char* name) {
            return find_signal<const std::uint8_t>(context, path, name);
        };
        signals_.push_back({
            bit("csr_io_retire"),
            bit("csr_io_csr_stall"),
            bit("ctrl_killd"),
            bit("take_pc_mem_wb"),
            bit("ibuf_io_inst_0_valid"),
            bit("id_ex_hazard"),
            bit("id_mem_hazard"),
            bit("id_wb_hazard"),
            bit("id_sboard_hazard"),
            bit("dcache_blocked"),
            find_signal<const std::uint64_t>(context, path, "wb_reg_pc"),
        });
    }
    if (signals_.empty()) {
        throw std::runtime_error("the model has no harts at the expected scope");
    }
    counts_.resize(signals_.size());
}

void Harts::observe() {
    for (std::size_t hart = 0; hart < signals_.size(); hart += 1) {
        counts_[hart].retired += *signals_[hart].retired;
        counts_[hart].slots[slot_of(signals_[hart])] += 1;
    }
}

std::vector<std::uint64_t> Harts::program_counters() const {
    std::vector<std::uint64_t> counters;
    for (const Signals& hart : signals_) {
        counters.push_back(*hart.program_counter);
    }
    return counters;
}

// Several reasons can hold at once; the one that would end last is not known, so the order is that of
// the pipeline: causes that cancel the instruction, then those that delay its fetch, then those that stall it.
Slot Harts::slot_of(const Signals& hart) {
    if (!*hart.killed) {
        return kIssued;
    }
    if (*hart.waiting) {
        return kWaiting;
    }
    if (*hart.redirected) {
        return kRedirected;
    }
    if (!*hart.has_instruction) {
        return kStarved;
    }
    if (*hart.hazard_execute || *hart.hazard_memory) {
        return kInterlocked;
    }
    if (*hart.hazard_writeback || *hart.hazard_scoreboard) {
        return kMissed;
    }
    return *hart.cache_blocked ? kBlocked : kOther;
}
