// SPDX-License-Identifier: BSD-2-Clause
/*
 * Coming to a board, calls, doorbells, and the board's end.
 * variants: tsan pages
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib_internal.h"
#include "rig/attach_fake.h"

static int client_try(enum fb_fault fault)
{
	struct fb *b = fb_start(fault);
	struct fl_device *dev = NULL;
	int error = fl_open(b->name, &dev);

	EXPECT(!error || !dev);
	if (error)
		STEP("%s", fl_open_error());
	EXPECT(!error || strlen(fl_open_error()) > 10);
	return error;
}

TEST("a board that answers wrongly is refused, each fault by its own error")
{
	EXPECT_EQ(client_try(FB_BAD_MAGIC), -EPROTO);
	EXPECT_EQ(client_try(FB_BAD_VERSION), -EPROTONOSUPPORT);
	EXPECT_EQ(client_try(FB_SHORT), -ECONNRESET);
	EXPECT_EQ(client_try(FB_SILENT_END), -ECONNRESET);
	EXPECT_EQ(client_try(FB_NO_FDS), -EPROTO);
	EXPECT_EQ(client_try(FB_ONE_FD), -EPROTO);
	EXPECT_EQ(client_try(FB_SMALL_SHARED), -EPROTO);
	EXPECT_EQ(client_try(FB_BAD_FRAMES), -EPROTO);
	EXPECT_EQ(client_try(FB_BIG_PAGES), -EPROTO);
	EXPECT_EQ(client_try(FB_SMALL_PAGES), -EPROTO);
	EXPECT_EQ(client_try(FB_SMALL_BANK), -EPROTO);
	EXPECT_EQ(client_try(FB_BAD_INSTANCE), -EPROTO);
	EXPECT_EQ(client_try(FB_DIES_IN_OPEN), -ENODEV);
}

TEST("what a board says when it refuses is what fl_open_error says")
{
	EXPECT_EQ(client_try(FB_REFUSES), -EBUSY);
	EXPECT(strstr(fl_open_error(), "all 24 places are taken"));
}

TEST("a name without a board, or too long, is told")
{
	char longer[200] = "emu:/tmp/";
	struct fl_device *dev;
	int fd;

	memset(longer + 9, 'a', sizeof(longer) - 10);
	EXPECT_EQ(fl_open("emu:/tmp/no/such/board.sock", &dev), -ENOENT);
	EXPECT(strstr(fl_open_error(), "no such board"));
	EXPECT_EQ(fl_open(longer, &dev), -ENAMETOOLONG);
	EXPECT_EQ(fl_open("emu:", &dev), -ENOENT);
	EXPECT_EQ(fl_open("emu:/tmp", &dev), -ECONNREFUSED);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	close(fd);
}

TEST("nobody listens at a socket that was left behind")
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct fl_device *dev;
	char name[128];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	test_path(at.sun_path, sizeof(at.sun_path), "left");
	snprintf(name, sizeof(name), "emu:%s", at.sun_path);
	EXPECT_EQ(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	EXPECT_EQ(fl_open(name, &dev), -ECONNREFUSED);
}

static void client_restore(void *arg)
{
	(void)arg;
	unsetenv("FAULTLINE_DIR");
	unsetenv("XDG_RUNTIME_DIR");
}

TEST("a name becomes a path, and a folder of others is refused")
{
	char path[108], want[160], run[100], folder[128];

	test_cleanup(client_restore, NULL);
	unsetenv("XDG_RUNTIME_DIR");
	setenv("FAULTLINE_DIR", "/some/where", 1);
	EXPECT_EQ(attach_path("a", path, sizeof(path)), 0);
	EXPECT_STR(path, "/some/where/a.sock");
	EXPECT_EQ(attach_path("a", path, 18), -ENAMETOOLONG);
	EXPECT_EQ(attach_path("a", path, 19), 0);
	EXPECT_EQ(attach_path("./b", path, sizeof(path)), 0);
	EXPECT_STR(path, "./b");
	unsetenv("FAULTLINE_DIR");
	EXPECT_EQ(attach_path("a", path, sizeof(path)), 0);
	snprintf(want, sizeof(want), "/tmp/faultline-%u/a.sock",
		 (unsigned int)getuid());
	EXPECT_STR(path, want);
	test_path(run, sizeof(run), "run");
	snprintf(folder, sizeof(folder), "%s/faultline", run);
	EXPECT(!mkdir(run, 0700) && !mkdir(folder, 0700));
	setenv("XDG_RUNTIME_DIR", run, 1);
	EXPECT_EQ(attach_path("a", path, sizeof(path)), 0);
	snprintf(want, sizeof(want), "%s/a.sock", folder);
	EXPECT_STR(path, want);
	chmod(folder, 0777);
	EXPECT_EQ(attach_path("a", path, sizeof(path)), -EACCES);
}

TEST("calls, a file, queues and doorbells go to the board")
{
	static struct fb_device d;
	struct fl_device_attr attr;
	struct fl_completion c;
	struct attach_post p;
	struct fl_mr *mr;
	char file[128], *mem;
	size_t bytes = 0;
	int fd;

	fb_device_start(&d);
	EXPECT_EQ(fl_query_device(d.dev, &attr), 0);
	EXPECT_EQ(attr.node, 9);
	test_path(file, sizeof(file), "file");
	fd = open(file, O_RDWR | O_CREAT, 0600);
	EXPECT_EQ(write(fd, "contents", 8), 8);
	close(fd);
	mem = fl_map_file(d.dev, file, &bytes);
	EXPECT(mem);
	EXPECT_EQ(bytes, 8);
	EXPECT_MEM(mem, "contents", 8);
	EXPECT(!fl_map_file(d.dev, "/nonexistent", &bytes));
	EXPECT_EQ(errno, ENOENT);
	fb_queues(&d);
	EXPECT_EQ(fl_reg_mr(d.pd, mem, 8, FL_LOCAL_WRITE, &mr), 0);
	EXPECT_EQ(fb_region(d.b), (uintptr_t)mem);
	EXPECT_EQ(fl_post_write(d.qp, 5, mr, mem, 8, 0x1000, 3), 0);
	EXPECT_EQ(fl_poll(d.cq, &c, 1), 0);
	while (!atomic_load(&d.b->seen_posts))
		os_yield();
	STEP("the words of the post travel with its doorbell");
	p = fb_last_post(d.b);
	EXPECT_EQ(p.kind, ATTACH_POST_DOORBELL);
	EXPECT_EQ(p.offset, NIC_DB_SQ);
	EXPECT_EQ(p.arg[2], (uintptr_t)mem);
	EXPECT_EQ(p.arg[3], 8);
	EXPECT_EQ(fl_wait(d.cq, &c, 1, 1000), -ETIMEDOUT);
	EXPECT_EQ(fb_last_post(d.b).kind, ATTACH_DOORBELL);
	EXPECT_EQ(fl_close(d.dev), 0);
	d.dev = NULL;
	EXPECT_EQ(atomic_load(&d.b->closed), 1);
}

/* As the library does when it takes a completion: of transfer xfer, with so many left. */
static void client_took(struct fb_device *d, uint32_t xfer, uint32_t left)
{
	d->dev->sys->trace(d->dev->fd, FL_SYS_EV_COMPLETE, xfer, 0xabcdef, FL_ST_FLUSHED, 77,
			   left);
}

