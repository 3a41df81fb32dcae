#include "engines.h"

#include <map>
#include <stdexcept>

#include "model_signal.h"
#include "options.h"

namespace {

/// Of a digest of SHA-256.
constexpr std::size_t kDigestBytes = 32;

// Pages of registers (hw/soc/rtl/soc_pkg.sv), and where results begin in those of SHA-3, Ed25519 and hash-based signatures:
// status and identification are before them.
constexpr std::uint32_t kPageBits = 12;
constexpr std::uint32_t kPages = 0xf;
constexpr std::uint32_t kPageSha3 = 4;
constexpr std::uint32_t kPageEd25519 = 5;
constexpr std::uint32_t kPageXmss = 7;
constexpr std::uint32_t kResults = 0x80;
// hw/ip/xmss/data/xmss.rdl.
constexpr std::uint32_t kXmssId = 0x00;
constexpr std::uint32_t kXmssStatus = 0x10;
constexpr std::uint32_t kXmssDone = 1 << 2;
// hw/ip/aes/data/aes.rdl.
constexpr std::uint32_t kPageAes = 9;
constexpr std::uint32_t kAesDataOut = 0x50;
constexpr std::uint32_t kAesDataOutEnd = 0x60;
// hw/ip/bignum/data/bignum.rdl.
constexpr std::uint32_t kPageBignum = 0xa;
constexpr std::uint32_t kBignumId = 0x00;
constexpr std::uint32_t kBignumStatus = 0x14;
constexpr std::uint32_t kBignumIdle = 1;
constexpr std::uint32_t kBignumOutcome = 0x24;
constexpr std::uint32_t kBignumGood = 0xc33cc33c;
constexpr std::uint32_t kBignumBadSignature = 0x96699669;
constexpr std::uint32_t kBignumData = 0x2c;
constexpr std::uint8_t kIllegal = 0;
constexpr std::uint32_t kStuck = std::uint32_t{1} << 31;

const std::map<std::string, Upset::Engine> kEngines = {
    {"sha2", Upset::Engine::kSha2},
    {"dma", Upset::Engine::kDma},
    {"sha3", Upset::Engine::kSha3},
    {"ed25519", Upset::Engine::kEd25519},
    {"mailbox", Upset::Engine::kMailbox},
    {"xmss", Upset::Engine::kXmss},
    {"aes", Upset::Engine::kAes},
    {"bignum", Upset::Engine::kBignum},
};

const std::map<std::string, Reading> kReadings = {
    {"sha3", Reading::kSha3Wrong},
    {"ed25519", Reading::kEd25519Wrong},
    {"xmss", Reading::kXmssWrong},
    {"xmss-absent", Reading::kXmssAbsent},
    {"xmss-silent", Reading::kXmssSilent},
    {"aes", Reading::kAesWrong},
    {"bignum", Reading::kBignumWrong},
    {"bignum-once", Reading::kBignumOnce},
    {"bignum-data-once", Reading::kBignumDataOnce},
    {"bignum-absent", Reading::kBignumAbsent},
    {"bignum-silent", Reading::kBignumSilent},
};

/// State of an engine that not every root of trust has.
std::uint8_t& of_some(std::uint8_t* state) {
    if (state == nullptr) {
        throw std::invalid_argument("this root of trust does not have the engine");
    }
    return *state;
}

}  // namespace

Engines::Engines(VerilatedContext& context, const std::string& scope) {
    const std::string registers = scope + ".u_registers.";
    digest_ = find_signal<std::uint32_t>(context, registers + "u_sha2.g_engine[0].u_hmac", "digest_q",
                                         kDigestBytes);
    sha2_state_ = find_signal<std::uint8_t>(context, registers + "u_sha2.g_engine[0].u_hmac.u_state.u_flop", "value_q");
    read_address_ = find_signal<const std::uint32_t>(context, registers + "u_bus.u_bridge", "addr_q");
    read_data_ = find_signal<std::uint32_t>(context, registers + "u_bus.u_bridge", "rdata_q");
    secret_read_ = find_signal<const std::uint8_t>(context, registers + "u_secret", "read");
    secret_is_word_ = find_signal<const std::uint8_t>(context, registers + "u_secret", "is_word");
    secret_is_shut_ = find_signal<std::uint8_t>(context, registers + "u_secret", "shut_q");
    dma_state_ = find_signal<std::uint8_t>(context, registers + "u_dma.u_core.u_state.u_flop", "value_q");
    sha3_state_ = find_signal<std::uint8_t>(context, registers + "u_sha3.u_core.u_control.u_state.u_flop", "value_q");
    ed25519_state_ = find_signal<std::uint8_t>(context, registers + "u_ed25519.u_core.u_control.u_state.u_flop", "value_q");
    mailbox_state_ = find_signal<std::uint8_t>(context, registers + "u_mailbox.u_core.u_state.u_flop", "value_q");
    const std::string xmss = registers + "u_xmss";
    xmss_state_ = find_signal<std::uint8_t>(context, xmss + ".g_xmss.u_core.u_control.u_state.u_flop", "value_q");
    aes_state_ = find_optional<std::uint8_t>(context, registers + "g_aes.u_aes.u_aes.u_modes.u_state.u_flop", "value_q");
    bignum_state_ =
        find_optional<std::uint8_t>(context, registers + "g_bignum.u_bignum.u_core.u_control.u_state.u_flop", "value_q");
    xmss_starts_ = find_signal<const std::uint8_t>(context, xmss, "starts");
    xmss_done_ = find_signal<const std::uint8_t>(context, xmss, "done");
    mailbox_ = find_signal<const std::uint8_t>(context, registers + "u_mailbox.u_core", "view_o");
}

