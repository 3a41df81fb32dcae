#include "campaign.h"

#include <stdexcept>

namespace {

/// No script takes as many cycles.
constexpr std::uint64_t kMostCycles = 50'000'000;
/// A run that is in the same state twice within so many cycles hangs: software polls an engine that does nothing. It is
/// looked for after as many as `kEarliestHang`, because a digest costs more than a cycle of a small engine.
constexpr std::uint64_t kLongestPoll = 32;
constexpr std::uint64_t kEarliestHang = 256;

}  // namespace

Campaign::Campaign(Model& model, const Script& script, std::uint64_t patience)
    : model_(model), driver_(script, model.signals()), script_(script), patience_(patience) {
    model_.settle();
    model_.save(start_);
    std::map<std::string, bool> seen;
    while (progress_.end == End::kNone) {
        if (digests_.size() >= kMostCycles) {
            throw std::runtime_error("the script does not end without an upset");
        }
        digests_.push_back(digest(progress_));
        driver_.drive(progress_);
        model_.settle();
        for (const Event& event : script_.events) {
            if ((event.signal->value() & event.mask) == event.value) {
                marks_.try_emplace(event.name, digests_.size() - 1);
            }
        }
        driver_.observe(progress_);
        model_.edge();
        for (const std::string& mark : driver_.marks) {
            marks_[mark] = digests_.size();
        }
        driver_.marks.clear();
    }
    for (const Event& event : script_.events) {
        if (!marks_.contains(event.name)) {
            throw std::runtime_error("the event " + event.name + " does not come");
        }
    }
    marks_["start"] = 0;
    marks_["end"] = digests_.size();
    end_ = progress_.end;
    if (progress_.was_brief) {
        throw std::runtime_error("a forbidden condition holds without an upset");
    }
    rewind();
}

void Campaign::rewind() {
    model_.restore(start_);
    progress_ = {};
    cycle_ = 0;
}

std::uint64_t Campaign::digest(const Progress& progress) const {
    // What the driver did is a function of its operation and of what it counts there.
    std::uint64_t digest = model_.digest() + std::uint64_t{progress.is_wrong};
    for (const std::uint64_t part :
         {std::uint64_t{progress.operation}, std::uint64_t{progress.address_done} << 1 | progress.data_done,
          std::uint64_t{progress.response_done} << 32 | progress.response, progress.data,
          std::uint64_t{progress.waited}, std::uint64_t{progress.received[0]} << 32 | progress.received[1],
          static_cast<std::uint64_t>(progress.end)}) {
        digest = (digest ^ part) * 0x9E37'79B9'7F4A'7C15 + 1;
        digest ^= digest >> 29;
    }
    return digest;
}

void Campaign::step(Progress& progress) {
    driver_.drive(progress);
    model_.settle();
    driver_.observe(progress);
    driver_.marks.clear();
    if (progress.end == End::kNone) {
        model_.edge();
    }
}

void Campaign::advance_to(std::uint64_t cycle) {
    if (cycle < cycle_ || cycle >= digests_.size()) {
        throw std::runtime_error("cycle " + std::to_string(cycle) + " is not ahead");
    }
    for (; cycle_ < cycle; cycle_ += 1) {
        step(progress_);
    }
}

void Campaign::apply(const Upset& upset) {
    const Signal& signal = model_.signals().registers().at(upset.signal);
    if (upset.bit + upset.bits > signal.bits()) {
        throw std::runtime_error(signal.name + " has no bit " + std::to_string(upset.bit));
    }
    for (std::size_t bit = upset.bit; bit < upset.bit + upset.bits; bit += 1) {
        const bool flipped = !signal.bit(bit);
        signal.set_bit(bit, upset.effect == Effect::kFlip ? flipped : upset.effect == Effect::kStuckAtOne);
    }
}

Result Campaign::run(const Upset& upset) {
    advance_to(upset.cycle);
    model_.save(here_);
    Progress progress = progress_;
    Result result;
    const std::uint64_t upset_until = upset.effect == Effect::kFlip ? 1 : upset.cycles;
    // States are compared at distances that double: most upsets are overwritten soon, and a comparison costs more
    // than a cycle of a small engine.
    std::uint64_t compare_at = upset_until;
    const std::uint64_t limit = digests_.size() - upset.cycle + patience_;
    // Other inputs in every cycle may end what looks like a hang.
    const bool can_repeat = script_.noises.empty();
    std::uint64_t before = 0;
    std::uint64_t repeats_until = 0;
    for (; result.cycles < limit && progress.end == End::kNone; result.cycles += 1) {
        if (result.cycles < upset_until) {
            apply(upset);
        } else if (result.cycles == compare_at) {
            const std::uint64_t cycle = upset.cycle + result.cycles;
            before = digest(progress);
            if (cycle < digests_.size() && before == digests_[cycle]) {
                result.is_masked = true;
                break;
            }
            repeats_until = can_repeat && compare_at >= kEarliestHang ? compare_at + kLongestPoll : 0;
            compare_at *= 2;
        } else if (result.cycles < repeats_until && digest(progress) == before) {
            break;
        }
        step(progress);
    }
    result.end = result.is_masked ? end_ : progress.end;
    result.was_brief = progress.was_brief;
    model_.restore(here_);
    return result;
}

void Campaign::check_snapshots(std::uint64_t distance) {
    for (std::uint64_t from = 0; from < digests_.size(); from += distance) {
        advance_to(from);
        model_.save(here_);
        Progress progress = progress_;
        // Another run in between, of another state, must leave nothing.
        for (int cycle = 0; cycle < 100 && progress.end == End::kNone; cycle += 1) {
            for (const Signal& signal : model_.signals().registers()) {
                signal.set_bit(static_cast<std::size_t>(cycle) % signal.bits(), cycle % 3 != 0);
            }
            step(progress);
        }
        model_.restore(here_);
        progress = progress_;
        for (std::uint64_t cycle = from; progress.end == End::kNone; cycle += 1) {
            if (cycle >= digests_.size() || digest(progress) != digests_[cycle]) {
                throw std::runtime_error("a run from a snapshot at cycle " + std::to_string(from) +
                                         " differs in cycle " + std::to_string(cycle));
            }
            step(progress);
        }
        model_.restore(here_);
    }
    rewind();
}
