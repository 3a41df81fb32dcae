#include "slave.h"

#include <algorithm>

void Slave::step(const axi::MasterSide& in, std::uint64_t cycle) {
    if (in.ar.valid && out_.ar_ready) {
        reads_.push_back({in.ar, cycle + latency_of(in.ar), 0});
    }
    if (in.aw.valid && out_.aw_ready) {
        writes_.push_back({in.aw, 0, 0, latency_of(in.aw)});
    }
    if (in.w.valid && out_.w_ready) {
        accept_write_data(in.w, cycle);
    }
    if (out_.r.valid && in.r_ready) {
        Burst& burst = reads_.front();
        occupy_bus(cycle, 1U << burst.address.size);
        bytes_read_ += 1U << burst.address.size;
        burst.beats_done += 1;
        if (out_.r.last) {
            reads_.pop_front();
        }
        out_.r.valid = false;
    }
    if (out_.b.valid && in.b_ready) {
        responses_.pop_front();
    }

    const std::uint64_t next = cycle + 1;
    out_.ar_ready = reads_.size() < timing_.outstanding;
    out_.aw_ready = writes_.size() + responses_.size() < timing_.outstanding;
    out_.w_ready = !writes_.empty() && is_bus_free(next);
    drive_read(next);
    out_.b.valid = !responses_.empty() && responses_.front().due_cycle <= next;
    if (out_.b.valid) {
        out_.b.id = responses_.front().address.id;
        const bool is_there = target_.has(responses_.front().address.address);
        out_.b.response = is_there ? axi::kOkay : axi::kDecodeError;
    }
}

// A burst stays within a line of any cache here: the host asks for lines, the root of trust for words.
std::uint64_t Slave::latency_of(const axi::Address& address) {
    constexpr int kPageBits = 12;
    if (timing_.stall && address.address >> kPageBits == timing_.stall->address >> kPageBits) {
        return timing_.stall->cycles;
    }
    if (!cache_ || !target_.has(address.address)) {
        return timing_.latency_cycles;
    }
    return cache_->touch(address.address) ? timing_.cache->hit_cycles : timing_.latency_cycles;
}

void Slave::accept_write_data(const axi::WriteData& beat, std::uint64_t cycle) {
    Burst& burst = writes_.front();
    const std::uint32_t size = 1U << burst.address.size;
    std::uint64_t address = burst.address.address + std::uint64_t{size} * burst.beats_done;
    address -= address % beat_bytes_;
    // Every run of strobes is one access, so that a device sees a register written once.
    for (std::uint32_t from = 0; from < beat_bytes_;) {
        std::uint32_t to = from;
        while (to < beat_bytes_ && (beat.strobes >> to & 1) != 0) {
            to += 1;
        }
        if (to > from && target_.has(address + from)) {
            target_.write(address + from, &beat.data[from], to - from);
            bytes_written_ += to - from;
        }
        from = to + 1;
    }
    occupy_bus(cycle, size);
    burst.beats_done += 1;
    if (beat.last) {
        responses_.push_back({burst.address, cycle + burst.latency_cycles, 0});
        writes_.pop_front();
    }
}

void Slave::drive_read(std::uint64_t next_cycle) {
    // A valid beat stays until it is taken (AMBA AXI §A3.2.1).
    if (out_.r.valid || reads_.empty()) {
        return;
    }
    const Burst& burst = reads_.front();
    if (burst.due_cycle > next_cycle || !is_bus_free(next_cycle)) {
        return;
    }
    const std::uint32_t size = 1U << burst.address.size;
    std::uint64_t address = burst.address.address + std::uint64_t{size} * burst.beats_done;
    address -= address % size;
    out_.r.valid = true;
    out_.r.id = burst.address.id;
    out_.r.last = burst.beats_done == burst.address.len;
    out_.r.response = target_.has(address) ? axi::kOkay : axi::kDecodeError;
    if (out_.r.response == axi::kOkay) {
        target_.read(address, &out_.r.data[address % beat_bytes_], size);
    } else {
        out_.r.data = {};
    }
}

bool Slave::is_bus_free(std::uint64_t cycle) const {
    return timing_.bytes_per_cycle == 0 || bus_free_at_ <= cycle * timing_.bytes_per_cycle;
}

void Slave::occupy_bus(std::uint64_t cycle, std::uint32_t bytes) {
    bus_free_at_ = std::max(bus_free_at_, cycle * timing_.bytes_per_cycle) + bytes;
}
