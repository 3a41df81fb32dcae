#include "engines.h"

#include "model_signal.h"

namespace {

/// Of a digest of SHA-256.
constexpr std::size_t kDigestBytes = 32;

}  // namespace

Engines::Engines(VerilatedContext& context, const std::string& scope) {
    const std::string registers = scope + ".u_registers.";
    digest_ = find_signal<std::uint32_t>(context, registers + "u_sha2.g_engine[0].u_hmac", "digest_q",
                                         kDigestBytes);
    mailbox_ = find_signal<const std::uint8_t>(context, registers + "u_mailbox.u_core", "view_o");
}
