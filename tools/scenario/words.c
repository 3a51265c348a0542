// SPDX-License-Identifier: BSD-2-Clause
#include "tools/scenario/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faultline.h"
#include "faultline/entries.h"
#include "faultline/plan.h"

#define WORD_MAX 32	/* longer words are compared by their beginning */

static int small_letter(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Edit distance (insert, delete, replace), small words; capitals are letters as well. */
static unsigned int words_distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX + 1], n = 0, i, j, left, up, keep;

	while (n < WORD_MAX && b[n])
		n++;
	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 0; i < WORD_MAX && a[i]; i++) {
		left = row[0];
		row[0] = i + 1;
		for (j = 1; j <= n; j++) {
			up = row[j];
			keep = left +
				(small_letter(a[i]) != small_letter(b[j - 1]));
			row[j] = up + 1 < row[j - 1] + 1 ? up + 1 :
							   row[j - 1] + 1;
			if (keep < row[j])
				row[j] = keep;
			left = up;
		}
	}
	return row[n];
}

const char *word_nearest(const char *word, const char *const *list)
{
	unsigned int d, best = (unsigned int)strlen(word) / 2 + 1;
	const char *found = NULL;

	for (; *list; list++) {
		d = words_distance(word, *list);
		if (d < best) {
			best = d;
			found = *list;
		}
	}
	return found;
}

/*
 * A decimal number with a fraction, times 10^9 (so that 1.5us is exact), and the
 * unit behind it. False when there is no number or it is too large.
 */
static bool words_scaled(const char *word, uint64_t *nano, const char **unit)
{
	uint64_t whole = 0, part = 0, place = 1000000000;
	const char *p = word;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		whole = whole * 10 + (uint64_t)(*p - '0');
		if (whole > 9000000000ull)
			return false;
	}
	if (*p == '.' && p[1] >= '0' && p[1] <= '9') {
		for (p++; *p >= '0' && *p <= '9'; p++) {
			place /= 10;
			part += (uint64_t)(*p - '0') * place;
		}
	}
	*nano = whole * 1000000000u + part;
	*unit = p;
	return true;
}

const char *word_count(const char *word, uint64_t *n)
{
	int base = !strncmp(word, "0x", 2) ? 16 : 10;
	char *end;

	errno = 0;
	*n = strtoull(word, &end, base);
	if (word[0] < '0' || word[0] > '9' || *end || errno)
		return "a plain number, like 12 or 0x1F";
	return NULL;
}

static const char *size_part(const char *p, uint64_t *bytes, const char **rest)
{
	static const struct {
		const char *unit;
		unsigned int shift;
	} units[] = { { "KB", 10 }, { "MB", 20 }, { "GB", 30 },
		      { "K", 10 },  { "M", 20 },  { "G", 30 },
		      { "B", 0 },   { "", 0 } };
	unsigned int i;
	char *end;
	size_t n;

	if (*p < '0' || *p > '9')
		return "a size, like 100, 64K, 1M or 64K+1";
	errno = 0;
	*bytes = strtoull(p, &end, strncmp(p, "0x", 2) ? 10 : 16);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		n = strlen(units[i].unit);
		if (strncmp(end, units[i].unit, n))
			continue;
		if (errno || *bytes > UINT64_MAX >> units[i].shift)
			return "a smaller size";
		*bytes <<= units[i].shift;
		*rest = end + n;
		return NULL;
	}
	return "a size";
}

const char *word_size(const char *word, uint64_t *bytes)
{
	const char *p, *bad = size_part(word, bytes, &p);
	uint64_t more;
	char sign = 0;

	if (bad)
		return bad;
	if (*p == '+' || *p == '-') {
		sign = *p;
		bad = size_part(p + 1, &more, &p);
		if (bad)
			return bad;
		if (sign == '-' && more > *bytes)
			return "a size that is not below 0";
		*bytes = sign == '+' ? *bytes + more : *bytes - more;
	}
	return *p ? "a size, like 100, 64K, 1M or 64K+1" : NULL;
}

