// The machine `tee`: Rocket with engines at its devices (hw/soc/tee/tee_machine.sv).

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "Vrocket.h"
#include "assertions.h"
#include "machine.h"

namespace {

const char* const kScope = "TOP.tee_machine.u_rocket";
constexpr std::uint32_t kDmaBeatBytes = 8;
constexpr std::size_t kSecretBytes = 64;

class TeeMachine : public Machine {
public:
    TeeMachine(Ram& ram, Devices& devices, Storage& storage, const Timing& memory,
               const std::optional<WavesOptions>& waves, const RotOptions& options)
        : Machine(ram, devices, storage, memory, waves, kScope), dma_(ram, kDmaBeatBytes, memory) {
        keep_running_after_assertions(*context_);
        const std::vector<std::uint8_t> secret = read_file(options.program);
        if (secret.size() != kSecretBytes) {
            throw std::runtime_error("the secret of the device has 64 bytes");
        }
        std::memcpy(&top_->secret, secret.data(), kSecretBytes);
        top_->upset = options.has_upset;
    }

    void report(std::FILE* file) const override {
        check_assertions(*context_);
        std::fprintf(file, "dma read %llu written %llu alert %d\n",
                     static_cast<unsigned long long>(dma_.bytes_read()),
                     static_cast<unsigned long long>(dma_.bytes_written()), is_alert_ ? 1 : 0);
    }

protected:
    // Signals have settled. What is driven here passes a register of the model, so that it counts in the next cycle.
    void observe() override {
        check_assertions(*context_);
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
        const axi::SlaveSide& out = dma_.out();
        top_->dma_axi4_0_ar_ready = out.ar_ready;
        top_->dma_axi4_0_aw_ready = out.aw_ready;
        top_->dma_axi4_0_w_ready = out.w_ready;
        top_->dma_axi4_0_r_valid = out.r.valid;
        top_->dma_axi4_0_r_bits_id = out.r.id;
        std::memcpy(&top_->dma_axi4_0_r_bits_data, out.r.data.data(), kDmaBeatBytes);
        top_->dma_axi4_0_r_bits_last = out.r.last;
        top_->dma_axi4_0_r_bits_resp = out.r.response;
        top_->dma_axi4_0_b_valid = out.b.valid;
        top_->dma_axi4_0_b_bits_id = out.b.id;
        top_->dma_axi4_0_b_bits_resp = out.b.response;
    }

private:
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
