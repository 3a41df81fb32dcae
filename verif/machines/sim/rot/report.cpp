#include "report.h"

#include <cinttypes>

namespace {

void report_accesses(std::FILE* file, const Accesses& accesses) {
    for (std::size_t place = 0; place < kPlaceCount; place += 1) {
        const AccessCounts& counts = accesses[place];
        if (counts.count > 0) {
            std::fprintf(file,
                         "access %s count %" PRIu64 " cycles %" PRIu64 " min %" PRIu64
                         " max %" PRIu64 "\n",
                         kPlaceNames[place], counts.count, counts.cycles, counts.min, counts.max);
        }
    }
}

}  // namespace

void report_rot(std::FILE* file, const Trace& trace, std::uint64_t cycles, const BootState& boot) {
    for (const Mark& mark : trace.marks()) {
        std::fprintf(file, "mark %" PRIu32 " cycle %" PRIu64 "\n", mark.tag, mark.cycle);
        report_accesses(file, mark.accesses);
    }
    std::fprintf(file, "end cycle %" PRIu64 " retired %" PRIu64 "\n", cycles, trace.retired());
    report_accesses(file, trace.accesses());
    std::fprintf(file, "boot status %" PRIu32 " reason %" PRIu32 " host %d alert %d mailbox %" PRIu32 "\n",
                 boot.status, boot.reason, boot.is_host_running, boot.is_alert, boot.mailbox);
}
