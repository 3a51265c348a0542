// SPDX-License-Identifier: BSD-2-Clause
#include "rig/attach_fake.h"

static bool fb_waits(struct fb *b, struct attach_call *c)
{
	return atomic_load(&b->sleepy) && c->op == ATTACH_IOCTL &&
	       c->arg[1] == FL_IOC_WAIT_CQ;
}

/* The time of its death: what it is asked or has just answered. */
static void fb_may_die(struct fb *b, uint32_t op, uint64_t cmd, bool answered)
{
	struct attach_note n = { .kind = ATTACH_WAKEUP };

	if (op != b->death.op || answered != b->death.answered ||
	    (op == ATTACH_IOCTL && cmd != b->death.cmd) || b->death.nth--)
		return;
	if (b->death.wakeup)
		send(b->conn, &n, sizeof(n), MSG_DONTWAIT | MSG_NOSIGNAL);
	kill(getpid(), SIGKILL);
}

/* Is any thread of the process at the other end of the socket running? */
static bool fb_runs(pid_t pid)
{
	char path[300], text[512];
	struct dirent *e;
	bool runs = false;
	const char *at;
	DIR *d;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && !runs && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid,
			 e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		/* proc(5): its state stands behind the name, which ends in ). */
		at = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
		runs = at && at[1] && at[2] == 'R';
		fclose(f);
	}
	if (d)
		closedir(d);
	return runs;
}

static void fb_calls(struct fb *b)
{
	uint64_t asked = atomic_exchange(&b->s->asked, 0);
	struct attach_call *c;
	uint64_t cmd;
	unsigned int i;
	uint32_t op;

	for (i = 0; i < ATTACH_CALLS; i++) {
		if (!(asked >> i & 1))
			continue;
		c = &b->s->call[i];
		if (atomic_load(&c->state) != ATTACH_ASKED)
			continue;
		if (b->fault == FB_DIES_IN_OPEN) {
			atomic_store(&b->end, 2);
			return;
		}
		atomic_fetch_add(&b->calls, 1);
		if (fb_waits(b, c))
			continue;
		op = c->op;
		cmd = c->arg[1];
		fb_may_die(b, op, cmd, false);
		while (b->waits_for_sleep && fb_runs(getppid()))
			os_yield();
		pthread_mutex_lock(&b->lock);
		c->result = fb_do(b, c);
		pthread_mutex_unlock(&b->lock);
		c->views = b->head;
		atomic_store(&c->state, ATTACH_ANSWERED);
		if (atomic_load(&c->asleep))
			os_word_wake(&c->state);
		fb_may_die(b, op, cmd, true);
	}
}

static void fb_posts(struct fb *b)
{
	struct attach_post *p;

	while (!atomic_load(&b->deaf)) {
		p = &b->s->post[b->posts % ATTACH_POSTS];
		if (atomic_load(&p->seq) != b->posts + 1)
			return;
		pthread_mutex_lock(&b->lock);
		b->last_post = *p;
		pthread_mutex_unlock(&b->lock);
		atomic_fetch_add(&b->seen_posts, 1);
		b->posts++;
		atomic_store(&b->s->post_tail, b->posts);
	}
}

static bool fb_hears(struct fb *b)
{
	struct attach_note n;
	int fd = -1, nfds = 1;
	ssize_t r;

	r = os_receive(b->conn, &n, sizeof(n), &fd, &nfds);
	if (r == -EAGAIN)
		return true;
	if (r != sizeof(n))
		return false;
	if (n.kind == ATTACH_FILE && nfds && b->nfiles < 8) {
		b->file_ids[b->nfiles] = n.id;
		b->files[b->nfiles++] = fd;
	}
	return true;
}

static void fb_storm(struct fb *b)
{
	uint32_t all = atomic_load(&b->evict);
	unsigned int i;

	pthread_mutex_lock(&b->lock);
	i = b->pages ? b->hand++ % b->pages : 0;
	if (atomic_load(&b->storm) && b->pages && fb_evictable(&b->page[i]))
		fb_evict(b, &b->page[i]);
	for (i = 0; i < b->pages && all; i++)
		if (fb_evictable(&b->page[i]))
			fb_evict(b, &b->page[i]);
	pthread_mutex_unlock(&b->lock);
	if (all)
		atomic_store(&b->evict, 0);
}

