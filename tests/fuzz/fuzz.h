/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz.h - what the fuzz targets share. A target is one file, fuzz_NAME.c, with
 *
 *	const char fuzz_name[] = "NAME";
 *	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
 *
 * It takes the bytes as a file, a message or a list of things to do, and stops the program
 * (fuzz_expect, a sanitizer, an assertion) when something does not hold that must hold for
 * any input. Linked with libFuzzer it looks for such inputs; linked with replay.c, by any
 * compiler, it tries those that are in files. tests/README.md tells how to use them.
 */
#ifndef FL_FUZZ_H
#define FL_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

extern const char fuzz_name[];
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unless ok: say what does not hold, where, and abort. */
void fuzz_expect(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define FUZZ_EXPECT(cond, ...)                                                 \
	fuzz_expect((cond), __FILE__, __LINE__, "" __VA_ARGS__)

/* ---- the input as a file, or as a text ---- */

/* A path under which these bytes can be read, and written, until the next call. */
const char *fuzz_file(const void *data, size_t size);
/* What stands in that file now, with a 0 behind it; free(). */
char *fuzz_file_text(void);
/* A copy with a 0 behind it; free(). */
char *fuzz_text(const void *data, size_t size);

/*
 * What the program says on standard output and standard error between the two calls.
 * fuzz_said() is good until fuzz_listen() is called again.
 */
void fuzz_listen(void);
const char *fuzz_said(void);

/* ---- the input as a source of numbers ---- */

struct fuzz {
	const uint8_t *at;
	size_t left;
};

/* n bytes, little-endian; what is missing at the end is 0. */
uint64_t fuzz_take(struct fuzz *f, unsigned int n);
/* 0 <= result < n */
static inline uint32_t fuzz_below(struct fuzz *f, uint32_t n)
{
	return (uint32_t)fuzz_take(f, n > 256 ? 2 : 1) % n;
}

#endif
