// SPDX-License-Identifier: BSD-2-Clause
/* linux.c - the system layer of os.h as Linux has it, 3.17 or later. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "os/os_internal.h"

/* ---- the machine ---- */

int os_random(void *buf, size_t n)
{
	uint8_t *to = buf;
	ssize_t got;

	while (n) {
		got = getrandom(to, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		to += got;
		n -= (size_t)got;
	}
	return 0;
}

bool os_fenced(void)
{
	return !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0);
}

bool os_fence_all(void)
{
	return !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0);
}

/* ---- files ---- */

int os_file_nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* File systems without it (EISDIR: kernels without it). */
	return errno == EOPNOTSUPP || errno == EISDIR ? -ENOTSUP : -errno;
}

/* ---- address space ---- */

void *os_reserve(void *wish, uint64_t bytes, int *error)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *at = MAP_FAILED;

	*error = 0;
	if (wish)
		at = mmap(wish, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE,
			  -1, 0);
	if (at != MAP_FAILED && wish && at != wish) {
		/* A kernel before 4.17 takes the address as a wish. */
		munmap(at, bytes);
		at = MAP_FAILED;
	}
	if (at == MAP_FAILED)
		at = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
	if (at != MAP_FAILED)
		return at;
	*error = -errno;
	return NULL;
}

/*
 * The system call itself and not the library's: ThreadSanitizer takes the latter
 * for a write to all of the range, and every thread that uses a page there for its
 * rival.
 */
int os_view(void *at, uint64_t bytes, int prot, int fd, uint64_t offset)
{
	int flags = MAP_FIXED | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS |
					  MAP_NORESERVE : MAP_SHARED);

	if (!os_whole_pages(at, bytes, offset))
		return -EINVAL;
#if defined(SYS_mmap) && defined(__LP64__)
	return syscall(SYS_mmap, at, bytes, prot, flags, fd, offset) == -1 ?
		       -errno : 0;
#else
	return mmap(at, bytes, prot, flags, fd, (off_t)offset) == MAP_FAILED ?
		       -errno : 0;
#endif
}

int os_replace(void *at, const void *from, uint64_t bytes, int prot)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (mem == MAP_FAILED)
		return -errno;
	memcpy(mem, from, bytes);
	/* Again past the library, as in os_view(). */
	if (!mprotect(mem, bytes, prot) &&
	    syscall(SYS_mremap, mem, bytes, bytes,
		    MREMAP_MAYMOVE | MREMAP_FIXED, at) != -1)
		return 0;
	err = -errno;
	munmap(mem, bytes);
	return err;
}

/* ---- what is mapped where ---- */

/* A number in hexadecimal, and what follows it. */
static uintptr_t parse_hex(const char **s)
{
	uintptr_t n = 0;
	int c, digit;

	for (;; (*s)++) {
		c = **s;
		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if (c >= 'a' && c <= 'f')
			digit = c - 'a' + 10;
		else
			return n;
		n = n * 16 + (uintptr_t)digit;
	}
}

static bool text_begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* name: of the file, or what the kernel calls it; "" for anonymous memory */
static enum os_map_kind map_kind(const char *name, bool shared)
{
	if (!strcmp(name, "[stack]"))
		return OS_MAP_STACK;
	if (text_begins(name, "[heap]") || text_begins(name, "[anon:"))
		return OS_MAP_PRIVATE;
	if (text_begins(name, "[anon_shmem:"))
		return OS_MAP_SHARED;
	if (*name == '[' || text_begins(name, "anon_inode:") ||
	    text_begins(name, "/anon_hugepage"))
		return OS_MAP_SPECIAL;
	/* Of /dev only these two are memory. */
	if (text_begins(name, "/dev/") && !text_begins(name, "/dev/zero") &&
	    !text_begins(name, "/dev/shm/"))
		return OS_MAP_SPECIAL;
	return shared ? OS_MAP_SHARED : OS_MAP_PRIVATE;
}

/* A line: START-END rwxp OFFSET MAJOR:MINOR INODE      NAME (proc(5)). */
static bool maps_parse_line(const char *s, struct os_map *m)
{
	uint64_t major;

	m->start = parse_hex(&s);
	if (*s++ != '-')
		return false;
	m->end = parse_hex(&s);
	if (*s++ != ' ' || strlen(s) < 5)
		return false;
	m->prot = (s[0] == 'r' ? PROT_READ : 0) |
		  (s[1] == 'w' ? PROT_WRITE : 0) |
		  (s[2] == 'x' ? PROT_EXEC : 0);
	m->kind = s[3] == 's' ? OS_MAP_SHARED : OS_MAP_PRIVATE;
	s += 5;
	parse_hex(&s);
	major = *s ? (s++, parse_hex(&s)) : 0;
	m->device = makedev(major, *s ? (s++, parse_hex(&s)) : 0);
	for (m->inode = 0, s += *s == ' '; *s >= '0' && *s <= '9'; s++)
		m->inode = m->inode * 10 + (uint64_t)(*s - '0');
	s += strspn(s, " ");
	m->kind = map_kind(s, m->kind == OS_MAP_SHARED);
	return true;
}

