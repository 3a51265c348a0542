// SPDX-License-Identifier: BSD-2-Clause
/*
 * The debugger: QEMU's remote protocol (GDB manual, appendix "Remote Serial Protocol"), as far as
 * it is needed. A machine's clusters of CPUs are processes there; the second has the R5s.
 */
#include "debugger.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board.h"
#include "harness.h"

#define MEMORY_BYTES	(1u << 30)
#define PACKET_MAX	4096
#define PATIENCE_MS	60000
#define CPU		"p02.05"	/* of R5-0 */
#define R5_PC		15

struct debugger {
	int socket;
	int words;			/* QEMU's standard error */
	pid_t qemu;
	uint8_t *memory;
	uint8_t *image;			/* the ELF file */
	uint32_t bytes;			/* of it */
	uint32_t read_done, write_done, cycles_done, ended, go_on;
	char in[PACKET_MAX];
	unsigned int in_first, in_end;
	char packet[PACKET_MAX];
	bool stands;			/* behind an access */
	bool answered;			/* value is for r0 */
	uint32_t value;
};

static void debugger_end(void *arg)
{
	struct debugger *d = arg;

	if (d->socket >= 0)
		close(d->socket);
	if (d->words >= 0)
		close(d->words);
	if (d->qemu > 0) {
		kill(d->qemu, SIGKILL);
		waitpid(d->qemu, NULL, 0);
	}
	if (d->memory)
		munmap(d->memory, MEMORY_BYTES);
	free(d->image);
	free(d);
}

/* ---- packets ---- */

/* There are too many for the transcript. */
static void packet_must(bool holds, const char *what)
{
	if (!holds)
		STEP("the debugger expects: %s", what);
	if (!holds)
		EXPECT(holds);
}

/* Its warnings, and why it has ended. */
static void qemu_words(struct debugger *d)
{
	ssize_t n = pread(d->words, d->packet, sizeof(d->packet) - 1, 0);

	d->packet[n > 0 ? n : 0] = 0;
	STEP("QEMU: %s", d->packet);
}

static char packet_byte(struct debugger *d)
{
	struct pollfd p = { .fd = d->socket, .events = POLLIN };
	ssize_t n;

	if (d->in_first == d->in_end) {
		n = poll(&p, 1, PATIENCE_MS);
		if (n == 1)
			n = read(d->socket, d->in, sizeof(d->in));
		else
			STEP("QEMU says nothing for %d s", PATIENCE_MS / 1000);
		if (n <= 0)
			qemu_words(d);
		packet_must(n > 0, "an answer");
		d->in_first = 0;
		d->in_end = (unsigned int)n;
	}
	return d->in[d->in_first++];
}

static const char *packet_get(struct debugger *d)
{
	unsigned int n = 0;
	char c;

	while (packet_byte(d) != '$')
		;
	while ((c = packet_byte(d)) != '#') {
		packet_must(n < sizeof(d->packet) - 1, "a packet that is not longer");
		d->packet[n++] = c;
	}
	d->packet[n] = 0;
	packet_byte(d);
	packet_byte(d);
	return d->packet;
}

/* Nothing is acknowledged: the next packet does that too. */
static void packet_put(struct debugger *d, const char *text)
{
	char out[PACKET_MAX];
	unsigned int i, sum = 0;
	int n;

	for (i = 0; text[i]; i++)
		sum += (unsigned char)text[i];
	n = snprintf(out, sizeof(out), "$%s#%02x", text, sum & 0xFF);
	packet_must(write(d->socket, out, (size_t)n) == n, "QEMU listens");
}

static const char *packet_ask(struct debugger *d, const char *text)
{
	packet_put(d, text);
	return packet_get(d);
}

static void packet_order(struct debugger *d, const char *text)
{
	const char *answer = packet_ask(d, text);

	if (strcmp(answer, "OK") != 0)
		STEP("'%s' is answered with '%s'", text, answer);
	packet_must(!strcmp(answer, "OK"), "OK");
}

