#include "engines.h"

#include <stdexcept>

#include "verilated_syms.h"

namespace {

/// Of a digest of SHA-256.
constexpr std::size_t kDigestBytes = 32;

template <class T>
T* find(const VerilatedContext& context, const std::string& scope, const char* name, std::size_t size) {
    const VerilatedScope* found = context.scopeFind(scope.c_str());
    const VerilatedVar* variable = found == nullptr ? nullptr : found->varFind(name);
    if (variable == nullptr || variable->totalSize() != size) {
        throw std::runtime_error("the model has no " + scope + "." + name + " of the expected size");
    }
    return static_cast<T*>(variable->datap());
}

}  // namespace

Engines::Engines(VerilatedContext& context, const std::string& scope) {
    const std::string engines = scope + ".u_registers.gen_engines.";
    digest_ = find<std::uint32_t>(context, engines + "u_sha2.g_engine[0].u_hmac", "digest_q", kDigestBytes);
    mailbox_ = find<const std::uint8_t>(context, engines + "u_mailbox.u_core", "view_o", 1);
}
