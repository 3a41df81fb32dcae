#include "rot_machine.h"

#include <cstdio>
#include <cstring>

#include "Vrot.h"
#include "assertions.h"

// Of the generated model.
void Vrot___024root___eval_settle(Vrot___024root* root);

namespace {

constexpr int kResetCycles = 10;
constexpr std::uint32_t kBeatBytes = 8;
const char* const kScope = "TOP.rot_with_bench.u_rot";

// hw/soc/rtl/bench_registers.sv.
constexpr std::uint32_t kConsole = 0x0;
constexpr std::uint32_t kExit = 0x4;

}  // namespace

RotMachine::RotMachine(Ram& ram, const Timing& memory, const std::string& program,
                       const std::string& trace_path, const Secret& secret, const Faults& faults)
    : context_(std::make_unique<VerilatedContext>()),
      top_(std::make_unique<Vrot>(context_.get())),
      memory_(ram, kBeatBytes, memory),
      has_upset_(faults.has_upset),
      result_upset_(faults.result_upset),
      is_secret_open_(secret.is_open),
      state_upset_(faults.state_upset) {
    // Read by the model when it is evaluated for the first time (verif/machines/run/src/ip/schemata.rs).
    const std::string choice = "+mutant=" + std::to_string(faults.mutant);
    const char* arguments[] = {"machine", choice.c_str()};
    context_->commandArgs(2, arguments);
    keep_running_after_assertions(*context_);
    top_->has_bench_i = faults.has_bench;
    secret.drive(top_->secret_i);
    faults.noise.drive(*top_);
    memories_ = std::make_unique<RotMemories>(*context_, kScope);
    memories_->load_program(program, ram);
    trace_ = std::make_unique<Trace>(*context_, std::string(kScope) + ".u_cpu.u_ibex", trace_path);
    engines_ = std::make_unique<Engines>(*context_, kScope);
    // An edge, because the reset is asynchronous, and a constant level triggers no process.
    top_->rst_ni = 1;
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

RotMachine::~RotMachine() { top_->final(); }

// Its signals are public to be read only: what depends on one that may be written is evaluated twice a cycle.
void RotMachine::settle() { Vrot___024root___eval_settle(top_->rootp); }

void RotMachine::step() {
    top_->clk_i = 0;
    top_->eval();
    axi::MasterSide memory;
    memory.ar = {top_->mem_ar_valid != 0, top_->mem_ar_id, top_->mem_ar_addr, top_->mem_ar_len,
                 top_->mem_ar_size};
    memory.aw = {top_->mem_aw_valid != 0, top_->mem_aw_id, top_->mem_aw_addr, top_->mem_aw_len,
                 top_->mem_aw_size};
    memory.w.valid = top_->mem_w_valid != 0;
    std::memcpy(memory.w.data.data(), &top_->mem_w_data, kBeatBytes);
    memory.w.strobes = top_->mem_w_strb;
    memory.w.last = top_->mem_w_last != 0;
    memory.r_ready = top_->mem_r_ready != 0;
    memory.b_ready = top_->mem_b_ready != 0;
    trace_->observe(cycle_);
    for (std::size_t index = 0; index < saves_.size(); index += 1) {
        if (saves_[index].second == trace_->program_counter()) {
            memories_->save_scratchpad(saves_[index].first);
            saves_.erase(saves_.begin() + static_cast<std::ptrdiff_t>(index));
            break;
        }
    }
    engines_->observe(cycle_);
    if (engines_->shows_secret()) {
        secret_words_shown_ += 1;
    }
    if (top_->bench_write != 0) {
        write_bench(top_->bench_addr, top_->bench_data);
    }
    is_alert_ = is_alert_ || top_->alert_o != 0;
    top_->clk_i = 1;
    top_->eval();
    check_assertions(*context_);
    if (has_upset_) {
        engines_->upset_digest();
    }
    if (result_upset_) {
        engines_->upset_result(*result_upset_);
    }
    if (is_secret_open_) {
        engines_->open_secret();
    }
    if (state_upset_ && state_upset_->cycle == cycle_) {
        engines_->upset_state(state_upset_->engine);
    }
    if (engines_->take_change()) {
        settle();
    }

    memory_.step(memory, cycle_);
    cycle_ += 1;
    const axi::SlaveSide& answer = memory_.out();
    top_->mem_ar_ready = answer.ar_ready;
    top_->mem_aw_ready = answer.aw_ready;
    top_->mem_w_ready = answer.w_ready;
    top_->mem_r_valid = answer.r.valid;
    top_->mem_r_id = answer.r.id;
    top_->mem_r_last = answer.r.last;
    std::memcpy(&top_->mem_r_data, answer.r.data.data(), kBeatBytes);
    top_->mem_r_resp = answer.r.response;
    top_->mem_b_valid = answer.b.valid;
    top_->mem_b_id = answer.b.id;
    top_->mem_b_resp = answer.b.response;
}

BootState RotMachine::boot() const {
    return {top_->boot_status_o, top_->boot_reason_o, top_->host_rst_no != 0, is_alert_,
            engines_->mailbox_state()};
}

void RotMachine::write_bench(std::uint32_t offset, std::uint32_t value) {
    if (offset == kConsole) {
        std::putchar(static_cast<int>(value & 0xff));
    } else if (offset == kExit) {
        exit_code_ = value;
    }
}
