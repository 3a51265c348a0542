/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_rules.h - what a scenario may say when its boards' kernels are real ones
 * (mode vm): not what only the small kernel of the emulator can do or count.
 */
#ifndef FL_GUEST_RULES_H
#define FL_GUEST_RULES_H

#include "tools/scenario/ast.h"

#define GUEST_BOARDS	3	/* with processes, since each is a machine */
#define GUEST_FILES	8

/*
 * Mistakes go to out, one a line, as when a scenario is read. files: what buffers are
 * made of, as the scenario says it, NULL at the end; they point into s.
 */
bool guest_rules_hold(const struct scenario *s, FILE *out,
		      const char *files[GUEST_FILES + 1]);
/* Name of such a file in the guest. */
const char *guest_file_name(const char *path);

#endif
