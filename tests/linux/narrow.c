// SPDX-License-Identifier: BSD-2-Clause
/*
 * A 32-bit program on the card of a 64-bit kernel: calls and mappings by themselves,
 * without a libc, which a machine that compiles this need not have for it.
 */
#include "faultline/uapi.h"
#include "faultline/window.h"

_Static_assert(sizeof(void *) == 4, "this is the 32-bit one");
/* What fl_ctx.c has of its own, on the other side. */
_Static_assert(sizeof(struct fl_query) == 72 && sizeof(struct fl_policy) == 40 &&
	       sizeof(struct fl_reg_mr) == 48 &&
	       sizeof(struct fl_create_cq) == 32 &&
	       sizeof(struct fl_create_qp) == 72 &&
	       sizeof(struct fl_prefetch) == 32 &&
	       sizeof(struct fl_wait_cq) == 16 &&
	       sizeof(struct fl_modify_qp) == 72 &&
	       sizeof(struct fl_create_srq) == 32 &&
	       sizeof(struct fl_limit_srq) == 16 &&
	       sizeof(struct fl_next_event) == 24 &&
	       sizeof(struct fl_advise) == 40 &&
	       sizeof(struct fl_counters) == 128, "uapi.h");

/* Linux, arch/arm/tools/syscall.tbl */
#define SYS_EXIT	1
#define SYS_WRITE	4
#define SYS_OPEN	5
#define SYS_IOCTL	54
#define SYS_MMAP2	192

static long narrow_call(long n, long a, long b, long c, long d, long e, long f)
{
	register long r7 __asm__("r7") = n;
	register long r0 __asm__("r0") = a;
	register long r1 __asm__("r1") = b;
	register long r2 __asm__("r2") = c;
	register long r3 __asm__("r3") = d;
	register long r4 __asm__("r4") = e;
	register long r5 __asm__("r5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(r0)
			 : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
			 : "memory");
	return r0;
}

static long narrow_card(long fd, unsigned int cmd, void *arg)
{
	return narrow_call(SYS_IOCTL, fd, (long)cmd, (long)arg, 0, 0, 0);
}

/* Of the card, to read and write, shared. */
static volatile __u32 *narrow_map(long fd, unsigned long bytes, __u64 offset)
{
	long at = narrow_call(SYS_MMAP2, 0, (long)bytes, 3, 1, fd,
			      (long)(offset >> 12));

	/* Errors are the last 4095 addresses. */
	return (unsigned long)at > -4096ul ? 0 : (volatile __u32 *)at;
}

static struct fl_query query = { .size = sizeof(query) };
static struct fl_create_cq cq = { .size = sizeof(cq), .entries = 100 };
static struct fl_wait_cq wait = { .size = sizeof(wait), .timeout_ns = 1000 };
static struct fl_counters counters = { .size = sizeof(counters) };
static struct fl_alloc_pd pd = { .size = sizeof(pd) };
static char page[4096];
static struct fl_reg_mr mr = { .size = sizeof(mr), .length = sizeof(page) };

/* 0, or which step went wrong. */
static int narrow_steps(void)
{
	long fd = narrow_call(SYS_OPEN, (long)"/dev/faultline0", 2, 0, 0, 0, 0);
	volatile struct fl_window_doorbell *doorbell;

	if (fd < 0)
		return 1;
	if (narrow_card(fd, FL_IOC_QUERY, &query) ||
	    query.abi != FL_ABI_VERSION ||
	    query.doorbell != FL_DOORBELL_WINDOW)
		return 2;
	if (narrow_card(fd, FL_IOC_CREATE_CQ, &cq) || cq.entries != 128 ||
	    !cq.mmap_offset || cq.mmap_bytes != 4096)
		return 3;
	if (!narrow_map(fd, (unsigned long)cq.mmap_bytes, cq.mmap_offset))
		return 4;
	doorbell = (void *)narrow_map(fd, 2 * FL_WINDOW_PAGE, FL_MMAP_DOORBELL);
	if (!doorbell || doorbell->alive != 1)
		return 5;
	wait.cq = cq.cq;
	if (narrow_card(fd, FL_IOC_WAIT_CQ, &wait) != -110)	/* ETIMEDOUT */
		return 6;
	if (narrow_card(fd, FL_IOC_ALLOC_PD, &pd))
		return 7;
	mr.pd = pd.pd;
	mr.addr = (unsigned long)page;
	mr.access = 1;
	mr.flags = FL_MR_PINNED;
	if (narrow_card(fd, FL_IOC_REG_MR, &mr) || !mr.key)
		return 8;
	if (narrow_card(fd, FL_IOC_COUNTERS, &counters) ||
	    !counters.pinned_pages)
		return 9;
	return 0;
}

void _start(void)
{
	static char said[] = "narrow: step ?\n";
	int step = narrow_steps();

	said[13] = (char)('0' + step);
	narrow_call(SYS_WRITE, 1, (long)said, sizeof(said) - 1, 0, 0, 0);
	for (;;)
		narrow_call(SYS_EXIT, step, 0, 0, 0, 0, 0);
}
