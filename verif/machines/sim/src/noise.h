// The noise source of a root of trust, which is a model (hw/soc/top/noise_model.sv).

#ifndef HARTLOCK_NOISE_H
#define HARTLOCK_NOISE_H

#include <cstdint>

struct Noise {
    /// What its numbers follow from. It is always the same, so that cycles repeat, if no option says otherwise.
    std::uint32_t seed = 1;
    /// It delivers one number for ever, or nothing.
    bool is_stuck = false;
    bool is_absent = false;

    bool operator==(const Noise&) const = default;

    /// Sets the ports of a model.
    template <class Model>
    void drive(Model& model) const {
        model.noise_seed_i = seed;
        model.noise_is_stuck_i = is_stuck;
        model.noise_is_absent_i = is_absent;
    }
};

#endif
