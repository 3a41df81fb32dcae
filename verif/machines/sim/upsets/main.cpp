// Upsets of an engine: reads them from a file, one a line, and writes how each ended (verif/machines/run/src/ip/upsets).
//
//   upsets [+OPTION...] SCRIPT PATIENCE [UPSETS]
//
// Options are for the model. // An upset is `CYCLE REGISTER BIT BITS EFFECT CYCLES`, its register by its place in the list of the model, and not
// earlier than the one before. The first lines of the output are the undisturbed run; an empty line ends them.

#include <sys/prctl.h>

#include <algorithm>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "campaign.h"

namespace {

constexpr int kNotRun = 2;
/// Snapshots that are checked at the start.
constexpr std::uint64_t kChecked = 4;

Effect effect(const std::string& name) {
    if (name == "flip") {
        return Effect::kFlip;
    }
    if (name == "stuck0") {
        return Effect::kStuckAtZero;
    }
    if (name == "stuck1") {
        return Effect::kStuckAtOne;
    }
    throw std::invalid_argument("no such effect: " + name);
}

Upset upset(const std::string& line) {
    std::istringstream words(line);
    Upset upset;
    std::string name;
    if (!(words >> upset.cycle >> upset.signal >> upset.bit >> upset.bits >> name >> upset.cycles)) {
        throw std::invalid_argument("not an upset: " + line);
    }
    upset.effect = effect(name);
    return upset;
}

void run(const std::vector<const char*>& options, const std::string& path, std::uint64_t patience,
         const char* upsets) {
    Model model(options);
    const Script script = Script::read(path, model.signals());
    Campaign campaign(model, script, patience);
    std::printf("end %s\ncycles %" PRIu64 "\n", name_of(campaign.end()), campaign.cycles());
    for (const auto& [name, cycle] : campaign.marks()) {
        std::printf("mark %s %" PRIu64 "\n", name.c_str(), cycle);
    }
    for (const Signal& signal : model.signals().registers()) {
        std::printf("register %s %zu\n", signal.name.c_str(), signal.bits());
    }
    std::printf("\n");
    if (upsets == nullptr) {
        return;
    }
    std::ifstream file(upsets);
    if (!file) {
        throw std::runtime_error(std::string("cannot read ") + upsets);
    }
    campaign.check_snapshots(campaign.cycles() / kChecked + 1);
    std::string line;
    while (std::getline(file, line)) {
        const Result result = campaign.run(upset(line));
        std::printf("%s%s%s %" PRIu64 "\n", name_of(result.end), result.was_brief ? " brief" : "",
                    result.is_masked ? " masked" : "", result.cycles);
    }
}

}  // namespace

int main(int argc, char** argv) {
    // If the parent process is killed, it cannot end this program.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
        const auto is_option = [](const char* word) { return *word == '+'; };
        const auto end = std::find_if_not(argv + 1, argv + argc, is_option);
        const auto count = argv + argc - end;
        if (count != 2 && count != 3) {
            throw std::invalid_argument("usage: upsets [+OPTION...] SCRIPT PATIENCE [UPSETS]");
        }
        run({argv, end}, end[0], std::stoull(end[1]), count == 3 ? end[2] : nullptr);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return kNotRun;
    }
}
