// The machine `tee`: Rocket with engines at its devices (hw/soc/tee/tee_machine.sv).

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "Vrocket.h"
#include "machine.h"

namespace {

const char* const kScope = "TOP.tee_machine.u_rocket";
constexpr std::uint32_t kDmaBeatBytes = 8;
constexpr std::size_t kSecretBytes = 64;
// Bits of the signal `upset`.
constexpr unsigned kUpsetEngines = 1;
constexpr unsigned kUpsetSecret = 2;

class TeeMachine : public Machine {
public:
    TeeMachine(Ram& ram, Devices& devices, Storage& storage, const Timing& memory,
               const std::optional<WavesOptions>& waves, const RotOptions& options)
        : Machine(ram, devices, storage, memory, waves, kScope), dma_(ram, kDmaBeatBytes, memory) {
        const std::vector<std::uint8_t> secret = read_file(options.program);
        // A byte after the secret says that it shows, whatever the latch says.
        const bool shows_secret = secret.size() == kSecretBytes + 1;
        if (secret.size() != kSecretBytes && !shows_secret) {
            throw std::runtime_error("the secret of the device has 64 bytes");
        }
        std::memcpy(&top_->secret, secret.data(), kSecretBytes);
        top_->upset = (options.has_upset ? kUpsetEngines : 0) | (shows_secret ? kUpsetSecret : 0);
    }

    void report(std::FILE* file) const override {
        std::fprintf(file, "dma read %llu written %llu alert %d\n",
                     static_cast<unsigned long long>(dma_.bytes_read()),
                     static_cast<unsigned long long>(dma_.bytes_written()), is_alert_ ? 1 : 0);
    }

protected:
    // Signals of the other ports have settled. What memory drives in this cycle is set here, and settles once more if it
    // changes: no other port of the model depends on it without a register between.
    void observe() override {
        if (drive(dma_.out())) {
            top_->eval();
        }
        is_alert_ = is_alert_ || top_->alert != 0;
        axi::MasterSide in;
        in.ar = {top_->dma_axi4_0_ar_valid != 0, top_->dma_axi4_0_ar_bits_id,
                 top_->dma_axi4_0_ar_bits_addr, top_->dma_axi4_0_ar_bits_len,
                 top_->dma_axi4_0_ar_bits_size};
        in.aw = {top_->dma_axi4_0_aw_valid != 0, top_->dma_axi4_0_aw_bits_id,
                 top_->dma_axi4_0_aw_bits_addr, top_->dma_axi4_0_aw_bits_len,
                 top_->dma_axi4_0_aw_bits_size};
        in.w.valid = top_->dma_axi4_0_w_valid != 0;
        std::memcpy(in.w.data.data(), &top_->dma_axi4_0_w_bits_data, kDmaBeatBytes);
        in.w.strobes = top_->dma_axi4_0_w_bits_strb;
        in.w.last = top_->dma_axi4_0_w_bits_last != 0;
        in.r_ready = top_->dma_axi4_0_r_ready != 0;
        in.b_ready = top_->dma_axi4_0_b_ready != 0;
        dma_.step(in, cycle());
    }

private:
    /// Whether a signal has changed.
    bool drive(const axi::SlaveSide& out) {
        bool is_new = set(top_->dma_axi4_0_ar_ready, out.ar_ready);
        is_new |= set(top_->dma_axi4_0_aw_ready, out.aw_ready);
        is_new |= set(top_->dma_axi4_0_w_ready, out.w_ready);
        is_new |= set(top_->dma_axi4_0_r_valid, out.r.valid);
        is_new |= set(top_->dma_axi4_0_r_bits_id, out.r.id);
        std::uint64_t data = 0;
        std::memcpy(&data, out.r.data.data(), kDmaBeatBytes);
        is_new |= set(top_->dma_axi4_0_r_bits_data, data);
        is_new |= set(top_->dma_axi4_0_r_bits_last, out.r.last);
        is_new |= set(top_->dma_axi4_0_r_bits_resp, out.r.response);
        is_new |= set(top_->dma_axi4_0_b_valid, out.b.valid);
        is_new |= set(top_->dma_axi4_0_b_bits_id, out.b.id);
        is_new |= set(top_->dma_axi4_0_b_bits_resp, out.b.response);
        return is_new;
    }

    template <class Port, class Value>
    static bool set(Port& port, Value value) {
        const Port before = port;
        port = static_cast<Port>(value);
        return before != port;
    }

    Slave dma_;
    bool is_alert_ = false;
};

}  // namespace

std::unique_ptr<Machine> make_machine(Ram& ram, Devices& devices, Storage& storage,
                                      const Timing& memory, const std::optional<WavesOptions>& waves,
                                      const RotOptions& rot) {
    if (rot.program.empty()) {
        throw std::runtime_error("the device needs a secret of 64 bytes: --rot");
    }
    return std::make_unique<TeeMachine>(ram, devices, storage, memory, waves, rot);
}