/* A line for QEMU's monitor; what it prints is left out. */
static void monitor_order(struct debugger *d, const char *line)
{
	char text[PACKET_MAX];
	const char *answer;
	int n = snprintf(text, sizeof(text), "qRcmd,");

	for (; *line; line++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%02x",
			      (unsigned int)(unsigned char)*line);
	packet_put(d, text);
	do
		answer = packet_get(d);
	while (answer[0] == 'O' && strcmp(answer, "OK") != 0);
	EXPECT_STR(answer, "OK");
}

/* ---- registers: 32 bits, the lowest byte first ---- */

static uint32_t hex_value(const char *at)
{
	char digits[9] = { 0 };

	memcpy(digits, at, 8);
	return __builtin_bswap32((uint32_t)strtoul(digits, NULL, 16));
}

uint32_t debugger_register(struct debugger *d, unsigned int n)
{
	char text[16];

	snprintf(text, sizeof(text), "p%x", n);
	return hex_value(packet_ask(d, text));
}

void debugger_set_register(struct debugger *d, unsigned int n, uint32_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "P%x=%08x", n, __builtin_bswap32(value));
	packet_order(d, text);
}

/* ---- the image ---- */

static void image_load(struct debugger *d, const char *path)
{
	FILE *f = fopen(path, "rb");
	long bytes;

	EXPECT(f);
	fseek(f, 0, SEEK_END);
	bytes = ftell(f);
	rewind(f);
	EXPECT(bytes > (long)sizeof(Elf32_Ehdr));
	d->bytes = (uint32_t)bytes;
	d->image = malloc(d->bytes);
	EXPECT_EQ(fread(d->image, 1, d->bytes, f), d->bytes);
	fclose(f);
	EXPECT(!memcmp(d->image, ELFMAG "\1\1\1", SELFMAG + 3));
}

uint32_t debugger_symbol(const struct debugger *d, const char *name)
{
	const Elf32_Ehdr *h = (const void *)d->image;
	const Elf32_Shdr *s = (const void *)(d->image + h->e_shoff);
	uint32_t i, n;

	for (i = 0; i < h->e_shnum; i++) {
		const Elf32_Sym *symbol = (const void *)(d->image + s[i].sh_offset);
		const char *names = (const char *)d->image + s[s[i].sh_link].sh_offset;

		for (n = 0; s[i].sh_type == SHT_SYMTAB && n < s[i].sh_size / sizeof(*symbol); n++)
			if (!strcmp(names + symbol[n].st_name, name))
				return symbol[n].st_value;
	}
	STEP("the image has no symbol %s", name);
	EXPECT(false);
	return 0;
}

/* ---- QEMU ---- */

