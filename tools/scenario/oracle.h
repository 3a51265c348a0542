/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oracle.h - what may be in memory: a sequential model of all that a run posts.
 *
 * It knows areas (plain arrays of bytes) and queue pairs, and nothing of pages,
 * packets or time. It is told what a program did, in the order in which the program
 * knows it to have happened: bytes that the CPU stored, requests that were posted,
 * completions that were seen. Then oracle_look() judges bytes that were found.
 *
 * A write to a byte comes surely before another one
 *
 *	- when it had ended (its completion was seen) before the other was posted, or
 *	- when both were posted to one queue pair, in this order (if it is relaxed, only
 *	  when the later one has a fence).
 *
 * What a byte may hold is what writes may have left there after which none surely came:
 * requests of several queue pairs that were under way at the same time may mix byte
 * by byte. A READ takes its bytes after all earlier requests of its queue pair,
 * and before all later ones. A WRITE takes its own some time before it completes,
 * but after all earlier READs of its queue pair. What an unfinished request wrote
 * may be seen or not, but if it is seen, then so are all requests before it on its queue
 * pair (a WRITE that is seen, all of them; bytes of a READ, the WRITEs). A request that
 * failed may have written any of its bytes; one behind a request that the peer
 * refused has written none.
 *
 * Bytes are 8 bits, so a wrong one passes unseen when it has a right one's value:
 * whoever looks fills memory with random bytes.
 *
 * Files: oracle.c (requests and their ends), oracle_area.c (areas, and which writes a
 * byte may come from), oracle_look.c (values), oracle_datagram.c (which datagram a receive
 * may have taken).
 */
#ifndef FL_ORACLE_H
#define FL_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

struct oracle;

/* An area that nobody looks at: anything may come from it. */
#define ORACLE_NOWHERE UINT32_MAX

/* NULL: no memory. When memory ends later, the program does. */
struct oracle *oracle_create(void);
void oracle_destroy(struct oracle *o);
/* The first thing that no execution in order would give, in a sentence, or NULL. */
const char *oracle_problem(const struct oracle *o);

/* Bytes that are 0. Names are copied. */
uint32_t oracle_area(struct oracle *o, const char *name, uint64_t bytes);
/* One direction of a connection: requests that one side posts. */
enum oracle_order {
	ORACLE_POSTED,	/* all that was said above */
	ORACLE_RELAXED,
	/*
	 * Of a reliable connection (InfiniBand 10.8.3.3): a WRITE waits for a READ before it only
	 * with a fence, and fences wait for READs alone.
	 */
	ORACLE_PACKETS,
	/*
	 * Of NetVM's transport: WRITEs alone. A later one lies on an earlier one, but may be seen
	 * before it, where they do not meet, and though that one is refused; and what it leaves
	 * at that one's source, that one may bring, since a lost fragment is made anew. Unless
	 * it has a fence.
	 */
	ORACLE_FRAGMENTS,
	/*
	 * Datagrams, which oracle_receive() and oracle_arrived() are for. They go out in the
	 * order of posting; where bytes of several meet nothing is promised.
	 */
	ORACLE_DATAGRAMS,
	ORACLE_RECEIVES,	/* of these; for the oracle alone */
};
uint32_t oracle_pair(struct oracle *o, const char *name, enum oracle_order order);

/* ---- what happened ---- */

struct oracle_work {
	const char *name;
	uint32_t pair;
	bool read;
	bool fence;	/* begins when all earlier ones of the pair have ended */
	/*
	 * Its bytes are looked at afterwards, and written again where they are wrong: until
	 * it has ended well there may be the bytes of an absent page.
	 */
	bool doubtful;
	/* The way that the bytes go. What lies beyond an area is left out. */
	uint32_t from, to;
	uint64_t from_at, to_at, bytes;
	/* Of a datagram: what its receive must say beside its bytes. */
	bool with_imm;
	uint32_t imm;
};
/* Before the request can have begun. Its number, for its completion. */
uint64_t oracle_post(struct oracle *o, const struct oracle_work *w);

