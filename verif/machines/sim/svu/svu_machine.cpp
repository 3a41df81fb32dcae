#include "svu_machine.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "Vsvu.h"
#include "assertions.h"
#include "model_signal.h"

namespace {

constexpr int kResetCycles = 10;
constexpr std::size_t kRows = 128;
const char* const kUnit = "TOP.svu_machine.u_unit.u_verifier.u_core";
const char* const kSequencer = "TOP.svu_machine.u_unit.u_sequencer";
const char* const kArray = "TOP.svu_machine.u_unit.u_otp.u_array";
const char* const kCore = "TOP.svu_machine.u_host.u_cpu.u_ibex";

// hw/soc/rtl/bench_registers.sv.
constexpr std::uint32_t kConsole = 0x0;
constexpr std::uint32_t kExit = 0x4;
constexpr std::uint32_t kMark = 0x8;

/// States of the unit (hw/ip/boot_verifier/rtl/boot_verifier_core.sv).
struct State {
    std::uint8_t code;
    const char* name;
};
constexpr State kStates[] = {
    {0x0b, "storage"},   {0x15, "lead"},    {0x1e, "key"},     {0x26, "digest"},  {0x2d, "signature"},
    {0x33, "padding"},   {0x38, "header"},  {0x47, "code"},    {0x4c, "verdict"}, {0x52, "judge"},
    {0x59, "confirm"},   {0x61, "released"}, {0x6a, "refused"},
};

const char* name_of(std::uint8_t code) {
    for (const State& state : kStates) {
        if (state.code == code) {
            return state.name;
        }
    }
    return "error";
}

}  // namespace

SvuMachine::SvuMachine(Medium& medium, const std::vector<std::uint64_t>& cells, std::uint64_t mutant,
                       const std::optional<StateUpset>& upset, const std::string& trace_path)
    : medium_(medium),
      context_(std::make_unique<VerilatedContext>()),
      top_(std::make_unique<Vsvu>(context_.get())),
      upset_(upset) {
    // Read by the model when it is evaluated for the first time (verif/machines/run/src/ip/schemata.rs).
    const std::string choice = "+mutant=" + std::to_string(mutant);
    const char* arguments[] = {"machine", choice.c_str()};
    context_->commandArgs(2, arguments);
    keep_running_after_assertions(*context_);
    state_ = find_signal<std::uint8_t>(*context_, std::string(kUnit) + ".u_state.u_flop", "value_q");
    word_is_there_ = find_signal<const std::uint8_t>(*context_, kUnit, "valid_i");
    word_passes_ = find_signal<const std::uint8_t>(*context_, kUnit, "passes");
    retires_ = find_signal<const std::uint8_t>(*context_, kCore, "rvfi_valid");
    traps_ = find_signal<const std::uint8_t>(*context_, kCore, "rvfi_trap");
    instruction_ = find_signal<const std::uint32_t>(*context_, kCore, "rvfi_insn");
    pc_ = find_signal<const std::uint32_t>(*context_, kCore, "rvfi_pc_rdata");
    if (!trace_path.empty()) {
        trace_ = std::fopen(trace_path.c_str(), "w");
        if (trace_ == nullptr) {
            throw std::runtime_error("cannot write " + trace_path);
        }
        std::fputs("cycle,pc,instruction,trap\n", trace_);
    }
    if (cells.size() != kRows) {
        throw std::runtime_error("one-time-programmable storage has 128 rows");
    }
    auto* rows = find_signal<std::uint64_t>(*context_, kArray, "rows_q", kRows * sizeof(std::uint64_t));
    std::memcpy(rows, cells.data(), kRows * sizeof(std::uint64_t));
    // Edges, because resets are asynchronous, and a constant level triggers no process: that of the chip, and with it that of
    // the host, whose clock is gated.
    top_->rst_ni = 1;
    *find_signal<std::uint8_t>(*context_, kSequencer, "host_rst_nq") = 1;
    top_->eval();
    top_->rst_ni = 0;
    for (int cycle = 0; cycle < kResetCycles; cycle += 1) {
        for (const int clock : {0, 1}) {
            top_->clk_i = clock;
            top_->eval();
        }
    }
    top_->rst_ni = 1;
}

SvuMachine::~SvuMachine() {
    top_->final();
    if (trace_ != nullptr) {
        std::fclose(trace_);
    }
}

std::uint32_t SvuMachine::status() const { return top_->boot_status_o; }

std::uint32_t SvuMachine::reason() const { return top_->boot_reason_o; }

void SvuMachine::step() {
    top_->clk_i = 0;
    top_->eval();
    const axi::Address ar = {top_->medium_ar_valid != 0, top_->medium_ar_id, top_->medium_ar_addr,
                             top_->medium_ar_len, top_->medium_ar_size};
    const bool r_ready = top_->medium_r_ready != 0;
    observe();
    top_->clk_i = 1;
    top_->eval();
    check_assertions(*context_);
    if (upset_ && upset_->cycle == cycle_) {
        *state_ = upset_->state;
    }
    medium_.step(ar, r_ready, cycle_);
    cycle_ += 1;
    const axi::SlaveSide& answer = medium_.out();
    top_->medium_ar_ready = answer.ar_ready;
    top_->medium_r_valid = answer.r.valid;
    top_->medium_r_id = answer.r.id;
    top_->medium_r_last = answer.r.last;
    top_->medium_r_resp = answer.r.response;
    std::memcpy(&top_->medium_r_data, answer.r.data.data(), sizeof top_->medium_r_data);
}

void SvuMachine::observe() {
    observe_phase();
    has_alert_ = has_alert_ || top_->alert_o != 0;
    if (top_->boot_status_o != 0 && !decided_) {
        decided_ = cycle_;
    }
    if (top_->host_rst_no != 0) {
        host_cycles_ += 1;
    }
    if (*retires_ != 0) {
        retired_ += 1;
        program_counter_ = *pc_;
        if (first_instruction_ == 0) {
            first_instruction_ = cycle_;
        }
        if (trace_ != nullptr) {
            std::fprintf(trace_, "%" PRIu64 ",%08" PRIx32 ",%08" PRIx32 ",%d\n", cycle_, *pc_, *instruction_,
                         *traps_ != 0 ? 1 : 0);
        }
    }
    if (top_->bench_write != 0) {
        write_bench(top_->bench_addr, top_->bench_data);
    }
}

void SvuMachine::observe_phase() {
    if (phases_.empty() || *state_ != last_state_) {
        last_state_ = *state_;
        phases_.push_back({name_of(last_state_), cycle_});
    }
    Phase& phase = phases_.back();
    phase.cycles += 1;
    if (*word_passes_ != 0) {
        phase.words += 1;
    } else if (*word_is_there_ != 0) {
        phase.for_engine += 1;
    } else {
        phase.for_medium += 1;
    }
}

void SvuMachine::write_bench(std::uint32_t offset, std::uint32_t value) {
    switch (offset) {
        case kConsole: std::putchar(static_cast<int>(value & 0xff)); break;
        case kExit: exit_code_ = value; break;
        case kMark: marks_.emplace_back(value, cycle_); break;
        default: break;
    }
}
