// SPDX-License-Identifier: BSD-2-Clause
#include "rig/lib_fake.h"

#define FAKE_FD		7
#define FAKE_ASK_NS	1u	/* cq.c: the time limit of a wait that only asks */

struct fake fake;

#define fake_snoops() (fake.policy.system == FL_SYSTEM_IOGUARD)

void fake_write_cqe(struct fake_cq *q, struct fl_cqe e)
{
	struct fl_cqe *to = &q->queue[q->prod & (q->entries - 1)];

	e.phase = 0;
	memcpy(to, &e, offsetof(struct fl_cqe, phase));
	__atomic_store_n(&to->phase, (uint32_t)(1 + q->prod / q->entries),
			 __ATOMIC_RELEASE);
	q->prod++;
	if (q->armed) {
		q->armed = false;
		q->event = true;
	}
}

void fake_complete(uint32_t qpn, uint16_t index, uint8_t status)
{
	struct fake_qp *p = &fake.qp[qpn - fake.extra_qpn];
	struct fake_cq *q = &fake.cq[p->cq];
	struct fl_wqe *w = &p->queue[index & (p->entries - 1)];

	if ((uint16_t)((uint16_t)q->prod - (uint16_t)q->cons) ==
	    (uint16_t)q->entries) {
		q->broken = true;
		return;
	}
	fake_write_cqe(q, (struct fl_cqe){
		.wr_id = w->wr_id, .length = status ? 0 : w->length,
		.qpn = qpn, .status = status, .opcode = w->opcode,
		.index = index, .xfer = w->xfer, .resends = 3,
	});
}

static int fake_open(const char *name)
{
	if (fake.open_error)
		return fake.open_error;
	strncpy(fake.opened, name ? name : "(null)", sizeof(fake.opened) - 1);
	fake.fds++;
	return FAKE_FD;
}

static int fake_close(int fd)
{
	EXPECT_EQ(fd, FAKE_FD);
	fake.fds--;
	return 0;
}

static int fake_make_queue(uint32_t *entries, size_t entry_bytes, uint32_t slot,
			   __u64 *offset, __u64 *bytes, void **queue)
{
	uint32_t n = 2;

	while (n < *entries)
		n *= 2;
	*queue = aligned_alloc(4096, (n * entry_bytes + 4095) & ~4095ul);
	memset(*queue, 0, n * entry_bytes);
	*entries = fake.force_entries ? fake.force_entries : n;
	*bytes = fake.force_map_bytes ? fake.force_map_bytes :
					n * entry_bytes;
	*offset = 4096ull * (slot + 1);
	return 0;
}

static int fake_create_cq(struct fl_create_cq *c)
{
	uint32_t i = 0;
	struct fake_cq *q;
	void *mem;

	while (i < FAKE_OBJECTS && fake.cq[i].used)
		i++;
	if (i == FAKE_OBJECTS)
		return -ENOSPC;
	q = &fake.cq[i];
	free(q->queue);		/* of an earlier one */
	memset(q, 0, sizeof(*q));
	q->used = true;
	fake_make_queue(&c->entries, sizeof(struct fl_cqe), i, &c->mmap_offset,
			&c->mmap_bytes, &mem);
	q->queue = mem;
	q->entries = c->entries;
	c->cq = i;
	return 0;
}

static int fake_create_qp(struct fl_create_qp *c)
{
	uint32_t i = 0;
	struct fake_qp *q;
	void *mem;

	if (c->cq >= FAKE_OBJECTS || !fake.cq[c->cq].used)
		return -ENOENT;
	while (i < FAKE_OBJECTS && fake.qp[i].used)
		i++;
	if (i == FAKE_OBJECTS)
		return -ENOSPC;
	q = &fake.qp[i];
	free(q->queue);
	memset(q, 0, sizeof(*q));
	q->used = true;
	q->cq = c->cq;
	fake.cq[c->cq].users++;
	fake_make_queue(&c->entries, sizeof(struct fl_wqe), FAKE_OBJECTS + i,
			&c->mmap_offset, &c->mmap_bytes, &mem);
	q->queue = mem;
	q->entries = c->entries;
	c->qp = i + fake.extra_qpn;
	return 0;
}