/*
 * A request that was posted to ORACLE_NOWHERE writes here, n bytes at most; before it has
 * ended.
 */
void oracle_target(struct oracle *o, uint64_t number, uint32_t to, uint64_t at,
		   uint64_t n);

enum oracle_end {
	ORACLE_OK,
	ORACLE_REFUSED,	/* failed, and surely was never carried out as a whole */
	ORACLE_LOST,	/* failed; it and others behind it may have been carried out */
	ORACLE_UNPOSTED, /* the library did not take it */
};
/* When its completion was seen, in the order of completions of the queue pair. */
void oracle_complete(struct oracle *o, uint64_t number, enum oracle_end end);
/* The queue pair is gone: whatever has no completion was lost. */
void oracle_pair_end(struct oracle *o, uint32_t pair);
/* And nothing of it is under way any more. */
void oracle_pair_rest(struct oracle *o, uint32_t pair);
/* Nothing is under way any more but what has neither completed nor failed. */
void oracle_rest(struct oracle *o);

/* ---- datagrams (InfiniBand 9.8.3, 10.8.3.3) ---- */

/*
 * Receives of one queue complete in the order of posting, each with one datagram, whole: its
 * number of bytes, its immediate data, and in memory what was posted, or what the CPU stored
 * there before the request had ended. A datagram whose request failed never left.
 *
 * A datagram comes to its receive once at most, or not at all; and those that come, in the
 * order of posting. What the wire has doubled may come once more, and what it has held back,
 * or doubled, may come out of order with those that were under way together with it.
 *
 * Until its receive is complete, memory may hold anything there. Behind a datagram that is
 * shorter than its receive there is what was there before, or bytes of longer ones that began
 * to land and were lost.
 */

/* Before the receive can be taken: of datagrams of `pair`; to, to_at, bytes. Its number. */
uint64_t oracle_receive(struct oracle *o, const struct oracle_work *w);

struct oracle_arrival {
	uint32_t bytes, imm;
	bool with_imm;
};
/* Its completion was seen, and it is good. If it is not: oracle_complete(), ORACLE_LOST. */
void oracle_arrived(struct oracle *o, uint64_t number, const struct oracle_arrival *a);
/* It has failed since its datagram was longer; then this, too. */
void oracle_too_long(struct oracle *o, uint64_t number);
/* The process that receives is gone: whatever has no completion gets none. */
void oracle_receives_end(struct oracle *o, uint32_t pair);
/* So many packets has the wire held back, and doubled, up to now: before oracle_arrived(). */
void oracle_wire(struct oracle *o, uint64_t late, uint64_t twice);
/* Nothing is on the wire: what is posted from now on comes behind what was sent before. */
void oracle_quiet(struct oracle *o);

/* The CPU stored bytes; NULL: zeros. */
void oracle_store(struct oracle *o, uint32_t area, uint64_t at,
		  const uint8_t *bytes, uint64_t n);
/* The CPU loaded bytes and stored them again, each by itself. */
void oracle_touch(struct oracle *o, uint32_t area, uint64_t at, uint64_t n);
/* Nobody can say what there is until somebody looks. */
void oracle_forget(struct oracle *o, uint32_t area, uint64_t at, uint64_t n);

/* ---- judging ---- */

/*
 * These bytes were found. False, and a problem: they cannot be. What is learnt from them
 * (a request was carried out) holds from the next look on; who found
 * several areas at one moment looks at all of them twice.
 */
bool oracle_look(struct oracle *o, uint32_t area, uint64_t at,
		 const uint8_t *bytes, uint64_t n);
/* The same, and no request that was posted so far can write here any more. */
bool oracle_close(struct oracle *o, uint32_t area, uint64_t at,
		  const uint8_t *bytes, uint64_t n);

/* Where requests that have not completed write; i from 0 on; false: no more. */
bool oracle_open(const struct oracle *o, unsigned int i, uint32_t *area,
		 uint64_t *at, uint64_t *n);

#endif
