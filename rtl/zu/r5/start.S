/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * start.S - from reset to r5_main(): memory protection, caches, stack; and every way to the end.
 *
 * Interrupts stay off: the firmware asks its mailbox and the engine in turn (main.c). Any
 * exception is the end: the driver hears of it, since page FW reads as 0 from then on, and r5_end
 * says why.
 */
#include "board.h"
#include "faultline/regs.h"

	.syntax unified
	.arm
	.section .vectors, "ax", %progbits
	.global r5_vectors
r5_vectors:
	b	reset
	b	undefined
	b	call
	b	fetch
	b	access
	b	interrupt
	b	interrupt
	b	interrupt

	.text
/*
 * Regions of memory (ARM DDI 0460, "Memory Protection Unit"). Of two that overlap the later one
 * counts. Only what is listed can be reached.
 *
 * Queues are shared with the CPUs: an R5 does not keep shareable memory in its cache. They are
 * write-back all the same, since that goes out with each access (AxCACHE), and lets the chip look
 * into the CPUs' caches where it is set up to do so.
 */
#define XN		(1 << 12)	/* no instructions */
#define NOBODY		(0 << 8)
#define READ_WRITE	(1 << 8)	/* privileged, as all code here is */
#define READ_ONLY	(5 << 8)
#define DEVICE		0x01
#define NORMAL		0x0B		/* write-back, write-allocate */
#define SHARED		0x04
#define UNCACHED	0x08		/* normal memory; TCM is never cached */

	.macro	region base, log2, rights
	.word	\base, ((\log2) - 1) << 1 | 1, \rights
	.endm

regions:
	region	0, R5_DRAM_LOG2, XN | READ_WRITE | NORMAL | SHARED
	region	R5_TABLES, R5_TABLES_LOG2, XN | READ_WRITE | NORMAL
	region	R5_WINDOW, R5_WINDOW_LOG2, XN | READ_WRITE | DEVICE | SHARED
	/* Below the stack there is nothing. */
	region	0, R5_TCM_LOG2, XN | NOBODY
	region	R5_CODE, R5_CODE_LOG2, READ_ONLY | UNCACHED
	region	R5_DATA, R5_DATA_LOG2, XN | READ_WRITE | UNCACHED
regions_end:

reset:
	cpsid	aif, #19			/* supervisor mode */
	/* Protection and caches are off after a reset, but for a debugger's. */
	mrc	p15, 0, r0, c1, c0, 0		/* SCTLR */
	bic	r0, r0, #(1 << 0 | 1 << 2)	/* M, C */
	bic	r0, r0, #(1 << 12 | 1 << 13)	/* I, and vectors at 0 */
	bic	r0, r0, #(1 << 17)		/* BR: no background region */
	bic	r0, r0, #(1 << 30)		/* TE: exceptions in Arm state */
	dsb
	mcr	p15, 0, r0, c1, c0, 0
	isb
	mov	r1, #0
	mcr	p15, 0, r1, c15, c5, 0		/* both caches are empty */
	mcr	p15, 0, r1, c7, c5, 0
	dsb

	mrc	p15, 0, r5, c0, c0, 4		/* MPUIR: regions that there are */
	ubfx	r5, r5, #8, #8
	adr	r2, regions
	adr	r3, regions_end
	mov	r4, #0
1:	mcr	p15, 0, r4, c6, c2, 0		/* RGNR: which */
	cmp	r2, r3
	ldmlo	r2!, {r6, r7, r8}
	movhs	r7, #0				/* the others are off */
	mcrlo	p15, 0, r6, c6, c1, 0		/* base */
	mcrlo	p15, 0, r8, c6, c1, 4		/* rights and type */
	mcr	p15, 0, r7, c6, c1, 2		/* size, on or off */
	add	r4, r4, #1
	cmp	r4, r5
	blo	1b

	orr	r0, r0, #(1 << 0 | 1 << 2)
	orr	r0, r0, #(1 << 12)
	dsb
	mcr	p15, 0, r0, c1, c0, 0
	isb

	/* The stack is painted, so that a debugger sees how much was used of it. */
	ldr	r0, =R5_DATA
	ldr	r1, =0x53544143
	ldr	r2, =R5_DATA + R5_STACK
