// SPDX-License-Identifier: BSD-2-Clause
/*
 * The records of blocks that went by the resident step, as the long way leaves them (book,
 * "The life of a WRITE"), where each side has done its part at once.
 */
#include "trace/packed_put.h"

#include <assert.h>

#include "faultline/entries.h"
#include "faultline/fsm.h"
#include "faultline/pte.h"
#include "faultline/wire.h"

#define PAGE		4096u
/* Words of a page: its address, and whether it was walked to, as the page before, or a hit. */
#define WALKED		(1ull << 63)
#define WALKED_SAME	(1ull << 62)	/* but for the address of its last descriptor */
#define WORD_PA		((1ull << PACKED_MORE_SHIFT) - 1)
/* Beside the address of a walk's first table: level, how many were read, WALK_CACHED. */
#define WALK_LEVELS_SHIFT 2
#define WALK_CACHED	(1u << 5)
#define WALK_BITS	63u
#define HEADER_BYTES	(WIRE_BTH_BYTES + WIRE_BLK_BYTES + WIRE_ICRC_BYTES)
#define ACK_BYTES	(WIRE_BTH_BYTES + WIRE_ANS_BYTES + WIRE_ICRC_BYTES)

/* Pages from p on that have its walk. */
static uint32_t pages_same(const struct trace_page *p, const struct trace_page *end)
{
	const struct trace_page *q = p;

	while (++q < end && q->walk == p->walk)
		;
	return (uint32_t)(q - p);
}

/* Of those, pages from p on that lie behind one another: a word names them all. */
static uint32_t pages_joined(const struct trace_page *p, const struct trace_page *end)
{
	uint32_t n = 1;

	while (p + n < end && n <= TRACE_PAGE_MORE && p[n].pa == p->pa + n * PAGE)
		n++;
	return n;
}

static uint32_t sum_walk(const struct trace_page *p, const struct trace_page *end,
			 struct packed_sum *sum)
{
	const struct trace_walk *walk = p->walk;
	uint32_t n = pages_same(p, end);

	sum->walks += n;
	sum->levels += n * walk->levels;
	sum->cached += n * walk->cached;
	sum->words += 2u + walk->levels - n;
	for (end = p++ + n; p < end; p += pages_joined(p, end))
		sum->words++;
	return n;
}

void packed_sum_walks(const struct trace_write *w, struct packed_sum *sum)
{
	const struct trace_page *p, *end;
	unsigned int side;

	for (side = 0; side < 2; side++)
		for (p = w->page[side], end = p + w->pages[side]; p < end;)
			p += p->walk ? sum_walk(p, end, sum) : 1;
}

/* ---- into places of a ring ---- */

/* The table and how it came to be the first; then the descriptors. */
static void put_words_of_walk(struct packed_words *w, const struct trace_walk *walk)
{
	uint32_t i;

	assert(walk->levels <= 4 && !(walk->table & WALK_BITS));
	packed_word(w, walk->table | walk->first | walk->levels << WALK_LEVELS_SHIFT |
		       (walk->cached ? WALK_CACHED : 0u));
	for (i = 0; i < walk->levels; i++)
		packed_word(w, walk->desc[i]);
}

static uint32_t words_of_page(const uint64_t *word)
{
	if (!(*word & WALKED))
		return 1;
	return *word & WALKED_SAME ? 1 : 2 + (uint32_t)(word[1] >> WALK_LEVELS_SHIFT & 7);
}

static uint32_t pages_of_word(uint64_t word)
{
	return 1 + (uint32_t)PACKED_MORE(word);
}

static uint32_t put_walk_words(struct packed_words *to, const struct trace_page *p,
			       const struct trace_page *end)
{
	uint32_t n = pages_same(p, end), joined;

	packed_word(to, p->pa | WALKED);
	put_words_of_walk(to, p->walk);
	for (end = p++ + n; p < end; p += joined) {
		joined = pages_joined(p, end);
		packed_word(to, p->pa | WALKED | WALKED_SAME |
			    (uint64_t)(joined - 1) << PACKED_MORE_SHIFT);
	}
	return n;
}

void packed_put_walks(const struct trace_write *w, struct packed_words *to)
{
	const struct trace_page *p, *end;
	unsigned int side;

	for (side = 0; side < 2; side++)
		for (p = w->page[side], end = p + w->pages[side]; p < end;) {
			if (p->walk) {
				p += put_walk_words(to, p, end);
			} else {
				packed_word(to, packed_hit(p));
				p++;
			}
		}
}

/* ---- back into records ---- */

