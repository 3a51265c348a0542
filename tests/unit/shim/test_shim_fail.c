// SPDX-License-Identifier: BSD-2-Clause
/*
 * The emulator's Linux API without memory, with a card or a process that goes, and with
 * somebody who notes a breach of a rule instead of ending the program.
 */
#include <linux/uaccess.h>
#include <sys/mman.h>

#include "os/os.h"
#include "rig/fail.h"
#include "rig/shim.h"

/* ---- what is told of mappings ---- */

static void no_places(void *arg)
{
	int *error = arg;

	fail_at(FAIL_MAP, 1, 1, ENOMEM);
	*error = shim_vmas_start();
	if (fail_end() != 1)
		_exit(2);
	_exit(*error == -ENOMEM ? 0 : 1);
}

/* First of all: the addresses are taken once in a program. */
TEST("without addresses for what is told of mappings there is no driver")
{
	char said[256];
	int error, status = fail_child(no_places, &error, said, sizeof(said));

	EXPECT(WIFEXITED(status) && !WEXITSTATUS(status));
}

static struct shim_cpu thing_begin(struct rig *r)
{
	thing_make(r);
	return shim_enter(thing.shim, &thing.task, SHIM_IN_TASK);
}

static void thing_end(struct shim_cpu *before)
{
	shim_leave(before);
	mmdrop(thing.mm);
}

static void no_place(void *arg)
{
	(void)arg;
	mmap_read_lock(thing.mm);
	fail_at(FAIL_PROTECT, 1, 1, ENOMEM);
	vma_lookup(thing.mm, thing.va);
}

static void looks_beyond(void *arg)
{
	struct vm_area_struct *vma;

	(void)arg;
	mmap_read_lock(thing.mm);
	vma = vma_lookup(thing.mm, thing.va);
	/* The next place, of which nobody has been told anything. */
	*(volatile char *)((char *)vma + 0x10000) = 1;
}

static void lookup_dies(struct rig *r)
{
	struct shim_cpu before = thing_begin(r);
	char said[4096];
	int status = fail_child(no_place, NULL, said, sizeof(said));

	STEP("a look-up cannot fail, so the program ends");
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	EXPECT(strstr(said, "no memory for what no_place() looks up"));
	STEP("what was never told is no stale mapping");
	status = fail_child(looks_beyond, NULL, said, sizeof(said));
	EXPECT(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : WEXITSTATUS(status) != 0);
	EXPECT(!strstr(said, "stale-vma"));
	thing_end(&before);
}

TEST("a look-up without memory ends the program, a wild pointer as any other does")
{
	rig_run(lookup_dies);
}

/* One page with other rights than the next makes a mapping of its own. */
#define MANY 120u

static void looks_up_many(struct rig *r)
{
	struct shim_cpu before = thing_begin(r);
	struct rig_node *n = &r->n[0];
	struct vm_area_struct *vma;
	unsigned int i;
	uint8_t *m;
	int err;

	m = host_mmap(n->process, MANY * PAGE_SIZE, HOST_READ | HOST_WRITE, NULL, 0, &err);
	EXPECT(m);
	for (i = 0; i < MANY; i += 2)
		EXPECT_EQ(host_mprotect(n->process, m + i * PAGE_SIZE, PAGE_SIZE, HOST_READ), 0);
	mmap_read_lock(thing.mm);
	for (i = 0; i < MANY; i++) {
		unsigned long va = (uintptr_t)m + i * PAGE_SIZE;

		vma = vma_lookup(thing.mm, va);
		EXPECT(vma && shim_vma_mine(vma));
		EXPECT(vma->vm_start <= va && va < vma->vm_end);
		EXPECT_EQ(vma->vm_flags, i % 2 ? VM_READ | VM_WRITE : VM_READ);
		EXPECT(vma_lookup(thing.mm, va) == vma);
	}
	mmap_read_unlock(thing.mm);
	EXPECT(!shim_vma_mine(vma));
	thing_end(&before);
}

