// Boots a device with a verification unit from its medium, until the host ends the run or the unit has refused.
// See hw/README.md.
//
// Exit codes: 0 the host ended the run with success, 1 it ended with another code or was never released, 2 the machine could
// not be run or an assertion of the RTL failed, 3 there was no end in time.

#include <getopt.h>
#include <sys/prctl.h>

#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "options.h"
#include "ram.h"
#include "svu_machine.h"

namespace {

constexpr char kUsage[] =
    "usage: machine [OPTION]... MEDIUM\n"
    "Boots from MEDIUM, a file with a first stage at its start.\n"
    "\n"
    "  --otp FILE                   rows of one-time-programmable storage, in hexadecimal, a line each\n"
    "  --medium-rate BYTES          of the medium in 1000 cycles (1000)\n"
    "  --medium-latency CYCLES      from a request to its first byte (20)\n"
    "  --medium-error OFFSET        reads of this byte fail\n"
    "  --no-medium                  every read fails\n"
    "  --silent-medium              no read is answered\n"
    "  --upset-unit STATE@CYCLE     the unit has this state in this cycle\n"
    "  --trace FILE                 a line for every instruction that the host retires (CSV)\n"
    "  --mutant NUMBER              the fault, in a model that was built with mutants; 0: none (0)\n"
    "  --after-refusal CYCLES       how long the host is watched then (100000)\n"
    "  --max-cycles CYCLES          give up after so many (20000000)\n"
    "  --report FILE                what the unit did, as lines (standard error)\n"
    "  --help                       this text\n";

struct Options {
    std::string medium;
    std::string otp;
    std::string report;
    std::string trace;
    MediumOptions timing;
    std::optional<StateUpset> upset;
    std::uint64_t mutant = 0;
    std::uint64_t after_refusal = 100'000;
    std::uint64_t max_cycles = 20'000'000;
};

StateUpset upset_of(const std::string& text) {
    const std::size_t at = text.find('@');
    if (at == std::string::npos) {
        throw std::invalid_argument(text + " is no STATE@CYCLE");
    }
    return {static_cast<std::uint8_t>(number(text.substr(0, at))), number(text.substr(at + 1))};
}

Options parse(int argc, char** argv) {
    enum Name {
        kOtp = 1, kRate, kLatency, kError, kMissing, kSilent, kUpset, kTrace, kMutant, kAfter, kMaxCycles, kReport, kHelp
    };
    const option names[] = {
        {"otp", required_argument, nullptr, kOtp},
        {"medium-rate", required_argument, nullptr, kRate},
        {"medium-latency", required_argument, nullptr, kLatency},
        {"medium-error", required_argument, nullptr, kError},
        {"no-medium", no_argument, nullptr, kMissing},
        {"silent-medium", no_argument, nullptr, kSilent},
        {"upset-unit", required_argument, nullptr, kUpset},
        {"trace", required_argument, nullptr, kTrace},
        {"mutant", required_argument, nullptr, kMutant},
        {"after-refusal", required_argument, nullptr, kAfter},
        {"max-cycles", required_argument, nullptr, kMaxCycles},
        {"report", required_argument, nullptr, kReport},
        {"help", no_argument, nullptr, kHelp},
        {nullptr, 0, nullptr, 0},
    };
    Options options;
    int name;
    while ((name = getopt_long(argc, argv, "", names, nullptr)) != -1) {
        const std::string value = optarg == nullptr ? "" : optarg;
        switch (name) {
            case kOtp: options.otp = value; break;
            case kRate: options.timing.bytes_per_1000_cycles = number(value); break;
            case kLatency: options.timing.latency_cycles = number(value); break;
            case kError: options.timing.error_at = number(value); break;
            case kMissing: options.timing.is_missing = true; break;
            case kSilent: options.timing.is_silent = true; break;
            case kUpset: options.upset = upset_of(value); break;
            case kTrace: options.trace = value; break;
            case kMutant: options.mutant = number(value); break;
            case kAfter: options.after_refusal = number(value); break;
            case kMaxCycles: options.max_cycles = number(value); break;
            case kReport: options.report = value; break;
            case kHelp: std::fputs(kUsage, stdout); std::exit(kSuccess);
            default: throw std::invalid_argument(kUsage);
        }
    }
    if (optind + 1 != argc) {
        throw std::invalid_argument(kUsage);
    }
    options.medium = argv[optind];
    return options;
}

/// Rows as $readmemh reads them, without comments and addresses. No file is a device on which nothing was burned.
std::vector<std::uint64_t> read_cells(const std::string& path) {
    constexpr std::size_t kRows = 128;
    std::vector<std::uint64_t> cells;
    if (path.empty()) {
        cells.resize(kRows);
        return cells;
    }
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    for (std::string line; file >> line;) {
        cells.push_back(number("0x" + line));
    }
    return cells;
}

/// The codes of the boot sequencer (hw/ip/boot_sequencer/data/boot_sequencer.rdl).
const char* status_name(std::uint32_t status) {
    constexpr const char* kNames[] = {"held", "released", "refused", "trapped", "error", "stopped"};
    return status < std::size(kNames) ? kNames[status] : "unknown";
}

void report(std::FILE* file, const SvuMachine& machine, const Medium& medium) {
    for (const Phase& phase : machine.phases()) {
        std::fprintf(file,
                     "phase %s cycle %" PRIu64 " cycles %" PRIu64 " words %" PRIu64 " medium %" PRIu64
                     " engine %" PRIu64 "\n",
                     phase.name, phase.start, phase.cycles, phase.words, phase.for_medium, phase.for_engine);
    }
    std::fprintf(file, "boot %s reason %" PRIu32 " cycle %" PRIu64 " alert %d\n", status_name(machine.status()),
                 machine.reason(), machine.decided(), machine.has_alert() ? 1 : 0);
    for (const auto& [tag, cycle] : machine.marks()) {
        std::fprintf(file, "mark %" PRIu32 " cycle %" PRIu64 "\n", tag, cycle);
    }
    std::fprintf(file, "host cycles %" PRIu64 " retired %" PRIu64 " first %" PRIu64 "\n", machine.host_cycles(),
                 machine.retired(), machine.first_instruction());
    std::fprintf(file, "medium requests %" PRIu64 " bytes %" PRIu64 "\n", medium.requests(), medium.bytes_read());
    std::fprintf(file, "end cycle %" PRIu64 "\n", machine.cycle());
}

int run(const Options& options) {
    constexpr std::uint32_t kReleased = 1;
    Medium medium(read_file(options.medium), options.timing);
    SvuMachine machine(medium, read_cells(options.otp), options.mutant, options.upset,
                       options.trace);
    while (!machine.exit_code() && machine.cycle() < options.max_cycles) {
        machine.step();
        // A host that was refused must not run afterwards, either.
        const bool is_over = machine.is_decided() && machine.status() != kReleased &&
                             machine.cycle() >= machine.decided() + options.after_refusal;
        if (is_over) {
            break;
        }
    }
    std::fflush(stdout);
    std::FILE* file = stderr;
    if (!options.report.empty() && (file = std::fopen(options.report.c_str(), "w")) == nullptr) {
        throw std::runtime_error("cannot write " + options.report);
    }
    report(file, machine, medium);
    if (file != stderr) {
        std::fclose(file);
    }
    if (machine.exit_code()) {
        if (*machine.exit_code() == 0) {
            return kSuccess;
        }
        std::fprintf(stderr, "machine: the program ended with code %" PRIu32 "\n", *machine.exit_code());
        return kFailure;
    }
    if (machine.is_decided() && machine.status() != kReleased) {
        std::fprintf(stderr, "machine: the host was not released\n");
        return kFailure;
    }
    std::fprintf(stderr, "machine: no end; the last instruction was at 0x%" PRIx32 "\n", machine.program_counter());
    return kTimeout;
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
