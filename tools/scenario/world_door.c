// SPDX-License-Identifier: BSD-2-Clause
/* Processes mode: each board has a door in a folder of the world's, which goes with it. */
#include "tools/scenario/world_internal.h"

void world_door_path(const struct world *w, const struct world_board *b,
		     char *path, size_t path_bytes)
{
	snprintf(path, path_bytes, "%s/%u.sock", w->folder.path,
		 board_id(b->board));
}

static int need_serve(struct world *w)
{
	struct serve_config cfg = { .sim = w->sim };
	int err = 0;

	if (!w->serve)
		w->serve = serve_create(&cfg, &err);
	return err;
}

int world_door_open(struct world *w, struct world_board *b)
{
	char path[sizeof(w->folder.path) + 16];
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
	world_folder_remove(w);
}
