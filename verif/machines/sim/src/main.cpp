// Runs a program on a model of the machine until it ends. See hw/README.md.
//
// Exit codes: 0 the program ended with success, 1 it ended with another code, 2 it could not be run,
// 3 it did not end in time.

#include <getopt.h>
#include <sys/prctl.h>

#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "machine.h"
#include "options.h"

namespace {

constexpr char kUsage[] =
    "usage: machine [OPTION]... PROGRAM\n"
    "Runs PROGRAM, an ELF file or an image for the start of memory.\n"
    "\n"
    "  --load FILE@ADDRESS          put a file into memory, too; may be repeated\n"
    "  --medium FILE                the contents of the storage\n"
    "  --max-cycles CYCLES          give up after so many (100000000)\n"
    "  --memory-size BYTES          from 0x80000000 on (0x80000000)\n"
    "  --memory-latency CYCLES      until the first beat of a read (20)\n"
    "  --memory-bandwidth BYTES     in a cycle, both directions; 0: the width of the port (0)\n"
    "  --memory-outstanding N       reads, and writes, under way at a time (8)\n"
    "  --stall ADDRESS@CYCLES       of accesses to the 4 KiB there, instead of all other latencies\n"
    "  --llc-size BYTES             of a last-level cache; 0: none (0)\n"
    "  --llc-hit CYCLES             as --memory-latency, for a hit there (21)\n"
    "  --llc-ways N --llc-line BYTES   its shape (8, 64)\n"
    "  --rot PROGRAM                of the root of trust, on a machine that has one\n"
    "  --trace FILE                 a line for every instruction that it retires (CSV)\n"
    "  --upset-engine               its digests are wrong, as a broken engine's\n"
    "  --secret FILE                the secret of its device, 64 bytes; one more byte: it never closes\n"
    "  --noise-seed NUMBER          what the numbers of its noise source follow from (1)\n"
    "  --noise-stuck, --noise-absent   the source delivers one number for ever, or none\n"
    "  --no-bench                   it has no registers of the bench, as on a chip\n"
    "  --storage-rate BYTES         in 1000 cycles (1000)\n"
    "  --storage-latency CYCLES     until the first byte of a request (0)\n"
    "  --report FILE                where cycles and counts go, as lines (standard error)\n"
    "  --vcd FILE                   signals over time, of a model built with waves\n"
    "  --vcd-from CYCLE --vcd-to CYCLE\n"
    "  --help                       this text\n";

struct Options {
    std::string program;
    std::vector<std::pair<std::string, std::uint64_t>> files;
    std::string medium;
    std::string report;
    std::uint64_t max_cycles = 100'000'000;
    std::uint64_t memory_size = Ram::kSize;
    Timing memory;
    StorageTiming storage;
    std::optional<WavesOptions> waves;
    RotOptions rot;
};

WavesOptions& waves_of(Options& options) {
    if (!options.waves) {
        options.waves.emplace();
    }
    return *options.waves;
}

Options parse(int argc, char** argv) {
    enum Name {
        kLoad = 1, kMedium, kMaxCycles, kLatency, kBandwidth, kOutstanding, kRate, kStorageLatency,
        kReport, kMemorySize, kCacheSize, kCacheHit, kCacheWays, kCacheLine, kStall, kRot, kTrace, kUpset,
        kNoBench, kSecret, kNoiseSeed, kNoiseStuck, kNoiseAbsent, kVcd, kVcdFrom, kVcdTo, kHelp
    };
    const option names[] = {
        {"load", required_argument, nullptr, kLoad},
        {"medium", required_argument, nullptr, kMedium},
        {"max-cycles", required_argument, nullptr, kMaxCycles},
        {"memory-latency", required_argument, nullptr, kLatency},
        {"memory-bandwidth", required_argument, nullptr, kBandwidth},
        {"memory-outstanding", required_argument, nullptr, kOutstanding},
        {"stall", required_argument, nullptr, kStall},
        {"storage-rate", required_argument, nullptr, kRate},
        {"storage-latency", required_argument, nullptr, kStorageLatency},
        {"report", required_argument, nullptr, kReport},
        {"memory-size", required_argument, nullptr, kMemorySize},
        {"llc-size", required_argument, nullptr, kCacheSize},
        {"llc-hit", required_argument, nullptr, kCacheHit},
        {"llc-ways", required_argument, nullptr, kCacheWays},
        {"llc-line", required_argument, nullptr, kCacheLine},
        {"rot", required_argument, nullptr, kRot},
        {"trace", required_argument, nullptr, kTrace},
        {"upset-engine", no_argument, nullptr, kUpset},
        {"secret", required_argument, nullptr, kSecret},
        {"noise-seed", required_argument, nullptr, kNoiseSeed},
        {"noise-stuck", no_argument, nullptr, kNoiseStuck},
        {"noise-absent", no_argument, nullptr, kNoiseAbsent},
        {"no-bench", no_argument, nullptr, kNoBench},
        {"vcd", required_argument, nullptr, kVcd},
        {"vcd-from", required_argument, nullptr, kVcdFrom},
        {"vcd-to", required_argument, nullptr, kVcdTo},
        {"help", no_argument, nullptr, kHelp},
        {nullptr, 0, nullptr, 0},
    };
    Options options;
    CacheTiming cache;
    cache.size_bytes = 0;
    int name;
    while ((name = getopt_long(argc, argv, "", names, nullptr)) != -1) {
        const std::string value = optarg == nullptr ? "" : optarg;
        switch (name) {
            case kLoad: options.files.push_back(placed_file(value)); break;
            case kMedium: options.medium = value; break;
            case kMaxCycles: options.max_cycles = number(value); break;
            case kLatency: options.memory.latency_cycles = number(value); break;
            case kBandwidth: options.memory.bytes_per_cycle = number(value); break;
            case kOutstanding:
                options.memory.outstanding = static_cast<std::uint32_t>(number(value));
                break;
            case kRate: options.storage.bytes_per_1000_cycles = number(value); break;
            case kStorageLatency: options.storage.latency_cycles = number(value); break;
            case kReport: options.report = value; break;
            case kMemorySize: options.memory_size = number(value); break;
            case kCacheSize: cache.size_bytes = number(value); break;
            case kCacheHit: cache.hit_cycles = number(value); break;
            case kCacheWays: cache.ways = static_cast<std::uint32_t>(number(value)); break;
            case kCacheLine: cache.line_bytes = number(value); break;
            case kRot: options.rot.program = value; break;
            case kTrace: options.rot.trace = value; break;
            case kStall: options.memory.stall = stalled_page(value); break;
            case kUpset: options.rot.has_upset = true; break;
            case kSecret: options.rot.secret = value; break;
            case kNoiseSeed: options.rot.noise.seed = static_cast<std::uint32_t>(number(value)); break;
            case kNoiseStuck: options.rot.noise.is_stuck = true; break;
            case kNoiseAbsent: options.rot.noise.is_absent = true; break;
            case kNoBench: options.rot.has_bench = false; break;
            case kVcd: waves_of(options).path = value; break;
            case kVcdFrom: waves_of(options).first_cycle = number(value); break;
            case kVcdTo: waves_of(options).last_cycle = number(value); break;
            case kHelp: std::fputs(kUsage, stdout); std::exit(kSuccess);
            default: throw std::invalid_argument(kUsage);
        }
    }
    if (optind + 1 != argc) {
        throw std::invalid_argument(kUsage);
    }
    if (options.memory.outstanding == 0) {
        throw std::invalid_argument("--memory-outstanding must be at least 1");
    }
    if (options.waves && options.waves->path.empty()) {
        throw std::invalid_argument("--vcd-from and --vcd-to need --vcd");
    }
    if (cache.size_bytes > 0) {
        options.memory.cache = cache;
    }
    options.program = argv[optind];
    return options;
}

/// Lines of words: what is counted, then names and numbers.
class Report {
public:
    explicit Report(const std::string& path) {
        if (!path.empty() && (file_ = std::fopen(path.c_str(), "w")) == nullptr) {
            throw std::runtime_error("cannot write " + path);
        }
    }
    ~Report() {
        if (file_ != stderr) {
            std::fclose(file_);
        }
    }
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    /// The harts since the mark before, or since the start.
    void mark(std::uint64_t tag, const Machine& machine) {
        std::fprintf(file_, "mark %" PRIu64 " cycle %" PRIu64 "\n", tag, machine.cycle());
        harts(machine, before_);
        before_ = machine.harts().counts();
    }

