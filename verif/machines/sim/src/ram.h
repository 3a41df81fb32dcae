// The memory of the machine, and how programs get into it.

#ifndef HARTLOCK_RAM_H
#define HARTLOCK_RAM_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "slave.h"

/// The whole of a file. Throws with a sentence if that fails.
std::vector<std::uint8_t> read_file(const std::string& path);

/// Writes a file of these bytes. Throws if that fails.
void write_file(const std::string& path, const std::uint8_t* bytes, std::size_t count);

/// 2 GiB from 0x8000_0000 on. Every byte is 0 until it is written; the host gives pages on demand.
class Ram : public Target {
public:
    static constexpr std::uint64_t kStart = 0x8000'0000;
    static constexpr std::uint64_t kSize = 0x8000'0000;

    /// Memory of which only the first `size` bytes answer; the rest is an error of the bus.
    explicit Ram(std::uint64_t size = kSize);
    ~Ram() override;
    Ram(const Ram&) = delete;
    Ram& operator=(const Ram&) = delete;

    bool has(std::uint64_t address) const override;
    void read(std::uint64_t address, std::uint8_t* out, std::uint32_t count) override;
    void write(std::uint64_t address, const std::uint8_t* data, std::uint32_t count) override;

    /// Copies a program: an ELF file to where it says, anything else to the start of memory.
    /// Returns its entry. Throws if it does not fit.
    std::uint64_t load_program(const std::string& path);

    /// Copies a file to an address.
    void load_file(const std::string& path, std::uint64_t address);

    /// Writes bytes from an address on to a file. Throws if they are not in memory, or that fails.
    void save(const std::string& path, std::uint64_t address, std::uint64_t count) const;

    /// Copies bytes to an address; `path` is for the message if they do not fit.
    void put(std::uint64_t address, const std::uint8_t* data, std::uint64_t count,
             const std::string& path);

private:
    const std::uint64_t size_;
    std::uint8_t* bytes_;
};

#endif
