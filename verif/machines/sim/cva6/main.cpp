// Runs a program on CVA6, one hart with memory and devices at its only port (hw/README.md).
//
// The exit codes are those of the Rocket machine: 0 the program ended with success, 1 it ended with
// another code, 2 it could not be run, 3 it did not end in time.

#include <getopt.h>
#include <sys/prctl.h>

#include <cctype>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "Vcva6.h"
#include "axi.h"
#include "devices.h"
#include "ram.h"
#include "slave.h"
#include "storage.h"
#include "verilated.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kNotRun = 2;
constexpr int kTimeout = 3;

constexpr int kResetCycles = 20;
constexpr std::uint32_t kBeatBytes = 8;
constexpr std::uint64_t kMemory = 0x8000'0000;

constexpr char kUsage[] =
    "usage: machine [OPTION]... PROGRAM\n"
    "Runs PROGRAM, an ELF file or an image for the start of memory.\n"
    "\n"
    "  --max-cycles CYCLES          give up after so many (100000000)\n"
    "  --memory-latency CYCLES      until the first beat of a read (20)\n"
    "  --help                       this text\n";

struct Options {
    std::string program;
    std::uint64_t max_cycles = 100'000'000;
    Timing memory;
};

std::uint64_t number(const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const std::uint64_t value = std::strtoull(text.c_str(), &end, 0);
    if (!std::isdigit(static_cast<unsigned char>(text[0])) || *end != '\0' || errno != 0) {
        throw std::invalid_argument("not a number: " + text);
    }
    return value;
}

Options parse(int argc, char** argv) {
    enum Name { kMaxCycles = 1, kLatency, kHelp };
    const option names[] = {
        {"max-cycles", required_argument, nullptr, kMaxCycles},
        {"memory-latency", required_argument, nullptr, kLatency},
        {"help", no_argument, nullptr, kHelp},
        {nullptr, 0, nullptr, 0},
    };
    Options options;
    int name;
    while ((name = getopt_long(argc, argv, "", names, nullptr)) != -1) {
        switch (name) {
            case kMaxCycles: options.max_cycles = number(optarg); break;
            case kLatency: options.memory.latency_cycles = number(optarg); break;
            case kHelp: std::fputs(kUsage, stdout); std::exit(kSuccess);
            default: throw std::invalid_argument(kUsage);
        }
    }
    if (optind + 1 != argc) {
        throw std::invalid_argument(kUsage);
    }
    options.program = argv[optind];
    return options;
}

/// Memory from its address on, devices below.
class Map : public Target {
public:
    Map(Ram& ram, Devices& devices) : ram_(ram), devices_(devices) {}

    void read(std::uint64_t address, std::uint8_t* out, std::uint32_t count) override {
        at(address).read(address, out, count);
    }
    void write(std::uint64_t address, const std::uint8_t* data, std::uint32_t count) override {
        at(address).write(address, data, count);
    }

private:
    Target& at(std::uint64_t address) {
        return address >= kMemory ? static_cast<Target&>(ram_) : devices_;
    }

    Ram& ram_;
    Devices& devices_;
};

axi::Beat beat_of(std::uint64_t data) {
    axi::Beat beat{};
    std::memcpy(beat.data(), &data, sizeof data);
    return beat;
}

axi::MasterSide sample(const Vcva6& top) {
    return {
        {top.ar_valid != 0, top.ar_bits_id, top.ar_bits_addr, top.ar_bits_len, top.ar_bits_size},
        {top.aw_valid != 0, top.aw_bits_id, top.aw_bits_addr, top.aw_bits_len, top.aw_bits_size},
        {top.w_valid != 0, beat_of(top.w_bits_data), top.w_bits_strb, top.w_bits_last != 0},
        top.r_ready != 0,
        top.b_ready != 0,
    };
}

void drive(Vcva6& top, const axi::SlaveSide& side) {
    top.ar_ready = side.ar_ready;
    top.aw_ready = side.aw_ready;
    top.w_ready = side.w_ready;
    top.r_valid = side.r.valid;
    top.r_bits_id = static_cast<std::uint8_t>(side.r.id);
    std::memcpy(&top.r_bits_data, side.r.data.data(), sizeof top.r_bits_data);
    top.r_bits_last = side.r.last;
    top.b_valid = side.b.valid;
    top.b_bits_id = static_cast<std::uint8_t>(side.b.id);
}

int run(const Options& options) {
    Ram ram;
    Storage storage({}, {});
    Devices devices(storage, ram.load_program(options.program));
    devices.counters.harts = 1;
    Map map(ram, devices);
    Slave port(map, kBeatBytes, options.memory);

    VerilatedContext context;
    const auto top = std::make_unique<Vcva6>(&context);
    top->rst_ni = 0;
    for (int cycle = 0; cycle < kResetCycles; cycle += 1) {
        for (const bool clock : {false, true}) {
            top->clk_i = clock;
            top->eval();
        }
    }
    top->rst_ni = 1;
    std::uint64_t cycle = 0;
    while (!devices.exit_code && cycle < options.max_cycles) {
        top->clk_i = 0;
        top->eval();
        const axi::MasterSide side = sample(*top);
        top->clk_i = 1;
        top->eval();
        port.step(side, cycle);
        cycle += 1;
        devices.counters.cycles = cycle;
        drive(*top, port.out());
    }
    top->final();
    std::fflush(stdout);
    std::fprintf(stderr, "machine: %" PRIu64 " cycles\n", cycle);
    if (!devices.exit_code) {
        std::fprintf(stderr, "machine: the program did not end\n");
        return kTimeout;
    }
    if (*devices.exit_code != 0) {
        std::fprintf(stderr, "machine: the program ended with code %" PRIu32 "\n",
                     *devices.exit_code);
        return kFailure;
    }
    return kSuccess;
}

}  // namespace

int main(int argc, char** argv) {
    // If the parent process is killed, it cannot end this program.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    try {
        return run(parse(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return kNotRun;
    }
}
