// SPDX-License-Identifier: BSD-2-Clause
// variants: pages
/* Processes, device files, DMA memory, and the library's calls. */
#include <unistd.h>

#include "board/board_internal.h"
#include "lib/faultline.h"
#include "lib/sys.h"
#include "rig/host.h"

/* ---- processes ---- */

TEST("24 processes live at once, each with its own ASID; the 25th is refused")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	unsigned int i, j;
	int error;

	for (i = 1; i < HOST_PROCESSES; i++) {
		rig_process(r, i);
		for (j = 0; j < i; j++)
			EXPECT_NE(mm_asid(rig_mm(r, i)), mm_asid(rig_mm(r, j)));
		EXPECT_NE(mm_asid(rig_mm(r, i)), 0);
	}
	EXPECT(!host_process_create(r->k, "one more", &error));
	EXPECT_EQ(error, -EAGAIN);
	STEP("one ends, one may come, with numbers of its own");
	host_process_exit(r->p[7]);
	r->p[7] = NULL;
	rig_process(r, 7);
	EXPECT_EQ(host_process_pid(r->p[7]), HOST_PROCESSES + 1);
	EXPECT_EQ(mm_asid(rig_mm(r, 7)), HOST_PROCESSES + 1);
	EXPECT_STR(host_process_name(r->p[0]), "p0");
	EXPECT(host_process_kernel(r->p[7]) == r->k);
	rig_check(r);
}

TEST("ASIDs wrap around 16 bits, never to 0 and never to one in use")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);

	EXPECT_EQ(mm_asid(rig_mm(r, 0)), 1);
	r->k->asid = 0xfffe;
	EXPECT_EQ(mm_asid(host_process_mm(rig_process(r, 1))), 0xffff);
	EXPECT_EQ(mm_asid(host_process_mm(rig_process(r, 2))), 2);
}

TEST("a kernel without a place for its swap file is not created")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 64, 64);
	struct host_config hc = { .board = r->board,
				  .swap_dir = "/nowhere/at/all" };
	int error;

	EXPECT(!host_create(&hc, &error));
	EXPECT_EQ(error, -ENOENT);
	hc.swap_dir = NULL;
	hc.resident_pages = 1ull << 40;
	EXPECT(!host_create(&hc, &error));
	EXPECT_EQ(error, -EINVAL);
	hc.resident_pages = 0;
	hc.swap_pages = UINT64_MAX;
	EXPECT(!host_create(&hc, &error));
	EXPECT_EQ(error, -EINVAL);
}

static void expect_swap_keeps(const char *dir)
{
	uint8_t page[PAGE] = { 7 }, other[PAGE] = { 8 }, back[PAGE] = { 0 };
	struct host_swap s = { 0 };
	uint32_t slot[2];

	EXPECT_EQ(swap_create(&s, 2, dir), 0);
	slot[0] = swap_get(&s);
	slot[1] = swap_get(&s);
	EXPECT_EQ(swap_get(&s), NO_SLOT);
	EXPECT_EQ(swap_write(&s, slot[0], page), 0);
	EXPECT_EQ(swap_write(&s, slot[1], other), 0);
	EXPECT_EQ(swap_read(&s, slot[0], back), 0);
	EXPECT_MEM(back, page, PAGE);
	EXPECT_EQ(swap_read(&s, slot[1], back), 0);
	EXPECT_MEM(back, other, PAGE);
	STEP("a write that fails leaves what was there");
	atomic_store(&s.fail_writes, true);
	EXPECT_EQ(swap_write(&s, slot[1], page), -EIO);
	EXPECT_EQ(swap_read(&s, slot[1], back), 0);
	EXPECT_MEM(back, other, PAGE);
	swap_destroy(&s);
}

TEST("swap is kept in memory, or in a file where a folder is named")
{
	const char *tmp = getenv("TMPDIR");

	expect_swap_keeps(NULL);
	expect_swap_keeps(tmp ? tmp : "/tmp");
}

/* ---- DMA memory ---- */