2:	str	r1, [r0], #4
	cmp	r0, r2
	blo	2b
	mov	sp, r2
	ldr	r0, =r5_bss
	ldr	r2, =r5_bss_end
	mov	r1, #0
3:	cmp	r0, r2
	strlo	r1, [r0], #4
	blo	3b

	/* A write that is refused late is the end, too. */
	cpsie	a
	bl	r5_main

undefined:
	mov	r0, #R5_END_UNDEFINED
	b	end
call:
	mov	r0, #R5_END_CALL
	b	end
fetch:
	mrc	p15, 0, r1, c5, c0, 1		/* IFSR */
	mrc	p15, 0, r2, c6, c0, 2		/* IFAR */
	mov	r0, #R5_END_FETCH
	b	end
access:
	mrc	p15, 0, r1, c5, c0, 0		/* DFSR */
	mrc	p15, 0, r2, c6, c0, 0		/* DFAR */
	mov	r0, #R5_END_ACCESS
	b	end
interrupt:
	mov	r0, #R5_END_INTERRUPT
	b	end

/* _Noreturn void r5_stop(uint32_t why); from an exception r1 and r2 are its syndrome. */
	.global r5_stop
	.type	r5_stop, %function
r5_stop:
	mov	r1, #0
	mov	r2, #0
end:
	cpsid	aif
	/* Without a card to tell it there is one exception more: the first one counts. */
	ldr	r3, =r5_end
	ldr	r12, [r3]
	cmp	r12, #0
	bne	r5_ended
	str	r1, [r3, #4]
	str	r2, [r3, #8]
	str	lr, [r3, #12]
	str	r0, [r3]
	dsb
	cmp	r0, #R5_END_NO_CARD
	ldrne	r0, =NIC_BOX_BASE + NIC_BOX_OPEN
	movne	r1, #0
	blne	r5_write
	dsb
	.global r5_ended
r5_ended:
	wfi
	b	r5_ended

/*
 * The card's registers, each access one instruction, 32 bits: off is from the start of the window.
 * And the clock. Behind that instruction a debugger can play the card and the time, and go on at
 * r5_return: tests/r5.
 */
	.global r5_read, r5_read_done, r5_write, r5_write_done
	.global r5_cycles, r5_cycles_done, r5_return
	.type	r5_read, %function
	.type	r5_write, %function
	.type	r5_cycles, %function
r5_read:				/* uint32_t r5_read(uint32_t off) */
	add	r1, r0, #R5_WINDOW
	ldr	r0, [r1]
r5_read_done:
	bx	lr
r5_write:				/* void r5_write(uint32_t off, uint32_t value) */
	add	r0, r0, #R5_WINDOW
	str	r1, [r0]
r5_write_done:
	bx	lr
r5_cycles:				/* uint32_t r5_cycles(void) */
	mrc	p15, 0, r0, c9, c13, 0	/* PMCCNTR */
r5_cycles_done:
	bx	lr
r5_return:
	bx	lr

/* Unsigned 64 bits, divided: quotient in r0 and r1, remainder in r2 and r3. */
	.global __aeabi_uldivmod
	.type	__aeabi_uldivmod, %function
__aeabi_uldivmod:
	push	{r11, lr}
	sub	sp, sp, #16
	add	r12, sp, #8
	str	r12, [sp]
	bl	r5_divide
	ldr	r2, [sp, #8]
	ldr	r3, [sp, #12]
	add	sp, sp, #16
	pop	{r11, pc}

	.bss
	.balign	4
	.global r5_end
r5_end:	.space	16			/* why, syndrome, address, lr */
