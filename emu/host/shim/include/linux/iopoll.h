/* SPDX-License-Identifier: BSD-2-Clause */
/* iopoll.h - reading a register until it says so. */
#ifndef SHIM_LINUX_IOPOLL_H
#define SHIM_LINUX_IOPOLL_H

#include <linux/err.h>
#include <linux/io.h>
#include <shim/rules.h>

u64 shim_now(void);
/* Let us microseconds pass, and hardware run. */
void shim_pause(u64 us);

#define shim_poll(op, val, cond, us, timeout_us, atomic, ...)                 \
	({                                                                    \
		u64 poll_end_ = shim_now() + (timeout_us) * 1000ull;          \
									      \
		if (!(atomic))                                                \
			shim_sleeps("read_poll_timeout()", __func__);         \
		for (;;) {                                                    \
			(val) = op(__VA_ARGS__);                              \
			if ((cond) || shim_now() > poll_end_)                 \
				break;                                        \
			shim_pause(us);                                       \
		}                                                             \
		(cond) ? 0 : -ETIMEDOUT;                                      \
	})
#define read_poll_timeout(op, val, cond, us, timeout_us, before, ...)         \
	shim_poll(op, val, cond, us, timeout_us, false, __VA_ARGS__)
#define read_poll_timeout_atomic(op, val, cond, us, timeout_us, before, ...)  \
	shim_poll(op, val, cond, us, timeout_us, true, __VA_ARGS__)

#endif
