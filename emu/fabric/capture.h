/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture.h - packets in a file, for Wireshark and tshark: pcapng, an interface for each
 * board, and on it what leaves the board and what comes to it. A packet that is lost only
 * leaves; one that is doubled comes twice; a damaged one comes as it is then. Before the
 * frame stand Ethernet, IPv4 and UDP as RoCEv2 has them (wire.def).
 *
 * Format: IETF draft-ietf-opsawg-pcapng.
 */
#ifndef FL_CAPTURE_H
#define FL_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct wire_frame;

/* A new file; NULL and a negative errno in *error. */
struct capture *capture_open(const char *path, int *error);
/* Close it: 0, or a negative errno if something could not be written. NULL: nothing. */
int capture_close(struct capture *c);

/* Node's interface is called name. What no board has is not written. */
void capture_board(struct capture *c, uint8_t node, const char *name);
/* f leaves the board or comes to it, ns after the run began. From any thread. */
void capture_frame(struct capture *c, uint8_t node, bool leaves,
		   const struct wire_frame *f, uint64_t ns);

#endif
