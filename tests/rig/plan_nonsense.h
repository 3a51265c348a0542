/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_nonsense.h - a plan that answers anything at all, for tests that nothing
 * breaks by it. It uses nothing but what it is given, so lockstep stays the same each
 * time.
 */
#ifndef FL_RIG_PLAN_NONSENSE_H
#define FL_RIG_PLAN_NONSENSE_H

#include <stdint.h>

#include "faultline/plan.h"

extern const struct fl_plan_own nonsense_own;

#endif
