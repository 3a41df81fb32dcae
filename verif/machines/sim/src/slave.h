// The target at a port of the core, with its own access time.

#ifndef HARTLOCK_SLAVE_H
#define HARTLOCK_SLAVE_H

#include <cstdint>
#include <deque>
#include <optional>

#include "axi.h"
#include "cache.h"

/// Memory or devices, without timing.
class Target {
public:
    virtual ~Target() = default;

    /// Whether an address is mapped. Accesses to other addresses are answered with an error.
    virtual bool has(std::uint64_t) const { return true; }

    /// Reads `count` bytes; the address is a multiple of `count`.
    virtual void read(std::uint64_t address, std::uint8_t* out, std::uint32_t count) = 0;

    /// Writes `count` bytes, as many as are written in one piece.
    virtual void write(std::uint64_t address, const std::uint8_t* data, std::uint32_t count) = 0;
};

/// A page of 4 KiB whose target answers late.
struct Stall {
    std::uint64_t address = 0;
    std::uint64_t cycles = 0;
};

/// Access time of a target. The same numbers give the same cycles, always.
struct Timing {
    /// Cycles from the one in which a read is accepted to the one in which its first beat is there,
    /// and from the last beat of a write to its response.
    std::uint64_t latency_cycles = 20;
    /// Bytes that pass in a cycle, reads and writes together; 0: one beat a cycle in each direction.
    std::uint64_t bytes_per_cycle = 0;
    /// Reads, and as many writes, that may be under way at a time.
    std::uint32_t outstanding = 8;
    /// A cache before the target, with a latency for hits of its own; misses take the latency above.
    std::optional<CacheTiming> cache;
    /// An exception to both latencies.
    std::optional<Stall> stall;
};

/// The answering side of a port. Reads are answered in the order in which they came.
class Slave {
public:
    Slave(Target& target, std::uint32_t beat_bytes, const Timing& timing)
        : target_(target), beat_bytes_(beat_bytes), timing_(timing) {
        if (timing.cache) {
            cache_.emplace(*timing.cache);
        }
    }

    /// Signals to drive in the next cycle.
    const axi::SlaveSide& out() const { return out_; }

    /// Ends cycle `cycle`, in which the core drove `in`.
    void step(const axi::MasterSide& in, std::uint64_t cycle);

    std::uint64_t bytes_read() const { return bytes_read_; }
    std::uint64_t bytes_written() const { return bytes_written_; }
    const std::optional<LastLevelCache>& cache() const { return cache_; }

private:
    struct Burst {
        axi::Address address;
        /// Reads: the cycle of the first beat. Responses: the cycle of the response.
        std::uint64_t due_cycle;
        std::uint32_t beats_done;
        /// Writes: cycles from the last beat to the response.
        std::uint64_t latency_cycles = 0;
    };

    std::uint64_t latency_of(const axi::Address& address);

    void accept_write_data(const axi::WriteData& beat, std::uint64_t cycle);
    void drive_read(std::uint64_t next_cycle);
    bool is_bus_free(std::uint64_t cycle) const;
    void occupy_bus(std::uint64_t cycle, std::uint32_t bytes);

    Target& target_;
    const std::uint32_t beat_bytes_;
    const Timing timing_;
    std::optional<LastLevelCache> cache_;
    axi::SlaveSide out_;
    std::deque<Burst> reads_;
    std::deque<Burst> writes_;
    std::deque<Burst> responses_;
    /// When the data bus is free again, in bytes that could have passed since reset.
    std::uint64_t bus_free_at_ = 0;
    std::uint64_t bytes_read_ = 0;
    std::uint64_t bytes_written_ = 0;
};

#endif
