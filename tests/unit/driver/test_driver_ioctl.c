// SPDX-License-Identifier: BSD-2-Clause
/* Every call of uapi.h with arguments that make no sense, and good ones. */
#include "rig/driver.h"

#include <sys/ioctl.h>

#include "calls.h"
#include "faultline/window.h"

static void ioctl_try(void (*body)(struct rig *r))
{
	rig_run(body);
}

/* ---- the rules that all calls share ---- */

static void ioctl_sizes(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint32_t arg[64];
	unsigned int i;

	rig_open(n);
	for (i = 0; i < CALLS; i++) {
		STEP("call 0x%x", calls[i].cmd);
		memset(arg, 0, sizeof(arg));
		EXPECT_EQ(rig_ioctl(n, calls[i].cmd, NULL), -EFAULT);
		EXPECT_EQ(rig_ioctl(n, calls[i].cmd, (void *)16), -EFAULT);
		EXPECT_EQ(rig_ioctl(n, calls[i].cmd, arg), -EINVAL);
		arg[0] = 4;
		EXPECT_EQ(rig_ioctl(n, calls[i].cmd, arg), -EINVAL);
		arg[0] = 4097;
		EXPECT_EQ(rig_ioctl(n, calls[i].cmd, arg), -EINVAL);
		STEP("longer than the driver knows, and not zero there");
		arg[0] = calls[i].size + 4;
		arg[calls[i].size / 4] = 1;
		EXPECT_EQ(rig_ioctl(n, calls[i].cmd, arg), -E2BIG);
	}
}

TEST("a structure that is missing, too short or too long is refused")
{
	ioctl_try(ioctl_sizes);
}

static void ioctl_unknown(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_query q = { .size = sizeof(q) };

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, _IOWR('F', 0, struct fl_query), &q), -ENOTTY);
	EXPECT_EQ(rig_ioctl(n, _IOWR('F', 0x0f, struct fl_query), &q), -ENOTTY);
	EXPECT_EQ(rig_ioctl(n, _IOWR('F', 0xff, struct fl_query), &q), -ENOTTY);
	EXPECT_EQ(rig_ioctl(n, _IOWR('G', 1, struct fl_query), &q), -ENOTTY);
	STEP("known number, wrong direction");
	EXPECT_EQ(rig_ioctl(n, _IOW('F', 1, struct fl_query), &q), -ENOTTY);
	EXPECT_EQ(rig_ioctl(n, 0, &q), -ENOTTY);
}

TEST("a call that does not exist is ENOTTY")
{
	ioctl_try(ioctl_unknown);
}

static void ioctl_versions(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct {
		struct fl_query q;
		uint32_t more[4];
	} big = { .q = { .size = sizeof(big) } };
	uint32_t small[4] = { 8, 0, 77, 77 };

	rig_open(n);
	STEP("a newer program: longer structure, zeros at its end");
	EXPECT_EQ(rig_ioctl(n, _IOC(_IOC_READ | _IOC_WRITE, 'F', 1,
				    sizeof(big)), &big), 0);
	EXPECT_EQ(big.q.abi, FL_ABI_VERSION);
	EXPECT_EQ(big.q.block_bytes, 16384);
	STEP("an older program: gets what it has room for, and no byte more");
	EXPECT_EQ(rig_ioctl(n, _IOC(_IOC_READ | _IOC_WRITE, 'F', 1, 8), small),
		  0);
	EXPECT_EQ(small[1], FL_ABI_VERSION);
	EXPECT_EQ(small[2], 77);
}

TEST("programs with a longer or a shorter structure work")
{
	ioctl_try(ioctl_versions);
}

static void ioctl_lazy(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_query *q;
	int err;

	rig_open(n);
	q = host_mmap(n->process, RIG_PAGE, HOST_READ | HOST_WRITE, NULL, 0,
		      &err);
	q->size = sizeof(*q);
	STEP("the argument itself is paged out");
	EXPECT_EQ(host_madvise(n->process, q, RIG_PAGE, HOST_PAGEOUT), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, q), 0);
	EXPECT_EQ(q->abi, FL_ABI_VERSION);
	EXPECT_EQ(q->node, 0);
}

TEST("an argument in a page that is not there is brought in")
{
	ioctl_try(ioctl_lazy);
}

