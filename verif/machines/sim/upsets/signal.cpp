#include <cstring>
#include <stdexcept>

#include "signals.h"

namespace {

const Signal* find(const std::vector<Signal>& signals, const std::string& name) {
    for (const Signal& signal : signals) {
        if (signal.name == name) {
            return &signal;
        }
    }
    return nullptr;
}

}  // namespace

std::uint64_t Signal::value() const {
    std::uint64_t value = 0;
    std::memcpy(&value, data, element_bytes < sizeof value ? element_bytes : sizeof value);
    return value;
}

void Signal::set(std::uint64_t value) const {
    std::memset(data, 0, element_bytes);
    std::memcpy(data, &value, element_bytes < sizeof value ? element_bytes : sizeof value);
}

void Signal::set_random(std::uint64_t seed) const {
    std::memset(data, 0, element_bytes);
    for (std::size_t at = 0; at < element_bits; at += 1) {
        if (at % 64 == 0) {
            // SplitMix64: neighbouring seeds give unrelated words.
            seed += 0x9E37'79B9'7F4A'7C15;
        }
        std::uint64_t word = (seed ^ seed >> 30) * 0xBF58'476D'1CE4'E5B9;
        word = (word ^ word >> 27) * 0x94D0'49BB'1331'11EB;
        word ^= word >> 31;
        set_bit(at, (word >> at % 64 & 1) != 0);
    }
}

std::uint8_t& Signal::byte_of(std::size_t at, unsigned& place) const {
    const std::size_t bit = at % element_bits;
    place = static_cast<unsigned>(bit % 8);
    return data[at / element_bits * element_bytes + bit / 8];
}

bool Signal::bit(std::size_t at) const {
    unsigned place;
    const std::uint8_t byte = byte_of(at, place);
    return (byte >> place & 1) != 0;
}

void Signal::set_bit(std::size_t at, bool value) const {
    unsigned place;
    std::uint8_t& byte = byte_of(at, place);
    byte = static_cast<std::uint8_t>((byte & ~(1U << place)) | static_cast<unsigned>(value) << place);
}

const Signal& Signals::port(const std::string& name) const {
    const Signal* const found = find(ports_, name);
    if (found == nullptr) {
        throw std::runtime_error("the model has no port " + name);
    }
    return *found;
}

const Signal& Signals::any(const std::string& name) const {
    const Signal* const found = find(registers_, name);
    return found == nullptr ? port(name) : *found;
}