static void qemu_start(struct debugger *d, const char *image)
{
	char ram[512], gdb[512], loader[512], memory[400], path[400];
	char *argv[] = {
		"qemu-system-aarch64", "-M", "xlnx-zcu102,memory-backend=ram", "-m", "1G",
		"-object", ram, "-smp", "5", "-S", "-nodefaults",
		"-display", "none", "-audiodev", "none,id=none", "-global",
		"xlnx-zynqmp.boot-cpu=rpu-cpu[0]", "-device", loader, "-chardev", gdb,
		"-gdb", "chardev:gdb", NULL,
	};
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, tries;

	test_path(memory, sizeof(memory), "memory");
	test_path(path, sizeof(path), "gdb");
	EXPECT(strlen(path) < sizeof(at.sun_path));
	unlink(path);
	snprintf(ram, sizeof(ram), "memory-backend-file,id=ram,size=1G,share=on,mem-path=%s",
		 memory);
	snprintf(gdb, sizeof(gdb), "socket,id=gdb,server=on,wait=off,path=%s", path);
	snprintf(loader, sizeof(loader), "loader,file=%s,cpu-num=4", image);
	fd = open(memory, O_RDWR | O_CREAT | O_TRUNC, 0600);
	EXPECT(fd >= 0);
	EXPECT_EQ(ftruncate(fd, MEMORY_BYTES), 0);
	d->memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT(d->memory != MAP_FAILED);
	close(fd);
	test_path(memory, sizeof(memory), "words");
	d->words = open(memory, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	EXPECT(d->words >= 0);
	d->qemu = fork();
	EXPECT(d->qemu >= 0);
	if (!d->qemu) {
		dup2(d->words, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	memcpy(at.sun_path, path, strlen(path) + 1);
	for (tries = 0; tries < PATIENCE_MS / 20; tries++) {
		d->socket = socket(AF_UNIX, SOCK_STREAM, 0);
		if (!connect(d->socket, (struct sockaddr *)&at, sizeof(at)))
			return;
		close(d->socket);
		d->socket = -1;
		if (waitpid(d->qemu, NULL, WNOHANG) == d->qemu) {
			d->qemu = 0;
			qemu_words(d);
			break;
		}
		usleep(20000);
	}
	EXPECT(d->socket >= 0);
}

static uint32_t breakpoint_set(struct debugger *d, const char *symbol)
{
	uint32_t at = debugger_symbol(d, symbol);
	char text[32];

	snprintf(text, sizeof(text), "Z0,%x,4", at);
	packet_order(d, text);
	return at;
}

struct debugger *debugger_start(const char *image, bool clock)
{
	struct debugger *d = calloc(1, sizeof(*d));

	d->socket = d->words = -1;
	test_cleanup(debugger_end, d);
	image_load(d, image);
	qemu_start(d, image);
	packet_ask(d, "qSupported:multiprocess+");
	/* Single registers can be written after that. */
	packet_ask(d, "qXfer:features:read:target.xml:0,800");
	packet_ask(d, "vAttach;2");
	packet_order(d, "Hg" CPU);
	/* This QEMU takes an A53 for the first CPU, and leaves all others without power. */
	monitor_order(d, "qom-set /machine/soc/rpu-cluster/rpu-cpu[0] start-powered-off false");
	monitor_order(d, "system_reset");
	d->read_done = breakpoint_set(d, "r5_read_done");
	d->write_done = breakpoint_set(d, "r5_write_done");
	d->cycles_done = clock ? breakpoint_set(d, "r5_cycles_done") : ~0u;
	d->ended = breakpoint_set(d, "r5_ended");
	d->go_on = debugger_symbol(d, "r5_return");
	return d;
}

void debugger_answer(struct debugger *d, uint32_t value)
{
	d->answered = true;
	d->value = value;
}

enum debugger_stop debugger_run(struct debugger *d, uint32_t *off, uint32_t *value)
{
	const char *answer;
	uint32_t r[16];
	unsigned int i;

	if (d->answered)
		debugger_set_register(d, 0, d->value);
	/* Where it stands it would be stopped again. */
	if (d->stands)
		debugger_set_register(d, R5_PC, d->go_on);
	d->answered = d->stands = false;
	answer = packet_ask(d, "vCont;c");
	if (answer[0] != 'T')
		STEP("QEMU stops with '%s'", answer);
	packet_must(answer[0] == 'T', "a stop");
	answer = packet_ask(d, "g");
	for (i = 0; i < 16; i++)
		r[i] = hex_value(answer + 8 * i);
	if (r[R5_PC] == d->ended)
		return DEBUGGER_END;
	d->stands = true;
	if (r[R5_PC] == d->cycles_done)
		return DEBUGGER_TIME;
	*off = (r[R5_PC] == d->read_done ? r[1] : r[0]) - R5_WINDOW;
	*value = r[1];
	if (r[R5_PC] != d->read_done && r[R5_PC] != d->write_done)
		STEP("the R5 stands at 0x%x", r[R5_PC]);
	packet_must(r[R5_PC] == d->read_done || r[R5_PC] == d->write_done,
		    "the R5 behind an access");
	return r[R5_PC] == d->read_done ? DEBUGGER_READ : DEBUGGER_WRITE;
}

uint8_t *debugger_memory(const struct debugger *d)
{
	return d->memory;
}
