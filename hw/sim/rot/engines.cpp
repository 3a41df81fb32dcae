#include "engines.h"

#include <stdexcept>

#include "model_signal.h"
#include "options.h"

namespace {

/// Of a digest of SHA-256.
constexpr std::size_t kDigestBytes = 32;

}  // namespace

Engines::Engines(VerilatedContext& context, const std::string& scope) {
    const std::string registers = scope + ".u_registers.";
    digest_ = find_signal<std::uint32_t>(context, registers + "u_sha2.g_engine[0].u_hmac", "digest_q",
                                         kDigestBytes);
    sha2_state_ = find_signal<std::uint8_t>(context, registers + "u_sha2.g_engine[0].u_hmac", "state_q");
    mailbox_state_ = find_signal<std::uint8_t>(context, registers + "u_mailbox.u_core", "state_q");
    mailbox_ = find_signal<const std::uint8_t>(context, registers + "u_mailbox.u_core", "view_o");
}

void Engines::upset_state(Upset::Engine engine) const {
    // No state has the code zero (hw/ip/sha2/rtl/sha2_hmac.sv, hw/ip/mailbox/rtl/mailbox_core.sv).
    *(engine == Upset::Engine::kSha2 ? sha2_state_ : mailbox_state_) = 0;
}

Upset upset_at(const std::string& text) {
    const std::size_t at = text.find('@');
    const std::string name = text.substr(0, at);
    if (at == std::string::npos || (name != "sha2" && name != "mailbox")) {
        throw std::invalid_argument(text + " is neither sha2@CYCLE nor mailbox@CYCLE");
    }
    const auto engine = name == "sha2" ? Upset::Engine::kSha2 : Upset::Engine::kMailbox;
    return {engine, number(text.substr(at + 1))};
}