    void end(const Machine& machine, const Storage& storage) {
        std::fprintf(file_, "end cycle %" PRIu64 "\n", machine.cycle());
        harts(machine, {});
        std::fprintf(file_, "memory read %" PRIu64 " written %" PRIu64 " storage %" PRIu64 "\n",
                     machine.memory().bytes_read(), machine.memory().bytes_written(),
                     storage.bytes_delivered());
        machine.report(file_);
    }

private:
    void harts(const Machine& machine, const std::vector<HartCounts>& before) {
        const std::vector<HartCounts>& counts = machine.harts().counts();
        for (std::size_t hart = 0; hart < counts.size(); hart += 1) {
            const HartCounts count = before.empty() ? counts[hart] : counts[hart] - before[hart];
            std::fprintf(file_, "hart %zu retired %" PRIu64, hart, count.retired);
            for (std::size_t slot = 0; slot < kSlotCount; slot += 1) {
                std::fprintf(file_, " %s %" PRIu64, kSlotNames[slot], count.slots[slot]);
            }
            std::fprintf(file_, "\n");
        }
    }

    std::FILE* file_ = stderr;
    std::vector<HartCounts> before_;
};

int run(const Options& options) {
    Ram ram(options.memory_size);
    const std::uint64_t entry = ram.load_program(options.program);
    for (const auto& [path, address] : options.files) {
        ram.load_file(path, address);
    }
    Storage storage(options.medium.empty() ? std::vector<std::uint8_t>{} : read_file(options.medium),
                    options.storage);
    Devices devices(storage, entry);
    const std::unique_ptr<Machine> made =
        make_machine(ram, devices, storage, options.memory, options.waves, options.rot);
    Machine& machine = *made;
    Report report(options.report);

    const auto start = std::chrono::steady_clock::now();
    while (!devices.exit_code && !machine.exit_code() && machine.cycle() < options.max_cycles) {
        machine.step();
        for (const std::uint64_t tag : devices.marks) {
            report.mark(tag, machine);
        }
        devices.marks.clear();
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    std::fflush(stdout);
    report.end(machine, storage);

    const double cycles = static_cast<double>(machine.cycle());
    std::fprintf(stderr, "machine: %" PRIu64 " cycles in %.1f s, %.0f kHz\n", machine.cycle(),
                 time.count(), cycles / time.count() / 1e3);
    const std::optional<std::uint32_t> exit_code =
        devices.exit_code ? devices.exit_code : machine.exit_code();
    if (!exit_code) {
        std::fprintf(stderr, "machine: the program did not end;");
        for (const std::uint64_t counter : machine.harts().program_counters()) {
            std::fprintf(stderr, " 0x%" PRIx64, counter);
        }
        std::fprintf(stderr, " were its last instructions, a hart each\n");
        return kTimeout;
    }
    if (*exit_code != 0) {
        std::fprintf(stderr, "machine: the program ended with code %" PRIu32 "\n",
                     *exit_code);
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
