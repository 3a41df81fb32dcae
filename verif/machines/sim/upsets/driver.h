// Does what a script says, a cycle at a time, and says how it ended.

#ifndef HARTLOCK_UPSETS_DRIVER_H
#define HARTLOCK_UPSETS_DRIVER_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "script.h"

enum class End : std::uint8_t {
    kNone,       // not yet
    kDone,       // the script is at its end
    kAccepted,   // the verdict that everything is right
    kRefused,    // an error, on the bus or in a register, or another verdict
    kAlert,      // the engine has detected an upset
    kWrong,      // a word of the result is not that of the script
    kForbidden,  // a condition that must never hold
};

/// A name for reports.
const char* name_of(End end);

constexpr std::size_t kMaxWatches = 4;
constexpr std::size_t kMaxSinks = 2;

/// Everything that changes in a run beside the model. It is copied with the model's state, and compared.
struct Progress {
    std::uint32_t operation = 0;
    /// In the operation: what was handed over, or counted.
    std::uint32_t address_done = 0;
    std::uint32_t data_done = 0;
    std::uint32_t response_done = 0;
    std::uint32_t response = 0;
    std::uint32_t waited = 0;
    std::uint64_t data = 0;
    /// Cycles in which a forbidden condition has held without a break.
    std::uint32_t held[kMaxWatches] = {};
    /// Words that streams have delivered.
    std::uint32_t received[kMaxSinks] = {};
    /// Since the start of the script.
    std::uint64_t cycle = 0;
    End end = End::kNone;
    /// A forbidden condition has held for fewer cycles than count.
    bool was_brief = false;
    /// A word of the result is not that of the script. Software releases a result when it has all of it and
    /// the script has checked what it checks after it.
    bool is_wrong = false;

    bool operator==(const Progress&) const = default;
};

class Driver {
public:
    Driver(const Script& script, const Signals& signals);

    /// Drives the inputs of a cycle.
    void drive(const Progress& progress);

    /// Looks at the outputs of the cycle, which have settled, and goes on. Returns the marks that the next cycle has.
    void observe(Progress& progress);

    /// Names of marks that `observe` went past.
    std::vector<std::string> marks;

private:
    struct Bus {
        const Signal *awvalid, *awready, *awaddr, *wvalid, *wready, *wdata, *wstrb, *bvalid, *bready, *bresp;
        const Signal *arvalid, *arready, *araddr, *rvalid, *rready, *rdata, *rresp;
    };
    struct Stream {
        const Signal *valid, *ready, *data, *bytes, *last;
    };

    void watch(Progress& progress) const;
    void receive(Progress& progress) const;
    bool is_drained(const std::string& name, const Progress& progress) const;
    static void write(const Bus& bus, Progress& progress);
    static void read(const Operation& operation, const Bus& bus, Progress& progress);
    static void judge(const Operation& operation, Progress& progress);
    void skip_marks(Progress& progress);

    const Script& script_;
    const Signal* reset_;
    std::map<std::string, Bus> buses_;
    std::map<std::string, Stream> streams_;
    /// Of each operation, if it has one.
    std::vector<const Bus*> bus_of_;
    std::vector<const Stream*> stream_of_;
    /// Those that are zero unless an operation drives them.
    std::vector<const Signal*> valids_;
};

#endif