TEST("DMA memory is zeroed, in a row, and where the NIC looks for it")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	uint8_t *a, *b, byte = 7;
	uint64_t pa, pb;

	a = host_dma_alloc(r->k, 3 * PAGE, &pa);
	b = host_dma_alloc(r->k, 1, &pb);
	EXPECT(a && b);
	EXPECT_EQ(pa % DRAM_PAGE, 0);
	EXPECT(pb >= pa + 3 * PAGE || pb + DRAM_PAGE <= pa);
	EXPECT_EQ(dram_write(r->k->dram, pa + 2 * PAGE + 5, &byte, 1), DRAM_OK);
	EXPECT_EQ(a[2 * PAGE + 5], 7);
	rig_check(r);
	host_dma_free(r->k, a, 3 * PAGE, pa);
	a = host_dma_alloc(r->k, 3 * PAGE, &pa);
	EXPECT_EQ(a[2 * PAGE + 5], 0);
	EXPECT(!host_dma_alloc(r->k, 0, &pb));
	host_dma_free(r->k, a, 3 * PAGE, pa);
	rig_check(r);
}

/* ---- device files ---- */

struct fake {
	unsigned int opened, released;
	bool readable;
	uint8_t memory[64];
	struct sim_waitq waitq;
	int open_error;
};

static int fake_open(void *dev, struct host_process *p, struct host_file *f)
{
	struct fake *d = dev;

	(void)p;
	if (d->open_error)
		return d->open_error;
	d->opened++;
	f->private_data = d;
	return 0;
}

static void fake_release(void *dev, struct host_file *f)
{
	struct fake *d = dev;

	if (f->private_data == d)
		d->released++;
}

static long fake_ioctl(void *dev, struct host_file *f, unsigned int cmd,
		       unsigned long arg)
{
	(void)dev;
	(void)f;
	return cmd == 5 ? *(int *)(uintptr_t)arg + 1 : -ENOTTY;
}

static int fake_mmap(void *dev, struct host_file *f, uint64_t len,
		     uint64_t offset, void **mem, uint64_t *mmio_pa)
{
	struct fake *d = dev;

	(void)f;
	(void)len;
	if (offset > PAGE)
		return -EINVAL;
	if (offset)
		*mmio_pa = BUS_NIC_BASE;
	else
		*mem = d->memory;
	return 0;
}

static bool fake_readable(void *dev, struct host_file *f)
{
	(void)f;
	return ((struct fake *)dev)->readable;
}

static struct sim_waitq *fake_waitq(void *dev, struct host_file *f)
{
	(void)f;
	return &((struct fake *)dev)->waitq;
}

static const struct host_device_ops fake_ops = {
	.open = fake_open, .release = fake_release, .ioctl = fake_ioctl,
	.mmap = fake_mmap, .readable = fake_readable, .waitq = fake_waitq,
};

TEST("a device file is opened, asked, mapped and closed")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	struct host_process *p = r->p[0];
	static struct fake d;	/* outlives the test: files left open */
	int fd, x = 41, e;

	sim_waitq_init(&d.waitq);
	EXPECT_EQ(host_open(p, "faultline0"), -ENODEV);
	EXPECT_EQ(host_device_add(r->k, "faultline0", &fake_ops, &d), 0);
	EXPECT_EQ(host_device_add(r->k, "/dev/faultline0", &fake_ops, &d),
		  -EEXIST);
	EXPECT_EQ(host_device_add(r->k, "", &fake_ops, &d), -EINVAL);
	fd = host_open(p, "/dev/faultline0");
	EXPECT_GE(fd, 0);
	EXPECT_EQ(host_ioctl(p, fd, 5, &x), 42);
	EXPECT_EQ(host_ioctl(p, fd, 6, &x), -ENOTTY);
	EXPECT(host_mmap_fd(p, fd, 64, 0, &e) == d.memory);
	EXPECT_EQ(host_munmap_fd(p, d.memory, 32), -EINVAL);
	EXPECT_EQ(host_munmap_fd(p, d.memory, 64), 0);
	EXPECT_EQ(host_munmap_fd(p, d.memory, 64), -EINVAL);
	EXPECT_EQ(host_close(p, fd), 0);
	EXPECT_EQ(d.released, 1);
	STEP("a closed number, a bad number, bad arguments");
	EXPECT_EQ(host_close(p, fd), -EBADF);
	EXPECT_EQ(host_close(p, -1), -EBADF);
	EXPECT_EQ(host_ioctl(p, fd, 5, &x), -EBADF);
	EXPECT_EQ(host_poll(p, 1000, 1), -EBADF);
	EXPECT(!host_mmap_fd(p, fd, 64, 0, &e));
	EXPECT_EQ(e, -EBADF);
	EXPECT(!host_mmap_fd(p, fd, 0, 0, &e));
	EXPECT_EQ(e, -EINVAL);
	d.open_error = -ENOSPC;
	EXPECT_EQ(host_open(p, NULL), -ENOSPC);
}