static void fake_note(char what)
{
	if (fake.destroyed < FAKE_ORDER - 1)
		fake.order[fake.destroyed++] = what;
}

static int fake_destroy_cq(uint32_t n)
{
	struct fake_cq *q;

	if (n >= FAKE_OBJECTS || !fake.cq[n].used)
		return -ENOENT;
	q = &fake.cq[n];
	if (q->users)
		return -EBUSY;
	q->used = false;
	fake_note('C');
	return 0;
}

static int fake_destroy_qp(uint32_t n)
{
	struct fake_qp *q;

	n -= fake.extra_qpn;
	if (n >= FAKE_OBJECTS || !fake.qp[n].used)
		return -ENOENT;
	q = &fake.qp[n];
	q->used = false;
	fake.cq[q->cq].users--;
	fake_note('Q');
	return 0;
}

static int fake_wait(struct fl_wait_cq *w)
{
	struct fake_cq *q = &fake.cq[w->cq];

	fake.waits++;
	fake.last_wait_ns = w->timeout_ns;
	if (q->broken)
		return -EIO;
	/* A sleep, and no question: what comes must be able to end it. */
	EXPECT(w->timeout_ns == FAKE_ASK_NS || q->armed || q->event || fake_snoops());
	if (fake.on_wait)
		fake.on_wait();
	if (q->broken)
		return -EIO;
	if (!q->event)
		return fake.wait_result;
	q->event = false;
	return 0;
}

static int fake_counters(struct fl_counters *c)
{
	__u64 *v = &c->faults;
	unsigned int i;

	for (i = 0; i < 10; i++)
		v[i] = 100 + i;
	return 0;
}

static int fake_query(struct fl_query *q)
{
	q->abi = fake.abi;
	q->node = 5;
	q->slot = 3;
	q->block_bytes = 16384;
	q->max_qp = FAKE_OBJECTS;
	q->max_cq = FAKE_OBJECTS;
	q->max_mr = 99;
	q->max_queue = fake.max_queue;
	q->system = fake.policy.system;
	q->derived = fake.policy.derived;
	q->row = q->derived ? fake.policy.row : fl_system_rows[q->system];
	q->resolve = fake.policy.resolve;
	q->ring_slots = fake.policy.ring_slots;
	q->ring_bits = fake.policy.ring_bits;
	q->doorbell = fake_snoops() ? FL_DOORBELL_SNOOP : FL_DOORBELL_STORE;
	return 0;
}

int fake_ioctl(int fd, unsigned int cmd, void *arg)
{
	struct fl_destroy *d = arg;

	EXPECT_EQ(fd, FAKE_FD);
	/* uapi.h: every structure begins with its own size. */
	EXPECT_EQ(*(uint32_t *)arg, _IOC_SIZE(cmd));
	fake.ioctls++;
	if (cmd == fake.fail_cmd)
		return fake.fail_error;
	switch (cmd) {
	case FL_IOC_QUERY:
		return fake_query(arg);
	case FL_IOC_POLICY:
		fake.policy = *(struct fl_policy *)arg;
		return 0;
	case FL_IOC_ALLOC_PD:
		((struct fl_alloc_pd *)arg)->pd = 40 + (uint32_t)fake.live_pd++;
		return 0;
	case FL_IOC_DEALLOC_PD:
		fake.live_pd--;
		fake_note('P');
		return 0;
	case FL_IOC_REG_MR:
		fake.reg_mr = *(struct fl_reg_mr *)arg;
		((struct fl_reg_mr *)arg)->key = 0x100 + (uint32_t)fake.live_mr++;
		return 0;
	case FL_IOC_DEREG_MR:
		fake.live_mr--;
		fake_note('M');
		return 0;
	case FL_IOC_CREATE_CQ:
		return fake_create_cq(arg);
	case FL_IOC_DESTROY_CQ:
		return fake_destroy_cq(d->object);
	case FL_IOC_CREATE_QP:
		return fake_create_qp(arg);
	case FL_IOC_DESTROY_QP:
		return fake_destroy_qp(d->object);
	case FL_IOC_CONNECT_QP:
		fake.connect = *(struct fl_connect_qp *)arg;
		return 0;
	case FL_IOC_RESUME_QP:
		fake.resumed = ((struct fl_resume_qp *)arg)->qp + 1;
		return 0;
	case FL_IOC_PREFETCH:
		fake.prefetch = *(struct fl_prefetch *)arg;
		return 0;
	case FL_IOC_ADVISE:
		fake.advise = *(struct fl_advise *)arg;
		return 0;
	case FL_IOC_DMA_COPY:
		fake.dma = *(struct fl_dma_copy *)arg;
		*(struct fl_dma_copy *)arg = fake.dma_answer;
		return 0;
	case FL_IOC_WAIT_CQ:
		return fake_wait(arg);
	case FL_IOC_SNOOP:
		fake.wakes++;
		return 0;
	case FL_IOC_COUNTERS:
		return fake_counters(arg);
	}
	return -EINVAL;
}

