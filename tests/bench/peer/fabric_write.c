// SPDX-License-Identifier: BSD-2-Clause
/*
 * fabric_write: writes between two processes by libfabric's shared-memory provider. Its own
 * fi_pingpong has one message under way at a time and knows an average alone.
 *
 *	fabric_write BYTES DEPTH
 *
 * DEPTH 1: a write into the other's memory, which writes back when it sees it; half of there
 * and back. More: so many writes under way, each counted when it is known to be in the
 * other's memory. Prints the ns of one, the median of all windows.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <signal.h>
#include <unistd.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define SPAN		(UINT64_C(2) << 20)	/* half to send from, half to receive in */
#define WINDOWS		101
#define PING		20
#define QUEUE		1024
#define VERSION		FI_VERSION(1, 17)

/* What the two tell each other. */
struct meeting {
	char name[2][256];
	size_t name_bytes[2];
	uint64_t key[2], addr[2];
	atomic_int step[2];
};

struct party {
	struct meeting *meeting;
	int me;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_mr *mr;
	fi_addr_t peer;
	void *desc;
	char *mem;
	uint64_t peer_addr, peer_key;
	long under_way;
};

static void fabric_good(long err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "fabric_write: %s: %s\n", what, fi_strerror((int)-err));
	_exit(1);
}

static uint64_t fabric_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fabric_progress(struct party *p)
{
	struct fi_cq_entry e[16];
	ssize_t n = fi_cq_read(p->cq, e, 16);

	if (n > 0)
		p->under_way -= n;
	else if (n && n != -FI_EAGAIN)
		fabric_good(n, "a completion");
}

static void fabric_step(struct party *p, int step)
{
	atomic_store(&p->meeting->step[p->me], step);
	while (atomic_load(&p->meeting->step[!p->me]) < step)
		if (p->cq)
			fabric_progress(p);
}

static void fabric_write(struct party *p, uint64_t from, uint64_t to, size_t bytes)
{
	struct iovec v = { p->mem + from, bytes };
	struct fi_rma_iov r = { p->peer_addr + to, bytes, p->peer_key };
	struct fi_msg_rma m = {
		.msg_iov = &v, .desc = &p->desc, .iov_count = 1, .addr = p->peer,
		.rma_iov = &r, .rma_iov_count = 1,
	};
	ssize_t err;

	while ((err = fi_writemsg(p->ep, &m, FI_COMPLETION |
					     FI_DELIVERY_COMPLETE)) == -FI_EAGAIN)
		fabric_progress(p);
	fabric_good(err, "fi_writemsg");
	p->under_way++;
}

static void fabric_info(struct party *p)
{
	struct fi_info *want = fi_allocinfo();
	char name[40];

	if (!want)
		fabric_good(-FI_ENOMEM, "fi_allocinfo");
	snprintf(name, sizeof(name), "faultline-%d-%d", (int)getppid(), p->me);
	want->ep_attr->type = FI_EP_RDM;
	want->caps = FI_RMA | FI_MSG;
	want->mode = FI_CONTEXT;
	want->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				     FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	want->domain_attr->threading = FI_THREAD_DOMAIN;
	want->fabric_attr->prov_name = strdup("shm");
	fabric_good(fi_getinfo(VERSION, name, NULL, FI_SOURCE, want, &p->info),
		    "fi_getinfo");
	fi_freeinfo(want);
}

static void fabric_open(struct party *p)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT,
				 .wait_obj = FI_WAIT_NONE, .size = QUEUE };
	struct fi_av_attr av = { .type = FI_AV_TABLE, .count = 2 };

	fabric_info(p);
	fabric_good(fi_fabric(p->info->fabric_attr, &p->fabric, NULL), "fi_fabric");
	fabric_good(fi_domain(p->fabric, p->info, &p->domain, NULL), "fi_domain");
	fabric_good(fi_cq_open(p->domain, &cq, &p->cq, NULL), "fi_cq_open");
	fabric_good(fi_av_open(p->domain, &av, &p->av, NULL), "fi_av_open");
	fabric_good(fi_endpoint(p->domain, p->info, &p->ep, NULL), "fi_endpoint");
	fabric_good(fi_ep_bind(p->ep, &p->av->fid, 0), "fi_ep_bind");
	fabric_good(fi_ep_bind(p->ep, &p->cq->fid, FI_SEND | FI_RECV | FI_TRANSMIT),
		    "fi_ep_bind");
	fabric_good(fi_enable(p->ep), "fi_enable");
	p->mem = mmap(NULL, SPAN, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->mem == MAP_FAILED)
		fabric_good(-FI_ENOMEM, "mmap");
	memset(p->mem, 0, SPAN);
	fabric_good(fi_mr_reg(p->domain, p->mem, SPAN, FI_REMOTE_WRITE |
			      FI_REMOTE_READ | FI_WRITE | FI_READ, 0,
			      (uint64_t)p->me + 1, 0, &p->mr, NULL), "fi_mr_reg");
	p->desc = fi_mr_desc(p->mr);
}