static void fb_serve(struct fb *b)
{
	struct pollfd p = { .fd = b->conn, .events = POLLIN };

	while (!atomic_load(&b->end)) {
		fb_posts(b);
		fb_calls(b);
		fb_storm(b);
		atomic_store(&b->s->board_asleep, 1);
		/* seq_cst: set, then look; so one look more before poll. */
		if (!atomic_load(&b->s->asked) &&
		    !atomic_load(&b->storm) && !atomic_load(&b->evict) &&
		    (atomic_load(&b->deaf) ||
		     atomic_load(&b->s->post[b->posts % ATTACH_POSTS].seq) !=
			     b->posts + 1))
			poll(&p, 1, 2);
		else
			poll(&p, 1, 0);
		atomic_store(&b->s->board_asleep, 0);
		if (p.revents && !fb_hears(b))
			return;
	}
	if (atomic_load(&b->end) == 1)
		atomic_store(&b->s->alive, 0);
}

static struct attach_welcome fb_welcome(struct fb *b)
{
	struct attach_welcome w = {
		.magic = ATTACH_MAGIC, .version = ATTACH_VERSION,
		.page_bytes = FB_PAGE, .instance = 42,
		.shared_bytes = sizeof(struct attach_shared),
		.bank_bytes = FB_FRAMES * FB_PAGE + FB_QUEUES,
		.frames = FB_FRAMES, .queue_offset = FB_FRAMES * FB_PAGE,
	};

	switch (b->fault) {
	case FB_BAD_MAGIC:
		w.magic++;
		break;
	case FB_BAD_VERSION:
		w.version++;
		break;
	case FB_SMALL_SHARED:
		w.shared_bytes = 64;
		break;
	case FB_BAD_FRAMES:
		w.frames = FB_FRAMES * 2;
		break;
	case FB_BIG_PAGES:
		w.page_bytes = 12345;
		break;
	case FB_SMALL_PAGES:
		w.page_bytes = 2048;
		break;
	case FB_SMALL_BANK:
		w.bank_bytes *= 2;
		break;
	case FB_BAD_INSTANCE:
		w.instance++;
		break;
	case FB_REFUSES:
		w.error = -EBUSY;
		strcpy(w.text, "all 24 places are taken");
		break;
	default:
		break;
	}
	return w;
}

static void *fb_thread(void *arg)
{
	struct fb *b = arg;
	struct attach_welcome w = fb_welcome(b);
	struct pollfd p = { .fd = b->listener, .events = POLLIN };
	int fds[2] = { b->shared_fd, b->bank_fd }, n;
	size_t bytes = sizeof(w);

	while (!atomic_load(&b->end) && poll(&p, 1, 5) <= 0)
		;
	if (atomic_load(&b->end))
		return NULL;
	/* Above the standard streams, as the library should be. */
	n = accept(b->listener, NULL, NULL);
	b->conn = fcntl(n, F_DUPFD_CLOEXEC, 3);
	close(n);
	if (recv(b->conn, &b->hello, sizeof(b->hello), MSG_WAITALL) !=
	    sizeof(b->hello))
		return NULL;
	n = b->fault == FB_NO_FDS || b->fault == FB_REFUSES ? 0 :
	    b->fault == FB_ONE_FD ? 1 : 2;
	if (b->fault == FB_SHORT)
		bytes = 20;
	if (b->fault != FB_SILENT_END)
		os_send(b->conn, &w, bytes, fds, n);
	if (b->fault == FB_RIGHT || b->fault == FB_DIES_IN_OPEN)
		fb_serve(b);
	close(b->conn);
	b->conn = -1;
	return NULL;
}

void fb_end(struct fb *b, uint32_t how)
{
	if (!b->thread)
		return;
	atomic_store(&b->end, how);
	pthread_join(b->thread, NULL);
	b->thread = 0;
}

void fb_kill(struct fb *b)
{
	if (b->pid > 0) {
		kill(b->pid, SIGKILL);
		waitpid(b->pid, NULL, 0);
	}
	b->pid = 0;
}