struct side {
	const uint64_t *word;	/* of the page that comes next */
	uint64_t va, pa;	/* of the byte that comes next */
	uint32_t more;		/* pages behind that of the last word, by PACKED_MORE() */
	bool walked;		/* its page, and nothing was moved there yet */
	const uint64_t *at;	/* the word of its page */
	const uint64_t *walk;	/* how it was walked to */
};

struct unpack {
	const struct trace_moved *h;
	uint64_t cause;		/* of a block */
	struct trace_record *next;
	uint64_t seq;		/* of the next record */
	uint32_t block;		/* number of the block */
	struct side side[2];
};

/* A record of one side; returns its sequence number. */
static uint64_t record_put(struct unpack *u, unsigned int side, unsigned int ev,
		    uint64_t cause, uint64_t a0, uint64_t a1, uint64_t a2,
		    uint64_t a3)
{
	const struct trace_moved *h = u->h;
	struct trace_record *r = u->next++;

	*r = (struct trace_record){
		.seq = u->seq++, .cause = cause, .wall_ns = h->wall_ns, .event = (uint16_t)ev,
		.board = side ? h->peer : h->board, .xfer = h->xfer,
		.block = u->block, .arg = { a0, a1, a2, a3 },
	};
	return r->seq;
}

/* On to the next page: the next word says where it is, or it lies behind the last one. */
static void side_page(struct side *s)
{
	if (s->more) {
		s->more--;
		s->walked = *s->at & WALKED;
		return;
	}
	s->at = s->word;
	s->pa = *s->word & WORD_PA;
	s->walked = *s->word & WALKED;
	s->more = PACKED_MORE(*s->word);
	if (s->walked && !(*s->word & WALKED_SAME))
		s->walk = s->word + 1;
	s->word += words_of_page(s->word);
}

/* The i-th descriptor that the walk to its page has read, of so many. */
static uint64_t side_desc(const struct side *s, unsigned int i, unsigned int levels)
{
	if (i == levels - 1 && *s->at & WALKED_SAME)
		return s->pa | (s->walk[levels] & ~PTE_ADDR);
	return s->walk[1 + i];
}

/* The translation of the byte that comes next, by a walk. */
static uint64_t put_walk(struct unpack *u, unsigned int side, uint64_t cause)
{
	const struct side *s = &u->side[side];
	unsigned int levels = s->walk[0] >> WALK_LEVELS_SHIFT & 7, i;
	unsigned int level = s->walk[0] & 3, bank = u->h->bank[side];
	uint64_t table = s->walk[0] & ~(uint64_t)WALK_BITS, desc;

	if (s->walk[0] & WALK_CACHED)
		record_put(u, side, EV_SMMU_WALK_CACHE, cause, bank, s->va,
			   level, table);
	for (i = 0; i < levels; i++, level++) {
		desc = side_desc(s, i, levels);
		record_put(u, side, EV_SMMU_LEVEL, cause, level, table,
			   s->va >> (39 - 9 * level) & 0x1ff, desc);
		table = desc & PTE_ADDR;
	}
	return record_put(u, side, EV_SMMU_WALK, cause, bank, s->va, s->pa,
			  levels);
}

/* Bursts of len bytes; returns the last record. */
static uint64_t put_bursts(struct unpack *u, unsigned int side, uint32_t len,
			   uint64_t cause)
{
	const unsigned int ev = side ? EV_RX_BURST : EV_TX_BURST;
	const uint8_t index = side ? u->h->rxc : u->h->ctx;
	struct side *s = &u->side[side];
	uint32_t bytes;

	for (; len; len -= bytes) {
		if (s->va % PAGE == 0 || !s->pa)
			side_page(s);
		bytes = PAGE - (uint32_t)(s->va % PAGE);
		bytes = bytes < len ? bytes : len;
		if (s->walked)
			cause = put_walk(u, side, cause);
		else
			cause = record_put(u, side, EV_SMMU_HIT, cause,
				    u->h->bank[side], s->va, s->pa, 0);
		s->walked = false;
		cause = record_put(u, side, ev, cause, index, s->va, bytes, s->pa);
		s->va += bytes;
		s->pa += bytes;
	}
	return cause;
}

static uint64_t put_wire(struct unpack *u, unsigned int side, bool sent,
			 uint64_t cause, uint32_t opcode, uint32_t bytes,
			 uint32_t offset)
{
	const struct trace_moved *h = u->h;
	unsigned int other = !side ? h->peer : h->board;

	return record_put(u, side, sent ? EV_WIRE_SEND : EV_WIRE_RECV, cause, opcode,
		   other, bytes, offset);
}

