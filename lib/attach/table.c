// SPDX-License-Identifier: BSD-2-Clause
/* table.c - the library's system calls, where the system is a board elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/internal.h"
#include "faultline.h"
#include "faultline/regs.h"
#include "faultline/uapi.h"
#include "sys.h"

/*
 * So many empty polls of a thread in a row leave the CPU to who may need it: the board
 * may be waiting for this very one. A write takes fewer polls than this when the
 * board has a CPU of its own.
 */
#define YIELD_EVERY 64u

/*
 * Of a thread: what it is about to post, and the completion that it took last, which both travel
 * with its next doorbell; and its empty polls since that completion.
 */
static _Thread_local struct {
	int fd;			/* + 1; 0: nothing */
	int posts;		/* + 1: where it posted last */
	uint32_t xfer;
	uint64_t arg[4];
	struct attach_took took;
	unsigned int polls;
} mine;

void *attach_local_table(size_t *bytes)
{
	*bytes = sizeof(mine);
	return &mine;
}

/* A completion that went with no doorbell goes by itself. */
static void table_settle(struct attach *a)
{
	if (mine.took.fd != a->fd + 1)
		return;
	attach_post(a, ATTACH_COMPLETE, 0, 0, 0, NULL, &mine.took);
	mine.took.fd = 0;
}

/*
 * Who posts, and has more under way, is about to come again: this saves an entry for the trace
 * alone, and the wait for its line.
 */
static void table_took(struct attach *a, const struct attach_took *took, bool more)
{
	table_settle(a);
	mine.took = *took;
	mine.polls = 0;
	if (!more || mine.posts != a->fd + 1)
		table_settle(a);
}

static int table_open(const char *name)
{
	int fd, error;

	if (!strncmp(name, "emu:", 4))
		name += 4;
	error = attach_open(name, &fd);
	return error ? error : fd;
}

static int table_ioctl(int fd, unsigned int cmd, void *arg)
{
	struct attach *a = attach_by_fd(fd);
	struct attach_ask q = {
		.op = ATTACH_IOCTL,
		.payload = arg,
		.payload_in = _IOC_SIZE(cmd),
		.payload_out = _IOC_SIZE(cmd),
	};

	if (!a)
		return -EBADF;
	if (_IOC_SIZE(cmd) && !arg)
		return -EFAULT;
	table_settle(a);
	q.arg[0] = (uint64_t)a->board_fd;
	q.arg[1] = cmd;
	return attach_call(a, &q);
}

static void *table_mmap(int fd, size_t bytes, uint64_t offset, int *error)
{
	struct attach *a = attach_by_fd(fd);
	struct attach_ask q = { .op = ATTACH_MMAP };
	uint64_t at;

	if (!a) {
		*error = -EBADF;
		return NULL;
	}
	q.arg[0] = (uint64_t)a->board_fd;
	q.arg[1] = bytes;
	q.arg[2] = offset;
	*error = attach_call(a, &q);
	if (*error)
		return NULL;
	at = q.ret[0];
	if (at == ~0ull && bytes <= NIC_DB_STRIDE)
		return (void *)attach_doorbell(a);
	if (at >= a->hello.queue_offset && at < a->hello.bank_bytes &&
	    bytes <= a->hello.bank_bytes - at)
		return a->bank + at;
	*error = -EPROTO;
	return NULL;
}

/* Attachment whose bank holds the address, and where; NULL. */
static struct attach *table_by_bank(const void *addr, uint64_t *offset)
{
	struct attach *a;
	unsigned int i;
	bool found;

	for (i = 0; i < ATTACH_BOARDS; i++) {
		a = attach_slot(i);
		if (!a || !attach_enter(a))
			continue;
		*offset = (uintptr_t)addr - (uintptr_t)a->bank;
		found = *offset < a->hello.bank_bytes;
		attach_leave(a);
		if (found)
			return a;
	}
	return NULL;
}

static int table_munmap(void *addr, size_t bytes)
{
	struct attach *a = attach_by_addr((uintptr_t)addr);
	struct attach_ask q = { .op = ATTACH_MUNMAP, .arg = { ~0ull, bytes } };

	if (!a) {
		a = table_by_bank(addr, &q.arg[0]);
		if (!a)
			return -EINVAL;
	}
	return attach_call(a, &q);
}

