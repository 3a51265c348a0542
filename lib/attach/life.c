// SPDX-License-Identifier: BSD-2-Clause
/* life.c - coming to a board and leaving it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/internal.h"
#include "faultline.h"
#include "sys.h"

#define ARENA_ALIGN	0x200000ull
/* In the first half of a GB: then half a GB lies in one page of tables. */
#define ARENA_HALF	0x20000000ull

/* 64 bits: of the system, or with FAULTLINE_SEED always the same ones. */
static int draw_number(uint64_t *value, int attachment)
{
	const char *text = getenv("FAULTLINE_SEED");
	char *end;

	if (!text)
		return os_random(value, sizeof(*value));
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-')
		return -EDOM;
	/* splitmix64 (Steele, Lea, Flood 2014). */
	*value += 0x9e3779b97f4a7c15ull * (uint64_t)(attachment + 1);
	*value = (*value ^ *value >> 30) * 0xbf58476d1ce4e5b9ull;
	*value = (*value ^ *value >> 27) * 0x94d049bb133111ebull;
	*value ^= *value >> 31;
	return 0;
}

/*
 * Where nobody foresees it: who knows a key has still to guess an address. The
 * first place is for machines with 47 bits of addresses, the second for those with
 * 39. Of ThreadSanitizer's programs the last, since it ends a program that wishes for
 * other places. Where the system gives none of them it chooses itself.
 */
static int reserve_arena(struct attach *a, uint64_t bytes)
{
	static const struct {
		uint64_t base;
		unsigned int log2;	/* of the bytes from there on */
	} place[] = { { 0x110000000000, 46 }, { 0x1000000000, 37 },
		      { 0x7e8000000000, 40 } };
	const unsigned int last = sizeof(place) / sizeof(place[0]) - 1;
	int attachment = a->fd / (int)ATTACH_BOARDS, error;
	uint64_t drawn, wish;
	unsigned int i = os_tsan() ? last : 0;

	error = draw_number(&drawn, attachment);
	if (error)
		return error;
	for (; i <= last; i++) {
		wish = drawn & ((1ull << place[i].log2) - 1);
		wish = place[i].base + (wish & ~(ARENA_ALIGN - 1) & ~ARENA_HALF);
		a->reserved = os_reserve((void *)(uintptr_t)wish, bytes, &error);
		if (!a->reserved || (uintptr_t)a->reserved == wish)
			return error;
		munmap(a->reserved, bytes);
	}
	a->reserved = os_reserve(NULL, bytes, &error);
	return error;
}