void Engines::upset_result(Reading reading) {
    const std::uint32_t page = *read_address_ >> kPageBits & kPages;
    const std::uint32_t offset = *read_address_ & ((std::uint32_t{1} << kPageBits) - 1);
    const auto is_result_of = [&](std::uint32_t wanted) { return page == wanted && offset >= kResults; };
    bool is_stuck = false;
    switch (reading) {
        case Reading::kSha3Wrong: is_stuck = is_result_of(kPageSha3); break;
        case Reading::kEd25519Wrong: is_stuck = is_result_of(kPageEd25519); break;
        case Reading::kXmssWrong: is_stuck = is_result_of(kPageXmss); break;
        case Reading::kXmssAbsent:
            if (page == kPageXmss && offset == kXmssId) {
                put(*read_data_, std::uint32_t{0});
            }
            break;
        case Reading::kXmssSilent:
            if (page == kPageXmss && offset == kXmssStatus) {
                put(*read_data_, *read_data_ & ~kXmssDone);
            }
            break;
        case Reading::kAesWrong:
            is_stuck = page == kPageAes && offset >= kAesDataOut && offset < kAesDataOutEnd;
            break;
        case Reading::kBignumWrong:
            // The verdicts on a right and on a wrong signature have the same highest bit.
            if (page == kPageBignum && offset == kBignumOutcome && *read_data_ != 0) {
                put(*read_data_, kBignumGood);
            }
            is_stuck = page == kPageBignum && offset == kBignumData;
            break;
        case Reading::kBignumOnce:
            lie_once(page == kPageBignum && offset == kBignumOutcome, *read_data_ == kBignumBadSignature, kBignumGood);
            break;
        case Reading::kBignumDataOnce:
            // Operands are written to the same register, before there is an outcome.
            has_outcome_ = has_outcome_ || (page == kPageBignum && offset == kBignumOutcome);
            lie_once(page == kPageBignum && offset == kBignumData, has_outcome_, 0);
            break;
        case Reading::kBignumAbsent:
            if (page == kPageBignum && offset == kBignumId) {
                put(*read_data_, std::uint32_t{0});
            }
            break;
        case Reading::kBignumSilent:
            if (page == kPageBignum && offset == kBignumStatus) {
                put(*read_data_, *read_data_ & ~kBignumIdle);
            }
            break;
    }
    if (is_stuck) {
        put(*read_data_, *read_data_ | kStuck);
    }
}

void Engines::lie_once(bool is_register, bool is_time, std::uint32_t value) {
    if (!is_register) {
        has_lied_ = has_lied_ || is_lying_;
        is_lying_ = false;
        return;
    }
    is_lying_ = is_lying_ || (is_time && !has_lied_);
    if (is_lying_) {
        put(*read_data_, value);
    }
}

void Engines::observe(std::uint64_t cycle) {
    if (*xmss_starts_ != 0) {
        judged_.push_back({cycle, cycle});
        is_judging_ = true;
    } else if (is_judging_ && *xmss_done_ != 0) {
        judged_.back().done = cycle;
        is_judging_ = false;
    }
}

void Engines::upset_state(Upset::Engine engine) {
    // No state has this code (sha2_hmac.sv, dma_core.sv, sha3_control.sv, ed25519_control.sv, mailbox_core.sv,
    // xmss_control.sv, aes_modes_pkg.sv and bignum_control.sv of hw/ip).
    switch (engine) {
        case Upset::Engine::kSha2: put(*sha2_state_, kIllegal); break;
        case Upset::Engine::kDma: put(*dma_state_, kIllegal); break;
        case Upset::Engine::kSha3: put(*sha3_state_, kIllegal); break;
        case Upset::Engine::kEd25519: put(*ed25519_state_, kIllegal); break;
        case Upset::Engine::kMailbox: put(*mailbox_state_, kIllegal); break;
        case Upset::Engine::kXmss: put(*xmss_state_, kIllegal); break;
        case Upset::Engine::kAes: put(of_some(aes_state_), kIllegal); break;
        case Upset::Engine::kBignum: put(of_some(bignum_state_), kIllegal); break;
    }
}

Reading upset_of_result(const std::string& text) {
    const auto reading = kReadings.find(text);
    if (reading == kReadings.end()) {
        throw std::invalid_argument(text + " is none of sha3, ed25519, xmss, aes, bignum, bignum-once and bignum-data-once, and of "
                                           "xmss or bignum with -absent or -silent");
    }
    return reading->second;
}

Upset upset_at(const std::string& text) {
    const std::size_t at = text.find('@');
    const auto engine = kEngines.find(text.substr(0, at));
    if (at == std::string::npos || engine == kEngines.end()) {
        throw std::invalid_argument(text + " is no NAME@CYCLE of sha2, dma, sha3, ed25519, xmss, aes, bignum or "
                                           "mailbox");
    }
    return {engine->second, number(text.substr(at + 1))};
}
