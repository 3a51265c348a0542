// SPDX-License-Identifier: BSD-2-Clause
/*
 * timing.c - timing profiles: text files of `key = value  # source` lines.
 *
 * The profiles of emu/sim/profiles are compiled in, so that the command works from any
 * folder. A key that a file leaves out keeps the default of timing.def.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/timing.h"

static const struct {
	const char *key, *unit;
	uint64_t value;
} params[T_COUNT] = {
#define TIMING(name, key, unit, value, text) { key, unit, value },
#include "sim/timing.def"
};

/* The file's bytes as an array that ends in a 0; sections as ELF and macOS have them. */
#if defined(__APPLE__)
#define BUILT_IN_BEGIN(sym) ".const_data\n_" #sym ":\n"
#define BUILT_IN_END "\n.text\n"
#else
#define BUILT_IN_BEGIN(sym) ".section .rodata\n" #sym ":\n"
#define BUILT_IN_END "\n.previous\n"
#endif
#define BUILT_IN(sym, file)                                             \
	__asm__(BUILT_IN_BEGIN(sym) ".incbin \"" file "\"\n"            \
		".byte 0" BUILT_IN_END);                                \
	extern const char sym[]
#ifndef PROFILES
#define PROFILES "emu/sim/profiles/"	/* a stepping has its own */
#endif
BUILT_IN(timing_text_ideal, PROFILES "ideal.profile");
BUILT_IN(timing_text_qfdb, PROFILES "qfdb.profile");
BUILT_IN(timing_text_pm, PROFILES "pm.profile");
BUILT_IN(timing_text_connectx, PROFILES "connectx.profile");
BUILT_IN(timing_text_ethernet, PROFILES "ethernet.profile");
BUILT_IN(timing_text_myrinet, PROFILES "myrinet.profile");

static const struct {
	const char *name, *text;
} built_in[] = {
	{ "ideal", timing_text_ideal },
	{ "qfdb", timing_text_qfdb },
	{ "pm", timing_text_pm },
	{ "connectx", timing_text_connectx },
	{ "ethernet", timing_text_ethernet },
	{ "myrinet", timing_text_myrinet },
};

#define BUILT_INS (sizeof(built_in) / sizeof(built_in[0]))
#define PROFILE_BYTES_MAX 65536

void timing_defaults(struct timing_profile *p)
{
	int i;

	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "defaults");
	for (i = 0; i < T_COUNT; i++)
		p->v[i] = params[i].value;
}

void timing_free(struct timing_profile *p)
{
	free(p->text);
	p->text = NULL;
}

uint64_t timing_transfer_ns(uint64_t bytes, uint64_t mbps)
{
	return mbps ? (bytes * 8000 + mbps - 1) / mbps : 0;
}

int timing_key(const char *key)
{
	int i;

	for (i = 0; i < T_COUNT; i++)
		if (!strcmp(params[i].key, key))
			return i;
	return -1;
}

const char *timing_name(int i)
{
	return params[i].key;
}

/* The key that has most leading letters in common, for the message. */
static const char *nearest_key(const char *key)
{
	const char *best = params[0].key;
	size_t n, most = 0;
	int i;

	for (i = 0; i < T_COUNT; i++) {
		for (n = 0; key[n] && key[n] == params[i].key[n]; n++)
			;
		if (n > most) {
			most = n;
			best = params[i].key;
		}
	}
	return best;
}

static char *timing_trim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = 0;
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Numbers that stand in packets or in a card's own registers. */
static const struct {
	int key;
	uint64_t least, most;
} bounds[] = {
	{ T_RC_TIMEOUT, 0, 31 }, { T_RC_RETRIES, 0, 7 }, { T_RC_RNR_CODE, 0, 31 },
	{ T_RC_RNR_TRIES, 0, 7 }, { T_RC_WINDOW, 1, 1 << 16 },
	{ T_RC_QUEUE, 1, 4096 }, { T_RC_DEPTH, 1, 16 }, { T_RC_MTU, 256, 4096 },
	{ T_NV_MTU, 256, 4096 }, { T_NV_WINDOW, 1, 64 }, { T_NV_CREDITS, 1, 64 },
	{ T_NV_SLOTS, 1, 1024 }, { T_NV_GREEDY, 0, 1 },
};

static int timing_bounded(int key, uint64_t v, const char *where, char *error,
			  size_t error_bytes)
{
	size_t i;

	for (i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		if (bounds[i].key != key ||
		    (v >= bounds[i].least && v <= bounds[i].most))
			continue;
		snprintf(error, error_bytes, "%s%s wants %llu to %llu, got %llu",
			 where, params[key].key,
			 (unsigned long long)bounds[i].least,
			 (unsigned long long)bounds[i].most, (unsigned long long)v);
		return -EINVAL;
	}
	if ((key != T_RC_MTU && key != T_NV_MTU) || !(v & (v - 1)))
		return 0;
	snprintf(error, error_bytes, "%s%s wants a power of two, got %llu", where,
		 params[key].key, (unsigned long long)v);
	return -EINVAL;
}

