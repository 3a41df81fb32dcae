// The medium of a verification unit: bytes that are read through AXI4, at a rate (hw/soc/README.md).
//
// It is a flash with its controller: a latency before the first byte of each request, then bytes at the rate of the
// medium. Requests are answered in their order.

#ifndef HARTLOCK_MEDIUM_H
#define HARTLOCK_MEDIUM_H

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "axi.h"

struct MediumOptions {
    std::uint64_t bytes_per_1000_cycles = 1000;
    /// From a request to its first byte.
    std::uint64_t latency_cycles = 20;
    /// Every beat with this byte has an error.
    std::optional<std::uint64_t> error_at;
    /// There is none: every beat is an error.
    bool is_missing = false;
    /// It never answers.
    bool is_silent = false;
};

class Medium {
public:
    Medium(std::vector<std::uint8_t> bytes, const MediumOptions& options);

    /// Signals to drive in the next cycle: those of reads.
    const axi::SlaveSide& out() const { return out_; }

    /// Ends cycle `cycle`, in which `ar` and `r_ready` were driven.
    void step(const axi::Address& ar, bool r_ready, std::uint64_t cycle);

    std::uint64_t requests() const { return requests_; }
    std::uint64_t bytes_read() const { return bytes_read_; }

private:
    struct Burst {
        axi::Address address;
        std::uint64_t due_cycle;
        std::uint32_t beats_done = 0;
    };

    void drive(std::uint64_t next);
    void fill(std::uint64_t offset, std::uint32_t count);

    const std::vector<std::uint8_t> bytes_;
    const MediumOptions options_;
    axi::SlaveSide out_;
    std::deque<Burst> bursts_;
    /// Thousandths of bytes that were delivered and not taken.
    std::uint64_t credit_ = 0;
    std::uint64_t requests_ = 0;
    std::uint64_t bytes_read_ = 0;
};

#endif
