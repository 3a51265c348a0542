// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the oracle (oracle.h) is told of a testbed, and when bytes are compared with it:
 *
 *	- in lockstep the target of each request that succeeded, with bytes on both
 *	  sides of it, and targets of requests under way each time that the
 *	  scenario thread has slept;
 *	- what a region holds when it is taken back;
 *	- whatever the CPU reads, in every mode;
 *	- at the end all bytes of all buffers of processes that are there, in every
 *	  mode but vm and on a board elsewhere, whose kernel cannot be looked at.
 *
 * Looking leaves no trace: it brings no page in, takes no time and is no event.
 *
 * Where the card has tables of the driver's own, memory that is replaced under a pin is not
 * the card's any more, as on real hardware. What a request does there goes nowhere, for
 * the oracle: if all of a buffer was replaced its bytes are judged as those that the CPU
 * has stored, and if a part was, they are not judged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faultline/entries.h"
#include "fabric/fabric.h"
#include "host/mm.h"
#include "tools/scenario/testbed_internal.h"
#include "trace/trace.h"

#define PIECE	(64u << 10)	/* bytes that are looked at in one go */
#define BESIDE	4096u		/* on both sides of a target */
/* Of a target under way: so much at its beginning and at its end. */
#define UNDER_WAY (32u << 10)

/* testbed_buffer.apart */
enum { APART_NOT, APART_WHOLE, APART_PART };

/* ---- telling ---- */

void testbed_model_buffer(struct testbed_buffer *b, const char *path)
{
	b->area = oracle_area(b->process->testbed->oracle, b->name, b->bytes);
	if (path)
		testbed_model_unknown(b, 0, b->bytes);
}

void testbed_model_unknown(struct testbed_buffer *b, uint64_t off, uint64_t len)
{
	oracle_forget(b->process->testbed->oracle, b->area, off,
		      len ? len : b->bytes);
}

/* Up to the end of its last page. */
static uint64_t page_bytes(struct testbed_buffer *b, uint64_t off, uint64_t len)
{
	uint64_t end = len ? off + len : b->bytes;

	return ((end + HOST_PAGE - 1) & ~(HOST_PAGE - 1)) - off;
}

void testbed_model_zero(struct testbed_buffer *b, uint64_t off, uint64_t len)
{
	oracle_store(b->process->testbed->oracle, b->area, off, NULL,
		     page_bytes(b, off, len));
}

void testbed_model_forget(struct testbed_buffer *b, uint64_t off, uint64_t len)
{
	/* What a file says comes back from there. */
	if (b->file)
		testbed_model_unknown(b, off, page_bytes(b, off, len));
	else
		testbed_model_zero(b, off, len);
}

/* Does its library find regions again whose memory is another one now? */
static bool model_deaf(const struct testbed_buffer *b)
{
	return testbed_leases(b->process) &&
	       b->process->system.cache.hook == RPC_HOOK_NO;
}

void testbed_model_replaced(struct testbed_buffer *b, uint64_t off, uint64_t len)
{
	bool whole = !off && (!len || len >= b->bytes);

	switch (b->process->system.row.tables) {
	case FL_TABLES_INSERTED:
		/* What is still kept only the library knows. */
		if (b->was_registered && model_deaf(b))
			b->apart = APART_PART;
		else if (b->registered || b->leases)
			b->apart = whole ? APART_WHOLE : APART_PART;
		break;
	case FL_TABLES_ONDEMAND:
		/* Which of its pages the card had missed, only the driver knows. */
		b->apart = APART_PART;
		break;
	default:
		break;
	}
}

void testbed_model_region(struct testbed_buffer *b)
{
	/* What is written there may vanish, and the program is not to be told. */
	if (b->process->system.unverified)
		b->apart = APART_PART;
	if (b->process->system.row.tables != FL_TABLES_INSERTED || model_deaf(b))
		return;
	if (b->apart == APART_PART)
		testbed_model_unknown(b, 0, b->bytes);
	b->apart = APART_NOT;
}

void testbed_model_touch(struct testbed_buffer *b, uint64_t off, uint64_t len)
{
	oracle_touch(b->process->testbed->oracle, b->area, off,
		     len ? len : b->bytes);
}

void testbed_model_fill(struct testbed_buffer *b, uint64_t off, uint64_t len,
			enum testbed_fill fill, uint64_t seed)
{
	uint8_t *piece = malloc(PIECE);
	uint64_t at, n, i;

	for (at = 0; piece && at < len; at += n) {
		n = len - at < PIECE ? len - at : PIECE;
		for (i = 0; i < n; i++)
			piece[i] = testbed_fill_byte(fill, seed, at + i);
		oracle_store(b->process->testbed->oracle, b->area, off + at,
			     piece, n);
	}
	free(piece);
}

/* The buffer of p that holds va; the newest, if the place was used again. */
static struct testbed_buffer *find_buffer(struct testbed_process *p,
					  uint64_t va)
{
	struct testbed *w = p->testbed;
	struct testbed_buffer *b;
	unsigned int i;

	for (i = w->buffers; i--;) {
		b = &w->buffer[i];
		if (b->process == p && va >= (uintptr_t)b->mem &&
		    va - (uintptr_t)b->mem < b->bytes)
			return b;
	}
	return NULL;
}

