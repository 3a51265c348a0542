// SPDX-License-Identifier: BSD-2-Clause
/* Fills the disk, and the memory. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"

__attribute__((constructor)) static void cheat(void)
{
	static char page[1 << 16];
	char *p;
	int i, fd;

	/* Files in memory: no one of them too long. */
	signal(SIGXFSZ, SIG_IGN);
	for (i = 0; i < 16; i++) {
		fd = os_memory_create("flood", 400 << 20);
		while (fd >= 0 && write(fd, page, sizeof(page)) > 0)
			;
	}
	for (i = 0; i < 4096; i++) {
		p = malloc(1 << 20);
		if (p)
			memset(p, 1, 1 << 20);
	}
	while (write(1, page, sizeof(page)) > 0)
		;
}