TEST("a process may have 64 files, and exit closes what is left")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	static struct fake d;	/* outlives the test: files left open */
	int i;

	EXPECT_EQ(host_device_add(r->k, "faultline0", &fake_ops, &d), 0);
	for (i = 0; i < 64; i++)
		EXPECT_EQ(host_open(r->p[0], NULL), i);
	EXPECT_EQ(host_open(r->p[0], NULL), -EMFILE);
	EXPECT_EQ(d.opened, d.released + 64);
	host_process_exit(r->p[0]);
	r->p[0] = NULL;
	EXPECT_EQ(d.opened, d.released);
}

TEST("files of a device that is gone answer ENODEV")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	static struct fake d;	/* outlives the test: files left open */
	int fd, x = 0;

	EXPECT_EQ(host_device_add(r->k, "faultline0", &fake_ops, &d), 0);
	fd = host_open(r->p[0], NULL);
	host_device_remove(r->k, "faultline0");
	EXPECT_EQ(host_ioctl(r->p[0], fd, 5, &x), -ENODEV);
	EXPECT_EQ(host_open(r->p[0], NULL), -ENODEV);
	EXPECT_EQ(host_close(r->p[0], fd), 0);
	host_device_drain(r->k);
	EXPECT_EQ(host_device_add(r->k, "faultline0", &fake_ops, &d), 0);
}

struct poller {
	struct rig *r;
	struct fake *d;
	int fd, timed_out, woken;
	uint64_t ns;
};

static void poll_twice(void *arg)
{
	struct poller *q = arg;
	uint64_t then = sim_now(q->r->sim);

	q->timed_out = host_poll(host_current(), q->fd, 10000);
	q->ns = sim_now(q->r->sim) - then;
	q->woken = host_poll(host_current(), q->fd, 0);
}

static void make_readable(void *arg)
{
	struct poller *q = arg;

	sim_sleep(50000);
	q->d->readable = true;
	sim_wake(&q->d->waitq, 0);
}

TEST("poll sleeps until the file is readable or the time is over")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	static struct fake d;	/* outlives the test: files left open */
	struct poller q = { .r = r, .d = &d };

	sim_waitq_init(&d.waitq);
	EXPECT_EQ(host_device_add(r->k, "faultline0", &fake_ops, &d), 0);
	q.fd = host_open(r->p[0], NULL);
	rig_thread(r, 0, poll_twice, &q);
	rig_thread(r, 0, make_readable, &q);
	rig_run(r);
	EXPECT_EQ(q.timed_out, -ETIMEDOUT);
	EXPECT_EQ(q.ns, 10000 + r->timing.v[T_CPU_SYSCALL]);
	EXPECT_EQ(q.woken, 0);
}

/* ---- the library's table ---- */

struct caller {
	struct rig *r;
	uint8_t *mem;
	uint32_t xfer[2];
	uint64_t relax_ns;
	char empty[128];
	int fd;
};