TEST("whoever looks up more mappings than a place has room for is told each of them")
{
	rig_run(looks_up_many);
}

static struct keeper {
	struct shim *shim;
	unsigned long start, end;
	bool looks, may_go, same;
} keeper;

static void keeps_one(void *arg)
{
	struct shim_cpu before = shim_enter(keeper.shim, arg, SHIM_IN_TASK);
	struct vm_area_struct *vma;

	mmap_read_lock(thing.mm);
	vma = vma_lookup(thing.mm, thing.va);
	keeper.start = vma->vm_start;
	keeper.end = vma->vm_end;
	keeper.looks = true;
	while (!keeper.may_go)
		sim_sleep(1000);
	keeper.same = shim_vma_mine(vma) && vma->vm_mm == thing.mm &&
		      vma->vm_start == keeper.start && vma->vm_end == keeper.end;
	mmap_read_unlock(thing.mm);
	shim_leave(&before);
}

static void looks_meanwhile(struct rig *r)
{
	struct shim_cpu before = thing_begin(r);
	struct task_struct other = thing.task;
	struct sim_thread *t;
	struct vm_area_struct *vma;
	unsigned int i;

	keeper = (struct keeper){ .shim = thing.shim };
	t = sim_thread_start_on(board_domain(r->n[0].board), "keeper", false, keeps_one, &other);
	EXPECT(t);
	while (!keeper.looks)
		sim_sleep(1000);
	STEP("places are used in turn: more often than there are any");
	for (i = 0; i < 600; i++) {
		mmap_read_lock(thing.mm);
		vma = vma_lookup(thing.mm, thing.va);
		EXPECT(vma && vma->vm_start == keeper.start);
		mmap_read_unlock(thing.mm);
	}
	keeper.may_go = true;
	sim_thread_join(t);
	EXPECT(keeper.same);
	thing_end(&before);
}

TEST("what one holder of the lock looks at is nobody else's place meanwhile")
{
	rig_run(looks_meanwhile);
}

/* ---- memory that fails ---- */

static void pins_fail(struct rig *r)
{
	struct shim_cpu before = thing_begin(r);
	struct page *page[4] = { NULL };
	unsigned int n = 0;
	long pinned;
	int err;
	uint8_t *m = host_mmap(r->n[0].process, 4 * PAGE_SIZE, HOST_READ | HOST_WRITE,
			       NULL, 0, &err);

	EXPECT(m);
	for (;;) {
		EXPECT(mmget_not_zero(thing.mm));
		mmap_read_lock(thing.mm);
		fail_at(FAIL_MEMORY, n + 1, 1, ENOMEM);
		pinned = pin_user_pages_remote(thing.mm, (uintptr_t)m, 4,
					       FOLL_WRITE | FOLL_LONGTERM, page, NULL);
		if (!fail_end())
			break;
		n++;
		EXPECT_EQ(pinned, -ENOMEM);
		mmap_read_unlock(thing.mm);
		mmput(thing.mm);
	}
	STEP("a list of frames, and each of four pages, were missing in turn");
	EXPECT_GE(n, 5);
	EXPECT_EQ(pinned, 4);
	mmap_read_unlock(thing.mm);
	mmput(thing.mm);
	unpin_user_pages_dirty_lock(page, 4, true);
	thing_end(&before);
}

TEST("pinning without memory pins nothing")
{
	rig_run(pins_fail);
}

static void no_mm(struct rig *r)
{
	struct host_mm *host = host_process_mm(r->n[0].process);
	struct shim *shim = shim_find(r->n[0].kernel);

	fail_at(FAIL_MEMORY, 1, 1, ENOMEM);
	EXPECT(!shim_mm_create(shim, host));
	EXPECT_EQ(fail_end(), 1);
}

TEST("an address space is not known to the driver without memory for it")
{
	rig_run(no_mm);
}

/* ---- a process that has ended ---- */

