#include "upset.h"

#include <stdexcept>

#include "verilated_syms.h"

namespace {

const char* const kEngine = ".u_registers.gen_engines.u_sha2.g_engine[0].u_hmac";
/// Of a digest of SHA-256.
constexpr std::uint32_t kDigestBytes = 32;

}  // namespace

EngineUpset::EngineUpset(VerilatedContext& context, const std::string& scope) {
    const VerilatedScope* engine = context.scopeFind((scope + kEngine).c_str());
    const VerilatedVar* digest = engine == nullptr ? nullptr : engine->varFind("digest_q");
    if (digest == nullptr || digest->totalSize() != kDigestBytes) {
        throw std::runtime_error("the model has no engine with a digest of 32 bytes");
    }
    word_ = static_cast<std::uint32_t*>(digest->datap());
}
