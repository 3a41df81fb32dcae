// Access of the bench to signals inside the engines of the root of trust.

#ifndef HARTLOCK_ENGINES_H
#define HARTLOCK_ENGINES_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verilated.h"

/// An illegal state of the state machine of an engine, in one cycle. The engine answers it with an alert.
struct Upset {
    enum class Engine { kSha2, kDma, kSha3, kEd25519, kMailbox, kXmss, kAes, kBignum };
    Engine engine = Engine::kSha2;
    std::uint64_t cycle = 0;
};

/// An upset from the name of an engine and a cycle, as `sha2@CYCLE`. Throws if it is another text.
Upset upset_at(const std::string& text);

/// What is wrong with what the core reads of an engine.
enum class Reading {
    kSha3Wrong,
    kEd25519Wrong,
    kXmssWrong,
    kXmssAbsent,
    kXmssSilent,
    kAesWrong,
    kBignumWrong,
    kBignumOnce,
    kBignumDataOnce,
    kBignumAbsent,
    kBignumSilent
};

/// A wrong reading from its name: `sha3`, `ed25519`, `xmss`, `aes` or `bignum` has a bit of every result stuck, one that is
/// `-absent` is not there, one that is `-silent` never says that it is done. `bignum-once` finds the first wrong signature right,
/// once, and `bignum-data-once` gives zeros as its first result. Throws if it is another text.
Reading upset_of_result(const std::string& text);

/// A signature that the engine has judged: the cycle of the command, and that of the verdict.
struct Judged {
    std::uint64_t start = 0;
    std::uint64_t done = 0;
};

class Engines {
public:
    /// Those of the root of trust at `scope`. Throws if there are none.
    Engines(VerilatedContext& context, const std::string& scope);

    /// Emulates a broken SHA-2 engine, if it is called in every cycle: bits of its digest are stuck. It
    /// starts, takes messages and ends as a correct one does, but its digests are wrong.
    void upset_digest() { put(*digest_, ~std::uint32_t{0}); }

    /// Emulates a broken engine, if it is called in every cycle: what the core reads of it is wrong. The engine itself works on.
    void upset_result(Reading reading);

    /// Notes when the engine for hash-based signatures starts and ends, if it is called in every cycle.
    void observe(std::uint64_t cycle);
    /// The signatures that it has judged.
    const std::vector<Judged>& judged() const { return judged_; }

    /// Whether a word of the secret of the device is read in this cycle, and its latch shows it.
    bool shows_secret() const { return *secret_read_ != 0 && *secret_is_word_ != 0 && !is_secret_shut(); }

    /// Whether the latch is closed.
    bool is_secret_shut() const { return *secret_is_shut_ != 0; }

    /// Opens the secret of the device in the next cycle, whatever its latch was told.
    void open_secret() { put(*secret_is_shut_, std::uint8_t{0}); }

    /// Makes the state illegal in the next cycle. Throws if this root of trust does not have the engine.
    void upset_state(Upset::Engine engine);

    /// Whether one of these has changed something since this was asked last. The model takes its signals for unchanged: what
    /// depends on them has to be evaluated.
    bool take_change() { return std::exchange(has_changed_, false); }

    /// State of the mailbox, by the numbers of its register `status`.
    std::uint32_t mailbox_state() const { return *mailbox_; }

private:
    template <class T>
    void put(T& signal, T value) {
        has_changed_ = has_changed_ || signal != value;
        signal = value;
    }

    /// Makes what the core reads of a register this value, up to its next access to another one, and never again.
    void lie_once(bool is_register, bool is_time, std::uint32_t value);

    bool has_changed_ = false;
    // Of `lie_once`: it does so now; it has.
    bool is_lying_ = false;
    bool has_lied_ = false;
    // Of `kBignumDataOnce`: an outcome was read.
    bool has_outcome_ = false;
    std::uint32_t* digest_;
    const std::uint32_t* read_address_;
    std::uint32_t* read_data_;
    const std::uint8_t* secret_read_;
    const std::uint8_t* secret_is_word_;
    std::uint8_t* secret_is_shut_;
    std::uint8_t* sha2_state_;
    std::uint8_t* dma_state_;
    std::uint8_t* sha3_state_;
    std::uint8_t* ed25519_state_;
    std::uint8_t* mailbox_state_;
    std::uint8_t* xmss_state_;
    // Not every root of trust has these.
    std::uint8_t* aes_state_;
    std::uint8_t* bignum_state_;
    const std::uint8_t* xmss_starts_;
    const std::uint8_t* xmss_done_;
    bool is_judging_ = false;
    std::vector<Judged> judged_;
    const std::uint8_t* mailbox_;
};

#endif
