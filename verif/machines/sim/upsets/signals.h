// Registers and ports of a model, by their names in the RTL.
//
// The runner writes `signals.cpp` for each model (verif/machines/run/src/ip/upsets/model.rs): it names every register that
// Verilator's elaboration knows, so that none can be forgotten here.

#ifndef HARTLOCK_UPSETS_SIGNALS_H
#define HARTLOCK_UPSETS_SIGNALS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "verilated.h"

class Vtop___024root;

/// A register or a port: elements of the same width, each in a word of the model or in several. Or it is a field of a
/// packed structure.
struct Signal {
    std::string name;
    std::uint8_t* data;
    std::size_t element_bits;
    std::size_t element_bytes;
    std::size_t elements;
    /// The lowest bit of a field in its structure, whose bytes are `element_bytes`.
    std::size_t low = 0;

    std::size_t bits() const { return element_bits * elements; }
    std::size_t bytes() const { return element_bytes * elements; }

    /// Of one element with at most 64 bits.
    std::uint64_t value() const;
    void set(std::uint64_t value) const;

    /// All bits of an element, by a number.
    void set_random(std::uint64_t seed) const;

    /// A bit of all elements, the lowest of the first one first. Words of the model are little-endian.
    bool bit(std::size_t at) const;
    void set_bit(std::size_t at, bool value) const;

private:
    std::uint8_t& byte_of(std::size_t at, unsigned& place) const;
};

/// All of a model.
class Signals {
public:
    /// `bits` are those of an element; an unpacked array has several.
    template <class T>
    void add_register(const char* name, std::size_t bits, T& member) {
        registers_.push_back(signal(name, bits, member));
    }
    template <class T>
    void add_port(const char* name, std::size_t bits, T& member) {
        ports_.push_back(signal(name, bits, member));
    }
    /// A field with at most 64 bits of a port that is a packed structure.
    template <class T>
    void add_field(const char* name, std::size_t bits, std::size_t low, T& member) {
        ports_.push_back(signal(name, bits, member));
        ports_.back().low = low;
    }

    const std::vector<Signal>& registers() const { return registers_; }
    /// Throw if there is none.
    const Signal& port(const std::string& name) const;
    const Signal& any(const std::string& name) const;

private:
    template <class T>
    struct Shape {
        using Element = T;
        static constexpr std::size_t kElements = 1;
    };
    template <class T, std::size_t N>
    struct Shape<VlUnpacked<T, N>> {
        using Element = typename Shape<T>::Element;
        static constexpr std::size_t kElements = N * Shape<T>::kElements;
    };

    template <class T>
    static Signal signal(const char* name, std::size_t bits, T& member) {
        using Element = typename Shape<T>::Element;
        static_assert(sizeof(T) == Shape<T>::kElements * sizeof(Element), "elements follow each other");
        return {name, reinterpret_cast<std::uint8_t*>(&member), bits, sizeof(Element), Shape<T>::kElements};
    }

    std::vector<Signal> registers_;
    std::vector<Signal> ports_;
};

/// Adds all; generated.
void add_signals(Vtop___024root& root, Signals& signals);

#endif
