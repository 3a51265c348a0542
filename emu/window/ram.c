// SPDX-License-Identifier: BSD-2-Clause
/* ram.c - the guest's memory, which is a file, becomes DRAM of the board. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include "window/window_internal.h"
#include "board/dram.h"

static int map_file(struct window *w, int fd, const char **why)
{
	struct stat st;
	int bank;

	if (fstat(fd, &st))
		return -errno;
	*why = "it is no file of whole pages (wanted: QEMU's "
	       "memory-backend-file with share=on)";
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size % DRAM_PAGE)
		return -EINVAL;
	*why = "it is too large for its place";
	bank = dram_bank_map(board_dram(w->cfg.board), fd, w->cfg.ram_base,
			     (uint64_t)st.st_size);
	if (bank < 0) {
		*why = bank == -EINVAL ? *why : strerror(-bank);
		return bank;
	}
	w->guest.bank = bank;
	sigbus_add(dram_bank(board_dram(w->cfg.board), bank)->mem,
		   (uint64_t)st.st_size, &w->guest.cut);
	return 0;
}

int window_map_ram(struct window *w)
{
	int fd = open(w->cfg.ram, O_RDWR | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	const char *why = strerror(-err);

	if (!err)
		err = map_file(w, fd, &why);
	if (fd >= 0)
		close(fd);
	if (err)
		fprintf(stderr, "faultline: board %s: the guest's memory %s: "
			"%s; the guest is cut off\n",
			board_name(w->cfg.board), w->cfg.ram, why);
	return err;
}
