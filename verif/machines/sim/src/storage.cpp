#include "storage.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ram.h"

namespace {

// Registers, 64 bits each.
enum Register : std::uint64_t {
    kSector = 0x00,
    kAddress = 0x08,
    kStart = 0x10,
    kDone = 0x18,
    kRefused = 0x20,
    kQueued = 0x28,
    kDelivered = 0x30,
    kMediumSectors = 0x38,
};

}  // namespace

Storage::Storage(std::vector<std::uint8_t> medium, const StorageTiming& timing)
    : medium_(std::move(medium)), timing_(timing) {
    out_.b_ready = true;
}

std::uint64_t Storage::read_register(std::uint64_t offset) const {
    switch (offset) {
        case kSector: return sector_;
        case kAddress: return address_;
        case kDone: return done_count_;
        case kRefused: return refused_count_;
        case kQueued: return queue_.size();
        case kDelivered: return bytes_delivered_;
        case kMediumSectors: return medium_.size() / kSectorBytes;
        default: return 0;
    }
}

void Storage::write_register(std::uint64_t offset, std::uint64_t value) {
    switch (offset) {
        case kSector: sector_ = value; break;
        case kAddress: address_ = value; break;
        case kStart: start(value); break;
        default: break;
    }
}

void Storage::start(std::uint64_t sectors) {
    const std::uint64_t medium_sectors = medium_.size() / kSectorBytes;
    const bool is_on_medium = sector_ <= medium_sectors && sectors <= medium_sectors - sector_;
    const bool is_memory = address_ % kBurstBytes == 0 && address_ >= Ram::kStart &&
                           address_ - Ram::kStart <= Ram::kSize &&
                           sectors <= (Ram::kSize - (address_ - Ram::kStart)) / kSectorBytes;
    if (!is_on_medium || !is_memory || sectors == 0 || queue_.size() >= kQueueLength) {
        refused_count_ += 1;
        return;
    }
    queue_.push_back({sector_ * kSectorBytes, address_, sectors * kSectorBytes});
}

void Storage::step(const axi::SlaveSide& in) {
    if (out_.aw.valid && in.aw_ready) {
        out_.aw.valid = false;
    }
    if (out_.w.valid && in.w_ready) {
        out_.w.valid = false;
        burst_sent_ += kBeatBytes;
    }
    if (in.b.valid) {
        finish_burst(in.b.id);
    }
    // The address may still wait when its data has passed: the next burst waits for both.
    const bool is_bus_idle = burst_sent_ == kBurstBytes && !out_.aw.valid;
    const auto id = std::find(owners_.begin(), owners_.end(), std::nullopt);
    if (earn() && is_bus_idle && id != owners_.end()) {
        begin_burst(static_cast<std::uint32_t>(id - owners_.begin()));
    }
    drive_beat();
}

/// Lets the medium turn for a cycle. Returns whether the next burst is ready to be sent.
bool Storage::earn() {
    const auto next = unsent();
    if (next == queue_.end()) {
        credit_ = 0;
        return false;
    }
    if (next->cycles_waited < timing_.latency_cycles) {
        next->cycles_waited += 1;
        return false;
    }
    // Data that was read ahead waits in a buffer; when it is full, the medium stops.
    constexpr std::uint64_t kBuffer = kBurstBytes * kBurstsUnderWay * 1000;
    credit_ = std::min(credit_ + timing_.bytes_per_1000_cycles, kBuffer);
    return credit_ >= kBurstBytes * 1000;
}

void Storage::begin_burst(std::uint32_t id) {
    const auto place = unsent();
    Request& request = *place;
    owners_[id] = done_count_ + static_cast<std::uint64_t>(place - queue_.begin());
    credit_ -= kBurstBytes * 1000;
    burst_offset_ = request.offset + request.bytes_sent;
    burst_sent_ = 0;
    out_.aw.valid = true;
    out_.aw.id = id;
    out_.aw.address = request.address + request.bytes_sent;
    out_.aw.len = kBurstBytes / kBeatBytes - 1;
    out_.aw.size = 3;
    request.bytes_sent += kBurstBytes;
}

void Storage::drive_beat() {
    if (out_.w.valid || burst_sent_ == kBurstBytes) {
        return;
    }
    out_.w.valid = true;
    out_.w.strobes = (1U << kBeatBytes) - 1;
    out_.w.last = burst_sent_ + kBeatBytes == kBurstBytes;
    std::memcpy(out_.w.data.data(), &medium_[burst_offset_ + burst_sent_], kBeatBytes);
}

/// The memory may confirm in any order; requests end in the order in which they were started.
void Storage::finish_burst(std::uint32_t id) {
    const std::uint64_t number = *owners_[id];
    owners_[id].reset();
    bytes_delivered_ += kBurstBytes;
    queue_[number - done_count_].bytes_arrived += kBurstBytes;
    while (!queue_.empty() && queue_.front().bytes_arrived == queue_.front().bytes) {
        queue_.pop_front();
        done_count_ += 1;
    }
}

/// The first request that is not completely sent, or the end.
std::deque<Storage::Request>::iterator Storage::unsent() {
    return std::find_if(queue_.begin(), queue_.end(),
                        [](const Request& it) { return it.bytes_sent < it.bytes; });
}
