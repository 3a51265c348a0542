// SPDX-License-Identifier: BSD-2-Clause
/*
 * The oracle by itself, of datagrams: what may be lost, doubled or out of order is let pass, and
 * each breach of what a program may rely on is seen.
 */
#include "rig/oracle.h"

#define ROOM	200	/* of a receive */

static uint32_t mail;
static uint64_t received[16], posted[16];
static unsigned int receives, sends;

static void mail_start(void)
{
	rig_start();
	mail = oracle_pair(o, "mail", ORACLE_DATAGRAMS);
	receives = sends = 0;
}

/* Receive n takes the bytes from n * ROOM on. */
static void mail_receive(void)
{
	struct oracle_work w = { .name = "receive", .pair = mail, .to = t, .bytes = ROOM };

	STEP("receive %u", receives);
	w.to_at = receives * ROOM;
	received[receives++] = oracle_receive(o, &w);
}

static void mail_receives(unsigned int n)
{
	while (n--)
		mail_receive();
}

static uint64_t mail_post(const char *name, uint32_t from, uint64_t at, uint32_t n,
			  uint32_t imm)
{
	struct oracle_work w = { .name = name, .pair = mail, .from = from, .from_at = at,
				 .to = ORACLE_NOWHERE, .bytes = n, .with_imm = true,
				 .imm = imm };

	STEP("%s: %u bytes, immediate data %u", name, n, imm);
	return oracle_post(o, &w);
}

/* Its immediate data are the number of the datagram. */
static void mail_send(uint32_t from, uint32_t n)
{
	posted[sends] = mail_post("datagram", from, 0, n, sends);
	rig_finish(posted[sends++]);
}

static void mail_arrives(unsigned int receive, uint32_t n, uint32_t imm)
{
	const struct oracle_arrival arrival = { .bytes = n, .imm = imm, .with_imm = true };

	STEP("receive %u is complete: %u bytes, immediate data %u", receive, n, imm);
	oracle_arrived(o, received[receive], &arrival);
}

static bool mail_look(unsigned int receive, uint64_t n, uint8_t value)
{
	return rig_look(t, receive * ROOM, n, value);
}

/* ---- bytes ---- */

TEST("a datagram lies in its receive as a whole, and nowhere else")
{
	mail_start();
	mail_receives(2);
	mail_send(a, 100);
	mail_arrives(0, 100, 0);
	rig_good(mail_look(0, 100, 0xa0));
	rig_good(rig_look(t, 100, 100, 0x10));
	rig_good(rig_look(t, 2 * ROOM, 100, 0x10));
	rig_breach(rig_look(t, 100, 1, 0xa0), "byte 100 of t is 0xa0");
}

TEST("a datagram whose last byte is missing is a breach")
{
	mail_start();
	mail_receive();
	mail_send(a, 100);
	mail_arrives(0, 100, 0);
	rig_good(mail_look(0, 99, 0xa0));
	rig_breach(rig_look(t, 99, 1, 0x10), "byte 99 of t is 0x10");
}

TEST("bytes of another datagram are a breach")
{
	mail_start();
	mail_receive();
	mail_send(a, 100);
	mail_send(b, 100);
	mail_arrives(0, 100, 0);
	rig_breach(mail_look(0, 1, 0xb0), "byte 0 of t is 0xb0");
}

TEST("the bytes of two in one receive are a breach")
{
	mail_start();
	mail_receive();
	mail_send(a, 100);
	mail_send(b, 100);
	mail_arrives(0, 100, 1);
	rig_good(mail_look(0, 50, 0xb0));
	rig_breach(rig_look(t, 50, 50, 0xa0), "byte 50 of t is 0xa0");
}

TEST("before a receive is complete anything may be there")
{
	mail_start();
	mail_receives(1);
	mail_send(a, 100);
	rig_good(mail_look(0, 100, 0x33));
	rig_good(mail_look(0, 100, 0xa0));
	rig_breach(rig_look(t, ROOM, 1, 0xa0), "byte 200 of t is 0xa0");
}

TEST("behind a datagram there may be bytes of a longer one that was lost")
{
	mail_start();
	mail_receive();
	mail_send(a, 150);
	mail_send(b, 100);
	mail_arrives(0, 100, 1);
	rig_good(mail_look(0, 100, 0xb0));
	rig_good(rig_look(t, 100, 20, 0x10));
	rig_good(rig_look(t, 120, 30, 0xa0));
	rig_breach(rig_look(t, 150, 1, 0xa0), "byte 150 of t is 0xa0");
}