static int make_arena(struct attach *a)
{
	uint64_t bytes = ATTACH_ARENA_BYTES + ARENA_ALIGN;
	uintptr_t at;
	int error;

	error = reserve_arena(a, bytes);
	if (error)
		return error;
	at = (uintptr_t)a->reserved;
	a->arena = (at + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	/*
	 * Memcheck takes what was never open for no memory of the program's,
	 * and every touch of an absent page for a mistake (sources: host-tools).
	 */
	if (os_valgrind())
		error = os_view(a->reserved, bytes, PROT_READ | PROT_WRITE, -1,
				0);
	return error ? error : os_protect(a->reserved, bytes, PROT_NONE);
}

static void slot_take_down(struct attach *a)
{
	unsigned int turns = 0;

	while (atomic_load(&a->users))
		attach_turn(&turns);
	attach_close_files(a);
	if (a->shared)
		munmap(a->shared, a->hello.shared_bytes);
	if (a->bank)
		munmap(a->bank, a->hello.bank_bytes);
	a->shared = NULL;
	a->bank = NULL;
	if (a->reserved)
		munmap(a->reserved, ATTACH_ARENA_BYTES + ARENA_ALIGN);
	a->reserved = NULL;
	/* Release: whoever takes the slot next finds it as it is now. */
	atomic_store_explicit(&a->state, ATTACH_NONE, memory_order_release);
}

/* Memory of a slot that is used for the first time; it stays. */
static struct attach *slot_furnish(void)
{
	struct attach *a = os_room(1, sizeof(*a));

	if (!a)
		return NULL;
	a->page = os_room(ATTACH_PAGES, sizeof(*a->page));
	a->tree = os_room(1, sizeof(*a->tree));
	a->scratch = os_room(ATTACH_BATCH, ATTACH_PAGE);
	a->spare = os_room(ATTACH_SPARE, os_page_bytes());
	if (a->page && a->tree && a->scratch && a->spare) {
		attach_spare_ranges(a);
		return a;
	}
	os_room_end(a->page, ATTACH_PAGES, sizeof(*a->page));
	os_room_end(a->tree, 1, sizeof(*a->tree));
	os_room_end(a->scratch, ATTACH_BATCH, ATTACH_PAGE);
	os_room_end(a->spare, ATTACH_SPARE, os_page_bytes());
	os_room_end(a, 1, sizeof(*a));
	return NULL;
}

static void slot_wipe(struct attach *a)
{
	atomic_store(&a->error, 0);
	atomic_store(&a->cpu_shared, false);
	atomic_store(&a->imported, 0);
	atomic_store(&a->view_lock, 0);
	atomic_store(&a->stop, 0);
	memset(&a->hello, 0, sizeof(a->hello));
	memset(a->block, 0, sizeof(a->block));
	memset(&a->job, 0, sizeof(a->job));
	a->board_fd = a->sock = a->bank_fd = a->shared_fd = -1;
	a->wake[0] = a->wake[1] = -1;
	a->linear = !os_valgrind();
}

/* Ever made, for their numbers; under the lock of the slots. */
static int attachments;

/* A slot that nobody uses, as it should be at the start. */
static struct attach *slot_reserve(int *error)
{
	struct attach *a = NULL;
	unsigned int i;

	attach_slots_lock();
	*error = -EMFILE;
	for (i = 0; i < ATTACH_BOARDS; i++) {
		a = attach_slot(i);
		if (!a || a->state == ATTACH_NONE)
			break;
	}
	if (i == ATTACH_BOARDS)
		goto fail;
	*error = -ENOMEM;
	if (!a) {
		a = slot_furnish();
		if (!a)
			goto fail;
		attach_slot_fill(i, a);
	} else if (os_view(a->page, ATTACH_PAGES * sizeof(*a->page),
			   PROT_READ | PROT_WRITE, -1, 0)) {
		goto fail;
	}
	slot_wipe(a);
	atomic_store(&a->state, ATTACH_GOING);
	a->fd = (attachments++ & 0xffffff) * (int)ATTACH_BOARDS + (int)i;
	attach_slots_unlock();
	return a;
fail:
	attach_slots_unlock();
	return NULL;
}

static void client_explain(const struct attach *a, const char *name,
			   const char *path, int error)
{
	const char *why = fl_strerror(error);

	if (a && a->hello.error && a->hello.text[0])
		why = a->hello.text;
	else if (error == -ENOENT)
		why = "no such board is running";
	else if (error == -EACCES)
		why = "it belongs to another user";
	else if (error == -EPROTONOSUPPORT)
		why = "library and board are of different versions";
	else if (error == -ENOTSUP)
		why = "pages of this machine are larger than the board's";
	else if (error == -ECONNRESET)
		why = "the board hung up";
	else if (error == -EPROTO)
		why = "the board gave an answer that cannot be right";
	else if (error == -EDOM)
		why = "FAULTLINE_SEED is set, and is no number";
	else if (error == -EAGAIN)
		why = "the system has no room for another thread";
	else if (error == -EIO)
		why = "its socket could not be read or written";
	else if (error == -ETIMEDOUT)
		why = "the board does not answer";
	fl_open_say("emu:%s: %s%s%s%s", name, why, path ? " (" : "",
		    path ? path : "", path ? ")" : "");
}

/* Whoever can be asked by name alone must be ourselves, or root. */
static int board_trusted(struct attach *a, const char *name)
{
	uid_t uid = (uid_t)-1;
	int error;

	if (strchr(name, '/'))
		return 0;
	error = os_peer(a->sock, &uid);
	if (error)
		return error == -ENOTSUP ? 0 : error;
	return uid == getuid() || uid == 0 ? 0 : -EACCES;
}

/* With the connection made: threads and the board's own open. */
static int slot_move_in(struct attach *a)
{
	struct attach_ask q = { .op = ATTACH_OPEN };
	int error;

	/* From here on the handler may look at it. */
	atomic_store(&a->state, ATTACH_LIVE);
	error = os_fault_add(attach_fix);
	if (error)
		return error;
	error = attach_rehearse(a);
	if (!error)
		error = attach_service_start(a);
	if (error)
		goto fault;
	error = attach_call(a, &q);
	if (error < 0)
		goto service;
	a->board_fd = error;
	return 0;
service:
	attach_service_end(a);
fault:
	os_fault_remove(attach_fix);
	return error;
}

int attach_open(const char *name, int *fd)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct attach *a;
	int error;

	error = attach_path(name, path, sizeof(path));
	if (error) {
		client_explain(NULL, name, NULL, error);
		return error;
	}
	attach_fork_ready();
	attach_find_variables();
	a = slot_reserve(&error);
	if (!a) {
		client_explain(NULL, name, NULL, error);
		return error;
	}
	snprintf(a->name, sizeof(a->name), "%s", name);
	error = make_arena(a);
	if (!error)
		error = attach_connect(a, path);
	if (!error)
		error = board_trusted(a, name);
	if (!error)
		error = slot_move_in(a);
	if (error) {
		client_explain(a, name, path, error);
		atomic_store(&a->state, ATTACH_GOING);
		slot_take_down(a);
		return error;
	}
	*fd = a->fd;
	return 0;
}

int attach_close(int fd)
{
	struct attach *a = attach_by_fd(fd);
	struct attach_ask q = { .op = ATTACH_CLOSE };
	uint32_t want = ATTACH_LIVE;
	int error;

	if (!a)
		return -EBADF;
	error = atomic_load(&a->error);
	if (error != -EPERM) {
		q.arg[0] = (uint64_t)a->board_fd;
		error = attach_call(a, &q);
		attach_job(a, JOB_RETURN_ALL, NULL, 0, 0);
	}
	if (!atomic_compare_exchange_strong(&a->state, &want, ATTACH_GOING))
		return -EBADF;		/* another thread closes it too */
	/* Whoever waits for this board waits in vain. */
	if (a->shared)
		attach_dies(a, -ENODEV);
	if (atomic_load(&a->error) != -EPERM)
		attach_service_end(a);
	os_fault_remove(attach_fix);
	slot_take_down(a);
	return error;
}
