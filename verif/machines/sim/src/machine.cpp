#include "machine.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "Vrocket.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif

namespace {

constexpr int kResetCycles = 100;
/// The debug module is reset with the rest and then gets no clock: it is unused, and simulating it costs time.
constexpr int kDebugCycles = 120;

/// Devices answer as fast as a bus of its own with a register stage on either side.
constexpr Timing kMmioTiming{4, 0, 1, std::nullopt, std::nullopt};
constexpr std::uint32_t kMmioBeatBytes = 8;

// Data ports are integers or arrays of words, by their width; the bytes are in the same order.
template <class T>
axi::Beat to_beat(const T& port) {
    static_assert(sizeof(T) <= axi::kMaxBeatBytes);
    axi::Beat beat{};
    std::memcpy(beat.data(), &port, sizeof port);
    return beat;
}

template <class T>
void from_beat(const axi::Beat& beat, T& port) {
    std::memcpy(&port, beat.data(), sizeof port);
}

// Ports of the model are members whose names begin with that of the bus; there is no other way to
// write the same code for all of them.
#define HARTLOCK_ADDRESS(port)                                                      \
    axi::Address {                                                                  \
        port##_valid != 0, port##_bits_id, port##_bits_addr, port##_bits_len,       \
            port##_bits_size                                                        \
    }

/// Signals that the core drives as a master.
#define HARTLOCK_SAMPLE_MASTER(bus)                                                           \
    axi::MasterSide {                                                                         \
        HARTLOCK_ADDRESS(bus##_ar), HARTLOCK_ADDRESS(bus##_aw),                               \
            axi::WriteData{bus##_w_valid != 0, to_beat(bus##_w_bits_data), bus##_w_bits_strb, \
                           bus##_w_bits_last != 0},                                           \
            bus##_r_ready != 0, bus##_b_ready != 0                                            \
    }

/// Drives what answers the core.
#define HARTLOCK_DRIVE_SLAVE(bus, side)                 \
    do {                                                \
        bus##_ar_ready = (side).ar_ready;               \
        bus##_aw_ready = (side).aw_ready;               \
        bus##_w_ready = (side).w_ready;                 \
        bus##_r_valid = (side).r.valid;                 \
        bus##_r_bits_id = (side).r.id;                  \
        from_beat((side).r.data, bus##_r_bits_data);    \
        bus##_r_bits_last = (side).r.last;              \
        bus##_r_bits_resp = (side).r.response;          \
        bus##_b_valid = (side).b.valid;                 \
        bus##_b_bits_id = (side).b.id;                  \
        bus##_b_bits_resp = (side).b.response;          \
    } while (false)

}  // namespace

#if VM_TRACE
class Waves {
public:
    Waves(VerilatedContext& context, Vrocket& top, const WavesOptions& options)
        : options_(options) {
        context.traceEverOn(true);
        top.trace(&file_, 99);
        file_.open(options.path.c_str());
    }
    ~Waves() { file_.close(); }
    void dump(std::uint64_t cycle, std::uint64_t time) {
        if (cycle >= options_.first_cycle && cycle <= options_.last_cycle) {
            file_.dump(time);
        }
    }

private:
    WavesOptions options_;
    VerilatedVcdC file_;
};
#else
class Waves {
public:
    Waves(VerilatedContext&, Vrocket&, const WavesOptions&) {
        throw std::runtime_error("this model was built without waves");
    }
    void dump(std::uint64_t, std::uint64_t) {}
};
#endif

Machine::Machine(Ram& ram, Devices& devices, Storage& storage, const Timing& memory,
                 const std::optional<WavesOptions>& waves, const std::string& scope)
    : context_(std::make_unique<VerilatedContext>()),
      top_(std::make_unique<Vrocket>(context_.get())),
      devices_(devices),
      storage_(storage),
      memory_(ram, sizeof top_->mem_axi4_0_r_bits_data, memory),
      mmio_(devices, kMmioBeatBytes, kMmioTiming) {
    if (waves) {
        waves_ = std::make_unique<Waves>(*context_, *top_, *waves);
    }
    harts_ = std::make_unique<Harts>(*context_, scope);
    devices_.counters.harts = harts_->counts().size();
    reset();
}

Machine::~Machine() { top_->final(); }

void Machine::step() {
    // With the clock low, everything that does not pass a register settles.
    half_cycle(false);
    const axi::MasterSide memory = HARTLOCK_SAMPLE_MASTER(top_->mem_axi4_0);
    const axi::MasterSide mmio = HARTLOCK_SAMPLE_MASTER(top_->mmio_axi4_0);
    axi::SlaveSide storage;
    storage.aw_ready = top_->l2_frontend_bus_axi4_0_aw_ready;
    storage.w_ready = top_->l2_frontend_bus_axi4_0_w_ready;
    storage.b.valid = top_->l2_frontend_bus_axi4_0_b_valid != 0;
    storage.b.id = top_->l2_frontend_bus_axi4_0_b_bits_id;
    harts_->observe();
    observe();
    half_cycle(true);

    memory_.step(memory, cycle_);
    devices_.counters.cycles = cycle_;
    devices_.counters.memory_bytes_read = memory_.bytes_read();
    devices_.counters.memory_bytes_written = memory_.bytes_written();
    mmio_.step(mmio, cycle_);
    storage_.step(storage);
    cycle_ += 1;

    HARTLOCK_DRIVE_SLAVE(top_->mem_axi4_0, memory_.out());
    HARTLOCK_DRIVE_SLAVE(top_->mmio_axi4_0, mmio_.out());
    const axi::MasterSide& out = storage_.out();
    top_->l2_frontend_bus_axi4_0_aw_valid = out.aw.valid;
    top_->l2_frontend_bus_axi4_0_aw_bits_id = out.aw.id;
    top_->l2_frontend_bus_axi4_0_aw_bits_addr = out.aw.address;
    top_->l2_frontend_bus_axi4_0_aw_bits_len = out.aw.len;
    top_->l2_frontend_bus_axi4_0_aw_bits_size = out.aw.size;
    top_->l2_frontend_bus_axi4_0_w_valid = out.w.valid;
    from_beat(out.w.data, top_->l2_frontend_bus_axi4_0_w_bits_data);
    top_->l2_frontend_bus_axi4_0_w_bits_strb = out.w.strobes;
    top_->l2_frontend_bus_axi4_0_w_bits_last = out.w.last;
    top_->l2_frontend_bus_axi4_0_b_ready = out.b_ready;
}

void Machine::reset() {
    // An edge, because some resets are asynchronous, and a constant level triggers no process.
    top_->reset = 0;
    top_->eval();
    top_->reset = 1;
    top_->debug_reset = 1;
    top_->debug_clockeddmi_dmiReset = 1;
    // INCR, the only kind of burst that the storage makes (AMBA AXI §A3.4.1).
    top_->l2_frontend_bus_axi4_0_aw_bits_burst = 1;
    for (int cycle = 0; cycle < kDebugCycles; cycle += 1) {
        if (cycle == kResetCycles) {
            top_->debug_reset = 0;
            top_->debug_clockeddmi_dmiReset = 0;
        }
        top_->debug_dmactiveAck = top_->debug_dmactive;
        for (const bool clock : {false, true}) {
            top_->debug_clock = clock;
            top_->debug_clockeddmi_dmiClock = clock;
            half_cycle(clock);
        }
    }
    top_->reset = 0;
}

void Machine::half_cycle(bool clock) {
    top_->clock = clock;
    top_->eval();
    if (waves_) {
        waves_->dump(cycle_, half_cycles_);
    }
    half_cycles_ += 1;
}
