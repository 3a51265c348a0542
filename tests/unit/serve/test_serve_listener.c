// SPDX-License-Identifier: BSD-2-Clause
/*
 * The listener and what is handed out there: crowds, notes, wrong greetings, and memory
 * whose size is changed; beside a pair of processes that must lose nothing.
 *
 * variants: tsan posix
 */
#include <netinet/in.h>
#include <pthread.h>

#include "os/os_emu.h"
#include "rig/serve_raw.h"

/* ---- the socket ---- */

static int floods_the_listener(void *arg)
{
	struct attach_hello h = raw_hello();
	unsigned int number = *(unsigned int *)arg, i;
	int sock[64];

	for (i = 0; i < 300; i++) {
		if (i >= 64)
			close(sock[i % 64]);
		sock[i % 64] = raw_connect(number & 1);
		if (sock[i % 64] >= 0 && i % 3)	/* some say a part of it */
			send(sock[i % 64], &h, i % sizeof(h), MSG_NOSIGNAL);
	}
	return 0;
}

TEST("a crowd knocks and says nothing, or half of it")
{
	beside_pair(floods_the_listener, NULL, 1);
}

static int floods_with_notes(void *arg)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };
	unsigned int number = *(unsigned int *)arg, i;
	int fd = open("/dev/zero", O_RDONLY);
	struct target t;

	TRY_OPEN(&t, number);
	for (i = 0; i < 20000; i++)
		send(t.r.sock, &n, sizeof(n), MSG_NOSIGNAL | MSG_DONTWAIT);
	n.kind = ATTACH_FILE;
	for (i = 0; i < 500; i++) {
		n.id = i;
		os_send(t.r.sock, &n, sizeof(n), &fd, 1);
	}
	/* A device is no file that can be mapped. */
	if (raw_call(&t.r, ATTACH_MAP_FILE, RIG_PAGE, 0, 0, 0) >= 0)
		return 2;
	/* Half a note, with a descriptor, and gone. */
	os_send(t.r.sock, &n, 3, &fd, 1);
	return 0;
}

TEST("wakeups and descriptors by the thousand")
{
	beside_pair(floods_with_notes, NULL, 2);
}

/*
 * A socket that has something to send to somebody who does not read, and waits for
 * that at its end as long as it may. -1: none.
 */
static int socket_lingers(int *reader)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct linger linger = { .l_onoff = 1, .l_linger = 3600 };
	int listener = socket(AF_INET, SOCK_STREAM, 0), sock;
	socklen_t n = sizeof(at);
	static char junk[65536];

	if (listener < 0 || bind(listener, (struct sockaddr *)&at, n) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&at, &n))
		return -1;
	sock = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(sock, (struct sockaddr *)&at, n))
		return -1;
	*reader = accept(listener, NULL, NULL);
	close(listener);
	while (send(sock, junk, sizeof(junk), MSG_DONTWAIT) > 0)
		;
	return setsockopt(sock, SOL_SOCKET, SO_LINGER, &linger,
			  sizeof(linger)) ? -1 : sock;
}

static void *socket_closes(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

/*
 * Left behind when the other end hangs up: nobody takes it any more. If it has done
 * so already, this is its last place, and waits.
 */
static void leave_one(int to)
{
	int reader, sock = socket_lingers(&reader);
	pthread_t thread;

	os_send(to, "", 1, &sock, 1);
	if (!pthread_create(&thread, NULL, socket_closes, (void *)(intptr_t)sock))
		pthread_detach(thread);
}

static int is_refused_with_sockets(void *arg)
{
	unsigned int number = *(unsigned int *)arg, i;
	struct attach_hello h = raw_hello();
	struct attach_note none = { 0 };
	struct raw r = { .sock = -1 };
	struct target t;

	h.magic++;
	for (i = 0; i < 3; i++) {
		r.sock = raw_connect(number & 1);
		os_send(r.sock, &h, i ? sizeof(h) : 3, NULL, 0);
		leave_one(r.sock);
		if (i && !raw_cut_off(&r, 10000))
			return 2;
		close(r.sock);
	}
	TRY_OPEN(&t, number);
	os_send(t.r.sock, &none, sizeof(none), NULL, 0);
	for (i = 0; i < 40; i++)
		leave_one(t.r.sock);
	return raw_cut_off(&t.r, 10000) ? 0 : 3;
}

/* Who closes it last waits. It is sent first and the rest of the note then. */
static int leaves_sockets(void *arg)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };
	unsigned int number = *(unsigned int *)arg, i;
	int sock, reader;
	struct target t;

	TRY_OPEN(&t, number);
	for (i = 0; i < 4; i++) {
		sock = socket_lingers(&reader);
		if (sock < 0)
			return 2;
		n.kind = i < 2 ? ATTACH_WAKEUP : ATTACH_FILE;
		os_send(t.r.sock, &n, 3, &sock, 1);
		close(sock);
		os_send(t.r.sock, (char *)&n + 3, sizeof(n) - 3, NULL, 0);
	}
	return raw_call(&t.r, ATTACH_MAP_FILE, RIG_PAGE, 0, 0, 0) == -ENODEV ?
		       0 : 3;
}

