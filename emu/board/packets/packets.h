/* SPDX-License-Identifier: BSD-2-Clause */
/* packets.h - packet units on a board: faults that are injected, and what the units counted. */
#ifndef FL_BOARD_PACKETS_H
#define FL_BOARD_PACKETS_H

#include <stdbool.h>
#include <stdint.h>

struct board;
struct nic_fault_stats;
struct nv_stats;
struct rc_stats;
struct ud_stats;

/*
 * So many parts of 2^40 of the packets that touch memory here miss a page that is there. The
 * driver gets a fault record; major: as late as if the page had come from storage (lockstep).
 * 0: none.
 */
void board_faults(struct board *b, uint64_t share, bool major);
/* What they counted since they were made. All take the domain. */
void board_rc_stats(struct board *b, struct rc_stats *st);
void board_nv_stats(struct board *b, struct nv_stats *st);
void board_ud_stats(struct board *b, struct ud_stats *st);
void board_fault_stats(struct board *b, struct nic_fault_stats *st);

#endif