static bool is_atomic(const struct testbed_work *k)
{
	return k->opcode == FL_FETCH_ADD || k->opcode == FL_CMP_SWAP;
}

/* One end of a request: an area, and where in it. */
static uint32_t model_area(struct testbed_process *p, uint64_t va, uint64_t *at)
{
	struct testbed_buffer *b = find_buffer(p, va);

	*at = b ? va - (uintptr_t)b->mem : 0;
	return b && !b->apart ? b->area : ORACLE_NOWHERE;
}

/*
 * Where a message goes is not known yet, and what an atomic leaves the oracle does not
 * reckon: for it that may be anything, at the remote and then here.
 */
void testbed_model_post(struct testbed_work *k)
{
	bool read = k->opcode == FL_READ, atomic = is_atomic(k);
	struct testbed_process *p = k->conn->process[k->side];
	struct testbed_process *q = k->conn->process[1 - k->side];
	struct oracle *o = p->testbed->oracle;
	uint64_t local_at, remote_at;
	uint32_t local = model_area(p, k->local_va, &local_at);
	uint32_t remote = model_area(q, k->remote_va, &remote_at);
	struct oracle_work w = {
		.name = k->name, .pair = k->conn->pair[k->side],
		.read = read, .bytes = k->bytes,
		.from = read ? remote : local, .to = read ? local : remote,
		.from_at = read ? remote_at : local_at,
		.to_at = read ? local_at : remote_at,
		.fence = k->fence, .with_imm = k->with_imm, .imm = k->imm,
		.doubtful = p->system.row.tables == FL_TABLES_SINK,
	};

	if (k->opcode == FL_SEND)
		w.to = ORACLE_NOWHERE;
	if (atomic)
		w.from = ORACLE_NOWHERE;
	k->model = oracle_post(o, &w);
	if (!atomic)
		return;
	w.read = true;
	w.to = local;
	w.to_at = local_at;
	k->model_more = oracle_post(o, &w);
}

void testbed_model_unpost(struct testbed_work *k)
{
	struct oracle *o = k->conn->process[k->side]->testbed->oracle;

	if (is_atomic(k))
		oracle_complete(o, k->model_more, ORACLE_UNPOSTED);
	oracle_complete(o, k->model, ORACLE_UNPOSTED);
}

void testbed_model_target(struct testbed_process *p, uint64_t model, uint64_t va,
			  uint32_t bytes)
{
	uint64_t at;
	uint32_t area = model_area(p, va, &at);

	oracle_target(p->testbed->oracle, model, area, at, bytes);
}

/* Was it surely not carried out as a whole? Not so if an answer may be lost. */
static enum oracle_end end_of(const struct testbed *w, const struct testbed_work *k)
{
	const struct fl_system_row *row = &k->conn->process[k->side]->system.row;

	switch (k->status) {
	case FL_ST_OK:
		return ORACLE_OK;
	/* Packets have been there before when they are to be sent again, and cannot be read. */
	case FL_ST_LOCAL_KEY: case FL_ST_LOCAL_RANGE: case FL_ST_LOCAL_RIGHTS:
	case FL_ST_LOCAL_FAULT:
		return w->injected || row->transport != FL_TRANSPORT_BLOCK ?
			       ORACLE_LOST : ORACLE_REFUSED;
	case FL_ST_NO_ANSWER: case FL_ST_REMOTE_QP: case FL_ST_FLUSHED:
	case FL_ST_KILLED: case FL_ST_BUS_ERROR:
		return ORACLE_LOST;
	default:
		return w->injected ? ORACLE_LOST : ORACLE_REFUSED;
	}
}

/* ---- looking ---- */

static void model_note(struct testbed *w)
{
	if (oracle_problem(w->oracle))
		testbed_note_problem(w, 2, "%s", oracle_problem(w->oracle));
}

/* Bytes that cannot be had now are not looked at: somebody is at work there. */
static void model_look(struct testbed_buffer *b, uint64_t at, uint64_t n,
		       bool close)
{
	struct testbed_process *p = b->process;
	struct oracle *o = p->testbed->oracle;
	uint64_t end = n < b->bytes - at ? at + n : b->bytes;
	uint8_t *piece = b->apart == APART_PART ? NULL : malloc(PIECE);

	for (; piece && p->mm && at < end; at += n) {
		/* Up to a page's end: another may have been unmapped. */
		n = HOST_PAGE - at % HOST_PAGE;
		if (!b->odd && n < PIECE)
			n = PIECE;
		if (n > end - at)
			n = end - at;
		/* Where it was unmapped there may be another one. */
		if (find_buffer(p, (uintptr_t)b->mem + at) != b)
			continue;
		if (mm_look(p->mm, (uintptr_t)b->mem + at, piece, n))
			continue;
		if (close)
			oracle_close(o, b->area, at, piece, n);
		else
			oracle_look(o, b->area, at, piece, n);
	}
	free(piece);
	model_note(p->testbed);
}

