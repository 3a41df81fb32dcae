#include "secret.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "ram.h"

Secret read_secret(const std::string& path) {
    Secret secret;
    if (path.empty()) {
        return secret;
    }
    const std::vector<std::uint8_t> file = read_file(path);
    secret.is_open = file.size() == secret.bytes.size() + 1;
    if (file.size() != secret.bytes.size() && !secret.is_open) {
        throw std::runtime_error("the secret of the device has 64 bytes");
    }
    std::copy_n(file.begin(), secret.bytes.size(), secret.bytes.begin());
    return secret;
}
