#include "driver.h"

#include <stdexcept>

namespace {

// AMBA AXI §A3.4.4: OKAY.
constexpr std::uint64_t kOkay = 0;

void next(Progress& progress) {
    progress.operation += 1;
    progress.address_done = 0;
    progress.data_done = 0;
    progress.response_done = 0;
    progress.response = 0;
    progress.waited = 0;
    progress.data = 0;
}

/// Notes a handshake on a channel that the engine accepts from.
void note(std::uint32_t& done, const Signal& ready) {
    if (ready.value() != 0) {
        done = 1;
    }
}

}  // namespace

const char* name_of(End end) {
    switch (end) {
        case End::kNone: return "hang";
        case End::kDone: return "done";
        case End::kAccepted: return "accepted";
        case End::kRefused: return "refused";
        case End::kAlert: return "alert";
        case End::kWrong: return "wrong";
        case End::kForbidden: return "forbidden";
    }
    return "";
}

Driver::Driver(const Script& script, const Signals& signals)
    : script_(script), reset_(&signals.port("rst_ni")) {
    if (script.forbidden.size() > kMaxWatches || script.sinks.size() > kMaxSinks) {
        throw std::runtime_error("a script has at most 4 forbidden conditions and 2 streams to take");
    }
    for (const Operation& operation : script.operations) {
        const auto port = [&](const char* end) { return &signals.port(operation.name + end); };
        const Bus* bus = nullptr;
        const Stream* stream = nullptr;
        switch (operation.kind) {
            case Kind::kWrite:
            case Kind::kPoll:
            case Kind::kRequire:
            case Kind::kAccept:
            case Kind::kOutput:
                if (!buses_.contains(operation.name)) {
                    buses_[operation.name] = {
                        port("_i.aw_valid"), port("_o.aw_ready"), port("_i.aw_addr"), port("_i.w_valid"),
                        port("_o.w_ready"), port("_i.w_data"), port("_i.w_strb"), port("_o.b_valid"),
                        port("_i.b_ready"), port("_o.b_resp"), port("_i.ar_valid"), port("_o.ar_ready"),
                        port("_i.ar_addr"), port("_o.r_valid"), port("_i.r_ready"), port("_o.r_data"),
                        port("_o.r_resp"),
                    };
                    for (const char* end : {"_i.aw_valid", "_i.w_valid", "_i.b_ready", "_i.ar_valid", "_i.r_ready"}) {
                        valids_.push_back(port(end));
                    }
                }
                bus = &buses_[operation.name];
                break;
            case Kind::kSend:
                if (!streams_.contains(operation.name)) {
                    streams_[operation.name] = {
                        port("_valid_i"), port("_ready_o"), port("_data_i"), port("_bytes_i"), port("_last_i"),
                    };
                    valids_.push_back(port("_valid_i"));
                }
                stream = &streams_[operation.name];
                break;
            default: break;
        }
        bus_of_.push_back(bus);
        stream_of_.push_back(stream);
    }
}

void Driver::drive(const Progress& progress) {
    for (const Signal* valid : valids_) {
        valid->set(0);
    }
    for (const Sink& sink : script_.sinks) {
        sink.ready->set(1);
    }
    for (const Noise& noise : script_.noises) {
        noise.signal->set_random(noise.seed + progress.cycle);
    }
    reset_->set(1);
    const Operation& operation = script_.operations[progress.operation];
    switch (operation.kind) {
        case Kind::kReset: reset_->set(0); break;
        case Kind::kSet: operation.signal->set(operation.value); break;
        case Kind::kWrite: {
            const Bus& bus = *bus_of_[progress.operation];
            bus.awaddr->set(operation.address);
            bus.wdata->set(operation.value);
            bus.wstrb->set(operation.extra);
            bus.awvalid->set(1 - progress.address_done);
            bus.wvalid->set(1 - progress.data_done);
            bus.bready->set(1 - progress.response_done);
            break;
        }
        case Kind::kPoll:
        case Kind::kRequire:
        case Kind::kAccept:
        case Kind::kOutput: {
            const Bus& bus = *bus_of_[progress.operation];
            bus.araddr->set(operation.address);
            bus.arvalid->set(1 - progress.address_done);
            bus.rready->set(1 - progress.response_done);
            break;
        }
        case Kind::kSend: {
            const Stream& stream = *stream_of_[progress.operation];
            stream.data->set(operation.value);
            stream.bytes->set(operation.extra);
            stream.last->set(operation.is_last ? 1 : 0);
            stream.valid->set(1);
            break;
        }
        case Kind::kWait:
        case Kind::kWaitFor:
        case Kind::kDrain:
        case Kind::kMark:
        case Kind::kEnd: break;
    }
}