/* key and value are text without blanks around; where: "file:line: " or "". */
static int timing_assign(struct timing_profile *p, const char *where,
			 const char *key, const char *value, char *error,
			 size_t error_bytes)
{
	int i = timing_key(key);
	unsigned long long v;
	char *end;

	if (i < 0) {
		snprintf(error, error_bytes,
			 "%sno timing parameter '%s' (nearest: '%s')", where,
			 key, nearest_key(key));
		return -EINVAL;
	}
	errno = 0;
	v = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end || errno ||
	    v > 1000000000000ull) {
		snprintf(error, error_bytes,
			 "%s%s wants a whole number of %s up to 10^12, got '%s'",
			 where, key, params[i].unit, value);
		return -EINVAL;
	}
	if (i == T_LINK_CELL && (v < 64 || v > 4096 || (v & (v - 1)))) {
		snprintf(error, error_bytes,
			 "%slink.cell wants a power of two from 64 to 4096, got %llu",
			 where, v);
		return -EINVAL;
	}
	if (!v && (i == T_LINK_MBPS || i == T_FW_TIMEOUT ||
		   i == T_FW_FAULT_TIMEOUT || i == T_WALL_TIMEOUT ||
		   i == T_WALL_FAULT_TIMEOUT || i == T_FW_WAITING ||
		   i == T_FW_BUSY)) {
		snprintf(error, error_bytes, "%s%s must not be 0", where, key);
		return -EINVAL;
	}
	if (timing_bounded(i, v, where, error, error_bytes))
		return -EINVAL;
	p->v[i] = v;
	return i;
}

static int load_line(struct timing_profile *p, const char *file, int number,
		     char *line, char *error, size_t error_bytes)
{
	char where[300], *comment = strchr(line, '#'), *eq;
	int i;

	if (comment)
		*comment++ = 0;
	line = timing_trim(line);
	if (!*line)
		return 0;
	snprintf(where, sizeof(where), "%s:%d: ", file, number);
	eq = strchr(line, '=');
	if (!eq) {
		snprintf(error, error_bytes,
			 "%swanted 'key = value  # source', got '%s'", where,
			 line);
		return -EINVAL;
	}
	if (!comment || !*timing_trim(comment)) {
		snprintf(error, error_bytes,
			 "%sa value needs its source, or 'assumed', after a #",
			 where);
		return -EINVAL;
	}
	*eq = 0;
	i = timing_assign(p, where, timing_trim(line), timing_trim(eq + 1),
			  error, error_bytes);
	if (i < 0)
		return i;
	p->source[i] = timing_trim(comment);
	return 0;
}

static int load_text(struct timing_profile *p, const char *file, char *error,
		     size_t error_bytes)
{
	char *line = p->text, *next;
	int err, number = 1;

	for (; line; line = next, number++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		err = load_line(p, file, number, line, error, error_bytes);
		if (err)
			return err;
	}
	return 0;
}

static void complain_of_file(const char *path, char *error, size_t error_bytes)
{
	const char *why = strerror(errno);
	char names[80] = "";
	size_t i, n = 0;

	for (i = 0; i < BUILT_INS; i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "",
				      built_in[i].name);
	snprintf(error, error_bytes, "profile '%s': %s (built in: %s; or give a file)",
		 path, why, names);
}

static char *timing_read_file(const char *path, char *error, size_t error_bytes)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t n = 0;

	if (f) {
		text = calloc(1, PROFILE_BYTES_MAX + 1);
		if (text)
			n = fread(text, 1, PROFILE_BYTES_MAX, f);
	}
	if (!f || !text || ferror(f)) {
		complain_of_file(path, error, error_bytes);
		free(text);
		text = NULL;
	} else if (n == PROFILE_BYTES_MAX || strlen(text) != n) {
		snprintf(error, error_bytes, "profile '%s' is not a text file",
			 path);
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

int timing_load(struct timing_profile *p, const char *name_or_path,
		char *error, size_t error_bytes)
{
	const char *base = strrchr(name_or_path, '/');
	int err;
	size_t i;

	timing_defaults(p);
	snprintf(p->name, sizeof(p->name), "%s",
		 base ? base + 1 : name_or_path);
	for (i = 0; i < BUILT_INS; i++)
		if (!strcmp(built_in[i].name, name_or_path))
			break;
	if (i == BUILT_INS) {
		p->text = timing_read_file(name_or_path, error, error_bytes);
		if (!p->text)
			return -ENOENT;
	} else {
		p->text = strdup(built_in[i].text);
		if (!p->text) {
			snprintf(error, error_bytes, "no memory for profile %s",
				 name_or_path);
			return -ENOMEM;
		}
	}
	err = load_text(p, name_or_path, error, error_bytes);
	if (err)
		timing_free(p);
	return err;
}

int timing_set(struct timing_profile *p, const char *assignment, char *error,
	       size_t error_bytes)
{
	const char *eq = strchr(assignment, '=');
	char key[64];
	int i;

	if (!eq || (size_t)(eq - assignment) >= sizeof(key)) {
		snprintf(error, error_bytes, "wanted name=value, got '%s'",
			 assignment);
		return -EINVAL;
	}
	memcpy(key, assignment, (size_t)(eq - assignment));
	key[eq - assignment] = 0;
	i = timing_assign(p, "", key, eq + 1, error, error_bytes);
	if (i < 0)
		return i;
	p->source[i] = "set for this run";
	return 0;
}
