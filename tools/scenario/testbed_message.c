// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages and receives of a connection. Over a reliable connection the n-th message that one
 * side posts takes the n-th receive of the other: where its bytes go is known as soon as both
 * are posted, and what the receive's completion must say. Of datagrams some may be lost: which
 * of them a receive can have taken the oracle says (oracle.h).
 */
#include "tools/scenario/testbed_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct testbed_message {
	struct testbed_work *work;
	uint64_t model;			/* its number at the oracle */
	uint32_t bytes, imm;
	bool with_imm, write;
};

struct testbed_place {
	uint64_t va, model;	/* model: of datagrams */
	uint32_t bytes;
};

/* Of one direction; side: who receives. */
struct testbed_mail {
	struct testbed_message *message;
	struct testbed_place *place;
	uint32_t messages, places, message_room, place_room;
	uint32_t ends;			/* receives that are complete */
};

static void *mail_room(void *p, uint32_t n, uint32_t *room, size_t one)
{
	uint32_t more = *room ? 2 * *room : 16;
	void *bigger;

	if (n < *room)
		return p;
	bigger = realloc(p, more * one);
	if (bigger)
		*room = more;
	return bigger;
}

static struct testbed_mail *mail_of(struct testbed_connection *c, int side)
{
	if (!c->mail[side])
		c->mail[side] = calloc(1, sizeof(*c->mail[side]));
	return c->mail[side];
}

void testbed_mail_free(struct testbed_connection *c)
{
	int side;

	for (side = 0; side < 2; side++) {
		if (!c->mail[side])
			continue;
		free(c->mail[side]->message);
		free(c->mail[side]->place);
		free(c->mail[side]);
	}
}

/* Message i and receive i have met. */
static void mail_meet(struct testbed_connection *c, int side, uint32_t i)
{
	struct testbed_mail *m = c->mail[side];
	struct testbed_message *t;

	if (i >= m->messages || i >= m->places || c->datagrams)
		return;
	t = &m->message[i];
	if (t->write)
		return;
	/* Unless it has failed before, and the request has been posted again. */
	if (t->work->model == t->model)
		t->work->remote_va = m->place[i].va;
	testbed_model_target(c->process[side], t->model, m->place[i].va,
			     m->place[i].bytes);
}

bool testbed_takes_receive(const struct testbed_work *k)
{
	return k->opcode == FL_SEND || (k->opcode == FL_WRITE && k->with_imm);
}

int testbed_mail_post(struct testbed_work *k)
{
	int side = !k->side;
	struct testbed_mail *m = mail_of(k->conn, side);
	struct testbed_message *more;

	if (!m)
		return -ENOMEM;
	more = mail_room(m->message, m->messages, &m->message_room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->message = more;
	m->message[m->messages++] = (struct testbed_message){
		.work = k, .model = k->model, .bytes = k->bytes, .imm = k->imm,
		.with_imm = k->with_imm, .write = k->opcode == FL_WRITE,
	};
	mail_meet(k->conn, side, m->messages - 1);
	return 0;
}

/* It was not posted after all: the last one. */
void testbed_mail_unpost(struct testbed_work *k)
{
	k->conn->mail[!k->side]->messages--;
}

bool testbed_message_waits(const struct testbed_work *k)
{
	const struct testbed_mail *m;
	uint32_t i;

	/* Datagrams wait for nothing. */
	if (!k->posted || k->done || !testbed_takes_receive(k) || k->conn->datagrams)
		return false;
	m = k->conn->mail[!k->side];
	for (i = m->places; i < m->messages; i++)
		if (m->message[i].work == k && m->message[i].model == k->model)
			return true;
	return false;
}

int testbed_mail_receive(struct testbed_work *k, uint64_t va)
{
	struct testbed_mail *m = mail_of(k->conn, k->side);
	struct testbed_place *more;

	if (!m)
		return -ENOMEM;
	more = mail_room(m->place, m->places, &m->place_room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->place = more;
	m->place[m->places++] = (struct testbed_place){ .va = va, .bytes = k->bytes };
	if (k->conn->datagrams)
		m->place[m->places - 1].model = testbed_model_receive(k, va);
	mail_meet(k->conn, k->side, m->places - 1);
	return 0;
}

void testbed_mail_unreceive(struct testbed_work *k)
{
	struct testbed_mail *m = k->conn->mail[k->side];

	m->places--;
	if (k->conn->datagrams)
		testbed_model_unreceive(k, m->place[m->places].model);
}

/* sources: rules, 2. */
static void check_arrival(struct testbed *w, const struct testbed_work *k,
			  const struct testbed_message *t,
			  const struct fl_completion *c)
{
	enum fl_opcode want = t->write ? FL_RECV_WRITE_IMM :
			      t->with_imm ? FL_RECV_IMM : FL_RECV;

	if (c->opcode != want || c->bytes != t->bytes || c->imm != t->imm)
		testbed_note_problem(w, 2,
			"receive %s is complete with opcode %d, %u bytes and "
			"immediate data %u; the message had opcode %d, %u bytes "
			"and %u",
			k->name, (int)c->opcode, c->bytes, c->imm, (int)want,
			t->bytes, t->imm);
}

void testbed_mail_arrived(struct testbed *w, struct testbed_work *k,
			  const struct fl_completion *c)
{
	struct testbed_mail *m = k->conn->mail[k->side];
	uint32_t i = m->ends++;

	if (k->conn->datagrams) {
		testbed_model_arrived(w, k, m->place[i].model, m->place[i].va, c);
		return;
	}
	if (c->status)
		return;
	if (i >= m->messages)
		testbed_note_problem(w, 2,
			"receive %s is complete, and no message was sent",
			k->name);
	else
		check_arrival(w, k, &m->message[i], c);
}