static void *takes_only(void *arg)
{
	client_took(arg, 9, 3);
	return NULL;
}

/* The board has seen n entries, and the last was this one. */
static void last_post_is(struct fb_device *d, uint32_t n, uint32_t kind, uint32_t took_xfer)
{
	struct attach_post p;

	EXPECT_EQ(atomic_load(&d->b->s->post_head), n);
	while (atomic_load(&d->b->seen_posts) < n)
		os_yield();
	p = fb_last_post(d->b);
	EXPECT_EQ(p.kind, kind);
	EXPECT_EQ(p.took, took_xfer != 0);
	if (!took_xfer)
		return;
	EXPECT_EQ(p.took_xfer, took_xfer);
	EXPECT_EQ(p.took_qp, 0xabcdef);
	EXPECT_EQ(p.took_status, FL_ST_FLUSHED);
	EXPECT_EQ(p.took_bytes, 77);
}

TEST("what was taken travels with the next doorbell, if there is sure to be one, or by itself")
{
	static struct fb_device d;
	struct fl_fault_counters count;
	struct fl_completion c;
	struct fl_mr *mr;
	pthread_t t;
	char *mem;

	fb_device_start(&d);
	fb_queues(&d);
	mem = fl_alloc(d.dev, 8);
	EXPECT_EQ(fl_reg_mr(d.pd, mem, 8, FL_LOCAL_WRITE, &mr), 0);
	STEP("who has not posted yet may never do so");
	client_took(&d, 1, 5);
	last_post_is(&d, 1, ATTACH_COMPLETE, 1);
	EXPECT_EQ(fl_post_write(d.qp, 5, mr, mem, 8, 0x1000, 3), 0);
	last_post_is(&d, 2, ATTACH_POST_DOORBELL, 0);
	client_took(&d, 2, 1);
	EXPECT_EQ(atomic_load(&d.b->s->post_head), 2);
	EXPECT_EQ(fl_post_write(d.qp, 5, mr, mem, 8, 0x1000, 3), 0);
	last_post_is(&d, 3, ATTACH_POST_DOORBELL, 2);
	STEP("the last one");
	client_took(&d, 3, 0);
	last_post_is(&d, 4, ATTACH_COMPLETE, 3);
	STEP("two of them, then a look that finds nothing");
	client_took(&d, 4, 2);
	client_took(&d, 5, 1);
	last_post_is(&d, 5, ATTACH_COMPLETE, 4);
	EXPECT_EQ(fl_poll(d.cq, &c, 1), 0);
	last_post_is(&d, 6, ATTACH_COMPLETE, 5);
	STEP("a call, and what has no words");
	client_took(&d, 6, 1);
	fl_query_counters(d.dev, &count);
	last_post_is(&d, 7, ATTACH_COMPLETE, 6);
	client_took(&d, 7, 1);
	EXPECT_EQ(fl_wait(d.cq, &c, 1, 1000), -ETIMEDOUT);
	last_post_is(&d, 9, ATTACH_DOORBELL, 0);
	STEP("a thread that only takes");
	EXPECT_EQ(pthread_create(&t, NULL, takes_only, &d), 0);
	pthread_join(t, NULL);
	last_post_is(&d, 10, ATTACH_COMPLETE, 9);
}

