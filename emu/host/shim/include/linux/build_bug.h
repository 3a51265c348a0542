/* SPDX-License-Identifier: BSD-2-Clause */
/* build_bug.h - assertions of the compiler. */
#ifndef SHIM_LINUX_BUILD_BUG_H
#define SHIM_LINUX_BUILD_BUG_H

#include <assert.h>

#define BUILD_BUG_ON(cond) _Static_assert(!(cond), #cond)
/* 0, in an expression */
#define BUILD_BUG_ON_ZERO(cond) ((int)sizeof(struct { int : -!!(cond); }))
#undef static_assert
#define static_assert(expr, ...) _Static_assert(expr, #expr)

#endif
