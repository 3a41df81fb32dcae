// Block storage that delivers into memory by itself (hw/soc/README.md, "Storage").
//
// It writes through the core's port for other masters, so caches stay coherent and deliveries compete
// with the harts for the memory, as those of a real disk controller.

#ifndef HARTLOCK_STORAGE_H
#define HARTLOCK_STORAGE_H

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "axi.h"

struct StorageTiming {
    /// How fast the medium delivers; a bus or a memory that is slower slows it down.
    std::uint64_t bytes_per_1000_cycles = 1000;
    /// From the start of a request to its first byte.
    std::uint64_t latency_cycles = 0;
};

class Storage {
public:
    static constexpr std::uint64_t kSectorBytes = 512;
    static constexpr std::uint32_t kQueueLength = 16;

    Storage(std::vector<std::uint8_t> medium, const StorageTiming& timing);

    std::uint64_t read_register(std::uint64_t offset) const;
    void write_register(std::uint64_t offset, std::uint64_t value);

    /// Signals to drive in the next cycle.
    const axi::MasterSide& out() const { return out_; }

    /// Ends a cycle in which the core drove `in`.
    void step(const axi::SlaveSide& in);

    std::uint64_t bytes_delivered() const { return bytes_delivered_; }

private:
    /// Bytes of a write: a line of the caches.
    static constexpr std::uint64_t kBurstBytes = 64;
    static constexpr std::uint32_t kBeatBytes = 8;
    /// Writes that may be under way; their numbers are their AXI ids.
    static constexpr std::uint32_t kBurstsUnderWay = 8;

    struct Request {
        std::uint64_t offset;
        std::uint64_t address;
        std::uint64_t bytes;
        std::uint64_t cycles_waited = 0;
        /// Bytes handed to the bus, and bytes of which the memory confirmed the arrival.
        std::uint64_t bytes_sent = 0;
        std::uint64_t bytes_arrived = 0;
    };

    void start(std::uint64_t sectors);
    bool earn();
    void begin_burst(std::uint32_t id);
    void drive_beat();
    void finish_burst(std::uint32_t id);
    std::deque<Request>::iterator unsent();

    const std::vector<std::uint8_t> medium_;
    const StorageTiming timing_;
    axi::MasterSide out_;
    std::deque<Request> queue_;
    std::uint64_t sector_ = 0;
    std::uint64_t address_ = 0;
    std::uint64_t done_count_ = 0;
    std::uint64_t refused_count_ = 0;
    std::uint64_t bytes_delivered_ = 0;
    /// Thousandths of bytes that the medium has ready.
    std::uint64_t credit_ = 0;
    /// The burst that is being sent: its source and the number of bytes already sent.
    std::uint64_t burst_offset_ = 0;
    std::uint64_t burst_sent_ = kBurstBytes;
    /// The request of an outstanding burst, by AXI id: its number among all started requests.
    std::array<std::optional<std::uint64_t>, kBurstsUnderWay> owners_{};
};

#endif
