// Runs of an engine in which one upset each happens, and how they end.

#ifndef HARTLOCK_UPSETS_CAMPAIGN_H
#define HARTLOCK_UPSETS_CAMPAIGN_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver.h"
#include "model.h"

/// What happens to neighbouring bits of a register.
enum class Effect : std::uint8_t { kFlip, kStuckAtZero, kStuckAtOne };

struct Upset {
    std::uint64_t cycle = 0;
    std::size_t signal = 0;
    std::size_t bit = 0;
    std::size_t bits = 1;
    Effect effect = Effect::kFlip;
    /// Of a stuck bit.
    std::uint64_t cycles = 1;
};

struct Result {
    End end = End::kNone;
    bool was_brief = false;
    /// It is in the state of the undisturbed run, and ends as that does.
    bool is_masked = false;
    /// After the upset.
    std::uint64_t cycles = 0;
};

class Campaign {
public:
    /// Runs the script once. A run with an upset may take `patience` cycles more.
    Campaign(Model& model, const Script& script, std::uint64_t patience);

    std::uint64_t cycles() const { return digests_.size(); }
    End end() const { return end_; }
    const std::map<std::string, std::uint64_t>& marks() const { return marks_; }

    /// Goes on to a cycle, which may not be earlier than that of the last upset, and from there once with the upset.
    Result run(const Upset& upset);

    /// Goes back to the start.
    void rewind();

    /// Runs from a snapshot at each of these cycles without an upset, and compares every cycle with the first run.
    /// Throws if one differs: then the snapshot is not everything.
    void check_snapshots(std::uint64_t distance);

private:
    std::uint64_t digest(const Progress& progress) const;
    void step(Progress& progress);
    void advance_to(std::uint64_t cycle);
    void apply(const Upset& upset);

    Model& model_;
    Driver driver_;
    const Script& script_;
    const std::uint64_t patience_;
    Snapshot start_;
    Snapshot here_;
    /// The undisturbed run: where it is, and the state at the start of each of its cycles.
    Progress progress_;
    std::uint64_t cycle_ = 0;
    std::vector<std::uint64_t> digests_;
    std::map<std::string, std::uint64_t> marks_;
    End end_ = End::kNone;
};

#endif
