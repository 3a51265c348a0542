// SPDX-License-Identifier: BSD-2-Clause
#include "rig/attach_board.h"

static void fb_note(struct fb *b)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };

	/* Not waiting for room: who has so many wakeups unheard is awake. */
	if (atomic_load(&b->s->service_asleep))
		send(b->conn, &n, sizeof(n), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void fb_view(struct fb *b, struct attach_view v)
{
	while (b->head - atomic_load(&b->s->view_done) >= ATTACH_VIEWS &&
	       atomic_load(&b->end) < 2)
		os_yield();
	b->s->view[b->head % ATTACH_VIEWS] = v;
	atomic_store(&b->s->view_head, ++b->head);
	fb_note(b);
}

/* Has the process done all? False: it is gone. */
static bool fb_settled(struct fb *b)
{
	struct pollfd p = { .fd = b->conn };
	uint32_t done;

	atomic_store(&b->s->view_awaited, 1);
	while ((done = atomic_load(&b->s->view_done)) != b->head) {
		poll(&p, 1, 0);
		if (p.revents & (POLLHUP | POLLERR))
			return false;
		fb_note(b);
		os_word_wait(&b->s->view_done, done, 1000000);
	}
	atomic_store(&b->s->view_awaited, 0);
	return true;
}

struct fb_page *fb_find(struct fb *b, uint64_t va)
{
	unsigned int i;

	for (i = 0; i < b->pages; i++)
		if (b->page[i].va == va - va % FB_PAGE)
			return &b->page[i];
	return NULL;
}

static struct fb_page *fb_add(struct fb *b, uint64_t va)
{
	struct fb_page *p = b->page;

	if (b->pages == FB_PAGES)	/* one that was forgotten */
		while (p->va && ++p < b->page + FB_PAGES)
			;
	else
		p += b->pages++;
	if (p == b->page + FB_PAGES)
		return NULL;
	memset(p, 0, sizeof(*p));
	p->va = va;
	p->frame = FB_NONE;
	p->prot = 3;
	return p;
}

void fb_evict(struct fb *b, struct fb_page *p)
{
	uint8_t *mem = b->bank + (uint64_t)p->frame * FB_PAGE;

	fb_view(b, (struct attach_view){ .kind = ATTACH_CLOSE_PAGES,
					 .va = p->va, .npages = 1 });
	if (!fb_settled(b))
		return;
	if (!p->swap)
		p->swap = malloc(FB_PAGE);
	memcpy(p->swap, mem, FB_PAGE);
	/* Whoever still has it open will be found out. */
	memset(mem, 0xee, FB_PAGE);
	b->owner[p->frame] = 0;
	p->frame = FB_NONE;
	atomic_fetch_add(&b->evictions, 1);
}

static uint32_t fb_frame(struct fb *b, struct fb_page *p)
{
	uint32_t n = atomic_load(&b->budget), i, f;

	for (i = 0; i < 2 * n; i++) {
		f = b->hand++ % n;
		if (b->owner[f] && i >= n &&
		    fb_evictable(&b->page[b->owner[f] - 1]))
			fb_evict(b, &b->page[b->owner[f] - 1]);
		if (!b->owner[f]) {
			b->owner[f] = (uint32_t)(p - b->page) + 1;
			return f;
		}
	}
	return FB_NONE;
}

/* Zeros that nobody has touched. */
static bool fb_untouched(const struct fb_page *p)
{
	return p->frame == FB_NONE && !p->swap;
}

static bool fb_bring(struct fb *b, struct fb_page *p)
{
	uint8_t *mem;

	if (p->frame == FB_NONE) {
		p->frame = fb_frame(b, p);
		if (p->frame == FB_NONE)
			return false;
		mem = b->bank + (uint64_t)p->frame * FB_PAGE;
		if (p->swap)
			memcpy(mem, p->swap, FB_PAGE);
		else
			memset(mem, 0, FB_PAGE);
	}
	fb_view(b, (struct attach_view){ .kind = ATTACH_OPEN_PAGES,
					 .prot = p->prot,
					 .va = b->lie ? b->lie : p->va,
					 .npages = 1, .frame = p->frame });
	return true;
}

static void fb_forget(struct fb *b, struct fb_page *p)
{
	if (p->frame != FB_NONE)
		b->owner[p->frame] = 0;
	free(p->swap);
	memset(p, 0, sizeof(*p));
	p->frame = FB_NONE;
}

static int fb_alloc(struct fb *b, uint64_t bytes, uint64_t *va)
{
	uint64_t n = (bytes + FB_PAGE - 1) / FB_PAGE;

	if (!n || b->pages + n > FB_PAGES)
		return -ENOMEM;
	*va = b->hello.arena + b->brk;
	for (; n--; b->brk += FB_PAGE)
		fb_add(b, b->hello.arena + b->brk);
	return 0;
}

static int fb_map_file(struct fb *b, struct attach_call *c)
{
	uint64_t bytes = c->arg[0], at, va = 0;
	struct fb_page *p;
	unsigned int i;

	for (i = 0; i < b->nfiles; i++)
		if (b->file_ids[i] == c->arg[1])
			break;
	if (i == b->nfiles)
		return -EBADF;
	if (fb_alloc(b, bytes, &va))
		return -ENOMEM;
	for (at = 0; at < bytes; at += FB_PAGE) {
		p = fb_find(b, va + at);
		p->swap = calloc(1, FB_PAGE);
		if (pread(b->files[i], p->swap, FB_PAGE, (off_t)at) < 0)
			return -EIO;
	}
	c->ret[0] = va;
	return 0;
}

static int fb_import(struct fb *b, struct attach_call *c)
{
	uint32_t *frame = (uint32_t *)c->payload, i;
	uint32_t limit = atomic_load(&b->no_import);
	struct fb_page *p;

	if (limit && atomic_load(&b->imported) >= limit)
		return -ENOMEM;
	for (i = 0; i < c->arg[1]; i++) {
		if (fb_find(b, c->arg[0] + i * FB_PAGE))
			return -EEXIST;
		p = fb_add(b, c->arg[0] + i * FB_PAGE);
		if (!p)
			return -ENOMEM;
		p->outside = true;
		p->pinned = true;
		p->prot = (uint8_t)c->arg[2];
		frame[i] = ATTACH_NO_FRAME;
		if (c->arg[3] >> i & 1)
			continue;
		p->frame = frame[i] = fb_frame(b, p);
		if (p->frame == FB_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int fb_import_steps(struct fb *b, struct attach_call *c)
{
	uint32_t *frame = (uint32_t *)c->payload, i;
	struct fb_page *p;

	for (i = 0; i < c->arg[1]; i++) {
		p = fb_find(b, c->arg[0] + i * FB_PAGE);
		if (!p)
			return -EFAULT;
		if (c->op == ATTACH_IMPORTED && c->arg[3]) {
			fb_forget(b, p);
		} else if (c->op == ATTACH_IMPORTED) {
			p->pinned = false;
			p->kept = c->arg[2] & 1;
			atomic_fetch_add(&b->imported, 1);
			atomic_fetch_add(&b->untouched, fb_untouched(p));
		} else if (c->op == ATTACH_RETURN) {
			frame[i] = ATTACH_NO_FRAME;
			if (!fb_untouched(p) && !fb_bring(b, p))
				return -ENOMEM;
			p->pinned = true;
			if (!fb_untouched(p))
				frame[i] = p->frame;
		} else {
			fb_forget(b, p);
			atomic_fetch_add(&b->released, 1);
		}
	}
	return 0;
}

void fb_card_writes(struct fb *b, void *at, uint8_t byte)
{
	struct fb_page *p;

	pthread_mutex_lock(&b->lock);
	p = fb_find(b, (uintptr_t)at);
	if (p->frame == FB_NONE) {
		p->frame = fb_frame(b, p);
		memset(b->bank + (uint64_t)p->frame * FB_PAGE, 0, FB_PAGE);
	}
	b->bank[(uint64_t)p->frame * FB_PAGE + (uintptr_t)at % FB_PAGE] = byte;
	pthread_mutex_unlock(&b->lock);
}

static int fb_look(struct fb *b, struct attach_call *c)
{
	struct fb_page *p;
	uint32_t i;

	memset(c->payload, 0, sizeof(c->payload));
	for (i = 0; i < c->arg[1] && i < ATTACH_LOOK_PAGES; i++) {
		p = fb_find(b, c->arg[0] + i * FB_PAGE);
		if (p && p->outside && fb_untouched(p))
			c->payload[i / 8] |= (uint8_t)(1u << i % 8);
	}
	return 0;
}

static int fb_ioctl(struct fb *b, struct attach_call *c)
{
	void *arg = c->payload;
	struct fl_query *q = arg;
	struct fl_create_cq *cq = arg;
	struct fl_create_qp *qp = arg;

	switch (c->arg[1]) {
	case FL_IOC_QUERY:
		q->abi = FL_ABI_VERSION;
		q->node = 9;
		q->max_queue = 64;
		return 0;
	case FL_IOC_REG_MR:
		b->reg = *(struct fl_reg_mr *)arg;
		((struct fl_reg_mr *)arg)->key = 77;
		return 0;
	case FL_IOC_CREATE_CQ:
		cq->entries = 64;
		cq->cq = 1;
		cq->mmap_offset = 0x10000;
		cq->mmap_bytes = FB_PAGE;
		return 0;
	case FL_IOC_CREATE_QP:
		qp->entries = 32;
		qp->qp = 2;
		qp->mmap_offset = 0x20000;
		qp->mmap_bytes = FB_PAGE;
		return 0;
	case FL_IOC_WAIT_CQ:
		return -ETIMEDOUT;
	}
	return 0;
}

int fb_do(struct fb *b, struct attach_call *c)
{
	struct fb_page *p;
	int error;

	switch (c->op) {
	case ATTACH_FAULT:
		atomic_fetch_add(&b->faults, 1);
		p = fb_find(b, c->arg[0]);
		if (!p || (c->arg[1] == 1 && !(p->prot & 2)))
			return -EFAULT;
		if (p->pinned && fb_untouched(p))
			return 0;	/* it moves: try again */
		return fb_bring(b, p) ? 0 : -ENOMEM;
	case ATTACH_OPEN:
		return 5;
	case ATTACH_CLOSE:
		atomic_store(&b->closed, 1);
		return c->arg[0] == 5 ? 0 : -EBADF;
	case ATTACH_IOCTL:
		return fb_ioctl(b, c);
	case ATTACH_MMAP:
		c->ret[0] = c->arg[2] == FL_MMAP_DOORBELL ? ~0ull :
			    FB_FRAMES * FB_PAGE + (c->arg[2] >> 4);
		return 0;
	case ATTACH_ALLOC:
		error = fb_alloc(b, c->arg[0], &c->ret[0]);
		return error;
	case ATTACH_MAP_FILE:
		return fb_map_file(b, c);
	case ATTACH_FREE:
		while ((p = fb_find(b, c->arg[0])))
			fb_forget(b, p);
		return 0;
	case ATTACH_ADVISE:
	case ATTACH_PROTECT:
	case ATTACH_REMAP:
	case ATTACH_MUNMAP:
		return 0;
	case ATTACH_IMPORT:
		return fb_import(b, c);
	case ATTACH_IMPORTED:
	case ATTACH_RETURN:
	case ATTACH_RETURNED:
		return fb_import_steps(b, c);
	case ATTACH_LOOK:
		return fb_look(b, c);
	}
	return -EINVAL;
}