static void ioctl_astride(struct rig *r)
{
	struct fl_query want = { .size = sizeof(want) };
	struct rig_node *n = &r->n[0];
	unsigned int gone, from, i;
	uint8_t *at, *q;
	int err;

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &want), 0);
	at = host_mmap(n->process, 2 * RIG_PAGE, HOST_READ | HOST_WRITE, NULL, 0, &err);
	for (from = 1; from < sizeof(want); from++)
		for (gone = 0; gone < 4; gone++) {
			q = at + RIG_PAGE - from;
			memset(at, 0x5a, 2 * RIG_PAGE);
			memcpy(q, &(struct fl_query){ .size = sizeof(want) }, sizeof(want));
			for (i = 0; i < 2; i++)
				if (gone >> i & 1)
					EXPECT_EQ(host_madvise(n->process, at + i * RIG_PAGE,
							       RIG_PAGE, HOST_PAGEOUT), 0);
			EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, q), 0);
			EXPECT_MEM(q, &want, sizeof(want));
			EXPECT(q[-1] == 0x5a && q[sizeof(want)] == 0x5a);
		}
}

TEST("an argument astride two pages is whole, whichever of them is there")
{
	ioctl_try(ioctl_astride);
}

/* ---- each call ---- */

static void ioctl_reserved(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_policy p = { .size = sizeof(p), .number = 1 };
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = 4,
				   .reserved = 1 };
	struct fl_create_qp qp = { .size = sizeof(qp), .entries = 4,
				   .flags = ~(__u32)FL_QP_RELAXED };
	struct fl_counters c = { .size = sizeof(c), .reserved = 1 };
	struct fl_prefetch f = { .size = sizeof(f), .length = 1,
				 .reserved = 1 };
	struct fl_reg_mr m = { .size = sizeof(m), .length = 1, .reserved = 1 };

	rig_open(n);
	rig_set_up(n, 0);
	f.key = n->key;
	f.addr = m.addr = (uintptr_t)n->buffer;
	m.pd = qp.pd = n->pd;
	qp.cq = n->cq;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), -EINVAL);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), -EINVAL);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_COUNTERS, &c), -EINVAL);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -EINVAL);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_REG_MR, &m), -EINVAL);
}

TEST("a reserved member that is not zero, a flag that does not exist: refused")
{
	ioctl_try(ioctl_reserved);
}

static void ioctl_policy(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_policy p = { .size = sizeof(p), .system = FL_SYSTEMS };
	struct fl_query q = { .size = sizeof(q), .doorbell = 7 };

	rig_open(n);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	p.system = FL_SYSTEM_STALL;
	p.resolve = FL_IOC_RESOLVE_OWN + 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	STEP("no plan came with this board");
	p.resolve = FL_IOC_RESOLVE_OWN;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), -EINVAL);
	p.resolve = FL_IOC_RESOLVE_TRANSFER;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_POLICY, &p), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	EXPECT_EQ(q.system, FL_SYSTEM_STALL);
	EXPECT_EQ(q.resolve, FL_IOC_RESOLVE_TRANSFER);
	EXPECT_EQ(q.doorbell, FL_DOORBELL_STORE);
	EXPECT(rig_smmu(n, SMMU_CB_BASE(0) + SMMU_CB_SCTLR) &
	       SMMU_CB_SCTLR_CFCFG);
}

TEST("a policy that does not exist is refused; a good one reaches the bank")
{
	ioctl_try(ioctl_policy);
}

static void policy_busy(struct rig *r)
{
	struct fl_policy p = { .size = sizeof(p) };
	int i;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(&r->n[0], 65536, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, 65536);
	STEP("while the blocks wait for pages at the peer");
	sim_sleep(6000);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(rig_ioctl(&r->n[i], FL_IOC_POLICY, &p), -EBUSY);
	EXPECT_EQ(rig_wait(&r->n[0]), FL_ST_OK);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(rig_ioctl(&r->n[i], FL_IOC_POLICY, &p), 0);
}

TEST("the policy cannot change while a transfer is in flight")
{
	ioctl_try(policy_busy);
}

