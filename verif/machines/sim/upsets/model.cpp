#include "model.h"

#include <cstring>

#include "Vtop.h"
#include "Vtop___024root.h"

namespace {

// Constants of a multiplicative hash: odd, with bits all over the word (the golden ratio, and Knuth's for MMIX).
constexpr std::uint64_t kMix = 0x9E37'79B9'7F4A'7C15;
constexpr std::uint64_t kStep = 6'364'136'223'846'793'005;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * kMix;
    return (hash ^ hash >> 32) * kStep + 1;
}

}  // namespace

Model::Model(std::vector<const char*> options) : context_(std::make_unique<VerilatedContext>()) {
    context_->commandArgs(static_cast<int>(options.size()), options.data());
    top_ = std::make_unique<Vtop>(context_.get());
    add_signals(*top_->rootp, signals_);
    clock_ = &signals_.port("clk_i");
}

Model::~Model() = default;

void Model::settle() {
    clock_->set(0);
    top_->eval();
}

void Model::edge() {
    clock_->set(1);
    top_->eval();
}

// The object has no part elsewhere: modules are flattened into it, and a design without strings, queues and classes
// has no memory of its own. A pointer to the tables of the model and one to its name never change. That a run from a
// snapshot is the run without it is checked at the start of every campaign.
void Model::save(Snapshot& snapshot) const {
    snapshot.resize(sizeof(Vtop___024root));
    std::memcpy(snapshot.data(), static_cast<const void*>(top_->rootp), snapshot.size());
}

void Model::restore(const Snapshot& snapshot) {
    std::memcpy(static_cast<void*>(top_->rootp), snapshot.data(), snapshot.size());
}

std::uint64_t Model::digest() const {
    std::uint64_t hash = 1;
    for (const Signal& signal : signals_.registers()) {
        std::size_t at = 0;
        std::uint64_t word = 0;
        for (; at + sizeof word <= signal.bytes(); at += sizeof word) {
            std::memcpy(&word, signal.data + at, sizeof word);
            hash = mixed(hash, word);
        }
        if (at < signal.bytes()) {
            word = 0;
            std::memcpy(&word, signal.data + at, signal.bytes() - at);
            hash = mixed(hash, word);
        }
    }
    return hash;
}
