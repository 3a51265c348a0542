// SPDX-License-Identifier: BSD-2-Clause
/* Fills the disk, and the memory. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void cheat(void)
{
	static char page[1 << 16];
	char *p;
	int i;

	for (i = 0; i < 4096; i++) {
		p = malloc(1 << 20);
		if (p)
			memset(p, 1, 1 << 20);
	}
	while (write(1, page, sizeof(page)) > 0)
		;
}