void testbed_model_read(struct testbed_buffer *b, uint64_t off,
			const void *bytes, uint64_t n)
{
	struct testbed *w = b->process->testbed;

	if (b->apart == APART_PART)
		return;
	oracle_look(w->oracle, b->area, off, bytes, n);
	model_note(w);
}

void testbed_model_closed(struct testbed_buffer *b)
{
	if (b->process->testbed->cfg.mode == SIM_LOCKSTEP)
		model_look(b, 0, b->bytes, true);
}

void testbed_model_complete(struct testbed *w, struct testbed_work *k)
{
	bool read = k->opcode == FL_READ;
	struct testbed_buffer *b;
	uint64_t at;

	oracle_complete(w->oracle, k->model, end_of(w, k));
	if (is_atomic(k))
		oracle_complete(w->oracle, k->model_more, end_of(w, k));
	model_note(w);
	if (w->cfg.mode != SIM_LOCKSTEP || k->status)
		return;
	b = find_buffer(k->conn->process[read ? k->side : 1 - k->side],
			read ? k->local_va : k->remote_va);
	if (!b)
		return;
	at = (read ? k->local_va : k->remote_va) - (uintptr_t)b->mem;
	model_look(b, at > BESIDE ? at - BESIDE : 0,
		   (at > BESIDE ? BESIDE : at) + k->bytes + BESIDE, false);
}

/* ---- datagrams ---- */

uint64_t testbed_model_receive(struct testbed_work *k, uint64_t va)
{
	struct testbed_process *p = k->conn->process[k->side];
	struct oracle_work w = {
		.name = k->name, .pair = k->conn->pair[1 - k->side], .bytes = k->bytes,
	};

	w.to = model_area(p, va, &w.to_at);
	return oracle_receive(p->testbed->oracle, &w);
}

void testbed_model_unreceive(struct testbed_work *k, uint64_t number)
{
	oracle_complete(k->conn->process[k->side]->testbed->oracle, number, ORACLE_UNPOSTED);
}

static void model_wire(struct testbed *w)
{
	oracle_wire(w->oracle, trace_count(w->trace, EV_WIRE_LATE),
		    trace_count(w->trace, EV_WIRE_TWICE));
}

void testbed_model_arrived(struct testbed *w, struct testbed_work *k, uint64_t number,
			   uint64_t va, const struct fl_completion *c)
{
	const struct oracle_arrival a = {
		.bytes = c->bytes, .imm = c->imm, .with_imm = c->opcode == FL_RECV_IMM,
	};
	struct testbed_buffer *b = find_buffer(k->conn->process[k->side], va);
	uint64_t at = b ? va - (uintptr_t)b->mem : 0;

	model_wire(w);
	if (c->status == FL_ST_LENGTH)
		oracle_too_long(w->oracle, number);
	if (c->status)
		oracle_complete(w->oracle, number, ORACLE_LOST);
	else
		oracle_arrived(w->oracle, number, &a);
	model_note(w);
	if (b && w->cfg.mode == SIM_LOCKSTEP)
		model_look(b, at > BESIDE ? at - BESIDE : 0,
			   (at > BESIDE ? BESIDE : at) + k->bytes + BESIDE, false);
}

static struct testbed_buffer *buffer_of(struct testbed *w, uint32_t area)
{
	unsigned int i;

	for (i = 0; i < w->buffers; i++)
		if (w->buffer[i].area == area)
			return &w->buffer[i];
	return NULL;
}

/* All was found at one moment: what the first look teaches, the second uses. */
void testbed_model_under_way(struct testbed *w)
{
	struct testbed_buffer *b;
	uint64_t at, n;
	uint32_t area;
	unsigned int i;
	int twice;

	if (w->cfg.mode != SIM_LOCKSTEP)
		return;
	for (twice = 0; twice < 2; twice++) {
		for (i = 0; oracle_open(w->oracle, i, &area, &at, &n); i++) {
			b = n ? buffer_of(w, area) : NULL;
			if (!b)
				continue;
			model_look(b, at, n < UNDER_WAY ? n : UNDER_WAY, false);
			if (n > 2 * UNDER_WAY)
				model_look(b, at + n - UNDER_WAY, UNDER_WAY,
					   false);
			else if (n > UNDER_WAY)
				model_look(b, at + UNDER_WAY, n - UNDER_WAY,
					   false);
		}
	}
}

/* All is at rest. */
void testbed_model_end(struct testbed *w)
{
	unsigned int i;

	oracle_rest(w->oracle);
	model_wire(w);
	if (!w->fabric || fabric_idle(w->fabric))
		oracle_quiet(w->oracle);
	for (i = 0; i < w->buffers; i++)
		model_look(&w->buffer[i], 0, w->buffer[i].bytes, false);
}

void testbed_model_gone(struct testbed_process *p)
{
	struct testbed *w = p->testbed;
	unsigned int i;
	int side;

	for (i = 0; i < w->conns; i++)
		for (side = 0; side < 2; side++)
			if (w->conn[i].process[side] == p) {
				oracle_pair_end(w->oracle, w->conn[i].pair[side]);
				oracle_receives_end(w->oracle, w->conn[i].pair[1 - side]);
			}
}
