// Signals inside of a model, which a file for Verilator (*.vlt) has made public.

#ifndef HARTLOCK_MODEL_SIGNAL_H
#define HARTLOCK_MODEL_SIGNAL_H

#include <cstddef>
#include <stdexcept>
#include <string>

#include "verilated_syms.h"

/// Where a signal or a memory is kept: `name` in the module at `scope`, with this many bytes. Throws if there is
/// none, or one of another size.
template <class T>
T* find_signal(const VerilatedContext& context, const std::string& scope, const char* name,
               std::size_t size = sizeof(T)) {
    const VerilatedScope* found = context.scopeFind(scope.c_str());
    const VerilatedVar* variable = found == nullptr ? nullptr : found->varFind(name);
    if (variable == nullptr || variable->totalSize() != size) {
        throw std::runtime_error("the model has no " + scope + "." + name + " of " +
                                 std::to_string(size) + " bytes");
    }
    return static_cast<T*>(variable->datap());
}

/// The same, and nothing if the model does not have the module at `scope`.
template <class T>
T* find_optional(const VerilatedContext& context, const std::string& scope, const char* name) {
    return context.scopeFind(scope.c_str()) == nullptr ? nullptr : find_signal<T>(context, scope, name);
}

#endif