static void ioctl_regions(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	uint8_t *ro;
	int err;

	rig_open(n);
	rig_set_up(n, 0);
	ro = host_mmap(n->process, 2 * RIG_PAGE, HOST_READ, NULL, 0, &err);
	STEP("length 0; wrap round; beyond the address space");
	rig_reg_mr(n, n->buffer, 0, RIG_ALL, 0, -EINVAL);
	rig_reg_mr(n, (void *)-4096l, 8192, RIG_ALL, 0, -EINVAL);
	rig_reg_mr(n, (void *)-4096l, 4096, RIG_ALL, 0, -EINVAL);
	rig_reg_mr(n, (void *)((1ul << 48) - 4096), 8192, RIG_ALL, 0, -EINVAL);
	rig_reg_mr(n, n->buffer, ~0ull, RIG_ALL, 0, -EINVAL);
	STEP("rights and flags that do not exist");
	rig_reg_mr(n, n->buffer, 1, 16, 0, -EINVAL);
	rig_reg_mr(n, n->buffer, 1, RIG_ALL, 2, -EINVAL);
	STEP("a domain that is not there");
	n->pd += 1000;
	rig_reg_mr(n, n->buffer, 1, RIG_ALL, 0, -ENOENT);
	n->pd -= 1000;
	STEP("writing to what is read-only");
	rig_reg_mr(n, ro, RIG_PAGE, FL_ACC_LOCAL_WRITE, 0, -EACCES);
	rig_reg_mr(n, ro, RIG_PAGE, RIG_ALL, FL_MR_PINNED, -EACCES);
	rig_reg_mr(n, ro, RIG_PAGE, FL_ACC_REMOTE_READ, 0, 0);
	STEP("not mapped: only pinning needs it");
	EXPECT_EQ(host_munmap(n->process, ro, 2 * RIG_PAGE), 0);
	rig_reg_mr(n, ro, RIG_PAGE, RIG_ALL, FL_MR_PINNED, -EFAULT);
	rig_reg_mr(n, ro, RIG_PAGE, RIG_ALL, 0, 0);
	STEP("more than a process may pin");
	rig_reg_mr(n, n->buffer, (512ull << 20) + 1, RIG_ALL, FL_MR_PINNED,
		   -EDQUOT);
	EXPECT_EQ(rig_counters(n).pinned_pages, 0);
}

TEST("regions that make no sense are refused, each with its error")
{
	ioctl_try(ioctl_regions);
}

static void ioctl_keys(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	unsigned int i, made = 0;
	struct fl_query q = { .size = sizeof(q) };
	struct fl_reg_mr m = { .size = sizeof(m), .length = 1 };

	rig_open(n);
	rig_set_up(n, 0);
	m.pd = n->pd;
	m.addr = (uintptr_t)n->buffer;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_QUERY, &q), 0);
	for (i = 0; i < q.max_mr; i++)
		made += !rig_ioctl(n, FL_IOC_REG_MR, &m);
	EXPECT_EQ(made, q.max_mr - 1);	/* rig_set_up() made one */
	EXPECT_EQ(rig_ioctl(n, FL_IOC_REG_MR, &m), -ENOSPC);
}

TEST("a process gets so many regions as it was told, and no more")
{
	ioctl_try(ioctl_keys);
}

static void ioctl_pins(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_destroy d = { .size = sizeof(d) };
	struct host_stats st;

	rig_open(n);
	rig_set_up(n, FL_MR_PINNED);
	EXPECT_EQ(rig_counters(n).pinned_pages, RIG_BYTES / RIG_PAGE);
	host_stats(n->kernel, &st);
	EXPECT_EQ(st.frames_pinned, RIG_BYTES / RIG_PAGE);
	d.object = n->key;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &d), 0);
	EXPECT_EQ(rig_counters(n).pinned_pages, 0);
	host_stats(n->kernel, &st);
	EXPECT_EQ(st.frames_pinned, 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &d), -ENOENT);
}

TEST("a pinned region pins each page once and gives all of them back")
{
	ioctl_try(ioctl_pins);
}

static void pin_fails(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct host_stats st;

	rig_open(n);
	rig_set_up(n, 0);
	host_inject_no_frames(n->kernel, 1000000);
	rig_reg_mr(n, n->buffer, RIG_BYTES, RIG_ALL, FL_MR_PINNED, -ENOMEM);
	host_inject_no_frames(n->kernel, 0);
	host_stats(n->kernel, &st);
	EXPECT_EQ(st.frames_pinned, 0);
	EXPECT_EQ(rig_counters(n).pinned_pages, 0);
}

TEST("pinning that runs out of memory leaves nothing pinned")
{
	ioctl_try(pin_fails);
}

