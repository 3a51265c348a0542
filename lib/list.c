// SPDX-License-Identifier: BSD-2-Clause
/* Which cards a process of this user can open. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>

#include "faultline.h"
#include "sys.h"

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

/* Files of a way's folder that begin with its head and end with its tail. */
static void list_way(struct list *l, const struct fl_way *w)
{
	const char *head = w->head ? w->head : "", *tail = w->tail ? w->tail : "";
	size_t h = strlen(head), t = strlen(tail), n;
	char folder[FL_NAME_BYTES];
	struct dirent *e;
	DIR *d = NULL;

	if (w->folder && !w->folder(folder, sizeof(folder)))
		d = opendir(folder);
	if (!d)
		return;
	while ((e = readdir(d))) {
		n = strlen(e->d_name);
		if (n <= h + t || strncmp(e->d_name, head, h) ||
		    strcmp(e->d_name + n - t, tail))
			continue;
		list_add(l, w->listed, e->d_name + h, n - h - t);
	}
	closedir(d);
}

int fl_list_devices(char (*name)[FL_NAME_BYTES], int n)
{
	struct list l = { .name = name, .room = n };
	const struct fl_way *w;

	if (n < 0 || (n && !name))
		return -EINVAL;
	for (w = fl_ways; w->sys; w++)
		list_way(&l, w);
	return l.n;
}
