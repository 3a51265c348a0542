// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways out of the walls around a subject and around a compiler, each tried twice: in
 * a child without the wall, where it succeeds if this kernel and this user can do it at
 * all, and within the wall, where it never does. All of them as root, if this is root,
 * and as a plain user. What a compiler may read by other ways: tests/cmd/lab_walls.sh.
 */
#include "tests/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "os/os_emu.h"
#include "rig/os_escape_table.h"
#include "tools/confine/confine.h"

#define NOBODY	65534
#define KEY	"the key that signs records"

/* What an attempt came to: statuses that no checker of memory ends with. */
enum { DONE = 0, REFUSED = 101, BY_CHANCE, NO_WALL };

static struct found {
	unsigned int tried, proven;
	char wrong[4000], unproven[4000];
} *found;

static void escape_note(char list[4000], const char *wall, const char *name)
{
	size_t n = strlen(list);

	snprintf(list + n, 4000 - n, "\n    %s: %s", wall, name);
}

/* Others' files as they are before each attempt. */
static void put_others(void)
{
	int fd;

	rmdir(escape_made);
	unlink(escape_made);
	unlink(escape_others);
	fd = open(escape_others, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, KEY, sizeof(KEY)) != sizeof(KEY))
		escape_note(found->wrong, "set-up", "the file of others");
	fchmod(fd, 0600);
	close(fd);
}

static bool others_are_whole(void)
{
	char text[100] = "";
	struct stat s;
	int fd = open(escape_others, O_RDONLY);
	bool whole = fd >= 0 && read(fd, text, sizeof(text)) == sizeof(KEY) &&
		     !strcmp(text, KEY) && !fstat(fd, &s) &&
		     (s.st_mode & 07777) == 0600 && s.st_nlink == 1 &&
		     access(escape_made, F_OK);

	close(fd);
	return whole;
}

/* The wall's answers; what is never tried without it must have one of these. */
static bool walls_error(int error)
{
	return error == EPERM || error == ENOSYS || error == ENOTTY;
}

static _Noreturn void escape_child(const struct escape *e, bool wall,
				   enum confine_kind kind)
{
	struct confine c = {
		.kind = kind, .program = "/bin/sh", .cpu_s = 5,
		.memory_bytes = ROOM, .file_bytes = 4096,
	};
	int held = wall ? confine_self(&c) : 0;
	long r;

	if (wall && (held < 0 || !(held & CONFINED_CALLS) ||
		     !(held & CONFINED_FILES)))
		_exit(NO_WALL);
	errno = 0;
	r = e->run ? e->run() :
		     syscall(e->call, e->arg[0], e->arg[1], e->arg[2],
			     e->arg[3], e->arg[4], 0);
	if (r >= 0)
		_exit(DONE);
	_exit(wall && e->where & UNPROVEN && !walls_error(errno) ? BY_CHANCE :
								   REFUSED);
}

static int escape_attempt(const struct escape *e, bool wall,
			  enum confine_kind kind)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		escape_child(e, wall, kind);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return NO_WALL;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	/* Through another entry of the processor there is no answer. */
	return WTERMSIG(status) == SIGSYS ? REFUSED : DONE;
}

static void escape_try(const struct escape *e, const char *wall,
		       enum confine_kind kind)
{
	int came;

	put_others();
	came = escape_attempt(e, true, kind);
	if (came != REFUSED)
		escape_note(found->wrong, wall, e->name);
	if (!others_are_whole())
		escape_note(found->wrong, "files of others", e->name);
}

static void try_all(void)
{
	const struct escape *e;
	bool can;

	for (e = escapes; e->name; e++) {
		put_others();
		can = !(e->where & UNPROVEN) &&
		      escape_attempt(e, false, CONFINE_ALONE) == DONE;
		found->tried++;
		found->proven += can;
		if (!can)
			escape_note(found->unproven, "not shown", e->name);
		escape_try(e, "as a subject", CONFINE_ALONE);
		if (e->where & ANYWHERE) {
			escape_try(e, "as a subject with a loader",
				   CONFINE_LOADED);
			escape_try(e, "as a compiler", CONFINE_TOOLS);
		}
	}
}

/* The grader and all that it starts, as this user. */
static void escape_as(uid_t user)
{
	char folder[200];
	pid_t pid;
	int status;

	if (strcmp(os_system(), "linux"))
		test_skip("not Linux: only limits hold here");
	test_path(folder, sizeof(folder), "as%u", user);
	EXPECT_EQ(mkdir(folder, 0700), 0);
	EXPECT_EQ(chown(folder, user, (gid_t)-1), 0);
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, escape_inherited), 0);
	escape_terminal = posix_openpt(O_RDWR | O_NOCTTY);
	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(found != MAP_FAILED);
	pid = fork();
	if (!pid) {
		/* Its place holds, whatever folders above it forbid this user. */
		if (chdir(folder) ||
		    (user != getuid() && (setgroups(0, NULL) || setgid(NOBODY) ||
					  setuid(user))))
			_exit(1);
		/* Without a change of user it would be so, too. */
		prctl(PR_SET_DUMPABLE, 1);
		setenv("KEY", KEY, 1);
		try_all();
		_exit(0);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	close(escape_inherited[0]);
	close(escape_inherited[1]);
	close(escape_terminal);
	STEP("%u ways were tried, %u of them succeed without the wall; %s",
	     found->tried, found->proven, found->unproven);
	EXPECT_STR(found->wrong, "");
	/* A wall that nothing beats against shows nothing. */
	EXPECT_GE(found->proven, 40);
}

/* A kernel without Landlock, or one that a container keeps from it. */
static void need_wall(void)
{
	static const struct escape nothing = { .name = "nothing" };

	if (strcmp(os_system(), "linux") ||
	    escape_attempt(&nothing, true, CONFINE_ALONE) == NO_WALL)
		test_skip("this kernel has no Landlock: it confines nothing");
}

TEST("no way out of the wall is open to this user")
{
	need_wall();
	escape_as(getuid());
}

TEST("nor to a plain user, where this is root")
{
	need_wall();
	escape_as(getuid() ? getuid() : NOBODY);
}