static void fb_free(void *arg)
{
	struct fb *b = arg;
	unsigned int i;

	fb_end(b, 2);
	fb_kill(b);
	for (i = 0; i < b->pages; i++)
		free(b->page[i].swap);
	for (i = 0; i < b->nfiles; i++)
		close(b->files[i]);
	munmap(b->s, sizeof(*b->s));
	munmap(b->bank, FB_FRAMES * FB_PAGE + FB_QUEUES);
	close(b->shared_fd);
	close(b->bank_fd);
	close(b->listener);
	unlink(b->path);
	free(b);
}

/* Whose listener is open, and who has nobody yet to answer it. */
static struct fb *fb_make(enum fb_fault fault)
{
	static unsigned int boards;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct fb *b = calloc(1, sizeof(*b));
	uint64_t bank_bytes = FB_FRAMES * FB_PAGE + FB_QUEUES;

	b->fault = fault;
	pthread_mutex_init(&b->lock, NULL);
	atomic_store(&b->budget, FB_FRAMES);
	test_path(b->path, sizeof(b->path), "%d.%u.sock", (int)getpid(),
		  boards++);
	snprintf(b->name, sizeof(b->name), "emu:%s", b->path);
	b->conn = -1;
	b->shared_fd = os_memory_create("shared", sizeof(*b->s));
	b->bank_fd = os_memory_create("bank", bank_bytes);
	b->s = mmap(NULL, sizeof(*b->s), PROT_READ | PROT_WRITE, MAP_SHARED,
		    b->shared_fd, 0);
	b->bank = mmap(NULL, bank_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		       b->bank_fd, 0);
	b->s->instance = 42;
	atomic_store(&b->s->alive, 1);
	b->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(at.sun_path, b->path);
	EXPECT_EQ(bind(b->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	EXPECT_EQ(listen(b->listener, 4), 0);
	test_cleanup(fb_free, b);
	return b;
}

struct fb *fb_start(enum fb_fault fault)
{
	struct fb *b = fb_make(fault);
	sigset_t all, was;

	/* The signals of a test are for the process, not for its board. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &was);
	EXPECT_EQ(pthread_create(&b->thread, NULL, fb_thread, b), 0);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return b;
}

struct fb *fb_start_process(struct fb_death death, bool waits_for_sleep)
{
	struct fb *b = fb_make(FB_RIGHT);

	b->death = death;
	b->waits_for_sleep = waits_for_sleep;
	fflush(NULL);
	b->pid = fork();
	if (!b->pid) {
		fb_thread(b);
		_exit(0);
	}
	EXPECT(b->pid > 0);
	return b;
}

struct attach_post fb_last_post(struct fb *b)
{
	struct attach_post p;

	pthread_mutex_lock(&b->lock);
	p = b->last_post;
	pthread_mutex_unlock(&b->lock);
	return p;
}

uint8_t *fb_frame_of(struct fb *b, const void *addr)
{
	uint64_t va = (uintptr_t)addr, frame;

	pthread_mutex_lock(&b->lock);
	frame = fb_find(b, va)->frame;
	pthread_mutex_unlock(&b->lock);
	return b->bank + frame * FB_PAGE + va % FB_PAGE;
}

uint64_t fb_region(struct fb *b)
{
	uint64_t addr;

	pthread_mutex_lock(&b->lock);
	addr = b->reg.addr;
	pthread_mutex_unlock(&b->lock);
	return addr;
}

void fb_evict_all(struct fb *b)
{
	atomic_store(&b->evict, 1);
	while (atomic_load(&b->evict))
		os_yield();
}

static void fb_device_end(void *arg)
{
	struct fb_device *d = arg;

	if (d->dev)
		fl_close(d->dev);
	d->dev = NULL;
}

void fb_device_start(struct fb_device *d)
{
	memset(d, 0, sizeof(*d));
	d->b = fb_start(FB_RIGHT);
	test_cleanup(fb_device_end, d);
	EXPECT_EQ(fl_open(d->b->name, &d->dev), 0);
	EXPECT_EQ(fl_alloc_pd(d->dev, &d->pd), 0);
}

void fb_queues(struct fb_device *d)
{
	EXPECT_EQ(fl_create_cq(d->dev, 16, &d->cq), 0);
	EXPECT_EQ(fl_create_qp(d->pd, d->cq, 16, &d->qp), 0);
}
