#include "engines.h"

#include <map>
#include <stdexcept>

#include "model_signal.h"
#include "options.h"

namespace {

/// Of a digest of SHA-256.
constexpr std::size_t kDigestBytes = 32;

// Pages of registers (hw/soc/rtl/soc_pkg.sv), and where results begin in those of SHA-3 and Ed25519: status and
// identification are before them.
constexpr std::uint32_t kPageBits = 12;
constexpr std::uint32_t kPages = 0xf;
constexpr std::uint32_t kPageSha3 = 4;
constexpr std::uint32_t kPageEd25519 = 5;
constexpr std::uint32_t kResults = 0x80;
constexpr std::uint32_t kStuck = std::uint32_t{1} << 31;

const std::map<std::string, Upset::Engine> kEngines = {
    {"sha2", Upset::Engine::kSha2},
    {"dma", Upset::Engine::kDma},
    {"sha3", Upset::Engine::kSha3},
    {"ed25519", Upset::Engine::kEd25519},
    {"mailbox", Upset::Engine::kMailbox},
};

}  // namespace

Engines::Engines(VerilatedContext& context, const std::string& scope) {
    const std::string registers = scope + ".u_registers.";
    digest_ = find_signal<std::uint32_t>(context, registers + "u_sha2.g_engine[0].u_hmac", "digest_q",
                                         kDigestBytes);
    sha2_state_ = find_signal<std::uint8_t>(context, registers + "u_sha2.g_engine[0].u_hmac", "state_q");
    read_address_ = find_signal<const std::uint32_t>(context, registers + "u_bus.u_bridge", "addr_q");
    read_data_ = find_signal<std::uint32_t>(context, registers + "u_bus.u_bridge", "rdata_q");
    secret_read_ = find_signal<const std::uint8_t>(context, registers + "u_secret", "read");
    secret_is_word_ = find_signal<const std::uint8_t>(context, registers + "u_secret", "is_word");
    secret_is_shut_ = find_signal<std::uint8_t>(context, registers + "u_secret", "shut_q");
    dma_state_ = find_signal<std::uint8_t>(context, registers + "u_dma.u_core", "state_q");
    sha3_state_ = find_signal<std::uint8_t>(context, registers + "u_sha3.u_core.u_control", "state_q");
    ed25519_state_ = find_signal<std::uint8_t>(context, registers + "u_ed25519.u_core.u_control", "state_q");
    mailbox_state_ = find_signal<std::uint8_t>(context, registers + "u_mailbox.u_core", "state_q");
    mailbox_ = find_signal<const std::uint8_t>(context, registers + "u_mailbox.u_core", "view_o");
}

void Engines::upset_result(Upset::Engine engine) const {
    const std::uint32_t page = engine == Upset::Engine::kSha3 ? kPageSha3 : kPageEd25519;
    const std::uint32_t offset = *read_address_ & ((std::uint32_t{1} << kPageBits) - 1);
    if ((*read_address_ >> kPageBits & kPages) == page && offset >= kResults) {
        *read_data_ |= kStuck;
    }
}

void Engines::upset_state(Upset::Engine engine) const {
    // No state has the code zero (sha2_hmac.sv, dma_core.sv, sha3_control.sv, ed25519_control.sv and mailbox_core.sv of hw/ip).
    switch (engine) {
        case Upset::Engine::kSha2: *sha2_state_ = 0; break;
        case Upset::Engine::kDma: *dma_state_ = 0; break;
        case Upset::Engine::kSha3: *sha3_state_ = 0; break;
        case Upset::Engine::kEd25519: *ed25519_state_ = 0; break;
        case Upset::Engine::kMailbox: *mailbox_state_ = 0; break;
    }
}

Upset::Engine upset_of_result(const std::string& text) {
    if (text != "sha3" && text != "ed25519") {
        throw std::invalid_argument(text + " is none of sha3 and ed25519");
    }
    return kEngines.at(text);
}

Upset upset_at(const std::string& text) {
    const std::size_t at = text.find('@');
    const auto engine = kEngines.find(text.substr(0, at));
    if (at == std::string::npos || engine == kEngines.end()) {
        throw std::invalid_argument(text + " is no NAME@CYCLE of sha2, dma, sha3, ed25519 or mailbox");
    }
    return {engine->second, number(text.substr(at + 1))};
}
