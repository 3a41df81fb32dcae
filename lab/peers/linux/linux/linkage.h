// Symbols of assembly, in the names that Linux' sources use. Written for this project; the lab assembles those sources for
// a bare hart (lab/src/peers/libraries/linux.rs).

#pragma once

#define SYM_FUNC_START(name) .globl name; .type name, @function; name:
#define SYM_FUNC_END(name) .size name, . - name
