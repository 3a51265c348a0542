// SPDX-License-Identifier: BSD-2-Clause
/* Which cards a process of this user can open. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>

#include "attach/attach.h"
#include "faultline.h"

struct list {
	char (*name)[FL_NAME_BYTES];
	int room, n;
};

/* In order, so that two calls, or two programs, agree. */
static void list_add(struct list *l, const char *prefix, const char *name, size_t bytes)
{
	char text[FL_NAME_BYTES];
	int at, n = snprintf(text, sizeof(text), "%s%.*s", prefix, (int)bytes, name);

	if (n < 0 || (size_t)n >= sizeof(text))
		return;		/* fl_open() could not be told either */
	for (at = l->n < l->room ? l->n : l->room; at; at--) {
		if (strcmp(l->name[at - 1], text) <= 0)
			break;
		if (at < l->room)
			memcpy(l->name[at], l->name[at - 1], sizeof(text));
	}
	if (at < l->room)
		memcpy(l->name[at], text, sizeof(text));
	l->n++;
}

/* Files of a folder that begin with head and end with tail. */
static void list_folder(struct list *l, const char *folder, const char *head,
			const char *tail, const char *prefix)
{
	size_t h = strlen(head), t = strlen(tail), n;
	DIR *d = opendir(folder);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d))) {
		n = strlen(e->d_name);
		if (n <= h + t || strncmp(e->d_name, head, h) ||
		    strcmp(e->d_name + n - t, tail))
			continue;
		list_add(l, prefix, t ? e->d_name : e->d_name + h,
			 t ? n - t : n - h);
	}
	closedir(d);
}

int fl_list_devices(char (*name)[FL_NAME_BYTES], int n)
{
	struct list l = { .name = name, .room = n };
	char path[FL_NAME_BYTES], *slash;

	if (n < 0 || (n && !name))
		return -EINVAL;
	list_folder(&l, "/dev", "faultline", "", "/dev/faultline");
	/* The folder of all sockets, by way of the path of one. */
	if (!attach_path("x", path, sizeof(path)) && (slash = strrchr(path, '/'))) {
		*slash = 0;
		list_folder(&l, path, "", ".sock", "emu:");
	}
	return l.n;
}