static void other_heard(struct mmu_notifier *mn, struct mm_struct *mm, unsigned long start,
			unsigned long end)
{
}

static void other_ended(struct mmu_notifier *mn, struct mm_struct *mm)
{
}

static void process_gone(struct rig *r)
{
	static const struct mmu_notifier_ops ops = {
		.release = other_ended,
		.arch_invalidate_secondary_tlbs = other_heard,
	};
	struct mmu_notifier n = { .ops = &ops };
	struct host_process *p;
	struct shim_cpu before;
	struct mm_struct *mm;
	int err;

	p = host_process_create(r->n[0].kernel, "gone", &err);
	EXPECT(p);
	mm = shim_mm_create(shim_find(r->n[0].kernel), host_process_mm(p));
	EXPECT(mm);
	host_process_exit(p);
	before = shim_enter(shim_find(r->n[0].kernel), NULL, SHIM_IN_TASK);
	EXPECT(!mmget_not_zero(mm));
	EXPECT_EQ(mmu_notifier_register(&n, mm), -ESRCH);
	EXPECT_EQ(mm->count, 1);
	shim_leave(&before);
	mmdrop(mm);
}

TEST("of a process that has ended nobody keeps the memory, nor hears")
{
	rig_run(process_gone);
}

/* ---- files ---- */

static void files_fail(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct shim *shim = shim_find(n->kernel);
	struct host_file hf = { .process = n->process };
	struct cdev *cdev = shim->cdev;
	uint64_t pa;
	void *mem;

	STEP("no memory for the address space; none for the file");
	fail_at(FAIL_MEMORY, 1, 1, ENOMEM);
	EXPECT_EQ(shim_device_ops.open(shim, n->process, &hf), -ENOMEM);
	fail_at(FAIL_MEMORY, 2, 1, ENOMEM);
	EXPECT_EQ(shim_device_ops.open(shim, n->process, &hf), -ENOMEM);
	fail_at(FAIL_MEMORY, 1, 2, ENOMEM);
	EXPECT_EQ(shim_device_ops.open(shim, n->process, &hf), -ENOMEM);
	EXPECT_EQ(fail_end(), 2);
	STEP("the card is about to go");
	shim->cdev = NULL;
	EXPECT_EQ(shim_device_ops.open(shim, n->process, &hf), -ENODEV);
	shim->cdev = cdev;
	EXPECT(!hf.private_data);
	EXPECT(list_empty(&shim->files));
	STEP("no memory for a mapping");
	EXPECT_EQ(shim_device_ops.open(shim, n->process, &hf), 0);
	fail_at(FAIL_MEMORY, 1, 1, ENOMEM);
	EXPECT_EQ(shim_device_ops.mmap(shim, &hf, 4096, 0, &mem, &pa), -ENOMEM);
	EXPECT_EQ(fail_end(), 1);
	shim_device_ops.release(shim, &hf);
	EXPECT(list_empty(&shim->files));
}

TEST("a file without memory or without a card is none, and leaves nothing")
{
	rig_run(files_fail);
}

static struct waiter {
	struct shim *shim;
	struct host_file hf;
	struct fl_wait_cq w;
	bool calls, over;
	long ret;
} waiter;

static void waits_for_event(void *arg)
{
	struct waiter *w = arg;

	w->calls = true;
	w->ret = shim_device_ops.ioctl(w->shim, &w->hf, FL_IOC_WAIT_CQ, (uintptr_t)&w->w);
	w->over = true;
}

