/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric.h - the network between boards: links with rate and delay, and what
 * can go wrong on them. Files: fabric.c (ports, routes, delivery), inject.c
 * (loss, damage, duplication, reorder, delay), capture.c (packets in a file), udp.c,
 * udp_tag.c, udp_parse.c (a link to the boards of another process).
 */
#ifndef FL_FABRIC_H
#define FL_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct fabric;
struct fabric_port;
struct sim;
struct sim_domain;
struct timing_profile;
struct trace;
struct wire_frame;

struct fabric_config {
	struct sim *sim;
	struct trace *trace;
	const struct timing_profile *timing;
	uint32_t frames; /* pool of each port and each link; 0: 1024 */
	/* Sees each packet that leaves a port or comes to it; capture_frame, or NULL. */
	void (*tap)(struct capture *c, uint8_t node, bool leaves, const struct wire_frame *f,
		    uint64_t ns);
	struct capture *capture;
};

struct fabric *fabric_create(const struct fabric_config *cfg);
void fabric_destroy(struct fabric *f);

/*
 * Attach node; receive is called with each frame that arrives (by the receiving
 * domain's actor), room when frames can be had again. NULL with -EEXIST,
 * -EINVAL, -ENOMEM in *error.
 */
struct fabric_port *
fabric_attach(struct fabric *f, struct sim_domain *d, uint8_t node,
	      void (*receive)(void *arg, const struct wire_frame *fr,
			      uint64_t now_ns),
	      void (*room)(void *arg), void *arg, int *error);

/*
 * drops(arg of fabric_attach, frame) is asked before an answer, a frame without data, enters
 * the link; one that it drops was never sent. Called in the port's domain.
 */
void fabric_filter(struct fabric_port *p,
		   bool (*drops)(void *arg, const struct wire_frame *fr));

/*
 * Threads mode, p's domain held. Whom node's port belongs to (arg of fabric_attach), if it was
 * attached with this receive, and frames from p to it would only come and go: no capture, no
 * injection, no other process between. Else NULL.
 */
void *fabric_neighbour(const struct fabric_port *p, uint8_t node,
		       void (*receive)(void *arg, const struct wire_frame *fr,
				       uint64_t now_ns));
/* Nothing is injected on the way from p to node. p's domain is held. */
bool fabric_is_clear(const struct fabric_port *p, uint8_t node);
/*
 * Count frames that have gone from p to such a one without being sent, payload bytes in all,
 * and answers that came back. Both domains are held.
 */
void fabric_passed(struct fabric_port *p, uint8_t node, uint32_t frames,
		   uint32_t bytes, uint32_t answers);

/*
 * A link in both directions. 0, -EEXIST, -ENOENT. Frames take the shortest way
 * (fewest links).
 */
int fabric_link(struct fabric *f, uint8_t a, uint8_t b);

/*
 * Frames, as the engine's environment has them (engine.h): port is a struct fabric_port.
 * Their ICRC is made only when somebody looks at it (wire.h): a capture, a link to another
 * process, an engine in Verilog, or what damages a frame.
 */
struct wire_frame *fabric_frame_get(void *port);
/* The same, but only when at least half of the port's frames are not in use. */
struct wire_frame *fabric_frame_spare(void *port);
/*
 * receive wants to keep the frame that it was called with. False: the port that sent
 * it has few left. fabric_frames_put gives n frames back, all of one port, or
 * such that were not sent.
 */
bool fabric_frame_borrow(void *port, const struct wire_frame *fr);
void fabric_frames_put(void *port, struct wire_frame *const *fr,
		       unsigned int n);
/* ns until the port takes the next frame (lockstep). Takes the frame over. */
uint64_t fabric_frame_send(void *port, struct wire_frame *fr);

/*
 * Injection on everything that node a sends towards b (0xff: any). Rates in
 * parts per million.
 */
struct fabric_inject {
	uint32_t loss_ppm, duplicate_ppm, damage_ppm, late_ppm;
	uint64_t late_ns;    /* how much later at most (reorders) */
	uint32_t drop_first; /* lose the first n packets */
	uint16_t kind;	     /* 1 + opcode of the packets that are meant; 0: all */
};
int fabric_inject(struct fabric *f, uint8_t a, uint8_t b,
		  const struct fabric_inject *i);

struct fabric_stats {
	uint64_t frames,
		bytes; /* bytes as the profile counts them: with overhead */
	uint64_t lost, duplicated, damaged, late;
};
void fabric_stats(struct fabric *f, uint8_t node,
		  struct fabric_stats *st); /* sent by node */

/* No frame on the way; those between two processes are not seen. */
bool fabric_idle(struct fabric *f);

/* ---- a link to the boards of another process, over UDP (udp.c) ---- */

#define FABRIC_UDP_PORT 4791	/* of RoCEv2, InfiniBand annex A17 */
/* Packets between processes have four bits for a node; other fabrics have WIRE_NODES. */
#define FABRIC_UDP_NODES 16

struct fabric_udp_config {
	uint32_t local, peer;	/* IPv4, 127.0.0.1 is 0x7F000001; local 0: any */
	/* local_port 0: any that is free, which fabric_udp_port() tells. */
	uint16_t local_port, peer_port;
	uint8_t first, last;	/* nodes that live there, both included */
};

/*
 * Threads mode. Nodes first to last are from now on reached through the link, one hop from
 * every board of this process; the other process has a link that mirrors this one. A
 * packet that UDP loses is lost, as on any link. Call it when the boards of this
 * process have been made, since only those can be reached, and before the first
 * packet is sent. A thread of the scheduler receives and runs boards: sim_stop() ends
 * it, before they are destroyed.
 *
 * 0; -ENOTSUP lockstep; -EINVAL a node is out of range or first > last, the peer
 * is no address of one machine, has port 0, or is the link itself; -EEXIST a node lives
 * here or behind another link; -ERANGE a board here is none of FABRIC_UDP_NODES;
 * -EADDRINUSE, -EADDRNOTAVAIL, -EACCES and others as bind(); -ENOMEM.
 */
int fabric_udp(struct fabric *f, const struct fabric_udp_config *cfg);
/* The link's own port, or -ENOENT: node is behind none. */
int fabric_udp_port(struct fabric *f, uint8_t node);

struct fabric_udp_stats {
	uint64_t sent, received;	/* received: and handed to a board */
	uint64_t no_room;	/* lost: the system took it not */
	uint64_t no_frame;	/* lost: the boards hold all frames of the link */
	/* refused: of a stranger, and so on, in the order of the checks */
	uint64_t address, length, icrc, node, old, header;
	uint64_t unanswered;	/* not sent: the asker's process is gone */
	uint64_t hellos;	/* greetings that came */
	uint64_t peers;		/* processes that the peer has been */
};
/* Of the link that node is behind; all 0: none. */
void fabric_udp_stats(struct fabric *f, uint8_t node,
		      struct fabric_udp_stats *st);

/*
 * LOCAL[:PORT]/PEER[:PORT]/NODE[-NODE], as the option --udp has it: two addresses
 * a.b.c.d, ports from 1 to 65535 (none: 4791), the nodes behind PEER. 0, or
 * -EINVAL with a sentence in error[].
 */
int fabric_udp_parse(const char *text, struct fabric_udp_config *cfg,
		     char *error, size_t bytes);

#endif