int os_map_each(uintptr_t start, uintptr_t last,
		void (*fn)(void *arg, const struct os_map *m), void *arg)
{
	/* The beginning of a name is enough, so a long line is cut off. */
	char piece[1024], line[160];
	struct os_map m = { .start = 0 };
	size_t used = 0;
	ssize_t n, i;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -ENOTSUP;
	while (m.start <= last) {
		n = read(fd, piece, sizeof(piece));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		for (i = 0; i < n && m.start <= last; i++) {
			if (piece[i] != '\n') {
				if (used < sizeof(line) - 1)
					line[used++] = piece[i];
				continue;
			}
			line[used] = '\0';
			used = 0;
			if (maps_parse_line(line, &m) && m.end > start &&
			    m.start <= last)
				fn(arg, &m);
		}
	}
	close(fd);
	return 0;
}

struct sought {
	struct os_map m;
	bool found;
};

static void take_map(void *arg, const struct os_map *m)
{
	struct sought *s = arg;

	s->m = *m;
	s->found = true;
}

bool os_map_find(const void *addr, struct os_map *m)
{
	struct sought s = { .found = false };

	os_map_each((uintptr_t)addr, (uintptr_t)addr, take_map, &s);
	if (s.found)
		*m = s.m;
	return s.found;
}

/*
 * mremap(2): a size of 0 maps what is shared a second time, and is EINVAL for what
 * is private.
 */
bool os_map_shared(const void *addr)
{
	size_t page = os_page_bytes();
	int was = errno;
	void *twin = (void *)syscall(SYS_mremap, addr, 0, page, MREMAP_MAYMOVE);
	bool shared = twin != MAP_FAILED || errno == ENOMEM;

	if (twin != MAP_FAILED)
		munmap(twin, page);
	errno = was;
	return shared;
}

/* Linux, Documentation/admin-guide/mm/pagemap.rst: 8 bytes a page. */
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_SWAPPED (1ull << 62)

int os_pages_untouched(const void *addr, unsigned int n, uint64_t *untouched)
{
	uint64_t entry[64], first = (uintptr_t)addr / os_page_bytes();
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	unsigned int i;
	ssize_t r;

	if (fd < 0)
		return -ENOTSUP;
	r = pread(fd, entry, n * sizeof(entry[0]),
		  (off_t)(first * sizeof(entry[0])));
	close(fd);
	if (r != (ssize_t)(n * sizeof(entry[0])))
		return -ENOTSUP;
	*untouched = 0;
	for (i = 0; i < n; i++)
		if (!(entry[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)))
			*untouched |= 1ull << i;
	return 0;
}

/* mincore(2): ENOMEM where nothing is mapped. */
bool os_map_closed(const void *addr)
{
	int was = errno;
	unsigned char in_core;
	char c;
	bool closed = !mincore((void *)addr, 1, &in_core) &&
		      os_copy_from(&c, addr, 1) == -EFAULT;

	errno = was;
	return closed;
}

bool os_stack(uintptr_t *start, uintptr_t *end)
{
	pthread_attr_t attr;
	struct rlimit most;
	size_t bytes;
	void *low;
	bool ok;

	if (pthread_getattr_np(pthread_self(), &attr))
		return false;
	ok = !pthread_attr_getstack(&attr, &low, &bytes);
	pthread_attr_destroy(&attr);
	if (!ok)
		return false;
	*start = (uintptr_t)low;
	*end = *start + bytes;
	/*
	 * Of the first thread the library looks where the range with the oldest
	 * frames begins. But in the middle of a stack pages may have been mapped
	 * anew, and below them it goes on, as far as the limit says.
	 */
	if (getpid() == (pid_t)syscall(SYS_gettid) &&
	    !getrlimit(RLIMIT_STACK, &most) && most.rlim_cur != RLIM_INFINITY &&
	    most.rlim_cur > bytes && most.rlim_cur < *end)
		*start = *end - most.rlim_cur / os_page_bytes() *
				os_page_bytes();
	return true;
}

/* ---- copies ---- */

