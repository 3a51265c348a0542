/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words.h - numbers with units, names of errors and statuses, and the nearest
 * known word, which every message about an unknown word offers.
 */
#ifndef FL_WORDS_H
#define FL_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* The word of list (NULL at its end) that is most like word, or NULL. */
const char *word_nearest(const char *word, const char *const *list);

/* "64K", "1M", "100", "64K+1", "4K-1" -> bytes. NULL, or what would be right. */
const char *word_size(const char *word, uint64_t *bytes);
/* "10us", "1.5ms", "3s", "20ns" -> ns. */
const char *word_time(const char *word, uint64_t *ns);
/* "1%", "0.5%", "200ppm" -> parts per million. */
const char *word_share(const char *word, uint64_t *ppm);
/* "1/256", "1%" -> of 2^40. */
const char *word_fraction(const char *word, uint64_t *parts);
/* "12", "0x1F" */
const char *word_count(const char *word, uint64_t *n);
/* "0..16K", "4K.." (to the end: 0) */
const char *word_range(const char *word, uint64_t *from, uint64_t *to);

/*
 * "block", "around:4" -> enum fl_resolve and its number. NULL, or what would be
 * right, in room.
 */
#define WORD_ROOM	200
const char *word_resolve(const char *word, int *resolve, uint32_t *number,
			 char room[WORD_ROOM]);
/* And back. */
void word_resolve_name(int resolve, uint32_t number, char room[WORD_ROOM]);

/* What a word has after n: "" after 1, else "s": 1 fault, 2 faults. */
const char *word_plural(uint64_t n);

/* "EINVAL" -> -EINVAL; 0 when it is none. */
int word_errno(const char *word);
/* Name of a positive or negative errno; "error 999" never: "EOTHER". */
const char *word_errno_name(int error);
extern const char *const word_errno_list[];

/* "remote-access" -> FL_ST_REMOTE_ACCESS; -1 when it is none. */
int word_status(const char *word);
const char *word_status_name(int status);
extern const char *const word_status_list[];

#endif
