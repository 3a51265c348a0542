// SPDX-License-Identifier: BSD-2-Clause
/*
 * Processes mode: each board has a socket in a folder of the testbed's, which goes with it. A
 * board elsewhere has one of its own.
 */
#include "tools/scenario/testbed_internal.h"

#include "fabric/fabric.h"

void testbed_listener_path(const struct testbed *w,
			   const struct testbed_board *b,
			   char *path, size_t path_bytes)
{
	snprintf(path, path_bytes, "%s/%u.sock", w->folder.path,
		 board_id(b->board));
}

static int need_serve(struct testbed *w)
{
	struct serve_config cfg = { .sim = w->sim };
	int err = 0;

	if (!w->serve)
		w->serve = serve_create(&cfg, &err);
	return err;
}

int testbed_listener_open(struct testbed *w, struct testbed_board *b)
{
	char path[sizeof(w->folder.path) + 16];
	int err = need_serve(w);

	if (err)
		return err;
	testbed_listener_path(w, b, path, sizeof(path));
	return serve_open(w->serve, b->kernel, path);
}

bool testbed_kernel_elsewhere(const struct testbed_board *b)
{
	return b->guest || b->far;
}

int testbed_board_far(struct testbed *w, const char *name,
		      struct testbed_board **out)
{
	struct fabric_udp_config link;
	int err = fabric_udp_parse(w->cfg.far->udp, &link, w->why,
				   sizeof(w->why));

	if (!err)
		err = fabric_udp(w->fabric, &link);
	if (err)
		return err;
	w->far = (struct testbed_board){ .name = name, .testbed = w,
					 .far = w->cfg.far->device };
	*out = &w->far;
	return 0;
}

void testbed_listener_close(struct testbed *w)
{
	if (w->serve) {
		serve_close(w->serve);
		serve_destroy(w->serve);
		w->serve = NULL;
	}
	testbed_folder_remove(w);
}