static void *post_many(void *arg)
{
	struct fb_device *d = arg;
	unsigned int i;

	for (i = 0; i < 3000; i++)
		if (fl_wait(d->cq, &(struct fl_completion){ 0 }, 1, 1) !=
		    -ETIMEDOUT)
			abort();
	return NULL;
}

TEST("a full ring makes a doorbell wait, and loses none")
{
	static struct fb_device d;
	pthread_t t;

	fb_device_start(&d);
	fb_queues(&d);
	atomic_store(&d.b->deaf, 1);
	EXPECT_EQ(pthread_create(&t, NULL, post_many, &d), 0);
	while (atomic_load(&d.b->s->post_head) < ATTACH_POSTS)
		os_yield();
	atomic_store(&d.b->deaf, 0);
	pthread_join(t, NULL);
	while (atomic_load(&d.b->seen_posts) < 3000)
		os_yield();
	EXPECT_EQ(atomic_load(&d.b->seen_posts), 3000);
}

static void *wait_for_ever(void *arg)
{
	struct fb_device *d = arg;
	struct fl_completion c;

	return (void *)(intptr_t)fl_wait(d->cq, &c, 1, 0);
}

/* As fl_wait(), which is for one thread and its queue. */
static void *ask_for_ever(void *arg)
{
	struct fl_wait_cq w = { .size = sizeof(w), .cq = 1 };
	struct fb_device *d = arg;

	return (void *)(intptr_t)lib_ioctl(d->dev, FL_IOC_WAIT_CQ, &w);
}