int os_copy_direct(void *to, const void *from, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)from, n };
	pid_t self = getpid();
	ssize_t done;

	while (here.iov_len) {
		done = process_vm_readv(self, &here, 1, &there, 1, 0);
		if (done < 0)
			return errno == EPERM ? -ENOSYS : -errno;
		if (!done)
			return -EFAULT;
		here.iov_base = (char *)here.iov_base + done;
		there.iov_base = (char *)there.iov_base + done;
		here.iov_len = there.iov_len -= (size_t)done;
	}
	return 0;
}

/* ---- sleeping ---- */

void os_word_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000u),
			       .tv_nsec = (long)(ns % 1000000000u) };

	syscall(SYS_futex, word, FUTEX_WAIT, value, ns ? &ts : NULL, NULL, 0);
}

void os_nap(void)
{
	/* Not on the stack: where that is absent the call would set errno. */
	static const struct timespec nap = { .tv_nsec = 100000 };

	syscall(SYS_nanosleep, &nap, NULL);
}

void os_word_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- sockets ---- */

int os_peer(int fd, uid_t *uid)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return -errno;
	*uid = who.uid;
	return 0;
}

/* ---- faults ---- */

#if defined(__aarch64__)
/* The ESR record of the signal frame; absent under qemu-user (sources: host-tools). */
static bool find_esr(const ucontext_t *uc, uint64_t *esr)
{
	const uint8_t *at = uc->uc_mcontext.__reserved;
	const uint8_t *end = at + sizeof(uc->uc_mcontext.__reserved);
	struct _aarch64_ctx head;

	while (at + sizeof(head) <= end) {
		memcpy(&head, at, sizeof(head));
		if (!head.magic || !head.size)
			return false;
		if (head.magic == ESR_MAGIC) {
			memcpy(esr, at + sizeof(head), sizeof(*esr));
			return true;
		}
		at += head.size;
	}
	return false;
}
#endif

int os_fault_is_write(const void *ucontext)
{
	const ucontext_t *uc = ucontext;
#if (defined(__x86_64__) || defined(__i386__)) && defined(REG_ERR)
	/* Page-fault error code: bit 1 is W/R, bit 2 is always set here. */
	unsigned long err = (unsigned long)uc->uc_mcontext.gregs[REG_ERR];

	/* Valgrind may give 0 (sources: host-tools). */
	return err & 4 ? (int)(err >> 1 & 1) : -1;
#elif defined(__aarch64__)
	uint64_t esr;

	/* ISS.WnR of a data abort */
	return find_esr(uc, &esr) ? (int)(esr >> 6 & 1) : -1;
#else
	(void)uc;
	return -1;
#endif
}

/* ---- copies that are caught ---- */

/* The handler knows these copies by where their instructions are: all of a section of its own. */
#define CAUGHT	__attribute__((section("fl_copy"), noinline, \
			       no_sanitize("address", "thread", "undefined")))
extern const char copy_start[] __asm__("__start_fl_copy");
extern const char copy_stop[] __asm__("__stop_fl_copy");

/* The address of the instruction that faulted; 0: this machine is not known here. */
#if defined(__x86_64__)
#define FAULT_PC(uc)	((uintptr_t)(uc)->uc_mcontext.gregs[REG_RIP])
#elif defined(__aarch64__)
#define FAULT_PC(uc)	((uintptr_t)(uc)->uc_mcontext.pc)
#else
#define FAULT_PC(uc)	((void)(uc), (uintptr_t)0)
#define FAULT_PC_UNKNOWN 1
#endif

bool os_fault_is_copy(const void *ucontext)
{
	uintptr_t pc = FAULT_PC((const ucontext_t *)ucontext);

	return pc - (uintptr_t)copy_start < (uintptr_t)copy_stop - (uintptr_t)copy_start;
}

/* Volatile: no call of memcpy(), which lies elsewhere. */
static CAUGHT void copy_bytes(volatile char *to, const volatile char *from, size_t n)
{
	for (; n && ((uintptr_t)to | (uintptr_t)from) % sizeof(uint64_t); n--)
		*to++ = *from++;
	for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t)) {
		*(volatile uint64_t *)to = *(const volatile uint64_t *)from;
		to += sizeof(uint64_t);
		from += sizeof(uint64_t);
	}
	for (; n; n--)
		*to++ = *from++;
}

int os_copy_watched(void *to, const void *from, size_t n)
{
#ifdef FAULT_PC_UNKNOWN
	return -ENOTSUP;
#endif
	/* ThreadSanitizer counts how deep in handlers a thread is: no jump out of two. */
	if (os_tsan())
		return -ENOTSUP;
	copy_bytes(to, from, n);
	return 0;
}
