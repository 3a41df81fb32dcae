// A model of Rocket alone.

#include <stdexcept>

#include "machine.h"

std::unique_ptr<Machine> make_machine(Ram& ram, Devices& devices, Storage& storage,
                                      const Timing& memory, const std::optional<WavesOptions>& waves,
                                      const RotOptions& rot) {
    if (!rot.program.empty() || !rot.trace.empty() || !rot.secret.empty() || rot.has_upset || rot.noise != Noise{}) {
        throw std::runtime_error(
            "this machine has no root of trust; --rot, --trace, --secret, --noise-seed, -stuck and -absent, and --upset-engine need one");
    }
    return std::make_unique<Machine>(ram, devices, storage, memory, waves,
                                     "TOP.ExampleRocketSystem");
}
