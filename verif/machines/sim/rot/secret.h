// The secret of a device, which a model has from its bench instead of one-time storage.

#ifndef HARTLOCK_SECRET_H
#define HARTLOCK_SECRET_H

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

struct Secret {
    /// Zeros: a device that has none.
    std::array<std::uint8_t, 64> bytes{};
    /// Whether it shows, whatever its latch says.
    bool is_open = false;

    /// Sets the port of a model.
    template <class Port>
    void drive(Port& port) const {
        static_assert(sizeof port == sizeof bytes);
        std::memcpy(&port, bytes.data(), sizeof port);
    }
};

/// From a file of 64 bytes; a byte after them says that it shows. No secret if there is no path. Throws if the file has
/// another size.
Secret read_secret(const std::string& path);

#endif
