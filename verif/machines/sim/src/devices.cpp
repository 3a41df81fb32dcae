#include "devices.h"

#include <cstdio>
#include <cstring>

namespace {

// The folder of a device is 16 MiB; the core's own ROM jumps to the first.
enum Folder : std::uint64_t {
    kStartUp = 0x10,
    kConsole = 0x11,
    kEnd = 0x12,
    kStorage = 0x13,
    kMailbox = 0x14,
};

constexpr std::uint64_t folder_of(std::uint64_t address) { return address >> 24; }
constexpr std::uint64_t offset_in(std::uint64_t address) { return address & 0xff'ffff; }

// The registers of a 16550 that polled output uses.
constexpr std::uint64_t kTransmit = 0;
constexpr std::uint64_t kLineStatus = 5;
constexpr std::uint8_t kTransmitterEmpty = 0x60;

// Values that QEMU's test device accepts.
constexpr std::uint32_t kPass = 0x5555;
constexpr std::uint32_t kFail = 0x3333;

constexpr std::uint64_t kMark = 0x20;

// csrr a0, mhartid; auipc t0, 0; ld t0, 12(t0); jr t0; then the entry.
constexpr std::uint32_t kJump[] = {0xf1402573, 0x00000297, 0x00c2b283, 0x00028067};

}  // namespace

Devices::Devices(Storage& storage, std::uint64_t entry) : storage_(storage) {
    std::memcpy(start_up_.data(), kJump, sizeof kJump);
    std::memcpy(start_up_.data() + sizeof kJump, &entry, sizeof entry);
}

// After a refusal the fetch of the first instruction fails, so that the host takes an exception.
bool Devices::has(std::uint64_t address) const {
    return !is_host_trapped || folder_of(address) != kStartUp;
}

void Devices::read(std::uint64_t address, std::uint8_t* out, std::uint32_t count) {
    const std::uint64_t offset = offset_in(address);
    std::uint64_t value = 0;
    switch (folder_of(address)) {
        case kStartUp:
            std::memset(out, 0, count);
            if (offset + count <= start_up_.size()) {
                std::memcpy(out, &start_up_[offset], count);
            }
            return;
        case kConsole: value = offset == kLineStatus ? kTransmitterEmpty : 0; break;
        case kStorage: value = storage_.read_register(offset); break;
        case kMailbox: value = read_mailbox(offset); break;
        default: break;
    }
    std::memset(out, 0, count);
    std::memcpy(out, &value, count < sizeof value ? count : sizeof value);
}

void Devices::write(std::uint64_t address, const std::uint8_t* data, std::uint32_t count) {
    const std::uint64_t offset = offset_in(address);
    std::uint64_t value = 0;
    std::memcpy(&value, data, count < sizeof value ? count : sizeof value);
    switch (folder_of(address)) {
        case kConsole:
            if (offset == kTransmit) {
                std::putchar(static_cast<int>(value & 0xff));
            }
            break;
        case kEnd:
            if ((value & 0xffff) == kPass) {
                exit_code = 0;
            } else if ((value & 0xffff) == kFail) {
                exit_code = static_cast<std::uint32_t>(value >> 16);
            }
            break;
        case kStorage: storage_.write_register(offset, value); break;
        case kMailbox:
            if (offset == kMark) {
                marks.push_back(value);
            }
            break;
        default: break;
    }
}

std::uint64_t Devices::read_mailbox(std::uint64_t offset) const {
    switch (offset) {
        case 0x00: return counters.cycles;
        case 0x08: return counters.harts;
        case 0x10: return counters.memory_bytes_read;
        case 0x18: return counters.memory_bytes_written;
        default: return 0;
    }
}