static void ioctl_queues(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_create_cq cq = { .size = sizeof(cq) };
	struct fl_create_qp qp = { .size = sizeof(qp) };
	int err;

	rig_open(n);
	rig_set_up(n, 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), -EINVAL);
	cq.entries = 32769;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), -EINVAL);
	cq.entries = 33;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), 0);
	EXPECT_EQ(cq.entries, 64);
	EXPECT_EQ(cq.mmap_bytes, RIG_PAGE);
	qp.entries = 1;
	qp.pd = n->pd + 1000;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), -ENOENT);
	qp.pd = n->pd;
	qp.cq = cq.cq + 1000;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), -ENOENT);
	qp.cq = cq.cq;
	qp.entries = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), -EINVAL);
	qp.entries = 32769;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), -EINVAL);
	qp.entries = 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_QP, &qp), 0);
	EXPECT_EQ(qp.entries, 2);
	STEP("map with a wrong length, at a wrong offset");
	EXPECT(!host_mmap_fd(n->process, n->fd, 2 * RIG_PAGE, qp.mmap_offset,
			     &err));
	EXPECT_EQ(err, -EINVAL);
	EXPECT(!host_mmap_fd(n->process, n->fd, RIG_PAGE, 1ull << 40, &err));
	EXPECT_EQ(err, -ENOENT);
	EXPECT(!host_mmap_fd(n->process, n->fd, 2 * RIG_PAGE, FL_MMAP_DOORBELL,
			     &err));
	EXPECT_EQ(err, -EINVAL);
}

TEST("queues of no size, too large, or of nobody are refused")
{
	ioctl_try(ioctl_queues);
}

static void queue_memory(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = 32768 };
	unsigned int made = 0;

	rig_open(n);
	while (made < 100 && !rig_ioctl(n, FL_IOC_CREATE_CQ, &cq)) {
		cq.entries = 32768;
		made++;
	}
	STEP("8 MB of 1 MB each");
	EXPECT_EQ(made, 8);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CREATE_CQ, &cq), -ENOMEM);
}

TEST("one process cannot take all memory for queues")
{
	ioctl_try(queue_memory);
}

static void ioctl_connects(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_connect_qp c = { .size = sizeof(c) };

	rig_open(n);
	rig_set_up(n, 0);
	c.qp = n->qp + 1000;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CONNECT_QP, &c), -ENOENT);
	c.qp = n->qp;
	c.peer_qp = 1u << 24;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CONNECT_QP, &c), -EINVAL);
	c.peer_qp = 1;
	c.node = 100000;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CONNECT_QP, &c), -EHOSTUNREACH);
	c.node = 1;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CONNECT_QP, &c), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_CONNECT_QP, &c), -EISCONN);
}

TEST("connecting nothing, nowhere or twice is refused")
{
	ioctl_try(ioctl_connects);
}

static void in_use(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_destroy d = { .size = sizeof(d) };

	rig_open(n);
	rig_set_up(n, 0);
	d.object = n->cq;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_CQ, &d), -EBUSY);
	d.object = n->pd;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEALLOC_PD, &d), -EBUSY);
	d.object = n->qp;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_QP, &d), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_QP, &d), -ENOENT);
	d.object = n->cq;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_CQ, &d), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DESTROY_CQ, &d), -ENOENT);
	d.object = n->key;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEREG_MR, &d), 0);
	d.object = n->pd;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEALLOC_PD, &d), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_DEALLOC_PD, &d), -ENOENT);
}

TEST("what is in use stays; what is gone is ENOENT")
{
	ioctl_try(in_use);
}

static void ioctl_foreign(struct rig *r)
{
	struct rig_node *n = &r->n[0], other = *n;
	struct fl_destroy d = { .size = sizeof(d) };
	struct fl_wait_cq w = { .size = sizeof(w), .timeout_ns = 1 };
	struct fl_prefetch f = { .size = sizeof(f), .length = 1 };
	int err;

	rig_open(n);
	rig_set_up(n, 0);
	other.process = host_process_create(n->kernel, "other", &err);
	rig_open(&other);
	STEP("another process names the objects of the first");
	d.object = w.cq = n->cq;
	EXPECT_EQ(rig_ioctl(&other, FL_IOC_DESTROY_CQ, &d), -ENOENT);
	EXPECT_EQ(rig_ioctl(&other, FL_IOC_WAIT_CQ, &w), -ENOENT);
	d.object = n->qp;
	EXPECT_EQ(rig_ioctl(&other, FL_IOC_DESTROY_QP, &d), -ENOENT);
	d.object = n->key;
	EXPECT_EQ(rig_ioctl(&other, FL_IOC_DEREG_MR, &d), -ENOENT);
	d.object = n->pd;
	EXPECT_EQ(rig_ioctl(&other, FL_IOC_DEALLOC_PD, &d), -ENOENT);
	f.key = n->key;
	f.addr = (uintptr_t)n->buffer;
	EXPECT_EQ(rig_ioctl(&other, FL_IOC_PREFETCH, &f), -ENOENT);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), 0);
	host_process_exit(other.process);
}

