#include <algorithm>
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

/// The bytes of a model in which the bits of a signal are: at most 64 bits, from any bit on.
class Window {
public:
    explicit Window(const Signal& signal)
        : bytes_(signal.data + signal.low / 8),
          shift_(signal.low % 8),
          size_(std::min<std::size_t>(signal.element_bytes - signal.low / 8, 9)),
          mask_(signal.element_bits < 64 ? (std::uint64_t{1} << signal.element_bits) - 1 : ~std::uint64_t{0}) {
        std::memcpy(&word_, bytes_, std::min(size_, sizeof word_));
        if (size_ > sizeof word_) {
            above_ = bytes_[sizeof word_];
        }
    }

    std::uint64_t value() const {
        const std::uint64_t upper = shift_ == 0 ? 0 : above_ << (64 - shift_);
        return (word_ >> shift_ | upper) & mask_;
    }

    void set(std::uint64_t value) {
        value &= mask_;
        word_ = (word_ & ~(mask_ << shift_)) | value << shift_;
        std::memcpy(bytes_, &word_, std::min(size_, sizeof word_));
        if (shift_ != 0 && size_ > sizeof word_) {
            above_ = (above_ & ~(mask_ >> (64 - shift_))) | value >> (64 - shift_);
            bytes_[sizeof word_] = static_cast<std::uint8_t>(above_);
        }
    }

private:
    std::uint8_t* bytes_;
    std::size_t shift_;
    std::size_t size_;
    std::uint64_t mask_;
    std::uint64_t word_ = 0;
    std::uint64_t above_ = 0;
};

}  // namespace

std::uint64_t Signal::value() const {
    const Window window(*this);
    return window.value();
}

void Signal::set(std::uint64_t value) const {
    if (element_bits > 64) {
        std::memset(data, 0, element_bytes);
    }
    Window window(*this);
    window.set(value);
}

void Signal::set_random(std::uint64_t seed) const {
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
    const std::size_t bit = at % element_bits + low;
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
