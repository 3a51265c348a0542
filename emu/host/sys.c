// SPDX-License-Identifier: BSD-2-Clause
/*
 * sys.c - the system calls of libfaultline, for application threads of the
 * emulator.
 */
#include <sys/stat.h>

#include "host/internal.h"
#include "lib/faultline.h"
#include "lib/os/os.h"
#include "lib/sys.h"
#include "sim/sim.h"
#include "trace/trace.h"

/* Into the kernel: what the thread spends there is the kernel's. The account before. */
static atomic_ullong *sys_enter(void)
{
	return sim_charge(&host_current()->k->count.cpu_calls);
}

static int sys_leave(atomic_ullong *account, int answer)
{
	sim_charge(account);
	return answer;
}

static void *sys_leave_memory(atomic_ullong *account, void *answer)
{
	sim_charge(account);
	return answer;
}

/* NULL, "emu:BOARD" and BOARD: the card of this process's own board. */
static int sys_open(const char *name)
{
	struct host_process *p = host_current();
	atomic_ullong *account = sys_enter();

	if (name && !strncmp(name, "emu:", 4))
		name += 4;
	if (name && !strcmp(name, board_name(p->k->board)))
		name = NULL;
	return sys_leave(account, host_open(p, name));
}

static int sys_close(int fd)
{
	atomic_ullong *account = sys_enter();

	return sys_leave(account, host_close(host_current(), fd));
}

static int sys_ioctl(int fd, unsigned int cmd, void *arg)
{
	atomic_ullong *account = sys_enter();

	return sys_leave(account,
			 (int)host_ioctl(host_current(), fd, cmd, arg));
}

static void *sys_mmap(int fd, size_t bytes, uint64_t offset, int *error)
{
	atomic_ullong *account = sys_enter();

	return sys_leave_memory(account, host_mmap_fd(host_current(), fd, bytes,
						      offset, error));
}

static int sys_munmap(void *addr, size_t bytes)
{
	atomic_ullong *account = sys_enter();

	return sys_leave(account, host_munmap_fd(host_current(), addr, bytes));
}

/*
 * Threads mode: an application that runs hardware is a CPU that takes its interrupts, and
 * does what these leave to be done. What it recorded itself stays its last record.
 */
static _Thread_local struct trace_last sys_recorded;

static void sys_into_hardware(void)
{
	sys_recorded = trace_last_save();
	sim_defers_begin(host_current()->k->sim, SIM_DEFER_WORK, 0);
}

static void sys_out_of_hardware(void)
{
	sim_defers_end();
	trace_last_restore(sys_recorded);
}

static int sys_mmio_write32(volatile void *addr, uint32_t value)
{
	sys_into_hardware();
	host_mmio_write32(host_current(), addr, value);
	sys_out_of_hardware();
	return 0;
}

static void *sys_alloc(int fd, size_t bytes, int *error)
{
	atomic_ullong *account = sys_enter();

	(void)fd;
	return sys_leave_memory(account, host_mmap(host_current(), bytes,
						   HOST_READ | HOST_WRITE, NULL,
						   0, error));
}

static void *sys_map_file(int fd, const char *path, size_t *bytes, int *error)
{
	atomic_ullong *account;
	size_t size_bytes;
	struct stat st;
	void *addr;

	(void)fd;
	*error = 0;
	if (!path)
		*error = -EINVAL;
	else if (stat(path, &st))
		*error = -errno;
	else if (!S_ISREG(st.st_mode))
		*error = -EINVAL;
	else if (!st.st_size)
		*error = -ENODATA;
	if (*error)
		return NULL;
	size_bytes = (size_t)st.st_size;
	account = sys_enter();
	addr = host_mmap(host_current(), size_bytes, HOST_READ | HOST_WRITE,
			 path, 0, error);
	sim_charge(account);
	if (addr)
		*bytes = size_bytes;
	return addr;
}

static int sys_free(void *addr, size_t bytes)
{
	atomic_ullong *account = sys_enter();

	return sys_leave(account, host_munmap(host_current(), addr, bytes));
}

static int sys_remap(void *addr, size_t bytes)
{
	atomic_ullong *account = sys_enter();

	return sys_leave(account, host_remap(host_current(), addr, bytes,
					     HOST_READ | HOST_WRITE));
}

static int sys_advise(void *addr, size_t bytes, int advice)
{
	atomic_ullong *account;

	if (advice < 0 || advice > FL_WILLNEED)
		return -EINVAL;
	account = sys_enter();
	return sys_leave(account, host_madvise(host_current(), addr, bytes,
					       (enum host_advice)advice));
}

static int sys_protect(void *addr, size_t bytes, int prot)
{
	atomic_ullong *account = sys_enter();

	return sys_leave(account,
			 host_mprotect(host_current(), addr, bytes, prot));
}

/* In lockstep a poll that finds nothing must let time pass. */
static int sys_relax(int fd)
{
	struct host_kernel *k = host_current()->k;

	(void)fd;
	sys_into_hardware();
	board_pump(k->board);
	sys_out_of_hardware();
	if (sim_mode(board_sim(k->board)) == SIM_THREADS) {
		trace_tick(k->trace);
		sim_yield();
	} else {
		/* Time must pass, or nothing would ever change. */
		sim_spend(k->timing->v[T_CPU_POLL] ? : 1);
	}
	return 0;
}

static void sys_spend(int fd, int what)
{
	static const enum timing key[] = {
		[FL_SYS_POST] = T_CPU_POST, [FL_SYS_POLL] = T_CPU_POLL,
		[FL_SYS_HANDLER] = T_CPU_HANDLER, [FL_SYS_QUEUE] = T_CPU_QUEUE,
		[FL_SYS_SEMAPHORE] = T_CPU_SEMAPHORE,
	};

	(void)fd;
	host_spend(host_current()->k, key[what]);
}

