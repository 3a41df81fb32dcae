#include "cache.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

LastLevelCache::LastLevelCache(const CacheTiming& timing)
    : line_bytes_(timing.line_bytes),
      ways_(timing.ways),
      sets_(timing.ways == 0 || timing.line_bytes == 0
                ? 0
                : timing.size_bytes / timing.line_bytes / timing.ways) {
    // A burst of the host has up to 64 bytes, and asks once.
    if (!std::has_single_bit(line_bytes_) || line_bytes_ < 64 || !std::has_single_bit(sets_)) {
        throw std::runtime_error("the cache needs lines of 64 bytes or more, and powers of two");
    }
    lines_.resize(sets_ * ways_);
}

bool LastLevelCache::touch(std::uint64_t address) {
    const std::uint64_t line = address / line_bytes_;
    const auto first = lines_.begin() + static_cast<std::ptrdiff_t>((line & (sets_ - 1)) * ways_);
    const auto last = first + ways_;
    auto way = std::find_if(first, last, [line](const Way& it) { return it.line == line; });
    const bool is_hit = way != last;
    if (!is_hit) {
        way = std::min_element(first, last,
                               [](const Way& one, const Way& two) { return one.used < two.used; });
        way->line = line;
    }
    hits_ += is_hit ? 1 : 0;
    misses_ += is_hit ? 0 : 1;
    // The count of accesses serves as a clock, which is unique for each access.
    way->used = hits_ + misses_;
    return is_hit;
}
