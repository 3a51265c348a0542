// SPDX-License-Identifier: BSD-2-Clause
/* Processes mode: each board has a door in a folder of the world's, which goes with it. */
#include "tools/scenario/world_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void world_door_path(const struct world *w, const struct world_board *b,
		     char *path, size_t path_bytes)
{
	snprintf(path, path_bytes, "%s/%u.sock", w->folder,
		 board_id(b->board));
}

int world_folder_need(struct world *w)
{
	const char *tmp = getenv("TMPDIR");
	int n;

	if (w->folder[0])
		return 0;
	n = snprintf(w->folder, sizeof(w->folder), "%s/faultline.XXXXXX",
		     tmp && *tmp ? tmp : "/tmp");
	/* Cut off: sockets have short names anyway. */
	if (n >= (int)sizeof(w->folder) || !mkdtemp(w->folder)) {
		world_why_set(w, "no folder for sockets in %s",
			      tmp && *tmp ? tmp : "/tmp");
		w->folder[0] = 0;
		return n >= (int)sizeof(w->folder) ? -ENAMETOOLONG : -errno;
	}
	return 0;
}

static int need_serve(struct world *w)
{
	struct serve_config cfg = { .sim = w->sim };
	int err = world_folder_need(w);

	if (!err && !w->serve)
		w->serve = serve_create(&cfg, &err);
	return err;
}

int world_door_open(struct world *w, struct world_board *b)
{
	char path[sizeof(w->folder) + 16];
	int err = need_serve(w);

	if (err)
		return err;
	world_door_path(w, b, path, sizeof(path));
	return serve_open(w->serve, b->kernel, path);
}

void world_doors_close(struct world *w)
{
	if (w->serve) {
		serve_close(w->serve);
		serve_destroy(w->serve);
		w->serve = NULL;
	}
	if (w->folder[0] && rmdir(w->folder))
		world_note_problem(w, 6, "the folder %s is left", w->folder);
	w->folder[0] = 0;
}
