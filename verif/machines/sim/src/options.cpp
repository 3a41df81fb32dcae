#include "options.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>

std::uint64_t number(const std::string& text) {
    const char* const start = text.c_str();
    char* end = nullptr;
    errno = 0;
    const std::uint64_t value = std::strtoull(start, &end, 0);
    // The function itself takes spaces, signs and nothing at all.
    if (!std::isdigit(static_cast<unsigned char>(*start)) || *end != '\0' || errno != 0) {
        throw std::invalid_argument("not a number: " + text);
    }
    return value;
}

Stall stalled_page(const std::string& text) {
    const std::size_t at = text.rfind('@');
    if (at == std::string::npos) {
        throw std::invalid_argument("--stall takes ADDRESS@CYCLES, not " + text);
    }
    return {number(text.substr(0, at)), number(text.substr(at + 1))};
}

std::pair<std::string, std::uint64_t> placed_file(const std::string& text) {
    const std::size_t at = text.rfind('@');
    if (at == std::string::npos) {
        throw std::invalid_argument("--load takes FILE@ADDRESS, not " + text);
    }
    return {text.substr(0, at), number(text.substr(at + 1))};
}