static void closed_meanwhile(struct rig *r)
{
	struct rig_node *n = &r->n[0];
	struct shim *shim = shim_find(n->kernel);
	struct fl_create_cq cq = { .size = sizeof(cq), .entries = 16 };
	struct sim_thread *t;

	waiter = (struct waiter){ .shim = shim, .hf = { .process = n->process } };
	EXPECT_EQ(shim_device_ops.open(shim, n->process, &waiter.hf), 0);
	EXPECT_EQ(shim_device_ops.ioctl(shim, &waiter.hf, FL_IOC_CREATE_CQ, (uintptr_t)&cq), 0);
	waiter.w = (struct fl_wait_cq){ .size = sizeof(waiter.w), .cq = cq.cq,
					.timeout_ns = 1000000 };
	t = sim_thread_start_on(board_domain(n->board), "waiter", false, waits_for_event,
				&waiter);
	EXPECT(t);
	while (!waiter.calls)
		sim_sleep(1000);
	sim_sleep(10000);
	STEP("nobody finds it any more; the call that is under way still does");
	shim_device_ops.release(shim, &waiter.hf);
	EXPECT(list_empty(&shim->files));
	EXPECT(!waiter.over);
	sim_thread_join(t);
	EXPECT(waiter.over);
	EXPECT_EQ(waiter.ret, -ETIMEDOUT);
}

TEST("a file that is closed during a call goes with the end of that call")
{
	rig_run(closed_meanwhile);
}

static void cut_short(struct rig *r)
{
	struct shim_cpu before = thing_begin(r);
	size_t page = os_page_bytes();
	uint8_t *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	uint32_t to;

	EXPECT(at != MAP_FAILED);
	EXPECT_EQ(mprotect(at + page, page, PROT_NONE), 0);
	memset(at, 0, page);
	at[page - 8] = 5;
	EXPECT_EQ(copy_struct_from_user(&to, 4, at + page - 8, 8), 0);
	EXPECT_EQ(to, 5);
	STEP("the part that is not known here cannot be read");
	EXPECT_EQ(copy_struct_from_user(&to, 4, at + page - 8, 9), -EFAULT);
	munmap(at, 2 * page);
	thing_end(&before);
}

TEST("a structure of a later version is read to its end")
{
	rig_run(cut_short);
}

/* ---- breaches that are noted ---- */

static struct {
	unsigned int n;
	char rule[16][32];
} notes;

static void breach_noted(void *arg, const char *rule, const char *text)
{
	EXPECT(!arg && *text && notes.n < 16);
	snprintf(notes.rule[notes.n++], sizeof(notes.rule[0]), "%s", rule);
}

static void expect_note(const char *rule)
{
	EXPECT_EQ(notes.n, 1);
	EXPECT_STR(notes.rule[0], rule);
	notes.n = 0;
}

static void locks_noted(struct rig *r)
{
	struct shim_cpu before = thing_begin(r);

	thing_init();
	notes.n = 0;
	thing.shim->rules.breach = breach_noted;
	STEP("a mutex that is held, and one that is not");
	mutex_lock(&thing.one);
	mutex_lock(&thing.one);
	expect_note("recursive-lock");
	mutex_unlock(&thing.one);
	mutex_unlock(&thing.one);
	expect_note("unlock-not-held");
	STEP("a spinlock");
	spin_lock(&thing.spin);
	spin_lock(&thing.spin);
	expect_note("recursive-lock");
	spin_unlock(&thing.spin);
	spin_unlock(&thing.spin);
	expect_note("unlock-not-held");
	STEP("the mmap lock");
	mmap_read_lock(thing.mm);
	mmap_read_lock(thing.mm);
	expect_note("recursive-lock");
	mmap_read_unlock(thing.mm);
	mmap_read_unlock(thing.mm);
	expect_note("unlock-not-held");
	STEP("each of them is free: whoever waits for it gets it");
	thing.shim->rules.breach = NULL;
	EXPECT(sim_mutex_trylock(&thing.one.m));
	sim_mutex_unlock(&thing.one.m);
	EXPECT(sim_mutex_trylock(&thing.spin.m));
	sim_mutex_unlock(&thing.spin.m);
	shim_mmap_lock(thing.mm, true, __func__);
	shim_mmap_unlock(thing.mm, true, __func__);
	destroy_workqueue(thing.wq);
	thing_end(&before);
}

TEST("a breach that somebody notes takes no lock twice and gives none back twice")
{
	rig_run(locks_noted);
}
