/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_peer.h - other people's programs that move data between two processes of
 * one machine, run as children: a server, and a client whose output is read. They
 * come with packages (tools/packages); one that is not here is named as missing.
 *
 *	fi_pingpong	libfabric's shared-memory provider: messages to and fro
 *	fabric_write	the same provider's writes; ours (peer/fabric_write.c), built where
 *			libfabric's headers are
 *	ucx_perftest	UCX: tagged messages, which have queues as ours; and put,
 *			where one process stores into the other's memory
 *	ib_send_lat, ib_write_bw
 *			perftest, on our boards a and b: their sockets are in the
 *			folder that FAULTLINE_DIR in the environment names
 */
#ifndef FL_BENCH_PEER_H
#define FL_BENCH_PEER_H

#include <stdbool.h>
#include <stdint.h>

enum peer {
	PEER_LIBFABRIC, PEER_UCX_TAG, PEER_UCX_PUT, PEERS,
	/* On our boards: regions pinned, or registered on demand. */
	PEER_PINNED = PEERS, PEER_ON_DEMAND, PEERS_AND_OURS
};
enum peer_figure {
	PEER_LATENCY,	/* one way: half of there and back; the median if it has one */
	PEER_AVERAGE,	/* the same, the average */
	PEER_STREAM,	/* one message, many of them under way */
	PEER_FIGURES
};

const char *peer_name(enum peer p);
/* The program that runs others on boards: FAULTLINE, or build/faultline. */
const char *peer_faultline(void);
/* Its package when it is not here, else NULL. */
const char *peer_missing(enum peer p);
/* One short run: ns of one message. 0: it gave no figure. */
double peer_run(enum peer p, enum peer_figure f, uint32_t bytes);
/* ns of one write; depth 1: one way. 0: it gave no figure, or is not here. */
double peer_fabric_write(uint32_t bytes, unsigned int depth);
bool peer_fabric_write_is_here(void);

#endif
