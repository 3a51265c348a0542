/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * board.h - what the firmware's image knows of its board: for C, for start.S and for r5.ld.
 *
 * Split or lockstep: the image uses the first half of each of R5-0's two tightly coupled
 * memories (TCM; UG1085, "TCM Address Map"), which it has in both modes. The firmware's tables
 * are larger than these and the on-chip memory together. So they lie in DRAM, in a piece that
 * Linux must not use (kernel-ref/board/faultline.dtsi).
 */
#ifndef FL_R5_BOARD_H
#define FL_R5_BOARD_H

#define R5_CODE		0x00000000	/* ATCM */
#define R5_CODE_LOG2	16
#define R5_DATA		0x00020000	/* BTCM */
#define R5_DATA_LOG2	16
#define R5_TCM_LOG2	18		/* both, with what is not there in split mode */
#define R5_STACK	0x2000		/* bytes, at the beginning of R5_DATA */
#define R5_TABLES	0x3EC00000	/* DRAM for struct fw */
#define R5_TABLES_LOG2	20

/* DRAM as an R5 sees it: queues may lie here, but for the tables. */
#define R5_DRAM_FIRST	0x00100000
#define R5_DRAM_LOG2	31

/* Its port of the card: M_AXI_HPM0_LPD (rtl/zu/common.tcl), pages as in regs.def. */
#define R5_WINDOW	0x80000000
#define R5_WINDOW_LOG2	17

#define R5_NODE		0		/* of the card (rtl/zu/common.tcl) */
#define R5_CYCLE_NS	2		/* the R5's clock: 500 MHz (assumed) */

/* Why the firmware has ended: r5_end.why. Written behind BOX.OPEN = 0. */
#define R5_END_UNDEFINED 1	/* undefined instruction: one of the firmware's assertions */
#define R5_END_CALL	2	/* supervisor call: there is none */
#define R5_END_FETCH	3	/* prefetch abort */
#define R5_END_ACCESS	4	/* data abort: nothing there, or no right; or the stack is full */
#define R5_END_INTERRUPT 5	/* there is none */
#define R5_END_NO_CARD	6	/* ENG.ID or ENG.PARAM make no sense: no bitstream? */
#define R5_END_BUSY	7	/* a context of the engine is not free: reset the card first */
#define R5_END_CLOSED	8	/* the mailbox gave the firmware up (BOX.OPEN) */

#endif
