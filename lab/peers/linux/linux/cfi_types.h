// A function that is called through a pointer. Linux puts a number for the type in front of it; a bare hart checks none.

#pragma once

#include <linux/linkage.h>

#define SYM_TYPED_FUNC_START(name) SYM_FUNC_START(name)