TEST("but not of one that came before, nor of one that comes later")
{
	mail_start();
	mail_receives(2);
	mail_send(a, 150);
	mail_send(b, 100);
	mail_send(a, 150);
	mail_arrives(0, 150, 0);
	mail_arrives(1, 100, 1);
	rig_good(mail_look(1, 100, 0xb0));
	rig_breach(rig_look(t, ROOM + 100, 1, 0xa0), "byte 300 of t is 0xa0");
}

TEST("a datagram has the bytes from before a store, or from after it")
{
	uint64_t n;

	mail_start();
	mail_receives(1);
	n = mail_post("datagram", a, 0, 100, 0);
	rig_fill(a, 0xaa);
	rig_finish(n);
	rig_fill(a, 0xab);
	mail_arrives(0, 100, 0);
	rig_good(mail_look(0, 10, 0xa0));
	rig_good(rig_look(t, 10, 10, 0xaa));
	rig_breach(rig_look(t, 20, 10, 0xab), "byte 20 of t is 0xab");
}

TEST("a store while a receive is open may stay or be written over")
{
	mail_start();
	mail_receive();
	memset(found, 0x20, BYTES);
	oracle_store(o, t, 50, found, 100);
	mail_send(a, 100);
	mail_arrives(0, 100, 0);
	rig_good(mail_look(0, 50, 0xa0));
	rig_good(rig_look(t, 50, 25, 0x20));
	rig_good(rig_look(t, 75, 25, 0xa0));
	rig_good(rig_look(t, 100, 50, 0x20));
	rig_breach(rig_look(t, 0, 1, 0x10), "byte 0 of t is 0x10");
}

TEST("a store behind the completion of a receive stays")
{
	mail_start();
	mail_receive();
	mail_send(a, 100);
	mail_arrives(0, 100, 0);
	rig_fill(t, 0x20);
	rig_good(mail_look(0, 50, 0x20));
	rig_breach(rig_look(t, 50, 50, 0xa0), "byte 50 of t is 0xa0");
}

TEST("of two that look alike a receive has the bytes of either")
{
	mail_start();
	mail_receives(2);
	rig_finish(mail_post("one", a, 0, 100, 7));
	rig_finish(mail_post("other", b, 0, 100, 7));
	mail_arrives(0, 100, 7);
	rig_good(mail_look(0, 100, 0xb0));
	mail_arrives(1, 100, 7);
	rig_breach(mail_look(1, 100, 0xa0), "byte 200 of t is 0xa0");
}

TEST("a receive that failed may hold anything until all is at rest")
{
	mail_start();
	mail_receive();
	mail_send(a, 100);
	oracle_complete(o, received[0], ORACLE_LOST);
	rig_good(mail_look(0, 100, 0x77));
	oracle_rest(o);
	rig_good(mail_look(0, ROOM, 0x78));
	rig_breach(mail_look(0, 100, 0xa0), "byte 0 of t is 0xa0");
}

/* ---- order, and once ---- */

TEST("datagrams may be lost, and those that come are in order")
{
	mail_start();
	mail_receives(3);
	mail_send(a, 10);
	mail_send(b, 20);
	mail_send(a, 30);
	mail_send(b, 40);
	mail_arrives(0, 20, 1);
	mail_arrives(1, 40, 3);
	rig_good(mail_look(1, 40, 0xb0));
	mail_arrives(2, 30, 2);
	rig_breach(false, "receive on mail is complete with 30 bytes and immediate data 2");
}

TEST("a datagram that comes twice is a breach")
{
	mail_start();
	mail_receives(2);
	mail_send(a, 10);
	mail_arrives(0, 10, 0);
	rig_good(true);
	mail_arrives(1, 10, 0);
	rig_breach(false, "a later one came before it");
}

TEST("unless the wire has doubled one, and only that often")
{
	mail_start();
	mail_receives(3);
	oracle_wire(o, 0, 1);
	mail_send(a, 10);
	mail_arrives(0, 10, 0);
	mail_arrives(1, 10, 0);
	rig_good(mail_look(1, 10, 0xa0));
	mail_arrives(2, 10, 0);
	rig_breach(false, "another receive had taken that before");
}

TEST("what the wire held back may come behind others, once")
{
	mail_start();
	mail_receives(3);
	mail_send(a, 10);
	mail_send(b, 20);
	oracle_wire(o, 1, 0);
	mail_arrives(0, 20, 1);
	mail_arrives(1, 10, 0);
	rig_good(mail_look(1, 10, 0xa0));
	mail_arrives(2, 20, 1);
	rig_breach(false, "another receive had taken that before");
}