void Driver::observe(Progress& progress) {
    const Operation& operation = script_.operations[progress.operation];
    // Before its first edge a model has no state yet.
    if (operation.kind != Kind::kReset) {
        watch(progress);
        receive(progress);
    }
    progress.cycle += 1;
    if (progress.end != End::kNone) {
        return;
    }
    switch (operation.kind) {
        case Kind::kReset:
        case Kind::kWait:
            progress.waited += 1;
            if (progress.waited >= operation.value) {
                next(progress);
            }
            break;
        case Kind::kSet: next(progress); break;
        case Kind::kWaitFor:
            if (operation.signal->value() == operation.value) {
                next(progress);
            }
            break;
        case Kind::kDrain:
            if (is_drained(operation.name, progress)) {
                next(progress);
            }
            break;
        case Kind::kWrite: write(*bus_of_[progress.operation], progress); break;
        case Kind::kPoll:
        case Kind::kRequire:
        case Kind::kAccept:
        case Kind::kOutput: read(operation, *bus_of_[progress.operation], progress); break;
        case Kind::kSend:
            if (stream_of_[progress.operation]->ready->value() != 0) {
                next(progress);
            }
            break;
        case Kind::kMark: break;
        case Kind::kEnd: progress.end = progress.is_wrong ? End::kWrong : End::kDone; break;
    }
    skip_marks(progress);
}

/// A mark takes no cycle.
void Driver::skip_marks(Progress& progress) {
    while (progress.end == End::kNone && script_.operations[progress.operation].kind == Kind::kMark) {
        marks.push_back(script_.operations[progress.operation].name);
        next(progress);
    }
}

/// A forbidden condition comes before an alert of the same cycle: what was let through cannot be taken back.
void Driver::watch(Progress& progress) const {
    for (std::size_t at = 0; at < script_.forbidden.size(); at += 1) {
        const Watch& watch = script_.forbidden[at];
        if (!watch.holds()) {
            progress.held[at] = 0;
            continue;
        }
        progress.held[at] += 1;
        progress.was_brief = progress.held[at] < watch.cycles || progress.was_brief;
        if (progress.held[at] >= watch.cycles) {
            progress.end = End::kForbidden;
            return;
        }
    }
    for (const Watch& alert : script_.alerts) {
        if (alert.holds()) {
            progress.end = End::kAlert;
        }
    }
}

/// A word is wrong, and one that is too many as well.
void Driver::receive(Progress& progress) const {
    for (std::size_t at = 0; at < script_.sinks.size(); at += 1) {
        const Sink& sink = script_.sinks[at];
        if (progress.end != End::kNone || sink.valid->value() == 0) {
            continue;
        }
        const std::uint32_t place = progress.received[at];
        progress.received[at] += 1;
        const bool is_it = place < sink.words.size() &&
                           (sink.data->value() & sink.words[place].mask) == sink.words[place].value;
        if (!is_it) {
            progress.end = End::kWrong;
        }
    }
}

bool Driver::is_drained(const std::string& name, const Progress& progress) const {
    for (std::size_t at = 0; at < script_.sinks.size(); at += 1) {
        if (script_.sinks[at].name == name) {
            return progress.received[at] == script_.sinks[at].words.size();
        }
    }
    return true;
}

// A response that comes before its address was taken, after an upset, is what the access gets: the bus cannot tell.

void Driver::write(const Bus& bus, Progress& progress) {
    note(progress.address_done, *bus.awready);
    note(progress.data_done, *bus.wready);
    if (progress.response_done == 0 && bus.bvalid->value() != 0) {
        progress.response_done = 1;
        progress.response = static_cast<std::uint32_t>(bus.bresp->value());
    }
    if ((progress.address_done & progress.data_done & progress.response_done) == 0) {
        return;
    }
    if (progress.response == kOkay) {
        next(progress);
    } else {
        progress.end = End::kRefused;
    }
}

void Driver::read(const Operation& operation, const Bus& bus, Progress& progress) {
    note(progress.address_done, *bus.arready);
    if (progress.response_done == 0 && bus.rvalid->value() != 0) {
        progress.response_done = 1;
        progress.response = static_cast<std::uint32_t>(bus.rresp->value());
        progress.data = bus.rdata->value();
    }
    if ((progress.address_done & progress.response_done) == 0) {
        return;
    }
    if (progress.response == kOkay) {
        judge(operation, progress);
    } else {
        progress.end = End::kRefused;
    }
}

/// Takes a word that was read.
void Driver::judge(const Operation& operation, Progress& progress) {
    const bool is_it = (progress.data & operation.mask) == operation.value;
    switch (operation.kind) {
        case Kind::kPoll:
            if (is_it) {
                next(progress);
            } else if ((progress.data & operation.extra) != 0) {
                progress.end = End::kRefused;
            } else {
                // Once more.
                const std::uint32_t same = progress.operation;
                next(progress);
                progress.operation = same;
            }
            break;
        case Kind::kAccept: progress.end = is_it ? End::kAccepted : End::kRefused; break;
        case Kind::kOutput:
            progress.is_wrong = progress.is_wrong || !is_it;
            next(progress);
            break;
        default:
            if (is_it) {
                next(progress);
            } else {
                progress.end = End::kRefused;
            }
            break;
    }
}
