// SPDX-License-Identifier: BSD-2-Clause
/* See fuzz.h. */
#include "fuzz.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_expect(bool ok, const char *file, int line, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (ok)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* Not by stderr, which may be listened to. */
	dprintf(STDERR_FILENO, "%s:%d: fuzz target %s: %s\n", file, line,
		fuzz_name, text);
	abort();
}

/* ---- files ---- */

static int file_fd = -1;

const char *fuzz_file(const void *data, size_t size)
{
	static char path[64];

	if (file_fd < 0) {
		file_fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	}
	FUZZ_EXPECT(file_fd >= 0 && !ftruncate(file_fd, 0) &&
		    pwrite(file_fd, data, size, 0) == (ssize_t)size,
		    "there is a file for the input");
	return path;
}

char *fuzz_file_text(void)
{
	off_t n = lseek(file_fd, 0, SEEK_END);
	char *text = malloc((size_t)n + 1);

	FUZZ_EXPECT(text && pread(file_fd, text, (size_t)n, 0) == n,
		    "the file can be read");
	text[n] = 0;
	return text;
}

char *fuzz_text(const void *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_EXPECT(text, "there is memory for the input");
	memcpy(text, data, size);
	text[size] = 0;
	return text;
}

/* ---- what is said ---- */

static struct {
	FILE *f, *out, *err;
	char text[65536];
} said;

void fuzz_listen(void)
{
	said.text[0] = 0;
	said.f = fmemopen(said.text, sizeof(said.text), "w");
	FUZZ_EXPECT(said.f, "there is memory for what is said");
	fflush(stdout);
	said.out = stdout;
	said.err = stderr;
	stdout = stderr = said.f;
}

const char *fuzz_said(void)
{
	stdout = said.out;
	stderr = said.err;
	fclose(said.f);
	said.text[sizeof(said.text) - 1] = 0;
	return said.text;
}

/* ---- numbers ---- */

uint64_t fuzz_take(struct fuzz *f, unsigned int n)
{
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < n && f->left; i++, f->left--)
		v |= (uint64_t)*f->at++ << 8 * i;
	return v;
}