TEST("descriptors whose end would take an hour")
{
	beside_pair(leaves_sockets, NULL, 1);
}

TEST("such descriptors with a HELLO and a note that cannot be")
{
	beside_pair(is_refused_with_sockets, NULL, 1);
}

static int talks_nonsense(void *arg)
{
	unsigned int number = *(unsigned int *)arg, i;
	struct attach_note n = { .kind = 0x12345678 };
	struct target t;

	TRY_OPEN(&t, number);
	for (i = 0; i < 10; i++)
		send(t.r.sock, &n, sizeof(n), MSG_NOSIGNAL);
	return raw_cut_off(&t.r, 20000) ? 0 : 2;
}

TEST("notes of no kind")
{
	beside_pair(talks_nonsense, NULL, 1);
}

TEST("who does not say HELLO properly stays outside, and hears why")
{
	struct attach_hello h;
	struct raw r;

	rig_start(NULL);
	h = raw_hello();
	h.magic++;
	EXPECT_EQ(raw_say(&r, 0, &h), -EPROTO);
	raw_detach(&r);
	h = raw_hello();
	h.version++;
	EXPECT_EQ(raw_say(&r, 0, &h), -EPROTONOSUPPORT);
	EXPECT(strstr(r.w.text, "different versions") != NULL);
	raw_detach(&r);
	h = raw_hello();
	h.arena += RIG_PAGE;
	EXPECT_EQ(raw_say(&r, 0, &h), -EINVAL);
	raw_detach(&r);
	h = raw_hello();
	h.arena = 1ull << 47;
	EXPECT_EQ(raw_say(&r, 0, &h), -EINVAL);
	raw_detach(&r);
	h = raw_hello();
	h.page_bytes = 1u << 20;
	EXPECT_EQ(raw_say(&r, 0, &h), -ENOTSUP);
	raw_detach(&r);
	h = raw_hello();
	h.page_bytes = 3000;
	EXPECT_EQ(raw_say(&r, 0, &h), -ENOTSUP);
	raw_detach(&r);
	h = raw_hello();
	memset(h.name, 'x', sizeof(h.name));
	EXPECT_EQ(raw_say(&r, 0, &h), -EINVAL);
	raw_detach(&r);
	h = raw_hello();
	EXPECT_EQ(raw_say(&r, 0, &h), 0);
	raw_detach(&r);
	rig_end();
}

/* ---- what it was given ---- */

TEST("the memory that it was given keeps its size, where the system can")
{
	struct raw r;

	rig_start(NULL);
	EXPECT_EQ(raw_attach(&r, 0), 0);
	if (os_memory_fixed(r.bank_fd)) {
		EXPECT_EQ(ftruncate(r.bank_fd, 0), -1);
		EXPECT_EQ(ftruncate(r.bank_fd, 1ll << 40), -1);
		EXPECT_EQ(ftruncate(r.shared_fd, 0), -1);
	}
	STEP("holes in it are its own loss");
	os_memory_forget(r.bank_fd, 0, r.w.bank_bytes);
	os_memory_forget(r.shared_fd, 0, r.w.shared_bytes);
	raw_detach(&r);
	rig_end();
}

static int takes_memory_away(void *arg)
{
	unsigned int number = *(unsigned int *)arg;
	struct target t;

	TRY_OPEN(&t, number);
	if (raw_call(&t.r, ATTACH_FAULT, t.mem, 1, 0, 0))
		return 2;
	if (os_memory_fixed(t.r.bank_fd))
		return 0;
	/* What the card and the kernel use is not there any more. */
	if (ftruncate(t.r.bank_fd, 0))
		return 3;
	send(t.r.sock, "12345678", 8, MSG_NOSIGNAL);
	raw_post(&t.r, ATTACH_DOORBELL, NIC_DB_SQ,
		 t.qp << NIC_DB_SQ_QPN_SHIFT | 1u << NIC_DB_SQ_TAIL_SHIFT);
	if (number % 2 && ftruncate(t.r.shared_fd, 0))
		return 4;
	return 0;
}

TEST("memory is taken away under the board, where the system lets it")
{
	beside_pair(takes_memory_away, NULL, 3);
}

TEST("the twenty-fifth process of a board is told that there is no room")
{
	struct attach_hello h = raw_hello();
	static struct raw r[26];
	unsigned int i;

	rig_start(NULL);
	for (i = 0; i < 24; i++)
		EXPECT_EQ(raw_attach(&r[i], 0), 0);
	EXPECT_EQ(raw_say(&r[24], 0, &h), -EAGAIN);
	EXPECT(strstr(r[24].w.text, "as many processes") != NULL);
	raw_detach(&r[24]);
	STEP("the other board has room");
	EXPECT_EQ(raw_attach(&r[25], 1), 0);
	for (i = 0; i < 26; i++)
		if (i != 24)
			raw_detach(&r[i]);
	rig_end();
}
