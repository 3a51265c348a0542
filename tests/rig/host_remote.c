// SPDX-License-Identifier: BSD-2-Clause
#include "rig/host_remote.h"

struct remote_page *remote_page(struct remote *m, uint64_t va)
{
	unsigned int i;

	for (i = 0; i < m->pages; i++)
		if (m->page[i].va == va)
			return &m->page[i];
	return NULL;
}

void remote_see(struct remote *m, uint64_t va, uint64_t frame, int prot)
{
	struct remote_page *v = remote_page(m, va);

	if (!v) {
		assert(m->pages < VIEWS);
		v = &m->page[m->pages++];
	}
	*v = (struct remote_page){ va, frame, prot };
}

static void remote_on_open(void *arg, uint64_t va, uint64_t npages,
			   uint64_t frame, int prot)
{
	struct remote *m = arg;
	uint64_t i;

	pthread_mutex_lock(&m->lock);
	m->opens++;
	m->va = va;
	m->npages = npages;
	m->frame = frame;
	m->prot = prot;
	for (i = 0; i < npages; i++)
		remote_see(m, va + i * PAGE, frame + i, prot);
	pthread_mutex_unlock(&m->lock);
}

static int remote_on_close(void *arg, uint64_t va, uint64_t npages)
{
	struct remote *m = arg;
	struct remote_page *v;
	int err = 0;
	uint64_t i;

	pthread_mutex_lock(&m->lock);
	m->closes++;
	m->va = va;
	m->npages = npages;
	if (m->on_close)
		m->on_close(m, va, npages);
	if (m->refuse) {
		m->refuse--;
		err = -ETIME;
	}
	for (i = 0; !err && i < npages; i++) {
		v = remote_page(m, va + i * PAGE);
		if (v)
			v->prot = 0;
	}
	pthread_mutex_unlock(&m->lock);
	return err;
}

const struct host_cpu_ops remote_ops = {
	.open = remote_on_open,
	.close = remote_on_close,
};

void remote_exit(struct remote *m)
{
	host_process_exit(m->p);
	m->p = m->rig->p[m->number] = NULL;
}

static void remote_free(void *arg)
{
	struct remote *m = arg;

	if (m->p)
		remote_exit(m);
	munmap(m->mem, m->bank.bytes);
	close(m->bank.fd);
	free(m);
}

struct remote *remote_start(struct rig *r, unsigned int i)
{
	struct remote *m = calloc(1, sizeof(*m));
	int error;

	m->rig = r;
	m->number = i;
	pthread_mutex_init(&m->lock, NULL);
	r->p[i] = m->p = host_process_attach(r->k, "far", ARENA, &remote_ops,
					     m, &error);
	EXPECT(m->p != NULL);
	host_process_bank(m->p, &m->bank);
	m->bank.fd = dup(m->bank.fd);
	m->mem = mmap(NULL, m->bank.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		      m->bank.fd, 0);
	EXPECT(m->mem != MAP_FAILED);
	test_cleanup(remote_free, m);
	return m;
}

int remote_access(struct remote *m, uint64_t va, uint64_t *value, bool write)
{
	struct remote_page *v;
	uint64_t page = va & ~(PAGE - 1), *at;
	bool done = false;
	int err = 0;

	while (!done && !err) {
		pthread_mutex_lock(&m->lock);
		v = remote_page(m, page);
		done = v && (v->prot & (write ? HOST_WRITE : HOST_READ));
		if (done) {
			at = (uint64_t *)(void *)(m->mem + v->frame * PAGE +
						  (va - page));
			if (write)
				*at = *value;
			else
				*value = *at;
		}
		pthread_mutex_unlock(&m->lock);
		if (!done)
			err = host_process_fault(m->p, va, write);
	}
	return err;
}

uint64_t remote_get(struct remote *m, uint64_t va)
{
	uint64_t value = ~0ull;

	return remote_access(m, va, &value, false) ? ~0ull : value;
}

uint64_t remote_map(struct remote *m, uint64_t pages)
{
	int error;
	void *at = host_mmap(m->p, pages * PAGE, RW, NULL, 0, &error);

	EXPECT_EQ(error, 0);
	return va_of(at);
}