static void fabric_meet(struct party *p)
{
	struct meeting *m = p->meeting;

	m->name_bytes[p->me] = sizeof(m->name[0]);
	fabric_good(fi_getname(&p->ep->fid, m->name[p->me], &m->name_bytes[p->me]),
		    "fi_getname");
	m->key[p->me] = fi_mr_key(p->mr);
	m->addr[p->me] = p->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
			 (uint64_t)(uintptr_t)p->mem : 0;
	atomic_store(&m->step[p->me], 1);
	while (atomic_load(&m->step[!p->me]) < 1)
		;
	if (fi_av_insert(p->av, m->name[!p->me], 1, &p->peer, 0, NULL) != 1)
		fabric_good(-FI_EINVAL, "fi_av_insert");
	p->peer_addr = m->addr[!p->me];
	p->peer_key = m->key[!p->me];
	fabric_step(p, 2);
}

/* ---- windows ---- */

/* ns of one way; the last byte says that all has come. */
static double ping_window(struct party *p, size_t bytes)
{
	static char token;
	volatile char *seen = p->mem + SPAN / 2 + bytes - 1;
	uint64_t t = fabric_now_ns();
	int i;

	for (i = 0; i < PING; i++) {
		token++;
		while (p->me && *seen != token)
			fabric_progress(p);
		p->mem[bytes - 1] = token;
		fabric_write(p, 0, SPAN / 2, bytes);
		while (!p->me && *seen != token)
			fabric_progress(p);
		while (p->under_way)
			fabric_progress(p);
	}
	return (double)(fabric_now_ns() - t) / 2 / PING;
}

static double deep_window(struct party *p, size_t bytes, long depth)
{
	unsigned int n = bytes > 65536 ? 32 : 256, i;
	uint64_t t = fabric_now_ns(), at = 0;

	for (i = 0; i < n; i++) {
		while (p->under_way >= depth)
			fabric_progress(p);
		fabric_write(p, at, SPAN / 2 + at, bytes);
		at += bytes;
		if (at + bytes > SPAN / 2)
			at = 0;
	}
	while (p->under_way)
		fabric_progress(p);
	return (double)(fabric_now_ns() - t) / n;
}

static int ns_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void fabric_party(struct meeting *m, int me, size_t bytes, long depth)
{
	struct party p = { .meeting = m, .me = me };
	double ns[WINDOWS];
	int i;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	fabric_open(&p);
	fabric_meet(&p);
	/* The first is for caches and first touches. */
	for (i = -1; i < WINDOWS && (depth == 1 || !me); i++) {
		double one = depth == 1 ? ping_window(&p, bytes) :
					  deep_window(&p, bytes, depth);

		if (i >= 0)
			ns[i] = one;
	}
	fabric_step(&p, 3);
	if (!me) {
		qsort(ns, WINDOWS, sizeof(*ns), ns_compare);
		printf("%.1f\n", ns[WINDOWS / 2]);
		fflush(stdout);
	}
	fi_close(&p.ep->fid);	/* it removes its shared memory */
	_exit(0);
}

int main(int argc, char **argv)
{
	size_t bytes = argc == 3 ? strtoul(argv[1], NULL, 0) : 0;
	long depth = argc == 3 ? strtol(argv[2], NULL, 0) : 0;
	struct meeting *m;
	int status, bad = 0, i;
	pid_t pid[2];

	if (!bytes || bytes > SPAN / 2 || depth < 1 || depth > QUEUE / 2) {
		fprintf(stderr, "usage: fabric_write BYTES DEPTH\n");
		return 2;
	}
	m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (m == MAP_FAILED)
		return 1;
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i])
			fabric_party(m, i, bytes, depth);
	}
	/* One that has failed leaves the other waiting. */
	for (i = 0; i < 2 && !bad; i++) {
		bad = wait(&status) < 0 || status;
		if (bad && pid[0] > 0)
			kill(pid[0], SIGTERM);
		if (bad && pid[1] > 0)
			kill(pid[1], SIGTERM);
	}
	return bad;
}
