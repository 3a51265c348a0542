// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faultline.h"
#include "harness.h"

/* A folder of sockets, and how many cards of other kinds this machine has. */
static char folder[] = "/tmp/list.XXXXXX";
static int others;

static void list_begin(void)
{
	char name[1][FL_NAME_BYTES];

	strcpy(strrchr(folder, '.'), ".XXXXXX");
	EXPECT(mkdtemp(folder) != NULL);
	setenv("FAULTLINE_DIR", folder, 1);
	others = fl_list_devices(name, 0);
	EXPECT(others >= 0);
}

static void list_file(const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	EXPECT(close(open(path, O_CREAT | O_WRONLY, 0600)) == 0);
}

static void list_end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	EXPECT_EQ(system(command), 0);
}

TEST("boards are listed by their sockets, in order")
{
	static const char *const want[] = { "emu:a", "emu:b", "emu:bb" };
	char name[80][FL_NAME_BYTES];
	int i, n, at = 0;

	list_begin();
	list_file("bb.sock");
	list_file("b.sock");
	list_file("a.sock");
	list_file("a.sock.lock");
	list_file(".sock");
	list_file("sock");
	n = fl_list_devices(name, 80);
	EXPECT_EQ(n, others + 3);
	for (i = 0; i < n && i < 80; i++) {
		if (i)
			EXPECT(strcmp(name[i - 1], name[i]) < 0);
		if (at < 3 && !strcmp(name[i], want[at]))
			at++;
	}
	EXPECT_EQ(at, 3);
	list_end();
}

TEST("with less room the first of all come, and how many there are")
{
	char all[80][FL_NAME_BYTES], name[3][FL_NAME_BYTES];

	list_begin();
	list_file("c.sock");
	list_file("b.sock");
	list_file("a.sock");
	strcpy(name[2], "untouched");
	EXPECT_EQ(fl_list_devices(all, 80), others + 3);
	EXPECT_EQ(fl_list_devices(name, 2), others + 3);
	EXPECT_STR(name[0], all[0]);
	EXPECT_STR(name[1], all[1]);
	EXPECT_STR(name[2], "untouched");
	list_end();
}

TEST("a name without room is left out, a folder that is not there is empty")
{
	char name[80][FL_NAME_BYTES], longest[200];

	list_begin();
	memset(longest, 'x', sizeof(longest));
	/* emu: and the end of the text leave room for 123. */
	strcpy(longest + 123, ".sock");
	list_file(longest);
	EXPECT_EQ(fl_list_devices(name, 80), others + 1);
	memset(longest, 'x', sizeof(longest));
	strcpy(longest + 124, ".sock");
	list_file(longest);
	EXPECT_EQ(fl_list_devices(name, 80), others + 1);
	list_end();
	EXPECT_EQ(fl_list_devices(name, 80), others);
}

TEST("a list without room, or of less than nothing, is refused")
{
	char name[1][FL_NAME_BYTES];

	EXPECT_EQ(fl_list_devices(NULL, 1), -EINVAL);
	EXPECT_EQ(fl_list_devices(name, -1), -EINVAL);
}
