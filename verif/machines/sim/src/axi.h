// AXI4 as plain values: what each side of a port drives during one cycle (AMBA AXI §A3.2).
//
// A transfer happens in a cycle in which `valid` and `ready` of its channel are both set. Models sample
// a cycle at its end and return what they drive in the next one, so the order of calls does not matter.

#ifndef HARTLOCK_AXI_H
#define HARTLOCK_AXI_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace axi {

/// Bytes of the widest data channel that a configuration of the core has.
constexpr std::size_t kMaxBeatBytes = 32;

/// Responses (AMBA AXI §A3.4.4).
enum Response : std::uint8_t {
    kOkay = 0,
    kDecodeError = 3,
};

using Beat = std::array<std::uint8_t, kMaxBeatBytes>;

/// The address channels. Bursts count upwards (INCR): the core makes no others.
struct Address {
    bool valid = false;
    std::uint32_t id = 0;
    std::uint64_t address = 0;
    /// Beats after the first one.
    std::uint32_t len = 0;
    /// Logarithm of the bytes of a beat.
    std::uint32_t size = 0;
};

struct WriteData {
    bool valid = false;
    Beat data{};
    /// A bit for each byte that is written.
    std::uint32_t strobes = 0;
    bool last = false;
};

struct ReadData {
    bool valid = false;
    std::uint32_t id = 0;
    Beat data{};
    bool last = false;
    Response response = kOkay;
};

struct WriteResponse {
    bool valid = false;
    std::uint32_t id = 0;
    Response response = kOkay;
};

/// Driven by the side that sends requests.
struct MasterSide {
    Address ar;
    Address aw;
    WriteData w;
    bool r_ready = false;
    bool b_ready = false;
};

/// Driven by the side that sends responses.
struct SlaveSide {
    bool ar_ready = false;
    bool aw_ready = false;
    bool w_ready = false;
    ReadData r;
    WriteResponse b;
};

}  // namespace axi

#endif