/* The cells of a block leave; returns the record of the first. */
static uint64_t put_sent(struct unpack *u, uint32_t len, uint64_t cause)
{
	const uint32_t size = 1u << u->h->cell_log2;
	uint64_t first = u->seq;
	uint32_t at;

	for (at = 0; at < len; at += size)
		put_wire(u, 0, true, cause, WOP_WRITE, HEADER_BYTES +
			 (len - at < size ? len - at : size), at);
	return first;
}

static uint64_t put_rx_state(struct unpack *u, uint64_t cause, unsigned int from,
			     unsigned int event, unsigned int to)
{
	return record_put(u, 1, EV_RX_STATE, cause, u->h->rxc, from, event, to);
}

/*
 * They come, and the first opens a receive context; returns what happened to it last, before
 * it was judged.
 */
static uint64_t put_received(struct unpack *u, uint32_t len, uint64_t sent)
{
	const uint32_t size = 1u << u->h->cell_log2;
	uint64_t seq = 0, first = 0;
	uint32_t at;

	for (at = 0; at < len; at += size) {
		seq = put_wire(u, 1, false, sent++, WOP_WRITE, HEADER_BYTES +
			       (len - at < size ? len - at : size), at);
		if (!at)
			first = put_rx_state(u, seq, FL_RX_FREE, FL_RX_EV_OPEN,
					     FL_RX_CHECK);
	}
	return len > size ? seq : first;
}

static uint64_t put_tx_state(struct unpack *u, uint64_t cause, unsigned int from,
			     unsigned int event, unsigned int to)
{
	return record_put(u, 0, EV_TX_STATE, cause, u->h->ctx, from, event, to);
}

/* Returns the record of its end. */
static uint64_t put_block(struct unpack *u, uint32_t len)
{
	const struct trace_moved *h = u->h;
	uint64_t va = u->side[1].va, seq, sent;

	seq = record_put(u, 0, EV_FW_BLOCK, u->cause, h->ctx, u->side[0].va, len,
		  FL_OP_WRITE);
	seq = put_tx_state(u, seq, FL_TX_FREE, FL_TX_EV_GO, FL_TX_READY);
	seq = put_bursts(u, 0, len, seq);
	seq = record_put(u, 0, EV_TX_CELLS, seq, h->ctx, len,
		  (len + (1u << h->cell_log2) - 1) >> h->cell_log2, 0);
	sent = put_sent(u, len, seq);
	put_tx_state(u, seq, FL_TX_READY, FL_TX_EV_SENT, FL_TX_FLYING);
	seq = put_received(u, len, sent);
	seq = record_put(u, 1, EV_FW_CHECK, seq, h->rxc, h->qpn, va, FL_ST_OK);
	seq = put_rx_state(u, seq, FL_RX_CHECK, FL_RX_EV_ACCEPT_FULL, FL_RX_WRITE);
	seq = put_bursts(u, 1, len, seq);
	seq = put_rx_state(u, seq, FL_RX_WRITE, FL_RX_EV_LANDED, FL_RX_FREE);
	seq = put_wire(u, 1, true, seq, WOP_ACK, ACK_BYTES, 0);
	seq = put_wire(u, 0, false, seq, WOP_ACK, ACK_BYTES, 0);
	seq = put_tx_state(u, seq, FL_TX_FLYING, FL_TX_EV_ACK, FL_TX_DONE);
	put_tx_state(u, seq, FL_TX_DONE, FL_TX_EV_RELEASE, FL_TX_FREE);
	return seq;
}

static uint32_t pages_of(const struct trace_moved *h, unsigned int side)
{
	return (uint32_t)((h->va[side] % PAGE + h->len + PAGE - 1) / PAGE);
}

static void sum_blocks(const struct trace_moved *h, struct packed_sum *sum)
{
	unsigned int side;

	*sum = (struct packed_sum){
		.blocks = (h->len + (1u << h->block_log2) - 1) >> h->block_log2,
		.cells = (h->len + (1u << h->cell_log2) - 1) >> h->cell_log2,
	};
	for (side = 0; side < 2; side++)
		/* A block that ends within a page leaves two bursts there. */
		sum->bursts[side] = pages_of(h, side) +
				    (h->va[side] % PAGE ? sum->blocks - 1 : 0);
}