static int table_mmio_write32(volatile void *addr, uint32_t value)
{
	struct attach *a = attach_by_addr((uintptr_t)addr);
	uint32_t offset;

	if (!a)
		return -EBADF;
	offset = (uint32_t)((uintptr_t)addr - attach_doorbell(a));
	if (mine.fd != a->fd + 1)
		return attach_post(a, ATTACH_DOORBELL, offset, value, 0, NULL, &mine.took);
	mine.fd = 0;
	return attach_post(a, ATTACH_POST_DOORBELL, offset, value, mine.xfer, mine.arg,
			   &mine.took);
}

/* An address that an answer holds; NULL: it cannot be right. */
static void *table_given(struct attach *a, uint64_t addr, size_t bytes,
			 int *error)
{
	uint64_t room = attach_doorbell(a) - a->arena;

	if (addr - a->arena < room && bytes <= room - (addr - a->arena))
		return (void *)(uintptr_t)addr;
	*error = -EPROTO;
	return NULL;
}

static void *table_alloc(int fd, size_t bytes, int *error)
{
	struct attach *a = attach_by_fd(fd);
	struct attach_ask q = { .op = ATTACH_ALLOC, .arg = { bytes } };

	*error = a ? attach_call(a, &q) : -EBADF;
	return *error ? NULL : table_given(a, q.ret[0], bytes, error);
}

static int table_open_file(const char *path, size_t *bytes, int *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0) {
		*error = -errno;
		return -1;
	}
	*error = 0;
	if (fstat(fd, &st))
		*error = -errno;
	else if (!S_ISREG(st.st_mode))
		*error = -EINVAL;
	else if (!st.st_size)
		*error = -ENODATA;
	if (*error) {
		close(fd);
		return -1;
	}
	*bytes = (size_t)st.st_size;
	return fd;
}

static void *table_map_file(int fd, const char *path, size_t *bytes,
			    int *error)
{
	struct attach *a = attach_by_fd(fd);
	struct attach_ask q = { .op = ATTACH_MAP_FILE };
	size_t size_bytes = 0;
	uint32_t id = 0;
	void *mem;
	int file;

	*error = -EBADF;
	if (!a)
		return NULL;
	file = table_open_file(path, &size_bytes, error);
	if (file < 0)
		return NULL;
	*error = attach_send_file(a, file, &id);
	close(file);		/* the board has one of its own */
	if (*error)
		return NULL;
	q.arg[0] = size_bytes;
	q.arg[1] = id;
	*error = attach_call(a, &q);
	mem = *error ? NULL : table_given(a, q.ret[0], size_bytes, error);
	if (mem)
		*bytes = size_bytes;
	return mem;
}

static int on_range(uint32_t op, void *addr, size_t bytes, int what)
{
	struct attach *a = attach_by_addr((uintptr_t)addr);
	struct attach_ask q = {
		.op = op,
		.arg = { (uintptr_t)addr, bytes, (uint64_t)what },
	};

	return a ? attach_call(a, &q) : -EINVAL;
}

static int table_free(void *addr, size_t bytes)
{
	return on_range(ATTACH_FREE, addr, bytes, 0);
}

static int table_remap(void *addr, size_t bytes)
{
	return on_range(ATTACH_REMAP, addr, bytes, 0);
}

static int table_advise(void *addr, size_t bytes, int advice)
{
	return on_range(ATTACH_ADVISE, addr, bytes, advice);
}

static int table_protect(void *addr, size_t bytes, int prot)
{
	return on_range(ATTACH_PROTECT, addr, bytes, prot);
}

static int table_relax(int fd)
{
	struct attach *a = attach_by_fd(fd);
	int error = a ? attach_error(a) : -EBADF;

	if (error)
		return error;
	table_settle(a);
	if (++mine.polls % attach_spins(a, YIELD_EVERY))
		os_pause();
	else
		attach_yield(a);
	return 0;
}

