#include "script.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace {

/// The words of a line.
class Words {
public:
    explicit Words(const std::string& line) : stream_(line) {}

    std::string word() {
        std::string word;
        if (!(stream_ >> word)) {
            throw std::invalid_argument("a word is missing");
        }
        return word;
    }

    std::uint64_t number() {
        const std::string text = word();
        std::size_t end = 0;
        const std::uint64_t value = std::stoull(text, &end, 0);
        if (end != text.size()) {
            throw std::invalid_argument("not a number: " + text);
        }
        return value;
    }

    std::uint32_t small() { return static_cast<std::uint32_t>(number()); }

    bool has_more() {
        stream_ >> std::ws;
        return !stream_.eof();
    }

private:
    std::istringstream stream_;
};

/// `CYCLES PORT VALUE [PORT VALUE]...`
Watch watch(Words& words, const Signals& signals) {
    Watch watch;
    watch.cycles = words.small();
    do {
        const Signal& port = signals.port(words.word());
        watch.terms.push_back({&port, words.number()});
    } while (words.has_more());
    return watch;
}

/// `ADDRESS MASK VALUE` on the bus of this name.
Operation access(Kind kind, Words& words) {
    Operation operation{.kind = kind, .name = words.word()};
    operation.address = words.small();
    operation.mask = words.number();
    operation.value = words.number();
    return operation;
}

/// `STREAM MASK VALUE`: the next word of a stream.
void expect(Script& script, Words& words, const Signals& signals) {
    const std::string name = words.word();
    if (script.sinks.empty() || script.sinks.back().name != name) {
        for (const Sink& sink : script.sinks) {
            if (sink.name == name) {
                throw std::invalid_argument("words of " + name + " are not after each other");
            }
        }
        const auto port = [&](const char* end) { return &signals.port(name + end); };
        script.sinks.push_back({name, port("_valid_o"), port("_ready_i"), port("_data_o"), {}});
    }
    const std::uint64_t mask = words.number();
    script.sinks.back().words.push_back({mask, words.number()});
}

Operation operation(const std::string& verb, Words& words, const Signals& signals) {
    if (verb == "reset") {
        return {.kind = Kind::kReset, .value = words.number()};
    }
    if (verb == "wait") {
        return {.kind = Kind::kWait, .value = words.number()};
    }
    if (verb == "end") {
        return {.kind = Kind::kEnd};
    }
    if (verb == "mark" || verb == "drain") {
        return {.kind = verb == "mark" ? Kind::kMark : Kind::kDrain, .name = words.word()};
    }
    if (verb == "set" || verb == "wait_for") {
        Operation operation{.kind = verb == "set" ? Kind::kSet : Kind::kWaitFor, .name = words.word()};
        operation.signal = &signals.port(operation.name);
        operation.value = words.number();
        return operation;
    }
    if (verb == "write") {
        Operation operation{.kind = Kind::kWrite, .name = words.word()};
        operation.address = words.small();
        operation.value = words.number();
        operation.extra = words.small();
        return operation;
    }
    if (verb == "send") {
        Operation operation{.kind = Kind::kSend, .name = words.word()};
        operation.value = words.number();
        operation.extra = words.small();
        operation.is_last = words.number() != 0;
        return operation;
    }
    if (verb == "poll") {
        Operation operation = access(Kind::kPoll, words);
        operation.extra = words.small();
        return operation;
    }
    if (verb == "require") {
        return access(Kind::kRequire, words);
    }
    if (verb == "accept") {
        return access(Kind::kAccept, words);
    }
    if (verb == "output") {
        return access(Kind::kOutput, words);
    }
    throw std::invalid_argument("no such operation: " + verb);
}

}  // namespace

bool Watch::holds() const {
    for (const Term& term : terms) {
        if (term.signal->value() != term.value) {
            return false;
        }
    }
    return true;
}

Script Script::read(const std::string& path, const Signals& signals) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    Script script;
    std::string line;
    for (int number = 1; std::getline(file, line); number += 1) {
        Words words(line);
        if (!words.has_more()) {
            continue;
        }
        try {
            const std::string verb = words.word();
            if (verb == "forbidden") {
                script.forbidden.push_back(watch(words, signals));
            } else if (verb == "alert") {
                script.alerts.push_back(watch(words, signals));
            } else if (verb == "expect") {
                expect(script, words, signals);
            } else if (verb == "random") {
                const Signal& port = signals.port(words.word());
                script.noises.push_back({&port, words.number()});
            } else if (verb == "event") {
                const std::string name = words.word();
                const Signal& signal = signals.any(words.word());
                const std::uint64_t mask = words.number();
                script.events.push_back({name, &signal, mask, words.number()});
            } else {
                script.operations.push_back(operation(verb, words, signals));
            }
            if (words.has_more()) {
                throw std::invalid_argument("more words than are needed");
            }
        } catch (const std::exception& error) {
            throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
        }
    }
    if (script.operations.empty() || script.operations.back().kind != Kind::kEnd) {
        throw std::runtime_error(path + ": it has no end");
    }
    return script;
}
