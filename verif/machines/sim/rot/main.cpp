// Runs a program on the root of trust until it ends. See hw/README.md.
//
// Exit codes: 0 the program ended with success, 1 it ended with another code, 2 it could not be run or an assertion of
// the RTL failed, 3 it did not end in time.

#include <getopt.h>
#include <sys/prctl.h>

#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "options.h"
#include "rot_machine.h"

namespace {

/// Of `--save`.
constexpr std::uint64_t kSavedBytes = 4096;
/// The state of the sequencer before a decision (hw/ip/boot_sequencer/data/boot_sequencer.rdl).
constexpr std::uint32_t kHeld = 0;

constexpr char kUsage[] =
    "usage: machine [OPTION]... PROGRAM\n"
    "Runs PROGRAM, a 32-bit ELF file, on the root of trust.\n"
    "\n"
    "  --load FILE@ADDRESS          put a file into the host's memory; may be repeated\n"
    "  --trace FILE                 a line for every retired instruction (CSV)\n"
    "  --upset-engine               its digests are wrong, as a broken engine's\n"
    "  --upset-state NAME@CYCLE     the state of this engine is illegal in this cycle: sha2, dma, sha3,\n"
    "                               ed25519, xmss, aes, bignum or mailbox\n"
    "  --upset-result NAME          a bit of every result of this engine is stuck: sha3, ed25519, xmss, aes or bignum;\n"
    "                               bignum finds every signature right, too, and bignum-once the first wrong one, once;\n"
    "                               bignum-data-once gives zeros as its first result;\n"
    "                               or xmss or bignum, with -absent or -silent, is not there or never done\n"
    "  --secret FILE                the secret of the device, 64 bytes; one more byte: it never closes\n"
    "  --noise-seed NUMBER          what the numbers of its noise source follow from (1)\n"
    "  --noise-stuck, --noise-absent   the source delivers one number for ever, or none\n"
    "  --no-bench                   there are no registers of the bench, as on a chip\n"
    "  --mutant NUMBER              the fault, in a model that was built with mutants; 0: none (0)\n"
    "  --report FILE                where cycles and counts go, as lines (standard error)\n"
    "  --save FILE@ADDRESS          write the 4 KiB there of the host's memory to a file, at the end\n"
    "  --save-scratchpad FILE@ADDRESS   write the scratchpad, when the instruction there retires for the first\n"
    "                               time; may be repeated\n"
    "  --max-cycles CYCLES          give up after so many (100000000)\n"
    "  --after-decision CYCLES      end when the state of a boot that was decided has not changed for so many cycles\n"
    "  --memory-size BYTES          of the host, from 0x80000000 on (0x40000000)\n"
    "  --memory-latency CYCLES      of the host's DRAM, after a cache miss (100)\n"
    "  --stall ADDRESS@CYCLES       of accesses to the 4 KiB there, instead of all other latencies\n"
    "  --llc-hit CYCLES             of the last-level cache (21)\n"
    "  --llc-size BYTES             0: no such cache (0x20000)\n"
    "  --llc-ways N --llc-line BYTES   its shape (8, 64)\n"
    "  --help                       this text\n";

struct Options {
    std::string program;
    std::vector<std::pair<std::string, std::uint64_t>> files;
    std::string trace;
    std::string secret;
    std::vector<std::pair<std::string, std::uint64_t>> saved;
    std::vector<std::pair<std::string, std::uint64_t>> saved_scratchpads;
    Faults faults;
    std::string report;
    std::uint64_t max_cycles = 100'000'000;
    std::optional<std::uint64_t> after_decision;
    std::uint64_t memory_size = 1 << 30;
    Timing memory{100, 0, 8, CacheTiming{}, std::nullopt};
};

Options parse(int argc, char** argv) {
    enum Name {
        kLoad = 1, kTrace, kUpset, kStateUpset, kNoBench, kReport, kMaxCycles, kAfter, kMemorySize, kLatency, kStall, kHit, kSize,
        kWays, kLine, kMutant, kResultUpset, kSecret, kNoiseSeed, kNoiseStuck, kNoiseAbsent, kSave, kSaveScratchpad,
        kHelp
    };
    const option names[] = {
        {"load", required_argument, nullptr, kLoad},
        {"trace", required_argument, nullptr, kTrace},
        {"upset-engine", no_argument, nullptr, kUpset},
        {"upset-state", required_argument, nullptr, kStateUpset},
        {"upset-result", required_argument, nullptr, kResultUpset},
        {"secret", required_argument, nullptr, kSecret},
        {"noise-seed", required_argument, nullptr, kNoiseSeed},
        {"noise-stuck", no_argument, nullptr, kNoiseStuck},
        {"noise-absent", no_argument, nullptr, kNoiseAbsent},
        {"save", required_argument, nullptr, kSave},
        {"save-scratchpad", required_argument, nullptr, kSaveScratchpad},
        {"no-bench", no_argument, nullptr, kNoBench},
        {"mutant", required_argument, nullptr, kMutant},
        {"report", required_argument, nullptr, kReport},
        {"max-cycles", required_argument, nullptr, kMaxCycles},
        {"after-decision", required_argument, nullptr, kAfter},
        {"memory-size", required_argument, nullptr, kMemorySize},
        {"memory-latency", required_argument, nullptr, kLatency},
        {"stall", required_argument, nullptr, kStall},
        {"llc-hit", required_argument, nullptr, kHit},
        {"llc-size", required_argument, nullptr, kSize},
        {"llc-ways", required_argument, nullptr, kWays},
        {"llc-line", required_argument, nullptr, kLine},
        {"help", no_argument, nullptr, kHelp},
        {nullptr, 0, nullptr, 0},
    };
    Options options;
    CacheTiming cache;
    int name;
    while ((name = getopt_long(argc, argv, "", names, nullptr)) != -1) {
        const std::string value = optarg == nullptr ? "" : optarg;
        switch (name) {
            case kLoad: options.files.push_back(placed_file(value)); break;
            case kTrace: options.trace = value; break;
            case kUpset: options.faults.has_upset = true; break;
            case kStateUpset: options.faults.state_upset = upset_at(value); break;
            case kResultUpset: options.faults.result_upset = upset_of_result(value); break;
            case kSecret: options.secret = value; break;
            case kNoiseSeed: options.faults.noise.seed = static_cast<std::uint32_t>(number(value)); break;
            case kNoiseStuck: options.faults.noise.is_stuck = true; break;
            case kNoiseAbsent: options.faults.noise.is_absent = true; break;
            case kSave: options.saved.push_back(placed_file(value)); break;
            case kSaveScratchpad: options.saved_scratchpads.push_back(placed_file(value)); break;
            case kNoBench: options.faults.has_bench = false; break;
            case kMutant: options.faults.mutant = number(value); break;
            case kReport: options.report = value; break;
            case kMaxCycles: options.max_cycles = number(value); break;
            case kAfter: options.after_decision = number(value); break;
            case kMemorySize: options.memory_size = number(value); break;
            case kLatency: options.memory.latency_cycles = number(value); break;
            case kStall: options.memory.stall = stalled_page(value); break;
            case kHit: cache.hit_cycles = number(value); break;
            case kSize: cache.size_bytes = number(value); break;
            case kWays: cache.ways = static_cast<std::uint32_t>(number(value)); break;
            case kLine: cache.line_bytes = number(value); break;
            case kHelp: std::fputs(kUsage, stdout); std::exit(kSuccess);
            default: throw std::invalid_argument(kUsage);
        }
    }
    if (optind + 1 != argc) {
        throw std::invalid_argument(kUsage);
    }
    if (cache.size_bytes == 0) {
        options.memory.cache.reset();
    } else {
        options.memory.cache = cache;
    }
    options.program = argv[optind];
    return options;
}

/// Observes the boot, to end a run in which nothing more is expected.
class Settled {
public:
    /// Returns true if the sequencer has decided, and the state of the boot is the same for this number of cycles.
    bool is_for(std::uint64_t cycles, const RotMachine& machine) {
        const BootState state = machine.boot();
        if (state != last_) {
            last_ = state;
            since_ = machine.cycle();
        }
        return state.status != kHeld && machine.cycle() - since_ >= cycles;
    }

private:
    BootState last_;
    std::uint64_t since_ = 0;
};

void report(std::FILE* file, const RotMachine& machine) {
    report_rot(file, machine.trace(), machine.cycle(), machine.boot());
    std::fprintf(file, "secret shown %" PRIu64 " shut %d\n", machine.secret_words_shown(),
                 machine.is_secret_shut() ? 1 : 0);
    for (const Judged& judged : machine.judged()) {
        std::fprintf(file, "signature start %" PRIu64 " done %" PRIu64 "\n", judged.start, judged.done);
    }
    if (const std::optional<LastLevelCache>& cache = machine.memory().cache()) {
        std::fprintf(file, "llc hits %" PRIu64 " misses %" PRIu64 "\n", cache->hits(),
                     cache->misses());
    }
}

int run(const Options& options) {
    Ram ram(options.memory_size);
    for (const auto& [path, address] : options.files) {
        ram.load_file(path, address);
    }
    RotMachine machine(ram, options.memory, options.program, options.trace,
                       read_secret(options.secret), options.faults);
    machine.save_scratchpad_at(options.saved_scratchpads);

    const auto start = std::chrono::steady_clock::now();
    Settled settled;
    bool is_settled = false;
    while (!machine.exit_code() && !is_settled && machine.cycle() < options.max_cycles) {
        machine.step();
        is_settled = options.after_decision && settled.is_for(*options.after_decision, machine);
    }
    // The store that ended the program retires a few cycles later, and is part of the trace.
    for (int rest = 0; rest < 20; rest += 1) {
        machine.step();
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    std::fflush(stdout);

    std::FILE* file = stderr;
    if (!options.report.empty() && (file = std::fopen(options.report.c_str(), "w")) == nullptr) {
        throw std::runtime_error("cannot write " + options.report);
    }
    report(file, machine);
    if (file != stderr) {
        std::fclose(file);
    }
    for (const auto& [path, address] : options.saved) {
        ram.save(path, address, kSavedBytes);
    }
    // Files of an earlier run would look like those of this one.
    if (!machine.has_saved_all()) {
        throw std::runtime_error("an instruction of --save-scratchpad did not retire");
    }
    // An upset that never came would look like one without effect.
    if (options.faults.state_upset && options.faults.state_upset->cycle >= machine.cycle()) {
        throw std::runtime_error("the run ended before the cycle of the upset");
    }
    std::fprintf(stderr, "machine: %" PRIu64 " cycles in %.1f s, %.0f kHz\n", machine.cycle(),
                 time.count(), static_cast<double>(machine.cycle()) / time.count() / 1e3);
    if (!machine.exit_code()) {
        std::fprintf(stderr, "machine: the program did not end; its last instruction was at 0x%" PRIx32 "\n",
                     machine.trace().program_counter());
        return kTimeout;
    }
    if (*machine.exit_code() != 0) {
        std::fprintf(stderr, "machine: the program ended with code %" PRIu32 "\n",
                     *machine.exit_code());
        return kFailure;
    }
    return kSuccess;
}

}  // namespace

int main(int argc, char** argv) {
    // If the parent process is killed, it cannot end this program, which may run for an hour.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A user may watch the console through a pipe.
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    try {
        return run(parse(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return kNotRun;
    }
}