const char *word_time(const char *word, uint64_t *ns)
{
	static const char right[] =
		"a time with its unit, like 20ns, 1.5us, 3ms or 1s";
	const char *unit;
	uint64_t nano;

	if (!words_scaled(word, &nano, &unit))
		return right;
	if (!strcmp(unit, "ns"))
		*ns = nano / 1000000000u;
	else if (!strcmp(unit, "us"))
		*ns = nano / 1000000u;
	else if (!strcmp(unit, "ms"))
		*ns = nano / 1000u;
	else if (!strcmp(unit, "s"))
		*ns = nano;
	else
		return right;
	return NULL;
}

const char *word_share(const char *word, uint64_t *ppm)
{
	static const char right[] = "a share of packets, like 1%, 0.5% or "
	"20ppm";
	const char *unit;
	uint64_t nano;

	if (!words_scaled(word, &nano, &unit))
		return right;
	if (!strcmp(unit, "%"))
		*ppm = nano / 100000u;
	else if (!strcmp(unit, "ppm"))
		*ppm = nano / 1000000000u;
	else
		return right;
	return *ppm > 1000000 ? "at most 100%" : NULL;
}

const char *word_fraction(const char *word, uint64_t *parts)
{
	static const char right[] = "a share of packets, like 1/256, 1% or 20ppm";
	uint64_t n, ppm;

	if (!strncmp(word, "1/", 2)) {
		if (word_count(word + 2, &n) || !n || n > 1ull << 40)
			return right;
		*parts = (1ull << 40) / n;
		return NULL;
	}
	if (word_share(word, &ppm))
		return right;
	*parts = (ppm << 40) / 1000000;
	return NULL;
}

const char *word_range(const char *word, uint64_t *from, uint64_t *to)
{
	static const char right[] = "a range of bytes, like 0..16K or 4K..";
	const char *dots = strstr(word, "..");
	char part[40];
	size_t n;

	if (!dots)
		return right;
	n = (size_t)(dots - word);
	if (n >= sizeof(part))
		return right;
	memcpy(part, word, n);
	part[n] = 0;
	if (word_size(part, from))
		return right;
	*to = 0;
	if (!dots[2])
		return NULL;
	if (word_size(dots + 2, to))
		return right;
	return *to > *from ? NULL : "a range whose end is after its beginning";
}

/* ---- names of errors ---- */

#define ERRORS(x)                                                             \
	x(EPERM) x(ENOENT) x(ESRCH) x(EINTR) x(EIO) x(EBADF) x(EAGAIN)        \
	x(ENOMEM) x(EACCES) x(EFAULT) x(EBUSY) x(EEXIST) x(ENODEV) x(EINVAL)  \
	x(EMFILE) x(ENFILE) x(ENOTTY) x(EFBIG) x(ENOSPC) x(ERANGE)            \
	x(EDEADLK) x(ENOSYS) x(EOVERFLOW) x(EISCONN) x(ENOTCONN)              \
	x(ETIMEDOUT) x(EHOSTUNREACH) x(EDQUOT) x(EISDIR) x(ENOTSUP)           \
	x(ENETUNREACH) x(ENXIO) x(E2BIG)
#define X(e) #e,
const char *const word_errno_list[] = { ERRORS(X) NULL };
#undef X
#define X(e) e,
static const int error_number[] = { ERRORS(X) 0 };
#undef X

/* ---- how much a fault brings in ---- */

static const char *const resolves[] = {
	"page", "block", "transfer", "around", "double", "stride", "majority",
	"history", NULL
};

_Static_assert(sizeof(resolves) / sizeof(resolves[0]) == FL_RESOLVE_OWN + 1,
	       "a word for each plan, but for that of the board");

static const char *resolve_unknown(const char *name, char room[WORD_ROOM])
{
	const char *near = word_nearest(name, resolves);
	bool number = near && near == resolves[FL_RESOLVE_AROUND];

	snprintf(room, WORD_ROOM,
		 "page, block, transfer, around:N, double, stride, majority or "
		 "history%s%s%s", near ? " (did you mean '" : "",
		 near ? near : "", number ? ":N'?)" : near ? "'?)" : "");
	return room;
}

