// SPDX-License-Identifier: BSD-2-Clause
/* Where the listener of a board is: its socket, by name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/attach.h"

/* Only a folder that nobody else can put a socket into is worth trust. */
static int folder_ok(const char *folder)
{
	struct stat st;

	if (lstat(folder, &st))
		return 0;	/* none yet: then there is no board either */
	if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() ||
	    st.st_mode & (S_IWGRP | S_IWOTH))
		return -EACCES;
	return 0;
}

static const char *path_setting(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

int attach_path(const char *name, char *path, unsigned int path_bytes)
{
	unsigned int room = sizeof(((struct sockaddr_un *)0)->sun_path);
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *dir;
	int n, error;

	if (room > path_bytes)
		room = path_bytes;
	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		n = snprintf(path, room, "%s", name);
		return n < 0 || (unsigned int)n >= room ? -ENAMETOOLONG : 0;
	}
	dir = path_setting("FAULTLINE_DIR");
	if (dir)
		n = snprintf(folder, sizeof(folder), "%s", dir);
	else if ((dir = path_setting("XDG_RUNTIME_DIR")))
		n = snprintf(folder, sizeof(folder), "%s/faultline", dir);
	else
		n = snprintf(folder, sizeof(folder), "/tmp/faultline-%lu",
			     (unsigned long)getuid());
	if (n < 0 || (unsigned int)n >= sizeof(folder))
		return -ENAMETOOLONG;
	/* A folder that the user names himself is his own affair. */
	error = path_setting("FAULTLINE_DIR") ? 0 : folder_ok(folder);
	if (error)
		return error;
	n = snprintf(path, room, "%s/%s.sock", folder, name);
	return n < 0 || (unsigned int)n >= room ? -ENAMETOOLONG : 0;
}

/* By way of the path of one. */
int attach_folder(char *path, size_t bytes)
{
	int error = attach_path("x", path, (unsigned int)bytes);
	char *slash = error ? NULL : strrchr(path, '/');

	if (slash)
		*slash = 0;
	return error;
}
