// A timing model of the last-level cache: the addresses of its lines, not their contents.

#ifndef HARTLOCK_CACHE_H
#define HARTLOCK_CACHE_H

#include <cstdint>
#include <vector>

struct CacheTiming {
    std::uint64_t size_bytes = 128 << 10;
    std::uint64_t line_bytes = 64;
    std::uint32_t ways = 8;
    /// From the address of a read to its first beat, from the last beat of a write to its response.
    std::uint64_t hit_cycles = 21;
};

/// Set associative with least-recently-used replacement. Reads and writes both allocate lines. The write-back
/// of a dirty line delays no access: a write buffer is assumed.
class LastLevelCache {
public:
    /// Throws if sizes are no powers of two or do not fit together.
    explicit LastLevelCache(const CacheTiming& timing);

    /// Uses the line of an address, and says whether it was there before.
    bool touch(std::uint64_t address);

    std::uint64_t hits() const { return hits_; }
    std::uint64_t misses() const { return misses_; }

private:
    struct Way {
        std::uint64_t line = ~std::uint64_t{0};
        /// When it was used last; 0: never.
        std::uint64_t used = 0;
    };

    const std::uint64_t line_bytes_;
    const std::uint32_t ways_;
    const std::uint64_t sets_;
    std::vector<Way> lines_;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
};

#endif