static void *fake_mmap(int fd, size_t bytes, uint64_t offset, int *error)
{
	uint64_t slot = offset / 4096 - 1;

	EXPECT_EQ(fd, FAKE_FD);
	EXPECT(bytes);
	if (fake.mmap_error && fake.mmap_fail_after-- <= 0) {
		*error = fake.mmap_error;
		return NULL;
	}
	fake.maps++;
	if (offset == FL_MMAP_DOORBELL)
		return fake_snoops() ? (void *)&fake.page : fake.doorbell;
	return slot < FAKE_OBJECTS ? (void *)fake.cq[slot].queue :
				     fake.qp[slot - FAKE_OBJECTS].queue;
}

static int fake_munmap(void *addr, size_t bytes)
{
	EXPECT(addr);
	EXPECT(bytes);
	fake.maps--;
	return 0;
}

static void fake_sq(uint32_t v)
{
	uint32_t n = (v & 0xffff) - fake.extra_qpn;
	struct fake_qp *q = &fake.qp[n];
	struct fl_wqe *w;

	EXPECT(n < FAKE_OBJECTS && q->used);
	fake.doorbells_sq++;
	q->tail = (uint16_t)(v >> 16);
	for (; fake.automatic && q->head != q->tail; q->head++) {
		w = &q->queue[q->head & (q->entries - 1)];
		EXPECT_EQ(w->index, q->head);
		if (w->flags & FL_WQE_SIGNALED)
			fake_complete(v & 0xffff, q->head, 0);
	}
}

static int fake_mmio(volatile void *addr, uint32_t v)
{
	size_t off = (size_t)((volatile char *)addr -
			      (volatile char *)fake.doorbell);
	struct fake_cq *q;

	if (fake.gone)
		return fake.gone;
	if (off == NIC_DB_SQ) {
		fake_sq(v);
		return 0;
	}
	EXPECT((v & 0xffff) < FAKE_OBJECTS);
	q = &fake.cq[v & 0xffff];
	switch (off) {
	case NIC_DB_CQ_CONS:
		fake.doorbells_cons++;
		while (fake.flood && (uint16_t)q->cons != v >> 16) {
			q->cons++;
			fake_write_cqe(q, (struct fl_cqe){ .qpn = 99 });
		}
		q->cons = v >> 16;
		return 0;
	case NIC_DB_CQ_ARM:
		fake.arms++;
		q->cons = v >> 16;
		q->armed = (uint16_t)q->prod == (uint16_t)q->cons;
		q->event |= !q->armed;
		return 0;
	}
	EXPECT(!"a doorbell that regs.def does not have");
	return 0;
}

static void *fake_alloc(int fd, size_t bytes, int *error)
{
	void *mem = fake.memory_error ? NULL : calloc(1, bytes);

	EXPECT_EQ(fd, FAKE_FD);
	if (mem)
		fake.memories++;
	else
		*error = fake.memory_error ? fake.memory_error : -ENOMEM;
	return mem;
}

static void *fake_map_file(int fd, const char *path, size_t *bytes, int *error)
{
	(void)path;
	*bytes = 6;
	return fake_alloc(fd, 6, error);
}

static int fake_free(void *addr, size_t bytes)
{
	(void)bytes;
	if (fake.memory_error)
		return fake.memory_error;
	fake.memories--;
	free(addr);
	return 0;
}

int fake_last_advice, fake_last_prot;

static int fake_advise(void *addr, size_t bytes, int advice)
{
	(void)addr;
	(void)bytes;
	fake_last_advice = advice;
	return fake.memory_error;
}