static uint64_t table_trace(int fd, unsigned int event, uint32_t xfer,
			    uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct attach_took took = { fd + 1, xfer, (uint32_t)a0, (uint32_t)a1,
					  (uint32_t)a2 };
	struct attach *a = attach_by_fd(fd);

	if (event == FL_SYS_EV_POST) {
		mine.fd = mine.posts = fd + 1;
		mine.xfer = xfer;
		mine.arg[0] = a0;
		mine.arg[1] = a1;
		mine.arg[2] = a2;
		mine.arg[3] = a3;
	} else if (event == FL_SYS_EV_PUBLISH && a && mine.fd == fd + 1) {
		mine.fd = 0;
		attach_post(a, ATTACH_PUBLISH, 0, (uint32_t)a1, xfer, mine.arg, &mine.took);
	} else if (event == FL_SYS_EV_COMPLETE && a) {
		table_took(a, &took, a3);
	}
	return 0;
}

static int table_import(int fd, void *addr, size_t bytes, unsigned int access)
{
	struct attach *a = attach_by_fd(fd);

	if (!a)
		return -EBADF;
	if (attach_inside(a, (uintptr_t)addr) &&
	    attach_inside(a, (uintptr_t)addr + (bytes - 1)))
		return 0;
	return attach_job(a, JOB_IMPORT, addr, bytes, access);
}

static void table_return(int fd, void *addr, size_t bytes)
{
	struct attach *a = attach_by_fd(fd);

	if (!a || (attach_inside(a, (uintptr_t)addr) &&
		   attach_inside(a, (uintptr_t)addr + (bytes - 1))))
		return;
	attach_job(a, JOB_RETURN, addr, bytes, 0);
}

/* Is the page there and open? If it is not the board's affair, just look. */
static int table_page_present(struct attach *a, uintptr_t va, int for_write)
{
	uint32_t need = for_write ? FL_PROT_WRITE : FL_PROT_READ;
	struct attach_page *p = attach_page(a, va);
	unsigned int turns = 0;
	struct os_map m;
	int error;
	char c;

	while (p && atomic_load(&p->own) & OWN_BUSY)
		attach_turn(&turns);
	if (attach_inside(a, va) ? va < attach_doorbell(a) :
	    p && (atomic_load(&p->own) & (OWN_IMPORTED | OWN_FOREIGN)) ==
		 OWN_IMPORTED) {
		if (atomic_load(&p->view) >> VIEW_PROT_SHIFT & need)
			return 0;
		error = attach_fault(a, va, for_write);
		return error < 0 ? error : 0;
	}
	if (os_copy_from(&c, (void *)va, 1) ||
	    (for_write && os_map_find((void *)va, &m) &&
	     !(m.prot & PROT_WRITE)))
		return -EFAULT;
	return 0;
}

static int table_prefault(int fd, void *addr, size_t bytes, int for_write)
{
	struct attach *a = attach_by_fd(fd);
	uintptr_t va = (uintptr_t)addr, last = va + (bytes - 1);
	int error;

	if (!a)
		return -EBADF;
	va -= va % ATTACH_PAGE;
	for (; ; va += ATTACH_PAGE) {
		error = table_page_present(a, va, for_write != 0);
		if (error || last - va < ATTACH_PAGE)
			return error;
	}
}

static int table_mapped(int fd, const void *addr, size_t bytes)
{
	struct attach *a = attach_by_fd(fd);
	uintptr_t va = (uintptr_t)addr, first;
	sigset_t mask;

	if (!a)
		return -EBADF;
	attach_views_lock(a, &mask);
	first = attach_foreign(a, va - va % ATTACH_PAGE, va + (bytes - 1));
	attach_views_unlock(a, &mask);
	return first ? -EFAULT : 0;
}

const struct fl_sys fl_sys_attach = {
	.open = table_open,
	.close = attach_close,
	.ioctl = table_ioctl,
	.mmap = table_mmap,
	.munmap = table_munmap,
	.mmio_write32 = table_mmio_write32,
	.alloc = table_alloc,
	.map_file = table_map_file,
	.free = table_free,
	.remap = table_remap,
	.advise = table_advise,
	.protect = table_protect,
	.relax = table_relax,
	.trace = table_trace,
	.now_ns = os_now_ns,
	.import = table_import,
	.release = table_return,
	.prefault = table_prefault,
	.mapped = table_mapped,
	.thread = fl_sys_thread,
	.thread_join = fl_sys_thread_join,
};