uint32_t packed_count_records(const struct trace_moved *h, const uint64_t *word)
{
	const uint64_t *end = word + h->words, *walk = NULL;
	struct packed_sum sum;
	uint32_t pages;

	sum_blocks(h, &sum);
	for (; word < end; word += words_of_page(word)) {
		if (!(*word & WALKED))
			continue;
		if (!(*word & WALKED_SAME))
			walk = word + 1;
		pages = pages_of_word(*word);
		sum.walks += pages;
		sum.levels += pages * (uint32_t)(*walk >> WALK_LEVELS_SHIFT & 7);
		sum.cached += *walk & WALK_CACHED ? pages : 0;
	}
	sum.requests = h->begins;
	sum.completions = h->ends;
	return packed_records(&sum);
}

/* A record of the firmware's that is of the whole request. */
static uint64_t put_request(struct unpack *u, unsigned int ev, uint64_t cause,
			    uint64_t a1, uint64_t a2, uint64_t a3)
{
	uint32_t block = u->block;
	uint64_t seq;

	u->block = 0;
	seq = record_put(u, 0, ev, cause, u->h->sender, a1, a2, a3);
	u->block = block;
	return seq;
}

void packed_expand(const struct trace_moved *h, const uint64_t *word,
		   struct trace_record *out)
{
	const uint32_t size = 1u << h->block_log2;
	struct unpack u = { .h = h, .cause = h->cause, .next = out, .seq = h->seq,
			    .block = h->block };
	const uint64_t *w = word;
	uint32_t pages, at;
	uint64_t seq = 0;

	u.side[0].va = h->va[0];
	u.side[1].va = h->va[1];
	/* The words of the second side follow those of the first. */
	u.side[0].word = w;
	for (pages = pages_of(h, 0); pages; pages -= pages_of_word(*w), w += words_of_page(w))
		;
	u.side[1].word = w;
	if (h->begins)
		u.cause = put_request(&u, EV_FW_WQE, h->cause, FL_OP_WRITE, h->va[0],
				      h->bytes);
	for (at = 0; at < h->len; at += size, u.block++)
		seq = put_block(&u, h->len - at < size ? h->len - at : size);
	if (h->ends)
		put_request(&u, EV_FW_COMPLETE, seq, FL_ST_OK, h->bytes, h->index);
}

/* ---- what a library posted ---- */

void posted_expand(const struct trace_posted *p, struct trace_record *out)
{
	const struct trace_record same = { .wall_ns = p->wall_ns, .board = p->board };
	uint64_t seq = p->seq;

	if (p->took) {
		*out = same;
		out->seq = seq++;
		out->cause = p->end;
		out->event = EV_LIB_COMPLETE;
		out->xfer = p->took_xfer;
		out->arg[0] = p->took_qp;
		out->arg[1] = p->took_status;
		out->arg[2] = p->took_bytes;
		out++;
	}
	*out = same;
	out->seq = seq;
	out->event = EV_LIB_POST;
	out->xfer = p->xfer;
	out->arg[0] = p->qp;
	out->arg[1] = p->op;
	out->arg[2] = p->va;
	out->arg[3] = p->len;
	out++;
	*out = same;
	out->seq = seq + 1;
	out->cause = seq;
	out->event = EV_LIB_DOORBELL;
	out->xfer = p->xfer;
	out->arg[0] = p->qp;
	out->arg[1] = p->index;
}

/* ---- sums ---- */

static uint64_t sum_read(const _Atomic uint64_t *sum)
{
	return atomic_load_explicit(sum, memory_order_relaxed);
}

uint64_t packed_count(const struct packed_sums *sums, unsigned int ev)
{
	uint64_t blocks = sum_read(&sums->blocks);

	switch (ev) {
	case EV_FW_WQE:
		return sum_read(&sums->requests);
	case EV_FW_COMPLETE:
		return sum_read(&sums->completions);
	case EV_FW_BLOCK:
	case EV_TX_CELLS:
	case EV_FW_CHECK:
		return blocks;
	case EV_TX_STATE:
		return 4 * blocks;
	case EV_RX_STATE:
		return 3 * blocks;
	case EV_WIRE_SEND:
	case EV_WIRE_RECV:
		return blocks + sum_read(&sums->cells);
	case EV_SMMU_HIT:
		return sum_read(&sums->bursts[0]) + sum_read(&sums->bursts[1]) -
		       sum_read(&sums->walks);
	case EV_SMMU_WALK:
		return sum_read(&sums->walks);
	case EV_SMMU_LEVEL:
		return sum_read(&sums->levels);
	case EV_SMMU_WALK_CACHE:
		return sum_read(&sums->cached);
	case EV_TX_BURST:
	case EV_RX_BURST:
		return sum_read(&sums->bursts[ev == EV_RX_BURST]);
	}
	return 0;
}