static int fake_protect(void *addr, size_t bytes, int prot)
{
	(void)addr;
	(void)bytes;
	fake_last_prot = prot;
	return fake.memory_error;
}

static int fake_relax(int fd)
{
	EXPECT_EQ(fd, FAKE_FD);
	fake.relaxes++;
	return fake.gone;
}

static void fake_spend(int fd, int what)
{
	EXPECT_EQ(fd, FAKE_FD);
	EXPECT(what == FL_SYS_POST || what == FL_SYS_POLL);
	fake.spent[what]++;
}

static uint64_t fake_trace(int fd, unsigned int event, uint32_t xfer,
			   uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	EXPECT_EQ(fd, FAKE_FD);
	EXPECT(event < 7);
	fake.traced[event]++;
	fake.last_trace[event][0] = xfer;
	fake.last_trace[event][1] = a0;
	fake.last_trace[event][2] = a1;
	fake.last_trace[event][3] = a2;
	fake.last_trace[event][4] = a3;
	return 1;
}

static int fake_import(int fd, void *addr, size_t bytes, unsigned int access)
{
	EXPECT_EQ(fd, FAKE_FD);
	if (fake.import_error)
		return fake.import_error;
	EXPECT(fake.imported < FAKE_IMPORTS);
	fake.import[fake.imported].addr = (uintptr_t)addr;
	fake.import[fake.imported++].bytes = bytes;
	fake.last_import[0] = (uintptr_t)addr;
	fake.last_import[1] = bytes;
	fake.last_import[2] = access;
	return 0;
}

static void fake_release(int fd, void *addr, size_t bytes)
{
	int i = 0;

	EXPECT_EQ(fd, FAKE_FD);
	while (i < fake.imported && fake.import[i].addr != (uintptr_t)addr)
		i++;
	EXPECT(i < fake.imported);
	EXPECT_EQ(bytes, fake.import[i].bytes);
	fake.import[i] = fake.import[--fake.imported];
}

static int fake_prefault(int fd, void *addr, size_t bytes, int for_write)
{
	EXPECT_EQ(fd, FAKE_FD);
	fake.last_prefault[0] = (uintptr_t)addr;
	fake.last_prefault[1] = bytes;
	fake.last_prefault[2] = (uint64_t)for_write;
	return fake.memory_error;
}

static uint32_t fake_xfer(void)
{
	return ++fake.xfer;
}

static uint64_t fake_now(void)
{
	return fake.now_ns;
}

const struct fl_sys fake_sys = {
	.open = fake_open, .close = fake_close, .ioctl = fake_ioctl,
	.mmap = fake_mmap, .munmap = fake_munmap, .mmio_write32 = fake_mmio,
	.alloc = fake_alloc, .map_file = fake_map_file, .free = fake_free,
	.advise = fake_advise, .protect = fake_protect, .relax = fake_relax,
	.spend = fake_spend, .trace = fake_trace, .new_xfer = fake_xfer,
	.now_ns = fake_now, .import = fake_import, .release = fake_release,
	.prefault = fake_prefault,
};

const struct fl_sys *fake_bare(void)
{
	static struct fl_sys bare;

	bare = fake_sys;
	bare.relax = NULL;
	bare.spend = NULL;
	bare.trace = NULL;
	bare.new_xfer = NULL;
	bare.now_ns = NULL;
	bare.import = NULL;
	bare.release = NULL;
	bare.prefault = NULL;
	return &bare;
}

void fake_free_queues(void *arg)
{
	unsigned int i;

	(void)arg;
	for (i = 0; i < FAKE_OBJECTS; i++) {
		free(fake.cq[i].queue);
		free(fake.qp[i].queue);
		fake.cq[i].queue = NULL;
		fake.qp[i].queue = NULL;
	}
	fl_sys_set(NULL);
}

void fake_start(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.abi = FL_ABI_VERSION;
	fake.max_queue = 1024;
	fake.wait_result = -ETIMEDOUT;
	fl_sys_set(&fake_sys);
	test_cleanup(fake_free_queues, NULL);
}

struct fl_device *fake_device(void)
{
	struct fl_device *dev;

	fake_start();
	EXPECT_EQ(fl_open("fake", &dev), 0);
	return dev;
}