TEST("the objects of another process do not exist")
{
	ioctl_try(ioctl_foreign);
}

static void ioctl_prefetch(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_prefetch f = { .size = sizeof(f), .length = 8192,
				 .flags = FL_PREFETCH_WRITE };
	uint32_t ro;

	rig_open(n);
	rig_set_up(n, 0);
	ro = rig_reg_mr(n, n->buffer, RIG_PAGE, FL_ACC_REMOTE_READ, 0, 0);
	f.key = n->key;
	f.addr = (uintptr_t)n->buffer + 100;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), 0);
	EXPECT_EQ(rig_counters(n).pages_in, 3);
	EXPECT(mm_resident(host_process_mm(n->process),
			   (uintptr_t)n->buffer + 8192));
	STEP("length 0, outside, wrap, unknown flag");
	f.length = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -EINVAL);
	f.length = RIG_BYTES - 99;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -EINVAL);
	f.length = ~0ull - 4096;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -EINVAL);
	f.length = 1;
	f.flags = 2;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -EINVAL);
	STEP("for writing, where the region does not allow it");
	f.flags = FL_PREFETCH_WRITE;
	f.addr = (uintptr_t)n->buffer;
	f.key = ro;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -EACCES);
	STEP("over several mappings, of which one does not allow it");
	f.key = n->key;
	f.addr = (uintptr_t)n->buffer + 4 * RIG_PAGE;
	f.length = 3 * RIG_PAGE;
	EXPECT_EQ(host_mprotect(n->process, n->buffer + 5 * RIG_PAGE, RIG_PAGE,
				HOST_READ), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -EACCES);
	f.flags = 0;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), 0);
	f.flags = FL_PREFETCH_WRITE;
	f.addr = (uintptr_t)n->buffer;
	f.length = 1;
	STEP("where the mapping does not allow it, or is gone");
	EXPECT_EQ(host_mprotect(n->process, n->buffer, RIG_PAGE, HOST_READ), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -EACCES);
	EXPECT_EQ(host_munmap(n->process, n->buffer, RIG_PAGE), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -EFAULT);
	host_inject_no_frames(n->kernel, 1000000);
	f.addr = (uintptr_t)n->buffer + 10 * RIG_PAGE;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_PREFETCH, &f), -ENOMEM);
	host_inject_no_frames(n->kernel, 0);
}

TEST("prefetch brings in what it names and says why it cannot")
{
	ioctl_try(ioctl_prefetch);
}

static void ioctl_waits(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_wait_cq w = { .size = sizeof(w), .timeout_ns = 50000 };
	uint64_t before;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	w.cq = n->cq;
	before = sim_now(r->sim);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_WAIT_CQ, &w), -ETIMEDOUT);
	EXPECT_GE(sim_now(r->sim), before + 50000);
	EXPECT_LE(sim_now(r->sim), before + 60000);
	EXPECT_EQ(host_poll(n->process, n->fd, 1000), -ETIMEDOUT);
	STEP("arm, post, and poll the file");
	host_mmio_write32(n->process, n->doorbell + NIC_DB_CQ_ARM, n->cq);
	rig_fill(n, 4096, 1);
	rig_post(r, FL_OP_WRITE, 0, 0, 4096);
	EXPECT_EQ(host_poll(n->process, n->fd, 100000000), 0);
	STEP("the event is taken once");
	EXPECT_EQ(rig_ioctl(n, FL_IOC_WAIT_CQ, &w), 0);
	EXPECT_EQ(rig_ioctl(n, FL_IOC_WAIT_CQ, &w), -ETIMEDOUT);
	EXPECT_EQ(rig_wait(n), FL_ST_OK);
}

TEST("waiting ends with an event or with its time")
{
	ioctl_try(ioctl_waits);
}

static void ioctl_overflow(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct fl_wait_cq w = { .size = sizeof(w), .timeout_ns = 100000000 };
	unsigned int i;

	rig_pair(r, FL_SYSTEM_PART, FL_IOC_RESOLVE_BLOCK, 0);
	rig_fill(n, 4096, 1);
	STEP("more completions than the queue holds, and none is taken");
	for (i = 0; i < RIG_QUEUE + 2; i++, sim_sleep(200000))
		rig_post(r, FL_OP_WRITE, 0, 0, 64);
	w.cq = n->cq;
	EXPECT_EQ(rig_ioctl(n, FL_IOC_WAIT_CQ, &w), -EIO);
}

TEST("a completion queue that overflowed is EIO")
{
	ioctl_try(ioctl_overflow);
}