const char *word_resolve(const char *word, int *resolve, uint32_t *number,
			 char room[WORD_ROOM])
{
	const char *colon = strchr(word, ':');
	size_t length = colon ? (size_t)(colon - word) : strlen(word);
	uint64_t n = 0;
	char name[WORD_MAX];
	int i;

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	for (i = 0; resolves[i] && strcmp(resolves[i], name); i++)
		;
	if (!resolves[i])
		return resolve_unknown(name, room);
	if (i != FL_RESOLVE_AROUND && colon) {
		snprintf(room, WORD_ROOM, "%s, without a number", name);
		return room;
	}
	if (i == FL_RESOLVE_AROUND &&
	    (!colon || word_count(colon + 1, &n) || !n || n > FL_PLAN_NUMBER)) {
		snprintf(room, WORD_ROOM, "around:N, N pages on either side of "
			 "the block, from 1 to %u", FL_PLAN_NUMBER);
		return room;
	}
	*resolve = i;
	*number = (uint32_t)n;
	return NULL;
}

void word_resolve_name(int resolve, uint32_t number, char room[WORD_ROOM])
{
	const char *name = resolve < FL_RESOLVE_OWN ? resolves[resolve] : "own";

	if (number)
		snprintf(room, WORD_ROOM, "%s:%u", name, number);
	else
		snprintf(room, WORD_ROOM, "%s", name);
}

const char *word_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

int word_errno(const char *word)
{
	int i;

	for (i = 0; word_errno_list[i]; i++)
		if (!strcmp(word_errno_list[i], word))
			return -error_number[i];
	return 0;
}

const char *word_errno_name(int error)
{
	int i, e = error < 0 ? -error : error;

	for (i = 0; word_errno_list[i]; i++)
		if (error_number[i] == e)
			return word_errno_list[i];
	return "EOTHER";
}

/* ---- statuses of completions: ST of entries.def, as remote-access ---- */

#define STATUS_ST(name, value, text) { #name, value },
#define STATUS_OP(...)
#define STATUS_WQE(...)
#define STATUS_QP(...)
#define STATUS_ACC(...)
#define STATUS_EV(...)
#define STATUS_ENDED(...)
#define STATUS_CMD(...)
#define STATUS_SILENT(...)
#define STATUS_ABORT(...)
#define STATUS_FAULT(...)
#define STATUS_XP(...)
#define STATUS_BACKUP(...)
#define STATUS_STATE(...)
#define STATUS_MOD(...)
#define STATUS_ROW(...)
#define STATUS_REPORT(...)
#define STATUS_QUIRK(...)
#define EENUM(group, name, value, text) STATUS_##group(name, value, text)
static const struct {
	const char *name;
	int value;
} statuses[] = {
#include "faultline/entries.def"
};

#define STATUSES (sizeof(statuses) / sizeof(statuses[0]))

const char *const word_status_list[] = {
	"ok", "bad-opcode", "bad-entry", "bad-length", "local-key",
	"local-range", "local-rights", "remote-access", "remote-qp",
	"local-fault", "remote-fault",
	"bus-error", "no-answer", "flushed", "not-connected", "killed",
	"refused-too-often", "block-size", "fault-fast", "rnr-tries", "length",
	"remote-invalid", NULL
};

static bool same_status(const char *word, const char *name)
{
	for (; *word && *name; word++, name++) {
		if (*word == '-' && *name == '_')
			continue;
		if (*word < 'a' || *word > 'z' || *word - 'a' + 'A' != *name)
			return false;
	}
	return !*word && !*name;
}

/* Those that a completion can have, and no other. */
int word_status(const char *word)
{
	size_t i;
	int k;

	for (k = 0; word_status_list[k]; k++)
		if (!strcmp(word, word_status_list[k]))
			break;
	for (i = 0; word_status_list[k] && i < STATUSES; i++)
		if (same_status(word, statuses[i].name))
			return statuses[i].value;
	return -1;
}

const char *word_status_name(int status)
{
	size_t i;
	int k;

	for (i = 0; i < STATUSES; i++) {
		if (statuses[i].value != status)
			continue;
		for (k = 0; word_status_list[k]; k++)
			if (same_status(word_status_list[k], statuses[i].name))
				return word_status_list[k];
		return statuses[i].name;
	}
	return "unknown-status";
}
