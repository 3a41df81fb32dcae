// The devices at the uncached port (hw/soc/README.md): start-up code, console, end of the machine,
// storage, mailbox.

#ifndef HARTLOCK_DEVICES_H
#define HARTLOCK_DEVICES_H

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "slave.h"
#include "storage.h"

/// Registers of the mailbox that the firmware reads. The machine updates them every cycle.
struct Counters {
    std::uint64_t cycles = 0;
    std::uint64_t harts = 0;
    std::uint64_t memory_bytes_read = 0;
    std::uint64_t memory_bytes_written = 0;
};

/// Registers are read and written whole: 64 bits, the console 8 and the end of the machine 32.
class Devices : public Target {
public:
    /// Harts begin at `entry`, with their number in a0.
    Devices(Storage& storage, std::uint64_t entry);

    bool has(std::uint64_t address) const override;
    void read(std::uint64_t address, std::uint8_t* out, std::uint32_t count) override;
    void write(std::uint64_t address, const std::uint8_t* data, std::uint32_t count) override;

    Counters counters;
    /// The exit code of the firmware; 0 is success.
    std::optional<std::uint32_t> exit_code;
    /// Numbers that the firmware wrote to the mailbox and the machine has not taken yet.
    std::vector<std::uint64_t> marks;
    /// The boot was refused, and the host shall take an exception.
    bool is_host_trapped = false;

private:
    std::uint64_t read_mailbox(std::uint64_t offset) const;

    Storage& storage_;
    std::array<std::uint8_t, 64> start_up_{};
};

#endif
