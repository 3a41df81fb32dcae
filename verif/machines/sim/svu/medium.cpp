#include "medium.h"

#include <algorithm>
#include <utility>

namespace {

// hw/soc/svu/top/svu_pkg.sv.
constexpr std::uint64_t kBase = 0x8000'0000;
constexpr std::size_t kOutstanding = 4;
constexpr std::uint32_t kBeatBytes = 8;
constexpr std::uint64_t kThousandths = 1000;
/// What a controller reads ahead within its requests.
constexpr std::uint64_t kBufferBytes = 128;

}  // namespace

Medium::Medium(std::vector<std::uint8_t> bytes, const MediumOptions& options)
    : bytes_(std::move(bytes)), options_(options) {}

void Medium::step(const axi::Address& ar, bool r_ready, std::uint64_t cycle) {
    if (ar.valid && out_.ar_ready) {
        bursts_.push_back({ar, cycle + options_.latency_cycles});
        requests_ += 1;
    }
    if (out_.r.valid && r_ready) {
        Burst& burst = bursts_.front();
        bytes_read_ += 1U << burst.address.size;
        burst.beats_done += 1;
        if (out_.r.last) {
            bursts_.pop_front();
        }
        out_.r.valid = false;
    }
    out_.ar_ready = bursts_.size() < kOutstanding;
    drive(cycle + 1);
}

void Medium::drive(std::uint64_t next) {
    if (bursts_.empty() || bursts_.front().due_cycle > next || options_.is_silent) {
        credit_ = 0;
        return;
    }
    credit_ = std::min(credit_ + options_.bytes_per_1000_cycles, kBufferBytes * kThousandths);
    const Burst& burst = bursts_.front();
    const std::uint32_t size = 1U << burst.address.size;
    if (out_.r.valid || credit_ < size * kThousandths) {
        return;
    }
    credit_ -= size * kThousandths;
    out_.r.valid = true;
    out_.r.id = burst.address.id;
    out_.r.last = burst.beats_done == burst.address.len;
    const std::uint64_t address = burst.address.address + std::uint64_t{size} * burst.beats_done;
    fill(address - address % size - kBase, size);
}

void Medium::fill(std::uint64_t offset, std::uint32_t count) {
    out_.r.data = {};
    const bool is_wrong =
        options_.error_at && *options_.error_at >= offset && *options_.error_at < offset + count;
    if (options_.is_missing || is_wrong || offset >= bytes_.size() || bytes_.size() - offset < count) {
        out_.r.response = axi::kDecodeError;
        return;
    }
    out_.r.response = axi::kOkay;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), count,
                out_.r.data.begin() + static_cast<std::ptrdiff_t>(offset % kBeatBytes));
}
