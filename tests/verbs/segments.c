// SPDX-License-Identifier: BSD-2-Clause
/*
 * segments.c - requests in up to twelve pieces, some of them empty, on memory that nobody has
 * touched: a queue pair's WRITEs, inline too, SENDs into receives of three pieces, READs and
 * atomics whose answers are scattered. Two plain arrays say what either side's memory must
 * hold. Each side has a mapping of its own, and pieces lie at its very end, too.
 *
 *	segments SEED odp|pinned
 */
#include <stdbool.h>

#include "rig.h"

#define SEND_PIECES	12
#define RECV_PIECES	3
#define PIECE		700u
#define AREA		(16 * 4096u)
#define BYTES		(3 * AREA)	/* sources; what a peer reaches; what answers land in */
#define LONGEST		(SEND_PIECES * PIECE)
#define ROUNDS		60
#define WORKS		16

struct side {
	struct end end;
	struct ibv_mr *mr;
	unsigned char *mem, want[BYTES];
};

static struct side side[2];
static unsigned int seed;

static unsigned int draw_below(unsigned int n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

static void side_open(struct side *s, int access)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .cap = { 64, 64, SEND_PIECES, RECV_PIECES, 192 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	s->mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check_that(s->mem != MAP_FAILED, "memory", errno);
	s->mr = ibv_reg_mr(pd, s->mem, BYTES, access);
	check_that(s->mr, "region", errno);
	init.send_cq = s->end.send = rig_cq(128);
	init.recv_cq = s->end.recv = rig_cq(128);
	s->end.qp = ibv_create_qp(pd, &init);
	check_that(s->end.qp, "queue pair", errno);
	check_error(ibv_modify_qp(s->end.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
}

/* So many bytes somewhere in an area of s; one time in four they are its last ones. */
static struct ibv_sge piece_draw(const struct side *s, unsigned int area, unsigned int bytes)
{
	unsigned int at = area * AREA + draw_below(AREA - bytes);

	if (!draw_below(4))
		at = (area + 1) * AREA - bytes;
	return (struct ibv_sge){ (uintptr_t)s->mem + at, bytes, s->mr->lkey };
}

/* Bytes of all of them. */
static unsigned int pieces_draw(const struct side *s, unsigned int area, struct ibv_sge *sge,
				int n, unsigned int most)
{
	unsigned int sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		sge[i] = piece_draw(s, area, draw_below(5) ? draw_below(most) : 0);
		sum += sge[i].length;
	}
	return sum;
}

static unsigned char *wanted_at(struct side *s, uint64_t va)
{
	return s->want + (va - (uintptr_t)s->mem);
}

static void wanted_gather(struct side *s, const struct ibv_sge *sge, int n, unsigned char *to)
{
	for (; n; to += sge->length, sge++, n--)
		memcpy(to, wanted_at(s, sge->addr), sge->length);
}

static void wanted_scatter(struct side *s, const struct ibv_sge *sge, const unsigned char *from,
			   unsigned int bytes)
{
	unsigned int part;

	for (; bytes; from += part, bytes -= part, sge++) {
		part = sge->length < bytes ? sge->length : bytes;
		memcpy(wanted_at(s, sge->addr), from, part);
	}
}

/* The peer has posted a receive for it. */
static void send_draw(struct side *a, struct side *b, struct ibv_send_wr *w)
{
	struct ibv_sge place[RECV_PIECES];
	struct ibv_recv_wr *bad, r = { .wr_id = w->wr_id, .sg_list = place,
				       .num_sge = RECV_PIECES };
	unsigned char data[LONGEST];
	unsigned int bytes = 0, room = pieces_draw(b, 2, place, RECV_PIECES, PIECE);

	check_error(ibv_post_recv(b->end.qp, &r, &bad), 0);
	for (w->num_sge = 0; w->num_sge < SEND_PIECES; w->num_sge++) {
		w->sg_list[w->num_sge] = piece_draw(a, 0, draw_below(PIECE));
		if (bytes + w->sg_list[w->num_sge].length > room)
			break;
		bytes += w->sg_list[w->num_sge].length;
	}
	w->opcode = IBV_WR_SEND;
	wanted_gather(a, w->sg_list, w->num_sge, data);
	wanted_scatter(b, place, data, bytes);
}

static void write_draw(struct side *a, struct side *b, struct ibv_send_wr *w, bool inlined)
{
	unsigned char data[LONGEST];
	unsigned int bytes;

	w->num_sge = (int)draw_below(SEND_PIECES + 1);
	bytes = pieces_draw(a, 0, w->sg_list, w->num_sge, inlined ? 17 : PIECE);
	w->opcode = IBV_WR_RDMA_WRITE;
	w->send_flags |= inlined ? IBV_SEND_INLINE : 0;
	w->wr.rdma.remote_addr = piece_draw(b, 1, bytes).addr;
	w->wr.rdma.rkey = b->mr->rkey;
	wanted_gather(a, w->sg_list, w->num_sge, data);
	memcpy(wanted_at(b, w->wr.rdma.remote_addr), data, bytes);
}

static void read_draw(struct side *a, struct side *b, struct ibv_send_wr *w)
{
	unsigned int bytes;

	w->num_sge = (int)draw_below(SEND_PIECES + 1);
	bytes = pieces_draw(a, 2, w->sg_list, w->num_sge, PIECE);
	w->opcode = IBV_WR_RDMA_READ;
	w->wr.rdma.remote_addr = piece_draw(b, 1, bytes).addr;
	w->wr.rdma.rkey = b->mr->rkey;
	wanted_scatter(a, w->sg_list, wanted_at(b, w->wr.rdma.remote_addr), bytes);
}

/* What was there comes in two pieces. */
static void add_draw(struct side *a, struct side *b, struct ibv_send_wr *w)
{
	unsigned int bytes = draw_below(9);
	unsigned char *there;
	uint64_t v;

	w->sg_list[0] = piece_draw(a, 2, bytes);
	w->sg_list[1] = piece_draw(a, 2, 8 - bytes);
	w->num_sge = 2;
	w->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	w->wr.atomic.remote_addr = piece_draw(b, 1, 8).addr & ~7ull;
	w->wr.atomic.rkey = b->mr->rkey;
	w->wr.atomic.compare_add = 0x0102030405060708ull * seed;
	there = wanted_at(b, w->wr.atomic.remote_addr);
	wanted_scatter(a, w->sg_list, there, 8);
	memcpy(&v, there, 8);
	v += w->wr.atomic.compare_add;
	memcpy(there, &v, 8);
}

/* A fence: what an answer brings is there before the next request begins. */
static bool work_post(struct side *a, struct side *b, uint64_t wr_id)
{
	struct ibv_sge sge[SEND_PIECES];
	struct ibv_send_wr *bad, w = {
		.wr_id = wr_id, .sg_list = sge,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
	};
	unsigned int op = draw_below(5);

	if (op < 2)
		write_draw(a, b, &w, op);
	else if (op == 2)
		read_draw(a, b, &w);
	else if (op == 3)
		add_draw(a, b, &w);
	else
		send_draw(a, b, &w);
	check_error(ibv_post_send(a->end.qp, &w, &bad), 0);
	return w.opcode == IBV_WR_SEND;
}

static void round_do(struct side *a, struct side *b)
{
	bool sends[WORKS];
	unsigned int i, k, at = draw_below(AREA - PIECE);

	for (k = 0; k < PIECE; k++)
		a->mem[at + k] = a->want[at + k] = (unsigned char)draw_below(256);
	for (i = 0; i < WORKS; i++) {
		sends[i] = work_post(a, b, i);
		/* A request of twelve pieces takes five entries. */
		if (i % 8 == 7)
			for (k = i - 7; k <= i; k++)
				cq_expect(a->end.send, k, IBV_WC_SUCCESS);
	}
	for (i = 0; i < WORKS; i++)
		if (sends[i])
			cq_expect(b->end.recv, i, IBV_WC_SUCCESS);
	for (i = 0; i < 2; i++)
		for (k = 0; k < BYTES; k++)
			check_that(side[i].mem[k] == side[i].want[k],
				   "memory is not what plain arrays hold", k);
}

int main(int argc, char **argv)
{
	int i, access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	check_that(argc == 3, "usage: segments SEED odp|pinned", argc);
	seed = (unsigned int)atoi(argv[1]);
	if (!strcmp(argv[2], "odp"))
		access |= IBV_ACCESS_ON_DEMAND;
	rig_open();
	for (i = 0; i < 2; i++)
		side_open(&side[i], access);
	ends_connect(&side[0].end, &side[1].end);
	for (i = 0; i < ROUNDS; i++)
		round_do(&side[i % 2], &side[!(i % 2)]);
	printf("all pieces are in their places\n");
	return 0;
}
