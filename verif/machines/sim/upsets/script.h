// What a bench does to an engine: operations on its ports, one after the other (hw/prim/tb/upset_script.py).

#ifndef HARTLOCK_UPSETS_SCRIPT_H
#define HARTLOCK_UPSETS_SCRIPT_H

#include <cstdint>
#include <string>
#include <vector>

#include "signals.h"

enum class Kind : std::uint8_t {
    kReset,    // for `value` cycles
    kSet,      // an input
    kWrite,    // a word of a register
    kPoll,     // reads a register until it has a value, or until bits say that the engine failed
    kRequire,  // reads a register: with another value the engine has refused
    kAccept,   // reads a register: this value is the verdict that everything is right
    kOutput,   // reads a word of a result
    kSend,     // a word of a stream
    kWait,     // for `value` cycles
    kWaitFor,  // until an output has a value
    kDrain,    // until a stream has delivered what is expected of it
    kMark,     // names the cycle
    kEnd,
};

struct Operation {
    Kind kind = Kind::kEnd;
    std::uint32_t address = 0;
    std::uint64_t value = 0;
    std::uint64_t mask = ~std::uint64_t{0};
    /// Of a poll: bits of which one is enough for a failure. Of a write: lanes. Of a word of a stream: its bytes.
    std::uint32_t extra = 0;
    bool is_last = false;
    /// Of a signal; of a mark its name; of a bus or of a stream the beginning of its ports.
    std::string name = {};
    const Signal* signal = nullptr;
};

/// A condition on outputs that is checked in every cycle.
struct Watch {
    struct Term {
        const Signal* signal;
        std::uint64_t value;
    };
    std::vector<Term> terms;
    /// After each other; fewer are counted apart.
    std::uint32_t cycles = 1;

    bool holds() const;
};

/// A mark that is set by the first cycle in which a register or a port has a value.
struct Event {
    std::string name;
    const Signal* signal;
    std::uint64_t mask;
    std::uint64_t value;
};

/// What the engine has to deliver on a stream, which always takes words.
struct Sink {
    struct Word {
        std::uint64_t mask;
        std::uint64_t value;
    };
    std::string name;
    const Signal* valid;
    const Signal* ready;
    const Signal* data;
    std::vector<Word> words;
};

/// An input with other values in every cycle, the same in each run.
struct Noise {
    const Signal* signal;
    std::uint64_t seed;
};

struct Script {
    std::vector<Operation> operations;
    std::vector<Sink> sinks;
    std::vector<Noise> noises;
    /// Must never hold.
    std::vector<Watch> forbidden;
    /// The engine has detected an upset.
    std::vector<Watch> alerts;
    std::vector<Event> events;

    /// Reads a script for a model. Throws if a line is not understood.
    static Script read(const std::string& path, const Signals& signals);
};

#endif
