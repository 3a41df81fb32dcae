// The machine `soc`: Rocket and the root of trust on one memory (hw/soc/top/soc_machine.sv).

#include <cstdio>
#include <stdexcept>

#include "Vrocket.h"
#include "assertions.h"
#include "engines.h"
#include "machine.h"
#include "memories.h"
#include "report.h"
#include "secret.h"
#include "trace.h"

// Of the generated model.
void Vrocket___024root___eval_settle(Vrocket___024root* root);

namespace {

const char* const kHostScope = "TOP.soc_machine.u_host.u_rocket";
const char* const kRotScope = "TOP.soc_machine.u_rot.u_rot_with_bench.u_rot";

// hw/soc/rtl/bench_registers.sv.
constexpr std::uint32_t kConsole = 0x0;
constexpr std::uint32_t kExit = 0x4;
// `refused` of hw/ip/boot_sequencer/data/boot_sequencer.rdl.
constexpr std::uint32_t kRefused = 2;

class SocMachine : public Machine {
public:
    SocMachine(Ram& ram, Devices& devices, Storage& storage, const Timing& memory,
               const std::optional<WavesOptions>& waves, const RotOptions& rot)
        : Machine(ram, devices, storage, memory, waves, kHostScope),
          devices_(devices),
          trace_(*context_, std::string(kRotScope) + ".u_cpu.u_ibex", rot.trace),
          engines_(*context_, kRotScope),
          has_upset_(rot.has_upset),
          secret_(read_secret(rot.secret)) {
        keep_running_after_assertions(*context_);
        top_->has_bench_i = rot.has_bench;
        secret_.drive(top_->secret_i);
        rot.noise.drive(*top_);
        // The core was held in reset until now, and has fetched nothing.
        RotMemories(*context_, kRotScope).load_program(rot.program, ram);
    }

    // When the root of trust has ended, the run continues until the host ends.
    std::optional<std::uint32_t> exit_code() const override {
        const bool is_refused = boot().status == kRefused;
        return rot_exit_code_.value_or(0) != 0 || is_refused ? rot_exit_code_ : std::nullopt;
    }

    void report(std::FILE* file) const override {
        // Of the last cycle.
        check_assertions(*context_);
        std::fprintf(file, "rot\n");
        report_rot(file, trace_, cycle(), boot());
    }

protected:
    void observe() override {
        // Of the cycle before: they are evaluated when the clock rises.
        check_assertions(*context_);
        trace_.observe(cycle());
        if (has_upset_) {
            engines_.upset_digest();
        }
        if (secret_.is_open) {
            engines_.open_secret();
        }
        if (engines_.take_change()) {
            // As in rot_machine.cpp.
            Vrocket___024root___eval_settle(top_->rootp);
        }
        if (top_->bench_write != 0) {
            write_bench(top_->bench_addr, top_->bench_data);
        }
        is_alert_ = is_alert_ || top_->alert_o != 0;
        devices_.is_host_trapped = top_->host_trap_o != 0;
    }

private:
    BootState boot() const {
        return {top_->boot_status_o, top_->boot_reason_o, top_->host_rst_no != 0, is_alert_,
                engines_.mailbox_state()};
    }

    void write_bench(std::uint32_t offset, std::uint32_t value) {
        if (offset == kConsole) {
            std::putchar(static_cast<int>(value & 0xff));
        } else if (offset == kExit) {
            rot_exit_code_ = value;
        }
    }

    Devices& devices_;
    Trace trace_;
    Engines engines_;
    bool has_upset_;
    Secret secret_;
    std::optional<std::uint32_t> rot_exit_code_;
    bool is_alert_ = false;
};

}  // namespace

std::unique_ptr<Machine> make_machine(Ram& ram, Devices& devices, Storage& storage,
                                      const Timing& memory, const std::optional<WavesOptions>& waves,
                                      const RotOptions& rot) {
    if (rot.program.empty()) {
        throw std::runtime_error("the root of trust needs a program: --rot");
    }
    return std::make_unique<SocMachine>(ram, devices, storage, memory, waves, rot);
}
