// SPDX-License-Identifier: BSD-2-Clause
/*
 * Device and memory: open the card, ask what it is, and get memory whose pages
 * come and go.
 *
 *	memory [DEVICE [FILE]]
 */
#include "example.h"

#define BYTES (4 * 4096)

static int same_as_file(const char *path, const unsigned char *mem,
			size_t bytes)
{
	FILE *f = fopen(path, "rb");
	size_t i = 0;
	int c = EOF;

	if (!f)
		return 0;
	while (i < bytes && (c = getc(f)) != EOF && mem[i] == c)
		i++;
	c = getc(f);
	fclose(f);
	return i == bytes && c == EOF;
}

int main(int argc, char **argv)
{
	const char *path = argc > 2 ? argv[2] : argv[0];
	struct fl_fault_counters count;
	struct fl_device_attr attr;
	struct fl_device *dev;
	unsigned char *mem, *file;
	size_t bytes;

	TRY(fl_open(argc > 1 ? argv[1] : NULL, &dev));
	TRY(fl_query_device(dev, &attr));
	printf("node %u, domain slot %u, blocks of %u bytes\n", attr.node,
	       attr.slot, attr.block_bytes);
	/* Before any transfer: how faults of this process are handled. */
	TRY(fl_set_policy(dev, FL_SYSTEM_PART, FL_RESOLVE_BLOCK));

	mem = fl_alloc(dev, BYTES);
	CHECK(mem != NULL);
	CHECK(mem[0] == 0 && mem[BYTES - 1] == 0);
	memset(mem, 7, BYTES);
	/* Out to swap, and back by itself when it is touched. */
	TRY(fl_advise(dev, mem, BYTES, FL_PAGEOUT));
	CHECK(mem[0] == 7 && mem[BYTES - 1] == 7);
	TRY(fl_advise(dev, mem, BYTES, FL_PAGEOUT));
	TRY(fl_advise(dev, mem, BYTES, FL_WILLNEED));
	CHECK(mem[4096] == 7);
	/* Forget what is in it. */
	TRY(fl_advise(dev, mem, BYTES, FL_DONTNEED));
	CHECK(mem[0] == 0 && mem[BYTES - 1] == 0);
	TRY(fl_protect(dev, mem, BYTES, FL_PROT_READ));
	CHECK(mem[4095] == 0);
	TRY(fl_protect(dev, mem, BYTES, FL_PROT_READ | FL_PROT_WRITE));
	mem[0] = 1;
	TRY(fl_free(dev, mem, BYTES));

	file = fl_map_file(dev, path, &bytes);
	CHECK(file != NULL);
	CHECK(same_as_file(path, file, bytes));
	printf("the mapped file is the file\n");
	TRY(fl_free(dev, file, bytes));

	/* A file that is not there: NULL and errno. */
	CHECK(!fl_map_file(dev, "/nonexistent", &bytes) && errno == ENOENT);
	printf("/nonexistent: %s\n", fl_strerror(errno));

	TRY(fl_query_counters(dev, &count));
	printf("the card met %llu missing pages\n",
	       (unsigned long long)count.faults);
	TRY(fl_close(dev));
	return 0;
}
