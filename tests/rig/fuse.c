// SPDX-License-Identifier: BSD-2-Clause
#include "rig/fuse.h"

static void fuse_answer(int dev, uint64_t unique, int error, const void *what,
			size_t bytes)
{
	static uint8_t out[sizeof(struct fuse_out_header) + (128u << 10)];
	struct fuse_out_header h = { .len = (uint32_t)(sizeof(h) + bytes),
				     .error = error, .unique = unique };

	memcpy(out, &h, sizeof(h));
	if (bytes)
		memcpy(out + sizeof(h), what, bytes);
	if (write(dev, out, h.len) < 0)
		return;		/* whoever asked has gone */
}

static struct fuse_attr fuse_node(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .nlink = 1, .blksize = 4096,
		.size = node == 1 ? 0 : FUSE_FILE_BYTES,
		.mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644,
	};
}

static void fuse_one(struct fuse_test *t, const struct fuse_in_header *h)
{
	static const uint8_t zeros[128u << 10];
	const struct fuse_read_in *r = (const void *)(h + 1);
	struct fuse_init_out init = { .major = 7, .minor = 31,
				      .max_write = 4096 };
	struct fuse_entry_out e = { .nodeid = 2, .attr = fuse_node(2) };
	struct fuse_attr_out a = { .attr = fuse_node(h->nodeid) };
	struct fuse_open_out o = { .fh = 1 };

	if (h->opcode == t->stuck) {
		if (write(t->arrived, "", 1) != 1)
			_exit(3);
		return;
	}
	switch (h->opcode) {
	case FUSE_INIT:
		fuse_answer(t->dev, h->unique, 0, &init, sizeof(init));
		return;
	case FUSE_LOOKUP:
		fuse_answer(t->dev, h->unique, 0, &e, sizeof(e));
		return;
	case FUSE_GETATTR:
		fuse_answer(t->dev, h->unique, 0, &a, sizeof(a));
		return;
	case FUSE_OPEN:
		fuse_answer(t->dev, h->unique, 0, &o, sizeof(o));
		return;
	case FUSE_READ:
		fuse_answer(t->dev, h->unique, 0, zeros,
			    r->size < sizeof(zeros) ? r->size : sizeof(zeros));
		return;
	case FUSE_RELEASE:
		fuse_answer(t->dev, h->unique, 0, NULL, 0);
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;		/* these have no answer */
	default:
		fuse_answer(t->dev, h->unique, -ENOSYS, NULL, 0);
	}
}

static void fuse_serve(struct fuse_test *t)
{
	static _Alignas(8) uint8_t in[256u << 10];
	ssize_t n;

	for (;;) {
		n = read(t->dev, in, sizeof(in));
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			fuse_one(t, (const void *)in);
		else if (n < 0 && errno != EINTR && errno != ENOENT)
			_exit(0);	/* unmounted */
	}
}

static int fuse_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), r;

	if (fd < 0)
		return -1;
	r = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
	close(fd);
	return r;
}

/* A place for mounts that only this process and its children see. */
static int fuse_own_mounts(void)
{
	unsigned int uid = getuid(), gid = getgid();
	char map[40];

	if (uid) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
			return -1;
		fuse_text("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "0 %u 1", uid);
		if (fuse_text("/proc/self/uid_map", map))
			return -1;
		snprintf(map, sizeof(map), "0 %u 1", gid);
		if (fuse_text("/proc/self/gid_map", map))
			return -1;
	} else if (unshare(CLONE_NEWNS)) {
		return -1;
	}
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

int fuse_open(struct fuse_test *t)
{
	char options[100], path[130];
	pid_t server;

	t->dev = -1;
	if (fuse_own_mounts())
		return -1;
	t->dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (t->dev < 0)
		return -1;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", t->dev);
	if (mount("faultline-test", t->dir, "fuse", MS_NODEV | MS_NOSUID,
		  options))
		return -1;
	server = fork();
	if (!server)
		fuse_serve(t);
	t->server = server;
	/* It must end with the server, which has the only other one. */
	close(t->dev);
	snprintf(path, sizeof(path), "%s/file", t->dir);
	return open(path, O_RDONLY);
}

bool fuse_possible(void)
{
	int status = 1, dev;
	pid_t pid = fork();

	if (!pid) {
		if (fuse_own_mounts())
			_exit(1);
		dev = open("/dev/fuse", O_RDWR);
		_exit(dev < 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}
