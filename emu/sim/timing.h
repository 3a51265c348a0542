/* SPDX-License-Identifier: BSD-2-Clause */
/* timing.h - profiles: what each step of the hardware and the software takes. */
#ifndef FL_TIMING_H
#define FL_TIMING_H

#include <stddef.h>
#include <stdint.h>

enum timing {
#define TIMING(name, key, unit, value, text) T_##name,
#include "sim/timing.def"
	T_COUNT
};
struct timing_profile {
	char name[64];
	uint64_t v[T_COUNT];
	const char *source[T_COUNT]; /* comment of the line; NULL: default */
	char *text;		     /* owns what source points into */
};
void timing_defaults(struct timing_profile *p);
/* Place of a key ("link.mbps") in v; -1: there is none. And back. */
int timing_key(const char *key);
const char *timing_name(int i);
/*
 * NAME of emu/sim/profiles (compiled in) or a path. 0, or negative errno with a
 * message that names file, line and what would be right in error[].
 */
int timing_load(struct timing_profile *p, const char *name_or_path, char *error,
		size_t error_bytes);
/* "key=value"; 0 or -EINVAL with a message. */
int timing_set(struct timing_profile *p, const char *assignment, char *error,
	       size_t error_bytes);
void timing_free(struct timing_profile *p);
/* ns for bytes at mbps */
uint64_t timing_transfer_ns(uint64_t bytes, uint64_t mbps);

#endif
