// SPDX-License-Identifier: BSD-2-Clause
/*
 * `faultline vm` as a program: two guests, a transfer between them, the end by itself and
 * by a signal, the trace. It runs in a child, so that nothing here knows its boards.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "rig/window.h"
#include "tools/faultline/options.h"

static struct program {
	pid_t pid;
	int said;		/* its standard output */
} vm;

static void kill_it(void *arg)
{
	struct program *p = arg;

	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	p->pid = 0;
}

/* Read what it says up to a text; false: it ended first. */
static bool program_says(struct program *p, const char *text)
{
	static char said[4000];
	size_t n = 0;
	ssize_t got;

	while (n < sizeof(said) - 1) {
		got = read(p->said, said + n, 1);
		if (got <= 0)
			return false;
		n++;
		said[n] = 0;
		if (strstr(said, text))
			return true;
	}
	return false;
}

static bool vm_says(const char *text)
{
	return program_says(&vm, text);
}

static void fresh_folder(void)
{
	memset(&rig, 0, sizeof(rig));
	rig.folders = true;
	strcpy(rig.dir, "/tmp/faultline-window-XXXXXX");
	EXPECT(mkdtemp(rig.dir));
}

static void start_program(struct program *p, int argc, const char *const *argv)
{
	int out[2];

	EXPECT_EQ(pipe(out), 0);
	fflush(NULL);
	p->pid = fork();
	if (!p->pid) {
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		exit(command_vm.run(&command_vm, argc, (char **)argv));
	}
	close(out[1]);
	p->said = out[0];
	test_cleanup(kill_it, p);
	EXPECT(program_says(p, "ready"));
}

static void vm_start(const char *option, const char *value)
{
	const char *argv[4];
	char folder[2][80];
	int argc = 0;

	snprintf(folder[0], sizeof(folder[0]), "%s/n0", rig.dir);
	snprintf(folder[1], sizeof(folder[1]), "%s/n1", rig.dir);
	argv[argc++] = option;
	if (value)
		argv[argc++] = value;
	argv[argc++] = folder[0];
	argv[argc++] = folder[1];
	start_program(&vm, argc, argv);
}