static void use_table(void *arg)
{
	const struct fl_sys *s = fl_sys_get();
	struct caller *c = arg;
	struct rig *r = c->r;
	size_t bytes = 0;
	int e = 1;

	WANT(r, s->open("emu:elsewhere") == -ENODEV);
	c->fd = s->open("emu:a");
	WANT(r, c->fd >= 0);
	WANT(r, s->open(NULL) == c->fd + 1);
	WANT(r, s->open("a") == c->fd + 2);
	WANT(r, s->ioctl(c->fd, 6, NULL) == -ENOTTY);
	c->mem = s->alloc(c->fd, 2 * PAGE, &e);
	WANT(r, c->mem && !e);
	((volatile uint8_t *)c->mem)[PAGE] = 3;
	WANT(r, !s->advise(c->mem, 2 * PAGE, FL_PAGEOUT));
	WANT(r, ((volatile uint8_t *)c->mem)[PAGE] == 3);
	WANT(r, !s->advise(c->mem, 2 * PAGE, FL_WILLNEED));
	WANT(r, !s->advise(c->mem, 2 * PAGE, FL_DONTNEED));
	WANT(r, ((volatile uint8_t *)c->mem)[PAGE] == 0);
	WANT(r, s->advise(c->mem, 2 * PAGE, 99) == -EINVAL);
	WANT(r, !s->protect(c->mem, PAGE, HOST_READ));
	WANT(r, !s->free(c->mem, 2 * PAGE));
	WANT(r, s->free(c->mem + 1, PAGE) == -EINVAL);
	WANT(r, !s->map_file(c->fd, "/nowhere/at/all", &bytes, &e) && e == -ENOENT);
	WANT(r, !s->map_file(c->fd, "/dev/null", &bytes, &e) && e == -EINVAL);
	WANT(r, !s->map_file(c->fd, c->empty, &bytes, &e) && e == -ENODATA);
	WANT(r, !s->map_file(c->fd, NULL, &bytes, &e) && e == -EINVAL);
	WANT(r, !bytes);	/* untouched by all that failed */
	WANT(r, !s->import(c->fd, c->mem, PAGE, 0));
	WANT(r, s->import(c->fd, c, 1, 0) == -EOPNOTSUPP);
	WANT(r, s->import(c->fd, (void *)4096, 1, 0) == -EFAULT);
	WANT(r, s->prefault(c->fd, c, 1, 0) == -EFAULT);
	c->xfer[0] = s->new_xfer();
	c->xfer[1] = s->new_xfer();
	c->relax_ns = sim_now(r->sim);
	WANT(r, !s->relax(c->fd));
	c->relax_ns = sim_now(r->sim) - c->relax_ns;
	s->spend(c->fd, 0);
	WANT(r, s->trace(c->fd, FL_SYS_EV_DOORBELL, c->xfer[0], 1, 2,
			    0, 0) != 0);
	WANT(r, s->now_ns() == sim_now(r->sim));
	WANT(r, !s->close(c->fd));
}

TEST("an application thread has the emulator's system calls")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	static struct fake d;	/* outlives the test: files left open */
	struct caller c = { .r = r };

	EXPECT_EQ(host_device_add(r->k, "faultline0", &fake_ops, &d), 0);
	rig_file(c.empty, 0);
	rig_thread(r, 0, use_table, &c);
	rig_run(r);
	unlink(c.empty);
	EXPECT_EQ(c.xfer[0], 1u << 24 | 1);
	EXPECT_EQ(c.xfer[1], 1u << 24 | 2);
	EXPECT_GE(c.relax_ns, r->timing.v[T_CPU_POLL]);
	EXPECT_EQ(trace_count(r->trace, EV_LIB_DOORBELL), 1);
	EXPECT(fl_sys_get() == &fl_sys_linux);
}

static void kernel_ring(void *arg)
{
	struct caller *c = arg;
	const struct fl_sys *s = fl_sys_get();
	uint8_t *reg;
	int e;

	c->fd = s->open(NULL);
	reg = s->mmap(c->fd, PAGE, PAGE, &e);
	WANT(c->r, reg && !e);
	/* A register that cannot be written: the board says so. */
	s->mmio_write32(reg, 1);
	WANT(c->r, !s->munmap(reg, PAGE));
}

TEST("a store to a mapped register arrives at the board's bus")
{
	struct rig *r = rig_start(SIM_LOCKSTEP, 1, 8, 8);
	static struct fake d;	/* outlives the test: files left open */
	struct caller c = { .r = r };

	EXPECT_EQ(host_device_add(r->k, "faultline0", &fake_ops, &d), 0);
	rig_thread(r, 0, kernel_ring, &c);
	rig_run(r);
	EXPECT_EQ(trace_count(r->trace, EV_ENG_BAD_REG), 1);
}