TEST("but not behind those that were sent when nothing was on the wire")
{
	mail_start();
	mail_receives(3);
	mail_send(a, 10);
	mail_send(a, 11);
	oracle_wire(o, 1, 0);
	oracle_quiet(o);
	mail_send(b, 20);
	mail_arrives(0, 11, 1);
	mail_arrives(1, 20, 2);
	rig_good(true);
	mail_arrives(2, 10, 0);
	rig_breach(false, "a later one came before it");
}

TEST("and what is sent afterwards is in order again")
{
	mail_start();
	mail_receives(4);
	mail_send(a, 10);
	oracle_wire(o, 1, 1);
	oracle_quiet(o);
	mail_send(b, 20);
	mail_send(b, 21);
	mail_arrives(0, 10, 0);
	mail_arrives(1, 21, 2);
	rig_good(true);
	mail_arrives(2, 20, 1);
	rig_breach(false, "a later one came before it");
}

TEST("a datagram that has not left yet keeps its batch open")
{
	uint64_t n;

	mail_start();
	mail_receives(2);
	n = mail_post("slow", a, 0, 10, 0);
	oracle_quiet(o);
	oracle_wire(o, 1, 0);
	rig_finish(n);
	rig_finish(mail_post("next", b, 0, 20, 1));
	mail_arrives(0, 20, 1);
	mail_arrives(1, 10, 0);
	rig_good(true);
}

TEST("receives complete in the order of posting")
{
	mail_start();
	mail_receives(2);
	mail_send(a, 10);
	mail_arrives(1, 10, 0);
	rig_breach(false, "receive completed out of order on mail");
}

TEST("a receive completes once")
{
	mail_start();
	mail_receives(1);
	mail_send(a, 10);
	mail_send(a, 10);
	mail_arrives(0, 10, 0);
	mail_arrives(0, 10, 1);
	rig_breach(false, "that was not posted");
}

/* ---- what a completion says ---- */

TEST("the number of bytes is that of a datagram")
{
	mail_start();
	mail_receive();
	mail_send(a, 10);
	mail_arrives(0, 11, 0);
	rig_breach(false, "no such datagram was sent");
}

TEST("so are the immediate data")
{
	mail_start();
	mail_receive();
	mail_send(a, 10);
	mail_arrives(0, 10, 1);
	rig_breach(false, "no such datagram was sent");
}

TEST("a datagram without immediate data is not one that has 0")
{
	mail_start();
	mail_receive();
	mail_send(a, 10);
	oracle_arrived(o, received[0], &(struct oracle_arrival){ .bytes = 10 });
	rig_breach(false, "10 bytes and no immediate data");
}

TEST("a receive may fail since its datagram was longer, but only if one was")
{
	mail_start();
	mail_receives(2);
	mail_send(a, ROOM + 1);
	oracle_too_long(o, received[0]);
	oracle_complete(o, received[0], ORACLE_LOST);
	rig_good(true);
	mail_send(a, ROOM);
	mail_arrives(1, ROOM, 1);
	mail_receive();
	oracle_too_long(o, received[2]);
	rig_breach(false, "failed since its datagram was longer, and none was");
}

TEST("a datagram whose request failed does not come")
{
	mail_start();
	mail_receive();
	oracle_complete(o, mail_post("datagram", a, 0, 10, 0), ORACLE_LOST);
	rig_good(true);
	mail_arrives(0, 10, 0);
	rig_breach(false, "no such datagram was sent");
}

TEST("nor has it come before that was known")
{
	uint64_t n;

	mail_start();
	mail_receive();
	n = mail_post("datagram", a, 0, 10, 0);
	mail_arrives(0, 10, 0);
	rig_good(true);
	oracle_complete(o, n, ORACLE_LOST);
	rig_breach(false, "datagram failed on mail, and a receive had taken it before");
}

TEST("who sends may be gone, and what is out comes")
{
	uint64_t n;

	mail_start();
	mail_receives(2);
	n = mail_post("datagram", a, 0, 10, 0);
	oracle_pair_end(o, mail);
	mail_arrives(0, 10, 0);
	rig_good(mail_look(0, 10, 0xa0));
	oracle_receives_end(o, mail);
	oracle_rest(o);
	rig_good(true);
	(void)n;
}
