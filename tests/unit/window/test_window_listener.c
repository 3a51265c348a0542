// SPDX-License-Identifier: BSD-2-Clause
/*
 * The socket of a window: whose place it takes, and who cannot have one at all.
 * variants: tsan posix
 */
#include <sys/stat.h>

#include "rig/window.h"

static int try_window(unsigned int board, const char *path)
{
	struct window_config cfg = { .board = rig.board[board], .socket = path,
				     .ram = rig_path(board, "ram") };
	int err = 1;

	EXPECT(!window_create(&cfg, &err));
	return err;
}

TEST("a system without interrupts between programs has no windows, and says so")
{
	rig_boards(1, RIG_LONG);
	if (rig_on_linux()) {
		rig_open_window(0);
		rig_connect(0);
		rig_hang_up(0);
	} else {
		EXPECT_EQ(try_window(0, rig_path(0, "card")), -ENOSYS);
		EXPECT(access(rig_path(0, "card"), F_OK));
	}
	rig_end();
}

TEST("a socket that somebody serves is taken, one that a dead server left is not")
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	int fd;

	if (!rig_on_linux())
		return;
	rig_boards(2, RIG_LONG);
	rig_open_window(0);
	EXPECT_EQ(try_window(1, rig_path(0, "card")), -EADDRINUSE);
	STEP("the first one goes on");
	rig_connect(0);
	EXPECT_EQ(rig_read(&rig.guest[0], NIC_ENG_ID, 4), NIC_ENG_ID_RESET);
	STEP("a dead one");
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	strcpy(at.sun_path, rig_path(1, "card"));
	EXPECT_EQ(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	rig_open_window(1);
	rig_connect(1);
	EXPECT_EQ(rig_read(&rig.guest[1], NIC_FW_BASE + NIC_FW_NODE, 4), 1);
	STEP("only its owner may connect");
	EXPECT_EQ(stat(rig_path(1, "card"), &st), 0);
	EXPECT_EQ(st.st_mode & 0777, 0600);
	rig_end();
}

TEST("what is no socket is not removed, and a path may be too long")
{
	char path[300];
	int fd;

	if (!rig_on_linux())
		return;
	rig_boards(1, RIG_LONG);
	fd = open(rig_path(0, "file"), O_CREAT | O_WRONLY, 0600);
	EXPECT(fd >= 0);
	close(fd);
	EXPECT_EQ(try_window(0, rig_path(0, "file")), -EEXIST);
	EXPECT_EQ(unlink(rig_path(0, "file")), 0);
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[299] = 0;
	EXPECT_EQ(try_window(0, path), -ENAMETOOLONG);
	snprintf(path, sizeof(path), "%s/none/card", rig.dir);
	EXPECT_EQ(try_window(0, path), -ENOENT);
	rig_end();
}

TEST("virtual time and a guest do not go together")
{
	struct sim_config sc = { .mode = SIM_LOCKSTEP, .seed = 1 };
	struct board_config bc = { .name = "b" };
	struct timing_profile timing;
	struct fabric_config fc;
	int err;

	if (!rig_on_linux())
		return;
	memset(&rig, 0, sizeof(rig));
	strcpy(rig.dir, "/tmp");
	timing_defaults(&timing);
	bc.timing = fc.timing = &timing;
	bc.sim = sim_create(&sc);
	fc = (struct fabric_config){ .sim = bc.sim, .timing = &timing };
	bc.fabric = fabric_create(&fc);
	rig.board[0] = board_create(&bc, &err);
	EXPECT(rig.board[0]);
	EXPECT_EQ(try_window(0, "/tmp/never"), -ENOTSUP);
	board_destroy(rig.board[0]);
	sim_destroy(bc.sim);
	fabric_destroy(bc.fabric);
}