/* The library's events stand in one row, in this order. */
static_assert(EV_LIB_POST + FL_SYS_EV_DOORBELL == EV_LIB_DOORBELL &&
	      EV_LIB_POST + FL_SYS_EV_COMPLETE == EV_LIB_COMPLETE &&
	      EV_LIB_CACHE_HIT + 1 == EV_LIB_CACHE_MISS &&
	      EV_LIB_CACHE_HIT + 2 == EV_LIB_CACHE_EVICT &&
	      FL_SYS_EV_CACHE_HIT + 2 == FL_SYS_EV_CACHE_EVICT &&
	      FL_SYS_EV_POST == 0, "events.def and enum fl_sys_event");

static uint64_t sys_trace(int fd, unsigned int event, uint32_t xfer,
			  uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct host_kernel *k = host_current()->k;
	struct trace_at at = { .board = k->id, .xfer = xfer };
	bool published = event == FL_SYS_EV_PUBLISH;
	uint64_t seq;

	(void)fd;
	if (event == FL_SYS_EV_REDO || event == FL_SYS_EV_COMPLETE)
		at.cause = board_end_event(k->board, xfer);
	if (event == FL_SYS_EV_COMPLETE)
		a3 = 0;
	if (event == FL_SYS_EV_REDO)
		return trace_emit(k->trace, EV_LIB_REDO, &at, a0, a1, a2, a3);
	if (event >= FL_SYS_EV_CACHE_HIT) {
		assert(event <= FL_SYS_EV_CACHE_EVICT);
		event -= FL_SYS_EV_CACHE_HIT;
		return trace_emit(k->trace, (enum trace_event)(EV_LIB_CACHE_HIT + event),
				  &at, a0, a1, a2, a3);
	}
	if (published)
		event = FL_SYS_EV_DOORBELL;
	if (event == FL_SYS_EV_DOORBELL)
		at.cause = trace_last_software();	/* the post */
	seq = trace_emit(k->trace, (enum trace_event)(EV_LIB_POST + event), &at, a0,
			 a1, a2, a3);
	if (published)
		board_publish(k->board, xfer);
	return seq;
}

static uint64_t sys_now_ns(void)
{
	return sim_now(host_current()->k->sim);
}

/* Unique on the fabric: the board's number, then a count. */
static uint32_t sys_new_xfer(void)
{
	struct host_kernel *k = host_current()->k;

	return (uint32_t)k->id << 24 |
	       ((atomic_fetch_add(&k->xfers, 1) + 1) & 0xffffff);
}

/* Does [addr, addr + bytes) lie in the arena? */
static bool sys_in_arena(struct host_process *p, const void *addr, size_t bytes)
{
	uint64_t at = (uintptr_t)addr - (uint64_t)(uintptr_t)p->mm->arena;

	return at < HOST_ARENA_BYTES && bytes <= HOST_ARENA_BYTES - at;
}

/* The rest of this program's memory has no page tables here. */
static int sys_import(int fd, void *addr, size_t bytes, unsigned int access)
{
	char c;

	(void)fd;
	(void)access;
	if (sys_in_arena(host_current(), addr, bytes))
		return 0;
	/* Where nothing is at all, that is the better answer. */
	return os_copy_from(&c, addr, 1) ? -EFAULT : -EOPNOTSUPP;
}

static int sys_prefault(int fd, void *addr, size_t bytes, int for_write)
{
	struct host_process *p = host_current();
	uint64_t va = (uintptr_t)addr, last = va + (bytes - 1), start, end;
	int prot;

	(void)fd;
	if (!sys_in_arena(p, addr, bytes))
		return -EFAULT;
	for (va -= va % HOST_PAGE; va <= last; va += HOST_PAGE) {
		if (mm_lookup(p->mm, va, &start, &end, &prot) ||
		    !(prot & (for_write ? HOST_WRITE : HOST_READ)))
			return -EFAULT;
		/* The touch itself is what brings it in (arena.c). */
		if (for_write)
			atomic_fetch_or((_Atomic uint8_t *)(uintptr_t)va, 0);
		else
			(void)*(volatile uint8_t *)(uintptr_t)va;
	}
	return 0;
}

static const struct fl_sys host_sys;

struct sim_thread *host_thread_start(struct host_process *p, const char *name,
				     void (*fn)(void *arg), void *arg)
{
	return thread_start(p, name, &host_sys, fn, arg);
}

static int sys_thread(void (*fn)(void *arg), void *arg, void **thread)
{
	*thread = host_thread_start(host_current(), "library", fn, arg);
	return *thread ? 0 : -ENOMEM;
}

static void sys_thread_join(void *thread)
{
	sim_thread_join(thread);
}

static const struct fl_sys host_sys = {
	.open = sys_open,
	.close = sys_close,
	.ioctl = sys_ioctl,
	.mmap = sys_mmap,
	.munmap = sys_munmap,
	.mmio_write32 = sys_mmio_write32,
	.alloc = sys_alloc,
	.map_file = sys_map_file,
	.free = sys_free,
	.remap = sys_remap,
	.advise = sys_advise,
	.protect = sys_protect,
	.relax = sys_relax,
	.spend = sys_spend,
	.trace = sys_trace,
	.new_xfer = sys_new_xfer,
	.now_ns = sys_now_ns,
	.import = sys_import,
	.prefault = sys_prefault,
	.thread = sys_thread,
	.thread_join = sys_thread_join,
};