TEST("when more threads wait than there are calls, pages still come")
{
	static struct fb_device d;
	pthread_t t[ATTACH_CALLS + 1];
	volatile uint8_t *mem;
	unsigned int i, most;
	void *result;

	fb_device_start(&d);
	mem = fl_alloc(d.dev, FB_PAGE);
	atomic_store(&d.b->sleepy, 1);
	most = atomic_load(&d.b->calls) + ATTACH_CALLS - ATTACH_SHORT_CALLS;
	for (i = 0; i < ATTACH_CALLS + 1; i++)
		EXPECT_EQ(pthread_create(&t[i], NULL, ask_for_ever, &d), 0);
	while (atomic_load(&d.b->calls) < most)
		os_yield();
	mem[5] = 1;
	EXPECT_EQ(atomic_load(&d.b->faults), 1);
	fb_end(d.b, 2);
	for (i = 0; i < ATTACH_CALLS + 1; i++) {
		pthread_join(t[i], &result);
		EXPECT_EQ((intptr_t)result, -ENODEV);
	}
}

static void *register_cancelled(void *arg)
{
	struct fb_device *d = arg;
	uint8_t *mem = mmap(NULL, FB_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fl_mr *mr;
	int i;

	pthread_cancel(pthread_self());
	for (i = 0; i < 100; i++)
		if (fl_reg_mr(d->pd, mem, FB_PAGE, FL_LOCAL_WRITE, &mr) ||
		    fl_dereg_mr(mr))
			abort();
	munmap(mem, FB_PAGE);
	return d;
}

TEST("a thread is not cancelled while it registers memory")
{
	static struct fb_device d;
	pthread_t t;
	void *result;

	fb_device_start(&d);
	EXPECT_EQ(pthread_create(&t, NULL, register_cancelled, &d), 0);
	pthread_join(t, &result);
	EXPECT(result == &d);
}

static void client_die(uint32_t how)
{
	static struct fb_device d;
	struct fl_completion c;
	struct fl_mr *mr;
	pthread_t t;
	void *result, *mem;
	int r;

	fb_device_start(&d);
	fb_queues(&d);
	mem = fl_alloc(d.dev, 4096);
	EXPECT(mem);
	EXPECT_EQ(fl_reg_mr(d.pd, mem, 4096, FL_LOCAL_WRITE, &mr), 0);
	atomic_store(&d.b->sleepy, 1);
	/* Counted before: its call may come at once. */
	r = (int)atomic_load(&d.b->calls);
	EXPECT_EQ(pthread_create(&t, NULL, wait_for_ever, &d), 0);
	while ((int)atomic_load(&d.b->calls) == r)
		os_yield();
	fb_end(d.b, how);
	pthread_join(t, &result);
	EXPECT_EQ((intptr_t)result, -ENODEV);
	while (!(r = fl_poll(d.cq, &c, 1)))
		;
	EXPECT_EQ(r, -ENODEV);
	EXPECT_EQ(fl_post_write(d.qp, 1, mr, mem, 8, 0, 1), -ENODEV);
	EXPECT(!fl_alloc(d.dev, 4096));
	EXPECT_EQ(errno, ENODEV);
	EXPECT_EQ(fl_prefault(d.dev, mem, 1, 0), -ENODEV);
	EXPECT_EQ(fl_close(d.dev), -ENODEV);
	d.dev = NULL;
}

TEST("a board that ends in order: calls, posts and polls say ENODEV")
{
	client_die(1);
}

TEST("a board that dies: calls, posts and polls say ENODEV")
{
	client_die(2);
}

TEST("eight boards may be open, the ninth is refused, and places come back")
{
	static struct fb_device d[8];
	struct fl_device *ninth;
	struct fb *b;
	int i;

	for (i = 0; i < 8; i++)
		fb_device_start(&d[i]);
	b = fb_start(FB_RIGHT);
	EXPECT_EQ(fl_open(b->name, &ninth), -EMFILE);
	EXPECT_EQ(fl_close(d[3].dev), 0);
	d[3].dev = NULL;
	EXPECT_EQ(fl_open(b->name, &ninth), 0);
	EXPECT_EQ(fl_close(ninth), 0);
}

TEST("with the standard streams closed nothing is printed into a board")
{
	struct fl_device *dev;
	struct fb *b = fb_start(FB_RIGHT);
	int in = dup(0), out = dup(1), err = dup(2), error, fd;

	close(0);
	close(1);
	close(2);
	error = fl_open(b->name, &dev);
	fd = dup(in);		/* the lowest number that is free */
	if (!error)
		error = fl_close(dev);
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	EXPECT_EQ(error, 0);
	EXPECT_EQ(fd, 0);
	close(in);
	close(out);
	close(err);
}