/* Its exit status; the sockets are gone. */
static int vm_end(void)
{
	int status;
	unsigned int i;

	EXPECT_EQ(waitpid(vm.pid, &status, 0), vm.pid);
	vm.pid = 0;
	close(vm.said);
	for (i = 0; i < 2; i++) {
		EXPECT(access(rig_path(i, "card"), F_OK));
		unlink(rig_path(i, "ram"));
		EXPECT_EQ(rmdir(rig_path(i, "")), 0);
	}
	EXPECT(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void vm_guests(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		rig_connect(i);
		rig_set_up(&rig.guest[i]);
	}
	rig_pair(0, 1);
}

TEST("two guests transfer, and when both have gone the program ends by itself")
{
	char trace[100], line[400];
	unsigned int done = 0, events = 0;
	FILE *f;

	fresh_folder();
	vm_start("--links", "n0:n1");
	STEP("killed, it leaves its sockets: the next one takes them over");
	kill_it(&vm);
	close(vm.said);
	EXPECT_EQ(access(rig_path(0, "card"), F_OK), 0);
	EXPECT_EQ(access(rig_path(1, "card"), F_OK), 0);
	snprintf(trace, sizeof(trace), "/tmp/faultline-vm-%d.trace",
		 (int)getpid());
	vm_start("--trace", trace);
	vm_guests();
	rig_transfer(0, 1, 1);
	rig_note(&rig.guest[0], FL_WINDOW_NOTE_MR, 0, 1, 2);
	rig_read(&rig.guest[0], NIC_ENG_ID, 4);
	STEP("one goes: it waits for the other, and the one may come again");
	rig_forget(&rig.guest[1]);
	rig_connect(1);
	rig_set_up(&rig.guest[1]);
	rig_new_qp(&rig.guest[0]);
	rig_pair(0, 1);
	rig_transfer(1, 0, 2);
	rig_forget(&rig.guest[0]);
	rig_forget(&rig.guest[1]);
	EXPECT(vm_says("board n0: 1 guest;"));
	EXPECT(vm_says("board n1: 2 guests"));
	EXPECT_EQ(vm_end(), 0);
	EXPECT_EQ(rmdir(rig.dir), 0);
	f = fopen(trace, "r");
	EXPECT(f);
	while (fgets(line, sizeof(line), f)) {
		done += strstr(line, "FW_COMPLETE") != NULL;
		events += strstr(line, "DRV_MR") != NULL;
	}
	fclose(f);
	unlink(trace);
	EXPECT_EQ(done, 2);
	EXPECT_EQ(events, 1);
}

static void by_signal(int sig, bool with_guests)
{
	fresh_folder();
	vm_start("--stay", NULL);
	if (with_guests)
		vm_guests();
	EXPECT_EQ(kill(vm.pid, sig), 0);
	EXPECT_EQ(vm_end(), 0);
	if (with_guests)
		EXPECT_EQ(rig.guest[0].head->alive, 0);
	rig_forget(&rig.guest[0]);
	rig_forget(&rig.guest[1]);
	EXPECT_EQ(rmdir(rig.dir), 0);
}

TEST("a signal ends it, with guests and without, and the guests are told")
{
	by_signal(SIGTERM, false);
	by_signal(SIGINT, true);
}

TEST("it stays when all have gone, if asked to")
{
	fresh_folder();
	vm_start("--stay", NULL);
	vm_guests();
	rig_forget(&rig.guest[0]);
	rig_forget(&rig.guest[1]);
	vm_guests();
	rig_transfer(0, 1, 3);
	rig_forget(&rig.guest[0]);
	rig_forget(&rig.guest[1]);
	EXPECT_EQ(kill(vm.pid, SIGTERM), 0);
	EXPECT(vm_says("board n0: 2 guests"));
	EXPECT_EQ(vm_end(), 0);
	EXPECT_EQ(rmdir(rig.dir), 0);
}

/* A port of UDP that nobody has just now. */
static unsigned int free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	EXPECT_GE(fd, 0);
	EXPECT_EQ(bind(fd, (struct sockaddr *)&a, n), 0);
	EXPECT_EQ(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	close(fd);
	return ntohs(a.sin_port);
}

TEST("two programs, as on two machines, have a link over UDP between their guests")
{
	static struct program other;
	unsigned int here = free_port(), there = free_port();
	char folder[2][80], udp[2][80];

	fresh_folder();
	snprintf(folder[0], sizeof(folder[0]), "%s/n0", rig.dir);
	snprintf(folder[1], sizeof(folder[1]), "%s/n1", rig.dir);
	snprintf(udp[0], sizeof(udp[0]), "127.0.0.1:%u/127.0.0.1:%u/1", here,
		 there);
	snprintf(udp[1], sizeof(udp[1]), "127.0.0.1:%u/127.0.0.1:%u/0", there,
		 here);
	start_program(&vm, 3, (const char *[]){ "--udp", udp[0], folder[0] });
	start_program(&other, 5, (const char *[]){
		      "--first-node", "1", "--udp", udp[1], folder[1] });
	vm_guests();
	rig_transfer(0, 1, 4);
	rig_transfer(1, 0, 5);
	rig_forget(&rig.guest[1]);
	EXPECT(program_says(&other, "board n1: 1 guest;"));
	EXPECT_EQ(waitpid(other.pid, NULL, 0), other.pid);
	other.pid = 0;
	close(other.said);
	rig_forget(&rig.guest[0]);
	EXPECT(vm_says("board n0: 1 guest;"));
	EXPECT_EQ(vm_end(), 0);
	EXPECT_EQ(rmdir(rig.dir), 0);
}
